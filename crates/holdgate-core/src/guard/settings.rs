//! Whose response it is, and how it is guarded.

use crate::history::History;
use crate::notice::Tell;
use crate::protocol::{Declared, Protocol};
use crate::request::RequestFacts;
use crate::session::SharedSession;
use crate::stack::{Stack, Tickets};
use crate::text_actions::TextActions;
use holdgate_effects::worded;
use std::sync::Arc;
use std::time::Duration;

worded! {
    /// What replaces a refused call.
    pub enum OnBlock as "value" {
        Explain = "explain": "A text.",
        Continue = "continue": "A text, and a call that cannot run, so that the agent's loop goes on.",
    }
}

/// How responses are guarded.
#[derive(Clone, Debug)]
pub struct GuardSettings {
    /// What replaces a refused call.
    pub on_block: OnBlock,
    /// How much that tells.
    pub tell: Tell,
    /// Keep all calls of a message until its end, and release none before all are judged.
    pub hold_all: bool,
    /// The longest silence towards the client while a call is held.
    pub keep_alive: Duration,
    /// How long a person has to answer a question; `None` if nobody is asked.
    pub ask: Option<Duration>,
    /// Kinds of block that the operator has declared harmless.
    pub inert_blocks: Arc<[String]>,
    /// Whose text acts, and is judged too.
    pub text_actions: TextActions,
    /// Bytes of one event.
    pub max_event_bytes: usize,
    /// Bytes held for one response.
    pub max_held_bytes: usize,
    /// Calls in one response.
    pub max_calls: usize,
}

/// Whose response it is, and what judges it.
#[derive(Clone, Debug)]
pub struct ResponseContext {
    /// How client and upstream talk to each other.
    pub protocol: &'static dyn Protocol,
    /// The layers.
    pub stack: Arc<Stack>,
    /// The agent's session.
    pub session: SharedSession,
    /// The finished calls of the conversation.
    pub history: Arc<History>,
    /// Whether the operator has lifted the gate for this request.
    pub expert: bool,
    /// Calls that a person has allowed once.
    pub tickets: Option<Arc<dyn Tickets>>,
    /// The client, by the name that its requests give, for questions.
    pub agent: Option<String>,
    /// The session's id, for records.
    pub session_id: String,
    /// This response's id: incidents are numbered below it.
    pub response_id: String,
    /// What the request says.
    pub request: Arc<RequestFacts>,
    /// How responses are guarded.
    pub settings: Arc<GuardSettings>,
}

impl ResponseContext {
    /// A response of which no more is known: the first of a new session.
    pub fn new(
        protocol: &'static dyn Protocol,
        stack: Arc<Stack>,
        settings: Arc<GuardSettings>,
    ) -> Self {
        ResponseContext {
            protocol,
            stack,
            session: Arc::default(),
            history: Arc::default(),
            expert: false,
            tickets: None,
            agent: None,
            session_id: "s".to_owned(),
            response_id: "r".to_owned(),
            request: Arc::default(),
            settings,
        }
    }

    pub(super) fn declared(&self) -> Declared {
        Declared {
            inert: self.settings.inert_blocks.clone(),
            request: self.request.clone(),
            max_calls: self.settings.max_calls,
        }
    }
}
