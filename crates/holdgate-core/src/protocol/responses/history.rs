//! What an item of a conversation says about calls.

use super::item::{Payload, id, input, tool};
use crate::call::Executor;
use crate::request::Mention;
use holdgate_effects::json::{Json, LoneSurrogates};

/// How messages begin that a client writes in the user's name: about the place, and what files of
/// the project say.
const FROM_CLIENT: &[&str] = &[
    "<environment_context>",
    "<user_instructions>",
    "<permissions instructions>",
    "<skills_instructions>",
    "# AGENTS.md instructions",
    "<INSTRUCTIONS>",
    "<turn_aborted>",
    "<subagent_notification>",
];

/// Items of what the provider ran: the call and its result are one.
const RUN_BY_PROVIDER: &[&str] = &[
    "web_search_call",
    "file_search_call",
    "code_interpreter_call",
    "image_generation_call",
    "mcp_call",
];

/// What `item` says, in order.
pub(super) fn mentions<'m>(item: &'m Json<'m>) -> Vec<Mention<'m>> {
    if let Some(text) = item.as_str() {
        return vec![Mention::User(text)];
    }
    let kind = item.get_str("type").unwrap_or("message");
    match kind {
        "message" => said(item),
        kind if RUN_BY_PROVIDER.contains(&kind) => run_by_provider(kind, item),
        kind if Payload::of(kind).is_some() => called(kind, item).into_iter().collect(),
        kind if kind.ends_with("_output") => ended(item).into_iter().collect(),
        _ => Vec::new(),
    }
}

fn said<'m>(message: &'m Json<'m>) -> Vec<Mention<'m>> {
    let texts = texts_of(message).into_iter();
    match message.get_str("role") {
        Some("assistant") => texts.map(Mention::Text).collect(),
        Some("user") => texts
            .filter(|text| !is_from_client(text))
            .map(Mention::User)
            .collect(),
        _ => Vec::new(),
    }
}

/// The texts of a message.
pub(super) fn texts_of<'m>(message: &'m Json<'m>) -> Vec<&'m str> {
    let content = message.get("content");
    if let Some(text) = content.and_then(Json::as_str) {
        return vec![text];
    }
    let parts = content.and_then(Json::as_array).unwrap_or(&[]).iter();
    let text = |part: &'m Json<'m>| part.get_str("text").or_else(|| part.get_str("refusal"));
    parts.filter_map(text).collect()
}

/// Whether the client says this in the user's name.
pub(super) fn is_from_client(text: &str) -> bool {
    let text = text.trim_start();
    FROM_CLIENT.iter().any(|start| text.starts_with(start))
}

fn called<'m>(kind: &'m str, item: &'m Json<'m>) -> Option<Mention<'m>> {
    let payload = Payload::of(kind)?;
    let tool = match payload {
        Payload::Arguments | Payload::Text => tool(item)?.into(),
        Payload::Members(_) => kind.into(),
    };
    Some(Mention::Call {
        id: id(item)?,
        tool,
        runs: Executor::AtClient,
        input: input(payload, item),
    })
}

fn run_by_provider<'m>(kind: &'m str, item: &'m Json<'m>) -> Vec<Mention<'m>> {
    let Some(id) = id(item) else {
        return Vec::new();
    };
    let arguments = item.get_str("arguments").map(str::to_owned);
    let told = ["action", "code", "queries"].iter();
    let told = told.filter_map(|key| Some(((*key).into(), item.get(key)?.clone())));
    let call = Mention::Call {
        id,
        tool: tool(item).map_or(kind.into(), Into::into),
        runs: Executor::AtProvider,
        input: arguments.or_else(|| Some(Json::Object(told.collect()).text())),
    };
    let shown = ["output", "outputs", "results"]
        .iter()
        .filter_map(|key| item.get(key));
    let error = item.get("error").is_some_and(|error| *error != Json::Null);
    let result = Mention::Result {
        call: id,
        in_order: false,
        failed: error || item.get_str("status") == Some("failed"),
        texts: shown.flat_map(texts).collect(),
    };
    vec![call, result]
}

fn ended<'m>(item: &'m Json<'m>) -> Option<Mention<'m>> {
    let output = item.get("output").unwrap_or(&Json::Null);
    let texts = texts(output);
    let status = item.get_str("status");
    Some(Mention::Result {
        call: id(item)?,
        in_order: false,
        failed: matches!(status, Some("failed" | "incomplete"))
            || texts.first().is_some_and(|text| reports_failure(text))
            || exit_code(output).is_some_and(|code| code != "0"),
        texts,
    })
}

/// The exit code that a list of outputs ends with.
fn exit_code<'m>(output: &'m Json<'m>) -> Option<&'m str> {
    let outcome = output.as_array()?.last()?.get("outcome")?;
    match outcome.get("exit_code") {
        Some(Json::Number(code)) => Some(code),
        _ => outcome.get_str("type").filter(|kind| *kind != "exit"),
    }
}

/// Whether a result says in its head that the command failed, as Codex writes it before the output.
fn reports_failure(text: &str) -> bool {
    let old = text.starts_with("{\"output\"") || text.starts_with("{\"metadata\"");
    if old && let Ok(json) = Json::read(text.as_bytes(), 8, LoneSurrogates::Replace) {
        let code = json
            .get("metadata")
            .and_then(|about| about.get("exit_code"));
        return matches!(code, Some(Json::Number(code)) if code != "0");
    }
    let head = text
        .lines()
        .take_while(|line| !line.starts_with("Output:"))
        .take(8);
    head.into_iter().any(|line| {
        let code = ["Process exited with code ", "Exit code: "];
        let code = code.iter().find_map(|start| line.strip_prefix(start));
        code.is_some_and(|code| code.trim() != "0")
            || line.starts_with("Script failed")
            || line.starts_with("unsupported call: ")
            || line.starts_with("failed to parse function arguments")
    })
}

/// Members that say how a result is written.
const FORM: &[&str] = &[
    "type",
    "id",
    "call_id",
    "image_url",
    "file_id",
    "file_data",
    "detail",
];

/// The texts of a result: all strings but what says how they are written.
fn texts<'m>(content: &'m Json<'m>) -> Vec<&'m str> {
    let mut texts = Vec::new();
    let mut open = vec![content];
    while let Some(json) = open.pop() {
        match json {
            Json::String(text) => texts.push(text.as_ref()),
            Json::Array(items) => open.extend(items.iter().rev()),
            Json::Object(members) => {
                let members = members.iter().rev();
                let texts = members.filter(|(key, _)| !FORM.contains(&&**key));
                open.extend(texts.map(|(_, value)| value));
            }
            Json::Null | Json::Bool(_) | Json::Number(_) => {}
        }
    }
    texts
}

#[cfg(test)]
mod tests;
