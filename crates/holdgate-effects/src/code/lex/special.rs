//! Literals that letters or a mark begin: `rb"…"`, `qq{…}`, `%w[…]`, patterns.

use super::{Escapes, Holes, Kind, Lexer, Meaning, Quote};
use crate::code::Language;

impl Lexer<'_> {
    /// A literal whose quote has letters before it: `rb"…"`, `qq{…}`. `text` is already read.
    pub(super) fn prefixed(&mut self, text: &str, start: usize) -> bool {
        if self.language == Language::Python {
            self.python_prefix(text, start)
        } else if self.language == Language::Perl {
            self.perl_prefix(text, start)
        } else {
            self.language == Language::Compiled && self.raw_prefix(text, start)
        }
    }

    fn python_prefix(&mut self, text: &str, start: usize) -> bool {
        let Some(byte @ (b'"' | b'\'')) = self.peek(0) else {
            return false;
        };
        let letters = text.bytes().map(|b| b.to_ascii_lowercase());
        if text.len() > 2
            || !letters
                .clone()
                .all(|b| matches!(b, b'r' | b'b' | b'f' | b'u' | b't'))
        {
            return false;
        }
        let has = |letter| letters.clone().any(|b| b == letter);
        let quote = Quote {
            escapes: if has(b'r') {
                Escapes::None
            } else {
                Escapes::Listed
            },
            holes: if has(b'f') || has(b't') {
                Holes::Braces
            } else {
                Holes::None
            },
            meaning: Meaning::Text,
        };
        if self.peek(1) == Some(byte) && self.peek(2) == Some(byte) {
            self.at += 3;
            self.until(start, &[byte; 3], quote, true);
        } else {
            self.at += 1;
            self.until(start, &[byte], quote, false);
        }
        true
    }

    /// `r#"…"#` and `r"…"`.
    fn raw_prefix(&mut self, text: &str, start: usize) -> bool {
        if !matches!(text, "r" | "br" | "cr" | "b" | "c") {
            return false;
        }
        let hashes = self
            .rest()
            .iter()
            .take_while(|b| **b == b'#')
            .count()
            .min(8);
        if self.peek(hashes) != Some(b'"') || (hashes > 0 && !text.contains('r')) {
            return false;
        }
        self.at += hashes + 1;
        let mut end = vec![b'"'];
        end.extend(std::iter::repeat_n(b'#', hashes));
        let escapes = if text.contains('r') {
            Escapes::None
        } else {
            Escapes::All
        };
        let quote = Quote::new(escapes, Holes::None, Meaning::Text);
        self.until(start, &end, quote, true);
        true
    }

    fn perl_prefix(&mut self, text: &str, start: usize) -> bool {
        let after_arrow = self
            .list
            .last()
            .is_some_and(|t| t.is_mark("->") || t.is_mark("{"));
        let (holes, meaning, twice) = match text {
            "q" => (Holes::None, Meaning::Text, false),
            "qq" => (Holes::Sigils, Meaning::Text, false),
            "qx" => (Holes::Sigils, Meaning::Command, false),
            "qw" => (Holes::None, Meaning::Words, false),
            "qr" | "m" => (Holes::None, Meaning::Pattern, false),
            "s" | "tr" | "y" => (Holes::None, Meaning::Pattern, true),
            _ => return false,
        };
        let spaces = self.rest().iter().take_while(|b| **b == b' ').count();
        let Some(open) = self.peek(spaces) else {
            return false;
        };
        if after_arrow
            || open.is_ascii_alphanumeric()
            || matches!(
                open,
                b' ' | b'\n' | b',' | b';' | b')' | b'=' | b'_' | b'\r' | b'\t'
            )
            || open >= 0x80
            || (spaces > 0 && open == b'#')
        {
            return false;
        }
        self.at += spaces;
        let escapes = if meaning == Meaning::Pattern {
            Escapes::None
        } else if holes == Holes::None || open == b'\'' {
            Escapes::Quotes
        } else {
            Escapes::All
        };
        let holes = if open == b'\'' { Holes::None } else { holes };
        let quote = Quote::new(escapes, holes, meaning);
        self.delimited(start, open, quote);
        if twice {
            // The second half shares the delimiter unless it is a bracket.
            if closing(open) == open {
                self.at = self.at.saturating_sub(1);
            } else {
                while matches!(self.peek(0), Some(b' ' | b'\n')) {
                    self.at += 1;
                }
            }
            let second = self.peek(0).unwrap_or(open);
            self.delimited(self.at, second, quote);
            while self.peek(0).is_some_and(|b| b.is_ascii_alphabetic()) {
                self.at += 1;
            }
        }
        true
    }

    /// A literal between `open` here and its closing partner, which nest if they differ.
    fn delimited(&mut self, start: usize, open: u8, quote: Quote) {
        let close = closing(open);
        self.at += 1;
        let from = self.at;
        let mut depth = 0u32;
        while let Some(byte) = self.peek(0) {
            self.at += 1;
            if byte == b'\\' {
                self.at += 1;
            } else if byte == close && depth == 0 {
                break;
            } else if byte == close {
                depth -= 1;
            } else if byte == open {
                depth += 1;
            }
        }
        self.at = self.at.min(self.bytes.len());
        let closed = self.at > from && self.bytes.get(self.at - 1) == Some(&close);
        let inner = self.slice(from, self.at - usize::from(closed));
        self.push(Kind::Text(quote), inner, start);
    }

    /// Literals that start with a mark: patterns, `%w[…]`, `<<EOF`, `:symbol`, `[[…]]`.
    pub(super) fn special_literal(&mut self, byte: u8) -> bool {
        use Language::{JavaScript, Lua, Perl, Php, Ruby};
        let start = self.at;
        let next = self.peek(1).unwrap_or(0);
        match (self.language, byte) {
            (JavaScript | Ruby | Perl, b'/') if !self.value_before() => self.pattern(),
            (Ruby, b'%') if !self.value_before() => self.percent(next),
            (Ruby, b':') if next != b':' && (next.is_ascii_alphabetic() || next == b'_') => {
                // `a ?b :c` and `key:value` are rare enough.
                self.at += 1;
                let from = self.at;
                while self
                    .peek(0)
                    .is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_')
                {
                    self.at += 1;
                }
                let text = self.slice(from, self.at);
                self.push(Kind::Text(raw(Meaning::Text)), text, start);
                true
            }
            (Lua, b'[') if next == b'[' => {
                self.at += 2;
                self.until(start, b"]]", raw(Meaning::Text), true);
                true
            }
            (Ruby | Perl | Php, b'<') if next == b'<' => self.here_document(),
            _ => false,
        }
    }

    fn pattern(&mut self) -> bool {
        // A pattern ends on its line, and is short.
        let near = self.rest().get(..1024).unwrap_or(self.rest());
        let line = memchr::memchr(b'\n', near).unwrap_or(near.len());
        let mut in_class = false;
        let mut ahead = 1;
        while ahead < line {
            match self.peek(ahead) {
                Some(b'\\') => ahead += 1,
                Some(b'[') => in_class = true,
                Some(b']') => in_class = false,
                Some(b'/') if !in_class => break,
                _ => {}
            }
            ahead += 1;
        }
        if ahead >= line {
            return false;
        }
        let start = self.at;
        let text = self.slice(start + 1, start + ahead);
        self.at += ahead + 1;
        while self.peek(0).is_some_and(|b| b.is_ascii_alphabetic()) {
            self.at += 1;
        }
        self.push(Kind::Text(raw(Meaning::Pattern)), text, start);
        true
    }

    /// Ruby's `%w[…]`, `%x(…)`, `%q{…}`, `%(…)`.
    fn percent(&mut self, letter: u8) -> bool {
        let start = self.at;
        let (skip, meaning, holes) = match letter {
            b'w' | b'i' | b'W' | b'I' => (2, Meaning::Words, Holes::None),
            b'x' => (2, Meaning::Command, Holes::HashBraces),
            b'q' => (2, Meaning::Text, Holes::None),
            b'Q' => (2, Meaning::Text, Holes::HashBraces),
            b'r' => (2, Meaning::Pattern, Holes::None),
            b'(' | b'[' | b'{' | b'<' | b'|' => (1, Meaning::Text, Holes::HashBraces),
            _ => return false,
        };
        let Some(open) = self.peek(skip) else {
            return false;
        };
        if open.is_ascii_alphanumeric() || open.is_ascii_whitespace() || open == b'=' {
            return false;
        }
        self.at += skip;
        let escapes = if holes == Holes::None {
            Escapes::Quotes
        } else {
            Escapes::All
        };
        let quote = Quote::new(escapes, holes, meaning);
        self.delimited(start, open, quote);
        true
    }
}

fn raw(meaning: Meaning) -> Quote {
    Quote::new(Escapes::None, Holes::None, meaning)
}

fn closing(open: u8) -> u8 {
    match open {
        b'(' => b')',
        b'[' => b']',
        b'{' => b'}',
        b'<' => b'>',
        other => other,
    }
}
