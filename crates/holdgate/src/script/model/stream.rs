//! A turn to what goes over the wire: the steps of a stream, or a message's body.

use super::shape::{
    SIGNATURE, block_delta, block_start, call_block, call_id, frame, message_object, quoted,
    stop_reason, text_block, thinking_block, whole_block,
};
use super::{Block, Call, Cut, EventName, Turn};
use bytes::Bytes;
use holdgate_effects::json::Json;
use std::ops::ControlFlow::{self, Break, Continue};
use std::time::Duration;

/// One step of a streamed answer. The last step, and only it, is a [`Step::Cut`] or a
/// [`Step::End`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// One SSE frame.
    Send(Bytes),
    /// Waits; a frame that is given is sent each second meanwhile.
    Wait(Duration, Option<Bytes>),
    /// Breaks the connection.
    Cut,
    /// Ends the body properly.
    End,
}

/// What is settable about a stream.
#[derive(Clone, Copy, Debug)]
pub struct StreamOptions {
    /// How long the input of a slow call takes.
    pub slow: Duration,
}

impl Default for StreamOptions {
    fn default() -> Self {
        StreamOptions {
            slow: Duration::from_secs(4),
        }
    }
}

/// The stream of a turn, as the `n`-th message of `model`. A turn that is an HTTP error has none;
/// see [`Turn::status`].
pub fn stream(turn: &Turn, model: &str, n: u32, options: &StreamOptions) -> Vec<Step> {
    let mut writer = Writer {
        steps: Vec::new(),
        turn,
        options,
        n,
        index: 0,
        last_call: String::new(),
    };
    let end = match writer.message(model) {
        Continue(()) => Step::End,
        Break(end) => end,
    };
    writer.steps.push(end);
    writer.steps
}

struct Writer<'a> {
    steps: Vec<Step>,
    turn: &'a Turn,
    options: &'a StreamOptions,
    n: u32,
    /// Of the next block.
    index: usize,
    /// The id of the last call.
    last_call: String,
}

impl Writer<'_> {
    fn message(&mut self, model: &str) -> ControlFlow<Step> {
        let turn = self.turn;
        match turn.cut {
            Some(Cut::Start) => return Break(Step::Cut),
            Some(Cut::CleanStart) => return Break(Step::End),
            Some(Cut::MidTool | Cut::CleanMidTool | Cut::ErrorEvent | Cut::BeforeStop) | None => {}
        }
        let content: Vec<String> = turn.start_content.iter().map(Json::to_string).collect();
        let message = message_object(model, self.n, &content.join(","), "null", 1);
        self.send("message_start", &format!(r#","message":{message}"#));
        for block in &turn.blocks {
            self.block(block)?;
        }
        if turn.cut == Some(Cut::BeforeStop) {
            return Break(Step::Cut);
        }
        let stop = quoted(stop_reason(turn));
        let delta = format!(r#"{{"stop_reason":{stop},"stop_sequence":null}}"#);
        self.send(
            "message_delta",
            &format!(r#","delta":{delta},"usage":{{"output_tokens":42}}"#),
        );
        self.send("message_stop", "");
        for block in &turn.after {
            self.block(block)?;
        }
        Continue(())
    }

    fn block(&mut self, block: &Block) -> ControlFlow<Step> {
        match block {
            Block::Gap => {}
            Block::Text { text, late_input } => {
                self.start(&text_block(""));
                if self.index == 0 {
                    self.send("ping", "");
                }
                for piece in fragments(text, 12) {
                    self.delta("text", "text", &piece);
                }
                if let Some(input) = late_input {
                    self.delta("input_json", "partial_json", input);
                }
                self.stop();
            }
            Block::Thinking(text) => {
                self.start(&thinking_block("", ""));
                for piece in fragments(text, 12) {
                    self.delta("thinking", "thinking", &piece);
                }
                self.delta("signature", "signature", SIGNATURE);
                self.stop();
            }
            Block::Whole(block) => {
                self.start(&whole_block(block, &self.last_call));
                self.stop();
            }
            Block::Call(call) => self.call(call)?,
        }
        self.index += 1;
        Continue(())
    }

    fn call(&mut self, call: &Call) -> ControlFlow<Step> {
        if let Some(hold) = self.turn.hold {
            let ping = (!self.turn.no_ping).then(|| frame(Some("ping"), "ping", ""));
            self.steps.push(Step::Wait(hold, ping));
        }
        let named = |proper| match &call.event {
            EventName::Proper => Some(proper),
            EventName::Missing => None,
            EventName::Wrong(name) => Some(name.as_str()),
        };
        let index = self.index;
        self.last_call = call_id(call, self.n, index);

        let start_input = call
            .start_input
            .as_ref()
            .map_or("{}".to_owned(), Json::to_string);
        let block = call_block(call, &self.last_call, &start_input);
        let kind = "content_block_start";
        let start = frame(named(kind), kind, &block_start(index, &block));
        self.steps
            .extend(std::iter::repeat_n(Step::Send(start), call.starts));

        let pieces = call_fragments(call);
        for (i, piece) in pieces.iter().enumerate() {
            if i == pieces.len() / 2 {
                self.cut_in_call()?;
            }
            if call.slow {
                let share = u32::try_from(pieces.len()).unwrap_or(1);
                self.steps.push(Step::Wait(self.options.slow / share, None));
            }
            let kind = "content_block_delta";
            let delta = block_delta(index, "input_json", "partial_json", piece);
            self.steps
                .push(Step::Send(frame(named(kind), kind, &delta)));
        }
        for _ in 0..call.stops {
            self.stop();
        }
        Continue(())
    }

    fn cut_in_call(&mut self) -> ControlFlow<Step> {
        match self.turn.cut {
            Some(Cut::MidTool) => Break(Step::Cut),
            Some(Cut::CleanMidTool) => Break(Step::End),
            Some(Cut::ErrorEvent) => {
                let error = r#","error":{"type":"overloaded_error","message":"Overloaded"}"#;
                self.send("error", error);
                Break(Step::End)
            }
            Some(Cut::Start | Cut::CleanStart | Cut::BeforeStop) | None => Continue(()),
        }
    }

    fn start(&mut self, block: &str) {
        self.send("content_block_start", &block_start(self.index, block));
    }

    fn delta(&mut self, kind: &str, field: &str, text: &str) {
        let rest = block_delta(self.index, kind, field, text);
        self.send("content_block_delta", &rest);
    }

    fn stop(&mut self) {
        let index = self.index;
        self.send("content_block_stop", &format!(r#","index":{index}"#));
    }

    fn send(&mut self, kind: &str, rest: &str) {
        self.steps.push(Step::Send(frame(Some(kind), kind, rest)));
    }
}

/// The first piece is empty, as from the real API.
pub(super) fn call_fragments(call: &Call) -> Vec<String> {
    if call.no_deltas {
        return Vec::new();
    }
    let mut pieces = vec![String::new()];
    if call
        .input
        .as_object()
        .is_none_or(|members| !members.is_empty())
    {
        let text = call.raw.clone().unwrap_or_else(|| call.input.to_string());
        pieces.extend(fragments(&text, call.fragment));
    }
    pieces
}

pub(super) fn fragments(text: &str, characters: usize) -> Vec<String> {
    let all: Vec<char> = text.chars().collect();
    all.chunks(characters.max(1))
        .map(|piece| piece.iter().collect())
        .collect()
}
