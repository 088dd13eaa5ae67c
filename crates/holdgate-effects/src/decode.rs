//! The encodings that payloads hide in, undone. Every reader decodes here, so that no two of them
//! disagree about a payload. Where real decoders differ, the most permissive one counts: what any of
//! them would run is seen. All are total and linear, and yield at most a little over `MAX_DECODED`.
//!
//! Bytes are texts for the readers: UTF-8 where they are that, else one character per byte.

use crate::text::{beginning, without_holes};
use crate::value::HOLE;
use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use std::io::Read;

/// How much of what was decoded is kept; [`text_of`] ends what is longer in a [`HOLE`].
pub(crate) const MAX_DECODED: usize = crate::value::MAX_VALUE;

const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// Bytes as a text without holes of its own. What is longer than [`MAX_DECODED`] is cut and ends in a
/// [`HOLE`]: the rest is not known.
pub(crate) fn text_of(bytes: Vec<u8>) -> String {
    let text = String::from_utf8(bytes)
        .unwrap_or_else(|e| e.into_bytes().into_iter().map(char::from).collect());
    let mut kept = without_holes(beginning(&text, MAX_DECODED)).into_owned();
    if text.len() > MAX_DECODED {
        kept.push(HOLE);
    }
    kept
}

/// A text as the bytes that it came from.
pub(crate) fn bytes_of(text: &str) -> Vec<u8> {
    let narrow: Option<Vec<u8>> = text.chars().map(|c| u8::try_from(c).ok()).collect();
    narrow.unwrap_or_else(|| text.as_bytes().to_vec())
}

/// Base64 in the standard or the URL alphabet, with or without padding, as Python, PHP and Node read
/// it: other characters are skipped. Data after padding is decoded too, as `base64 -d` does.
pub(crate) fn base64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut letters = String::new();
    let mut padding = 0;
    for c in text.chars() {
        match c {
            '=' => padding += 1,
            'A'..='Z' | 'a'..='z' | '0'..='9' | '+' | '/' | '-' | '_' => {
                // Padding that fills its group ends it; other padding is skipped.
                if letters.len() % 4 >= 2 && letters.len() % 4 + padding >= 4 {
                    bytes.append(&mut base64_group(&mut letters));
                }
                padding = 0;
                letters.push(c);
            }
            _ => {}
        }
        if bytes.len() + letters.len() / 4 * 3 > MAX_DECODED {
            break;
        }
    }
    bytes.append(&mut base64_group(&mut letters));
    (!bytes.is_empty()).then_some(bytes)
}

/// Decodes `letters` and takes them away. A single letter beyond groups of four is not even one byte.
fn base64_group(letters: &mut String) -> Vec<u8> {
    if letters.len() % 4 == 1 {
        letters.pop();
    }
    base64_exact(&std::mem::take(letters)).unwrap_or_default()
}

/// Base64 in the standard or the URL alphabet with optional padding and line breaks; `None` for a text
/// with anything else in it.
pub fn base64_exact(text: &str) -> Option<Vec<u8>> {
    let standard = text.bytes().filter(|b| !matches!(b, b'\n' | b'\r'));
    let standard: Vec<u8> = standard
        .map(|byte| match byte {
            b'-' => b'+',
            b'_' => b'/',
            other => other,
        })
        .collect();
    BASE64.decode(standard).ok()
}

/// Base32, up to its padding, white space ignored.
pub(crate) fn base32(text: &str) -> Option<Vec<u8>> {
    let dense = text.bytes().filter(|b| !b.is_ascii_whitespace());
    let (mut bytes, mut held, mut bits) = (Vec::new(), 0u32, 0);
    for byte in dense.take_while(|b| *b != b'=').take(MAX_DECODED * 8 / 5) {
        let digit = match byte.to_ascii_uppercase() {
            upper @ b'A'..=b'Z' => upper - b'A',
            digit @ b'2'..=b'7' => digit - b'2' + 26,
            _ => return None,
        };
        held = (held << 5 | u32::from(digit)) & 0xFFF;
        bits += 5;
        if bits >= 8 {
            bits -= 8;
            bytes.extend(u8::try_from(held >> bits & 0xFF));
        }
    }
    (!bytes.is_empty()).then_some(bytes)
}

/// Pairs of hexadecimal digits between white space, commas, colons and the marks `0x` and `\x`. A digit
/// without its other half is skipped, as `xxd` and Node do.
pub fn hex(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut half = None;
    for c in text.chars() {
        let Some(digit) = c.to_digit(16) else {
            if !(c.is_ascii_whitespace() || matches!(c, ',' | ':' | '\\' | 'x' | 'X')) {
                return None;
            }
            half = None;
            continue;
        };
        match half.take() {
            None => half = Some(digit),
            Some(high) => bytes.extend(u8::try_from(high * 16 + digit)),
        }
        if bytes.len() > MAX_DECODED {
            break;
        }
    }
    (!bytes.is_empty()).then_some(bytes)
}

/// What a gzip, zlib or raw deflate stream holds. Of a gzip or zlib stream that is cut off or damaged,
/// what stands before the damage: `zcat` prints it.
pub fn inflate(bytes: &[u8]) -> Option<Vec<u8>> {
    let gzip = matches!(bytes, [0x1f, 0x8b, ..]);
    let (out, whole) = if gzip {
        read_all(MultiGzDecoder::new(bytes))
    } else {
        read_all(ZlibDecoder::new(bytes))
    };
    if whole || !out.is_empty() {
        return Some(out);
    }
    let (out, whole) = read_all(DeflateDecoder::new(bytes));
    whole.then_some(out)
}

/// What can be read, and whether that ended without an error.
fn read_all(reader: impl Read) -> (Vec<u8>, bool) {
    let mut bytes = Vec::new();
    let limit = MAX_DECODED as u64 + 1;
    let whole = reader.take(limit).read_to_end(&mut bytes).is_ok();
    (bytes, whole)
}

/// Every ASCII letter moved by thirteen places.
pub fn rot13(text: &str) -> String {
    let turn = |c: char| match c {
        'a'..='m' | 'A'..='M' => char::from_u32(u32::from(c) + 13).unwrap_or(c),
        'n'..='z' | 'N'..='Z' => char::from_u32(u32::from(c) - 13).unwrap_or(c),
        _ => c,
    };
    text.chars().map(turn).collect()
}

/// `%41` as `A`; what is not a pair of digits stays.
pub fn percent(text: &str) -> String {
    text_of(percent_encoding::percent_decode_str(text).collect())
}

/// UTF-16, low byte first, as Windows writes it. A last odd byte is left out.
pub(crate) fn utf16(bytes: &[u8]) -> String {
    let units = bytes.as_chunks::<2>().0.iter().copied();
    let text = char::decode_utf16(units.map(u16::from_le_bytes));
    let text: String = text.map(|c| c.unwrap_or('\u{FFFD}')).collect();
    without_holes(&text).into_owned()
}

#[cfg(test)]
mod tests;
