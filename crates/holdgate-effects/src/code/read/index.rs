//! Items of a value: `x[0]`, `x['key']`, `x[a:b:c]`.

use super::Reader;
use crate::code::Language;
use crate::code::fold;
use crate::code::lex::Kind;
use crate::code::thing::Thing;
use crate::scene::Done;

impl Reader<'_, '_, '_> {
    /// `x[0]`, `x['key']`, `x[a:b:c]`, Perl's `$x{key}`.
    pub(super) fn index(&mut self, thing: &Thing, end: usize) -> Done<Thing> {
        let open = self.at;
        let close = self.close_of(open, end);
        self.at += 1;
        let loose = std::mem::replace(&mut self.loose, true);
        let mut bounds: [Option<Thing>; 3] = [None, None, None];
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
                Thing::text(token.text)
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
            let bound = |thing: Option<Thing>| thing.as_ref().and_then(Thing::number);
            let step = bound(third).unwrap_or(1);
            self.scene.fuel.spend_on(thing.length())?;
            return Ok(fold::slice_of(thing, bound(first), bound(second), step));
        }
        self.item(thing, &first.unwrap_or_default())
    }

    fn slice_bound(&mut self, close: usize) -> Done<Thing> {
        // In Python a colon ends the bound; elsewhere it belongs to the expression.
        let colon = (self.at..close.min(self.at + 24)).find(|i| {
            self.language == Language::Python && (self.is_mark(*i, ":") || self.is_mark(*i, "::"))
        });
        self.expression(colon.unwrap_or(close))
    }

    fn item(&mut self, thing: &Thing, key: &Thing) -> Done<Thing> {
        match (thing, key) {
            (Thing::List(items), Thing::Number(at)) => {
                let length = i64::try_from(items.len()).unwrap_or(0);
                let at = if *at < 0 { *at + length } else { *at };
                let found = usize::try_from(at).ok().and_then(|at| items.get(at));
                Ok(found.cloned().unwrap_or_default())
            }
            // Perl's texts have no items: it is a list of one.
            (Thing::Text(_), Thing::Number(0)) if self.language == Language::Perl => {
                Ok(thing.clone())
            }
            (Thing::Text(_), Thing::Number(at)) => Ok(fold::slice_of(
                thing,
                Some(*at),
                at.checked_add(1).filter(|n| *n != 0),
                1,
            )),
            (Thing::Map(_), _) => {
                let found = key.known().and_then(|key| thing.get(key)).cloned();
                Ok(found.unwrap_or_default())
            }
            (Thing::Name(name), _) => {
                if let Some(key) = key.known() {
                    if let Some(variable) = self.environment_variable(name, key) {
                        return Ok(variable);
                    }
                    let full = format!("{name}.{key}");
                    return Ok(self
                        .variables
                        .get(&full)
                        .cloned()
                        .unwrap_or(Thing::Name(full)));
                }
                if self.is_environment(name) {
                    return Ok(Thing::value(self.value_of(thing)?));
                }
                Ok(Thing::Name(format!("{name}[]")))
            }
            (Thing::Any(_), _) => Ok(thing.map(|one| match (one, key) {
                (Thing::Map(_), key) => key
                    .known()
                    .and_then(|k| one.get(k))
                    .cloned()
                    .unwrap_or_default(),
                (Thing::List(items), Thing::Number(at)) => usize::try_from(*at)
                    .ok()
                    .and_then(|at| items.get(at).cloned())
                    .unwrap_or_default(),
                _ => Thing::Nothing,
            })),
            (Thing::Object(object), _) => {
                let mut value = crate::code::thing::unknown_like(&object.data);
                value.taint(&object.text);
                Ok(Thing::value(value))
            }
            (Thing::Text(_) | Thing::List(_), _) => Ok(thing.item()),
            (Thing::Nothing | Thing::Number(_) | Thing::Function(_), _) => Ok(Thing::Nothing),
        }
    }
}
