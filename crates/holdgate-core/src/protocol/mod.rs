//! A protocol is one folder below this one: how it carries requests, responses and tool calls.
//!
//! The guard, the queue and the conversation know [`Protocol`] only. To add one, write a folder and
//! list it in [`PROTOCOLS`].

pub(crate) mod anthropic;
pub(crate) mod bridge;
pub(crate) mod chat;
pub(crate) mod gemini;
pub(crate) mod ollama;
mod prompt;
pub(crate) mod responses;
mod said;
pub(crate) mod spoken;
#[cfg(test)]
mod tests;

use crate::call::{Fault, HeldCall};
use crate::canonical::Canonical;
use crate::event::{Event, Part, Violation};
use crate::framing::Framing;
use crate::request::{Dialect, Request, RequestFacts};
use crate::sse::Fields;
use crate::stack::{Cleared, Refusal};
use bridge::{Translated, Untranslatable};
use bytes::Bytes;
use holdgate_effects::json::{Json, JsonError, LoneSurrogates, fold};
use spoken::Spoken;
use std::fmt::Debug;
use std::sync::Arc;

/// The protocols that are guarded.
pub const PROTOCOLS: &[&dyn Protocol] = &[
    anthropic::ANTHROPIC,
    chat::CHAT,
    gemini::GEMINI,
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

    /// Whether frames have names. If they have none, a name that one comes with does not leave: some
    /// clients take such a frame for something else.
    fn names_frames(&self) -> bool {
        true
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

    /// Where the words of a model stand; `None` if they cannot be read for clients that act from
    /// words.
    fn spoken(&self) -> Option<&'static dyn Spoken> {
        None
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
    /// Google's Gemini API.
    Gemini,
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
    /// Calls in one response.
    pub max_calls: usize,
}

impl Declared {
    /// Checks how many calls stand in one place, before they are read one by one: reading each may
    /// cost as much as there are others.
    fn check_count(&self, calls: usize) -> Result<(), Violation> {
        if calls > self.max_calls {
            return Err(Violation::TOO_MANY_CALLS);
        }
        Ok(())
    }
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
    fn end(&mut self, _events: &mut Vec<Event>) -> Result<(), Violation> {
        Ok(())
    }

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

impl ReadMessage<'_> {
    /// A body in which no call was found.
    fn inert(body: &[u8]) -> Result<Self, Violation> {
        match std::str::from_utf8(body) {
            Ok(text) => Ok(ReadMessage::Inert(Canonical::of_value(text))),
            Err(_) => Err(Violation::Incomplete("the response is not UTF-8")),
        }
    }
}

/// Reads a body that comes whole, and why no call in it may pass, if so: text may contain a lone
/// surrogate, and a call may not.
fn read_body(body: &[u8]) -> Result<(Json<'_>, Option<Fault>), Violation> {
    let strict = match Json::read(body, MAX_DEPTH, LoneSurrogates::Refuse) {
        Ok(json) => return Ok((json, None)),
        Err(error) => Fault::Json(error),
    };
    let what = "the response";
    let json = Json::read(body, MAX_DEPTH, LoneSurrogates::Replace)
        .map_err(|error| Violation::Json { what, error })?;
    Ok((json, Some(strict)))
}

/// It was read with lone surrogates replaced, which is right for text only.
fn no_lone_surrogates(data: &[u8]) -> Result<(), Fault> {
    // A replacement can only come from an escape: without one, there is nothing to check again.
    if memchr::memmem::find(data, b"\\u").is_some() {
        Json::read(data, MAX_DEPTH, LoneSurrogates::Refuse)?;
    }
    Ok(())
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

/// Maximum depth of a body or an event: a call's own depth is bounded when the call is read.
const MAX_DEPTH: usize = 128;

/// A whole body that is one JSON value in which no reader can find a call; `None` if it is not.
pub fn inert_value(body: &[u8]) -> Option<Canonical> {
    let json = Json::read(body, MAX_DEPTH, LoneSurrogates::Replace).ok()?;
    let inert = !carries_calls(&json) && json.ambiguous_key().is_none();
    let text = std::str::from_utf8(body).ok().filter(|_| inert)?;
    Some(Canonical::of_value(text))
}

/// A body that is not JSON, in which no reader can find a call: not in its lines, not in events, not
/// in values that stand in a text. It is read in pieces, which overlap by more than a name takes.
pub fn is_inert_text(body: &[u8]) -> bool {
    const PIECE: usize = 64 << 10;
    const OVERLAP: usize = 256;
    let mut rest = body;
    while rest.len() > PIECE {
        let (piece, _) = rest.split_at(PIECE);
        if names_call(piece) {
            return false;
        }
        (_, rest) = rest.split_at(PIECE - OVERLAP);
    }
    !names_call(rest)
}

/// Whether a text has the name of a call in quotes. Words stand in prose too; what acts is the name of
/// a member, or a type.
fn names_call(text: &[u8]) -> bool {
    let text = plain(&unescaped(&String::from_utf8_lossy(text)));
    let text = text.as_bytes();
    let is_quote = |at: Option<usize>| at.and_then(|at| text.get(at)) == Some(&b'"');
    CALL_KEYS.iter().chain(CALL_TYPES).any(|word| {
        let mut places = memchr::memmem::find_iter(text, word.as_bytes());
        places.any(|at| is_quote(at.checked_sub(1)) || is_quote(Some(at + word.len())))
    })
}

/// The text with letters in place of their escapes.
fn unescaped(text: &str) -> String {
    let mut pieces = text.split("\\u");
    let mut plain = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let code = piece.get(..4).map(|code| u32::from_str_radix(code, 16));
        match code.and_then(|code| char::from_u32(code.ok()?)) {
            Some(letter) => {
                plain.push(letter);
                plain.push_str(piece.get(4..).unwrap_or_default());
            }
            None => plain.push_str(piece),
        }
    }
    plain
}

/// Members that hold calls in one protocol or another, in the form that [`plain`] gives.
const CALL_KEYS: &[&str] = &[
    "contentblock",
    "partialjson",
    "tooluse",
    "tooluses",
    "toolcall",
    "toolcalls",
    "functioncall",
    "functioncalls",
];

/// Parts of the types that calls have, in the same form.
const CALL_TYPES: &[&str] = &[
    "tooluse",
    "toolcall",
    "functioncall",
    "shellcall",
    "patchcall",
    "computercall",
    "toolsearchcall",
    "approvalrequest",
];

/// A name in small letters and without separators: `toolCalls`, `tool-calls` and `Tool_Calls` are
/// one for some reader.
fn plain(name: &str) -> String {
    let mut name = fold(name);
    name.retain(|c| c != '_' && c != '-');
    name
}

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
    let key = plain(key);
    // Edits of the context are named for the results that they clear: `clear_tool_uses_20250919`.
    let names_call = |kind: &str| {
        let kind = plain(&kind.to_lowercase().replace("tool_uses", ""));
        // Whatever is called, by whatever name: `web_search_call`.
        kind.ends_with("call") || CALL_TYPES.iter().any(|call| kind.contains(call))
    };
    // `true` says what a model can do, and `null` that there is none.
    let is_empty = matches!(value, Json::Null | Json::Bool(_) | Json::Number(_));
    (CALL_KEYS.contains(&key.as_str()) && !is_empty)
        || (key == "type" && value.as_str().is_some_and(names_call))
        || carries_calls(value)
}
