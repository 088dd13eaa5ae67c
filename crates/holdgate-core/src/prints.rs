//! Winnowed fingerprints: which passages two texts share, without keeping the texts.
//!
//! A text is normalised to its letters and digits, in lower case; white space, punctuation and
//! comment marks do not count. Every [`gram`](Winnowing::gram) of consecutive characters is hashed
//! with a key, and of each [`window`](Winnowing::window) of hashes the smallest is kept as a print.
//! So **every passage of [`Winnowing::guaranteed`] normalised characters that two texts share gives
//! them a common print**, wherever it stands in them and however it is formatted. Without the key,
//! nobody can test whether a known text has a print.
//!
//! What stands in unrelated texts says nothing. Grams of few different characters give no print. Of
//! a source that others are compared with, [`Prints::of_source`] leaves out the grams that touch a
//! line of imports or of a licence, and [`common`] lists grams of the licences themselves.

mod index;
mod normal;
#[cfg(test)]
mod tests;

pub use index::{PrintIndex, is_counted};
use normal::{Character, characters, characters_of_source};
use std::collections::VecDeque;

/// How prints are taken. Texts can be compared only if theirs were taken alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Winnowing {
    /// How many characters make one hash. Shorter matches are never found.
    pub gram: usize,
    /// Of so many consecutive hashes, one is a print.
    pub window: usize,
    /// The most prints of one text. Beyond that, those with the smallest hashes are kept: an even
    /// sample, and the same one in each text that shares them. What is shared is then found in
    /// proportion, and a single short passage can be missed.
    pub most: usize,
}

impl Winnowing {
    /// So many shared letters and digits in a row are always found.
    pub const fn guaranteed(self) -> usize {
        self.gram + self.window - 1
    }
}

/// Passages of about four lines of code are always found, and less than a long line never is. Shorter
/// grams find idioms that unrelated programs share.
impl Default for Winnowing {
    fn default() -> Self {
        Winnowing {
            gram: 48,
            window: 64,
            most: 8192,
        }
    }
}

/// A gram of fewer different characters says nothing.
const VARIETY: usize = 8;
/// In place of the hash of such a gram: above all others.
const NOTHING: u64 = u64::MAX;
/// The hashes are numbers below this prime, 2^61 - 1.
const PRIME: u64 = (1 << 61) - 1;

/// The prints of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prints {
    /// In ascending order, each once.
    hashes: Vec<u64>,
}

impl Prints {
    /// The prints of `text`. Only prints of the same `key` can be compared.
    pub fn of(text: &str, key: u64) -> Prints {
        Prints::taken(text, key, Winnowing::default())
    }

    /// The prints of `text`, taken in this way.
    pub fn taken(text: &str, key: u64, how: Winnowing) -> Prints {
        Prints::winnowed(characters(text), key, how)
    }

    /// The prints of a source without boilerplate: what tells that another text was copied from it.
    pub fn of_source(text: &str, key: u64, how: Winnowing) -> Prints {
        Prints::winnowed(characters_of_source(text), key, how)
    }

    fn winnowed(text: impl Iterator<Item = Character>, key: u64, how: Winnowing) -> Prints {
        let mut roll = Roll::new(key, how.gram);
        let mut window = Window::new(how.window);
        let mut hashes = Vec::new();
        for character in text {
            if let Some(gram) = roll.push(character) {
                hashes.extend(window.push(gram));
            }
        }
        hashes.extend(window.rest());
        hashes.sort_unstable();
        hashes.dedup();
        hashes.truncate(how.most);
        hashes.shrink_to_fit();
        Prints { hashes }
    }

    /// How many prints there are.
    pub fn len(&self) -> usize {
        self.hashes.len()
    }

    /// Whether the text was too short, or too monotonous, to have any.
    pub fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }

    /// The prints, in ascending order.
    pub fn hashes(&self) -> &[u64] {
        &self.hashes
    }

    /// How many prints both have.
    pub fn shared(&self, other: &Prints) -> usize {
        let (few, many) = if self.len() <= other.len() {
            (self, other)
        } else {
            (other, self)
        };
        few.hashes.iter().filter(|hash| many.has(**hash)).count()
    }

    /// Whether this is one of the prints.
    pub fn has(&self, hash: u64) -> bool {
        self.hashes.binary_search(&hash).is_ok()
    }

    /// The prints that are not among `others`.
    #[must_use]
    pub fn without(mut self, others: &Prints) -> Prints {
        self.hashes.retain(|hash| !others.has(*hash));
        self
    }

    /// The prints of all.
    pub fn union<'a>(all: impl IntoIterator<Item = &'a Prints>) -> Prints {
        let mut hashes: Vec<u64> = Vec::new();
        for prints in all {
            hashes.extend(&prints.hashes);
        }
        hashes.sort_unstable();
        hashes.dedup();
        Prints { hashes }
    }

    /// About how many bytes they take in memory.
    pub fn bytes(&self) -> usize {
        size_of::<Self>() + self.hashes.capacity() * size_of::<u64>()
    }
}

/// Prints that any part of a text which everybody has can have: of the licences that source files
/// begin with, and the headers of generated files. Every gram of them counts, because the text that
/// stands around them in a file has a say in which are prints there.
pub fn common(key: u64) -> Prints {
    every_gram(include_str!("prints/common.txt"), key)
}

/// The hashes of every gram of `text`, to be [removed](Prints::without) from prints.
pub fn every_gram(text: &str, key: u64) -> Prints {
    let every = Winnowing {
        window: 1,
        most: usize::MAX,
        ..Winnowing::default()
    };
    Prints::taken(text, key, every)
}

/// A stretch of [`Winnowing::gram`] characters.
#[derive(Clone, Copy, Debug)]
struct Gram {
    /// [`NOTHING`] if there is too little variety in it.
    hash: u64,
    /// Whether a part of it stands in unrelated texts too.
    is_boilerplate: bool,
}

/// The hash of the last characters, as a polynomial in a secret base (Rabin and Karp). Only who knows
/// the base can compute the hash of a text.
struct Roll {
    base: u64,
    /// The base to the power of the gram's length: what the oldest character weighs.
    oldest: u64,
    mask: u64,
    hash: u64,
    gram: usize,
    last: VecDeque<Character>,
    /// How many of the last characters are boilerplate.
    boilerplate: usize,
    /// How often each character is among the last ones.
    counts: [u32; 128],
    different: usize,
}

impl Roll {
    fn new(key: u64, gram: usize) -> Roll {
        let base = mixed(key) % (PRIME - 512) + 256;
        Roll {
            base,
            oldest: (0..gram).fold(1, |power, _| times(power, base)),
            mask: mixed(key ^ 0x9e37_79b9_7f4a_7c15),
            hash: 0,
            gram,
            last: VecDeque::with_capacity(gram + 1),
            boilerplate: 0,
            counts: [0; 128],
            different: 0,
        }
    }

    /// The gram that ends here, once there is one.
    fn push(&mut self, new: Character) -> Option<Gram> {
        self.last.push_back(new);
        self.hash = plus(times(self.hash, self.base), weight(new));
        self.boilerplate += usize::from(new.is_boilerplate);
        if let Some(count) = self.counts.get_mut(new.letter as usize % 128) {
            self.different += usize::from(*count == 0);
            *count += 1;
        }
        if self.last.len() > self.gram
            && let Some(old) = self.last.pop_front()
        {
            self.hash = plus(self.hash, PRIME - times(weight(old), self.oldest));
            self.boilerplate -= usize::from(old.is_boilerplate);
            if let Some(count) = self.counts.get_mut(old.letter as usize % 128) {
                *count -= 1;
                self.different -= usize::from(*count == 0);
            }
        }
        if self.last.len() < self.gram {
            return None;
        }
        let says_something = self.different >= VARIETY.min(self.gram);
        let hash = || mixed(self.hash ^ self.mask).min(NOTHING - 1);
        Some(Gram {
            hash: if says_something { hash() } else { NOTHING },
            is_boilerplate: self.boilerplate > 0,
        })
    }
}

fn weight(character: Character) -> u64 {
    u64::from(u32::from(character.letter) + 1)
}

/// The gram with the smallest hash of the last `size` ones, each time that it is another one.
struct Window {
    size: usize,
    /// The number of the next gram.
    next: usize,
    /// Grams that have or may get the smallest hash, with their numbers: both ascending.
    rising: VecDeque<(usize, Gram)>,
    /// The number of the last gram that was reported.
    reported: Option<usize>,
}

impl Window {
    fn new(size: usize) -> Window {
        Window {
            size,
            next: 0,
            rising: VecDeque::with_capacity(size + 1),
            reported: None,
        }
    }

    fn push(&mut self, gram: Gram) -> Option<u64> {
        while let Some((_, back)) = self.rising.back()
            && back.hash >= gram.hash
        {
            self.rising.pop_back();
        }
        self.rising.push_back((self.next, gram));
        self.next += 1;
        let start = self.next.saturating_sub(self.size);
        while self.rising.front().is_some_and(|(at, _)| *at < start) {
            self.rising.pop_front();
        }
        if self.next < self.size {
            return None;
        }
        self.smallest()
    }

    /// The smallest hash of a text with less than one window.
    fn rest(&mut self) -> Option<u64> {
        if self.next >= self.size {
            return None;
        }
        self.smallest()
    }

    fn smallest(&mut self) -> Option<u64> {
        let (at, gram) = *self.rising.front()?;
        if self.reported == Some(at) {
            return None;
        }
        self.reported = Some(at);
        (gram.hash != NOTHING && !gram.is_boilerplate).then_some(gram.hash)
    }
}

/// The product modulo [`PRIME`] of two numbers below it.
fn times(a: u64, b: u64) -> u64 {
    let (low, high) = a.carrying_mul(b, 0);
    // The product is below 2^122, and 2^61 is 1.
    plus(low & PRIME, high << 3 | low >> 61)
}

/// The sum modulo [`PRIME`] of two numbers that are not above it.
fn plus(a: u64, b: u64) -> u64 {
    let sum = a + b;
    if sum >= PRIME { sum - PRIME } else { sum }
}

/// Spreads all bits (the finalizer of `SplitMix64`).
fn mixed(mut bits: u64) -> u64 {
    bits = bits.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}
