//! The heads of functions: keywords that may be names, parameters, what they run.

use super::{Reader, names};
use crate::code::Language;
use crate::code::lex::Kind;
use crate::code::thing::AbstractValue;
use crate::scene::Fueled;

impl<'a> Reader<'_, '_, 'a> {
    /// Whether the word at `at` only stands before what matters.
    pub(super) fn skips(&self, at: usize, word: &str) -> bool {
        let named = || self.is_mark(at + 1, "=") || self.variables.contains_key(word);
        names::skipped(self.language, word) && !(names::may_be_name(self.language, word) && named())
    }

    /// Reads what runs among parameters: defaults, and annotations in Python.
    pub(super) fn read_parameters(
        &mut self,
        parameters: &[&'a str],
        from: usize,
        to: usize,
    ) -> Fueled {
        let runs = matches!(
            self.language,
            Language::Python | Language::JavaScript | Language::Ruby
        );
        self.defaults.clear();
        let holds = |index| ["(", "="].iter().any(|mark| self.is_mark(index, mark));
        if !runs || !(from..to).any(holds) {
            return Ok(());
        }
        let before = |name: &&str| ((*name).to_owned(), self.variables.get(*name).cloned());
        let saved: Vec<(String, Option<AbstractValue>)> = parameters.iter().map(before).collect();
        let loose = std::mem::replace(&mut self.loose, true);
        let at = std::mem::replace(&mut self.at, from);
        while self.at < to {
            let before = self.at;
            self.expression(to)?;
            if self.at <= before {
                self.at = before + 1;
            }
        }
        self.at = at;
        self.loose = loose;
        // What a parameter is if nobody gives it.
        for name in parameters {
            let value = self.variables.get(*name).cloned();
            let tells = |value: &AbstractValue| !matches!(value, AbstractValue::Nothing);
            if let Some(value) = value
                .filter(tells)
                .filter(|_| self.is_default(name, from, to))
            {
                self.defaults.push(((*name).to_owned(), value));
            }
        }
        self.restore(saved);
        Ok(())
    }

    /// Whether the parameter `name` has a default.
    fn is_default(&self, name: &str, from: usize, to: usize) -> bool {
        (from..to).any(|index| {
            let equals = (index + 1..to.min(index + 6)).find(|i| {
                let stops = [",", "=", "(", "{"].iter();
                stops.into_iter().any(|mark| self.is_mark(*i, mark))
            });
            self.name_at(index) == Some(name) && equals.is_some_and(|i| self.is_mark(i, "="))
        })
    }

    /// `lambda x: expression`.
    pub(super) fn lambda(&mut self, end: usize) -> Fueled<AbstractValue> {
        let start = self.at;
        let Some(colon) = self.colon_of_lambda(start, end) else {
            self.at += 1;
            return Ok(AbstractValue::Nothing);
        };
        let parameters = self.parameters(start + 1, colon);
        self.read_parameters(&parameters, start + 1, colon)?;
        self.at = colon + 1;
        self.expression_function(parameters, end)
    }

    fn colon_of_lambda(&self, start: usize, end: usize) -> Option<usize> {
        let mut at = start + 1;
        for _ in 0..48 {
            let token = self.token_at(at).filter(|_| at < end)?;
            if token.is_mark(":") {
                return Some(at);
            }
            if ["(", "[", "{"].iter().any(|open| token.is_mark(open)) {
                at = self.close_of(at, end);
            }
            at += 1;
        }
        None
    }

    /// Where the parameters start behind a name, its type parameters left out: `f[T](…)`.
    pub(super) fn bracket_of_head(&self, after: usize) -> usize {
        let count = self.tokens.list.len();
        if self.is_mark(after, "[") && self.language != Language::Ruby {
            return self.close_of(after, count) + 1;
        }
        if self.is_mark(after, "<") {
            return self.type_arguments_end(after, count).unwrap_or(after);
        }
        after
    }

    /// The `=>` behind the parameters that `close` ends, if they are those of a function.
    pub(super) fn arrow_after(&self, close: usize) -> Option<usize> {
        if self.language != Language::JavaScript {
            return None;
        }
        let after = close + 1;
        let arrow = if self.is_mark(after, ":") {
            self.type_end(after + 1, self.tokens.list.len())
        } else {
            after
        };
        self.is_mark(arrow, "=>").then_some(arrow)
    }

    /// Where the body starts of a method whose parameters `close` ends.
    pub(super) fn body_of_method(&self, close: usize) -> usize {
        let after = close + 1;
        if self.language == Language::JavaScript && self.is_mark(after, ":") {
            return self.type_end(after + 1, self.tokens.list.len());
        }
        after
    }

    /// Whether a method without a keyword starts here: `name(…) {` in a class or an object.
    pub(super) fn starts_method(&self, index: usize) -> bool {
        if !self.is_mark(index + 1, "(") {
            return false;
        }
        let count = self.tokens.list.len();
        let close = self.close_of(index + 1, count);
        let Some(before) = index.checked_sub(1).and_then(|i| self.token_at(i)) else {
            return false;
        };
        let name = self.name_at(index).unwrap_or("");
        self.is_mark(self.body_of_method(close), "{")
            && !matches!(
                name,
                "if" | "for" | "while" | "switch" | "catch" | "with" | "return"
            )
            && match self.language {
                Language::JavaScript => {
                    matches!(before.kind, Kind::Line(_))
                        || matches!(
                            before.text,
                            "{" | "}"
                                | ","
                                | ";"
                                | "async"
                                | "static"
                                | "*"
                                | "private"
                                | "public"
                                | "protected"
                                | "override"
                                | "get"
                                | "set"
                        )
                }
                // `void run(char *c) {`
                Language::Compiled => {
                    (before.kind == Kind::Name && !names::skipped(self.language, before.text))
                        || matches!(before.text, "*" | ">" | "]")
                }
                _ => false,
            }
    }
}
