//! What an expression may stand for, as far as it is known.

use crate::value::{HOLE_STR, Origins, Value};
use std::rc::Rc;

/// Alternatives that are followed for one expression.
pub(super) const MAX_ALTERNATIVES: usize = 32;

/// A value of code.
#[derive(Clone, Debug, Default)]
pub(super) enum Thing {
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
    List(Rc<[Thing]>),
    /// A dictionary, an object literal.
    Map(Rc<[(String, Thing)]>),
    /// A function that the code itself defines, by its number.
    Function(usize),
    /// One of several.
    Any(Rc<[Thing]>),
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
}

impl Thing {
    pub(super) fn text(text: impl Into<String>) -> Thing {
        Thing::Text(Rc::new(Value::known(text)))
    }

    pub(super) fn value(value: Value) -> Thing {
        Thing::Text(Rc::new(value))
    }

    /// An object of a type, for the path, URL or host `text`.
    pub(super) fn object(kind: &str, text: Value) -> Thing {
        Thing::Object(Rc::new(Object {
            kind: kind.to_owned(),
            text,
            data: Value::default(),
        }))
    }

    pub(super) fn list(items: Vec<Thing>) -> Thing {
        Thing::List(items.into())
    }

    /// The text, if all of it is known.
    pub(super) fn known(&self) -> Option<&str> {
        match self {
            Thing::Text(value) => value.as_known(),
            Thing::Object(object) => object.text.as_known(),
            Thing::Nothing
            | Thing::Number(_)
            | Thing::Name(_)
            | Thing::List(_)
            | Thing::Map(_)
            | Thing::Function(_)
            | Thing::Any(_) => None,
        }
    }

    /// How long its text is: what work on it costs.
    pub(super) fn length(&self) -> usize {
        match self {
            Thing::Text(value) => value.text.len(),
            Thing::Object(object) => object.text.text.len() + object.data.text.len(),
            Thing::List(items) | Thing::Any(items) => items.len(),
            Thing::Map(members) => members.len(),
            Thing::Nothing | Thing::Number(_) | Thing::Name(_) | Thing::Function(_) => 0,
        }
    }

    /// The number, also if it is written as a text.
    pub(super) fn number(&self) -> Option<i64> {
        match self {
            Thing::Number(number) => Some(*number),
            Thing::Text(value) => value.text.trim().parse().ok(),
            Thing::Nothing
            | Thing::Name(_)
            | Thing::Object(_)
            | Thing::List(_)
            | Thing::Map(_)
            | Thing::Function(_)
            | Thing::Any(_) => None,
        }
    }

    /// The items, if this is a list.
    pub(super) fn items(&self) -> Option<&[Thing]> {
        if let Thing::List(items) = self {
            Some(items)
        } else {
            None
        }
    }

    /// The value of a key, if this is a map that has it.
    pub(super) fn get(&self, key: &str) -> Option<&Thing> {
        if let Thing::Map(members) = self {
            members.iter().find(|(k, _)| k == key).map(|(_, v)| v)
        } else {
            None
        }
    }

    /// Any item of a list.
    pub(super) fn item(&self) -> Thing {
        match self {
            Thing::List(items) => {
                let items: Vec<Thing> = items.iter().take(MAX_ALTERNATIVES).cloned().collect();
                match items.len() {
                    0 => Thing::Nothing,
                    1 => items.into_iter().next().unwrap_or_default(),
                    _ => Thing::Any(items.into()),
                }
            }
            Thing::Object(_) | Thing::Text(_) => {
                let value = crate::code::fold::plain(self);
                Thing::value(unknown_like(&value))
            }
            Thing::Name(_) | Thing::Any(_) => self.clone(),
            Thing::Nothing | Thing::Number(_) | Thing::Map(_) | Thing::Function(_) => {
                Thing::Nothing
            }
        }
    }

    /// All that this may be.
    pub(super) fn each(&self) -> &[Thing] {
        if let Thing::Any(all) = self {
            all
        } else {
            std::slice::from_ref(self)
        }
    }

    /// Either of two.
    pub(super) fn or(&self, other: &Thing) -> Thing {
        let mut all: Vec<Thing> = Vec::new();
        for thing in self.each().iter().chain(other.each()) {
            let known = !matches!(thing, Thing::Nothing);
            let new = thing.known().is_none() || all.iter().all(|t| t.known() != thing.known());
            if known && new && all.len() < MAX_ALTERNATIVES {
                all.push(thing.clone());
            }
        }
        match all.len() {
            0 => Thing::Nothing,
            1 => all.pop().unwrap_or_default(),
            _ => Thing::Any(all.into()),
        }
    }

    /// The same made of each alternative.
    pub(super) fn map(&self, mut make: impl FnMut(&Thing) -> Thing) -> Thing {
        if let Thing::Any(all) = self {
            Thing::Any(all.iter().map(make).collect())
        } else {
            make(self)
        }
    }
}

/// Nothing known but what `value` was made from.
pub(super) fn unknown_like(value: &Value) -> Value {
    value.map(HOLE_STR.to_owned())
}

/// A value of which nothing is known.
pub(super) fn unknown() -> Value {
    Value::unknown(Origins::UNKNOWN)
}
