//! Numbers, operators and brackets; and whether a value stands before them.

use super::{Kind, Lexer, Token};
use crate::code::Language;

impl Lexer<'_> {
    pub(super) fn number(&mut self) {
        let start = self.at;
        let mut whole = true;
        while let Some(byte) = self.peek(0) {
            let point = byte == b'.' && self.is_point(whole);
            if !byte.is_ascii_alphanumeric() && byte != b'_' && !point {
                break;
            }
            whole &= !point;
            self.at += 1;
        }
        self.push(Kind::Number, self.slice(start, self.at), start);
    }

    /// Whether the dot after a number belongs to it. `1..2` and `1.method` end the number.
    fn is_point(&self, whole: bool) -> bool {
        let next = self.peek(1).unwrap_or(0);
        // `2.` is a number in these.
        let bare = matches!(self.language, Language::Python | Language::JavaScript);
        next.is_ascii_digit() || (bare && whole && !next.is_ascii_alphabetic() && next != b'_')
    }

    pub(super) fn mark(&mut self) {
        let start = self.at;
        let first = self.peek(0).unwrap_or(0);
        let second = self.peek(1).unwrap_or(0);
        let third = self.peek(2).unwrap_or(0);
        let length = match (first, second, third) {
            (b'=' | b'!', b'=', b'=')
            | (b'.', b'.', b'.')
            | (b'*', b'*', b'=')
            | (b'|', b'|', b'=')
            | (b'&', b'&', b'=')
            | (b'?', b'?', b'=')
            | (b'<', b'=', b'>') => 3,
            (b'=', b'>' | b'=' | b'~', _)
            | (b'-', b'>' | b'=' | b'-', _)
            | (b':', b':' | b'=', _)
            | (b'!', b'=' | b'~', _)
            | (b'<', b'=' | b'<' | b'-', _)
            | (b'>', b'=' | b'>', _)
            | (b'+', b'=' | b'+', _)
            | (b'*', b'=' | b'*', _)
            | (b'/', b'=' | b'/', _)
            | (b'.', b'=' | b'.', _)
            | (b'%' | b'^', b'=', _)
            | (b'|', b'=' | b'|', _)
            | (b'&', b'=' | b'&' | b'.', _)
            | (b'?', b'?' | b'.', _) => 2,
            _ => 1,
        };
        match first {
            b'(' => self.open.push(self.starts_condition()),
            b'[' => self.open.push(false),
            b'{' => self.open.push(self.starts_block()),
            b')' | b']' | b'}' => self.closed_block = self.open.pop().unwrap_or(first == b'}'),
            _ => {}
        }
        self.at += length;
        self.push(Kind::Mark, self.slice(start, self.at), start);
    }

    /// The last tokens that are not the start of a line, the very last first.
    fn before(&self) -> impl Iterator<Item = &Token<'_>> {
        let is_line = |token: &&Token<'_>| !matches!(token.kind, Kind::Line(_));
        self.list.iter().rev().filter(is_line)
    }

    /// Whether the bracket here belongs to `if` or the like, so that a statement follows.
    fn starts_condition(&self) -> bool {
        let mut before = self.before();
        let word = before.next();
        word.is_some_and(|t| matches!(t.text, "if" | "while" | "for" | "with"))
            && !before.next().is_some_and(|t| t.is_mark("."))
    }

    /// Whether the brace here starts statements, and not a value.
    fn starts_block(&self) -> bool {
        self.before().next().is_none_or(|t| match t.kind {
            Kind::Mark => matches!(t.text, ")" | ";" | "{" | "}" | "=>"),
            Kind::Name => !matches!(t.text, "return" | "typeof" | "case" | "in" | "of"),
            Kind::Number | Kind::Text(_) | Kind::Line(_) => true,
        })
    }

    /// Whether what was read last is a value, so that `/` divides and `%` is modulo.
    pub(super) fn value_before(&self) -> bool {
        let Some(mut last) = self.list.last() else {
            return false;
        };
        if let Kind::Line(_) = last.kind {
            let Some(earlier) = self.before().next() else {
                return false;
            };
            if !self.goes_on_behind(earlier) {
                return false;
            }
            last = earlier;
        }
        match last.kind {
            Kind::Name => !self.is_operator(last.text),
            Kind::Number | Kind::Text(_) => true,
            Kind::Mark => match last.text {
                ")" | "}" => self.language != Language::JavaScript || !self.closed_block,
                "]" | "++" | "--" => true,
                _ => false,
            },
            Kind::Line(_) => false,
        }
    }

    /// Whether an expression may go on behind a line end after this token.
    fn goes_on_behind(&self, token: &Token<'_>) -> bool {
        if self.language != Language::Perl {
            return self.language == Language::JavaScript;
        }
        match token.kind {
            Kind::Name => token.text.starts_with(['$', '@']),
            Kind::Mark => token.text != "}",
            Kind::Number | Kind::Text(_) | Kind::Line(_) => true,
        }
    }

    /// Whether a name takes a value after it.
    fn is_operator(&self, name: &str) -> bool {
        match name {
            "return" | "case" | "in" | "else" => true,
            "typeof" | "of" | "do" | "void" | "delete" | "throw" | "new" | "await" | "yield"
            | "instanceof" => self.language == Language::JavaScript,
            "and" | "or" | "not" | "if" | "unless" | "while" | "when" | "split" | "grep"
            | "puts" | "print" => self.language != Language::JavaScript,
            _ => false,
        }
    }
}
