//! The response object: what it says besides its output, and which calls its output repeats.

use super::super::{Declared, carries_calls, is_call};
use super::item::{Item, digest, id};
use crate::event::Violation;
use holdgate_effects::json::{Json, fold, shorten};
use std::collections::HashSet;
use std::hash::{BuildHasher as _, RandomState};

/// Members that repeat what the client sent. Schemas of tools have keys of any name, so only values
/// that call themselves calls count there.
const ECHOES: &[&str] = &[
    "tools",
    "tool_choice",
    "text",
    "instructions",
    "prompt",
    "metadata",
    "reasoning",
];

/// The calls that have come as items.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) keys: RandomState,
    ids: HashSet<u64>,
    /// Those that were done, and whether each was the first with its id: no other is cleared.
    done: Vec<(u64, bool)>,
    /// The ids of those that were not.
    cut: Vec<u64>,
}

impl Seen {
    /// A call begins. Returns whether it is the first with its id.
    pub(super) fn begun(&mut self, id: Option<&str>) -> bool {
        self.ids.insert(self.keys.hash_one(id))
    }

    pub(super) fn done(&mut self, item: &Json<'_>, first: bool) {
        self.done.push((digest(item, &self.keys), first));
    }

    pub(super) fn cut(&mut self, id: Option<&str>) {
        self.cut.push(self.keys.hash_one(id));
    }

    /// Whether this call has come, and was not found before; and whether it can have been cleared.
    fn take(&mut self, item: &Json<'_>) -> Option<bool> {
        let whole = digest(item, &self.keys);
        if let Some(at) = self.done.iter().position(|(known, _)| *known == whole) {
            return Some(self.done.remove(at).1);
        }
        let name = self.keys.hash_one(id(item));
        let at = self.cut.iter().position(|known| *known == name)?;
        self.cut.remove(at);
        Some(false)
    }
}

/// Checks that a response object holds no call besides those in `output`.
pub(super) fn check_members(response: &Json<'_>) -> Result<(), Violation> {
    let Some(members) = response.as_object() else {
        return if carries_calls(response) {
            Err(Violation::NotAMessage("carries tool calls"))
        } else {
            Ok(())
        };
    };
    for (key, value) in members.iter().filter(|(key, _)| key != "output") {
        let hidden = if ECHOES.contains(&&**key) {
            names_call(value)
        } else {
            is_call(key, value) || value.ambiguous_key().is_some()
        };
        if hidden {
            return Err(Violation::HiddenInMember(shorten(key, 40)));
        }
    }
    same_names(response)
}

/// Checks that every reader finds the same members in an object.
pub(super) fn same_names(json: &Json<'_>) -> Result<(), Violation> {
    let members = json.as_object().unwrap_or_default().iter();
    let plain = |key: &str| key.bytes().all(|b| b.is_ascii() && !b.is_ascii_uppercase());
    if members.clone().all(|(key, _)| plain(key)) {
        return Ok(());
    }
    let names = members.map(|(key, _)| (key.clone(), Json::Null)).collect();
    match Json::Object(names).ambiguous_key() {
        Some(key) => Err(Violation::AmbiguousKey(shorten(key, 40))),
        None => Ok(()),
    }
}

/// Whether an object in `value` has the type of a call.
fn names_call(value: &Json<'_>) -> bool {
    match value {
        Json::Object(members) => members.iter().any(|(key, value)| {
            let is_type = fold(key) == "type" && value.as_str().is_some();
            is_type && is_call(key, value) || names_call(value)
        }),
        Json::Array(items) => items.iter().any(names_call),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => false,
    }
}

/// Checks the output of a response that has only begun: it is empty.
pub(super) fn check_begun(response: &Json<'_>) -> Result<(), Violation> {
    check_members(response)?;
    match response.get("output") {
        None | Some(Json::Null) => Ok(()),
        Some(Json::Array(items)) if items.is_empty() => Ok(()),
        Some(_) => Err(Violation::OutOfOrder("a response begins with output")),
    }
}

/// Checks the output of a response that ends: all its calls have come as items before. Returns the
/// output for the writer, if it has calls: those that may leave are [wrapped](wrapped_call), and
/// the others left out.
pub(super) fn check_ended(
    response: &Json<'_>,
    declared: &Declared,
    seen: &mut Seen,
) -> Result<Option<Json<'static>>, Violation> {
    check_members(response)?;
    let items = match response.get("output") {
        None | Some(Json::Null) => return Ok(None),
        Some(Json::Array(items)) => items,
        Some(_) => return Err(Violation::Incomplete("the output is not a list")),
    };
    let mut output = Vec::new();
    let mut calls = false;
    for item in items {
        let kind = item
            .get_str("type")
            .ok_or(Violation::Incomplete("an item without a type"))?;
        let found = match declared.item(kind, item) {
            Item::Inert => {
                output.push(item.clone().into_owned());
                continue;
            }
            Item::Call(..) => seen.take(item),
        };
        calls = true;
        match found {
            Some(true) => output.push(Json::Array(vec![item.clone().into_owned()])),
            Some(false) => {}
            None => {
                return Err(Violation::OutOfOrder(
                    "the final response has a call that did not come as an item, or not the same",
                ));
            }
        }
    }
    Ok(calls.then_some(Json::Array(output)))
}

/// The call in an item of the output that the reader has handed to the writer. No other item is a
/// list, and no such list leaves.
pub(super) fn wrapped_call<'j>(item: &'j Json<'j>) -> Option<&'j Json<'j>> {
    item.as_array()?.first()
}
