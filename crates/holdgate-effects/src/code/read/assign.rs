//! What stands before `=`.

use super::{MAX_DEPTH, Reader, names};
use crate::code::Language;
use crate::code::fold;
use crate::code::lex::Kind;
use crate::code::thing::AbstractValue;
use crate::scene::Fueled;

impl Reader<'_, '_, '_> {
    /// `x = …`, `x.y += …`, `a, b = …`, if one starts here. Returns the value.
    pub(super) fn assignment(&mut self, end: usize) -> Fueled<Option<AbstractValue>> {
        let Some(token) = self.peek(end) else {
            return Ok(None);
        };
        if token.kind != Kind::Name {
            return Ok(None);
        }
        if !self.assigns(end) {
            return Ok(None);
        }
        let Some((targets, mark_at)) = self.targets(end) else {
            return Ok(None);
        };
        if self.depth >= MAX_DEPTH {
            self.too_deep = true;
            self.at = end;
            return Ok(None);
        }
        self.depth += 1;
        let value = self.assigned(&targets, mark_at, end);
        self.depth -= 1;
        value.map(Some)
    }

    fn assigned(
        &mut self,
        targets: &[String],
        mark_at: usize,
        end: usize,
    ) -> Fueled<AbstractValue> {
        let mark = self.token_at(mark_at).map_or("", |t| t.text);
        self.at = mark_at + 1;
        self.skip_lines();
        let mut value = self.expression(end)?;
        if let [target] = targets {
            // `x = a, b` is a tuple.
            if self.language == Language::Python && !self.loose && self.is_mark(self.at, ",") {
                let mut items = vec![value];
                while self.is_mark(self.at, ",") {
                    self.at += 1;
                    items.push(self.expression(end)?);
                }
                value = AbstractValue::list(items);
            }
            if matches!(mark, "+=" | ".=" | "<<" | "..=") {
                let before = self.variables.get(target).cloned().unwrap_or_default();
                let before = self.resolved(&before)?;
                let added = self.resolved(&value)?;
                value = if matches!(before, AbstractValue::Nothing) {
                    added
                } else {
                    fold::concat(&before, &added)
                };
                self.scene.fuel.spend_on(value.length() * 8)?;
                self.variables.remove(target);
            }
            self.assign(target, value.clone())?;
            return Ok(value);
        }
        let mut values = vec![value];
        while self.is_mark(self.at, ",") && values.len() < targets.len() {
            self.at += 1;
            values.push(self.expression(end)?);
        }
        let whole = match values.as_slice() {
            // Go's `files, err := …`: the list is one value, and an error stands beside it.
            [one @ AbstractValue::List(_)] if self.language == Language::Compiled => {
                AbstractValue::list(vec![one.clone()])
            }
            [one] => one.clone(),
            _ => AbstractValue::list(values),
        };
        self.assign_parts(targets, &whole)?;
        Ok(whole)
    }

    /// Whether an `=` may follow the names that start here: most expressions have none.
    fn assigns(&self, end: usize) -> bool {
        let mut at = self.at;
        for _ in 0..16 {
            let Some(token) = self.token_at(at).filter(|_| at < end) else {
                return false;
            };
            match token.kind {
                Kind::Name => at += 1,
                Kind::Mark => match token.text {
                    "=" | ":=" | "+=" | ".=" | "||=" | "??=" | ":" => return true,
                    "." | "->" | "::" => at += 1,
                    "," if !self.loose => at += 1,
                    "[" | "{" => at = self.close_of(at, end) + 1,
                    _ => return false,
                },
                Kind::Number | Kind::Text(_) | Kind::Line(_) => return false,
            }
        }
        false
    }

    pub(super) fn assign_parts(&mut self, targets: &[String], whole: &AbstractValue) -> Fueled {
        for (index, target) in targets.iter().enumerate() {
            let part = match whole {
                AbstractValue::List(items) => items.get(index).cloned().unwrap_or_default(),
                // `conn, _ := f()` and `a, b = f()`: the first is what f makes.
                other if index == 0 => other.clone(),
                AbstractValue::Object(_) | AbstractValue::Text(_) => whole.item(),
                _ => AbstractValue::Nothing,
            };
            self.assign(target, part)?;
        }
        Ok(())
    }

    /// The names before `=`, and where the `=` stands.
    fn targets(&self, end: usize) -> Option<(Vec<String>, usize)> {
        let mut targets = Vec::new();
        let mut at = self.at;
        loop {
            let (target, after) = self.target(at, end)?;
            targets.push(target);
            let next = self.token_at(after)?;
            if next.kind != Kind::Mark || after >= end {
                return None;
            }
            match next.text {
                "=" | ":=" | "+=" | ".=" | "||=" | "??=" => return Some((targets, after)),
                "," if !self.loose && targets.len() < 8 => at = after + 1,
                ":" if targets.len() == 1 && !self.loose => {
                    // `x: Type = …`
                    let equals = (after + 1..end.min(after + 10)).find(|index| {
                        self.token_at(*index).is_none_or(|t| {
                            matches!(t.kind, Kind::Line(_))
                                || matches!(t.text, "=" | "," | ")" | "{" | ";" | "(" | "?")
                        })
                    })?;
                    return self.is_mark(equals, "=").then_some((targets, equals));
                }
                _ => return None,
            }
        }
    }

    /// A name with its members and constant keys, and the token after it.
    fn target(&self, from: usize, end: usize) -> Option<(String, usize)> {
        let first = self.name_at(from)?;
        let mut name = names::variable(self.language, first);
        let mut at = from + 1;
        while at < end {
            let token = self.token_at(at)?;
            if token.kind != Kind::Mark {
                break;
            }
            match token.text {
                "." | "->" | "::" => {
                    let Some(member) = self.name_at(at + 1) else {
                        break;
                    };
                    name.push('.');
                    name.push_str(member);
                    at += 2;
                }
                "[" | "{" => {
                    let close = self.close_of(at, end);
                    match (close.checked_sub(at), self.token_at(at + 1)) {
                        (Some(1), _) => {}
                        (Some(2), Some(key)) => {
                            name.push('.');
                            name.push_str(key.text);
                        }
                        _ => return None,
                    }
                    at = close + 1;
                }
                _ => break,
            }
        }
        Some((name, at))
    }

    /// `const {a, b: c} = …`, `[a, b] = …`, `my ($a, $b) = …`.
    pub(super) fn destructuring(&mut self, end: usize) -> Fueled {
        let open = self.at;
        let pattern = ["{", "[", "("].iter().any(|b| self.is_mark(open, b));
        if !pattern {
            return Ok(());
        }
        let close = self.close_of(open, end);
        if !self.is_mark(close + 1, "=") {
            return Ok(());
        }
        let by_key = self.is_mark(open, "{");
        let mut targets: Vec<(String, String)> = Vec::new();
        let mut at = open + 1;
        while at < close && targets.len() < 64 {
            let name = self.name_at(at);
            if let Some(name) = name.filter(|name| !matches!(*name, "mut" | "ref")) {
                let renamed = self
                    .is_mark(at + 1, ":")
                    .then(|| self.name_at(at + 2))
                    .flatten();
                let target = renamed.unwrap_or(name);
                targets.push((name.to_owned(), names::variable(self.language, target)));
                at += if renamed.is_some() { 2 } else { 0 };
            }
            at += 1;
            if self.is_mark(at, "=") {
                at = self.default_end(at, close);
            }
        }
        self.read_parameters(&[], open + 1, close)?;
        self.at = close + 2;
        let whole = self.expression(end)?;
        if by_key {
            for (key, target) in targets {
                let thing = match &whole {
                    AbstractValue::Name(name) => AbstractValue::Name(format!("{name}.{key}")),
                    AbstractValue::Map(members) => match whole.get(&key) {
                        Some(value) => value.clone(),
                        // `{a, ...rest}`: what is left.
                        None => AbstractValue::Map(members.clone()),
                    },
                    AbstractValue::Object(_) => whole.item(),
                    _ => AbstractValue::Nothing,
                };
                self.assign(&target, thing)?;
            }
            return Ok(());
        }
        let targets: Vec<String> = targets.into_iter().map(|(_, target)| target).collect();
        self.assign_parts(&targets, &whole)
    }

    /// `if let Some(x) = …`, `let Ok(x) = … else`: the name holds what is unwrapped.
    pub(super) fn unwrapping(&mut self, end: usize) -> Fueled {
        let from = self.at;
        let mut at = from;
        while self.name_at(at).is_some() && self.is_mark(at + 1, "::") {
            at += 2;
        }
        if self.name_at(at).is_some() && self.is_mark(at + 1, "(") {
            self.at = at + 1;
        }
        self.destructuring(end)?;
        if self.at == at + 1 {
            self.at = from;
        }
        Ok(())
    }

    /// `match … { Ok(x) => …, Err(e) => … }`: each name holds what is unwrapped.
    pub(super) fn matching(&mut self, end: usize) -> Fueled {
        const MAX_ARMS: usize = 256;
        self.at += 1;
        let Some(open) = self.block_after(self.at, end) else {
            return Ok(());
        };
        let value = self.expression(open)?;
        let close = self.close_of(open, end);
        let arm = |at: usize| {
            let shape = self.is_mark(at + 1, "(") && self.is_mark(at + 3, ")");
            let target = self.name_at(at + 2).filter(|_| shape)?;
            (self.name_at(at).is_some() && self.is_mark(at + 4, "=>")).then(|| target.to_owned())
        };
        let names: Vec<String> = (open + 1..close).filter_map(arm).take(MAX_ARMS).collect();
        for name in names {
            self.assign(&name, value.clone())?;
        }
        self.at = open;
        Ok(())
    }

    /// The brace that begins a block behind an expression.
    fn block_after(&self, from: usize, end: usize) -> Option<usize> {
        let mut at = from;
        for _ in 0..64 {
            if at >= end || self.is_mark(at, ";") {
                return None;
            }
            if self.is_mark(at, "{") {
                return Some(at);
            }
            let opens = self.is_mark(at, "(") || self.is_mark(at, "[");
            at = if opens { self.close_of(at, end) } else { at } + 1;
        }
        None
    }

    /// The comma or bracket that ends the default behind the `=` at `at`.
    fn default_end(&self, at: usize, end: usize) -> usize {
        let mut at = at;
        while at < end && ![",", "}", "]"].iter().any(|mark| self.is_mark(at, mark)) {
            if ["(", "[", "{"].iter().any(|open| self.is_mark(at, open)) {
                at = self.close_of(at, end);
            }
            at += 1;
        }
        at
    }

    /// Sets a variable. What it held before stays possible where a branch may not be taken.
    pub(in crate::code) fn assign(&mut self, name: &str, thing: AbstractValue) -> Fueled {
        self.scene.fuel.spend(1)?;
        let name = names::variable(self.language, name);
        if let Some((object, key)) = name.rsplit_once('.')
            && self.is_environment(object)
        {
            let value = self.value_of(&thing)?;
            return self.sets_variable(key, &value);
        }
        if self.language == Language::Perl && name == "$ARGV" {
            self.reads_later(&thing)?;
        }
        let nested = self.language == Language::Python && self.is_indented();
        let thing = match self.variables.get(&name) {
            Some(before) if nested && is_constant(before) && is_constant(&thing) => {
                before.or(&thing)
            }
            _ => thing,
        };
        // `options.host = …`: the member of a map that the code made.
        if let Some((object, key)) = name.rsplit_once('.')
            && let Some(AbstractValue::Map(members)) = self.variables.get(object)
            && members.len() < 256
        {
            let mut members = members.to_vec();
            self.scene.fuel.spend(members.len() as u64)?;
            members.retain(|(known, _)| known != key);
            members.push((key.to_owned(), thing.clone()));
            self.variables
                .insert(object.to_owned(), AbstractValue::Map(members.into()));
        }
        self.variables.insert(name, thing);
        Ok(())
    }

    fn is_indented(&self) -> bool {
        let line = (0..self.at).rev().take(32).find_map(|index| {
            self.token_at(index).and_then(|t| match t.kind {
                Kind::Line(indent) => Some(indent),
                Kind::Name | Kind::Number | Kind::Text(_) | Kind::Mark => None,
            })
        });
        line.is_some_and(|indent| indent > 0)
    }
}

fn is_constant(thing: &AbstractValue) -> bool {
    match thing {
        AbstractValue::Text(value) => value.is_known() && value.text.len() < 1024,
        AbstractValue::Any(all) => all
            .iter()
            .all(|t| !matches!(t, AbstractValue::Any(_)) && is_constant(t)),
        _ => false,
    }
}
