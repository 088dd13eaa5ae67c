//! What the scripted model says: the scenarios, and their turns as frames.

mod chat;
mod gemini;
mod shape;
mod stream;
mod table;

pub use chat::{chat_message, chat_stream, ollama_message, ollama_stream};
pub use gemini::{gemini_list, gemini_message, gemini_stream};
pub use shape::message;
pub use stream::{Step, StreamOptions, stream};

use holdgate_effects::json::Json;
use std::time::Duration;

/// One answer of the model.
///
/// `scenarios.json` maps a scenario's name to its turns, which main requests walk; the last one
/// repeats. A turn is a string (a message of that one text) or an object:
///
/// | field | meaning |
/// |---|---|
/// | `blocks` | the content, see below |
/// | `stop` | the `stop_reason`, instead of the fitting one |
/// | `cut` | where the answer breaks: `start`, `mid_tool`, `before_stop` (the connection is cut); `clean_start`, `clean_mid_tool` (the stream just ends); `error_event` (an error in mid-call) |
/// | `hold` | seconds of waiting before each call, with a ping each second unless `ping` is false |
/// | `status` | an HTTP error instead of a message |
/// | `start_content` | blocks that stand in `message_start` already |
/// | `after` | blocks that come after `message_stop` |
/// | `times` | the turn comes that often |
///
/// A block is a string (text), `null` (leaves out an index), or an object that has one of
///
/// | field | meaning |
/// |---|---|
/// | `text` | text; with `late_input`, a piece of tool input arrives in the text block |
/// | `thinking` | a signed thought |
/// | `whole` | a block that stands complete in its start; its `tool_use_id` is set to the last call's |
/// | `call` | a tool call with this input |
///
/// and a call may have
///
/// | field | meaning |
/// |---|---|
/// | `name`, `id`, `kind`, `server_name` | instead of `Bash`, an id that is made up, `tool_use`, and none |
/// | `raw` | this text is streamed instead of the input |
/// | `start_input` | an input that stands in the block's start |
/// | `deltas` | false: no deltas at all |
/// | `event` | the SSE event name of its start and deltas; null: none |
/// | `starts`, `stops` | how often its start and stop are sent, instead of once |
/// | `fragment` | characters per delta, instead of 9 |
/// | `slow` | true: its deltas are spread over [`StreamOptions::slow`] |
///
/// `$MARK` stands for a command that writes a line to `marker.txt`, `$BLOCKED` for the notice of
/// some other proxy, `$BIG` for a shell comment of 300 kB, `"$DEEP"` for an array 99 deep.
#[derive(Clone, Debug, Default)]
pub struct Turn {
    blocks: Vec<Block>,
    after: Vec<Block>,
    start_content: Vec<Json<'static>>,
    stop: Option<String>,
    cut: Option<Cut>,
    hold: Option<Duration>,
    no_ping: bool,
    status: Option<u16>,
}

impl Turn {
    /// A message of one text.
    pub fn text(text: &str) -> Turn {
        Turn {
            blocks: vec![Block::text(text)],
            ..Turn::default()
        }
    }

    /// The HTTP error that stands in the message's place.
    pub fn status(&self) -> Option<u16> {
        self.status
    }
}

/// The turns of a scenario.
pub fn scenario(name: &str) -> Option<&'static [Turn]> {
    let (_, turns) = table::scenarios().iter().find(|(known, _)| known == name)?;
    Some(turns)
}

/// The names of all scenarios.
pub fn names() -> impl Iterator<Item = &'static str> {
    table::scenarios().iter().map(|(name, _)| name.as_str())
}

#[derive(Clone, Debug)]
enum Block {
    Gap,
    Text {
        text: String,
        late_input: Option<String>,
    },
    Thinking(String),
    Whole(Json<'static>),
    Call(Call),
}

impl Block {
    fn text(text: &str) -> Block {
        Block::Text {
            text: text.to_owned(),
            late_input: None,
        }
    }
}

#[derive(Clone, Debug)]
struct Call {
    kind: String,
    name: String,
    id: Option<String>,
    server_name: Option<String>,
    input: Json<'static>,
    raw: Option<String>,
    start_input: Option<Json<'static>>,
    no_deltas: bool,
    event: EventName,
    starts: usize,
    stops: usize,
    fragment: usize,
    slow: bool,
}

/// The SSE event name of a call's start and deltas.
#[derive(Clone, Debug)]
enum EventName {
    Proper,
    Missing,
    Wrong(String),
}

/// Where an answer breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cut {
    Start,
    CleanStart,
    MidTool,
    CleanMidTool,
    ErrorEvent,
    BeforeStop,
}
