//! One request under guard: what it says about the session and the tools, and where its messages
//! are.
//!
//! This runs before the request is forwarded, so it must be fast: messages are only located here.
//! `conversation.rs` reads the new ones while the upstream works.

mod bridged;
mod skim;
mod strings;

use crate::call::Executor;
use bytes::Bytes;
use holdgate_effects::json::{Json, JsonError, LoneSurrogates};
use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

pub(crate) use bridged::DeclaredTool;
pub use bridged::{Bridged, Dialect};
pub(crate) use strings::places_of;

/// History nests a call's own depth below the message's.
pub(crate) const MAX_DEPTH: usize = 200;
/// Bytes of the first message that identify a conversation.
const ROOT_BYTES: usize = 64 << 10;

/// Bytes of a role, at the most.
const ROLE_BYTES: usize = 32;

/// A request whose parts have been found.
#[derive(Clone, Debug)]
pub struct Request {
    /// What it says besides its messages.
    pub facts: Arc<RequestFacts>,
    body: Bytes,
    messages: Vec<Range<usize>>,
    layout: &'static Layout,
}

/// What is taken from a request. Its bytes go upstream as they came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestFacts {
    /// The session id that the client keeps in the request's metadata.
    pub session: Option<String>,
    /// The beginning of the first message's text: the root of the conversation.
    pub root: String,
    /// The tools that cannot be called without arguments.
    pub tools_with_required: HashSet<String>,
    /// What the provider may run itself.
    pub provider: ProviderTools,
    /// The folder that the client works in, as its system prompt says.
    pub working_dir: Option<String>,
    /// What the bridge that carries it needs, if there is one.
    pub bridged: Arc<Bridged>,
}

/// Where a protocol keeps the conversation in its requests, and how its messages are read.
#[derive(Debug)]
pub(crate) struct Layout {
    /// The member of the body that holds the messages.
    pub(crate) messages: &'static str,
    /// The member of a message that holds its text: a string, or a list of objects with a `text`.
    pub(crate) content: &'static str,
    /// Roles of the messages at the start that hold the client's own instructions, if they are
    /// messages.
    pub(crate) system: &'static [&'static str],
    /// What a message says, in order.
    pub(crate) mentions: for<'m> fn(&'m Json<'m>) -> Vec<Mention<'m>>,
    /// What tools returned in a message, in order.
    pub(crate) results: for<'m> fn(&'m Json<'m>) -> Vec<ToolResult<'m>>,
}

/// What a tool returned.
#[derive(Debug)]
pub(crate) struct ToolResult<'m> {
    /// The id of the call.
    pub(crate) call: Option<&'m str>,
    /// The strings of the message that hold its texts.
    pub(crate) texts: Vec<&'m Json<'m>>,
}

/// Something that a message of a conversation says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Mention<'m> {
    /// The model has made a call.
    Call {
        id: &'m str,
        /// The name under which the tool is judged.
        tool: Cow<'m, str>,
        runs: Executor,
        /// Its arguments as JSON text, if it has any.
        input: Option<String>,
    },
    /// A call came to an end.
    Result {
        /// Its id, or the name of its tool.
        call: &'m str,
        /// Whether it has no id: then it is the result of the first call of the tool that has none
        /// yet.
        in_order: bool,
        /// Whether the tool reported an error.
        failed: bool,
        /// The texts in it.
        texts: Vec<&'m str>,
    },
    /// The model has said something.
    Text(&'m str),
    /// The user has said something, or the client in the user's name.
    User(&'m str),
}

/// What a request lets the provider run. A call of anything else is the client's, whatever the
/// response says: some clients run it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProviderTools {
    /// Tools, by name.
    pub(crate) tools: HashSet<String>,
    /// Servers of tools, by name.
    pub(crate) servers: HashSet<String>,
}

impl Request {
    /// Finds the parts of a body, and has all of its members read but the messages: `read` takes
    /// what it needs of them. Instructions that are messages come as the member `system`.
    pub(crate) fn read(
        body: Bytes,
        layout: &'static Layout,
        read: impl Fn(&mut RequestFacts, &str, &Json<'_>),
    ) -> Result<Self, JsonError> {
        let outline = skim::outline(&body, layout.messages, MAX_DEPTH)?;
        let mut facts = RequestFacts::default();
        let mut messages = outline.messages.iter();
        let first = messages.find_map(|place| match system(&body, place, layout) {
            Ok(None) => Some(Ok(place)),
            Ok(Some(text)) => {
                read(&mut facts, "system", &text);
                None
            }
            Err(error) => Some(Err(error)),
        });
        if let Some(first) = first.transpose()? {
            let first = body.get(first.clone()).unwrap_or_default();
            // Without the cache marks, which wander as the conversation grows; and clients write
            // the same text as a string or as a block, depending on where the marks are.
            facts.root = skim::beginning(first, layout.content, ROOT_BYTES);
        }
        for (name, place) in &outline.members {
            // Members that are not needed are read too: a body with invalid JSON is not forwarded.
            read(&mut facts, name, &part(&body, place)?);
        }
        Ok(Request {
            facts: Arc::new(facts),
            body,
            messages: outline.messages,
            layout,
        })
    }

    /// What a message says, in order.
    pub(crate) fn mentions<'m>(&self, message: &'m Json<'m>) -> Vec<Mention<'m>> {
        (self.layout.mentions)(message)
    }

    /// What tools returned in a message, in order.
    pub(crate) fn results<'m>(&self, message: &'m Json<'m>) -> Vec<ToolResult<'m>> {
        (self.layout.results)(message)
    }

    /// The messages as they were sent, oldest first. They may not be JSON.
    pub fn messages(&self) -> impl DoubleEndedIterator<Item = &[u8]> {
        let message = |place: &Range<usize>| self.body.get(place.clone()).unwrap_or_default();
        self.messages.iter().map(message)
    }

    /// Whether the last message is the model's, so that it is to go on with it.
    pub fn ends_with_answer(&self) -> bool {
        let last = self.messages().next_back().unwrap_or_default();
        let role = skim::beginning(last, "role", ROLE_BYTES);
        ["assistant", "model"].contains(&role.as_str())
    }

    /// The places of the messages in the body, oldest first.
    pub(crate) fn places(&self) -> &[Range<usize>] {
        &self.messages
    }

    /// The body as it was sent.
    pub(crate) fn body(&self) -> &Bytes {
        &self.body
    }
}

/// Reads a message.
pub(crate) fn read_message(message: &[u8]) -> Result<Json<'_>, JsonError> {
    Json::read(message, MAX_DEPTH, LoneSurrogates::Replace)
}

/// The client's own instructions, if the message at `place` holds them.
fn system<'a>(
    body: &'a [u8],
    place: &Range<usize>,
    layout: &Layout,
) -> Result<Option<Json<'a>>, JsonError> {
    let message = body.get(place.clone()).unwrap_or_default();
    let role = skim::beginning(message, "role", ROLE_BYTES);
    if !layout.system.contains(&role.as_str()) {
        return Ok(None);
    }
    let message = part(body, place)?;
    let content = message.get(layout.content).cloned();
    Ok(Some(content.unwrap_or(Json::Null)))
}

/// Reads a part of the body.
fn part<'a>(body: &'a [u8], place: &Range<usize>) -> Result<Json<'a>, JsonError> {
    let text = body.get(place.clone()).unwrap_or_default();
    // Conversations hold what tools printed, cut anywhere: lone surrogates are ordinary here.
    Json::read(text, MAX_DEPTH, LoneSurrogates::Replace).map_err(|error| JsonError {
        at: error.at + place.start,
        ..error
    })
}
