//! Where literals end, in all the ways that languages quote.

use super::{Escapes, Holes, Kind, Lexer, Meaning, Quote};
use crate::code::Language;

/// Code inside a literal inside code inside a literal: deeper is taken as plain text.
pub(super) const MAX_NESTING: u32 = 8;

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
            (Python, _) => plain(Escapes::Listed, Holes::None),
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
                b'{' if quote.holes == Holes::Braces => {
                    let doubled = self.peek(1) == Some(b'{');
                    if doubled || !self.skip_hole() {
                        self.at += 1 + usize::from(doubled);
                    }
                }
                b'$' | b'#' if begins_hole(byte, quote.holes) && self.peek(1) == Some(b'{') => {
                    self.at += 1;
                    if !self.skip_hole() {
                        self.at += 1;
                    }
                }
                _ => self.at += 1,
            }
        };
        self.at = self.at.min(self.bytes.len());
        let inner = self.slice(from, inner_end.min(self.bytes.len()));
        self.push(Kind::Text(quote), inner, start);
    }

    /// Goes behind the code in braces that starts here, token by token. Stands still where it has
    /// no end.
    fn skip_hole(&mut self) -> bool {
        if self.holes == 0 {
            return false;
        }
        let start = self.at;
        let known = self.list.len();
        let state = (self.spaced, self.resume.take(), self.closed_block);
        let open = std::mem::take(&mut self.open);
        let holes = self.holes;
        self.holes -= 1;
        let closed = self.read_hole();
        self.open = open;
        (self.spaced, self.resume, self.closed_block) = state;
        self.list.truncate(known);
        // Where one had no end, no other is looked for: nothing is read to its end twice.
        let inner_unclosed = self.holes + 1 < holes;
        self.holes = if closed && !inner_unclosed { holes } else { 0 };
        if !closed {
            self.at = start;
        }
        closed
    }

    fn read_hole(&mut self) -> bool {
        let mut braces = 0u32;
        let mut others = 0u32;
        loop {
            let before = self.list.len();
            if !self.step() {
                return false;
            }
            let Some(token) = self.list.get(before..).and_then(<[_]>::last) else {
                continue;
            };
            if token.kind != Kind::Mark {
                continue;
            }
            match token.text {
                "{" => braces += 1,
                "}" if braces <= 1 => return true,
                "}" => braces -= 1,
                "(" | "[" => others += 1,
                ")" | "]" => others = others.saturating_sub(1),
                // `{x:'>10}`: quotes mean nothing in a format.
                text if text.starts_with(':')
                    && braces == 1
                    && others == 0
                    && self.language == Language::Python =>
                {
                    self.skip_format();
                }
                _ => {}
            }
        }
    }

    /// Goes to the brace that ends a format.
    fn skip_format(&mut self) {
        while let Some(byte) = self.peek(0) {
            match byte {
                b'}' => return,
                b'{' if self.skip_hole() => {}
                _ => self.at += 1,
            }
        }
    }
}

fn begins_hole(byte: u8, holes: Holes) -> bool {
    match holes {
        Holes::DollarBraces => byte == b'$',
        Holes::HashBraces => byte == b'#',
        Holes::None | Holes::Braces | Holes::Sigils => false,
    }
}

/// How long the code in braces is that starts `text`, with its braces.
pub(super) fn hole_length(text: &str, language: Language) -> Option<usize> {
    let mut lexer = Lexer::new(text, language);
    lexer.skip_hole().then_some(lexer.at)
}
