//! What a request says about the session and the tools.

use super::history::{is_from_client, mentions, texts_of};
use super::item::{HOSTED_SEARCH, HOSTED_SHELL};
use super::results::results;
use crate::request::{Layout, Request, RequestFacts};
use bytes::Bytes;
use holdgate_effects::json::{Json, JsonError, LoneSurrogates};
use std::cell::{Cell, RefCell};
use std::sync::Arc;

static LAYOUT: Layout = Layout {
    messages: "input",
    content: "content",
    system: &[],
    mentions,
    results,
};

/// Items at the start of a conversation that are searched for its root and the working folder.
const MAX_HEAD: usize = 32;
/// Bytes of the root.
const MAX_ROOT: usize = 64 << 10;
/// Depth of the parts that are read here.
const MAX_DEPTH: usize = 200;
/// Items with more tools: code mode has none in `tools`.
const MORE_TOOLS: &str = "additional_tools";

/// Tools that run at the provider, by the start of their type, and the type that is noted for them.
const PROVIDER_TOOLS: &[(&str, &str)] = &[
    ("web_search", "web_search"),
    ("file_search", "file_search"),
    ("code_interpreter", "code_interpreter"),
    ("image_generation", "image_generation"),
];

/// Members that name the session, the best first.
const SESSION_MEMBERS: &[&str] = &[
    "client_metadata",
    "conversation",
    "metadata",
    "prompt_cache_key",
];

/// Finds the parts of a request, and reads all but its messages.
pub(super) fn read(body: Bytes) -> Result<Request, JsonError> {
    let is_codex = Cell::new(false);
    let sessions = RefCell::new(Vec::new());
    let mut request = Request::read(body, &LAYOUT, |facts: &mut RequestFacts, name, value| {
        if let Some(rank) = SESSION_MEMBERS.iter().position(|member| *member == name) {
            let named = session(name, value).map(|session| (rank, session));
            sessions.borrow_mut().extend(named);
        }
        match name {
            "input" => facts.root = beginning(value.as_str().unwrap_or_default()),
            "client_metadata" => {
                let mut members = value.as_object().unwrap_or_default().iter();
                is_codex.set(members.any(|(key, _)| key.starts_with("x-codex-")));
            }
            "tools" => tools(value, facts),
            _ => {}
        }
    })?;
    let mut facts = (*request.facts).clone();
    facts.session = sessions
        .into_inner()
        .into_iter()
        .min()
        .map(|(_, session)| session);
    head(&request, is_codex.get(), &mut facts);
    request.facts = Arc::new(facts);
    Ok(request)
}

/// The session that a member names.
fn session(member: &str, value: &Json<'_>) -> Option<String> {
    let text = |key| value.get_str(key);
    let id = match member {
        "client_metadata" | "metadata" => text("session_id").or_else(|| text("thread_id")),
        "conversation" => value.as_str().or_else(|| text("id")),
        // Codex puts the id of its session there; others share one key between all users.
        _ => value.as_str().filter(|key| is_uuid(key)),
    };
    id.filter(|id| !id.is_empty()).map(str::to_owned)
}

fn is_uuid(text: &str) -> bool {
    let groups: Vec<usize> = text.split('-').map(str::len).collect();
    let plain = text.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
    plain && groups == [8, 4, 4, 4, 12]
}

/// What `tools` says: which functions need arguments, and what the provider may run.
fn tools(tools: &Json<'_>, facts: &mut RequestFacts) {
    for tool in tools.as_array().unwrap_or(&[]) {
        let text = |key| tool.get_str(key);
        let kind = text("type").unwrap_or_default();
        let required = tool
            .get("parameters")
            .and_then(|schema| schema.get("required"));
        let required = required.and_then(Json::as_array).unwrap_or(&[]);
        if let ("function", Some(name), false) = (kind, text("name"), required.is_empty()) {
            facts.tools_with_required.insert(name.to_owned());
        }
        provider_tool(kind, tool, facts);
    }
}

fn provider_tool(kind: &str, tool: &Json<'_>, facts: &mut RequestFacts) {
    let provider = &mut facts.provider;
    let mut declare = |kind: &str| provider.tools.insert(kind.to_owned());
    if let Some((_, known)) = PROVIDER_TOOLS
        .iter()
        .find(|(start, _)| kind.starts_with(start))
    {
        declare(known);
    }
    let hosted = tool
        .get("environment")
        .and_then(|place| place.get_str("type"));
    match kind {
        "mcp" => {
            declare(kind);
            let server = tool.get_str("server_label");
            provider.servers.extend(server.map(str::to_owned));
        }
        "shell" if hosted.is_some_and(|place| place.starts_with("container")) => {
            declare(HOSTED_SHELL);
        }
        "tool_search" if tool.get_str("execution") != Some("client") => {
            declare(HOSTED_SEARCH);
        }
        // Its own functions are not noted: a call that cannot run would need the namespace, too.
        "namespace" => {
            for tool in tool.get("tools").and_then(Json::as_array).unwrap_or(&[]) {
                provider_tool(tool.get_str("type").unwrap_or_default(), tool, facts);
            }
        }
        _ => {}
    }
}

/// Reads what the first items say, and the items that declare tools.
fn head(request: &Request, is_codex: bool, facts: &mut RequestFacts) {
    let read = |item| Json::read(item, MAX_DEPTH, LoneSurrogates::Replace).ok();
    let mut root = None;
    for (at, raw) in request.messages().enumerate() {
        let declares = memchr::memmem::find(raw, MORE_TOOLS.as_bytes()).is_some();
        if at >= MAX_HEAD && !declares {
            continue;
        }
        // An item that cannot be read is reported when the conversation is.
        let Some(item) = read(raw) else {
            continue;
        };
        if item.get_str("type") == Some(MORE_TOOLS) {
            for tool in item.get("tools").and_then(Json::as_array).unwrap_or(&[]) {
                provider_tool(tool.get_str("type").unwrap_or_default(), tool, facts);
            }
        }
        if at >= MAX_HEAD || item.get_str("role") != Some("user") {
            continue;
        }
        for text in texts_of(&item) {
            if is_codex && facts.working_dir.is_none() && root.is_none() {
                facts.working_dir = working_dir(text);
            }
            if !is_from_client(text) {
                root.get_or_insert_with(|| beginning(text));
            }
        }
    }
    // Developers' messages are the same in all conversations.
    if let Some(root) = root {
        facts.root = root;
    }
}

fn beginning(text: &str) -> String {
    let end = text.floor_char_boundary(MAX_ROOT);
    text.get(..end).unwrap_or_default().to_owned()
}

/// Codex names its working folder in a message of its own before the user's first. What users and
/// tools say is ignored: the project decides what may be deleted.
fn working_dir(text: &str) -> Option<String> {
    let context = text.trim().strip_prefix("<environment_context>")?;
    let (_, rest) = context.split_once("<cwd>")?;
    let (folder, _) = rest.split_once("</cwd>")?;
    let folder = folder
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&");
    folder.starts_with('/').then_some(folder)
}

#[cfg(test)]
mod tests;
