//! Winnowed fingerprints: which passages two texts share, without keeping the texts.
//!
//! A text is normalised to its letters and digits, in lower case; white space, punctuation, comment
//! marks and import lines do not count. Every [`gram`](Winnowing::gram) of consecutive characters is
//! hashed with a key, and of each [`window`](Winnowing::window) of hashes the smallest is kept as a
//! print. So **every passage of [`Winnowing::guaranteed`] normalised characters that two texts share
//! gives them a common print**, wherever it stands in them and however it is indented. Without the
//! key, nobody can test whether a known text has a print.
//!
//! Grams of few different characters (rules of dashes and zeros) give no print. Texts that everybody
//! has, such as the headers of licences, have prints too: [`common`] lists them, and who compares
//! texts [removes](Prints::without) them first.

mod normal;
#[cfg(test)]
mod tests;

use normal::characters;
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
    /// So many shared characters, letters and digits counted, are always found.
    pub const fn guaranteed(self) -> usize {
        self.gram + self.window - 1
    }
}

/// About three lines of code are always found, and less than a long line is not.
impl Default for Winnowing {
    fn default() -> Self {
        Winnowing {
            gram: 48,
            window: 48,
            most: 8192,
        }
    }
}

/// A gram of fewer different characters says nothing.
const VARIETY: usize = 8;
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
        let mut roll = Roll::new(key, how.gram);
        let mut window = Window::new(how.window);
        let mut hashes = Vec::new();
        for character in characters(text) {
            if let Some(hash) = roll.push(character) {
                hashes.extend(window.push(hash));
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

    /// The prints of both.
    #[must_use]
    pub fn and(mut self, others: &Prints) -> Prints {
        self.hashes.extend(&others.hashes);
        self.hashes.sort_unstable();
        self.hashes.dedup();
        self
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

/// The hash of the last `gram` characters, as a polynomial in a secret base (Rabin and Karp). Only
/// who knows the base can compute the hash of a text.
struct Roll {
    base: u64,
    /// The base to the power of the gram's length: what the oldest character weighs.
    oldest: u64,
    mask: u64,
    hash: u64,
    gram: usize,
    last: VecDeque<u32>,
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
            counts: [0; 128],
            different: 0,
        }
    }

    /// The hash of the gram that ends here, once there is one. `u64::MAX` if it says nothing.
    fn push(&mut self, character: char) -> Option<u64> {
        let new = u32::from(character) + 1;
        self.last.push_back(new);
        self.hash = plus(times(self.hash, self.base), u64::from(new));
        if let Some(count) = self.counts.get_mut(new as usize % 128) {
            self.different += usize::from(*count == 0);
            *count += 1;
        }
        if self.last.len() > self.gram {
            let old = self.last.pop_front().unwrap_or_default();
            let weight = times(u64::from(old), self.oldest);
            self.hash = plus(self.hash, PRIME - weight);
            if let Some(count) = self.counts.get_mut(old as usize % 128) {
                *count -= 1;
                self.different -= usize::from(*count == 0);
            }
        }
        if self.last.len() < self.gram {
            return None;
        }
        let says_something = self.different >= VARIETY.min(self.gram);
        Some(if says_something {
            mixed(self.hash ^ self.mask).min(u64::MAX - 1)
        } else {
            u64::MAX
        })
    }
}

/// The smallest of the last `window` hashes, each time that it is another one.
struct Window {
    size: usize,
    /// The number of the next hash.
    next: usize,
    /// Hashes that are or may become the smallest, with their numbers: both ascending.
    rising: VecDeque<(usize, u64)>,
    /// The number of the last hash that was reported.
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

    fn push(&mut self, hash: u64) -> Option<u64> {
        while self.rising.back().is_some_and(|(_, back)| *back >= hash) {
            self.rising.pop_back();
        }
        self.rising.push_back((self.next, hash));
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
        let (at, hash) = *self.rising.front()?;
        if hash == u64::MAX || self.reported == Some(at) {
            return None;
        }
        self.reported = Some(at);
        Some(hash)
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
