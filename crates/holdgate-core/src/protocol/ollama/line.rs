//! A line of a response, which is the whole response if it is not streamed.

use super::super::Declared;
use super::super::chat::{check_members, hides_call, no_lone_surrogates, read_json};
use crate::call::{Executor, Fault, HeldCall};
use crate::event::Violation;
use holdgate_effects::json::{Json, shorten};
use std::collections::HashMap;

/// The members of a message that hold calls.
pub(super) const CALLS: &[&str] = &["tool_calls"];

/// What a line is.
pub(super) enum Line<'a> {
    /// The upstream reports an error.
    Error,
    /// A part of the message, and its calls.
    Message(Json<'a>, Vec<HeldCall>),
}

/// Reads and checks a line. `names` counts the calls of each tool that have no id.
pub(super) fn read<'a>(
    data: &'a [u8],
    declared: &Declared,
    names: &mut HashMap<String, usize>,
) -> Result<Line<'a>, Violation> {
    let json = read_json(data, "a line")?;
    let Some(members) = json.as_object() else {
        return Err(Violation::Incomplete("a line is not an object"));
    };
    let others = members.iter().filter(|(key, _)| key != "message");
    for (key, value) in others {
        if hides_call(key, value) {
            return Err(Violation::HiddenInMember(shorten(key, 40)));
        }
    }
    let message = match json.get("message") {
        None | Some(Json::Null) => &Json::Null,
        Some(message @ Json::Object(_)) => message,
        Some(_) => return Err(Violation::Incomplete("a message is not an object")),
    };
    check_members(message, CALLS, declared)?;
    let calls = match message.get("tool_calls") {
        None | Some(Json::Null) => &[],
        Some(Json::Array(calls)) => calls.as_slice(),
        Some(_) => return Err(Violation::Incomplete("the tool calls are not a list")),
    };
    declared.check_count(calls.len())?;
    if json.get("error").is_some_and(|error| *error != Json::Null) {
        return match calls {
            [] => Ok(Line::Error),
            _ => Err(Violation::HiddenInMember("message".to_owned())),
        };
    }
    let surrogates = match calls {
        [] => None,
        _ => no_lone_surrogates(data).err(),
    };
    let mut held = Vec::new();
    for call in calls {
        let mut call = held_call(call, names)?;
        if let Some(fault) = &surrogates {
            call.fail(fault.clone());
        }
        held.push(call);
    }
    Ok(Line::Message(json, held))
}

fn held_call(call: &Json<'_>, names: &mut HashMap<String, usize>) -> Result<HeldCall, Violation> {
    let Some(function) = call.get("function").filter(|f| f.as_object().is_some()) else {
        return Err(Violation::Incomplete("a tool call has no function"));
    };
    let name = function.get_str("name");
    let id = call.get_str("id").filter(|id| !id.is_empty());
    let runs = match call.get_str("type") {
        None | Some("" | "function") => Executor::AtClient,
        Some(other) => Executor::Unknown(shorten(other, 80)),
    };
    let envelope = Json::object([("has_id", Json::Bool(id.is_some()))]);
    let id = id.map_or_else(
        || {
            // The result will name the tool; a second call of it must not pass for the same one.
            let name = name.unwrap_or_default();
            let count = names.entry(name.to_owned()).or_default();
            *count += 1;
            match *count {
                1 => name.to_owned(),
                count => format!("{name}#{count}"),
            }
        },
        str::to_owned,
    );
    // Some gateways write the arguments as text.
    let input = function.get("arguments").map(|arguments| {
        let text = arguments.as_str().map(str::to_owned);
        text.unwrap_or_else(|| arguments.text())
    });
    let name = name.map(str::to_owned);
    let mut held = HeldCall::new(runs, Some(id), name, input).with_envelope(envelope);
    let known = |key: &str, keys: &[&str]| keys.contains(&key);
    let outside = call.as_object().unwrap_or_default().iter();
    let outside = outside.filter(|(key, _)| !known(key, &["id", "type", "function", "index"]));
    let inside = function.as_object().unwrap_or_default().iter();
    let inside = inside.filter(|(key, _)| !known(key, &["name", "arguments", "index"]));
    if outside
        .chain(inside)
        .any(|(key, value)| hides_call(key, value))
    {
        held.fail(Fault::NestedCall);
    }
    Ok(held)
}

/// Whether this is the last line.
pub(super) fn is_done(json: &Json<'_>) -> bool {
    json.get("done") == Some(&Json::Bool(true))
}

/// The text of the message in a line.
pub(super) fn text<'a>(json: &'a Json<'_>) -> &'a str {
    let message = json.get("message");
    let text = message.and_then(|message| message.get_str("content"));
    text.unwrap_or_default()
}
