//! Text that acts: some clients edit files and offer commands because of what a model writes, without
//! any call. With the setting `proxy.text_actions`, such text is held, judged as the calls that do the
//! same, and let through or replaced, like a call.
//!
//! The reader and the writer of the protocol are wrapped, so the guard sees calls and inert events as
//! ever. What a client acts on is in a file of its own: [`aider`].

mod aider;
mod calls;
mod whole;

use crate::canonical::Canonical;
use crate::event::{Block, Event, Part as Place, Violation};
use crate::framing::Framing;
use crate::protocol::spoken::{Spoken, Words};
use crate::protocol::{Protocol, Reader, Writer};
use crate::sse::Fields;
use crate::stack::{Cleared, Refusal};
use aider::{Aider, Continued, Part};
use calls::Calls;
use holdgate_effects::json::{Json, LoneSurrogates};
use holdgate_effects::worded;
use std::borrow::Cow;
pub(crate) use whole::message;

worded! {
    /// Whose text acts.
    pub enum TextActions as "client" {
        Off = "off": "No client's: text is only text.",
        Aider = "aider": "Edits and commands in the text that aider takes for such.",
    }
}

/// Depth of a frame or body.
const MAX_DEPTH: usize = 128;
/// Blocks from here on are ours: no response has that many.
const OUR_BLOCKS: Block = 1 << 60;
/// Marks that make a client act on thinking, if it takes thinking for text.
const MARKS: &[&str] = &[
    "```",
    "<<<<<",
    "*** ",
    "<source",
    "<code",
    "<pre",
    "</think",
    "thinking-content-",
];
/// Marks that end thinking before its end.
const ENDS: &[&str] = &["</think", "thinking-content-"];
/// The member of an envelope that says where a text was.
const HEAD: &str = "spoken";

/// The reader and the writer of a response, whose text is read too if `actions` says so. `id` is of
/// the response.
pub(crate) fn guarded(
    protocol: &'static dyn Protocol,
    actions: TextActions,
    id: &str,
    (reader, writer): (Box<dyn Reader>, Box<dyn Writer>),
) -> (Box<dyn Reader>, Box<dyn Writer>) {
    match (actions, protocol.spoken()) {
        (TextActions::Off, _) => (reader, writer),
        (TextActions::Aider, None) => (Box::new(Refusing), writer),
        (TextActions::Aider, Some(spoken)) => (
            Box::new(SpokenReader {
                inner: reader,
                spoken,
                framing: protocol.framing(),
                text: Aider::default(),
                calls: Calls::new(id),
                head: Json::Null,
                place: Place::Other,
                spoke: false,
                thought: String::new(),
                thought_acts: false,
            }),
            Box::new(SpokenWriter {
                inner: writer,
                spoken,
            }),
        ),
    }
}

/// Whether the text of this protocol can be read.
pub fn reads_text(protocol: &dyn Protocol) -> bool {
    protocol.spoken().is_some()
}

const UNREAD: Violation = Violation::Stopped("the text of this protocol is not read for actions");

const THOUGHT: Violation =
    Violation::OutOfOrder("thinking has marks that make the client take it for text");
const ONLY_THOUGHT: Violation =
    Violation::OutOfOrder("the response is only thinking, which the client would take for text");

/// Reads nothing: the text of its protocol is not understood.
#[derive(Debug)]
struct Refusing;

impl Reader for Refusing {
    fn read(&mut self, _: &Fields<'_>, _: &mut Vec<Event>) -> Result<(), Violation> {
        Err(UNREAD)
    }

    fn is_mid_block(&self) -> bool {
        false
    }
}

/// Finds what acts in the text of a streamed response.
#[derive(Debug)]
struct SpokenReader {
    inner: Box<dyn Reader>,
    spoken: &'static dyn Spoken,
    framing: Framing,
    text: Aider,
    calls: Calls,
    /// What the last frame with text has in common with others, and its place.
    head: Json<'static>,
    place: Place,
    /// Whether the model has said anything.
    spoke: bool,
    /// The end of its thinking, and whether a client would act on that if it were text.
    thought: String,
    thought_acts: bool,
}

impl SpokenReader {
    /// An inert frame: its words are read, and it leaves without those that wait. `frame` is in place
    /// of the one that was read.
    fn frame(
        &mut self,
        place: Place,
        frame: Option<Canonical>,
        data: Option<&[u8]>,
        events: &mut Vec<Event>,
    ) -> Result<(), Violation> {
        let mut json = match data {
            // The end of a stream of Chat Completions.
            Some(b"[DONE]") | None => Json::Null,
            Some(data) => {
                Json::read(data, MAX_DEPTH, LoneSurrogates::Replace).map_err(|error| {
                    let what = "a frame with text";
                    Violation::Json { what, error }
                })?
            }
        };
        let (mut said, mut texts) = (Vec::new(), String::new());
        let mut read = Ok(());
        let spoken = self.spoken;
        spoken.each(&mut json, &mut |kind, choice, text| {
            if read.is_ok() && !text.is_empty() {
                read = self.hear(kind, choice, text, &mut said);
            }
            if kind == Words::Text {
                texts.push_str(text);
            }
        });
        read?;
        let begins = matches!(place, Place::MessageStart | Place::BlockStart(_));
        if begins || !texts.is_empty() {
            self.note(place, &json);
        }
        match place {
            Place::BlockStop(_) => self.text.pause(&mut said),
            Place::StopReason | Place::MessageStop => {
                self.text.finish(&mut said);
                if self.thought_acts && !self.spoke {
                    return Err(ONLY_THOUGHT);
                }
            }
            Place::MessageStart | Place::BlockStart(_) | Place::BlockMore(_) | Place::Other => {}
        }
        let unchanged = match said.as_slice() {
            [] => texts.is_empty(),
            [Part::Prose(prose)] => *prose == texts,
            _ => false,
        };
        let rest = match (frame, unchanged || texts.is_empty()) {
            (Some(frame), true) => Event::Piece(place, frame),
            (None, true) => Event::Inert(place),
            (_, false) => {
                spoken.each(&mut json, &mut |kind, _, text| {
                    if kind == Words::Text {
                        *text = Cow::Borrowed("");
                    }
                });
                Event::Piece(place, spoken.frame(&json))
            }
        };
        if unchanged {
            said.clear();
        }
        if begins {
            events.push(rest);
            self.say(said, events);
        } else {
            self.say(said, events);
            events.push(rest);
        }
        Ok(())
    }

    /// Where further text has to stand.
    fn note(&mut self, place: Place, json: &Json<'_>) {
        self.head = self.spoken.head(json);
        self.place = match place {
            Place::BlockStart(block) | Place::BlockMore(block) => Place::BlockMore(block),
            Place::MessageStart
            | Place::BlockStop(_)
            | Place::StopReason
            | Place::MessageStop
            | Place::Other => Place::Other,
        };
    }

    fn hear(
        &mut self,
        kind: Words,
        choice: u64,
        text: &str,
        said: &mut Vec<Part>,
    ) -> Result<(), Violation> {
        if choice > 0 {
            return Err(Violation::OutOfOrder(
                "several answers at once cannot be read for actions in their text",
            ));
        }
        if kind == Words::Text {
            self.spoke = true;
            return self.text.push(text, said).map_err(|Continued| {
                Violation::OutOfOrder("text goes on behind an action that has not ended")
            });
        }
        // Clients put tags around thinking, and cut both out, as far as the first that ends.
        self.thought.push_str(text);
        let has = |marks: &[&str]| marks.iter().any(|mark| self.thought.contains(mark));
        if has(ENDS) || self.spoke && has(MARKS) {
            return Err(THOUGHT);
        }
        self.thought_acts |= has(MARKS);
        let from = self.thought.len().saturating_sub(32);
        self.thought.drain(..self.thought.floor_char_boundary(from));
        Ok(())
    }

    fn say(&mut self, said: Vec<Part>, events: &mut Vec<Event>) {
        for part in said {
            match self.calls.of(part, &self.head, self.place) {
                Ok(prose) => {
                    let frame = self.spoken.text(&self.head, &prose);
                    events.push(Event::Piece(self.place, frame));
                }
                Err(held) => {
                    let block = OUR_BLOCKS + self.calls.count;
                    events.push(Event::CallStart(block, held));
                    events.push(Event::CallEnd(block));
                }
            }
        }
    }
}

impl Reader for SpokenReader {
    fn read(&mut self, fields: &Fields<'_>, events: &mut Vec<Event>) -> Result<(), Violation> {
        let mut read = Vec::new();
        self.inner.read(fields, &mut read)?;
        self.events(read, fields.data.as_deref(), events)
    }

    fn is_mid_block(&self) -> bool {
        self.inner.is_mid_block()
    }

    fn end(&mut self, events: &mut Vec<Event>) -> Result<(), Violation> {
        let mut read = Vec::new();
        self.inner.end(&mut read)?;
        self.events(read, None, events)
    }

    fn kept(&self) -> usize {
        self.inner.kept() + self.text.kept()
    }
}

impl SpokenReader {
    /// What the inner reader has read, in a frame with this data: its words are read too.
    fn events(
        &mut self,
        read: Vec<Event>,
        data: Option<&[u8]>,
        events: &mut Vec<Event>,
    ) -> Result<(), Violation> {
        for event in read {
            match event {
                Event::Inert(place) => self.frame(place, None, data, events)?,
                Event::Piece(place, frame) => {
                    let framing = self.framing;
                    let fields = framing.fields(&frame, false)?;
                    let data = fields.data.map(Cow::into_owned);
                    self.frame(place, Some(frame), data.as_deref(), events)?;
                }
                Event::CallStart(..) => {
                    let mut said = Vec::new();
                    self.text.pause(&mut said);
                    self.say(said, events);
                    events.push(event);
                }
                Event::Silent
                | Event::Ping
                | Event::CallInput(..)
                | Event::CallAgain(..)
                | Event::CallWhole(..)
                | Event::CallNoise
                | Event::CallEnd(_)
                | Event::UpstreamError
                | Event::Failure(_)
                | Event::Stray(_) => events.push(event),
            }
        }
        Ok(())
    }
}

/// Whether the call with this envelope was read from words: no other call can stand in its place.
pub(crate) fn is_text(envelope: &Json<'_>) -> bool {
    envelope.get(HEAD).is_some()
}

/// A text on which no client acts. Lines that begin with a mark get another one before it.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len() + 16);
    for line in text.lines() {
        let first = line.trim_start().chars().next();
        if first.is_some_and(|c| !c.is_alphanumeric() && c != '[') {
            plain.push_str("| ");
        }
        plain.push_str(line);
        plain.push('\n');
    }
    // The last line must not name a file for what follows.
    plain.push('\n');
    plain
}

/// Writes text that acts in the place from which it was taken.
#[derive(Debug)]
struct SpokenWriter {
    inner: Box<dyn Writer>,
    spoken: &'static dyn Spoken,
}

impl SpokenWriter {
    fn text(&mut self, text: &str, envelope: &Json<'_>) -> Option<Canonical> {
        let frame = self.spoken.text(envelope.get(HEAD)?, text);
        let block = envelope.get("block").and_then(Json::as_u64);
        let place = block.map_or(Place::Other, Place::BlockMore);
        Some(self.inner.inert(frame, place))
    }
}

impl Writer for SpokenWriter {
    fn inert(&mut self, frame: Canonical, part: Place) -> Canonical {
        self.inner.inert(frame, part)
    }

    fn call(&mut self, cleared: &Cleared) -> Canonical {
        let call = cleared.call();
        match &call.words {
            Some(words) => self.text(words, &call.envelope).unwrap_or_default(),
            None => self.inner.call(cleared),
        }
    }

    fn notice(&mut self, text: &str, envelope: &Json<'_>) -> Canonical {
        match self.text(&plain(text), envelope) {
            Some(frame) => frame,
            None => self.inner.notice(text, envelope),
        }
    }

    fn inert_call(&mut self, refusal: &Refusal, id: &str) -> Canonical {
        self.inner.inert_call(refusal, id)
    }

    fn end(&mut self) -> Canonical {
        self.inner.end()
    }

    fn failure(&mut self, message: &str) -> Canonical {
        self.inner.failure(message)
    }

    fn keep_alive(&mut self) -> Option<Canonical> {
        self.inner.keep_alive()
    }
}
