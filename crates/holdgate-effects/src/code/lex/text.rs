//! What stands between quotes: characters, and code in between.

use super::quote::hole_length;
use super::{Escapes, Holes, Quote};
use crate::code::Language;
use std::borrow::Cow;

/// A stretch of a literal.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::code) enum Part<'a> {
    /// Characters.
    Text(Cow<'a, str>),
    /// Code whose value stands here.
    Code(&'a str),
    /// Code that only says how a value is written.
    Format(&'a str),
}

/// Formats in formats: Python allows no more.
const MAX_FORMATS: u32 = 2;

impl<'a> Part<'a> {
    /// What stands between this code and the end of its braces, which start `rest`.
    fn format(&self, rest: &'a str, length: usize) -> &'a str {
        match self {
            Part::Code(code) => rest.get(1 + code.len()..length).unwrap_or(""),
            Part::Text(_) | Part::Format(_) => "",
        }
    }
}

/// The parts of a literal.
pub(in crate::code) fn parts(text: &str, quote: Quote, language: Language) -> Vec<Part<'_>> {
    parts_at(text, quote, language, 0)
}

fn parts_at(text: &str, quote: Quote, language: Language, depth: u32) -> Vec<Part<'_>> {
    let escaped = quote.escapes != Escapes::None && text.contains('\\');
    if quote.holes == Holes::None {
        let text = if escaped {
            Cow::Owned(unescape(text, quote.escapes))
        } else {
            Cow::Borrowed(text)
        };
        return vec![Part::Text(text)];
    }
    let mut parts = Vec::new();
    let mut rest = text;
    let mut plain_from = text;
    let mut plain_length = 0;
    let mut ends = Ends {
        language,
        unclosed: false,
    };
    let push_plain = |parts: &mut Vec<Part<'_>>, from: &'_ str, length: usize| {
        if length > 0 {
            let plain = from.get(..length).unwrap_or(from);
            parts.push(Part::Text(Cow::Owned(unescape(plain, quote.escapes))));
        }
    };
    while let Some(first) = rest.chars().next() {
        let skip = if first == '\\' && matches!(quote.escapes, Escapes::All | Escapes::Listed) {
            1 + rest.chars().nth(1).map_or(0, char::len_utf8)
        } else if let Some((part, length)) = hole(rest, quote.holes, &mut ends) {
            push_plain(&mut parts, plain_from, plain_length);
            let format = part.format(rest, length);
            parts.push(part);
            // `{x:{width}}`: code in the format.
            if quote.holes == Holes::Braces && format.contains('{') && depth < MAX_FORMATS {
                for part in parts_at(format, quote, language, depth + 1) {
                    if let Part::Code(code) | Part::Format(code) = part {
                        parts.push(Part::Format(code));
                    }
                }
            }
            rest = rest.get(length..).unwrap_or("");
            plain_from = rest;
            plain_length = 0;
            continue;
        } else {
            first.len_utf8()
        };
        plain_length += skip;
        rest = rest.get(skip..).unwrap_or("");
    }
    push_plain(&mut parts, plain_from, plain_length);
    parts
}

/// Finds where code in braces ends.
struct Ends {
    language: Language,
    /// Set once it had no end: from there on brackets are only counted.
    unclosed: bool,
}

impl Ends {
    /// What stands between the braces that start `rest`, and how long it is with them.
    fn braces<'a>(&mut self, rest: &'a str) -> Option<(&'a str, usize)> {
        if !rest.starts_with('{') || self.unclosed {
            return braces(rest);
        }
        if let Some(length) = hole_length(rest, self.language) {
            return Some((rest.get(1..length - 1)?, length));
        }
        self.unclosed = true;
        braces(rest)
    }
}

/// The code that starts `rest`, and how long it is with its marks.
fn hole<'a>(rest: &'a str, holes: Holes, ends: &mut Ends) -> Option<(Part<'a>, usize)> {
    match holes {
        Holes::None => None,
        Holes::Braces => {
            if rest.starts_with("{{") || rest.starts_with("}}") {
                let brace = rest.get(..1)?;
                return Some((Part::Text(Cow::Borrowed(brace)), 2));
            }
            let (inner, length) = ends.braces(rest)?;
            // `{x!r:>10}`: the format after the value is no code.
            Some((Part::Code(without_format(inner)), length))
        }
        Holes::DollarBraces => {
            let (inner, length) = ends.braces(rest.strip_prefix('$')?)?;
            Some((Part::Code(inner), length + 1))
        }
        Holes::HashBraces => {
            let (inner, length) = ends.braces(rest.strip_prefix('#')?)?;
            Some((Part::Code(inner), length + 1))
        }
        Holes::Sigils => sigil(rest),
    }
}

/// `$x`, `$x[0]`, `$x->{y}`, `${x}`, `{$x}`, `@{[ x ]}`.
fn sigil(rest: &str) -> Option<(Part<'_>, usize)> {
    if rest.starts_with("{$") {
        let (inner, length) = braces(rest)?;
        return Some((Part::Code(inner), length));
    }
    let after = rest.strip_prefix(['$', '@'])?;
    if after.starts_with('{') {
        let (inner, length) = braces(after)?;
        let is_name = inner
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'_');
        // `${x}` is `$x`: the code with its sigil stands nowhere as such, so the name must do.
        let code = if is_name {
            inner
        } else {
            inner.trim_matches(['[', ']'])
        };
        return Some((Part::Code(code), length + 1));
    }
    let name: usize = after
        .bytes()
        .take_while(|b| b.is_ascii_alphanumeric() || *b == b'_')
        .count();
    if name == 0 || (rest.starts_with('@') && after.as_bytes().first()?.is_ascii_digit()) {
        return None;
    }
    let mut length = 1 + name;
    loop {
        let tail = rest.get(length..).unwrap_or("");
        let arrow = if tail.starts_with("->") { 2 } else { 0 };
        let tail = tail.get(arrow..).unwrap_or("");
        let close = match tail.bytes().next() {
            Some(b'[') => b']',
            Some(b'{') => b'}',
            _ => break,
        };
        match tail.bytes().take(64).position(|b| b == close) {
            Some(end) => length += arrow + end + 1,
            None => break,
        }
    }
    Some((Part::Code(rest.get(..length)?), length))
}

/// What stands between the braces that start `rest`, and how long it is with them.
fn braces(rest: &str) -> Option<(&str, usize)> {
    if !rest.starts_with('{') {
        return None;
    }
    let mut depth = 0u32;
    for (at, byte) in rest.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => {
                depth -= 1;
                if depth == 0 {
                    return Some((rest.get(1..at)?, at + 1));
                }
            }
            _ => {}
        }
    }
    // Without an end all the rest is the hole: nothing is looked at twice.
    Some((rest.get(1..)?, rest.len()))
}

fn without_format(code: &str) -> &str {
    let mut depth = 0u32;
    let mut quote = 0;
    for (at, byte) in code.bytes().enumerate() {
        match byte {
            b'"' | b'\'' if quote == 0 => quote = byte,
            b if b == quote => quote = 0,
            _ if quote != 0 => {}
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b':' if depth == 0 => return code.get(..at).unwrap_or(code),
            b'!' if depth == 0 && !code.get(at + 1..).unwrap_or("").starts_with('=') => {
                return code.get(..at).unwrap_or(code);
            }
            _ => {}
        }
    }
    code
}

/// A text with its escapes decoded.
pub(in crate::code) fn unescape(text: &str, escapes: Escapes) -> String {
    if !text.contains('\\') || escapes == Escapes::None {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        let Some(next) = chars.next() else {
            out.push('\\');
            break;
        };
        if escapes == Escapes::Quotes {
            if !matches!(next, '\\' | '\'') {
                out.push('\\');
            }
            out.push(next);
            continue;
        }
        match next {
            'n' => out.push('\n'),
            't' => out.push('\t'),
            'r' => out.push('\r'),
            'e' if escapes == Escapes::All => out.push('\x1b'),
            'a' => out.push('\x07'),
            'b' => out.push('\x08'),
            'f' => out.push('\x0c'),
            'v' => out.push('\x0b'),
            '\n' => {}
            'x' | 'u' | 'U' => push_code_point(&mut out, &mut chars, next),
            '0'..='7' => {
                let mut code = next.to_digit(8).unwrap_or(0);
                for _ in 0..2 {
                    let Some(digit) = chars.clone().next().and_then(|c| c.to_digit(8)) else {
                        break;
                    };
                    code = code * 8 + digit;
                    chars.next();
                }
                out.extend(char::from_u32(code));
            }
            other => {
                if escapes == Escapes::Listed && !matches!(other, '\\' | '\'' | '"') {
                    out.push('\\');
                }
                out.push(other);
            }
        }
    }
    out
}

/// `\x41`, `\x{41}`, `\u0041`, `\u{41}`, `\U00000041`, and pairs of surrogates.
fn push_code_point(out: &mut String, chars: &mut std::str::Chars<'_>, letter: char) {
    let digits = match letter {
        'x' => 2,
        'u' => 4,
        _ => 8,
    };
    let code = hex_digits(chars, digits);
    if (0xD800..0xDC00).contains(&code) {
        let mut ahead = chars.clone();
        if ahead.next() == Some('\\') && ahead.next() == Some('u') {
            let low = hex_digits(&mut ahead, 4);
            if (0xDC00..0xE000).contains(&low) {
                *chars = ahead;
                let whole = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
                out.extend(char::from_u32(whole));
                return;
            }
        }
    }
    out.extend(char::from_u32(code));
}

fn hex_digits(chars: &mut std::str::Chars<'_>, most: usize) -> u32 {
    let mut code: u32 = 0;
    if chars.clone().next() == Some('{') {
        chars.next();
        for c in chars.by_ref().take(8) {
            let Some(digit) = c.to_digit(16) else {
                break;
            };
            code = (code << 4) | digit;
        }
        return code;
    }
    for _ in 0..most {
        let Some(digit) = chars.clone().next().and_then(|c| c.to_digit(16)) else {
            break;
        };
        code = (code << 4) | digit;
        chars.next();
    }
    code
}
