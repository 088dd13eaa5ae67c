//! A tool call: as it arrives, and after it was read.

use holdgate_effects::Invocation;
use holdgate_effects::json::{Json, JsonError, LoneSurrogates, shorten};
use std::sync::Arc;

/// Who runs a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Executor {
    /// The client, as soon as it has the call.
    AtClient,
    /// The provider, before we saw it.
    AtProvider,
    /// Unknown: a kind of block that the protocol does not define.
    Unknown(String),
}

impl Executor {
    /// The word for it in records.
    pub fn word(&self) -> &'static str {
        match self {
            Executor::AtClient => "client",
            Executor::AtProvider => "provider",
            Executor::Unknown(_) => "unknown",
        }
    }
}

/// A call as it arrives, piece by piece, before anything in it is trusted.
#[derive(Clone, Debug)]
pub struct HeldCall {
    /// Who would run it.
    pub runs: Executor,
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
    /// What the model said in the same message before the call, as much of its end as is kept.
    pub said: Arc<str>,
    /// The words that a client acts from, if the call is read from words.
    pub words: Option<Arc<str>>,
    /// The first error.
    pub fault: Option<Fault>,
    /// About how many bytes it takes in memory without the input.
    pub weight: usize,
}

/// A call that was read strictly: every client reads it in the same way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolCall {
    /// The call's id.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// Who runs it.
    pub runs: Executor,
    /// The arguments: always an object.
    pub input: Json<'static>,
    /// The same in its one compact form: what is sent, recorded and compared.
    pub text: Arc<String>,
    /// The protocol's own object around the call, its input left out.
    pub envelope: Json<'static>,
    /// The words from which it was read, and which are sent in its place, if a client acts from
    /// words.
    pub words: Option<Arc<str>>,
}

impl ToolCall {
    /// A call outside of a response, such as an example. `input` is an object.
    pub(crate) fn alone(id: &str, name: &str, input: Json<'static>) -> Self {
        ToolCall {
            id: id.to_owned(),
            name: name.to_owned(),
            runs: Executor::AtClient,
            text: Arc::new(input.text()),
            input,
            envelope: Json::Null,
            words: None,
        }
    }

    /// The parts that decide what it does.
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
    #[error("its input is not valid JSON: {0}")]
    Json(#[from] JsonError),
    /// The arguments are not an object.
    #[error("its input is not a JSON object")]
    NotAnObject,
    /// Two inputs: one client uses the first, another the second.
    #[error("its input is in both the block start and the deltas")]
    TwoInputs,
    /// The protocol repeats it, and not in the same way.
    #[error("the events that repeat it differ, so clients may run different things")]
    Differs,
    /// The response ended too early.
    #[error("the response ended before the call was whole")]
    CutOff,
    /// Over the limit.
    #[error("its input is larger than {0} bytes")]
    TooLarge(usize),
    /// No name.
    #[error("it does not name a tool")]
    NoName,
    /// Fragments name two tools: one client takes the first, another joins them.
    #[error("it names two tools")]
    TwoNames,
    /// A tool that the request does not declare.
    #[error("the request declares no tool `{0}`")]
    Undeclared(String),
    /// Written as text that does not say clearly what it is.
    #[error("it is not written as it must be: {0}")]
    Garbled(&'static str),
    /// No id.
    #[error("it has no id")]
    NoId,
    /// An id that another call of the message has.
    #[error("another call in the same message has the id `{0}`")]
    SameId(String),
    /// A call inside another block.
    #[error("the block contains a tool call, which some clients would run")]
    NestedCall,
    /// Two keys that some clients read as one.
    #[error("the key `{0}` differs from another key only in case")]
    AmbiguousKey(String),
    /// A call whose arguments are spread over several parts, by paths.
    #[error("its arguments come in pieces (`partialArgs`), which are not joined here")]
    InPieces,
    /// A kind of block that the protocol does not define.
    #[error("`{0}` is an unknown kind of block")]
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
    /// A call that begins. `input` is what came of its input so far, as JSON text.
    pub fn new(
        runs: Executor,
        id: Option<String>,
        name: Option<String>,
        input: Option<String>,
    ) -> Self {
        let length = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        HeldCall {
            runs,
            weight: 256 + length(&id) + length(&name),
            id,
            name,
            envelope: Json::Null,
            // Some gateways begin with one of these.
            start_input: input
                .filter(|text| !matches!(text.as_str(), "{}" | "null" | "\"\""))
                .unwrap_or_default(),
            input: String::new(),
            said: Arc::default(),
            words: None,
            fault: None,
        }
    }

    /// The same with the protocol's own object around it, its input left out. If that is too large,
    /// it is not kept, and the call will be refused.
    #[must_use]
    pub fn with_envelope(mut self, envelope: Json<'_>) -> Self {
        let size = envelope.text().len();
        // A tree of tiny values is many times its text.
        self.weight = 256 + 16 * size.min(MAX_ENVELOPE);
        if size > MAX_ENVELOPE {
            self.id = self.id.map(|id| shorten(&id, 80));
            self.name = self.name.map(|name| shorten(&name, 80));
            self.fail(Fault::TooLarge(MAX_ENVELOPE));
        } else {
            self.envelope = envelope.into_owned();
        }
        self
    }

    /// Adds a fragment of the input. At the limit the input is dropped: the call will be refused
    /// anyway.
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

    /// Takes the whole input, which must be the same as the fragments, if there were any.
    pub fn repeat_input(&mut self, input: &str, limits: CallLimits) {
        if self.input.is_empty() {
            self.push_input(input, limits);
        } else if self.input != input {
            self.fail(Fault::Differs);
        }
    }

    /// Becomes `whole`, which must agree with what has come so far. `input` is its input as the
    /// fragments would have been.
    pub fn replace_with(&mut self, whole: HeldCall, input: &str) {
        let before = std::mem::replace(self, whole);
        let differs =
            |before: &Option<String>, now: &Option<String>| before.is_some() && before != now;
        if let Some(fault) = before.fault {
            self.fail(fault);
        } else if differs(&before.name, &self.name)
            || before.id != self.id
            || before.runs != self.runs
            || !before.input.is_empty() && before.input != input
        {
            self.fail(Fault::Differs);
        }
        self.said = before.said;
    }

    /// Records an error; the first one counts.
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
        if let Executor::Unknown(kind) = &self.runs {
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
            text: Arc::new(input.text_of_about(text.len())),
            input: input.into_owned(),
            envelope: self.envelope.clone(),
            words: self.words.clone(),
        })
    }

    /// About how many bytes it takes in memory.
    pub(crate) fn bytes(&self) -> usize {
        let words = self.words.as_ref().map_or(0, |words| words.len());
        self.input.len() + self.start_input.len() + self.said.len() + words + self.weight
    }
}
