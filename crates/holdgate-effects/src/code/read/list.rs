//! What stands between brackets: items, members with keys, comprehensions.

use super::Reader;
use crate::code::Language;
use crate::code::lex::{Kind, Token};
use crate::code::thing::AbstractValue;
use crate::scene::Fueled;

/// Items that have a key.
pub(super) type Members = Vec<(String, AbstractValue)>;

/// Items for which the expression of a comprehension is worked out one by one.
const MAX_MAPPED: usize = 512;

impl<'a> Reader<'_, '_, 'a> {
    /// The items between brackets; the reader stands at the opening one.
    pub(super) fn items(&mut self, close: usize) -> Fueled<Vec<AbstractValue>> {
        let (items, members) = self.items_and_members(close)?;
        if items.is_empty() && !members.is_empty() {
            return Ok(vec![AbstractValue::Map(members.into())]);
        }
        Ok(items)
    }

    /// The items between brackets, and those that have a key.
    pub(super) fn items_and_members(
        &mut self,
        close: usize,
    ) -> Fueled<(Vec<AbstractValue>, Members)> {
        let braces = self.is_mark(self.at, "{");
        let open = self.at;
        self.at += 1;
        let loose = std::mem::replace(&mut self.loose, true);
        let mut items = Vec::new();
        let mut members = Vec::new();
        if let Some(mapped) = self.comprehension(open, close)? {
            // Between round brackets it is one argument.
            items = if self.is_mark(open, "(") {
                vec![AbstractValue::list(mapped)]
            } else {
                mapped
            };
        }
        while let Some(token) = self.peek(close) {
            let before = self.at;
            if token.is_mark(",") || token.is_mark(";") {
                self.at += 1;
                continue;
            }
            if self.spreads(token) {
                self.at += 1;
                if self.is_mark(self.at, "*") {
                    self.at += 1;
                }
                match self.expression(close)? {
                    AbstractValue::List(more) => items.extend(more.iter().cloned()),
                    AbstractValue::Map(more) => members.extend(more.iter().cloned()),
                    AbstractValue::Any(all) => items.extend(one_by_one(&all)),
                    other => items.push(other),
                }
            } else if let Some(key) = self.key(token, braces, close) {
                let thing = self.expression(close)?;
                members.push((key, thing));
            } else if braces && token.is_mark("{") {
                // The body of a method in an object literal.
                let inner = self.close_of(self.at, close);
                self.at += 1;
                self.statements(inner)?;
                self.at = inner + 1;
            } else {
                let shorthand = token.kind == Kind::Name
                    && braces
                    && (self.is_mark(self.at + 1, ",") || self.at + 1 == close);
                let thing = self.expression(close)?;
                if shorthand {
                    members.push((token.text.to_owned(), thing));
                } else if self
                    .peek(close)
                    .is_some_and(|t| t.is_mark("=>") || (braces && t.is_mark(":")))
                {
                    self.at += 1;
                    let value = self.expression(close)?;
                    members.push((self.value_of(&thing)?.text, value));
                } else if self.at > before {
                    items.push(thing);
                }
            }
            if self.at <= before {
                self.at = before + 1;
            }
        }
        self.loose = loose;
        Ok((items, members))
    }

    /// Whether a mark puts the items of what follows in its place: `*list`, `**map`, `...list`.
    fn spreads(&self, token: Token<'a>) -> bool {
        match self.language {
            Language::Python | Language::Ruby => token.is_mark("*") || token.is_mark("**"),
            Language::JavaScript | Language::Php => token.is_mark("..."),
            _ => false,
        }
    }

    /// The key before `:`, `=>` or `=`, if one starts here.
    pub(super) fn key(&mut self, token: Token<'a>, braces: bool, close: usize) -> Option<String> {
        let is_key = matches!(token.kind, Kind::Name | Kind::Text(_) | Kind::Number);
        let marked = self.language == Language::Perl && token.is_mark("-");
        if marked {
            let name = self.name_at(self.at + 1)?;
            if self.is_mark(self.at + 2, "=>") {
                self.at += 3;
                return Some(name.to_owned());
            }
            return None;
        }
        let next = self.token_at(self.at + 1)?;
        if !is_key || next.kind != Kind::Mark || self.at + 1 >= close {
            return None;
        }
        let separates = match next.text {
            ":" => braces || !matches!(self.language, Language::Python | Language::Lua),
            "=>" => self.language != Language::JavaScript,
            "=" => {
                token.kind == Kind::Name
                    && matches!(
                        self.language,
                        Language::Python | Language::Compiled | Language::Lua
                    )
            }
            _ => false,
        };
        // A variable as a key is looked up like any value.
        let sigil = token.text.starts_with('$') && token.kind == Kind::Name;
        if !separates || sigil {
            return None;
        }
        self.at += 2;
        Some(token.text.to_owned())
    }

    /// `[f(x) for x in list]`, worked out for each item.
    fn comprehension(&mut self, open: usize, close: usize) -> Fueled<Option<Vec<AbstractValue>>> {
        if self.language != Language::Python {
            return Ok(None);
        }
        let start = open + 1;
        let mut at = start;
        let mut found = None;
        while at < close.min(start + 48) {
            if self.name_at(at) == Some("for") {
                found = Some(at);
                break;
            }
            if self.is_mark(at, ",") {
                break;
            }
            if self.is_mark(at, "(") || self.is_mark(at, "[") || self.is_mark(at, "{") {
                at = self.close_of(at, close);
            }
            at += 1;
        }
        let Some(for_at) = found.filter(|f| *f > start) else {
            return Ok(None);
        };
        let in_at = (for_at..close.min(for_at + 12)).find(|i| self.name_at(*i) == Some("in"));
        let Some(in_at) = in_at else {
            return Ok(None);
        };
        let names: Vec<&str> = (for_at + 1..in_at)
            .filter_map(|i| self.name_at(i))
            .collect();
        self.at = in_at + 1;
        let iterable = self.operators(self.clause_end(in_at + 1, close))?;
        let after = self.at;
        let each: Vec<AbstractValue> = match &iterable {
            AbstractValue::List(items) => items.iter().take(MAX_MAPPED).cloned().collect(),
            AbstractValue::Text(value) if value.is_known() && value.text.len() <= MAX_MAPPED => {
                let chars = value.text.chars();
                chars
                    .map(|c| AbstractValue::value(value.map(c.to_string())))
                    .collect()
            }
            other => vec![other.item()],
        };
        let mut mapped = Vec::with_capacity(each.len());
        for item in each {
            if let [name] = names.as_slice() {
                self.variables.insert((*name).to_owned(), item);
            } else {
                for (index, name) in names.iter().enumerate() {
                    let part = item.items().and_then(|parts| parts.get(index));
                    let value = part.cloned().unwrap_or_else(|| item.clone());
                    self.variables.insert((*name).to_owned(), value);
                }
            }
            self.at = after;
            self.further_loops(close)?;
            self.at = start;
            let mut made = self.expression(for_at)?;
            // `{key: value for …}`
            if self.at < for_at && self.is_mark(self.at, ":") {
                self.at += 1;
                made = self.expression(for_at)?;
            }
            mapped.push(made);
        }
        self.at = after;
        // Conditions and further loops do nothing that is known.
        while self.at < close {
            let before = self.at;
            self.operators(close)?;
            if self.at <= before {
                self.at = before + 1;
            }
        }
        Ok(Some(mapped))
    }

    /// Where a clause of a comprehension ends: at the next condition or loop.
    fn clause_end(&self, from: usize, close: usize) -> usize {
        let mut at = from;
        while at < close {
            if matches!(self.name_at(at), Some("if" | "for" | "async")) {
                return at;
            }
            if ["(", "[", "{"].iter().any(|open| self.is_mark(at, open)) {
                at = self.close_of(at, close);
            }
            at += 1;
        }
        close
    }

    /// `… for x in y for z in x`: what the further loops of a comprehension run over.
    fn further_loops(&mut self, close: usize) -> Fueled {
        while self.name_at(self.at) == Some("for") {
            let for_at = self.at;
            let in_at = (for_at..close.min(for_at + 12)).find(|i| self.name_at(*i) == Some("in"));
            let Some(in_at) = in_at else {
                return Ok(());
            };
            self.at = in_at + 1;
            let item = self.operators(self.clause_end(in_at + 1, close))?.item();
            for index in for_at + 1..in_at {
                if let Some(name) = self.name_at(index) {
                    self.variables.insert(name.to_owned(), item.clone());
                }
            }
        }
        Ok(())
    }
}

/// One of several lists, as one list: each item is one of those at its place.
fn one_by_one(lists: &[AbstractValue]) -> Vec<AbstractValue> {
    let longest = lists
        .iter()
        .filter_map(AbstractValue::items)
        .map(<[_]>::len)
        .max();
    let at = |index: usize| {
        let items = lists.iter().filter_map(|list| list.items()?.get(index));
        AbstractValue::any(items.cloned().collect())
    };
    (0..longest.unwrap_or(0).min(MAX_MAPPED)).map(at).collect()
}
