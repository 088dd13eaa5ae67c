//! What an awk program is cut into.

use crate::code::lex::{Escapes, unescape};

/// A piece of a program.
#[derive(Debug, PartialEq)]
pub(super) enum Token<'a> {
    Text(String),
    Name(&'a str),
    Mark(&'a str),
    End,
}

/// Cuts a program into pieces.
pub(super) fn tokens(code: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = code;
    while let Some(first) = rest.chars().next() {
        let mut taken = first.len_utf8();
        match first {
            '#' => taken = rest.find('\n').unwrap_or(rest.len()),
            '\n' | ';' => tokens.push(Token::End),
            '"' => {
                let end = closing(rest, '"');
                let inner = rest.get(1..end).unwrap_or("");
                tokens.push(Token::Text(unescape(inner, Escapes::All)));
                taken = (end + 1).min(rest.len());
            }
            '/' if !matches!(
                tokens.last(),
                Some(Token::Name(_) | Token::Text(_) | Token::Mark(")" | "]"))
            ) =>
            {
                if let Some(end) = pattern_end(rest) {
                    tokens.push(Token::Mark("//"));
                    taken = end + 1;
                }
            }
            c if c.is_alphanumeric() || c == '_' || c == crate::value::HOLE => {
                taken = rest
                    .find(|c: char| !c.is_alphanumeric() && c != '_' && c != crate::value::HOLE)
                    .unwrap_or(rest.len());
                tokens.push(Token::Name(rest.get(..taken).unwrap_or("")));
            }
            c if c.is_whitespace() => {}
            _ => {
                let two = rest.get(..2).unwrap_or("");
                if matches!(
                    two,
                    "|&" | ">>" | "||" | "&&" | "==" | "!=" | "<=" | ">=" | "+="
                ) {
                    taken = 2;
                }
                tokens.push(Token::Mark(rest.get(..taken).unwrap_or("")));
            }
        }
        rest = rest.get(taken..).unwrap_or("");
    }
    tokens
}

/// Where the pattern that may start `text` ends: on its line, and soon.
fn pattern_end(text: &str) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1).take(512) {
        match c {
            _ if escaped => escaped = false,
            '\n' => return None,
            '\\' => escaped = true,
            '/' => return Some(at),
            _ => {}
        }
    }
    None
}

/// Where the quote that starts `text` is closed.
fn closing(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        if escaped {
            escaped = false;
        } else if c == '\\' {
            escaped = true;
        } else if c == quote {
            return at;
        }
    }
    text.len()
}
