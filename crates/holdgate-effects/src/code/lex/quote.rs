//! Where literals end, in all the ways that languages quote.

use super::{Escapes, Holes, Kind, Lexer, Meaning, Quote};
use crate::code::Language;

/// Code inside a literal inside code inside a literal: deeper is taken as plain text.
const MAX_NESTING: u32 = 8;

impl Lexer<'_> {
    /// A literal that starts with a quote character.
    pub(super) fn quoted(&mut self) {
        use Language::{Compiled, JavaScript, Perl, Php, Python, Ruby};
        let start = self.at;
        let byte = self.peek(0).unwrap_or(b'"');
        let language = self.language;
        if byte == b'\'' && self.lifetimes && self.lifetime() {
            return;
        }
        let plain = |escapes, holes| Quote::new(escapes, holes, Meaning::Text);
        let command = |holes| Quote::new(Escapes::All, holes, Meaning::Command);
        let triple = matches!(language, Python | Compiled)
            && byte != b'`'
            && self.peek(1) == Some(byte)
            && self.peek(2) == Some(byte);
        let quote = match (language, byte) {
            (Perl | Ruby | Php, b'\'') => plain(Escapes::Quotes, Holes::None),
            (Perl | Php, b'"') => plain(Escapes::All, Holes::Sigils),
            (Ruby, b'"') => plain(Escapes::All, Holes::HashBraces),
            (Perl | Php, b'`') => command(Holes::Sigils),
            (Ruby, b'`') => command(Holes::HashBraces),
            (JavaScript, b'`') => plain(Escapes::All, Holes::DollarBraces),
            (_, b'`') => plain(Escapes::None, Holes::None),
            _ => plain(Escapes::All, Holes::None),
        };
        if triple {
            self.at += 3;
            self.until(start, &[byte; 3], quote, true);
        } else {
            let lines = matches!(language, Perl | Ruby | Php)
                || (byte == b'`' && matches!(language, Compiled | JavaScript))
                || (byte == b'"' && self.lifetimes);
            self.at += 1;
            self.until(start, &[byte], quote, lines);
        }
    }

    /// Whether `'a` is a lifetime here, and not a character; skips it.
    fn lifetime(&mut self) -> bool {
        let letter = self
            .peek(1)
            .is_some_and(|b| b.is_ascii_alphabetic() || b == b'_');
        if letter && self.peek(2) != Some(b'\'') {
            self.at += 2;
            return true;
        }
        false
    }

    /// Reads on to `end`, and makes a token of what stands before it.
    pub(super) fn until(&mut self, start: usize, end: &[u8], quote: Quote, lines: bool) {
        let from = self.at;
        let inner_end = loop {
            let Some(byte) = self.peek(0) else {
                break self.bytes.len();
            };
            if self.rest().starts_with(end) {
                let inner_end = self.at;
                self.at += end.len();
                break inner_end;
            }
            match byte {
                // Raw literals too keep a backslash from hiding the quote after it.
                b'\\' if quote.escapes != Escapes::None || self.language == Language::Python => {
                    self.at += 2;
                }
                b'\n' if !lines => break self.at,
                b'{' if quote.holes == Holes::DollarBraces
                    && self.at > from
                    && self.bytes.get(self.at - 1) == Some(&b'$') =>
                {
                    self.skip_hole(0);
                }
                b'#' if quote.holes == Holes::HashBraces && self.peek(1) == Some(b'{') => {
                    self.at += 1;
                    self.skip_hole(0);
                }
                _ => self.at += 1,
            }
        };
        self.at = self.at.min(self.bytes.len());
        let inner = self.slice(from, inner_end.min(self.bytes.len()));
        self.push(Kind::Text(quote), inner, start);
    }

    /// Skips `{…}` inside a literal, with the literals inside of it.
    fn skip_hole(&mut self, nesting: u32) {
        let mut depth = 0u32;
        while let Some(byte) = self.peek(0) {
            self.at += 1;
            match byte {
                b'{' => depth += 1,
                b'}' => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return;
                    }
                }
                b'"' | b'\'' | b'`' if nesting < MAX_NESTING => self.skip_inner(byte, nesting + 1),
                _ => {}
            }
        }
    }

    fn skip_inner(&mut self, quote: u8, nesting: u32) {
        while let Some(byte) = self.peek(0) {
            self.at += 1;
            if byte == quote {
                return;
            }
            match byte {
                b'\\' => self.at += 1,
                b'$' | b'#' if self.peek(0) == Some(b'{') && quote != b'\'' => {
                    self.skip_hole(nesting);
                }
                _ => {}
            }
        }
    }
}
