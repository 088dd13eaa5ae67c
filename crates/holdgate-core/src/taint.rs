//! Secret values that tools have shown, and how they are found again in what leaves.
//!
//! A value is kept as keyed hashes of its pieces: eight letters or digits each, at every offset, in
//! small letters and without other characters. So quotes, line breaks or dots between two halves
//! hide nothing, and the value itself is not kept.

mod readings;
#[cfg(test)]
mod tests;

use holdgate_effects::effect::allocated;
use holdgate_effects::worded;
use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::LazyLock;

/// Letters and digits of a piece.
const PIECE: usize = 8;
/// Pieces of one value that are kept. Of a longer value, those with the smallest hashes.
const MAX_PIECES: usize = 32;
/// Eight characters of a value drawn by lot give it away. Longer values have parts that others of
/// their kind share.
const SHORT: usize = 17;
/// Filters most pieces of a text that are in no value.
const BUCKETS: usize = 1 << 16;

worded! {
    /// How a value was written when it was found.
    pub enum Form as "form" {
        Plain = "as it was shown": "As it was shown, or in parts that follow each other.",
        Reversed = "reversed": "From its end to its start.",
        Rot13 = "in rot13": "With letters moved by thirteen places.",
        Percent = "URL-encoded": "With `%41` for letters.",
        Escaped = "in escapes": "With `\\x41` for letters.",
        Hex = "in hex": "As hexadecimal digits.",
        Base64 = "in base64": "In base64, from any offset.",
        Base32 = "in base32": "In base32.",
        Numbers = "as numbers": "As the numbers of its characters.",
        Packed = "compressed": "Compressed with gzip or zlib.",
    }
}

/// The form of a value that only stood near a word that speaks of secrets.
pub(crate) const GUESS: &str = "value-near-a-secret-word";

/// A secret value that a tool has shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Secret {
    /// The form by which it was known.
    pub(crate) rule: &'static str,
    /// The hosts that it belongs to.
    pub(crate) issuers: &'static [&'static str],
    /// Hashes of its pieces, in ascending order.
    pieces: Box<[u64]>,
    /// How many of them a text must have.
    needed: usize,
}

/// Random for each process: without it, the hashes say nothing about the values.
static KEYS: LazyLock<(u64, u64)> = LazyLock::new(|| {
    let random = RandomState::new();
    (random.hash_one(0), random.hash_one(1) | 1)
});

/// The keyed hash of eight letters.
fn hash(piece: u64, keys: (u64, u64)) -> u64 {
    let product = u128::from(piece ^ keys.0) * u128::from(keys.1 ^ piece.rotate_left(32));
    let (low, high) = (product & u128::from(u64::MAX), product >> 64);
    u64::try_from(low ^ high).unwrap_or_default()
}

/// Calls `piece` with the hash of each eight letters or digits that follow each other.
fn pieces(bytes: impl Iterator<Item = u8>, mut piece: impl FnMut(u64)) {
    let keys = *KEYS;
    let (mut last, mut seen) = (0u64, 0usize);
    for byte in bytes {
        if byte.is_ascii_alphanumeric() {
            last = last << 8 | u64::from(byte.to_ascii_lowercase());
            seen += 1;
            if seen >= PIECE {
                piece(hash(last, keys));
            }
        }
    }
}

impl Secret {
    /// What is kept of `value`; `None` if it is too short to be told from other text.
    pub(crate) fn new(
        value: &str,
        rule: &'static str,
        issuers: &'static [&'static str],
    ) -> Option<Secret> {
        let value = own_part(value);
        let mut kept = Vec::new();
        pieces(value.bytes(), |piece| kept.push(piece));
        kept.sort_unstable();
        kept.dedup();
        let all = kept.len();
        kept.truncate(MAX_PIECES);
        let needed = if is_wordy(value) {
            // Its parts are words, which other texts have too.
            if !(PIECE..=MAX_PIECES).contains(&all) {
                return None;
            }
            kept.len()
        } else {
            match all {
                _ if all <= SHORT => 1,
                _ if all <= MAX_PIECES => 2,
                _ => 4,
            }
        };
        (!kept.is_empty()).then(|| Secret {
            rule,
            issuers,
            pieces: kept.into(),
            needed,
        })
    }

    /// Whether it only stood near a word that speaks of secrets.
    pub(crate) fn is_guess(&self) -> bool {
        self.rule == GUESS
    }

    /// Whether both are the same value.
    pub(crate) fn is(&self, other: &Secret) -> bool {
        self.pieces == other.pieces
    }

    /// About how many bytes it takes in memory.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<Secret>() + allocated(self.pieces.len() * size_of::<u64>())
    }
}

/// The head of a JSON web token is the same in most of them.
fn own_part(value: &str) -> &str {
    match value.split_once('.') {
        Some((head, rest)) if head.contains("hbGci") || head.contains("0eXAi") => rest,
        _ => value,
    }
}

/// Whether a value may consist of words: it has no digits, or few kinds of characters.
fn is_wordy(value: &str) -> bool {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let letters = value.bytes().filter(u8::is_ascii_alphabetic).count();
    let upper = value.bytes().filter(u8::is_ascii_uppercase).count();
    let mixed = upper >= 2 && upper < letters && letters >= 16;
    letters < 2 || (digits < 2 && !mixed)
}

/// Values, ready to be looked for.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    /// By the hash of a piece: the values that have it, and which piece of them it is.
    pieces: HashMap<u64, Vec<(usize, u32)>>,
    buckets: Box<[u64]>,
    /// How many pieces of each value a text must have.
    needed: Vec<usize>,
}

impl Table {
    /// A table of these.
    pub(crate) fn new<'s>(secrets: impl Iterator<Item = &'s Secret>) -> Self {
        let mut table = Table {
            pieces: HashMap::new(),
            buckets: vec![0; BUCKETS / 64].into(),
            needed: Vec::new(),
        };
        for secret in secrets {
            for (piece, number) in secret.pieces.iter().zip(0u32..) {
                let at = table.needed.len();
                table.pieces.entry(*piece).or_default().push((at, number));
                if let Some(bucket) = table.buckets.get_mut(bucket(*piece)) {
                    *bucket |= 1 << (piece & 63);
                }
            }
            table.needed.push(secret.needed);
        }
        table
    }
}

/// Looks for values in texts.
#[derive(Debug)]
pub(crate) struct Search<'t> {
    table: &'t Table,
    found: Vec<Found>,
}

/// What was found of one value.
#[derive(Clone, Copy, Debug, Default)]
struct Found {
    /// One bit for each piece.
    pieces: u32,
    /// The form in which enough of them were found.
    form: Option<Form>,
}

impl<'t> Search<'t> {
    /// A search for the values of `table`.
    pub(crate) fn new(table: &'t Table) -> Self {
        Search {
            table,
            found: vec![Found::default(); table.needed.len()],
        }
    }

    /// Looks at a text in every reading of it.
    pub(crate) fn look(&mut self, text: &str) {
        if !self.found.is_empty() {
            readings::each(text, &mut |form, bytes| self.read(form, bytes));
        }
    }

    /// The values of which enough was found, by their numbers, and in which form.
    pub(crate) fn found(&self) -> impl Iterator<Item = (usize, Form)> {
        let found = self.found.iter().enumerate();
        found.filter_map(|(at, found)| Some((at, found.form?)))
    }

    fn read(&mut self, form: Form, bytes: &mut dyn Iterator<Item = u8>) {
        let (table, found) = (self.table, &mut self.found);
        pieces(bytes, |piece| {
            let bits = table.buckets.get(bucket(piece)).copied();
            if bits.unwrap_or_default() >> (piece & 63) & 1 == 0 {
                return;
            }
            for (at, number) in table.pieces.get(&piece).into_iter().flatten() {
                if let (Some(found), Some(needed)) = (found.get_mut(*at), table.needed.get(*at)) {
                    found.pieces |= 1 << number;
                    if found.form.is_none() && found.pieces.count_ones() as usize >= *needed {
                        found.form = Some(form);
                    }
                }
            }
        });
    }
}

/// The word of the filter that a hash falls in.
fn bucket(piece: u64) -> usize {
    usize::try_from(piece >> 6).unwrap_or_default() % (BUCKETS / 64)
}
