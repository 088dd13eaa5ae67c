//! Calls and thinking that a model writes as text: `<tool_call>` with JSON, `<function=…>` with
//! parameters, `<think>`.
//!
//! Text leaves at once, but for the start of what may become a tag. Only tools that the request
//! declares are called. What stands in code or in closed thinking, what is only mentioned, and a call
//! that never ends stays text.

mod coerce;
mod next;
mod place;
mod scan;
#[cfg(test)]
mod tests;

use crate::call::Fault;
use crate::request::{Bridged, Dialect};
use place::Place;
use scan::{Found, Scan};
use std::sync::Arc;

const CALL: &str = "<tool_call>";
const CALL_END: &str = "</tool_call>";
const FUNCTION: &str = "<function=";
const FUNCTION_END: &str = "</function>";
const PARAMETER: &str = "<parameter=";
const PARAMETER_END: &str = "</parameter>";
const THINK: &str = "<think>";
const THINK_END: &str = "</think>";

/// Bytes of white space behind a call that wait for what follows.
const MAX_SPACE: usize = 256;

/// A part of what a model has written.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Text(String),
    Thinking(String),
    Call(TextCall),
}

/// A call of a declared tool that is written as text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TextCall {
    pub(super) name: String,
    /// Its arguments as JSON text, or why it has none.
    pub(super) input: Result<String, Fault>,
}

/// The forms of calls that are looked for.
#[derive(Clone, Copy, Debug)]
struct Watched {
    json: bool,
    functions: bool,
}

/// Takes a text apart as it arrives.
#[derive(Debug)]
pub(super) struct TextReader {
    request: Arc<Bridged>,
    watched: Watched,
    /// What is not decided yet.
    buffer: String,
    state: State,
    place: Place,
    /// Whether the message has begun with anything but white space.
    begun: bool,
    thinking: Thinking,
    /// Calls in thinking that may not end: they count if nothing follows. With their text.
    pending: (String, Vec<TextCall>),
}

/// How far the model's thinking is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Thinking {
    Never,
    Open,
    /// It has ended, and nothing has been said since.
    JustEnded,
    Past,
}

#[derive(Debug)]
enum State {
    /// In words.
    Words,
    /// Behind a tag around thinking: white space is left out.
    Gap,
    /// In what may be a call.
    Call(Scan),
    /// Behind a call.
    Behind,
}

/// What is to be done with the start of the buffer.
enum Step {
    /// Nothing before more has come.
    Wait,
    /// So many bytes are words.
    Words(usize),
    /// So many bytes are left out.
    Drop(usize),
    /// So many bytes are a call.
    Call(usize, TextCall),
}

impl TextReader {
    pub(super) fn new(request: Arc<Bridged>) -> Self {
        let has_tools = !request.tools.is_empty();
        let (json, functions) = match request.dialect {
            Dialect::Auto => (true, true),
            Dialect::Native => (false, false),
            Dialect::Hermes => (true, false),
            Dialect::QwenXml => (false, true),
        };
        TextReader {
            request,
            watched: Watched {
                json: json && has_tools,
                functions: functions && has_tools,
            },
            buffer: String::new(),
            state: State::Words,
            place: Place::default(),
            begun: false,
            thinking: Thinking::Never,
            pending: Default::default(),
        }
    }

    /// Bytes that wait.
    pub(super) fn kept(&self) -> usize {
        self.buffer.len() + self.pending.0.len()
    }

    /// Takes more of the text.
    pub(super) fn push(&mut self, text: &str, out: &mut Vec<Piece>) {
        let idle = self.buffer.is_empty() && matches!(self.state, State::Words);
        if idle && self.begun && memchr::memchr(b'<', text.as_bytes()).is_none() {
            return self.say(text, out);
        }
        self.buffer.push_str(text);
        self.advance(false, out);
    }

    /// The text has ended.
    pub(super) fn finish(&mut self, out: &mut Vec<Piece>) {
        self.advance(true, out);
        let (_, calls) = std::mem::take(&mut self.pending);
        out.extend(calls.into_iter().map(Piece::Call));
        self.state = State::Words;
    }

    fn advance(&mut self, ended: bool, out: &mut Vec<Piece>) {
        let buffer = std::mem::take(&mut self.buffer);
        let mut rest = buffer.as_str();
        while !rest.is_empty() {
            let step = match &mut self.state {
                State::Words => self.words(rest, ended),
                State::Gap => {
                    let space = rest.len() - rest.trim_start().len();
                    if space < rest.len() {
                        self.state = State::Words;
                    }
                    Step::Drop(space)
                }
                State::Behind => self.behind(rest, ended, out),
                State::Call(scan) => match scan.advance(rest, ended, self.watched, &self.request) {
                    Found::More => Step::Wait,
                    Found::Text(length) => Step::Words(length),
                    Found::Call(length, call) => Step::Call(length, call),
                },
            };
            let (length, call) = match step {
                Step::Wait => break,
                Step::Words(length) => {
                    let words = rest.get(..length).unwrap_or(rest);
                    self.settle_pending(out);
                    self.say(words, out);
                    if matches!(self.state, State::Call(_)) {
                        self.state = State::Words;
                    }
                    (length, None)
                }
                Step::Drop(length) => (length, None),
                Step::Call(length, call) => (length, Some(call)),
            };
            let (taken, behind) = rest.split_at_checked(length).unwrap_or((rest, ""));
            if let Some(call) = call {
                self.state = State::Behind;
                self.begun = true;
                if self.thinking == Thinking::Open {
                    self.pending.0.push_str(taken);
                    self.pending.1.push(call);
                } else {
                    out.push(Piece::Call(call));
                }
            }
            rest = behind;
        }
        let done = buffer.len() - rest.len();
        self.buffer = buffer;
        self.buffer.drain(..done);
    }

    /// Finds the next tag in words. All before it is said.
    fn words(&mut self, text: &str, ended: bool) -> Step {
        let at = memchr::memchr(b'<', text.as_bytes()).unwrap_or(text.len());
        if at > 0 {
            return Step::Words(at);
        }
        if let Some(step) = self.think_tag(text) {
            return step;
        }
        let watched = [
            (CALL, self.watched.json || self.watched.functions),
            (FUNCTION, self.watched.functions),
            (THINK_END, true),
            (THINK, !self.begun),
        ];
        let mut tags = watched.iter().filter(|(_, on)| *on).map(|(tag, _)| *tag);
        if !ended && tags.clone().any(|tag| tag.starts_with(text)) {
            return Step::Wait;
        }
        let is_call = match tags.find(|tag| text.starts_with(tag)) {
            Some(CALL) => !self.place.is_code() && !self.place.is_mid_sentence(),
            Some(FUNCTION) => !self.place.is_code() && self.place.begins_line(),
            _ => false,
        };
        if is_call {
            self.state = State::Call(Scan::new());
            return Step::Drop(0);
        }
        Step::Words(1)
    }

    /// A whole tag that begins or ends thinking.
    fn think_tag(&mut self, text: &str) -> Option<Step> {
        let tag = if text.starts_with(THINK) && !self.begun {
            self.thinking = Thinking::Open;
            THINK
        } else if text.starts_with(THINK_END) {
            let ends = match self.thinking {
                Thinking::Open => true,
                // Written twice.
                Thinking::JustEnded => !self.place.is_code(),
                // Some prompts end with the tag that begins it.
                Thinking::Never => !self.place.is_code() && self.place.begins_line(),
                Thinking::Past => false,
            };
            if !ends {
                return None;
            }
            self.thinking = Thinking::JustEnded;
            self.place = Place::default();
            THINK_END
        } else {
            return None;
        };
        self.begun = true;
        self.state = State::Gap;
        Some(Step::Drop(tag.len()))
    }

    /// What follows a call: its end tag, another call, or words. White space between calls is left
    /// out.
    fn behind(&mut self, text: &str, ended: bool, out: &mut Vec<Piece>) -> Step {
        let trimmed = text.trim_start();
        let space = text.len() - trimmed.len();
        let starts = |tag: &str| trimmed.starts_with(tag);
        let dropped = if space > MAX_SPACE {
            None
        } else if starts(CALL_END) {
            Some(space + CALL_END.len())
        } else if starts(CALL) || self.watched.functions && starts(FUNCTION) {
            self.state = State::Call(Scan::new());
            Some(space)
        } else if trimmed.is_empty() && ended {
            Some(space)
        } else {
            None
        };
        if let Some(length) = dropped {
            if !self.pending.1.is_empty() {
                let text = text.get(..length).unwrap_or_default();
                self.pending.0.push_str(text);
            }
            return Step::Drop(length);
        }
        let mut tags = [CALL_END, CALL, FUNCTION].iter();
        if !ended && space <= MAX_SPACE && tags.any(|tag| tag.starts_with(trimmed)) {
            return Step::Wait;
        }
        self.settle_pending(out);
        self.state = State::Words;
        Step::Words(space)
    }

    /// Thinking goes on behind calls: they were only thought about.
    fn settle_pending(&mut self, out: &mut Vec<Piece>) {
        let (text, _) = std::mem::take(&mut self.pending);
        if !text.is_empty() {
            self.say(&text, out);
        }
    }

    fn say(&mut self, words: &str, out: &mut Vec<Piece>) {
        if words.is_empty() {
            return;
        }
        self.place.pass(words);
        let blank = words.trim().is_empty();
        self.begun |= !blank;
        if self.thinking == Thinking::Open {
            match out.last_mut() {
                Some(Piece::Thinking(text)) => text.push_str(words),
                _ => out.push(Piece::Thinking(words.to_owned())),
            }
        } else {
            if self.thinking == Thinking::JustEnded && !blank {
                self.thinking = Thinking::Past;
            }
            match out.last_mut() {
                Some(Piece::Text(text)) => text.push_str(words),
                _ => out.push(Piece::Text(words.to_owned())),
            }
        }
    }
}
