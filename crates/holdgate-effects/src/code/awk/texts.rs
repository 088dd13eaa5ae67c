//! What awk's own functions make of texts.

use super::Reader;
use super::token::Token;
use crate::code::fold;
use crate::code::thing::AbstractValue;
use crate::value::{Origins, Value};

impl Reader<'_, '_, '_> {
    /// What the function `name` makes; `tokens` start with its bracket. Returns how many of them it takes.
    pub(super) fn made(&self, name: &str, tokens: &[Token<'_>]) -> (Value, usize) {
        let mut depth = 0_usize;
        let mut end = tokens.len();
        let mut commas = Vec::new();
        for (at, token) in tokens.iter().enumerate() {
            match token {
                Token::Mark("(") => depth += 1,
                Token::Mark(")") if depth <= 1 => {
                    end = at;
                    break;
                }
                Token::Mark(")") => depth -= 1,
                Token::Mark(",") if depth == 1 => commas.push(at),
                Token::Text(_) | Token::Name(_) | Token::Mark(_) | Token::End => {}
            }
        }
        commas.push(end);
        let mut from = 1;
        let mut parts = Vec::new();
        for comma in commas {
            let part = tokens.get(from..comma).unwrap_or(&[]);
            parts.push(self.argument(part));
            from = comma + 1;
        }
        let made = match (name, parts.as_slice()) {
            ("substr", [text, start, rest @ ..]) => start.number().map(|start| {
                let from = start.saturating_sub(1).max(0);
                let length = rest.first().and_then(AbstractValue::number);
                let to = length.map(|length| from.saturating_add(length));
                fold::slice_of(text, Some(from), to, 1)
            }),
            ("toupper", [text]) => fold::method(text, "upper", &[]),
            ("tolower", [text]) => fold::method(text, "lower", &[]),
            ("sprintf", [AbstractValue::Text(format), rest @ ..]) => {
                Some(AbstractValue::value(fold::format_percent(format, rest)))
            }
            _ => None,
        };
        let value = made.map_or_else(|| computed(&parts), |made| fold::plain(&made));
        (value, end + 1)
    }

    /// `sub(/a/, "b", name)` changes a variable: what it holds then is not followed.
    pub(super) fn substitutes(&mut self, tokens: &[Token<'_>]) {
        let close = tokens.iter().position(|t| *t == Token::Mark(")"));
        let name = close.and_then(|at| tokens.get(at.checked_sub(1)?));
        if let Some(Token::Name(name)) = name
            && let Some(value) = self.variables.get_mut(*name)
        {
            *value = computed(&[AbstractValue::value(value.clone())]);
        }
    }
}

/// Nothing known but what it was made of.
fn computed(parts: &[AbstractValue]) -> Value {
    let mut value = Value::unknown(Origins::NONE);
    for part in parts {
        let part = fold::plain(part);
        if part.is_known() && part.text.contains(char::is_alphanumeric) {
            value.origins |= Origins::COMPUTED;
        }
        value.taint(&part);
    }
    value
}
