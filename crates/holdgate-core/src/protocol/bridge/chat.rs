//! Reads the upstream's chunks, and has the client's side write what they say.
//!
//! Only what is understood leaves: words, calls, the end and its cost. Everything else in a chunk is
//! left out, so nothing can hide in it.

use super::super::chat::{Choice, Fragment, is_set, no_lone_surrogates, read_json, texts};
use super::super::said::Said;
use super::super::{Declared, Protocol, Reader};
use super::dialect::{Piece, TextCall, TextReader};
use super::told::{error_message, head, reason, thinking, usage_of};
use super::{Composer, End, Head, Side, Words};
use crate::call::{Executor, Fault, HeldCall};
use crate::event::{Block, Event, Violation};
use crate::request::{Bridged, DeclaredTool};
use crate::sse::Fields;
use holdgate_effects::json::{Json, LoneSurrogates, shorten, write_string};
use std::sync::Arc;

/// Bytes of an id that a client takes.
const MAX_ID: usize = 64;
/// Depth of the arguments of a call.
const MAX_DEPTH: usize = 128;

/// Follows one response from its first chunk to its end.
#[derive(Debug)]
pub(super) struct BridgeReader {
    from: &'static dyn Protocol,
    side: &'static dyn Side,
    request: Arc<Bridged>,
    composer: Box<dyn Composer>,
    text: TextReader,
    choice: Choice,
    said: Said,
    head: Option<Head>,
    next_block: Block,
    /// Calls of tools that take a text: their input so far.
    texts: Vec<(Block, String)>,
    end: End,
    state: State,
    /// Kept for its memory.
    pieces: Vec<Piece>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Open,
    /// The reason for the end has come; the usage may follow.
    Finished,
    Ended,
}

impl BridgeReader {
    pub(super) fn new(
        from: &'static dyn Protocol,
        side: &'static dyn Side,
        declared: &Declared,
    ) -> Self {
        let request = declared.request.bridged.clone();
        BridgeReader {
            from,
            side,
            composer: side.composer(),
            text: TextReader::new(request.clone()),
            request,
            choice: Choice::new(0),
            said: Said::default(),
            head: None,
            next_block: 0,
            texts: Vec::new(),
            end: End::default(),
            state: State::Open,
            pieces: Vec::new(),
        }
    }

    fn chunk(&mut self, data: &[u8], events: &mut Vec<Event>) -> Result<(), Violation> {
        let json = read_json(data, "a chunk")?;
        if is_set(json.get("error")) {
            let message = error_message(&json).unwrap_or("the upstream reported an error");
            events.push(Event::Failure(self.from.error_event(message)));
            return Ok(());
        }
        if self.head.is_none() {
            let head = head(&json, &self.request);
            self.composer.start(&head, events);
            self.head = Some(head);
        }
        if let Some(usage) = json.get("usage").filter(|usage| is_set(Some(usage))) {
            self.end.usage = usage_of(usage);
        }
        let choices = match json.get("choices") {
            Some(Json::Array(choices)) => choices.as_slice(),
            None | Some(Json::Null) => &[],
            Some(_) => return Err(Violation::Incomplete("the choices are not a list")),
        };
        // One answer was asked for.
        let is_first = |choice: &&Json<'_>| match choice.get("index") {
            None | Some(Json::Null) => true,
            Some(index) => index.as_u64() == Some(0),
        };
        for choice in choices.iter().filter(is_first) {
            self.choice(choice, data, events)?;
        }
        Ok(())
    }

    fn choice(
        &mut self,
        choice: &Json<'_>,
        data: &[u8],
        events: &mut Vec<Event>,
    ) -> Result<(), Violation> {
        let delta = choice.get("delta").unwrap_or(&Json::Null);
        if self.state == State::Open {
            for text in thinking(delta) {
                self.words(Words::Thinking, text, events);
            }
            let refusal = delta.get("refusal").and_then(Json::as_str);
            for text in texts(delta.get("content")).chain(refusal) {
                let mut pieces = std::mem::take(&mut self.pieces);
                self.text.push(text, &mut pieces);
                self.pieces(pieces, events);
            }
        }
        let calls = match delta.get("tool_calls").filter(|calls| is_set(Some(calls))) {
            None => &[],
            Some(Json::Array(calls)) => calls.as_slice(),
            Some(_) => return Err(Violation::Incomplete("the tool calls are not a list")),
        };
        // Beside the other form, it is the same call once more.
        let legacy = delta.get("function_call").filter(|_| calls.is_empty());
        let legacy = legacy.filter(|call| is_set(Some(call)));
        if !calls.is_empty() || legacy.is_some() {
            self.end_of_text(events);
            let surrogates = no_lone_surrogates(data).err();
            let mut found = Vec::new();
            let none = Head::default();
            let made = self.head.as_ref().unwrap_or(&none).id.as_str();
            let head = Json::object([("id", made.into())]);
            let fragments = calls.iter().map(Fragment::read);
            for fragment in fragments.chain(legacy.map(Fragment::legacy)) {
                let next = &mut self.next_block;
                let surrogates = surrogates.as_ref();
                self.choice
                    .take(&fragment?, &head, surrogates, next, &mut found)?;
            }
            self.calls(found, events);
        }
        if is_set(choice.get("finish_reason")) && self.state == State::Open {
            self.finished(choice, events);
        }
        Ok(())
    }

    fn finished(&mut self, choice: &Json<'_>, events: &mut Vec<Event>) {
        self.end_of_text(events);
        let mut found = Vec::new();
        self.choice.finish(&mut found);
        self.calls(found, events);
        (self.end.reason, self.end.stop) = reason(choice, &self.request);
        self.state = State::Finished;
    }

    /// The text ends, or a call stands behind it: what waits is decided.
    fn end_of_text(&mut self, events: &mut Vec<Event>) {
        let mut pieces = std::mem::take(&mut self.pieces);
        self.text.finish(&mut pieces);
        self.pieces(pieces, events);
    }

    fn pieces(&mut self, mut pieces: Vec<Piece>, events: &mut Vec<Event>) {
        for piece in pieces.drain(..) {
            match piece {
                Piece::Text(text) => {
                    self.said.push(&text);
                    self.words(Words::Text, &text, events);
                }
                Piece::Thinking(text) => self.words(Words::Thinking, &text, events),
                Piece::Call(call) => self.text_call(call, events),
            }
        }
        self.pieces = pieces;
    }

    fn words(&mut self, kind: Words, text: &str, events: &mut Vec<Event>) {
        if !text.is_empty() {
            self.composer
                .words(kind, text, &mut self.next_block, events);
        }
    }

    fn text_call(&mut self, call: TextCall, events: &mut Vec<Event>) {
        let block = self.next_block;
        self.next_block += 1;
        let (held, tool) = self.held(Some(&call.name), None, block);
        let input = match tool {
            Some(tool) if tool.takes_text => call.input.and_then(|input| text_input(&input)),
            Some(_) | None => call.input,
        };
        self.begin(block, held, events);
        events.push(Event::CallInput(block, input));
        events.push(Event::CallEnd(block));
    }

    /// Calls as the upstream's reader has them, as the client's.
    fn calls(&mut self, found: Vec<Event>, events: &mut Vec<Event>) {
        for event in found {
            match event {
                Event::CallStart(block, was) => {
                    // An older call has no id of its own.
                    let is_legacy = was.envelope.get_str("kind") == Some("legacy");
                    let id = was.id.as_deref().filter(|_| !is_legacy);
                    let (mut held, tool) = self.held(was.name.as_deref(), id, block);
                    let takes_text = tool.is_some_and(|tool| tool.takes_text);
                    if let Executor::Unknown(kind) = was.runs {
                        held.fail(Fault::UnknownKind(kind));
                    } else if let Some(fault) = was.fault {
                        held.fail(fault);
                    }
                    if takes_text {
                        self.texts.push((block, String::new()));
                    }
                    self.begin(block, held, events);
                }
                Event::CallInput(block, Ok(more)) => {
                    match self.texts.iter_mut().find(|(of, _)| *of == block) {
                        Some((_, text)) => text.push_str(&more),
                        None => events.push(Event::CallInput(block, Ok(more))),
                    }
                }
                Event::CallEnd(block) => {
                    if let Some(at) = self.texts.iter().position(|(of, _)| *of == block) {
                        let (_, text) = self.texts.remove(at);
                        events.push(Event::CallInput(block, text_input(&text)));
                    }
                    events.push(Event::CallEnd(block));
                }
                other @ (Event::CallInput(_, Err(_))
                | Event::CallAgain(..)
                | Event::CallWhole(..)
                | Event::CallNoise
                | Event::Silent
                | Event::Ping
                | Event::Inert(_)
                | Event::Piece(..)
                | Event::UpstreamError
                | Event::Failure(_)
                | Event::Stray(_)) => events.push(other),
            }
        }
    }

    /// A call of this tool that begins, as the client's protocol has it.
    fn held(
        &self,
        name: Option<&str>,
        id: Option<&str>,
        block: Block,
    ) -> (HeldCall, Option<&DeclaredTool>) {
        let none = Head::default();
        let head = self.head.as_ref().unwrap_or(&none);
        held(self.side, &self.request, head, (name, id, block))
    }

    fn begin(&mut self, block: Block, mut held: HeldCall, events: &mut Vec<Event>) {
        self.composer.close(events);
        held.said = self.said.end();
        self.end.has_calls = true;
        events.push(Event::CallStart(block, Box::new(held)));
    }

    /// The last events, once nothing can follow.
    fn ended(&mut self, events: &mut Vec<Event>) {
        if self.state == State::Finished {
            self.state = State::Ended;
            self.composer.close(events);
            self.composer.end(&self.end, events);
        }
    }
}

impl Reader for BridgeReader {
    fn read(&mut self, fields: &Fields<'_>, events: &mut Vec<Event>) -> Result<(), Violation> {
        match &fields.data {
            None => {}
            Some(data) if **data == *b"[DONE]" => {
                if self.head.is_none() {
                    return Err(Violation::Incomplete("the response ends without a chunk"));
                }
                if self.state == State::Open {
                    self.finished(&Json::Null, events);
                }
                self.ended(events);
            }
            Some(data) => self.chunk(data, events)?,
        }
        if events.is_empty() {
            // The model is writing a call, or the upstream only shows that it is alive. Clients
            // accept nothing before the first event.
            if self.head.is_some() {
                events.push(Event::Silent);
            }
        }
        Ok(())
    }

    fn is_mid_block(&self) -> bool {
        self.state == State::Open
    }

    fn end(&mut self, events: &mut Vec<Event>) -> Result<(), Violation> {
        self.ended(events);
        Ok(())
    }

    fn kept(&self) -> usize {
        let texts: usize = self.texts.iter().map(|(_, text)| text.len()).sum();
        self.text.kept() + self.composer.kept() + texts
    }
}

/// A call of this tool that begins, as the client's protocol has it, and the tool if it is declared.
/// An id of the upstream's is kept if the client can send it back.
pub(super) fn held<'r>(
    side: &dyn Side,
    request: &'r Bridged,
    head: &Head,
    (name, id, block): (Option<&str>, Option<&str>, Block),
) -> (HeldCall, Option<&'r DeclaredTool>) {
    let plain = |c: u8| c.is_ascii_alphanumeric() || b"-_".contains(&c);
    let own = id.filter(|id| (1..=MAX_ID).contains(&id.len()) && id.bytes().all(plain));
    let id = own.map_or_else(|| head.id("call", block), str::to_owned);
    let name = name.unwrap_or_default();
    if let Some(tool) = request.tool(name) {
        return (side.call(&id, tool), Some(tool));
    }
    let shown = (!name.is_empty()).then(|| shorten(name, 80));
    let mut held = HeldCall::new(Executor::AtClient, Some(id), shown.clone(), None);
    held.fail(shown.map_or(Fault::NoName, Fault::Undeclared));
    (held, None)
}

/// The input of a tool that takes a text, from the arguments of a function with one text.
pub(super) fn text_input(arguments: &str) -> Result<String, Fault> {
    let json = Json::read(arguments.as_bytes(), MAX_DEPTH, LoneSurrogates::Refuse);
    let text = match json {
        Ok(Json::Object(members)) => match members.as_slice() {
            [(_, Json::String(text))] => text.clone().into_owned(),
            _ => return Err(Fault::Garbled("the tool takes one text as its `input`")),
        },
        Ok(Json::String(text)) => text.into_owned(),
        // Some models write the text itself.
        Err(_) if !arguments.trim_start().starts_with('{') => arguments.to_owned(),
        Err(error) => return Err(Fault::Json(error)),
        Ok(Json::Null | Json::Bool(_) | Json::Number(_) | Json::Array(_)) => {
            return Err(Fault::NotAnObject);
        }
    };
    let mut input = String::from("{\"input\":");
    write_string(&text, &mut input);
    input.push('}');
    Ok(input)
}
