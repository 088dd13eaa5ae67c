//! What a frame means, in any protocol.

use crate::call::{Fault, HeldCall};
use std::borrow::Cow;

/// The number by which a protocol tells the blocks of one message apart.
pub type Block = u64;

/// One frame, understood.
#[derive(Debug)]
pub enum Event {
    /// Nothing that could leave, such as a comment: only a sign that the upstream is alive.
    Silent,
    /// A ping: no part of the message, and no place in its order.
    Ping,
    /// Can cause no action. Leaves in order.
    Inert(Part),
    /// A call begins.
    CallStart(Block, HeldCall),
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

/// The stream breaks its protocol in a way that could hide a call. Nothing more of it is passed on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Violation(pub Cow<'static, str>);

impl From<&'static str> for Violation {
    fn from(what: &'static str) -> Self {
        Violation(Cow::Borrowed(what))
    }
}

impl From<String> for Violation {
    fn from(what: String) -> Self {
        Violation(Cow::Owned(what))
    }
}

impl From<crate::sse::SseError> for Violation {
    fn from(error: crate::sse::SseError) -> Self {
        Violation(Cow::Owned(error.to_string()))
    }
}
