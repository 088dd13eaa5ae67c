//! Encodings that code hides in, undone.
//!
//! Bytes are texts here: UTF-8 where they are that, else one character per byte.

use crate::value::MAX_VALUE;
use flate2::read::{DeflateDecoder, GzDecoder, ZlibDecoder};
use std::io::Read;

/// Bytes as a text.
pub(super) fn text_of(bytes: Vec<u8>) -> String {
    match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => error.into_bytes().into_iter().map(char::from).collect(),
    }
}

/// A text as the bytes that it came from.
pub(super) fn bytes_of(text: &str) -> Vec<u8> {
    let narrow: Option<Vec<u8>> = text.chars().map(|c| u8::try_from(c).ok()).collect();
    narrow.unwrap_or_else(|| text.as_bytes().to_vec())
}

/// Base64 in either alphabet, with or without padding, white space ignored.
pub(super) fn base64(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    };
    regroup(unpadded(text).map(digit), 6)
}

/// Base32.
pub(super) fn base32(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| match byte.to_ascii_uppercase() {
        upper @ b'A'..=b'Z' => Some(upper - b'A'),
        digit @ b'2'..=b'7' => Some(digit - b'2' + 26),
        _ => None,
    };
    regroup(unpadded(text).map(digit), 5)
}

/// Hexadecimal digits, two for each byte; white space, `:`, `\x` and `0x` ignored.
pub(super) fn hex(text: &str) -> Option<Vec<u8>> {
    let text = text.strip_prefix("0x").unwrap_or(text);
    let bits = text
        .bytes()
        .filter(|b| !b.is_ascii_whitespace() && !matches!(b, b':' | b'\\' | b'x'))
        .map(|b| {
            let digit = char::from(b).to_digit(16)?;
            u8::try_from(digit).ok()
        });
    regroup(bits, 4)
}

/// The bytes before the padding, white space left out.
fn unpadded(text: &str) -> impl Iterator<Item = u8> {
    let dense = text.bytes().filter(|b| !b.is_ascii_whitespace());
    dense.take_while(|b| *b != b'=')
}

fn regroup(digits: impl Iterator<Item = Option<u8>>, width: u32) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut held: u32 = 0;
    let mut bits = 0;
    for digit in digits {
        held = (held << width) | u32::from(digit?);
        bits += width;
        if bits >= 8 {
            bits -= 8;
            bytes.push(u8::try_from((held >> bits) & 0xFF).unwrap_or(0));
            held &= (1 << bits) - 1;
        }
    }
    (!bytes.is_empty()).then_some(bytes)
}

/// zlib, gzip or plain deflate, whichever it is.
pub(super) fn inflate(bytes: &[u8]) -> Option<Vec<u8>> {
    let read = |reader: &mut dyn Read| {
        let mut out = Vec::new();
        reader.take(MAX_VALUE as u64).read_to_end(&mut out).ok()?;
        (!out.is_empty()).then_some(out)
    };
    match bytes {
        [0x1f, 0x8b, ..] => read(&mut GzDecoder::new(bytes)),
        [0x78, ..] => read(&mut ZlibDecoder::new(bytes)),
        _ => read(&mut DeflateDecoder::new(bytes)),
    }
}

/// Letters moved by thirteen.
pub(super) fn rot13(text: &str) -> String {
    let turn = |c: char| {
        let base = match c {
            'a'..='z' => b'a',
            'A'..='Z' => b'A',
            other => return other,
        };
        let moved = (u32::from(c) - u32::from(base) + 13) % 26;
        char::from_u32(u32::from(base) + moved).unwrap_or(c)
    };
    text.chars().map(turn).collect()
}

/// `%41` and the like.
pub(super) fn percent(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        let mut ahead = bytes.clone();
        let pair = ahead.next().zip(ahead.next());
        let digits = pair.and_then(|(high, low)| {
            let high = char::from(high).to_digit(16)?;
            let low = char::from(low).to_digit(16)?;
            u8::try_from(high * 16 + low).ok()
        });
        match digits {
            Some(value) if byte == b'%' => {
                out.push(value);
                bytes = ahead;
            }
            _ => out.push(byte),
        }
    }
    text_of(out)
}

/// UTF-16, low byte first, as Windows writes it.
pub(super) fn utf16(bytes: &[u8]) -> String {
    let units = bytes.chunks_exact(2).map(|pair| {
        let low = pair.first().copied().unwrap_or(0);
        let high = pair.get(1).copied().unwrap_or(0);
        u16::from_le_bytes([low, high])
    });
    char::decode_utf16(units)
        .map(|c| c.unwrap_or('\u{FFFD}'))
        .collect()
}
