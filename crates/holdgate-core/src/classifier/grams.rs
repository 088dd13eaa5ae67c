//! The lexical features of a command: hashed runs of three to five characters, and pairs of words.
//!
//! The weight of a feature is its TF-IDF value, divided by the length of the whole vector. A long
//! command is read in windows, so that what stands beside a part of it cannot dilute that part.

use super::hash::step;

/// Hashed features, as a power of two.
pub(crate) const BITS: u32 = 16;
/// How many there are.
pub(crate) const BUCKETS: usize = 1 << BITS;
/// Bytes of a command that are read.
const MAX_BYTES: usize = 4096;
/// Bytes of a window, and how far apart two windows begin.
const WINDOW: usize = 240;
const STRIDE: usize = 120;
const START: u64 = 0x9ae1_6a3b_2f90_404f;

/// The parts in which a command is read.
pub(crate) fn windows(text: &str) -> impl Iterator<Item = &[u8]> {
    let bytes = text.as_bytes();
    let bytes = bytes.get(..bytes.len().min(MAX_BYTES)).unwrap_or(bytes);
    let last = bytes.len().saturating_sub(WINDOW).div_ceil(STRIDE);
    (0..=last).filter_map(move |number| {
        let from = number * STRIDE;
        let to = bytes.len().min(from + WINDOW);
        bytes.get(from..to).filter(|window| !window.is_empty())
    })
}

/// Calls `each` with every feature of a window.
pub(crate) fn features(window: &[u8], mut each: impl FnMut(usize)) {
    let mut before = [b' '; 4];
    let mut word = START;
    let mut previous = START;
    for (place, byte) in window.iter().copied().chain([b' ']).enumerate() {
        let byte = match byte {
            // Which number it is says little.
            b'0'..=b'9' => b'0',
            b'\t' | b'\n' | b'\r' => b' ',
            other => other.to_ascii_lowercase(),
        };
        let [a, b, c, d] = before;
        if place >= 2 {
            // The last three, four and five characters.
            let three = step(
                step(step(START, u64::from(byte)), u64::from(d)),
                u64::from(c),
            );
            let four = step(three, u64::from(b));
            each(bucket(three));
            if place >= 3 {
                each(bucket(four));
            }
            if place >= 4 {
                each(bucket(step(four, u64::from(a))));
            }
        }
        if byte == b' ' {
            if d != b' ' {
                each(bucket(step(previous.rotate_left(17) ^ word, 2)));
                previous = word;
                word = START;
            }
        } else {
            word = step(word, u64::from(byte));
        }
        before = [b, c, d, byte];
    }
}

fn bucket(hash: u64) -> usize {
    let bits = (hash ^ (hash >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    usize::try_from(bits >> (64 - BITS)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<usize> {
        let mut found = Vec::new();
        for window in windows(text) {
            features(window, |feature| found.push(feature));
        }
        found
    }

    #[test]
    fn numbers_case_and_kinds_of_space_do_not_matter() {
        assert_eq!(all("Tail -n 20 x"), all("tail\t-n 35 X"));
        assert_ne!(all("tail -n 20 x"), all("head -n 20 x"));
        assert!(all("").is_empty());
    }

    #[test]
    fn windows_cover_all_that_is_read() {
        let long = "x".repeat(1000);
        let windows: Vec<_> = windows(&long).collect();
        assert_eq!(windows.len(), 8);
        assert_eq!(windows.last().unwrap().len(), 160);
    }
}
