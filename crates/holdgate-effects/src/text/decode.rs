//! The encodings that code hides in. All are total, linear and bounded by [`MAX_DECODED`].

use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use std::io::Read;

/// What decoding may yield at most.
pub const MAX_DECODED: usize = 1 << 20;

/// Base64 in the standard and the URL alphabet, whitespace ignored, padding optional.
pub fn base64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len().min(MAX_DECODED) / 4 * 3);
    let mut buffer = 0u32;
    let mut bits = 0u32;
    let mut letters = 0usize;
    let mut padded = false;
    for c in text.bytes() {
        let six = match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'=' => {
                padded = true;
                continue;
            }
            b' ' | b'\t' | b'\n' | b'\r' => continue,
            _ => return None,
        };
        if padded || bytes.len() >= MAX_DECODED {
            return None;
        }
        letters += 1;
        buffer = (buffer << 6) | u32::from(six);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.extend(u8::try_from((buffer >> bits) & 0xff));
        }
    }
    // A single letter beyond the groups of four is not even one byte.
    (letters > 0 && letters % 4 != 1).then_some(bytes)
}

/// Pairs of hexadecimal digits; whitespace, commas, colons and the marks `0x` and `\x` are skipped.
pub fn hex(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len().min(MAX_DECODED) / 2);
    let mut half: Option<u32> = None;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if matches!(c, '0' | '\\') && half.is_none() && matches!(chars.peek(), Some('x' | 'X')) {
            chars.next();
            continue;
        }
        let Some(digit) = c.to_digit(16) else {
            if half.is_none() && (c.is_ascii_whitespace() || matches!(c, ',' | ':')) {
                continue;
            }
            return None;
        };
        match half.take() {
            None => half = Some(digit),
            Some(high) => bytes.extend(u8::try_from(high * 16 + digit)),
        }
        if bytes.len() > MAX_DECODED {
            return None;
        }
    }
    (half.is_none() && !bytes.is_empty()).then_some(bytes)
}

/// What a gzip file holds, if that is at most `limit` bytes.
pub fn gunzip(bytes: &[u8], limit: usize) -> Option<Vec<u8>> {
    read_all(MultiGzDecoder::new(bytes), limit)
}

/// What a zlib or raw deflate stream holds, if that is at most `limit` bytes.
pub fn inflate(bytes: &[u8], limit: usize) -> Option<Vec<u8>> {
    read_all(ZlibDecoder::new(bytes), limit).or_else(|| read_all(DeflateDecoder::new(bytes), limit))
}

fn read_all(reader: impl Read, limit: usize) -> Option<Vec<u8>> {
    let limit = limit.min(MAX_DECODED);
    let mut bytes = Vec::new();
    let most = u64::try_from(limit).ok()?.checked_add(1)?;
    reader.take(most).read_to_end(&mut bytes).ok()?;
    (bytes.len() <= limit).then_some(bytes)
}

/// Every ASCII letter turned by thirteen places.
pub fn rot13(text: &str) -> String {
    let turn = |c: char| match c {
        'a'..='m' | 'A'..='M' => char::from_u32(u32::from(c) + 13).unwrap_or(c),
        'n'..='z' | 'N'..='Z' => char::from_u32(u32::from(c) - 13).unwrap_or(c),
        _ => c,
    };
    text.chars().map(turn).collect()
}

/// `%41` as `A`; what is not a pair of digits stays, and what is not UTF-8 then becomes U+FFFD.
pub fn percent_decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        if first == b'%'
            && let [high, low, tail @ ..] = after
            && let Some(high) = char::from(*high).to_digit(16)
            && let Some(low) = char::from(*low).to_digit(16)
        {
            bytes.extend(u8::try_from(high * 16 + low));
            rest = tail;
        } else {
            bytes.push(first);
        }
    }
    match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(e) => String::from_utf8_lossy(e.as_bytes()).into_owned(),
    }
}

/// UTF-16 in little-endian bytes, as `PowerShell -EncodedCommand` has it.
pub fn utf16le(bytes: &[u8]) -> Option<String> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    let units = pairs.iter().map(|pair| u16::from_le_bytes(*pair));
    char::decode_utf16(units)
        .collect::<Result<String, _>>()
        .ok()
}
