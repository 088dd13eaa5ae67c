//! Literals, with the code that stands in them.

use super::{MAX_DEPTH, Reader, names};
use crate::code::Language;
use crate::code::lex::{Meaning, Part, Quote, Token, parts, tokens};
use crate::code::thing::AbstractValue;
use crate::scene::Fueled;
use crate::value::Value;
use std::rc::Rc;

impl<'a> Reader<'_, '_, 'a> {
    /// The text of a literal, with what stands in its holes.
    pub(super) fn literal(&mut self, token: Token<'a>, quote: Quote) -> Fueled<AbstractValue> {
        self.scene.fuel.spend_on(token.text.len())?;
        if quote.meaning == Meaning::Words {
            let words = token
                .text
                .split_whitespace()
                .map(AbstractValue::text)
                .collect();
            return Ok(AbstractValue::list(words));
        }
        let mut value = Value::default();
        for part in parts(token.text, quote, self.language) {
            match part {
                Part::Text(text) => {
                    value.push_text(&text);
                    if text.contains(crate::value::HOLE) {
                        value.taint(&self.taint);
                    }
                }
                Part::Code(code) => {
                    let inner = self.hole(code)?;
                    value.push(&self.value_of(&inner)?);
                }
                Part::Format(code) => {
                    self.hole(code)?;
                }
            }
        }
        if quote.meaning == Meaning::Command {
            let start = self.at.saturating_sub(1);
            return self.backticks(&value, start);
        }
        Ok(AbstractValue::value(value))
    }

    /// The value of code inside a literal.
    fn hole(&mut self, code: &'a str) -> Fueled<AbstractValue> {
        if self.depth >= MAX_DEPTH {
            self.too_deep = true;
            return Ok(AbstractValue::Nothing);
        }
        // `$x` and `x` are the commonest by far.
        let name = names::variable(self.language, code);
        if let Some(thing) = self.variables.get(&name).or_else(|| {
            let sigil = matches!(self.language, Language::Perl | Language::Php);
            sigil.then(|| self.variables.get(&format!("${code}")))?
        }) {
            return Ok(thing.clone());
        }
        let inner = Rc::new(tokens(code, self.language));
        let end = inner.list.len();
        let outer = std::mem::replace(&mut self.tokens, inner);
        let at = std::mem::replace(&mut self.at, 0);
        let loose = std::mem::replace(&mut self.loose, true);
        self.depth += 1;
        let result = self.expression(end);
        self.depth -= 1;
        self.tokens = outer;
        self.at = at;
        self.loose = loose;
        result
    }
}
