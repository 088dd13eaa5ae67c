//! A request of Anthropic Messages as one of Chat Completions.

use super::super::translate::{
    Members, Messages, choice_of, dialect_of, finish, function, image_part, text_part,
};
use crate::request::{Bridged, DeclaredTool, Dialect};
use holdgate_effects::json::Json;
use std::collections::HashMap;

/// Members that only have another name at the upstream.
const RENAMED: &[(&str, &str)] = &[
    ("model", "model"),
    ("max_tokens", "max_tokens"),
    ("temperature", "temperature"),
    ("top_p", "top_p"),
    ("top_k", "top_k"),
    ("stop_sequences", "stop"),
];

/// The request as the upstream wants it, and what is noted of it.
pub(super) fn translate(body: &Json<'_>, dialect: Dialect) -> (Json<'static>, Bridged) {
    let mut members = Members::default();
    members.copy(body, RENAMED);
    members.set("messages", messages(body));
    let (tools, declared) = tools(body);
    let (choice, one_at_a_time) = choice(body);
    if one_at_a_time && !tools.is_empty() && !dialect.is_text_only() {
        members.set("parallel_tool_calls", Json::Bool(false));
    }
    let streams = body.get("stream") == Some(&Json::Bool(true));
    let stops = body.get("stop_sequences").and_then(Json::as_array);
    let stops = stops.unwrap_or_default().iter().filter_map(Json::as_str);
    let bridged = Bridged {
        dialect: dialect_of(choice.as_ref(), dialect),
        tools: declared,
        stops: stops.map(str::to_owned).collect(),
        ..Bridged::default()
    };
    (finish(members, tools, choice, streams, dialect), bridged)
}

/// The tools that the client runs. Those of the provider's need a provider that has them.
fn tools(body: &Json<'_>) -> (Vec<Json<'static>>, HashMap<String, DeclaredTool>) {
    let (mut tools, mut declared) = (Vec::new(), HashMap::new());
    for tool in body.get("tools").and_then(Json::as_array).unwrap_or(&[]) {
        let Some((name, schema)) = tool.get_str("name").zip(tool.get("input_schema")) else {
            continue;
        };
        let schema = schema.clone().into_owned();
        tools.push(function(name, tool.get_str("description"), &schema));
        let known = DeclaredTool {
            name: name.to_owned(),
            namespace: None,
            takes_text: false,
            schema,
        };
        declared.insert(name.to_owned(), known);
    }
    (tools, declared)
}

/// Which tool the model may choose, and whether it may call only one at a time.
fn choice(body: &Json<'_>) -> (Option<Json<'static>>, bool) {
    let Some(choice) = body.get("tool_choice") else {
        return (None, false);
    };
    let alone = choice.get("disable_parallel_tool_use") == Some(&Json::Bool(true));
    let choice = match (choice.get_str("type"), choice.get_str("name")) {
        (Some("auto"), _) => Some("auto".into()),
        (Some("any"), _) => Some("required".into()),
        (Some("none"), _) => Some("none".into()),
        (Some("tool"), Some(name)) => Some(choice_of(name)),
        _ => None,
    };
    (choice, alone)
}

fn messages(body: &Json<'_>) -> Json<'static> {
    let mut messages = Messages::default();
    for text in texts(body.get("system")) {
        messages.system(text);
    }
    let all = body.get("messages").and_then(Json::as_array);
    for message in all.unwrap_or_default() {
        let content = message.get("content");
        match message.get_str("role") {
            Some("assistant") => assistant(content, &mut messages),
            Some("system") => {
                for text in texts(content) {
                    messages.system(text);
                }
            }
            _ => user(content, &mut messages),
        }
    }
    messages.into_json()
}

/// A string, or the texts of a list of blocks.
fn texts<'j>(content: Option<&'j Json<'j>>) -> impl Iterator<Item = &'j str> {
    let plain = content.and_then(Json::as_str);
    let blocks = content.and_then(Json::as_array).unwrap_or_default();
    let blocks = blocks.iter().filter_map(|block| block.get_str("text"));
    plain.into_iter().chain(blocks)
}

/// Thinking is left out: the upstream's model did not write it, or forgets it anyway.
fn assistant(content: Option<&Json<'_>>, messages: &mut Messages) {
    if let Some(text) = content.and_then(Json::as_str) {
        return messages.assistant(text);
    }
    for block in content.and_then(Json::as_array).unwrap_or_default() {
        match block.get_str("type") {
            Some("text") => messages.assistant(block.get_str("text").unwrap_or_default()),
            Some("tool_use") => {
                let text = |key| block.get_str(key).unwrap_or_default();
                let input = block.get("input").map(Json::text);
                let input = input.unwrap_or_else(|| "{}".to_owned());
                messages.call(text("id"), text("name"), input);
            }
            _ => {}
        }
    }
}

fn user(content: Option<&Json<'_>>, messages: &mut Messages) {
    if let Some(text) = content.and_then(Json::as_str) {
        return messages.user(text_part(text));
    }
    for block in content.and_then(Json::as_array).unwrap_or_default() {
        if block.get_str("type") == Some("tool_result") {
            let id = block.get_str("tool_use_id").unwrap_or_default();
            messages.result(id, result(block));
        } else if let Some(part) = part(block) {
            messages.user(part);
        }
    }
}

/// What a tool returned.
fn result(block: &Json<'_>) -> Vec<Json<'static>> {
    let content = block.get("content");
    if let Some(text) = content.and_then(Json::as_str) {
        return vec![text_part(text)];
    }
    let blocks = content.and_then(Json::as_array).unwrap_or_default();
    blocks.iter().filter_map(part).collect()
}

/// A text or an image. What has no form at the upstream is named, so that the model knows.
fn part(block: &Json<'_>) -> Option<Json<'static>> {
    let kind = block.get_str("type").unwrap_or_default();
    let source = block.get("source").unwrap_or(&Json::Null);
    let text = |key| source.get_str(key).unwrap_or_default();
    match (kind, source.get_str("type")) {
        ("text", _) => Some(text_part(block.get_str("text").unwrap_or_default())),
        ("image", Some("base64")) => Some(image_part(format!(
            "data:{};base64,{}",
            text("media_type"),
            text("data")
        ))),
        ("image", Some("url")) => Some(image_part(text("url").to_owned())),
        ("document", Some("text")) => Some(text_part(text("data"))),
        ("thinking" | "redacted_thinking", _) => None,
        (kind, _) => Some(text_part(&format!("[{kind} left out]"))),
    }
}
