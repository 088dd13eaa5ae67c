//! One folder per protocol: frames to events, and cleared calls and refusals back to frames.

pub mod anthropic;

use crate::json::Json;

/// Members that hold calls in one protocol or another.
const CALL_KEYS: &[&str] = &[
    "content_block",
    "partial_json",
    "tool_use",
    "tool_uses",
    "toolUse",
    "tool_calls",
    "function_call",
    "functionCall",
];

/// Whether a body of no known protocol holds a tool call of some protocol: a member that is named
/// for one, or an object whose `type` is one.
pub fn carries_calls(json: &Json<'_>) -> bool {
    match json {
        Json::Object(members) => members.iter().any(|(key, value)| {
            let is_call = |kind: &str| {
                [
                    "tool_use",
                    "tool_call",
                    "function_call",
                    "shell_call",
                    "patch_call",
                ]
                .iter()
                .any(|call| kind.contains(call))
            };
            CALL_KEYS.contains(&&**key)
                || (key == "type" && value.as_str().is_some_and(is_call))
                || carries_calls(value)
        }),
        Json::Array(items) => items.iter().any(carries_calls),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => false,
    }
}
