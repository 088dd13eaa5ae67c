//! How members are spelled. The API writes `functionCall`; readers that are generated from its
//! definition take `function_call` as well, and lenient ones any case. So both spellings are the same
//! member here, and what only some readers would take for it is an error.

use crate::event::Violation;
use holdgate_effects::json::{Json, fold, shorten};
use std::collections::HashSet;

/// Members that decide how a response is read.
const MEMBERS: &[&str] = &[
    "args",
    "candidates",
    "codeExecutionResult",
    "content",
    "error",
    "executableCode",
    "fileData",
    "finishReason",
    "functionCall",
    "functionResponse",
    "id",
    "index",
    "inlineData",
    "name",
    "partialArgs",
    "parts",
    "promptFeedback",
    "text",
    "thought",
    "thoughtSignature",
    "toolCall",
    "toolResponse",
    "willContinue",
];

/// The member `name` of an object, in either spelling.
pub(super) fn get<'j, 'a>(json: &'j Json<'a>, name: &str) -> Option<&'j Json<'a>> {
    let mut members = json.as_object()?.iter();
    members
        .find(|(key, _)| is(key, name))
        .map(|(_, value)| value)
}

/// The text of the member `name`, if it is a string.
pub(super) fn get_str<'j>(json: &'j Json<'_>, name: &str) -> Option<&'j str> {
    get(json, name)?.as_str()
}

/// Whether `key` is `name`, as the API or as its definition spells it.
pub(super) fn is(key: &str, name: &str) -> bool {
    let definition = name.chars().flat_map(|c| {
        let before = c.is_ascii_uppercase().then_some('_');
        before.into_iter().chain([c.to_ascii_lowercase()])
    });
    key == name || key.chars().eq(definition)
}

/// Whether `key` is one of `names`.
pub(super) fn is_one_of(key: &str, names: &[&str]) -> bool {
    names.iter().any(|name| is(key, name))
}

/// A name without capital letters and underscores.
pub(super) fn plain(key: &str) -> String {
    fold(key).replace('_', "")
}

/// Whether a member is, or has anywhere in it, what a client runs if it stands in a part.
pub(super) fn hides_action(key: &str, value: &Json<'_>) -> bool {
    let acts = ["executablecode", "functioncall", "toolcall"];
    acts.contains(&plain(key).as_str())
        || match value {
            Json::Object(members) => members.iter().any(|(key, value)| hides_action(key, value)),
            Json::Array(items) => items.iter().any(|item| hides_action("", item)),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => false,
        }
}

/// The items of a list, which may be written as its only item.
pub(super) fn items<'j, 'a>(list: Option<&'j Json<'a>>) -> &'j [Json<'a>] {
    match list {
        Some(Json::Array(items)) => items,
        Some(one @ Json::Object(_)) => std::slice::from_ref(one),
        _ => &[],
    }
}

/// Checks that no reader takes two members for one, or a member for one that decides how the response
/// is read, at any level but in the arguments of calls, whose keys are the tool's own.
pub(super) fn check(json: &Json<'_>) -> Result<(), Violation> {
    match json {
        Json::Array(items) => items.iter().try_for_each(check),
        Json::Object(members) => {
            let mut seen = HashSet::new();
            for (key, value) in members {
                let plain = plain(key);
                let meant = MEMBERS.iter().find(|m| m.eq_ignore_ascii_case(&plain));
                if meant.is_some_and(|name| !is(key, name)) {
                    return Err(Violation::HiddenInMember(shorten(key, 40)));
                }
                if !seen.insert(plain) {
                    return Err(Violation::AmbiguousKey(shorten(key, 40)));
                }
                if key != "args" {
                    check(value)?;
                }
            }
            Ok(())
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use holdgate_effects::json::LoneSurrogates;

    #[test]
    fn both_spellings_are_one_member_and_others_are_errors() {
        assert!(is("functionCall", "functionCall") && is("function_call", "functionCall"));
        assert!(!is("function_Call", "functionCall") && !is("functioncall", "functionCall"));
        let check = |text: &str, sound: bool| {
            let json = Json::read(text.as_bytes(), 16, LoneSurrogates::Refuse).unwrap();
            assert_eq!(check(&json).is_ok(), sound, "{text}");
        };
        check(r#"{"functionCall":{"args":{"a_b":1,"aB":2}}}"#, true);
        check(r#"{"function_call":{}}"#, true);
        check(r#"{"function_call":{},"functionCall":{}}"#, false);
        check(r#"{"FunctionCall":{}}"#, false);
        check(r#"[{"x":[{"part_s":[]}]}]"#, false);
        check(r#"{"fooBar":1,"foo_bar":2}"#, false);
    }
}
