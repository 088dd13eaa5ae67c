//! A request of Responses as one of Chat Completions.

use super::super::translate::{
    Members, Messages, Untranslatable, choice_of, dialect_of, finish, function, image_part,
    text_part,
};
use crate::request::{Bridged, DeclaredTool, Dialect};
use holdgate_effects::json::Json;
use std::collections::HashMap;

/// Members that only have another name at the upstream.
const RENAMED: &[(&str, &str)] = &[
    ("model", "model"),
    ("max_output_tokens", "max_tokens"),
    ("temperature", "temperature"),
    ("top_p", "top_p"),
];

/// Groups of tools whose names stand for themselves.
const OWN_NAMESPACES: &[&str] = &["functions", "collaboration"];

/// The request as the upstream wants it, and what is noted of it.
pub(super) fn translate(
    body: &Json<'_>,
    dialect: Dialect,
) -> Result<(Json<'static>, Bridged), Untranslatable> {
    let is_set = |key| body.get(key).is_some_and(|value| *value != Json::Null);
    if is_set("previous_response_id") || is_set("conversation") {
        return Err(Untranslatable::Unsupported(
            "it keeps no responses: send the whole conversation in `input`, without \
             `previous_response_id` and `conversation`",
        ));
    }
    let mut members = Members::default();
    members.copy(body, RENAMED);
    if let Some(format) = format(body) {
        members.set("response_format", format);
    }
    members.set("messages", messages(body));
    let mut tools = Tools::default();
    tools.declare(body.get("tools"), None);
    for item in items(body) {
        if item.get_str("type") == Some("additional_tools") {
            tools.declare(item.get("tools"), None);
        }
    }
    let alone = body.get("parallel_tool_calls") == Some(&Json::Bool(false));
    if alone && !tools.functions.is_empty() && !dialect.is_text_only() {
        members.set("parallel_tool_calls", Json::Bool(false));
    }
    let choice = choice(body);
    let streams = body.get("stream") == Some(&Json::Bool(true));
    let bridged = Bridged {
        dialect: dialect_of(choice.as_ref(), dialect),
        tools: tools.declared,
        ..Bridged::default()
    };
    let request = finish(members, tools.functions, choice, streams, dialect);
    Ok((request, bridged))
}

/// The tools of a request, as they are found.
#[derive(Debug, Default)]
struct Tools {
    functions: Vec<Json<'static>>,
    declared: HashMap<String, DeclaredTool>,
}

impl Tools {
    /// Takes the tools that the client runs. Those of the provider's need a provider that has them.
    fn declare(&mut self, tools: Option<&Json<'_>>, namespace: Option<&str>) {
        for tool in tools.and_then(Json::as_array).unwrap_or_default() {
            let Some(name) = tool.get_str("name") else {
                continue;
            };
            let description = tool.get_str("description");
            match (tool.get_str("type"), tool.get("parameters")) {
                (Some("namespace"), _) => self.declare(tool.get("tools"), Some(name)),
                (Some("function"), schema) => {
                    let schema = schema.cloned().map(Json::into_owned);
                    let schema = schema.filter(|schema| schema.as_object().is_some());
                    let schema = schema.unwrap_or_else(|| Json::Object(Vec::new()));
                    self.add(name, namespace, description, (false, schema));
                }
                (Some("custom"), _) => {
                    let description = as_text(description, tool.get("format"));
                    self.add(name, namespace, Some(&description), (true, one_text()));
                }
                _ => {}
            }
        }
    }

    fn add(
        &mut self,
        name: &str,
        namespace: Option<&str>,
        description: Option<&str>,
        (takes_text, schema): (bool, Json<'static>),
    ) {
        let known = wire_name(name, namespace);
        // One that is declared again, or that another group's tool would hide behind.
        if self.declared.contains_key(&known) {
            return;
        }
        self.functions.push(function(&known, description, &schema));
        let tool = DeclaredTool {
            name: name.to_owned(),
            namespace: namespace.map(str::to_owned),
            takes_text,
            schema,
        };
        self.declared.insert(known, tool);
    }
}

/// The name of a tool at the upstream, which has no groups of tools.
fn wire_name(name: &str, namespace: Option<&str>) -> String {
    match namespace.filter(|space| !space.is_empty() && !OWN_NAMESPACES.contains(space)) {
        Some(space) => format!("{space}__{name}"),
        None => name.to_owned(),
    }
}

/// The schema of a tool that takes a text.
fn one_text() -> Json<'static> {
    let input = Json::object([("type", "string".into())]);
    Json::object([
        ("type", "object".into()),
        ("properties", Json::object([("input", input)])),
        ("required", Json::Array(vec!["input".into()])),
    ])
}

/// The description of a tool that takes a text, with the grammar that the text must follow.
fn as_text(description: Option<&str>, format: Option<&Json<'_>>) -> String {
    let mut text = description.unwrap_or_default().to_owned();
    text.push_str("\n\nPass the whole text as the parameter `input`.");
    if let Some(grammar) = format.and_then(|format| format.get_str("definition")) {
        text.push_str(" It must follow this grammar:\n");
        text.push_str(grammar);
    }
    text
}

/// Which tool the model may choose.
fn choice(body: &Json<'_>) -> Option<Json<'static>> {
    let choice = body.get("tool_choice")?;
    if let Some(word) = choice.as_str() {
        return Some(word.to_owned().into());
    }
    match (choice.get_str("type"), choice.get_str("name")) {
        (Some("function" | "custom"), Some(name)) => {
            Some(choice_of(&wire_name(name, choice.get_str("namespace"))))
        }
        (Some("allowed_tools"), _) => Some(choice.get_str("mode")?.to_owned().into()),
        _ => None,
    }
}

/// The form that the answer must have.
fn format(body: &Json<'_>) -> Option<Json<'static>> {
    let format = body.get("text")?.get("format")?;
    match format.get_str("type")? {
        "json_object" => Some(Json::object([("type", "json_object".into())])),
        "json_schema" => {
            let mut schema = Members::default();
            let names = [("name", "name"), ("schema", "schema"), ("strict", "strict")];
            schema.copy(format, &names);
            Some(Json::object([
                ("type", "json_schema".into()),
                ("json_schema", schema.into_json()),
            ]))
        }
        _ => None,
    }
}

fn items<'j>(body: &'j Json<'j>) -> &'j [Json<'j>] {
    body.get("input")
        .and_then(Json::as_array)
        .unwrap_or_default()
}

fn messages(body: &Json<'_>) -> Json<'static> {
    let mut messages = Messages::default();
    if let Some(instructions) = body.get_str("instructions") {
        messages.system(instructions);
    }
    if let Some(text) = body.get_str("input") {
        messages.user(text_part(text));
    }
    for item in items(body) {
        add(item, &mut messages);
    }
    messages.into_json()
}

/// An item of the conversation. Reasoning is left out, and so is what only the provider knows.
fn add(item: &Json<'_>, messages: &mut Messages) {
    let kind = item.get_str("type").unwrap_or("message");
    let id = item.get_str("call_id").or_else(|| item.get_str("id"));
    match (kind, id) {
        ("message", _) => message(item, messages),
        (kind, Some(id)) if kind.ends_with("_output") => {
            messages.result(id, parts(item.get("output")));
        }
        (kind, Some(id)) if kind.ends_with("_call") && item.get("call_id").is_some() => {
            let name = item.get_str("name").unwrap_or(kind);
            let name = wire_name(name, item.get_str("namespace"));
            messages.call(id, &name, arguments(item));
        }
        _ => {}
    }
}

/// The arguments of a call, however its item has them.
fn arguments(item: &Json<'_>) -> String {
    match (item.get("arguments"), item.get("input")) {
        (Some(Json::String(arguments)), _) => arguments.clone().into_owned(),
        (Some(arguments), _) => arguments.text(),
        (None, Some(input)) => Json::object([("input", input.clone())]).text(),
        (None, None) => {
            let keys = ["action", "actions", "operation"];
            let found = keys.iter().find_map(|key| item.get(key));
            found.map_or_else(|| "{}".to_owned(), Json::text)
        }
    }
}

fn message(item: &Json<'_>, messages: &mut Messages) {
    let parts = parts(item.get("content"));
    let texts = parts.iter().filter_map(|part| part.get_str("text"));
    match item.get_str("role") {
        Some("assistant") => texts.for_each(|text| messages.assistant(text)),
        Some("system" | "developer") => texts.for_each(|text| messages.system(text)),
        _ => parts.into_iter().for_each(|part| messages.user(part)),
    }
}

/// The texts and images of a content or an output: a text, or a list of parts.
fn parts(content: Option<&Json<'_>>) -> Vec<Json<'static>> {
    let part = |part: &Json<'_>| {
        let image = part.get("image_url");
        let url = image.and_then(|image| image.as_str().or_else(|| image.get_str("url")));
        let text = part.get_str("text").or_else(|| part.get_str("refusal"));
        match (text, url) {
            (Some(text), _) => text_part(text),
            (None, Some(url)) => image_part(url.to_owned()),
            (None, None) => {
                let kind = part.get_str("type").unwrap_or("part");
                text_part(&format!("[{kind} left out]"))
            }
        }
    };
    match content {
        Some(Json::String(text)) => vec![text_part(text)],
        Some(Json::Array(list)) => list.iter().map(part).collect(),
        None | Some(Json::Null) => Vec::new(),
        // A result that is an object, such as that of a search.
        Some(other) => vec![text_part(&other.text())],
    }
}
