//! The words of the table by their first letters, and those of them that a text has.

use super::super::blocks::{Bitmap, Run};
use super::super::lexicon::Bits;
use super::super::terms::{Term, Turn, stands_alone};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Range;

/// Letters of a word that are looked up together.
const KEY: usize = 8;
/// Letters by which a word is found that stands in another, or that goes on.
const GRAM: usize = 4;
/// Every third place of a word is looked at for words in it: the shortest has six letters.
const STEP: usize = 3;
/// Bits of the set of keys.
const SET_BITS: u32 = 16;
/// The highest bit of the last letter, if there are more.
const LONGER: u64 = 1 << 63;
const SMALL: u64 = 0x2020_2020_2020_2020;

/// A word or phrase that is looked for.
#[derive(Debug)]
struct Phrase {
    text: Box<str>,
    /// Where the letters by which it is found are in it.
    offset: usize,
    term: Term,
}

/// Up to eight bytes of a phrase, and how far they are from the letters by which it is found: most
/// candidates differ there.
#[derive(Clone, Copy, Debug)]
struct More {
    distance: isize,
    letters: u64,
    mask: u64,
}

/// Phrases that are found by the same letters.
#[derive(Debug, Default)]
struct Phrases {
    more: Vec<More>,
    all: Vec<Phrase>,
}

/// All that is found by the same letters.
#[derive(Debug, Default)]
struct Entry {
    /// Groups of words that need no further look.
    plain: Bits,
    phrases: Phrases,
}

/// A set of hashes: most words of a text are not in it.
#[derive(Debug)]
struct Set(Box<[u64]>);

/// Words by their letters.
#[derive(Debug)]
pub(super) struct Index {
    set: Set,
    words: HashMap<u64, Entry, BuildHasherDefault<KeyHasher>>,
    grams: Set,
    /// Words that may go on, and words in words.
    parts: HashMap<u64, Phrases, BuildHasherDefault<KeyHasher>>,
}

impl Index {
    pub(super) fn new() -> Index {
        Index {
            set: Set::new(),
            words: HashMap::default(),
            grams: Set::new(),
            parts: HashMap::default(),
        }
    }

    /// Adds a word of ASCII. False if it has no letters by which it could be found.
    /// A `plain` one need not be looked at further if its letters are there.
    pub(super) fn add(&mut self, text: &str, term: Term, plain: bool) -> bool {
        let bytes = text.as_bytes();
        let phrase = |offset| Phrase {
            text: text.into(),
            offset,
            term,
        };
        if term.turned.is_some() && term.groups == 0 {
            for offset in 0..STEP {
                let Some(gram) = gram_at(bytes, offset) else {
                    return false;
                };
                self.grams.insert(gram);
                self.parts.entry(gram).or_default().push(phrase(offset));
            }
            return true;
        }
        let mut runs = Vec::new();
        Bitmap::letters(bytes).each_run(|run| {
            runs.push(run);
            true
        });
        let whole = |run: &&Run| {
            (run.at > 0 || term.starts) && (run.at + run.len < bytes.len() || term.ends)
        };
        if let Some(run) = runs.iter().filter(whole).max_by_key(|run| run.len) {
            let key = key(bytes, *run);
            self.set.insert(key);
            let entry = self.words.entry(key).or_default();
            if plain && run.len == bytes.len() && run.len <= KEY {
                entry.plain |= term.groups;
            } else {
                entry.phrases.push(phrase(run.at));
            }
            return true;
        }
        let begins = |run: &&Run| (run.at > 0 || term.starts) && run.len >= GRAM;
        let Some(run) = runs.iter().find(begins) else {
            return false;
        };
        let Some(gram) = gram_at(bytes, run.at) else {
            return false;
        };
        self.grams.insert(gram);
        self.parts.entry(gram).or_default().push(phrase(run.at));
        true
    }

    /// Calls `each` for all words in a text, and counts those that are turned.
    #[inline]
    pub(super) fn find(
        &self,
        text: &str,
        letters: &Bitmap,
        turned: &mut [usize; 2],
        mut each: impl FnMut(Range<usize>, Bits, Option<&Term>),
    ) {
        let bytes = text.as_bytes();
        letters.each_run(|run| {
            let first = eight(bytes, run.at);
            let key = cut(first, run.len);
            if self.set.has(key)
                && let Some(entry) = self.words.get(&key)
            {
                if entry.plain != 0 {
                    each(run.at..run.at + run.len, entry.plain, None);
                }
                for (phrase, range) in entry.phrases.at(text, run.at) {
                    each(range, phrase.term.groups, Some(&phrase.term));
                }
            }
            if run.len < GRAM {
                return true;
            }
            let mut gram = first & GRAM_BITS;
            let mut at = 0;
            loop {
                if self.grams.has(gram) {
                    let phrases = self.parts.get(&gram).into_iter();
                    for (phrase, range) in phrases.flat_map(|all| all.at(text, run.at + at)) {
                        match phrase.term.turned {
                            Some(turn) if phrase.term.groups == 0 => {
                                let [rot13, reversed] = &mut *turned;
                                *match turn {
                                    Turn::Rot13 => rot13,
                                    Turn::Reversed => reversed,
                                } += 1;
                            }
                            _ => each(range, phrase.term.groups, Some(&phrase.term)),
                        }
                    }
                }
                at += STEP;
                if at + GRAM > run.len {
                    break;
                }
                gram = eight(bytes, run.at + at) & GRAM_BITS;
            }
            true
        });
    }
}

impl Phrases {
    fn push(&mut self, phrase: Phrase) {
        self.more.push(more(phrase.text.as_bytes(), phrase.offset));
        self.all.push(phrase);
    }

    /// Those in `text`, and where, if the letters by which they are found are at `at`.
    #[inline]
    fn at(&self, text: &str, at: usize) -> impl Iterator<Item = (&Phrase, Range<usize>)> {
        let candidates = self.more.iter().zip(&self.all).filter(move |(more, _)| {
            let place = at.checked_add_signed(more.distance);
            place.is_some_and(|place| eight(text.as_bytes(), place) & more.mask == more.letters)
        });
        candidates.filter_map(move |(_, phrase)| Some((phrase, phrase.place(text, at)?)))
    }
}

impl Phrase {
    /// Where it is in `text`, if the letters by which it is found are at `at`.
    fn place(&self, text: &str, at: usize) -> Option<Range<usize>> {
        let start = at.checked_sub(self.offset)?;
        let range = start..start + self.text.len();
        let same = text.as_bytes().get(range.clone())?;
        let same = same.eq_ignore_ascii_case(self.text.as_bytes());
        (same && stands_alone(text, &range, self.term)).then_some(range)
    }
}

impl Set {
    fn new() -> Set {
        Set(vec![0; 1 << (SET_BITS - 6)].into())
    }

    fn insert(&mut self, key: u64) {
        let slot = slot(key);
        if let Some(bits) = self.0.get_mut(slot >> 6) {
            *bits |= 1 << (slot & 63);
        }
    }

    #[inline]
    fn has(&self, key: u64) -> bool {
        let slot = slot(key);
        self.0
            .get(slot >> 6)
            .is_some_and(|bits| bits >> (slot & 63) & 1 == 1)
    }
}

/// Letters are spread well enough by one multiplication.
#[derive(Debug, Default)]
pub(super) struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = (self.0 ^ key).wrapping_mul(SPREAD);
        self.0 ^= self.0 >> 32;
    }
}

const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;
const GRAM_BITS: u64 = u32::MAX as u64;

#[inline]
fn slot(key: u64) -> usize {
    usize::try_from(key.wrapping_mul(SPREAD) >> (64 - SET_BITS)).unwrap_or_default()
}

/// Eight bytes from `at` on, letters in lower case; zeros behind the end.
#[inline]
fn eight(bytes: &[u8], at: usize) -> u64 {
    let rest = bytes.get(at..).unwrap_or_default();
    let eight = rest.first_chunk().copied().unwrap_or_else(|| {
        let mut eight = [0; KEY];
        for (to, from) in eight.iter_mut().zip(rest) {
            *to = *from;
        }
        eight
    });
    u64::from_le_bytes(eight) | SMALL
}

/// The letters of a word by which it is looked up.
#[inline]
fn cut(first: u64, len: usize) -> u64 {
    if len > KEY {
        first | LONGER
    } else {
        first << (8 * (KEY - len))
    }
}

fn key(bytes: &[u8], run: Run) -> u64 {
    cut(eight(bytes, run.at), run.len)
}

/// The bytes of a word behind the letters at `offset`, or before them if there are none; how far they
/// are, and which bits of eight bytes count.
fn more(bytes: &[u8], offset: usize) -> More {
    let letters = bytes.get(offset..).unwrap_or_default().iter();
    let behind = offset
        + letters
            .take(KEY)
            .take_while(|b| b.is_ascii_alphabetic())
            .count();
    let (from, count) = if behind < bytes.len() {
        (behind, bytes.len() - behind)
    } else {
        (offset.saturating_sub(KEY), offset)
    };
    let unused = 8 * KEY.saturating_sub(count);
    let mask = u64::MAX
        .checked_shr(u32::try_from(unused).unwrap_or(u32::MAX))
        .unwrap_or(0);
    More {
        distance: from.cast_signed() - offset.cast_signed(),
        letters: eight(bytes, from) & mask,
        mask,
    }
}

/// Four letters from `at` on, if there are so many.
fn gram_at(bytes: &[u8], at: usize) -> Option<u64> {
    let four: &[u8; GRAM] = bytes.get(at..)?.first_chunk()?;
    let letters = four.iter().all(u8::is_ascii_alphabetic);
    letters.then(|| eight(bytes, at) & GRAM_BITS)
}
