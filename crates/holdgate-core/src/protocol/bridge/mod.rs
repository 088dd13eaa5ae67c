//! Bridges: a client that speaks one protocol works on an upstream that speaks another.
//!
//! A bridge is a [`Protocol`] whose requests are translated before they leave, whose reader reads the
//! upstream's protocol, and whose events and writer are the client's. So calls are held, judged and
//! written as on any other way, and the conversation is read as the client sends it.

mod anthropic;
mod chat;
mod dialect;
mod estimate;
mod responses;
mod told;
mod translate;
mod whole;

pub use estimate::estimated_tokens;
pub use translate::{Translated, Untranslatable};

use super::anthropic::ANTHROPIC;
use super::chat::CHAT;
use super::responses::RESPONSES;
use super::spoken::Spoken;
use super::{Declared, Protocol, ReadMessage, Reader, Vendor, Writer};
use crate::call::HeldCall;
use crate::canonical::Canonical;
use crate::event::{Block, Event, Violation};
use crate::framing::Framing;
use crate::request::{Bridged, DeclaredTool, Dialect, Request};
use bytes::Bytes;
use holdgate_effects::json::{Json, JsonError, LoneSurrogates};
use std::fmt::Debug;

/// The bridges: from which protocol, and the bridge. All lead to Chat Completions.
const BRIDGES: &[&Bridge] = &[
    &Bridge {
        from: ANTHROPIC,
        side: &anthropic::Anthropic,
    },
    &Bridge {
        from: RESPONSES,
        side: &responses::Responses,
    },
];

/// The bridges that exist, as pairs of names.
pub fn bridges() -> impl Iterator<Item = (&'static str, &'static str)> {
    BRIDGES
        .iter()
        .map(|bridge| (bridge.from.name(), CHAT.name()))
}

/// What serves a client that speaks `from` on an upstream that speaks the protocol named `to`: a
/// bridge, or `from` itself; `None` if there is no bridge between the two.
pub fn bridged(from: &'static dyn Protocol, to: &str) -> Option<&'static dyn Protocol> {
    if from.name() == to {
        return Some(from);
    }
    let found = BRIDGES
        .iter()
        .find(|bridge| bridge.from == from && to == CHAT.name());
    found.map(|bridge| *bridge as &dyn Protocol)
}

/// A bridge from a client's protocol to Chat Completions.
#[derive(Debug)]
struct Bridge {
    from: &'static dyn Protocol,
    side: &'static dyn Side,
}

/// What a bridge needs of its client's protocol.
trait Side: Debug + Sync {
    /// The end of its paths.
    fn path(&self) -> &'static str;

    /// The request as the upstream wants it, and what is noted of it.
    fn request(
        &self,
        body: &Json<'_>,
        dialect: Dialect,
    ) -> Result<(Json<'static>, Bridged), Untranslatable>;

    /// A call that begins, without its input.
    fn call(&self, id: &str, tool: &DeclaredTool) -> HeldCall;

    /// Writes a streamed response.
    fn composer(&self) -> Box<dyn Composer>;

    /// A writer of cleared calls.
    fn writer(&self) -> Box<dyn Writer>;

    /// A response that is not streamed.
    fn message(&self, head: &Head, parts: Vec<Part>, end: &End) -> ReadMessage<'static>;
}

/// Writes what the upstream says as events of the client's protocol. Blocks are numbered with
/// `next`, together with the calls.
trait Composer: Debug + Send {
    /// The response begins.
    fn start(&mut self, head: &Head, events: &mut Vec<Event>);

    /// The model says or thinks something.
    fn words(&mut self, kind: Words, text: &str, next: &mut Block, events: &mut Vec<Event>);

    /// The block of words that is open ends, if there is one.
    fn close(&mut self, events: &mut Vec<Event>);

    /// The response ends.
    fn end(&mut self, end: &End, events: &mut Vec<Event>);

    /// Bytes that are kept.
    fn kept(&self) -> usize {
        0
    }
}

/// What words are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Words {
    Text,
    Thinking,
}

/// A part of a response that is not streamed.
#[derive(Debug)]
enum Part {
    Words(Words, String),
    Call(Box<HeldCall>),
}

/// What a response says about itself.
#[derive(Clone, Debug, Default)]
struct Head {
    /// What tells it from the other responses of the conversation: letters and digits of its id, of
    /// which some servers have few, and the request's.
    id: String,
    model: String,
    created: u64,
}

/// How a response ends.
#[derive(Clone, Debug, Default)]
struct End {
    reason: Reason,
    /// The text at which the model has stopped, if it is one that the request names.
    stop: Option<String>,
    usage: Usage,
    /// Whether a call has begun in it.
    has_calls: bool,
}

/// Why a response ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Reason {
    #[default]
    Done,
    Length,
    Filter,
}

/// What a response has cost, in tokens.
#[derive(Clone, Copy, Debug, Default)]
struct Usage {
    input: u64,
    cached: u64,
    output: u64,
    reasoning: u64,
}

impl Head {
    /// An id that no other call of the conversation has. `kind` is how ids of its kind begin.
    fn id(&self, kind: &str, number: Block) -> String {
        format!("{kind}_{}_{number}", self.id)
    }
}

impl Protocol for Bridge {
    fn name(&self) -> &'static str {
        self.from.name()
    }

    fn serves(&self, path: &str) -> bool {
        self.from.serves(path)
    }

    /// The upstream's: the request goes there.
    fn vendor(&self) -> Vendor {
        CHAT.vendor()
    }

    fn framing(&self) -> Framing {
        CHAT.framing()
    }

    fn read_request(&self, body: Bytes) -> Result<Request, JsonError> {
        self.from.read_request(body)
    }

    fn translate(
        &self,
        path: &str,
        body: &[u8],
        dialect: Dialect,
    ) -> Result<Option<Translated>, Untranslatable> {
        translate::request(self.side, path, body, dialect).map(Some)
    }

    fn spoken(&self) -> Option<&'static dyn Spoken> {
        self.from.spoken()
    }

    fn reader(&self, declared: Declared) -> Box<dyn Reader> {
        Box::new(chat::BridgeReader::new(self.from, self.side, &declared))
    }

    fn writer(&self) -> Box<dyn Writer> {
        self.side.writer()
    }

    fn read_message<'b>(
        &self,
        body: &'b [u8],
        declared: &Declared,
    ) -> Result<ReadMessage<'b>, Violation> {
        whole::read(self.side, body, declared)
    }

    fn keep_alive(&self) -> Option<Canonical> {
        self.from.keep_alive()
    }

    fn error_event(&self, message: &str) -> Canonical {
        self.from.error_event(message)
    }

    fn error_body(&self, status: u16, message: &str) -> Canonical {
        self.from.error_body(status, message)
    }

    /// The upstream's own message, as an error of the client's protocol.
    fn upstream_error(&self, status: u16, body: Canonical) -> Canonical {
        let json = Json::read(&body, super::MAX_DEPTH, LoneSurrogates::Replace);
        let message = json.as_ref().ok().and_then(told::error_message);
        self.from
            .error_body(status, message.unwrap_or("the upstream gave no reason"))
    }
}
