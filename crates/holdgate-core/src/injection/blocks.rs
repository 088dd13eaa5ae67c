//! Where the letters of a text are, one bit for each byte: eight bytes are looked at together.

use super::terms::MIN_DISGUISED;

/// Bytes of a block.
pub(super) const BLOCK: usize = 64;
const LAST: usize = BLOCK - 1;

/// One in each byte.
const EACH: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = EACH * 0x80;

/// One bit for each byte of a text, in blocks, and a block without any at the end.
#[derive(Debug)]
pub(super) struct Bitmap {
    blocks: Vec<u64>,
}

/// Bytes with bits between others without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) at: usize,
    pub(super) len: usize,
}

impl Bitmap {
    /// The letters of ASCII.
    pub(super) fn letters(text: &[u8]) -> Bitmap {
        Bitmap::of(text, letters)
    }

    /// The digits of ASCII.
    pub(super) fn digits(text: &[u8]) -> Bitmap {
        Bitmap::of(text, digits)
    }

    /// The bytes for which `class` has the highest bit.
    fn of(text: &[u8], class: impl Fn(u64) -> u64 + Copy) -> Bitmap {
        let mut blocks = Vec::with_capacity(text.len() / BLOCK + 2);
        let (whole, rest) = text.as_chunks::<BLOCK>();
        blocks.extend(whole.iter().map(|block| bits(block, class)));
        let mut last = [0; BLOCK];
        for (to, from) in last.iter_mut().zip(rest) {
            *to = *from;
        }
        blocks.extend([bits(&last, class), 0]);
        Bitmap { blocks }
    }

    /// The runs of at least two, in order, until `each` says that it is enough.
    #[inline]
    pub(super) fn each_run(&self, mut each: impl FnMut(Run) -> bool) {
        let mut before = 0;
        for (block, pair) in self.blocks.array_windows::<2>().enumerate() {
            let [here, next] = *pair;
            let goes_on = here >> 1 | next << LAST;
            let mut starts = here & !(here << 1 | before) & goes_on;
            before = here >> LAST;
            while starts != 0 {
                let start = starts.trailing_zeros();
                starts &= starts - 1;
                let run = here >> start | next.checked_shl(64 - start).unwrap_or(0);
                let at = block * BLOCK + start as usize;
                let mut len = run.trailing_ones() as usize;
                if len == BLOCK {
                    len += self.ones(at + BLOCK);
                }
                if !each(Run { at, len }) {
                    return;
                }
            }
        }
    }

    /// The places of the bytes with bits, in order.
    pub(super) fn places(&self) -> impl Iterator<Item = usize> {
        let blocks = self.blocks.iter().zip((0..).step_by(BLOCK));
        blocks.flat_map(|(bits, at)| each_bit(*bits).map(move |bit| at + bit as usize))
    }

    /// How many bits from `at` on are set.
    fn ones(&self, at: usize) -> usize {
        let blocks = self.blocks.get(at / BLOCK..).unwrap_or_default();
        let inside = at % BLOCK;
        let Some((first, rest)) = blocks.split_first() else {
            return 0;
        };
        let mut count = (first >> inside).trailing_ones() as usize;
        if inside + count == BLOCK {
            let whole = rest.iter().take_while(|block| **block == u64::MAX).count();
            let last = rest.get(whole).map_or(0, |block| block.trailing_ones());
            count += whole * BLOCK + last as usize;
        }
        count
    }

    /// Whether, of letters, so many stand by themselves or have digits between them that the text has
    /// to be looked at for that. Says no only if there are not.
    pub(super) fn may_be_disguised(&self, text: &[u8]) -> bool {
        let (mut single, mut digits) = (0, 0);
        let mut before = 0;
        let mut between = 0;
        for (pair, number) in self.blocks.array_windows::<2>().zip(0..) {
            let [here, next] = *pair;
            let left = here << 1 | before >> LAST;
            let right = here >> 1 | next << LAST;
            let two_left = here << 2 | before >> (LAST - 1);
            before = here;
            let gaps = left & !here & right;
            if gaps != 0 {
                let at = number * BLOCK;
                let block = text.get(at..text.len().min(at + BLOCK)).unwrap_or_default();
                let is_digit = |at: u32| block.get(at as usize).is_some_and(u8::is_ascii_digit);
                digits += each_bit(gaps).filter(|at| is_digit(*at)).count();
            }
            // A letter after a gap after a letter, and none at its sides; pairs of letters end a row.
            let pairs = here & left;
            let mut alone = here & !left & !right & two_left;
            let mut seen = 0;
            while alone != 0 {
                let bit = alone & alone.wrapping_neg();
                alone &= alone - 1;
                let since = (bit - 1) & !seen;
                single = if between != 0 || pairs & since != 0 {
                    1
                } else {
                    single + 1
                };
                between = 0;
                seen = bit | (bit - 1);
                if single + 1 >= MIN_DISGUISED {
                    return true;
                }
            }
            between |= pairs & !seen;
            if digits >= MIN_DISGUISED {
                return true;
            }
        }
        false
    }
}

/// The places of the bits that are set.
fn each_bit(mut bits: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let at = (bits != 0).then(|| bits.trailing_zeros());
        bits &= bits.wrapping_sub(1);
        at
    })
}

/// One bit for each of the bytes for which `class` has the highest bit.
#[inline]
fn bits(block: &[u8; BLOCK], class: impl Fn(u64) -> u64) -> u64 {
    let (eights, _) = block.as_chunks::<8>();
    let each = eights.iter().map(|eight| {
        let high = class(u64::from_le_bytes(*eight)) >> 7;
        high.wrapping_mul(0x0102_0408_1020_4080) >> 56
    });
    each.rev().fold(0, |all, bits| all << 8 | bits)
}

/// The highest bit of each byte that is an ASCII letter.
#[inline]
fn letters(eight: u64) -> u64 {
    let small = (eight | (EACH * 0x20)) & !HIGH;
    between(small, 0x61, 0x7a) & !eight & HIGH
}

/// The same of digits.
#[inline]
fn digits(eight: u64) -> u64 {
    between(eight & !HIGH, 0x30, 0x39) & !eight & HIGH
}

/// The highest bit of each byte from `first` to `last`; no byte has it before.
#[inline]
fn between(low: u64, first: u64, last: u64) -> u64 {
    (low + EACH * (0x80 - first)) & !(low + EACH * (0x7f - last))
}

#[cfg(test)]
mod tests {
    use super::super::terms::may_be_disguised;
    use super::*;
    use proptest::prelude::*;

    fn runs(map: &Bitmap) -> Vec<Run> {
        let mut found = Vec::new();
        map.each_run(|run| {
            found.push(run);
            true
        });
        found
    }

    fn expected(text: &str, inside: impl Fn(char) -> bool) -> Vec<Run> {
        let mut all = Vec::new();
        let mut at = 0;
        for word in text.split(|c| !inside(c)) {
            if word.len() >= 2 {
                let len = word.len();
                all.push(Run { at, len });
            }
            at += word.len();
            at += text
                .get(at..)
                .unwrap()
                .chars()
                .next()
                .map_or(0, char::len_utf8);
        }
        all
    }

    proptest! {
        #[test]
        fn words_are_those_between_other_characters(text in "([a-zA-Z]{1,90}|[@`\\[{é0 ]|\\PC){0,60}") {
            let found = runs(&Bitmap::letters(text.as_bytes()));
            prop_assert_eq!(found, expected(&text, |c| c.is_ascii_alphabetic()));
        }

        #[test]
        fn digits_are_found_where_they_are(text in "([0-9/:]{1,90}|[ -~]|\\PC){0,60}") {
            let found: Vec<usize> = Bitmap::digits(text.as_bytes()).places().collect();
            let digits = text.bytes().enumerate().filter(|(_, byte)| byte.is_ascii_digit());
            prop_assert_eq!(found, digits.map(|(at, _)| at).collect::<Vec<_>>());
        }

        #[test]
        fn texts_that_may_be_disguised_are_not_left_out(text in "([a-b]| |-|[04]|ab|x{60}|\n| {60}){0,40}") {
            let quick = Bitmap::letters(text.as_bytes()).may_be_disguised(text.as_bytes());
            prop_assert!(quick || !may_be_disguised(&text), "{:?}", text);
        }
    }
}
