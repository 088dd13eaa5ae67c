//! What a message of a conversation says about calls, and the texts that tools returned.

use super::names::{get, get_str, items};
use crate::call::Executor;
use crate::notice;
use crate::request::{Mention, ToolResult};
use holdgate_effects::json::Json;

/// What `message` says, in order.
pub(super) fn mentions<'m>(message: &'m Json<'m>) -> Vec<Mention<'m>> {
    let by_model = get_str(message, "role") == Some("model");
    let mut said = Vec::new();
    for part in items(get(message, "parts")) {
        let is_thought = get(part, "thought") == Some(&Json::Bool(true));
        match get_str(part, "text").filter(|_| !is_thought) {
            // Clients join a notice to the text before it.
            Some(text) if by_model => {
                said.extend(notice::pieces(text).into_iter().map(Mention::Text));
            }
            Some(text) => said.push(Mention::User(text)),
            None => {}
        }
        said.extend(get(part, "functionCall").and_then(call));
        said.extend(get(part, "functionResponse").and_then(result));
    }
    said
}

fn call<'m>(call: &'m Json<'m>) -> Option<Mention<'m>> {
    let tool = get_str(call, "name")?;
    Some(Mention::Call {
        // Without an id, the result names the tool.
        id: id(call, tool).unwrap_or(tool),
        tool: tool.into(),
        runs: Executor::AtClient,
        input: get(call, "args").map(Json::text),
    })
}

fn result<'m>(result: &'m Json<'m>) -> Option<Mention<'m>> {
    let tool = get_str(result, "name").unwrap_or_default();
    let id = id(result, tool);
    let response = get(result, "response");
    let error = response.and_then(|response| response.get("error"));
    Some(Mention::Result {
        call: id.or(Some(tool).filter(|tool| !tool.is_empty()))?,
        in_order: id.is_none(),
        failed: error.is_some_and(|error| *error != Json::Null),
        texts: texts(response)
            .into_iter()
            .filter_map(Json::as_str)
            .collect(),
    })
}

/// The id of a call or a result. Gemini CLI writes the tool's name and `__` before it.
fn id<'m>(json: &'m Json<'m>, tool: &str) -> Option<&'m str> {
    let id = get_str(json, "id").filter(|id| !id.is_empty())?;
    let own = id.strip_prefix(tool).and_then(|id| id.strip_prefix("__"));
    Some(own.filter(|own| !own.is_empty()).unwrap_or(id))
}

/// The results in `message`, in order.
pub(super) fn results<'m>(message: &'m Json<'m>) -> Vec<ToolResult<'m>> {
    let parts = items(get(message, "parts")).iter();
    let results = parts.filter_map(|part| get(part, "functionResponse"));
    let results = results.map(|result| {
        let tool = get_str(result, "name").unwrap_or_default();
        ToolResult {
            call: id(result, tool).or(get_str(result, "name")),
            texts: texts(get(result, "response")),
        }
    });
    results.filter(|result| !result.texts.is_empty()).collect()
}

/// The texts of a result: its strings at any level.
fn texts<'m>(response: Option<&'m Json<'m>>) -> Vec<&'m Json<'m>> {
    let mut texts = Vec::new();
    let mut open: Vec<&Json<'_>> = response.into_iter().collect();
    while let Some(json) = open.pop() {
        match json {
            Json::String(text) if !text.is_empty() => texts.push(json),
            Json::Array(items) => open.extend(items.iter().rev()),
            Json::Object(members) => open.extend(members.iter().rev().map(|(_, value)| value)),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
        }
    }
    texts
}

#[cfg(test)]
mod tests {
    use super::*;
    use holdgate_effects::json::LoneSurrogates;

    fn json(text: &str) -> Json<'_> {
        Json::read(text.as_bytes(), 16, LoneSurrogates::Refuse).unwrap()
    }

    fn made<'m>(id: &'m str, tool: &'m str, input: &str) -> Mention<'m> {
        Mention::Call {
            id,
            tool: tool.into(),
            runs: Executor::AtClient,
            input: Some(input.to_owned()),
        }
    }

    #[test]
    fn calls_results_and_texts_are_found_in_both_spellings() {
        let model = r#"{"role":"model","parts":[
            {"text":"Hm.","thought":true},{"text":"I will."},
            {"functionCall":{"name":"bash","args":{"command":"ls"}},"thoughtSignature":"c2ln"},
            {"functionCall":{"id":"bash__a1","name":"bash","args":{}}}]}"#;
        let user = r#"{"role":"user","parts":[
            {"functionResponse":{"name":"bash","response":{"output":"x","more":["y",1]}}},
            {"functionResponse":{"id":"bash__a1","name":"bash","response":{"error":"no"}}},
            {"text":"go on"}]}"#;
        for (model, user) in [
            (model.to_owned(), user.to_owned()),
            (
                model.replace("functionCall", "function_call"),
                user.replace("functionResponse", "function_response"),
            ),
        ] {
            assert_eq!(
                mentions(&json(&model)),
                [
                    Mention::Text("I will."),
                    made("bash", "bash", r#"{"command":"ls"}"#),
                    made("a1", "bash", "{}"),
                ]
            );
            let result = |call, failed, in_order, texts: &[&'static str]| Mention::Result {
                call,
                in_order,
                failed,
                texts: texts.to_vec(),
            };
            let user = json(&user);
            assert_eq!(
                mentions(&user),
                [
                    result("bash", false, true, &["x", "y"]),
                    result("a1", true, false, &["no"]),
                    Mention::User("go on"),
                ]
            );
            let found = results(&user);
            let calls: Vec<_> = found.iter().map(|result| result.call).collect();
            assert_eq!(calls, [Some("bash"), Some("a1")]);
        }
    }
}
