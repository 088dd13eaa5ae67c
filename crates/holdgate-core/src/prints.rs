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

    /// The prints of both.
    #[must_use]
    pub fn and(self, others: &Prints) -> Prints {
        Prints::union([&self, others])
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

/// The hash of the last characters, as a polynomial in a secret base (Rabin and Karp), mixed with a
/// secret mask. Only who knows both can compute the hash of a text.
struct Roll {
    base: u64,
    /// The base to the power of the gram's length: what the oldest character weighs.
    oldest: u64,
    mask: u64,
    hash: u64,
    /// The last characters. Before there are enough, some have the letter zero.
    last: Ring<Character>,
    /// How many characters are missing.
    missing: usize,
    /// How many of the last characters are boilerplate.
    boilerplate: usize,
    /// How often each character is among the last ones.
    counts: [u32; 128],
    different: usize,
    enough: usize,
}

impl Roll {
    fn new(key: u64, gram: usize) -> Roll {
        let base = mixed(key) | 1;
        let none = Character {
            letter: '\0',
            is_boilerplate: false,
        };
        Roll {
            base,
            oldest: (0..gram).fold(1, |power: u64, _| power.wrapping_mul(base)),
            mask: mixed(key ^ 0x9e37_79b9_7f4a_7c15),
            hash: 0,
            last: Ring::new(none, gram),
            missing: gram,
            boilerplate: 0,
            counts: [0; 128],
            different: 0,
            enough: VARIETY.min(gram),
        }
    }

    /// The gram that ends here, once there is one.
    fn push(&mut self, new: Character) -> Option<Gram> {
        let old = self.last.push(new);
        let gone = u64::from(old.letter).wrapping_mul(self.oldest);
        let added = u64::from(new.letter).wrapping_sub(gone);
        self.hash = self.hash.wrapping_mul(self.base).wrapping_add(added);
        self.boilerplate += usize::from(new.is_boilerplate);
        self.boilerplate -= usize::from(old.is_boilerplate);
        if let Some(count) = self.counts.get_mut(new.letter as usize % 128) {
            self.different += usize::from(*count == 0);
            *count += 1;
        }
        if self.missing > 0 {
            self.missing -= 1;
            if self.missing > 0 {
                return None;
            }
        } else if let Some(count) = self.counts.get_mut(old.letter as usize % 128) {
            *count -= 1;
            self.different -= usize::from(*count == 0);
        }
        let hash = || mixed(self.hash ^ self.mask).min(NOTHING - 1);
        Some(Gram {
            hash: if self.different >= self.enough {
                hash()
            } else {
                NOTHING
            },
            is_boilerplate: self.boilerplate > 0,
        })
    }
}

/// The gram with the smallest hash of the last ones, each time that it is another one.
struct Window {
    last: Ring<Gram>,
    size: usize,
    /// How many grams are missing before the window is full.
    missing: usize,
    /// The smallest one; of equal ones the last.
    smallest: Gram,
    /// How many grams ago it came.
    age: usize,
}

impl Window {
    fn new(size: usize) -> Window {
        let none = Gram {
            hash: NOTHING,
            is_boilerplate: false,
        };
        Window {
            last: Ring::new(none, size),
            size,
            missing: size,
            smallest: none,
            age: 0,
        }
    }

    fn push(&mut self, gram: Gram) -> Option<u64> {
        self.last.push(gram);
        self.age += 1;
        let mut is_new = false;
        if gram.hash <= self.smallest.hash {
            (self.smallest, self.age, is_new) = (gram, 0, true);
        } else if self.age >= self.size {
            // It has left the window. Hashes are random, so this is seldom: once in half a window.
            let smallest = self.last.items.iter().map(|gram| gram.hash).min();
            let is_smallest = |(_, gram): &(usize, &Gram)| Some(gram.hash) == smallest;
            let mut ages = (0..self.size).zip(self.last.newest_first());
            let (age, gram) = ages.find(is_smallest).unwrap_or((0, &gram));
            (self.smallest, self.age, is_new) = (*gram, age, true);
        }
        if self.missing > 0 {
            self.missing -= 1;
            return if self.missing > 0 { None } else { self.print() };
        }
        if is_new { self.print() } else { None }
    }

    /// The smallest hash of a text with less than one window.
    fn rest(&self) -> Option<u64> {
        if self.missing > 0 { self.print() } else { None }
    }

    fn print(&self) -> Option<u64> {
        let gram = self.smallest;
        (gram.hash != NOTHING && !gram.is_boilerplate).then_some(gram.hash)
    }
}

/// The last so many items.
struct Ring<T> {
    items: Vec<T>,
    /// Where the oldest is.
    oldest: usize,
}

impl<T: Copy> Ring<T> {
    fn new(item: T, size: usize) -> Ring<T> {
        Ring {
            items: vec![item; size.max(1)],
            oldest: 0,
        }
    }

    /// Puts an item in, and returns the oldest, whose place it takes.
    fn push(&mut self, item: T) -> T {
        let slot = self.items.get_mut(self.oldest);
        let old = slot.map_or(item, |slot| std::mem::replace(slot, item));
        self.oldest += 1;
        if self.oldest == self.items.len() {
            self.oldest = 0;
        }
        old
    }

    fn newest_first(&self) -> impl Iterator<Item = &T> {
        let (newer, older) = self.items.split_at_checked(self.oldest).unwrap_or_default();
        newer.iter().rev().chain(older.iter().rev())
    }
}

/// Spreads all bits (the finalizer of `SplitMix64`).
fn mixed(mut bits: u64) -> u64 {
    bits = bits.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}
