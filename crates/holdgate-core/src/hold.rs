//! Tool calls wait here until they are whole, and what follows them waits behind.

use crate::canonical::Canonical;
use crate::event::{Block, Part};
use holdgate_effects::Invocation;
use holdgate_effects::json::{Json, JsonError, LoneSurrogates, shorten};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

/// Who carries a call out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Runs {
    /// The client, as soon as it has the call.
    AtClient,
    /// The provider, before we saw it.
    AtProvider,
    /// Nobody knows: a kind of block that has no meaning here.
    Unknown(String),
}

impl Runs {
    /// The word for it in records.
    pub fn word(&self) -> &'static str {
        match self {
            Runs::AtClient => "client",
            Runs::AtProvider => "provider",
            Runs::Unknown(_) => "unknown",
        }
    }
}

/// A call as it comes in, piece by piece. Nothing of it has been believed yet.
#[derive(Clone, Debug)]
pub struct HeldCall {
    /// Who would carry it out.
    pub runs: Runs,
    /// The call's id, if it has a readable one.
    pub id: Option<String>,
    /// The tool's name, if it has a readable one.
    pub name: Option<String>,
    /// The protocol's own object around the call, its input left out; bounded in size.
    pub envelope: Json<'static>,
    /// Input that came with the start of the call, as text; empty if none.
    pub start_input: String,
    /// The fragments of the input, joined.
    pub input: String,
    /// The first thing that was wrong.
    pub fault: Option<Fault>,
    /// About what all but the input weighs in memory.
    pub weight: usize,
}

/// A call that was read strictly: it can mean only one thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolCall {
    /// The call's id.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// Who carries it out.
    pub runs: Runs,
    /// The arguments: always an object.
    pub input: Json<'static>,
    /// The same in its one compact form: what is sent, recorded and compared.
    pub text: Arc<String>,
    /// The protocol's own object around the call, its input left out.
    pub envelope: Json<'static>,
}

impl ToolCall {
    /// A call that stands in no response, such as an example's. `input` is an object.
    pub(crate) fn alone(id: &str, name: &str, input: Json<'static>) -> Self {
        ToolCall {
            id: id.to_owned(),
            name: name.to_owned(),
            runs: Runs::AtClient,
            text: Arc::new(input.text()),
            input,
            envelope: Json::Null,
        }
    }

    /// What matters of it for what it does.
    pub fn invocation(&self) -> Invocation<'_> {
        Invocation {
            tool: &self.name,
            input: &self.input,
            text: &self.text,
        }
    }
}

/// Why a call cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// Not acceptable JSON.
    #[error("its input is not acceptable JSON: {0}")]
    Json(#[from] JsonError),
    /// The arguments are not an object.
    #[error("its input is not a JSON object")]
    NotAnObject,
    /// Two inputs, of which clients pick one each.
    #[error("its input stands both in the start of the block and in the deltas")]
    TwoInputs,
    /// Over the limit.
    #[error("its input is larger than {0} bytes")]
    TooLarge(usize),
    /// No name.
    #[error("it names no tool")]
    NoName,
    /// No id.
    #[error("it has no id")]
    NoId,
    /// An id that another call of the message has.
    #[error("another call of the same message has the id `{0}`")]
    SameId(String),
    /// A call that stands inside of another block.
    #[error("a tool call stands inside of the block, where some clients find it")]
    NestedCall,
    /// Two keys that some clients take for one.
    #[error("the key `{0}` stands beside another one from which it differs in case only")]
    AmbiguousKey(String),
    /// A kind of block that has no meaning here.
    #[error("`{0}` is a kind of block that is not known to be harmless")]
    UnknownKind(String),
}

/// The bounds on one call.
#[derive(Clone, Copy, Debug)]
pub struct CallLimits {
    /// Bytes of input.
    pub max_bytes: usize,
    /// Depth of nesting.
    pub max_depth: usize,
}

/// Bytes of a call's id, name and other members besides its input.
const MAX_ENVELOPE: usize = 64 << 10;

impl HeldCall {
    /// A call that begins with this object, whose `input` may stand in it.
    pub fn new(block: &Json<'_>, runs: Runs) -> Self {
        let text = |key| block.get(key).and_then(Json::as_str).map(str::to_owned);
        let start_input = match block.get("input") {
            None | Some(Json::Null) => String::new(),
            Some(Json::Object(members)) if members.is_empty() => String::new(),
            // Some gateways begin so.
            Some(Json::String(text)) if text.is_empty() => String::new(),
            Some(input) => input.text(),
        };
        let mut envelope = block.clone();
        envelope.set("input", Json::Object(Vec::new()));
        let size = envelope.text().len();
        let mut held = HeldCall {
            runs,
            id: text("id"),
            name: text("name"),
            envelope: envelope.into_owned(),
            start_input,
            input: String::new(),
            fault: None,
            // A tree of tiny values is many times its text.
            weight: 256 + 16 * size.min(MAX_ENVELOPE),
        };
        if size > MAX_ENVELOPE {
            held.id = held.id.map(|id| shorten(&id, 80));
            held.name = held.name.map(|name| shorten(&name, 80));
            held.envelope = Json::Null;
            held.fail(Fault::TooLarge(MAX_ENVELOPE));
        }
        held
    }

    /// Adds a fragment of the input. At the limit the input is let go: the call is lost anyway.
    pub fn push_input(&mut self, fragment: &str, limits: CallLimits) {
        if self.fault.is_some() {
            return;
        }
        if self.input.len() + fragment.len() > limits.max_bytes {
            self.fail(Fault::TooLarge(limits.max_bytes));
        } else {
            self.input.push_str(fragment);
        }
    }

    /// Notes what is wrong; the first fault counts.
    pub fn fail(&mut self, fault: Fault) {
        self.fault.get_or_insert(fault);
        self.input = String::new();
        self.start_input = String::new();
    }

    /// Reads the call, strictly.
    pub fn read(&self, limits: CallLimits) -> Result<ToolCall, Fault> {
        if let Some(fault) = &self.fault {
            return Err(fault.clone());
        }
        if let Runs::Unknown(kind) = &self.runs {
            return Err(Fault::UnknownKind(kind.clone()));
        }
        let name = self.name.clone().filter(|n| !n.is_empty());
        let id = self.id.clone().filter(|i| !i.is_empty());
        let text = match (self.start_input.as_str(), self.input.as_str()) {
            ("", "") => "{}",
            (only, "") | ("", only) => only,
            (_, _) => return Err(Fault::TwoInputs),
        };
        if text.len() > limits.max_bytes {
            return Err(Fault::TooLarge(limits.max_bytes));
        }
        let input = Json::read(text.as_bytes(), limits.max_depth, LoneSurrogates::Refuse)?;
        if input.as_object().is_none() {
            return Err(Fault::NotAnObject);
        }
        if let Some(key) = input.ambiguous_key() {
            return Err(Fault::AmbiguousKey(shorten(key, 40)));
        }
        Ok(ToolCall {
            id: id.ok_or(Fault::NoId)?,
            name: name.ok_or(Fault::NoName)?,
            runs: self.runs.clone(),
            text: Arc::new(input.text()),
            input: input.into_owned(),
            envelope: self.envelope.clone(),
        })
    }

    fn bytes(&self) -> usize {
        self.input.len() + self.start_input.len() + self.weight
    }
}

/// What waits, in the order in which it shall leave.
#[derive(Debug)]
pub enum Waiting<J> {
    /// An inert frame behind a call.
    Frame(Canonical, Part),
    /// A call that is not judged yet.
    Call(WaitingCall),
    /// The place of a call that is being judged, and how many bytes it keeps.
    Away(usize),
    /// A call's judgement, and about how many bytes it keeps.
    Judged(J, usize),
    /// The explanation of a refusal, moved before the calls that are kept.
    Notice(J),
}

/// A call in the queue.
#[derive(Debug)]
pub struct WaitingCall {
    /// The call.
    pub held: HeldCall,
    /// Whether its end has come.
    pub whole: bool,
    /// When it began to wait.
    pub since: Duration,
}

/// The queue of one response. Empty whenever no call is held.
#[derive(Debug)]
pub struct Hold<J> {
    queue: VecDeque<Waiting<J>>,
    /// Calls that have not ended: their block and their ticket, counted from the first that was
    /// ever queued. Few, so that a call is found at once however much waits behind it.
    open: Vec<(Block, usize)>,
    /// How many have left the queue.
    left: usize,
    bytes: usize,
}

impl<J> Default for Hold<J> {
    fn default() -> Self {
        Hold {
            queue: VecDeque::new(),
            open: Vec::new(),
            left: 0,
            bytes: 0,
        }
    }
}

impl<J> Hold<J> {
    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// About how many bytes wait.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Queues an inert frame.
    pub fn push_frame(&mut self, frame: &Canonical, part: Part) {
        self.bytes += frame.len() + 128;
        self.queue.push_back(Waiting::Frame(frame.detached(), part));
    }

    /// Queues a call that begins.
    pub fn push_call(&mut self, block: Block, held: HeldCall, since: Duration) {
        self.bytes += held.bytes();
        self.open.push((block, self.left + self.queue.len()));
        self.queue.push_back(Waiting::Call(WaitingCall {
            held,
            whole: false,
            since,
        }));
    }

    /// Changes the call of `block`, which has not ended yet.
    pub fn with_open(&mut self, block: Block, change: impl FnOnce(&mut HeldCall)) {
        let found = self.open.iter().find(|(open, _)| *open == block);
        let Some(at) = found.and_then(|(_, ticket)| ticket.checked_sub(self.left)) else {
            return;
        };
        if let Some(Waiting::Call(call)) = self.queue.get_mut(at) {
            let before = call.held.bytes();
            change(&mut call.held);
            self.bytes = (self.bytes + call.held.bytes()).saturating_sub(before);
        }
    }

    /// The call of `block` has ended.
    pub fn end(&mut self, block: Block) {
        let Some(at) = self.open.iter().position(|(open, _)| *open == block) else {
            return;
        };
        let (_, ticket) = self.open.swap_remove(at);
        let at = ticket.checked_sub(self.left);
        if let Some(Waiting::Call(call)) = at.and_then(|at| self.queue.get_mut(at)) {
            call.whole = true;
        }
    }

    /// What leaves next.
    pub fn front(&self) -> Option<&Waiting<J>> {
        self.queue.front()
    }

    /// How many wait.
    pub fn len(&self) -> usize {
        self.queue.len()
    }

    /// Takes the call at `at` to be judged, if one is there that has ended. Its place is kept.
    pub fn take_call(&mut self, at: usize) -> Option<WaitingCall> {
        let waiting = self.queue.get_mut(at)?;
        let bytes = match waiting {
            Waiting::Call(call) if call.whole => call.held.bytes(),
            Waiting::Call(_)
            | Waiting::Frame(..)
            | Waiting::Away(_)
            | Waiting::Judged(..)
            | Waiting::Notice(_) => return None,
        };
        match std::mem::replace(waiting, Waiting::Away(bytes)) {
            Waiting::Call(call) => Some(call),
            Waiting::Frame(..) | Waiting::Away(_) | Waiting::Judged(..) | Waiting::Notice(_) => {
                None
            }
        }
    }

    /// The call that was taken from `at` has been judged.
    pub fn put_judged(&mut self, at: usize, judged: J) {
        if let Some(waiting) = self.queue.get_mut(at)
            && let Waiting::Away(bytes) = waiting
        {
            *waiting = Waiting::Judged(judged, *bytes);
        }
    }

    /// The judgement at `at`.
    pub fn judged_at(&mut self, at: usize) -> Option<&mut J> {
        match self.queue.get_mut(at) {
            Some(Waiting::Judged(judged, _)) => Some(judged),
            Some(Waiting::Frame(..) | Waiting::Call(_) | Waiting::Away(_) | Waiting::Notice(_))
            | None => None,
        }
    }

    /// Takes what leaves next.
    pub fn pop(&mut self) -> Option<Waiting<J>> {
        let waiting = self.queue.pop_front()?;
        self.left += 1;
        self.bytes = match &waiting {
            _ if self.queue.is_empty() => 0,
            Waiting::Frame(raw, _) => self.bytes.saturating_sub(raw.len() + 128),
            Waiting::Call(call) => self.bytes.saturating_sub(call.held.bytes()),
            Waiting::Away(bytes) | Waiting::Judged(_, bytes) => self.bytes.saturating_sub(*bytes),
            Waiting::Notice(_) => self.bytes,
        };
        Some(waiting)
    }

    /// Takes all that waits. No call is open any more.
    pub fn take(&mut self) -> VecDeque<Waiting<J>> {
        self.bytes = 0;
        self.open.clear();
        std::mem::take(&mut self.queue)
    }

    /// Puts a queue back that was taken.
    pub fn put(&mut self, queue: VecDeque<Waiting<J>>) {
        self.queue = queue;
    }
}
