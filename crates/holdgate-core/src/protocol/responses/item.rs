//! An item of the output: what it can do, and how its call is read and written.

use super::super::{Declared, is_call};
use crate::call::{Executor, Fault, HeldCall, ToolCall};
use holdgate_effects::json::{Json, LoneSurrogates, fold, shorten, write_string};
use std::hash::{BuildHasher as _, RandomState};

/// Items that can cause no action, whatever the request declares: the model's words.
const WORDS: &[&str] = &["message", "reasoning", "compaction", "compaction_summary"];

/// Items of what the provider ran, by the type of the tool that the request must declare.
const RUN_BY_PROVIDER: &[(&str, &str)] = &[
    ("web_search_call", "web_search"),
    ("file_search_call", "file_search"),
    ("code_interpreter_call", "code_interpreter"),
    ("image_generation_call", "image_generation"),
    ("mcp_call", "mcp"),
    ("mcp_list_tools", "mcp"),
    ("shell_call", HOSTED_SHELL),
    ("shell_call_output", HOSTED_SHELL),
    ("tool_search_call", HOSTED_SEARCH),
    ("tool_search_output", HOSTED_SEARCH),
];

/// How a `shell` is declared that runs in a container of the provider's.
pub(super) const HOSTED_SHELL: &str = "shell (hosted)";
/// How a `tool_search` is declared that the provider runs.
pub(super) const HOSTED_SEARCH: &str = "tool_search (hosted)";

/// Members that hold the parts of an item's content.
const CONTENT: &[&str] = &["content", "summary"];

/// Kinds of content that hold words.
const PARTS: &[&str] = &[
    "output_text",
    "refusal",
    "reasoning_text",
    "summary_text",
    "text",
    "output_audio",
];

/// Namespaces of a client's own tools. Tools of any other are named with it.
const OWN_NAMESPACES: &[&str] = &["functions", "collaboration"];

/// How an item carries the input of its call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Payload {
    /// `arguments` is a text of JSON.
    Arguments,
    /// `input` is a text of any kind.
    Text,
    /// These members are the input.
    Members(&'static [&'static str]),
}

impl Payload {
    /// How items of this kind carry it; `None` if they are unknown.
    pub(super) fn of(kind: &str) -> Option<Payload> {
        match kind {
            "function_call" | "mcp_approval_request" => Some(Payload::Arguments),
            "custom_tool_call" => Some(Payload::Text),
            "local_shell_call" | "shell_call" => Some(Payload::Members(&["action"])),
            "apply_patch_call" => Some(Payload::Members(&["operation"])),
            "computer_call" => Some(Payload::Members(&["action", "actions"])),
            "tool_search_call" => Some(Payload::Members(&["arguments"])),
            _ => None,
        }
    }

    /// The members that hold it.
    pub(super) fn members(self) -> &'static [&'static str] {
        match self {
            Payload::Arguments => &["arguments"],
            Payload::Text => &["input"],
            Payload::Members(members) => members,
        }
    }
}

/// An item, by what it can do.
pub(super) enum Item {
    Inert,
    /// A call, and its input as deltas would bring it.
    Call(Box<HeldCall>, String),
}

impl Declared {
    /// What an item of the output is.
    pub(super) fn item(&self, kind: &str, item: &Json<'_>) -> Item {
        let inert = self.is_inert(kind, item);
        let payload = Payload::of(kind).map_or(&[][..], Payload::members);
        let is_other = |key: &str| key != "type" && (inert || !payload.contains(&key));
        let members = item.as_object().unwrap_or_default().iter();
        let mut others = members.filter(|(key, _)| is_other(key));
        // What the provider ran tells about its action; words and calls have no second one.
        let told = inert && !WORDS.contains(&kind);
        let acts = |key: &str, value: &Json<'_>| {
            !(told || inert && CONTENT.contains(&key)) && member_acts(key, value)
        };
        let nested = others.any(|(key, value)| is_call(key, value) || acts(key, value));
        let ambiguous = |json: &Json<'_>| json.ambiguous_key().map(|key| shorten(key, 40));
        if inert && !nested && ambiguous(item).is_none() && has_words_only(item) {
            return Item::Inert;
        }
        let (mut held, written) = call(kind, item);
        if nested {
            held.fail(Fault::NestedCall);
        } else if let Some(key) = ambiguous(if inert { item } else { &held.envelope }) {
            held.fail(Fault::AmbiguousKey(key));
        }
        Item::Call(Box::new(held), written)
    }

    fn is_inert(&self, kind: &str, item: &Json<'_>) -> bool {
        let provider = &self.request.provider;
        // The item itself may say that the client is to run it.
        let place = item.get("environment").and_then(|at| at.get_str("type"));
        let elsewhere = place.is_none_or(|place| place.starts_with("container"))
            && item.get_str("execution").is_none_or(|by| by == "server");
        let declared = |(of, tool): &(&str, &str)| {
            let known = match item.get_str("server_label") {
                Some(server) => provider.servers.contains(server),
                None => *tool != "mcp",
            };
            *of == kind && provider.tools.contains(*tool) && known
        };
        WORDS.contains(&kind)
            || self.inert.iter().any(|inert| inert == kind)
            || elsewhere && RUN_BY_PROVIDER.iter().any(declared)
    }
}

/// Whether the parts of its content are of known kinds.
fn has_words_only(item: &Json<'_>) -> bool {
    let mut contents = CONTENT.iter().filter_map(|key| item.get(key));
    contents.all(|content| match content {
        Json::Null | Json::String(_) => true,
        Json::Array(parts) => parts.iter().all(is_words),
        Json::Bool(_) | Json::Number(_) | Json::Object(_) => false,
    })
}

/// Whether a part of the content holds words, and nothing else.
pub(super) fn is_words(part: &Json<'_>) -> bool {
    let kind = part.get_str("type");
    kind.is_some_and(|kind| PARTS.contains(&kind)) && !could_act(part)
}

/// The name under which a call's tool is judged.
pub(super) fn tool(item: &Json<'_>) -> Option<String> {
    let name = item.get_str("name")?;
    let space = ["namespace", "server_label"]
        .iter()
        .find_map(|key| item.get_str(key));
    Some(
        match space.filter(|space| !space.is_empty() && !OWN_NAMESPACES.contains(space)) {
            Some(space) if space.starts_with("mcp__") => format!("{space}__{name}"),
            Some(space) => format!("mcp__{space}__{name}"),
            None => name.to_owned(),
        },
    )
}

/// The id by which the result of an item's call names it.
pub(super) fn id<'j>(item: &'j Json<'_>) -> Option<&'j str> {
    item.get_str("call_id").or_else(|| item.get_str("id"))
}

/// The call of an item, without its input.
pub(in super::super) fn held_item(kind: &str, item: &Json<'_>) -> HeldCall {
    let (mut held, _) = call(kind, item);
    held.start_input.clear();
    held
}

/// The call of an item, and its input as deltas would bring it.
fn call(kind: &str, item: &Json<'_>) -> (HeldCall, String) {
    let id = id(item).map(str::to_owned);
    let Some(payload) = Payload::of(kind) else {
        let runs = Executor::Unknown(shorten(kind, 80));
        return (HeldCall::new(runs, id, None, None), String::new());
    };
    let name = match payload {
        Payload::Arguments | Payload::Text => tool(item),
        Payload::Members(_) => Some(kind.to_owned()),
    };
    let mut envelope = item.clone();
    for member in payload.members() {
        if item.get(member).is_some() {
            envelope.set(member, Json::Null);
        }
    }
    let held = |input| {
        let held = HeldCall::new(Executor::AtClient, id.clone(), name.clone(), input);
        held.with_envelope(envelope.clone())
    };
    if let Some(input) = input(payload, item) {
        let written = as_deltas(kind, payload, item, &input);
        return (held(Some(input)), written);
    }
    let mut held = held(None);
    held.fail(Fault::NotAnObject);
    (held, String::new())
}

/// The input of an item's call as a JSON object, in text; `None` if the item has none.
pub(super) fn input(payload: Payload, item: &Json<'_>) -> Option<String> {
    match payload {
        Payload::Arguments => Some(item.get_str("arguments")?.to_owned()),
        Payload::Text => {
            let mut text = String::from("{\"input\":");
            write_string(item.get_str("input")?, &mut text);
            text.push('}');
            Some(text)
        }
        Payload::Members(members) => {
            let members = members.iter();
            let found = members.filter_map(|key| Some(((*key).into(), item.get(key)?.clone())));
            let found: Vec<_> = found.collect();
            (!found.is_empty()).then(|| Json::Object(found).text())
        }
    }
}

/// The same as the deltas of its item would bring it, one after the other.
fn as_deltas(kind: &str, payload: Payload, item: &Json<'_>, input: &str) -> String {
    let text = |value: Option<&Json<'_>>| match value {
        Some(Json::String(text)) => text.clone().into_owned(),
        _ => String::new(),
    };
    match (payload, kind) {
        (Payload::Arguments, _) => input.to_owned(),
        (Payload::Text, _) => text(item.get("input")),
        (Payload::Members(_), "shell_call") => commands(item)
            .iter()
            .map(|command| text(Some(command)))
            .collect(),
        (Payload::Members(_), "apply_patch_call") => text(
            item.get("operation")
                .and_then(|operation| operation.get("diff")),
        ),
        (Payload::Members(_), _) => String::new(),
    }
}

/// The commands of a `shell_call`.
pub(super) fn commands<'j>(item: &'j Json<'j>) -> &'j [Json<'j>] {
    let commands = item.get("action").and_then(|action| action.get("commands"));
    commands.and_then(Json::as_array).unwrap_or_default()
}

/// The item of a call, written from what was judged.
pub(super) fn judged(call: &ToolCall) -> Json<'static> {
    let mut item = call.envelope.clone();
    let kind = item.get_str("type").unwrap_or_default().to_owned();
    put(&mut item, &kind, &call.input, &call.text);
    item
}

/// Puts an input into its item; `text` is the same in its compact form.
fn put(item: &mut Json<'static>, kind: &str, input: &Json<'static>, text: &str) {
    match Payload::of(kind) {
        Some(Payload::Arguments) => item.set("arguments", text.to_owned().into()),
        Some(Payload::Text) => {
            let text = input.get("input").cloned().unwrap_or(Json::Null);
            item.set("input", text);
        }
        Some(Payload::Members(_)) => {
            for (key, value) in input.as_object().unwrap_or_default() {
                item.set(key, value.clone());
            }
        }
        None => {}
    }
}

/// The item with its arguments in their compact form, as [`judged`] writes them.
pub(super) fn compact(item: &Json<'_>) -> Json<'static> {
    let mut item = item.clone().into_owned();
    let arguments = item.get_str("arguments").map(str::to_owned);
    if let Some(arguments) = arguments {
        let read = Json::read(
            arguments.as_bytes(),
            super::MAX_DEPTH,
            LoneSurrogates::Refuse,
        );
        let text = read.map_or_else(|_| "{}".to_owned(), |json| json.text());
        item.set("arguments", text.into());
    }
    item
}

/// Identifies an item, whatever its number and its state.
pub(super) fn digest(item: &Json<'_>, keys: &RandomState) -> u64 {
    let members = item.as_object().unwrap_or_default().iter();
    let told = members.filter(|(key, _)| key != "id" && key != "status");
    // Some servers spell the arguments anew in the final response.
    let plain = |key: &str, value: &Json<'_>| {
        let text = value.as_str().filter(|_| key == "arguments");
        let text = text.unwrap_or_default().as_bytes();
        let read = Json::read(text, super::MAX_DEPTH, LoneSurrogates::Refuse);
        read.map_or_else(|_| value.text(), |json| json.text())
    };
    let told = told.map(|(key, value)| (&**key, plain(key, value)));
    let mut told: Vec<(&str, String)> = told.collect();
    told.sort_unstable();
    keys.hash_one(told)
}

/// Whether a value that was sent while an item grew can become this one.
pub(super) fn grows_to(before: &Json<'_>, now: &Json<'_>) -> bool {
    match (before, now) {
        (Json::Null, _) => true,
        (Json::String(before), Json::String(now)) => now.starts_with(&**before),
        (Json::Array(before), Json::Array(now)) => {
            let pairs = before.iter().zip(now);
            before.len() <= now.len() && pairs.into_iter().all(|(b, n)| grows_to(b, n))
        }
        (Json::Object(before), Json::Object(_)) => before
            .iter()
            .all(|(key, b)| now.get(key).is_some_and(|n| grows_to(b, n))),
        (before, now) => before == now,
    }
}

/// Keys that can carry an action, wherever an unknown event has them.
const ACTION_KEYS: &[&str] = &[
    "item",
    "response",
    "output",
    "content",
    "part",
    "delta",
    "input",
    "arguments",
    "action",
    "actions",
    "operation",
    "command",
    "commands",
    "tool_calls",
    "function_call",
];

/// Whether an unknown event could carry an action.
pub(super) fn could_act(json: &Json<'_>) -> bool {
    match json {
        Json::Object(members) => members.iter().any(|(key, value)| member_acts(key, value)),
        Json::Array(items) => items.iter().any(could_act),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => false,
    }
}

/// The same for one member.
pub(super) fn member_acts(key: &str, value: &Json<'_>) -> bool {
    ACTION_KEYS.contains(&fold(key).as_str()) || could_act(value)
}
