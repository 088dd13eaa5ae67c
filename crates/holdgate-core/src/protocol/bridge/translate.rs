//! A client's request as the upstream wants it.

use super::Side;
use crate::request::{Bridged, Dialect, MAX_DEPTH};
use bytes::Bytes;
use holdgate_effects::json::{Json, JsonError, LoneSurrogates};
use std::borrow::Cow;
use std::sync::Arc;

/// A request that was translated.
#[derive(Debug)]
pub struct Translated {
    /// The path at the upstream.
    pub path: String,
    /// The body.
    pub body: Bytes,
    /// What the answer is read with.
    pub bridged: Arc<Bridged>,
}

/// Why a request cannot be translated.
#[derive(Debug, thiserror::Error)]
pub enum Untranslatable {
    /// Not acceptable JSON.
    #[error("the request body is not valid JSON: {0}")]
    Json(#[from] JsonError),
    /// Something that the upstream's protocol does not have.
    #[error("the upstream speaks another protocol, and {0}")]
    Unsupported(&'static str),
}

/// Translates the request to `path`.
pub(super) fn request(
    side: &dyn Side,
    path: &str,
    body: &[u8],
    dialect: Dialect,
) -> Result<Translated, Untranslatable> {
    let json = Json::read(body, MAX_DEPTH, LoneSurrogates::Replace)?;
    let (chat, mut bridged) = side.request(&json, dialect)?;
    bridged.turn = crc32fast::hash(body);
    let path = path.trim_end_matches('/');
    let before = path.len().saturating_sub(side.path().len());
    let before = path.get(..before).unwrap_or_default();
    Ok(Translated {
        path: format!("{before}/chat/completions"),
        body: chat.text().into(),
        bridged: Arc::new(bridged),
    })
}

/// The members of an object, as they are collected.
#[derive(Debug, Default)]
pub(super) struct Members(Vec<(Cow<'static, str>, Json<'static>)>);

impl Members {
    pub(super) fn set(&mut self, key: &'static str, value: impl Into<Json<'static>>) {
        self.0.push((key.into(), value.into()));
    }

    /// Takes over these members of `json`, under other names.
    pub(super) fn copy(&mut self, json: &Json<'_>, names: &[(&str, &'static str)]) {
        for (from, to) in names {
            if let Some(value) = json.get(from).filter(|value| **value != Json::Null) {
                self.set(to, value.clone().into_owned());
            }
        }
    }

    pub(super) fn into_json(self) -> Json<'static> {
        Json::Object(self.0)
    }
}

/// How calls are read in the answer: not in text, if the client wants none.
pub(super) fn dialect_of(choice: Option<&Json<'_>>, dialect: Dialect) -> Dialect {
    match choice.and_then(Json::as_str) {
        Some("none") => Dialect::Native,
        _ => dialect,
    }
}

/// What a request says to any upstream: the tools are declared, and streams tell their cost. Where
/// calls are written as text, the server must not look for any itself: without a parser it refuses
/// the request.
pub(super) fn finish(
    mut members: Members,
    tools: Vec<Json<'static>>,
    choice: Option<Json<'static>>,
    streams: bool,
    dialect: Dialect,
) -> Json<'static> {
    if !tools.is_empty() {
        members.set("tools", Json::Array(tools));
        if dialect.is_text_only() {
            members.set("tool_choice", "none");
        } else if let Some(choice) = choice {
            members.set("tool_choice", choice);
        }
    }
    members.set("stream", Json::Bool(streams));
    if streams {
        let options = Json::object([("include_usage", Json::Bool(true))]);
        members.set("stream_options", options);
    }
    members.into_json()
}

/// A function that the upstream's model can call.
pub(super) fn function(
    name: &str,
    description: Option<&str>,
    schema: &Json<'static>,
) -> Json<'static> {
    let mut function = Members::default();
    function.set("name", name.to_owned());
    if let Some(description) = description {
        function.set("description", description.to_owned());
    }
    function.set("parameters", schema.clone());
    Json::object([
        ("type", "function".into()),
        ("function", function.into_json()),
    ])
}

/// The choice of one function.
pub(super) fn choice_of(name: &str) -> Json<'static> {
    let function = Json::object([("name", name.to_owned().into())]);
    Json::object([("type", "function".into()), ("function", function)])
}

/// The messages of a conversation, as they are collected.
#[derive(Debug, Default)]
pub(super) struct Messages(Vec<Message>);

#[derive(Debug)]
struct Message {
    role: Role,
    /// Texts and images.
    parts: Vec<Json<'static>>,
    calls: Vec<Json<'static>>,
    /// The call of which this is the result.
    result_of: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    System,
    User,
    Assistant,
    Tool,
}

impl Messages {
    /// Instructions. Many templates take them at the start only: later ones become a text of the
    /// user's that says what it is.
    pub(super) fn system(&mut self, text: &str) {
        if self.0.iter().all(|message| message.role == Role::System) {
            self.add(Role::System, text_part(text));
        } else {
            self.user(text_part(&format!("<system>\n{text}\n</system>")));
        }
    }

    /// A part of what the user says.
    pub(super) fn user(&mut self, part: Json<'static>) {
        self.add(Role::User, part);
    }

    /// A text of the model's.
    pub(super) fn assistant(&mut self, text: &str) {
        self.add(Role::Assistant, text_part(text));
    }

    /// A call of the model's.
    pub(super) fn call(&mut self, id: &str, name: &str, arguments: String) {
        let function = Json::object([
            ("name", name.to_owned().into()),
            ("arguments", arguments.into()),
        ]);
        let call = Json::object([
            ("id", id.to_owned().into()),
            ("type", "function".into()),
            ("function", function),
        ]);
        self.last(Role::Assistant).calls.push(call);
    }

    /// The result of a call. A tool returns text only: the user shows the images.
    pub(super) fn result(&mut self, id: &str, parts: Vec<Json<'static>>) {
        let is_text = |part: &Json<'_>| part.get_str("type") == Some("text");
        let (texts, images): (Vec<_>, Vec<_>) = parts.into_iter().partition(is_text);
        // Right behind the calls and their other results, whatever the user has said since.
        let made = |message: &Message| matches!(message.role, Role::Assistant | Role::Tool);
        let at = self
            .0
            .iter()
            .rposition(made)
            .map_or(self.0.len(), |at| at + 1);
        let result = Message {
            role: Role::Tool,
            parts: texts,
            calls: Vec::new(),
            result_of: Some(id.to_owned()),
        };
        self.0.insert(at, result);
        for image in images {
            self.user(image);
        }
    }

    fn add(&mut self, role: Role, part: Json<'static>) {
        self.last(role).parts.push(part);
    }

    /// The last message, if it has this role, or else a new one.
    fn last(&mut self, role: Role) -> &mut Message {
        let same = self.0.last().is_some_and(|last| last.role == role);
        if !same {
            self.0.push(Message {
                role,
                parts: Vec::new(),
                calls: Vec::new(),
                result_of: None,
            });
        }
        let last = self.0.len() - 1;
        #[allow(clippy::indexing_slicing, reason = "it has just been found or added")]
        &mut self.0[last]
    }

    pub(super) fn into_json(self) -> Json<'static> {
        Json::Array(self.0.into_iter().map(Message::into_json).collect())
    }
}

impl Message {
    fn into_json(self) -> Json<'static> {
        let role = match self.role {
            Role::System => "system",
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::Tool => "tool",
        };
        let mut message = Members::default();
        message.set("role", role);
        if let Some(call) = self.result_of {
            message.set("tool_call_id", call);
        }
        let only_text = self.parts.iter().all(|part| part.get("text").is_some());
        let content = match (only_text, self.parts.is_empty()) {
            (_, true) if !self.calls.is_empty() => Json::Null,
            // All servers take a text; lists of parts, not all.
            (true, _) => {
                let texts = self.parts.iter().filter_map(|part| part.get_str("text"));
                texts.collect::<Vec<_>>().join("\n\n").into()
            }
            (false, _) => Json::Array(self.parts),
        };
        message.set("content", content);
        if !self.calls.is_empty() {
            message.set("tool_calls", Json::Array(self.calls));
        }
        message.into_json()
    }
}

/// A part of a message that is a text.
pub(super) fn text_part(text: &str) -> Json<'static> {
    Json::object([("type", "text".into()), ("text", text.to_owned().into())])
}

/// A part of a message that is an image at this address.
pub(super) fn image_part(url: String) -> Json<'static> {
    let image = Json::object([("url", url.into())]);
    Json::object([("type", "image_url".into()), ("image_url", image)])
}
