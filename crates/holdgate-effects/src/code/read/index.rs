//! Items of a value: `x[0]`, `x['key']`, `x[a:b:c]`.

use super::{Arguments, Reader};
use crate::code::Language;
use crate::code::fold;
use crate::code::lex::Kind;
use crate::code::thing::{AbstractValue, MAX_ALTERNATIVES};
use crate::scene::Fueled;

impl Reader<'_, '_, '_> {
    /// `x[0]`, `x['key']`, `x[a:b:c]`, Perl's `$x{key}`.
    pub(super) fn index(&mut self, thing: &AbstractValue, end: usize) -> Fueled<AbstractValue> {
        let open = self.at;
        let close = self.close_of(open, end);
        self.at += 1;
        let loose = std::mem::replace(&mut self.loose, true);
        let mut bounds: [Option<AbstractValue>; 3] = [None, None, None];
        let mut colons = 0;
        while let Some(token) = self.peek(close) {
            if token.is_mark(":") || token.is_mark("::") {
                colons += token.text.len();
                self.at += 1;
                continue;
            }
            let before = self.at;
            let bare_key = token.kind == Kind::Name
                && self.is_mark(open, "{")
                && self.at + 1 == close
                && !token.text.starts_with(['$', '@']);
            let bound = if bare_key {
                self.at += 1;
                AbstractValue::text(token.text)
            } else {
                self.slice_bound(close)?
            };
            if let Some(slot) = bounds.get_mut(colons) {
                *slot = Some(bound);
            }
            if self.at <= before {
                self.at = before + 1;
            }
        }
        self.loose = loose;
        self.at = close + 1;
        let [first, second, third] = bounds;
        if colons > 0 {
            let bound =
                |thing: Option<AbstractValue>| thing.as_ref().and_then(AbstractValue::number);
            let step = bound(third).unwrap_or(1);
            self.scene.fuel.spend_on(thing.length())?;
            return Ok(fold::slice_of(thing, bound(first), bound(second), step));
        }
        self.item(thing, &first.unwrap_or_default())
    }

    fn slice_bound(&mut self, close: usize) -> Fueled<AbstractValue> {
        // In Python a colon ends the bound; elsewhere it belongs to the expression.
        let colon = (self.at..close.min(self.at + 24)).find(|i| {
            self.language == Language::Python && (self.is_mark(*i, ":") || self.is_mark(*i, "::"))
        });
        self.expression(colon.unwrap_or(close))
    }

    fn item(&mut self, thing: &AbstractValue, key: &AbstractValue) -> Fueled<AbstractValue> {
        match (thing, key) {
            (AbstractValue::List(items), AbstractValue::Number(at)) => {
                let length = i64::try_from(items.len()).unwrap_or(0);
                let at = if *at < 0 { *at + length } else { *at };
                let found = usize::try_from(at).ok().and_then(|at| items.get(at));
                Ok(found.cloned().unwrap_or_default())
            }
            // Perl's texts have no items: it is a list of one.
            (AbstractValue::Text(_), AbstractValue::Number(0))
                if self.language == Language::Perl =>
            {
                Ok(thing.clone())
            }
            (AbstractValue::Text(_), AbstractValue::Number(at)) => Ok(fold::slice_of(
                thing,
                Some(*at),
                at.checked_add(1).filter(|n| *n != 0),
                1,
            )),
            (AbstractValue::Map(members), _) => {
                if let Some(key) = key.known() {
                    return Ok(thing.get(key).cloned().unwrap_or_default());
                }
                // Which one is not known: it is one of them.
                let values = members.iter().take(MAX_ALTERNATIVES);
                Ok(AbstractValue::any(values.map(|(_, v)| v.clone()).collect()))
            }
            (AbstractValue::Name(name), _) => {
                if let Some(text) = key.known() {
                    if let Some(variable) = self.environment_variable(name, text) {
                        return Ok(variable);
                    }
                    // Ruby's `Dir['*']`; and whatever a class makes of its items.
                    if self.language == Language::Ruby && name == "Dir" {
                        let pattern = Arguments::of(vec![key.clone()]);
                        return self.calls("Dir.glob", pattern);
                    }
                    if text.contains([' ', '/']) {
                        let item = Arguments::of(vec![key.clone()]);
                        self.touched(name, &item, self.at)?;
                    }
                    let key = text;
                    let full = format!("{name}.{key}");
                    return Ok(self
                        .variables
                        .get(&full)
                        .cloned()
                        .unwrap_or(AbstractValue::Name(full)));
                }
                if self.is_environment(name) {
                    return Ok(AbstractValue::value(self.value_of(thing)?));
                }
                Ok(AbstractValue::Name(format!("{name}[]")))
            }
            (AbstractValue::Any(_), _) => Ok(thing.map(|one| item_of_one(one, key))),
            // `globals()['x']`: a name by another way.
            (AbstractValue::Object(object), _)
                if matches!(object.kind.as_str(), "globals()" | "locals()" | "vars()")
                    && key.known().is_some() =>
            {
                let key = key.known().unwrap_or_default();
                Ok(AbstractValue::Name(format!("{}.{key}", object.kind)))
            }
            (AbstractValue::Object(object), _) => {
                let mut value = crate::code::thing::unknown_like(&object.data);
                value.taint(&object.text);
                Ok(AbstractValue::value(value))
            }
            (AbstractValue::Text(_) | AbstractValue::List(_), _) => Ok(thing.item()),
            (
                AbstractValue::Nothing
                | AbstractValue::Number(_)
                | AbstractValue::Function(_)
                | AbstractValue::Bound(_),
                _,
            ) => Ok(AbstractValue::Nothing),
        }
    }
}

/// An item of one of the values that something may have.
fn item_of_one(one: &AbstractValue, key: &AbstractValue) -> AbstractValue {
    let found = match (one, key) {
        (AbstractValue::Map(_), key) => key.known().and_then(|k| one.get(k)),
        (AbstractValue::List(items), AbstractValue::Number(at)) => {
            usize::try_from(*at).ok().and_then(|at| items.get(at))
        }
        _ => None,
    };
    found.cloned().unwrap_or_default()
}
