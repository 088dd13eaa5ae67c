//! A protocol is one folder below this one: how it carries requests, responses and tool calls.
//!
//! The guard, the queue and the conversation know [`Protocol`] only. To add one, write a folder and
//! list it in [`PROTOCOLS`].

pub(crate) mod anthropic;
pub(crate) mod bridge;
pub(crate) mod chat;
pub(crate) mod ollama;
mod prompt;
pub(crate) mod responses;
mod said;
#[cfg(test)]
mod tests;

use crate::call::HeldCall;
use crate::canonical::Canonical;
use crate::event::{Event, Part, Violation};
use crate::framing::Framing;
use crate::request::{Dialect, Request, RequestFacts};
use crate::sse::Fields;
use crate::stack::{Cleared, Refusal};
use bridge::{Translated, Untranslatable};
use bytes::Bytes;
use holdgate_effects::json::{Json, JsonError, LoneSurrogates, fold};
use std::fmt::Debug;
use std::sync::Arc;

/// The protocols that are guarded.
pub const PROTOCOLS: &[&dyn Protocol] = &[
    anthropic::ANTHROPIC,
    chat::CHAT,
    ollama::OLLAMA,
    responses::RESPONSES,
];

/// How a client and a model API talk to each other.
pub trait Protocol: Debug + Sync {
    /// Its name in cases and settings.
    fn name(&self) -> &'static str;

    /// Whether a request to this path, in small letters, asks for an answer that can carry calls.
    fn serves(&self, path: &str) -> bool;

    /// Whose API it is, as a setting names it, and where that API is unless a setting says so.
    fn vendor(&self) -> Vendor;

    /// How a streamed response is cut into frames.
    fn framing(&self) -> Framing {
        Framing::Events
    }

    /// Finds the parts of a request, and reads all but its messages.
    fn read_request(&self, body: Bytes) -> Result<Request, JsonError>;

    /// The request for an upstream that speaks another protocol than the client, whose model writes
    /// calls in this dialect; `None` if both speak the same.
    fn translate(
        &self,
        _path: &str,
        _body: &[u8],
        _dialect: Dialect,
    ) -> Result<Option<Translated>, Untranslatable> {
        Ok(None)
    }

    /// A reader at the start of a streamed response.
    fn reader(&self, declared: Declared) -> Box<dyn Reader>;

    /// A writer at the start of a streamed response.
    fn writer(&self) -> Box<dyn Writer>;

    /// Reads a response that is not streamed.
    fn read_message<'b>(
        &self,
        body: &'b [u8],
        declared: &Declared,
    ) -> Result<ReadMessage<'b>, Violation>;

    /// A frame that keeps a waiting client connected; `None` if the protocol has no such frame.
    fn keep_alive(&self) -> Option<Canonical>;

    /// An error as an event, after which nothing follows.
    fn error_event(&self, message: &str) -> Canonical;

    /// An error as a whole body, for an answer with this HTTP status.
    fn error_body(&self, status: u16, message: &str) -> Canonical;

    /// An error of the upstream's with this HTTP status, as the client reads it. No client finds a
    /// call in `body`.
    fn upstream_error(&self, _status: u16, body: Canonical) -> Canonical {
        body
    }
}

/// A provider of model APIs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vendor {
    /// Anthropic.
    Anthropic,
    /// `OpenAI`, and the many servers that speak its protocols.
    OpenAi,
    /// Ollama, which runs on the same machine as a rule.
    Ollama,
}

impl PartialEq for dyn Protocol {
    fn eq(&self, other: &dyn Protocol) -> bool {
        self.name() == other.name()
    }
}

impl Eq for dyn Protocol {}

/// What settings and request say about a response.
#[derive(Clone, Debug)]
pub struct Declared {
    /// Kinds of block that the operator has declared harmless.
    pub inert: Arc<[String]>,
    /// The request, which says what the provider may run.
    pub request: Arc<RequestFacts>,
}

/// Follows one streamed response from its start to its end.
pub trait Reader: Debug + Send {
    /// Appends what a frame means, in order. No reader can take an inert event for a call;
    /// everything else is held, or is a violation. A call that begins knows what the model
    /// [said](HeldCall::said) before it.
    fn read(&mut self, fields: &Fields<'_>, events: &mut Vec<Event>) -> Result<(), Violation>;

    /// Whether a block has begun that has not ended.
    fn is_mid_block(&self) -> bool;

    /// The upstream has ended the body: appends what was only waiting for that.
    fn end(&mut self, _events: &mut Vec<Event>) {}

    /// Bytes that are kept between frames, if they are not few.
    fn kept(&self) -> usize {
        0
    }
}

/// Writes one streamed response.
pub trait Writer: Debug + Send {
    /// An inert frame, corrected: the number of its block, the stop reason.
    fn inert(&mut self, frame: Canonical, part: Part) -> Canonical;

    /// A call, written from what was judged.
    fn call(&mut self, cleared: &Cleared) -> Canonical;

    /// The text that replaces a refused call. `envelope` is the protocol's own object around the
    /// call, which says where it was.
    fn notice(&mut self, text: &str, envelope: &Json<'_>) -> Canonical;

    /// A call of the refused tool that no client can run: it lacks the arguments that the tool's
    /// schema requires. It keeps the agent's loop alive, so that the model can choose another way.
    fn inert_call(&mut self, refusal: &Refusal, id: &str) -> Canonical;

    /// The last frame of a message; empty if the protocol has none.
    fn end(&mut self) -> Canonical;

    /// The end of a response that cannot be read on.
    fn failure(&mut self, message: &str) -> Canonical;

    /// A keep-alive that has its place among the events, if the protocol numbers them.
    fn keep_alive(&mut self) -> Option<Canonical> {
        None
    }
}

/// A response body that was read.
#[derive(Debug)]
pub enum ReadMessage<'b> {
    /// It contains no call and can be sent.
    Inert(Canonical),
    /// It contains these calls.
    Calls(Box<dyn GuardedMessage + 'b>, Vec<HeldCall>),
}

/// A message whose calls have been taken out. They are put back or replaced one by one, in order.
pub trait GuardedMessage: Debug + Send {
    /// Puts the next call back, written from what was judged.
    fn call(&mut self, cleared: &Cleared);

    /// Puts `notice` in place of the next call and, with `inert_id`, a call that cannot run.
    fn refusal(&mut self, refusal: &Refusal, notice: String, inert_id: Option<String>);

    /// The body to send, once all calls are decided.
    fn finish(self: Box<Self>) -> Canonical;
}

/// Content in which calls stand for themselves: the rest with gaps, where the gaps are, and the
/// calls.
fn calls_apart<T>(
    content: Vec<Result<T, Box<HeldCall>>>,
) -> (Vec<Option<T>>, Vec<usize>, Vec<HeldCall>) {
    let (mut calls, mut places) = (Vec::new(), Vec::new());
    let mut rest = Vec::new();
    for (at, part) in content.into_iter().enumerate() {
        rest.push(match part {
            Ok(part) => Some(part),
            Err(call) => {
                calls.push(*call);
                places.push(at);
                None
            }
        });
    }
    (rest, places, calls)
}

/// Maximum depth of a value that is not a message.
const MAX_DEPTH: usize = 128;

/// A whole body that is one JSON value in which no reader can find a call; `None` if it is not.
pub fn inert_value(body: &[u8]) -> Option<Canonical> {
    let json = Json::read(body, MAX_DEPTH, LoneSurrogates::Replace).ok()?;
    let inert = !carries_calls(&json) && json.ambiguous_key().is_none();
    let text = std::str::from_utf8(body).ok().filter(|_| inert)?;
    Some(Canonical::of_value(text))
}

/// Members that hold calls in one protocol or another, in small letters.
const CALL_KEYS: &[&str] = &[
    "content_block",
    "partial_json",
    "tool_use",
    "tool_uses",
    "tooluse",
    "tool_calls",
    "function_call",
    "functioncall",
];

/// Parts of the types that calls have.
const CALL_TYPES: &[&str] = &[
    "tool_use",
    "tool_call",
    "function_call",
    "shell_call",
    "patch_call",
    "computer_call",
    "tool_search_call",
    "approval_request",
];

/// Whether a value that is not a call itself contains a tool call of some protocol, at any level: a
/// member with the name of one, or an object whose `type` is one.
pub(crate) fn carries_calls(json: &Json<'_>) -> bool {
    match json {
        Json::Object(members) => members.iter().any(|(key, value)| is_call(key, value)),
        Json::Array(items) => items.iter().any(carries_calls),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => false,
    }
}

/// The same for one member.
pub(crate) fn is_call(key: &str, value: &Json<'_>) -> bool {
    let key = fold(key);
    // Edits of the context are named for the results that they clear: `clear_tool_uses_20250919`.
    let names_call = |kind: &str| {
        let kind = kind.to_lowercase().replace("tool_uses", "");
        CALL_TYPES.iter().any(|call| kind.contains(call))
    };
    CALL_KEYS.contains(&key.as_str())
        || (key == "type" && value.as_str().is_some_and(names_call))
        || carries_calls(value)
}
