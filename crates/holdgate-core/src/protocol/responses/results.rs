//! The texts that tools returned, in an item of a conversation.

use super::item::id;
use crate::request::ToolResult;
use holdgate_effects::json::Json;

/// Members that hold text for the model, in results and in what is nested in them. All others keep
/// their bytes: addresses, ids, and what only the provider can read.
const TEXTS: &[&str] = &[
    "content",
    "description",
    "error",
    "logs",
    "message",
    "output",
    "outputs",
    "results",
    "stderr",
    "stdout",
    "text",
    "title",
];

/// Items of what the provider ran that hold its result.
const RUN_BY_PROVIDER: &[&str] = &["mcp_call", "file_search_call", "code_interpreter_call"];

/// The results in `item`.
pub(super) fn results<'m>(item: &'m Json<'m>) -> Vec<ToolResult<'m>> {
    let kind = item.get_str("type").unwrap_or_default();
    if !kind.ends_with("_output") && !RUN_BY_PROVIDER.contains(&kind) {
        return Vec::new();
    }
    let mut texts = Vec::new();
    collect(item, false, &mut texts);
    if texts.is_empty() {
        return Vec::new();
    }
    let call = id(item);
    vec![ToolResult { call, texts }]
}

/// Adds the texts in `value`, which is itself text if it is a string and `is_text`.
fn collect<'m>(value: &'m Json<'m>, is_text: bool, texts: &mut Vec<&'m Json<'m>>) {
    match value {
        Json::String(text) if is_text && !text.is_empty() => texts.push(value),
        Json::Array(items) => {
            for item in items {
                collect(item, is_text, texts);
            }
        }
        Json::Object(members) => {
            for (key, member) in members {
                collect(member, TEXTS.contains(&&**key), texts);
            }
        }
        Json::String(_) | Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use holdgate_effects::json::LoneSurrogates;

    #[track_caller]
    fn check(item: &str, expected: &[&str]) {
        let json = Json::read(item.as_bytes(), 64, LoneSurrogates::Replace).unwrap();
        let found = results(&json);
        let texts = found.iter().flat_map(|result| &result.texts);
        let texts: Vec<&str> = texts.filter_map(|text| text.as_str()).collect();
        assert_eq!(texts, expected, "{item}");
        assert!(found.iter().all(|result| result.call == Some("c")));
    }

    #[test]
    fn results_have_texts_in_every_form_of_output() {
        check(
            r#"{"type":"function_call_output","id":"fco","call_id":"c","output":"plain"}"#,
            &["plain"],
        );
        check(
            r#"{"type":"custom_tool_call_output","call_id":"c","output":[{"type":"input_text","text":"one"},
                {"type":"input_image","image_url":"data:image/png;base64,aWdub3Jl"},{"type":"input_text","text":"two"}]}"#,
            &["one", "two"],
        );
        check(
            r#"{"type":"shell_call_output","call_id":"c","output":[{"stdout":"a","stderr":"b","outcome":{"type":"exit","exit_code":0}}]}"#,
            &["a", "b"],
        );
        check(
            r#"{"type":"mcp_call","id":"c","name":"q","server_label":"s","arguments":"{}","output":"a"}"#,
            &["a"],
        );
        check(
            r#"{"type":"function_call","call_id":"c","name":"f","arguments":"{\"output\":\"a\"}"}"#,
            &[],
        );
        check(
            r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"by a person"}]}"#,
            &[],
        );
    }
}
