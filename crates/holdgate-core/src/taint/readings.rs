//! The readings of a text in which a value can hide: as it is, turned round, and decoded.

use super::Form;
use holdgate_effects::decode;

/// How often what was decoded is decoded again.
const MAX_DEPTH: usize = 5;
/// A shorter run of letters and digits is not decoded: it is shorter than any value.
const MIN_RUN: usize = 12;
/// Bytes that are decoded of one text, all readings together.
const MAX_DECODED: usize = 8 << 20;

/// What a reading calls with its form and its bytes.
type Visit<'v> = dyn FnMut(Form, &mut dyn Iterator<Item = u8>) + 'v;

/// Calls `visit` with each reading of `text`. Of one that was decoded twice, the outer form counts.
pub(super) fn each(text: &str, visit: &mut Visit<'_>) {
    let mut room = MAX_DECODED;
    read(text.as_bytes(), None, 0, &mut room, visit);
}

fn read(bytes: &[u8], outer: Option<Form>, depth: usize, room: &mut usize, visit: &mut Visit<'_>) {
    let form = |own: Form| outer.unwrap_or(own);
    let each = || bytes.iter().copied();
    visit(form(Form::Plain), &mut each());
    visit(form(Form::Reversed), &mut each().rev());
    visit(form(Form::Rot13), &mut each().map(turned));
    if depth == MAX_DEPTH {
        return;
    }
    let mut decoded = |own: Form, bytes: Vec<u8>| {
        let Some(left) = room.checked_sub(bytes.len()) else {
            return;
        };
        *room = left;
        again(&bytes, form(own), depth, room, visit);
    };
    if bytes.contains(&b'%') {
        let text = String::from_utf8_lossy(bytes);
        decoded(Form::Percent, decode::percent(&text).into_bytes());
    }
    if bytes.contains(&b'\\') {
        decoded(Form::Escaped, unescaped(bytes));
    }
    for (kind, is_digit, offsets) in KINDS {
        let dense = dense(bytes, kind);
        for run in dense.split(|byte| !is_digit(*byte)) {
            if run.len() < MIN_RUN {
                continue;
            }
            // The run may begin before the value does.
            for from in 0..offsets {
                let run = run.get(from..).unwrap_or_default();
                decoded(kind.form(), digits(run, kind));
            }
            let turned: Vec<u8> = run.iter().rev().copied().collect();
            decoded(kind.form(), digits(&turned, kind));
        }
    }
    if depth == 0 {
        for (form, bytes) in [
            (Form::Numbers, numbers(bytes)),
            (Form::Plain, values(bytes)),
        ] {
            if bytes.len() >= MIN_RUN {
                visit(form, &mut bytes.iter().copied());
            }
        }
    }
}

/// What was decoded is read, and where it is text, decoded again.
fn again(bytes: &[u8], form: Form, depth: usize, room: &mut usize, visit: &mut Visit<'_>) {
    visit(form, &mut bytes.iter().copied());
    let packed = bytes.starts_with(b"\x1f\x8b") || bytes.starts_with(b"\x78");
    if packed && let Some(inner) = decode::inflate(bytes) {
        visit(Form::Packed, &mut inner.iter().copied());
    }
    let is_text = |byte: &u8| matches!(byte, b' '..=b'~' | b'\n' | b'\r' | b'\t');
    for text in bytes.split(|byte| !is_text(byte)) {
        if text.len() >= MIN_RUN {
            read(text, Some(form), depth + 1, room, visit);
        }
    }
}

type Kind = (Digits, fn(u8) -> bool, usize);

/// An encoding in digits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Digits {
    Hex,
    Base32,
    Base64,
}

impl Digits {
    fn form(self) -> Form {
        match self {
            Digits::Hex => Form::Hex,
            Digits::Base32 => Form::Base32,
            Digits::Base64 => Form::Base64,
        }
    }
}

/// Encodings in digits, and how many offsets a group of digits has.
const KINDS: [Kind; 3] = [
    (Digits::Hex, |b| b.is_ascii_hexdigit(), 2),
    (
        Digits::Base64,
        |b| b.is_ascii_alphanumeric() || b"+/-_".contains(&b),
        4,
    ),
    (
        Digits::Base32,
        |b| b.is_ascii_alphabetic() || (b'2'..=b'7').contains(&b),
        8,
    ),
];

/// Without what may stand between the parts of an encoded value: quotes, white space, the dots of a
/// name in the DNS, and `+` between two strings. Separators that no encoding has stay.
fn dense(bytes: &[u8], kind: Digits) -> Vec<u8> {
    let between = |byte: u8| {
        byte.is_ascii_whitespace()
            || b"\"'`.,\\".contains(&byte)
            || kind != Digits::Base64 && b"-:+_".contains(&byte)
    };
    let mut kept = Vec::with_capacity(bytes.len());
    let mut at_edge = true;
    for (byte, next) in bytes
        .iter()
        .zip(bytes.iter().skip(1).chain(std::iter::once(&b' ')))
    {
        let joins = *byte == b'+' && (at_edge || between(*next));
        if !between(*byte) && !joins {
            kept.push(*byte);
        }
        at_edge = between(*byte);
    }
    kept
}

/// The bytes that digits of a form stand for.
fn digits(run: &[u8], kind: Digits) -> Vec<u8> {
    let (bits, value): (u32, fn(u8) -> u8) = match kind {
        Digits::Hex => (4, |b| match b {
            b'0'..=b'9' => b - b'0',
            _ => b.to_ascii_lowercase().saturating_sub(b'a') + 10,
        }),
        Digits::Base32 => (5, |b| match b {
            b'2'..=b'7' => b - b'2' + 26,
            _ => b.to_ascii_lowercase().saturating_sub(b'a'),
        }),
        Digits::Base64 => (6, |b| match b {
            b'A'..=b'Z' => b - b'A',
            b'a'..=b'z' => b - b'a' + 26,
            b'0'..=b'9' => b - b'0' + 52,
            b'+' | b'-' => 62,
            _ => 63,
        }),
    };
    let mut bytes = Vec::with_capacity(run.len());
    let (mut held, mut count) = (0u32, 0);
    for byte in run {
        held = (held << bits | u32::from(value(*byte))) & 0xFFFF;
        count += bits;
        if count >= 8 {
            count -= 8;
            bytes.extend(u8::try_from(held >> count & 0xFF));
        }
    }
    bytes
}

/// A letter moved by thirteen places.
fn turned(byte: u8) -> u8 {
    match byte {
        b'a'..=b'z' => (byte - b'a' + 13) % 26 + b'a',
        b'A'..=b'Z' => (byte - b'A' + 13) % 26 + b'A',
        other => other,
    }
}

/// The bytes that a list of numbers stands for: decimal, hexadecimal with or without `0x`, octal,
/// binary. Every number is read in each base that fits, in the list of that base.
fn numbers(bytes: &[u8]) -> Vec<u8> {
    let mut lists: [Vec<u8>; 4] = Default::default();
    for word in bytes.split(|byte| !byte.is_ascii_alphanumeric()) {
        let word = std::str::from_utf8(word).unwrap_or_default();
        let bare = word.trim_start_matches("0x").trim_start_matches(['x', 'X']);
        let fits = [
            (word, 10, 1..=3),
            (bare, 16, 2..=2),
            (word, 8, 2..=3),
            (word, 2, 7..=8),
        ];
        for (list, (digits, base, length)) in lists.iter_mut().zip(fits) {
            if length.contains(&digits.len())
                && let Ok(number) = u8::from_str_radix(digits, base)
            {
                list.push(number);
            }
        }
    }
    lists.concat()
}

/// The words of a text without those that only name the next one: `a` in `a=1&b=2`, `{"a":1}`.
fn values(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        let length = rest
            .iter()
            .take_while(|b| b.is_ascii_alphanumeric())
            .count();
        let (word, after) = rest.split_at_checked(length).unwrap_or((rest, &[]));
        let gap = after
            .iter()
            .take_while(|b| !b.is_ascii_alphanumeric())
            .count();
        let (gap, next) = after.split_at_checked(gap).unwrap_or((after, &[]));
        let names = gap
            .iter()
            .find(|b| !matches!(b, b'"' | b'\'' | b' ' | b'\\'));
        if !matches!(names, Some(b'=' | b':')) {
            out.extend_from_slice(word);
        }
        rest = next;
    }
    out
}

/// `\x41`, `\u0041` and `\101` as `A`.
fn unescaped(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let number = |from: usize, length: usize, radix: u32| {
            let digits = bytes.get(at + from..at + from + length)?;
            let digits = std::str::from_utf8(digits).ok()?;
            let code = u8::try_from(u32::from_str_radix(digits, radix).ok()?).ok()?;
            Some((code, from + length))
        };
        let escape = match (byte, bytes.get(at + 1)) {
            (b'\\', Some(b'x')) => number(2, 2, 16),
            (b'\\', Some(b'u')) => number(2, 4, 16),
            (b'\\', Some(b'0'..=b'3')) => number(1, 3, 8),
            _ => None,
        };
        let (code, length) = escape.unwrap_or((*byte, 1));
        out.push(code);
        at += length;
    }
    out
}
