//! What a message of a conversation says about calls, and the texts that tools returned.

use super::chunk::texts;
use super::fragment::{CUSTOM_END, CUSTOM_START, custom_piece};
use crate::call::Executor;
use crate::request::{Mention, ToolResult};
use holdgate_effects::json::Json;

/// What `message` says, in order.
pub(in super::super) fn mentions<'m>(message: &'m Json<'m>) -> Vec<Mention<'m>> {
    let content = message.get("content");
    match message.get_str("role") {
        Some("assistant") => {
            // Clients join a notice to the text before it.
            let said = texts(content).flat_map(crate::notice::pieces);
            let said = said.map(Mention::Text);
            let calls = message.get("tool_calls").and_then(Json::as_array);
            let calls = calls.unwrap_or_default().iter().filter_map(call);
            let legacy = message.get("function_call").and_then(|function| {
                let name = function.get_str("name")?;
                Some(made(name, name, input(function.get("arguments"))))
            });
            said.chain(calls).chain(legacy).collect()
        }
        Some("tool" | "function") => {
            let result = result_of(message).map(|call| Mention::Result {
                call,
                in_order: false,
                // The protocol has no word for it.
                failed: false,
                texts: texts(content).collect(),
            });
            result.into_iter().collect()
        }
        Some("user") => texts(content).map(Mention::User).collect(),
        _ => Vec::new(),
    }
}

fn call<'m>(call: &'m Json<'m>) -> Option<Mention<'m>> {
    // Some clients write the one that it is not as `null`.
    let part = |key| call.get(key).filter(|part| part.as_object().is_some());
    let (name, input) = match (part("function"), part("custom")) {
        (Some(function), _) => (function.get_str("name")?, input(function.get("arguments"))),
        (None, custom) => {
            let custom = custom?;
            let text = custom.get_str("input").unwrap_or_default();
            let input = [CUSTOM_START, &custom_piece(text), CUSTOM_END].concat();
            (custom.get_str("name")?, Some(input))
        }
    };
    // Without an id, the result names the function.
    let id = call.get_str("id").filter(|id| !id.is_empty());
    Some(made(id.unwrap_or(name), name, input))
}

fn made<'m>(id: &'m str, tool: &'m str, input: Option<String>) -> Mention<'m> {
    Mention::Call {
        id,
        tool: tool.into(),
        runs: Executor::AtClient,
        input,
    }
}

/// The arguments as JSON text.
fn input(arguments: Option<&Json<'_>>) -> Option<String> {
    arguments.map(|arguments| {
        let text = arguments.as_str().map(str::to_owned);
        text.unwrap_or_else(|| arguments.text())
    })
}

/// The id of the call whose result this message is.
fn result_of<'m>(message: &'m Json<'m>) -> Option<&'m str> {
    let keys = ["tool_call_id", "tool_name", "name"];
    let mut ids = keys.iter().filter_map(|key| message.get_str(key));
    ids.find(|id| !id.is_empty())
}

/// The result in `message`, if it is one.
pub(in super::super) fn results<'m>(message: &'m Json<'m>) -> Vec<ToolResult<'m>> {
    if !matches!(message.get_str("role"), Some("tool" | "function")) {
        return Vec::new();
    }
    let is_text = |json: &&Json<'_>| json.as_str().is_some_and(|text| !text.is_empty());
    let content = message.get("content");
    let parts = content.and_then(Json::as_array).unwrap_or_default();
    let parts = parts.iter().filter_map(|part| part.get("text"));
    let texts: Vec<&Json<'_>> = content.into_iter().chain(parts).filter(is_text).collect();
    if texts.is_empty() {
        return Vec::new();
    }
    vec![ToolResult {
        call: result_of(message),
        texts,
    }]
}

#[cfg(test)]
mod tests {
    use super::*;
    use holdgate_effects::json::LoneSurrogates;

    fn json(text: &str) -> Json<'_> {
        Json::read(text.as_bytes(), 16, LoneSurrogates::Refuse).unwrap()
    }

    #[test]
    fn calls_results_and_texts_are_found() {
        let message = json(
            r#"{"role":"assistant","content":"I will.","tool_calls":[
                {"id":"a","type":"function","function":{"name":"bash","arguments":"{\"command\":\"ls\"}"}},
                {"id":"b","type":"custom","function":null,"custom":{"name":"apply_patch","input":"*** \"x\""}},
                {"function":{"name":"read","arguments":{"path":"x"}}}],
                "function_call":{"name":"old","arguments":""}}"#,
        );
        let said: Vec<_> = mentions(&message);
        let call = |id: &'static str, tool: &'static str, input: &str| {
            made(id, tool, Some(input.to_owned()))
        };
        assert_eq!(
            said,
            [
                Mention::Text("I will."),
                call("a", "bash", r#"{"command":"ls"}"#),
                call("b", "apply_patch", r#"{"input":"*** \"x\""}"#),
                call("read", "read", r#"{"path":"x"}"#),
                call("old", "old", ""),
            ]
        );
        let result =
            json(r#"{"role":"tool","tool_call_id":"a","content":[{"type":"text","text":"x"}]}"#);
        assert_eq!(
            mentions(&result),
            [Mention::Result {
                call: "a",
                in_order: false,
                failed: false,
                texts: vec!["x"]
            }]
        );
        let user = json(r#"{"role":"user","content":"go"}"#);
        assert_eq!(mentions(&user), [Mention::User("go")]);
        let system = json(r#"{"role":"system","content":"go"}"#);
        assert_eq!(mentions(&system), []);
    }

    #[test]
    fn results_have_texts_in_every_form() {
        let check = |message: &str, call: &str, expected: &[&str]| {
            let message = json(message);
            let found = results(&message);
            let texts = found.iter().flat_map(|result| &result.texts);
            let texts: Vec<&str> = texts.filter_map(|text| text.as_str()).collect();
            assert_eq!(texts, expected);
            assert!(found.iter().all(|result| result.call == Some(call)));
        };
        check(
            r#"{"role":"tool","tool_call_id":"a","content":"x"}"#,
            "a",
            &["x"],
        );
        check(
            r#"{"role":"tool","tool_call_id":"a","content":[{"type":"text","text":"x"},{"type":"text","text":"y"}]}"#,
            "a",
            &["x", "y"],
        );
        check(
            r#"{"role":"function","name":"old","content":"x"}"#,
            "old",
            &["x"],
        );
        check(
            r#"{"role":"tool","tool_name":"bash","content":"x"}"#,
            "bash",
            &["x"],
        );
        check(r#"{"role":"user","content":"x"}"#, "", &[]);
    }
}
