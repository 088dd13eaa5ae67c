//! A hash for names that stand in code: fast, and with a key of its own for each process, so that nobody
//! can choose names that fall together.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::LazyLock;

/// A map by names from code.
pub(super) type NameMap<V> = std::collections::HashMap<String, V, Keyed>;

/// What makes hashers with the key of this process.
#[derive(Clone, Copy, Debug)]
pub(super) struct Keyed {
    start: u64,
    key: u64,
}

static KEY: LazyLock<Keyed> = LazyLock::new(|| {
    let random = RandomState::new();
    Keyed {
        start: random.hash_one(0),
        key: random.hash_one(1) | 1,
    }
});

impl Default for Keyed {
    fn default() -> Self {
        *KEY
    }
}

impl BuildHasher for Keyed {
    type Hasher = KeyedHasher;

    fn build_hasher(&self) -> KeyedHasher {
        KeyedHasher {
            state: self.start,
            key: self.key,
        }
    }
}

/// Eight bytes at a time: both halves of a product with the key.
pub(super) struct KeyedHasher {
    state: u64,
    key: u64,
}

impl KeyedHasher {
    fn mix(&mut self, word: u64) {
        let product = u128::from(self.state ^ word) * u128::from(self.key);
        let bytes = product.to_le_bytes();
        let (low, high) = bytes.split_at(8);
        let half = |half: &[u8]| half.try_into().map_or(0, u64::from_le_bytes);
        self.state = half(low) ^ half(high).rotate_left(32);
    }
}

impl Hasher for KeyedHasher {
    fn write(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while let Some((word, after)) = rest.split_first_chunk() {
            self.mix(u64::from_le_bytes(*word));
            rest = after;
        }
        // The length keeps apart what ends in zeros.
        let mut last = [0; 8];
        for (to, from) in last.iter_mut().zip(rest) {
            *to = *from;
        }
        self.mix(u64::from_le_bytes(last) ^ (bytes.len() as u64).rotate_right(8));
    }

    /// The end of a text: its length is in already.
    fn write_u8(&mut self, byte: u8) {
        self.state ^= u64::from(byte);
    }

    fn finish(&self) -> u64 {
        self.state
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_are_told_apart() {
        let hash = |text: &str| Keyed::default().hash_one(text);
        let names = [
            "",
            "\0",
            "a",
            "a\0",
            "aa",
            "abcdefgh",
            "abcdefgh\0",
            "abcdefghi",
        ];
        let hashes: HashSet<u64> = names.into_iter().map(hash).collect();
        assert_eq!(hashes.len(), names.len());
        assert_eq!(hash("name"), hash("name"));
        let many: HashSet<u64> = (0..10_000).map(|n| hash(&format!("x{n}")) >> 32).collect();
        assert!(many.len() > 9_990, "{}", many.len());
    }
}
