//! What an expression may stand for, as far as it is known.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a thing of any other kind is not understood, whichever kinds come later"
)]

use crate::value::{HOLE_STR, Origins, Value};
use std::rc::Rc;

/// Alternatives that are followed for one expression.
pub(super) const MAX_ALTERNATIVES: usize = 32;

/// A value of code.
#[derive(Clone, Debug, Default)]
pub(super) enum AbstractValue {
    /// Nothing is known: a parameter, an item of an unknown list.
    #[default]
    Nothing,
    /// A text, bytes included.
    Text(Rc<Value>),
    /// A whole number.
    Number(i64),
    /// A name that nothing in the code defines: a module, a function of a library.
    Name(String),
    /// What a function made.
    Object(Rc<Object>),
    /// A list, a tuple.
    List(Rc<[AbstractValue]>),
    /// A dictionary, an object literal.
    Map(Rc<[(String, AbstractValue)]>),
    /// A function that the code itself defines, by its number.
    Function(usize),
    /// A function with some of its arguments given: `functools.partial(f, x)`. With a text in its place,
    /// the method of that name.
    Bound(Rc<Bound>),
    /// One of several.
    Any(Rc<[AbstractValue]>),
}

/// A function and the arguments that it was given before it is called.
#[derive(Debug)]
pub(super) struct Bound {
    pub(super) function: AbstractValue,
    pub(super) positional: Vec<AbstractValue>,
    pub(super) named: Vec<(String, AbstractValue)>,
}

/// What a function made: an open file, a socket, an answer.
#[derive(Debug, Default)]
pub(super) struct Object {
    /// Its type in the table of functions, or the call that made it: `Runtime.getRuntime()`.
    pub(super) kind: String,
    /// The path, URL or host that it stands for.
    pub(super) text: Value,
    /// What is read from it.
    pub(super) data: Value,
    /// The address that an unknown function was given to make it: what its methods get goes there.
    pub(super) peer: Option<Peer>,
}

/// Another machine that an object may stand for.
#[derive(Clone, Debug)]
pub(super) struct Peer {
    pub(super) address: Value,
    /// Whether the object was made to talk to it. Otherwise the address may be a text like any other.
    pub(super) made_for: bool,
}

impl AbstractValue {
    pub(super) fn text(text: impl Into<String>) -> AbstractValue {
        AbstractValue::Text(Rc::new(Value::known(text)))
    }

    pub(super) fn value(value: Value) -> AbstractValue {
        AbstractValue::Text(Rc::new(value))
    }

    /// An object of a type, for the path, URL or host `text`.
    pub(super) fn object(kind: &str, text: Value) -> AbstractValue {
        AbstractValue::holding(kind, text, Value::default())
    }

    /// An object from which `data` is read.
    pub(super) fn holding(kind: &str, text: Value, data: Value) -> AbstractValue {
        AbstractValue::reaching(kind, text, data, None)
    }

    /// An object that an unknown function made for an address.
    pub(super) fn reaching(
        kind: &str,
        text: Value,
        data: Value,
        peer: Option<Peer>,
    ) -> AbstractValue {
        let kind = kind.to_owned();
        AbstractValue::Object(Rc::new(Object {
            kind,
            text,
            data,
            peer,
        }))
    }

    /// One of these.
    pub(super) fn any(mut all: Vec<AbstractValue>) -> AbstractValue {
        match all.len() {
            0 => AbstractValue::Nothing,
            1 => all.pop().unwrap_or_default(),
            _ => AbstractValue::Any(all.into()),
        }
    }

    pub(super) fn list(items: Vec<AbstractValue>) -> AbstractValue {
        AbstractValue::List(items.into())
    }

    /// The text, if all of it is known.
    pub(super) fn known(&self) -> Option<&str> {
        match self {
            AbstractValue::Text(value) => value.as_known(),
            AbstractValue::Object(object) => object.text.as_known(),
            _ => None,
        }
    }

    /// How long its text is: what work on it costs.
    pub(super) fn length(&self) -> usize {
        match self {
            AbstractValue::Text(value) => value.text.len(),
            AbstractValue::Object(object) => object.text.text.len() + object.data.text.len(),
            AbstractValue::List(items) | AbstractValue::Any(items) => items.len(),
            AbstractValue::Map(members) => members.len(),
            _ => 0,
        }
    }

    /// The number, also if it is written as a text.
    pub(super) fn number(&self) -> Option<i64> {
        match self {
            AbstractValue::Number(number) => Some(*number),
            AbstractValue::Text(value) => value.text.trim().parse().ok(),
            _ => None,
        }
    }

    /// The items, if this is a list.
    pub(super) fn items(&self) -> Option<&[AbstractValue]> {
        if let AbstractValue::List(items) = self {
            Some(items)
        } else {
            None
        }
    }

    /// The value of a key, if this is a map that has it.
    pub(super) fn get(&self, key: &str) -> Option<&AbstractValue> {
        if let AbstractValue::Map(members) = self {
            members.iter().find(|(k, _)| k == key).map(|(_, v)| v)
        } else {
            None
        }
    }

    /// Any item of a list.
    pub(super) fn item(&self) -> AbstractValue {
        match self {
            AbstractValue::List(items) => {
                let items = items.iter().take(MAX_ALTERNATIVES);
                AbstractValue::any(items.cloned().collect())
            }
            // One of the processes that a list has.
            AbstractValue::Object(object) if object.kind == "ListedProcess" => self.clone(),
            AbstractValue::Object(_) | AbstractValue::Text(_) => {
                let value = crate::code::fold::plain(self);
                AbstractValue::value(unknown_like(&value))
            }
            AbstractValue::Name(_) | AbstractValue::Any(_) => self.clone(),
            _ => AbstractValue::Nothing,
        }
    }

    /// All that this may be.
    pub(super) fn each(&self) -> &[AbstractValue] {
        if let AbstractValue::Any(all) = self {
            all
        } else {
            std::slice::from_ref(self)
        }
    }

    /// The same without alternatives in alternatives.
    pub(super) fn alternatives(&self) -> impl Iterator<Item = &AbstractValue> {
        let all = self.each().iter();
        all.filter(|one| !matches!(one, AbstractValue::Any(_)))
    }

    /// Either of two.
    pub(super) fn or(&self, other: &AbstractValue) -> AbstractValue {
        let mut all: Vec<AbstractValue> = Vec::new();
        for thing in self.each().iter().chain(other.each()) {
            let known = !matches!(thing, AbstractValue::Nothing);
            let new = thing.known().is_none() || all.iter().all(|t| t.known() != thing.known());
            if known && new && all.len() < MAX_ALTERNATIVES {
                all.push(thing.clone());
            }
        }
        AbstractValue::any(all)
    }

    /// The same made of each alternative.
    pub(super) fn map(
        &self,
        mut make: impl FnMut(&AbstractValue) -> AbstractValue,
    ) -> AbstractValue {
        if let AbstractValue::Any(all) = self {
            AbstractValue::Any(all.iter().map(make).collect())
        } else {
            make(self)
        }
    }
}

/// Nothing known but what `value` was made from.
pub(super) fn unknown_like(value: &Value) -> Value {
    value.map(HOLE_STR)
}

/// A value of which nothing is known.
pub(super) fn unknown() -> Value {
    Value::unknown(Origins::UNKNOWN)
}
