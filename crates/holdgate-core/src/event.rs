//! What a frame means, in any protocol.

use crate::call::{Fault, HeldCall};
use crate::canonical::Canonical;
use crate::sse::SseError;
use holdgate_effects::json::JsonError;

/// The number of a block in its message.
pub(crate) type Block = u64;

/// A frame, or a part of one, understood.
#[derive(Debug)]
pub enum Event {
    /// Nothing to send, such as a comment: it only shows that the upstream is alive.
    Silent,
    /// A ping, which is not part of the message and has no position in it.
    Ping,
    /// Cannot cause an action. The frame is sent in order.
    Inert(Part),
    /// Cannot cause an action, and was part of a frame. It is sent in order, in a frame of its own.
    Piece(Part, Canonical),
    /// A call begins.
    CallStart(Block, Box<HeldCall>),
    /// A piece of a call's input.
    CallInput(Block, Result<String, Fault>),
    /// A call's whole input once more, as it came before in pieces: the two must agree.
    CallAgain(Block, Result<String, Fault>),
    /// A call once more, whole: it must agree with what came of it before, and replaces that. The
    /// text is its input as the pieces would have been.
    CallWhole(Block, Box<HeldCall>, String),
    /// A piece of a held block that says nothing more, or that will be refused whatever it holds.
    CallNoise,
    /// A call is whole.
    CallEnd(Block),
    /// The upstream reports an error; the frame says why, in the client's protocol.
    UpstreamError,
    /// The upstream reports an error in another protocol; this frame says so in the client's.
    Failure(Canonical),
    /// Has no meaning here, or repeats an event, which makes some clients act twice. It is not
    /// sent.
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

/// The response breaks its protocol in a way that could hide a call. Nothing more of it is passed
/// on.
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
    /// Something is at a wrong position.
    #[error("{0}")]
    OutOfOrder(&'static str),
    /// Some clients use the name, others the type, so the two must agree.
    #[error("an event has the name `{name}` but the type `{kind}`")]
    OtherName {
        /// The frame's name.
        name: String,
        /// The type that its data has.
        kind: String,
    },
    /// An unknown event that could be harmful.
    #[error("the event `{0}` is unknown and could carry an action")]
    UnknownEvent(String),
    /// A delta of another kind than its block's.
    #[error("a `{delta}` inside {block}")]
    WrongDelta {
        /// The delta's type.
        delta: String,
        /// The kind of its block.
        block: &'static str,
    },
    /// A tool call inside an event of another kind.
    #[error("a tool call inside the event `{0}`")]
    HiddenCall(String),
    /// A response that is not a message, and not harmless either.
    #[error("the response is not a message and {0}")]
    NotAMessage(&'static str),
    /// A member of the response contains what only the content may contain.
    #[error("the response has tool calls, or keys that differ only in case, in `{0}`")]
    HiddenInMember(String),
    /// Two keys that some clients read as one.
    #[error("the key `{0}` differs from another key only in case")]
    AmbiguousKey(String),
    /// More than its limit allows.
    #[error("{0}")]
    TooMuch(&'static str),
    /// The shell cannot go on with it.
    #[error("{0}")]
    Stopped(&'static str),
}

impl Violation {
    /// More calls than the guard's limit.
    pub(crate) const TOO_MANY_CALLS: Violation =
        Violation::TooMuch("the response has more tool calls than the limit allows");
}
