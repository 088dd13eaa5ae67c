//! What a frame means, in any protocol.

use crate::call::{Fault, HeldCall};
use crate::canonical::Canonical;
use crate::sse::SseError;
use holdgate_effects::json::JsonError;

/// The number by which a protocol tells the blocks of one message apart.
pub(crate) type Block = u64;

/// A frame, or a part of one, understood.
#[derive(Debug)]
pub enum Event {
    /// Nothing that could leave, such as a comment: only a sign that the upstream is alive.
    Silent,
    /// A ping: no part of the message, and no place in its order.
    Ping,
    /// Can cause no action. The frame leaves in order.
    Inert(Part),
    /// Can cause no action, and stood in one frame with other things. Leaves in order, in a frame of
    /// its own.
    Piece(Part, Canonical),
    /// A call begins.
    CallStart(Block, Box<HeldCall>),
    /// A piece of a call's input.
    CallInput(Block, Result<String, Fault>),
    /// A piece of a held block that will be refused whatever it holds.
    CallNoise,
    /// A call is whole.
    CallEnd(Block),
    /// The upstream gives up; the frame says why, in the client's protocol.
    UpstreamError,
    /// Means nothing, or says again what was said, which makes some clients act twice. Left out.
    Stray(&'static str),
}

/// The place of an inert frame in the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The head of the message.
    MessageStart,
    /// The first frame of a block.
    BlockStart(Block),
    /// A later frame of a block.
    BlockMore(Block),
    /// The last frame of a block.
    BlockStop(Block),
    /// Says why the message ends, so that no further block is to come.
    StopReason,
    /// The last frame of the message.
    MessageStop,
    /// Anything else.
    Other,
}

/// The response breaks its protocol in a way that could hide a call. Nothing more of it is passed on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Violation {
    /// A frame cannot be read.
    #[error(transparent)]
    Frame(#[from] SseError),
    /// A part of it is not acceptable JSON.
    #[error("{what} is not valid JSON: {error}")]
    Json {
        /// Which part.
        what: &'static str,
        /// What is wrong with it.
        error: JsonError,
    },
    /// Something lacks a part that it must have.
    #[error("{0}")]
    Incomplete(&'static str),
    /// Something stands where it must not.
    #[error("{0}")]
    OutOfOrder(&'static str),
    /// Clients go by the name, other tools by the type: they must agree.
    #[error("an event has the name `{name}` but the type `{kind}`")]
    OtherName {
        /// The frame's name.
        name: String,
        /// The type that its data has.
        kind: String,
    },
    /// An event that has no meaning here and is not harmless.
    #[error("the event `{0}` is unknown and could carry an action")]
    UnknownEvent(String),
    /// A delta of another kind than its block's.
    #[error("a `{delta}` inside {block}")]
    WrongDelta {
        /// The delta's type.
        delta: String,
        /// What kind of block it stands in.
        block: &'static str,
    },
    /// A tool call inside of an event that is not one.
    #[error("a tool call inside the event `{0}`")]
    HiddenCall(String),
    /// A response that is not a message, and not harmless either.
    #[error("the response is not a message and {0}")]
    NotAMessage(&'static str),
    /// A member of the response that only the content may be like.
    #[error("the response has tool calls, or keys that differ only in case, in `{0}`")]
    HiddenInMember(String),
    /// Two keys that some clients take for one.
    #[error("the key `{0}` differs from another key only in case")]
    AmbiguousKey(String),
    /// More than its limit allows.
    #[error("{0}")]
    TooMuch(&'static str),
    /// The shell cannot go on with it.
    #[error("{0}")]
    Stopped(&'static str),
}
