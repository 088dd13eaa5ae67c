//! Four letters of a folded text, by which words are found.

use std::hash::Hasher;

/// Letters by which a word is found.
pub(super) const GRAM: usize = 4;
/// Bits of the set of such letters.
pub(super) const SET_BITS: u32 = 17;

/// A place in a word by which it is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) word: usize,
    /// How far the letters are from the start of the word.
    pub(super) offset: isize,
    /// Four more of its letters, and how far they are from the first: most candidates differ there.
    pub(super) more: (isize, u32),
}

/// A letter in lower case, `0` for digits, a space for all else.
pub(super) fn fold(byte: u8) -> u8 {
    let small = byte | 0x20;
    if small.wrapping_sub(b'a') < 26 {
        small
    } else if byte.wrapping_sub(b'0') < 10 {
        b'0'
    } else {
        b' '
    }
}

/// Letters are spread well enough by one multiplication.
#[derive(Debug, Default)]
pub(super) struct GramHasher(u64);

impl Hasher for GramHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u32(u32::from(*byte));
        }
    }

    fn write_u32(&mut self, gram: u32) {
        self.0 = (self.0 ^ u64::from(gram)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 ^= self.0 >> 32;
    }
}

pub(super) fn gram_of(folded: &[u8]) -> Option<u32> {
    Some(u32::from_le_bytes(*folded.first_chunk()?))
}

#[expect(clippy::cast_possible_truncation, reason = "the lower half is meant")]
pub(super) fn low(eight: u64) -> u32 {
    eight as u32
}

pub(super) fn slot(gram: u32) -> usize {
    usize::try_from(gram.wrapping_mul(0x9E37_79B1) >> (32 - SET_BITS)).unwrap_or_default()
}

/// About how often a letter occurs in text.
pub(super) fn commonness(letter: u8) -> u32 {
    match letter {
        b' ' => 16,
        b'0' => 4,
        b'e' => 12,
        b't' | b'a' | b'o' | b'i' | b'n' | b's' | b'r' => 8,
        b'l' | b'd' | b'c' | b'u' | b'm' | b'p' => 5,
        b'f' | b'g' | b'h' | b'y' | b'b' | b'w' => 3,
        _ => 1,
    }
}

/// Four letters of a word other than those at `at`, as far as it has them, and their distance.
pub(super) fn more(folded: &[u8], at: usize) -> Option<(isize, u32)> {
    let last = folded.len().checked_sub(GRAM)?;
    let other = match at.checked_sub(GRAM) {
        _ if at + GRAM <= last => at + GRAM,
        Some(before) => before,
        None if at == last => 0,
        None => last,
    };
    let gram = folded.get(other..).and_then(gram_of)?;
    Some((other.cast_signed() - at.cast_signed(), gram))
}
