//! Hashes that are the same on every machine and in every version: models are made of them.

const START: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;
/// Stands between two parts, so that `ab`, `c` and `a`, `bc` differ.
const BETWEEN: u64 = 0x1f;

/// A hash that is put together part by part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Hash(u64);

impl Hash {
    /// The hash of one part.
    pub(crate) fn of(part: &str) -> Hash {
        Hash(START).and(part)
    }

    /// The same with one more part.
    #[must_use]
    pub(crate) fn and(self, part: &str) -> Hash {
        let bytes = part
            .bytes()
            .fold(self.0, |hash, byte| step(hash, u64::from(byte)));
        Hash(step(bytes, BETWEEN))
    }

    /// All bits depend on all parts.
    pub(crate) fn whole(self) -> u64 {
        let mut bits = self.0;
        bits ^= bits >> 32;
        bits = bits.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        bits ^ (bits >> 29)
    }

    /// 32 of them.
    pub(crate) fn short(self) -> u32 {
        u32::try_from(self.whole() >> 32).unwrap_or_default()
    }

    /// The place in a table of 2^`bits` entries; `0 < bits <= 16`.
    pub(crate) fn slot(self, bits: u32) -> u16 {
        u16::try_from(self.whole() >> (64 - bits)).unwrap_or_default()
    }
}

/// One more byte.
pub(crate) fn step(hash: u64, byte: u64) -> u64 {
    (hash ^ byte).wrapping_mul(PRIME)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_told_apart_and_values_never_change() {
        assert_ne!(Hash::of("ab").and("c"), Hash::of("a").and("bc"));
        // A model that was trained before must mean the same afterwards.
        assert_eq!(Hash::of("git").and("push").short(), 1_896_157_478);
        assert_eq!(Hash::of("run").slot(13), 1223);
    }
}
