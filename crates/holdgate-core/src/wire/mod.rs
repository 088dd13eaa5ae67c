//! One folder per protocol: frames to events, and cleared calls and refusals back to frames.

pub mod anthropic;

use crate::canonical::Canonical;
use holdgate_effects::json::{Json, LoneSurrogates, fold};

/// Depth of a value that is no message.
const MAX_DEPTH: usize = 128;

/// A whole body that is one JSON value in which no reader can find a call; `None` if it is not.
pub fn inert_value(body: &[u8]) -> Option<Canonical> {
    let json = Json::read(body, MAX_DEPTH, LoneSurrogates::Replace).ok()?;
    let inert = !carries_calls(&json) && json.ambiguous_key().is_none();
    let text = std::str::from_utf8(body).ok().filter(|_| inert)?;
    Some(Canonical::of_value(text))
}

/// Members that hold calls in one protocol or another, in small letters.
const CALL_KEYS: &[&str] = &[
    "content_block",
    "partial_json",
    "tool_use",
    "tool_uses",
    "tooluse",
    "tool_calls",
    "function_call",
    "functioncall",
];

/// Parts of the types that calls have.
const CALL_TYPES: &[&str] = &[
    "tool_use",
    "tool_call",
    "function_call",
    "shell_call",
    "patch_call",
    "computer_call",
];

/// Whether a value that is no call itself holds a tool call of some protocol, at any level: a member
/// that is named for one, or an object whose `type` is one.
fn carries_calls(json: &Json<'_>) -> bool {
    match json {
        Json::Object(members) => members.iter().any(|(key, value)| is_call(key, value)),
        Json::Array(items) => items.iter().any(carries_calls),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => false,
    }
}

/// The same for one member.
fn is_call(key: &str, value: &Json<'_>) -> bool {
    let key = fold(key);
    // Edits of the context are named for the results that they clear: `clear_tool_uses_20250919`.
    let names_call = |kind: &str| {
        let kind = kind.to_lowercase().replace("tool_uses", "");
        CALL_TYPES.iter().any(|call| kind.contains(call))
    };
    CALL_KEYS.contains(&key.as_str())
        || (key == "type" && value.as_str().is_some_and(names_call))
        || carries_calls(value)
}
