//! Numbers: what an expression comes to, and what runs on the way.

use super::Tilde;
use crate::effect::Actor;
use crate::scene::Fueled;
use crate::shell::syntax::Word;
use crate::shell::variables::outside;
use crate::shell::{Shell, number};
use crate::value::{HOLE_STR, Value};
use std::cell::Cell;

impl Shell<'_, '_> {
    /// A variable used as a number is evaluated: what it holds runs.
    pub(in crate::shell) fn hidden_in_numbers(&mut self, expression: &str) -> Fueled {
        let names = expression.split(|c: char| !(c.is_alphanumeric() || c == '_'));
        let hidden: Vec<Value> = names
            .take(16)
            .filter_map(|name| self.scene.variable(name).and_then(<[Value]>::last).cloned())
            .chain([Value::known(expression)])
            .collect();
        hidden.iter().try_for_each(|value| self.runs_hidden(value))
    }

    /// Runs the commands in a text that is evaluated once more.
    pub(super) fn runs_hidden(&mut self, value: &Value) -> Fueled {
        if value.text.contains("$(") || value.text.contains('`') {
            let code = value.map(format!("echo \"{}\"", value.text));
            self.scene.shell(&Actor::new("shell", &value.text), &code)?;
        }
        Ok(())
    }

    /// An index in a name is evaluated as a number: `test -v 'a[$(…)]'`, `unset 'a[$(…)]'`.
    pub(in crate::shell) fn hidden_in_name(&mut self, word: &str) -> Fueled {
        let indexed = word.split_once('[').is_some_and(|(name, _)| {
            !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        });
        if indexed {
            self.hidden_in_numbers(word)
        } else {
            Ok(())
        }
    }

    /// The number that an expression comes to, if it is one.
    pub(in crate::shell) fn arithmetic(&mut self, word: &Word) -> Fueled<Value> {
        self.scene.fuel.spend(8)?;
        let text = self.expand_parts(&word.parts, Tilde::None)?;
        self.hidden_in_numbers(&text.text)?;
        let most = Cell::new(self.most);
        let names = |name: &str| {
            let Some(values) = self.scene.variable(name) else {
                // What is set nowhere counts as nothing.
                return (!outside(name)).then_some(0);
            };
            most.set(most.get().max(values.len()));
            match values.get(self.pick % values.len().max(1)) {
                Some(value) if !value.text.trim().is_empty() => number::parse(value.text.trim()),
                _ => Some(0),
            }
        };
        let outcome = number::evaluate(&text.text, &names);
        self.most = most.get();
        let Some(outcome) = outcome else {
            let unknown = text.map(HOLE_STR);
            for name in number::assigned_in(&text.text) {
                self.assign(name, vec![unknown.clone()]);
            }
            return Ok(unknown);
        };
        for (name, value) in outcome.assigned {
            self.assign(&name, vec![text.map(value.to_string())]);
        }
        Ok(text.map(outcome.value.to_string()))
    }
}
