//! Where an order could stand at all: the fast look at a text, before its words are searched.
//!
//! Every combination needs one of a few classes (`ANCHORS`), and each of these a word of a group that
//! is rare in ordinary text. Most texts have none of those words, and the others only here and there:
//! the rest of the text need not be searched. The words are found by four of their letters, and every
//! second place of the text is looked at.

mod grams;
mod parts;

use super::lexicon::{Bits, Lexicon};
use super::terms::{Term, Turn, stands_alone};
use aho_corasick::{AhoCorasick, Input};
use grams::{GRAM, GramHasher, Place, SET_BITS, commonness, fold, gram_of, low, more, slot};
use parts::{foreign_lines, whole_lines};
use std::collections::{BTreeMap, HashMap};
use std::hash::BuildHasherDefault;
use std::ops::Range;

/// For each class that an order needs, the group in its signals whose words are looked for.
pub(super) const ANCHORS: &[(&str, &[&str])] = &[
    ("override", &["ignore", "task"]),
    ("lapse", &["ignore"]),
    ("lapsed", &["lifted"]),
    ("anew", &["anew", "role"]),
    ("conceal", &["conceal", "denial"]),
    ("quiet", &["quiet"]),
    ("address", &["call", "agent"]),
    ("told", &["agent"]),
    ("does", &["agent"]),
    ("authority", &["authority"]),
    ("frame", &["frame"]),
    ("theft", &["vital"]),
    ("probe", &["self"]),
    ("chat", &["chat"]),
    ("talk", &["talk"]),
    ("abuse", &["abuse"]),
    ("plant", &["planted"]),
    ("graft", &["planted"]),
    ("encoded", &["disguised"]),
    ("norefuse", &["apology", "norefuse"]),
    ("verdict", &["verdict"]),
    ("press", &["press"]),
    ("free", &["free", "loose"]),
    ("spread", &["spread"]),
    ("heed", &["heed"]),
    ("known", &["known"]),
    ("licence", &["licence"]),
    ("riddle", &["obey"]),
    ("forged", &["template"]),
    ("turn", &["turn"]),
];
/// Bytes before a word of an order in which the rest of it may stand, and a sentence before.
const BEFORE: usize = 1500;
/// Bytes after it.
const AFTER: usize = 1100;
/// The same of an order that lasts for many sentences.
const LASTING: usize = 4600;
/// Bytes after the agent's name in which an order to it begins.
const CALLED: usize = 64;

/// A word that is looked for.
#[derive(Debug)]
struct Word {
    text: Box<str>,
    term: Term,
}

/// One signal of an anchor's class.
#[derive(Clone, Copy, Debug)]
struct Partner {
    group: Bits,
    all: Bits,
    within: usize,
}

/// The words to look for.
#[derive(Debug)]
pub(super) struct Anchors {
    set: Box<[u64]>,
    /// Words by four letters in them.
    by_gram: HashMap<u32, Vec<Place>, BuildHasherDefault<GramHasher>>,
    /// In how many words letters stand: those of many are frequent in any text.
    frequent: HashMap<u32, u32, BuildHasherDefault<GramHasher>>,
    words: Vec<Word>,
    partners: Vec<Partner>,
    disguised: Bits,
    lasting: Bits,
    near: AhoCorasick,
    terms: Vec<Term>,
}

/// What the fast look has found.
#[derive(Debug, Default)]
pub(super) struct Outline {
    /// Parts of the text, of whole lines, outside of which no order stands.
    pub(super) parts: Vec<Range<usize>>,
    /// Whether there are turned words that belong together.
    pub(super) turned: bool,
}

/// What the words are made of.
pub(super) struct Material<'a> {
    pub(super) words: &'a BTreeMap<String, Term>,
    pub(super) disguises: &'a BTreeMap<String, Term>,
    /// Finds all `words`, also those in each other.
    pub(super) near: AhoCorasick,
    /// Group, all groups and distance of the signals of the classes above.
    pub(super) signals: Vec<(Bits, Bits, usize)>,
    pub(super) disguised: Bits,
    pub(super) lasting: Bits,
}

impl Anchors {
    pub(super) fn new(material: Material<'_>) -> Anchors {
        let groups = material
            .signals
            .iter()
            .fold(0, |set, (group, ..)| set | group);
        let mut anchors = Anchors {
            set: vec![0; 1 << (SET_BITS - 6)].into(),
            by_gram: HashMap::default(),
            frequent: HashMap::default(),
            words: Vec::new(),
            partners: Vec::new(),
            disguised: material.disguised,
            lasting: material.lasting,
            near: material.near,
            terms: material.words.values().copied().collect(),
        };
        for (group, all, within) in material.signals {
            anchors.partners.push(Partner { group, all, within });
        }
        for text in material.words.keys() {
            let folded: Vec<u8> = text.bytes().map(fold).collect();
            for gram in folded.windows(GRAM).filter_map(gram_of) {
                *anchors.frequent.entry(gram).or_default() += 1;
            }
        }
        let wanted = |term: &Term| term.groups & groups != 0 || term.turned.is_some();
        let plain = material.words.iter().filter(|(_, term)| wanted(term));
        for (text, term) in plain.chain(material.disguises) {
            if text.is_ascii() {
                anchors.add(text, *term);
            }
        }
        anchors
    }

    fn add(&mut self, text: &str, term: Term) {
        let word = self.words.len();
        let folded: Vec<u8> = text.bytes().map(fold).collect();
        let pairs = folded.windows(GRAM + 1).enumerate();
        let cost = |pair: &[u8]| {
            let grams = pair.windows(GRAM).filter_map(gram_of);
            let frequent = grams
                .filter_map(|gram| self.frequent.get(&gram))
                .sum::<u32>();
            8 * frequent + pair.iter().map(|b| commonness(*b)).sum::<u32>()
        };
        let rarest = pairs.min_by_key(|(_, pair)| cost(pair)).map(|(at, _)| at);
        if let Some(at) = rarest {
            self.note_pair(&folded, at, (word, 0), |at| more(&folded, at));
        } else {
            let before: &[&[u8]] = if term.starts { &[b" ", b"0"] } else { &[b""] };
            for before in before {
                let lead = before.len();
                self.add_short(
                    [before, folded.as_slice()].concat(),
                    term.ends,
                    (word, lead),
                );
            }
        }
        self.words.push(Word {
            text: text.into(),
            term,
        });
    }

    /// A word of four letters or less: other letters stand after it, but none directly if it `ends`.
    fn add_short(&mut self, folded: Vec<u8>, ends: bool, (word, lead): (usize, usize)) {
        let any: Vec<u8> = (b'a'..=b'z').chain([b' ', b'0']).collect();
        let mut all = vec![folded];
        let mut next: &[u8] = if ends { b" 0" } else { &any };
        while all.first().is_some_and(|form| form.len() < GRAM + 1) {
            let longer = all.iter().flat_map(|form| {
                let letters = next.iter();
                letters.map(|letter| [form.as_slice(), &[*letter]].concat())
            });
            all = longer.collect();
            next = &any;
        }
        // All forms are found by their first letters; they have no others in common.
        for form in all {
            self.note_pair(&form, 0, (word, lead), |_| None);
        }
    }

    /// Notes the letters at `at` and those one further: one of them is looked at.
    fn note_pair(
        &mut self,
        folded: &[u8],
        at: usize,
        (word, lead): (usize, usize),
        more: impl Fn(usize) -> Option<(isize, u32)>,
    ) {
        for at in [at, at + 1] {
            let Some(gram) = folded.get(at..).and_then(gram_of) else {
                continue;
            };
            let place = Place {
                word,
                offset: at.cast_signed() - lead.cast_signed(),
                more: more(at).unwrap_or((0, gram)),
            };
            let places = self.by_gram.entry(gram).or_default();
            if !places.contains(&place) {
                places.push(place);
            }
            let slot = slot(gram);
            if let Some(bits) = self.set.get_mut(slot >> 6) {
                *bits |= 1 << (slot & 63);
            }
        }
    }

    /// Where in `text` an order may stand.
    pub(super) fn outline(&self, lexicon: &Lexicon, text: &str) -> Outline {
        // A word may stand at the very start and at the very end.
        let mut folded = Vec::with_capacity(text.len() + 3 * GRAM);
        folded.push(b' ');
        folded.extend(text.bytes().map(fold));
        folded.extend([b' '; 3 * GRAM]);
        let mut outline = Outline::default();
        let mut turned = [0, 0];
        let (chunks, _) = folded.as_chunks::<8>();
        let mut chunks = chunks.iter().map(|chunk| u64::from_le_bytes(*chunk));
        let Some(mut here) = chunks.next() else {
            return outline;
        };
        for (number, next) in chunks.chain([0]).enumerate() {
            let grams = [
                low(here),
                low(here >> 16),
                low(here >> 32),
                low(here >> 48 | next << 16),
            ];
            let may = grams.map(|gram| self.has(gram));
            if may != [false; 4] {
                let places = grams.into_iter().zip(may).enumerate();
                for (place, (gram, _)) in places.filter(|(_, (_, may))| *may) {
                    let at = number * 8 + place * 2;
                    let letters = (folded.as_slice(), gram, at);
                    self.candidate(lexicon, text, letters, &mut outline, &mut turned);
                }
            }
            here = next;
        }
        if !text.is_ascii() {
            foreign_lines(text, &mut outline.parts);
        }
        outline.turned = turned.iter().any(|count| *count >= 2);
        outline.parts = whole_lines(text, std::mem::take(&mut outline.parts));
        outline
    }

    fn has(&self, gram: u32) -> bool {
        let slot = slot(gram);
        self.set
            .get(slot >> 6)
            .is_some_and(|bits| bits >> (slot & 63) & 1 == 1)
    }

    /// Checks the words that have these letters.
    fn candidate(
        &self,
        lexicon: &Lexicon,
        text: &str,
        (folded, gram, at): (&[u8], u32, usize),
        outline: &mut Outline,
        turned: &mut [usize; 2],
    ) {
        for place in self.by_gram.get(&gram).into_iter().flatten() {
            let (distance, letters) = place.more;
            let more = at
                .checked_add_signed(distance)
                .and_then(|at| folded.get(at..));
            if more.and_then(gram_of) != Some(letters) {
                continue;
            }
            let Some(word) = self.words.get(place.word) else {
                continue;
            };
            // The first byte that was folded stands before the text.
            let Some(start) = at
                .checked_sub(1)
                .and_then(|at| at.checked_sub_signed(place.offset))
            else {
                continue;
            };
            let range = start..start + word.text.len();
            let same = text.as_bytes().get(range.clone());
            if !same.is_some_and(|same| same.eq_ignore_ascii_case(word.text.as_bytes()))
                || !stands_alone(text, &range, word.term)
            {
                continue;
            }
            if let (Some(turn), 0) = (word.term.turned, word.term.groups) {
                let [rot13, reversed] = &mut *turned;
                *match turn {
                    Turn::Rot13 => rot13,
                    Turn::Reversed => reversed,
                } += 1;
            } else if self.counts(lexicon, text, &range, word.term) {
                let lasts = word.term.groups & self.lasting != 0;
                let (before, after) = if lasts {
                    (LASTING, LASTING)
                } else {
                    (BEFORE, AFTER)
                };
                outline
                    .parts
                    .push(range.start.saturating_sub(before)..range.end + after);
            }
        }
    }

    /// Whether the other words of a signal stand near the word at `range`.
    fn counts(&self, lexicon: &Lexicon, text: &str, range: &Range<usize>, term: Term) -> bool {
        if term.groups & self.disguised != 0 {
            return true;
        }
        let mut groups = term.groups;
        if term.english && groups & lexicon.orders != 0 && !lexicon.is_order(text, range) {
            groups &= !lexicon.orders;
        }
        let open = self
            .partners
            .iter()
            .filter(|partner| groups & partner.group != 0);
        let open: Vec<&Partner> = open.collect();
        if open.iter().any(|partner| partner.all & !groups == 0) {
            return true;
        }
        let called = groups & lexicon.agent != 0;
        let Some(mut reach) = open.iter().map(|partner| partner.within).max() else {
            return false;
        };
        if !text.is_ascii() {
            reach = reach * 5 / 2;
        }
        let from = text.floor_char_boundary(range.end.saturating_sub(reach));
        let rest = text.get(range.end..).unwrap_or_default();
        let gap = rest.len()
            - rest
                .trim_start_matches(|c: char| !c.is_alphanumeric())
                .len();
        let to = range.start
            + reach.max(if called {
                range.len() + gap + CALLED
            } else {
                0
            });
        let to = text.ceil_char_boundary(to.min(text.len()));
        let mut near = 0;
        for found in self
            .near
            .find_overlapping_iter(Input::new(text).span(from..to))
        {
            let Some(term) = self.terms.get(found.pattern().as_usize()) else {
                continue;
            };
            let place = found.range();
            let fits = |partner: &&Partner| {
                let reach = if text.is_ascii() {
                    partner.within
                } else {
                    partner.within * 5 / 2
                };
                place.start + reach >= range.end && place.end <= range.start + reach
            };
            if !stands_alone(text, &place, *term) {
                continue;
            }
            let mut groups = term.groups;
            if term.english && groups & lexicon.orders != 0 && !lexicon.is_order(text, &place) {
                groups &= !lexicon.orders;
            }
            if called && place.start >= range.end && groups & lexicon.orders != 0 {
                return true;
            }
            if open.iter().any(fits) {
                near |= groups;
            }
        }
        open.iter()
            .any(|partner| partner.all & !(groups | near) == 0)
    }
}
