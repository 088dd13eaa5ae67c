//! Turns chunks into events. Words leave at once; calls are taken out of their chunks and held, and
//! what is neither ends the stream.
//!
//! A call has no end of its own. It is whole when its choice ends, when the stream does, or when
//! another call of the choice begins and its arguments are a whole object by then: calls may be
//! interleaved.

use super::super::said::Said;
use super::super::{Declared, Reader};
use super::chunk::{
    check_members, check_no_calls, could_act, is_set, no_lone_surrogates, read_json, texts,
    with_choice, with_delta,
};
use super::fragment::{Brackets, CUSTOM_END, CUSTOM_START, Fragment, Kind, custom_piece};
use super::message::without;
use super::write::{end_mark, frame};
use crate::call::Fault;
use crate::event::{Block, Event, Part, Violation};
use crate::sse::Fields;
use holdgate_effects::json::Json;

/// Choices of one response, as many as the API gives.
const MAX_CHOICES: usize = 128;
/// The members of a delta that hold calls.
const CALLS: &[&str] = &["tool_calls", "function_call"];

/// Follows one response from its first chunk to its end mark.
#[derive(Debug)]
pub(super) struct ChunkReader {
    declared: Declared,
    started: bool,
    choices: Vec<Choice>,
    next_block: Block,
}

/// One of the answers that the model gives at the same time.
#[derive(Debug)]
struct Choice {
    number: u64,
    finished: bool,
    said: Said,
    calls: Vec<Call>,
}

#[derive(Debug)]
struct Call {
    block: Block,
    index: Option<u64>,
    /// The id that came, if one did.
    id: Option<String>,
    name: Option<String>,
    kind: Kind,
    brackets: Brackets,
    ended: bool,
}

impl ChunkReader {
    /// A reader at the start of a response.
    pub(super) fn new(declared: Declared) -> Self {
        ChunkReader {
            declared,
            started: false,
            choices: Vec::new(),
            next_block: 0,
        }
    }

    fn end_mark(&mut self, events: &mut Vec<Event>) {
        for choice in &mut self.choices {
            choice.finish(events);
        }
        events.push(Event::Piece(Part::MessageStop, end_mark()));
    }

    fn chunk(
        &mut self,
        data: &[u8],
        named: bool,
        events: &mut Vec<Event>,
    ) -> Result<(), Violation> {
        let json = read_json(data, "a chunk")?;
        if is_set(json.get("error")) {
            check_no_calls(&json, &[])?;
            events.push(Event::UpstreamError);
            return Ok(());
        }
        check_no_calls(&json, &["choices"])?;
        let choices = match json.get("choices") {
            Some(Json::Array(choices)) => choices.as_slice(),
            None | Some(Json::Null) if !could_act("", &json) => &[],
            _ => return Err(Violation::Incomplete("a chunk without choices")),
        };
        let whole = |part| {
            // Names mean nothing here, and some clients take frames with one for something else.
            if named {
                Event::Piece(part, frame(&json))
            } else {
                Event::Inert(part)
            }
        };
        match choices {
            [] => events.push(whole(Part::Other)),
            [choice] if !self.has_calls(choice)? => {
                let part = self.words(choice, events)?;
                events.push(whole(part));
            }
            choices => {
                let surrogates = no_lone_surrogates(data).err();
                for choice in choices {
                    self.split(&json, choice, surrogates.as_ref(), events)?;
                }
            }
        }
        Ok(())
    }

    /// Checks a choice, and says whether it holds calls.
    fn has_calls(&self, choice: &Json<'_>) -> Result<bool, Violation> {
        if choice.as_object().is_none() {
            return Err(Violation::Incomplete("a choice is not an object"));
        }
        check_no_calls(choice, &["delta"])?;
        let delta = match choice.get("delta") {
            None | Some(Json::Null) => return Ok(false),
            Some(delta @ Json::Object(_)) => delta,
            Some(_) => return Err(Violation::Incomplete("a delta is not an object")),
        };
        check_members(delta, CALLS, &self.declared)?;
        Ok(CALLS.iter().any(|key| is_set(delta.get(key))))
    }

    /// The words of a choice whose chunk holds no calls.
    fn words(&mut self, json: &Json<'_>, events: &mut Vec<Event>) -> Result<Part, Violation> {
        let started = std::mem::replace(&mut self.started, true);
        let choice = self.choice(json)?;
        let has_text = choice.hear(json.get("delta"));
        if is_set(json.get("finish_reason")) {
            choice.finish(events);
            return Ok(Part::StopReason);
        }
        Ok(match (started, has_text) {
            (false, _) => Part::MessageStart,
            (true, true) => Part::BlockMore(choice.number),
            (true, false) => Part::Other,
        })
    }

    /// The parts of a choice in frames of their own: its words, its calls, and why it ends.
    fn split(
        &mut self,
        chunk: &Json<'_>,
        json: &Json<'_>,
        surrogates: Option<&Fault>,
        events: &mut Vec<Event>,
    ) -> Result<(), Violation> {
        self.has_calls(json)?;
        let started = std::mem::replace(&mut self.started, true);
        let mut next_block = self.next_block;
        let choice = self.choice(json)?;
        let finishes = is_set(json.get("finish_reason"));
        let delta = json.get("delta").unwrap_or(&Json::Null);
        let words = without(delta, CALLS);
        let says = words.as_object().unwrap_or_default();
        if !started || says.iter().any(|(_, value)| is_set(Some(value))) {
            let has_text = choice.hear(Some(delta));
            let part = match (started, has_text) {
                (false, _) => Part::MessageStart,
                (true, true) => Part::BlockMore(choice.number),
                (true, false) => Part::Other,
            };
            let piece = with_choice(chunk, with_delta(json, words, false), false);
            events.push(Event::Piece(part, frame(&piece)));
        }
        let calls = delta.get("tool_calls").filter(|calls| is_set(Some(calls)));
        let calls = match calls {
            None => &[],
            Some(Json::Array(calls)) => calls.as_slice(),
            Some(_) => return Err(Violation::Incomplete("the tool calls are not a list")),
        };
        let legacy = delta.get("function_call").filter(|call| is_set(Some(call)));
        let fragments = calls.iter().map(Fragment::read);
        for fragment in fragments.chain(legacy.map(Fragment::legacy)) {
            choice.take(&fragment?, chunk, surrogates, &mut next_block, events)?;
        }
        if finishes {
            choice.finish(events);
            let nothing = Json::Object(Vec::new());
            let piece = with_choice(chunk, with_delta(json, nothing, true), true);
            events.push(Event::Piece(Part::StopReason, frame(&piece)));
        }
        self.next_block = next_block;
        Ok(())
    }

    /// The choice that `json` belongs to.
    fn choice(&mut self, json: &Json<'_>) -> Result<&mut Choice, Violation> {
        let number = match json.get("index") {
            None | Some(Json::Null) => 0,
            Some(index) => index.as_u64().ok_or(Violation::Incomplete(
                "the index of a choice is not a number",
            ))?,
        };
        let at = self.choices.iter().position(|c| c.number == number);
        let at = at.unwrap_or(self.choices.len());
        if at == self.choices.len() {
            if at >= MAX_CHOICES {
                return Err(Violation::TooMuch("the response has too many choices"));
            }
            self.choices.push(Choice {
                number,
                finished: false,
                said: Said::default(),
                calls: Vec::new(),
            });
        }
        let choice = self.choices.get_mut(at);
        choice.ok_or(Violation::Incomplete("a chunk without choices"))
    }
}

impl Choice {
    /// Notes what the model says, and whether that is text of the message.
    fn hear(&mut self, delta: Option<&Json<'_>>) -> bool {
        let Some(delta) = delta else {
            return false;
        };
        let mut has_text = false;
        for text in texts(delta.get("content")) {
            self.said.push(text);
            has_text |= !text.is_empty();
        }
        self.said.push(delta.get_str("refusal").unwrap_or_default());
        has_text
    }

    /// Takes a call, or a piece of one.
    fn take(
        &mut self,
        fragment: &Fragment<'_>,
        chunk: &Json<'_>,
        surrogates: Option<&Fault>,
        next_block: &mut Block,
        events: &mut Vec<Event>,
    ) -> Result<(), Violation> {
        let at = match self.find(fragment) {
            Some(at) => at,
            None if self.finished => {
                return Err(Violation::OutOfOrder(
                    "a tool call comes after the end of its choice",
                ));
            }
            None => {
                self.end_whole(events);
                self.begin(fragment, chunk, next_block, events);
                self.calls.len() - 1
            }
        };
        let Some(call) = self.calls.get_mut(at) else {
            return Ok(());
        };
        let block = call.block;
        let other_name = fragment.name.is_some() && fragment.name != call.name.as_deref();
        if call.ended {
            let more = |text: &str| !text.trim_ascii().is_empty();
            return match &fragment.input {
                Ok(text) if !other_name && !more(text) => Ok(()),
                Ok(_) | Err(_) => Err(Violation::OutOfOrder("a tool call goes on after its end")),
            };
        }
        let fault = fragment.fault().or_else(|| surrogates.cloned());
        let fault = fault.or(other_name.then_some(Fault::TwoNames));
        let other_kind = match &fragment.kind {
            Kind::Unknown(kind) => Some(Fault::UnknownKind(kind.clone())),
            Kind::Function | Kind::Custom | Kind::Legacy => None,
        };
        if let Some(fault) = fault.or(other_kind) {
            events.push(Event::CallInput(block, Err(fault)));
        }
        match &fragment.input {
            Ok(text) if text.is_empty() => {}
            Ok(text) => {
                call.brackets.push(text);
                let piece = match call.kind {
                    Kind::Custom => custom_piece(text),
                    Kind::Function | Kind::Legacy | Kind::Unknown(_) => text.to_string(),
                };
                events.push(Event::CallInput(block, Ok(piece)));
            }
            Err(fault) => events.push(Event::CallInput(block, Err(fault.clone()))),
        }
        Ok(())
    }

    /// The call that this is a piece of. Servers number calls, or only give them ids, or number all
    /// of them 0: a new id is a new call.
    fn find(&self, fragment: &Fragment<'_>) -> Option<usize> {
        let last = |is: &dyn Fn(&Call) -> bool| self.calls.iter().rposition(is);
        let is_legacy = |call: &Call| call.kind == Kind::Legacy;
        match (fragment.index, fragment.id) {
            _ if fragment.kind == Kind::Legacy => last(&is_legacy),
            (Some(index), Some(id)) => last(&|call| {
                let same_id = call.id.as_deref().is_none_or(|known| known == id);
                call.index == Some(index) && same_id
            }),
            (Some(index), None) => last(&|call| call.index == Some(index)),
            (None, Some(id)) => last(&|call| call.id.as_deref() == Some(id)),
            (None, None) if fragment.name.is_some() => None,
            (None, None) => last(&|call| !is_legacy(call)),
        }
    }

    fn begin(
        &mut self,
        fragment: &Fragment<'_>,
        chunk: &Json<'_>,
        next_block: &mut Block,
        events: &mut Vec<Event>,
    ) {
        let block = *next_block;
        *next_block += 1;
        let id = match fragment.kind {
            // Its result names the function only.
            Kind::Legacy => fragment.name.unwrap_or_default().to_owned(),
            Kind::Function | Kind::Custom | Kind::Unknown(_) => new_id(chunk, block),
        };
        let mut held = fragment.begin(self.number, id);
        held.said = self.said.end();
        events.push(Event::CallStart(block, Box::new(held)));
        if fragment.kind == Kind::Custom {
            events.push(Event::CallInput(block, Ok(CUSTOM_START.to_owned())));
        }
        self.calls.push(Call {
            block,
            index: fragment.index,
            id: fragment.id.map(str::to_owned),
            name: fragment.name.map(str::to_owned),
            kind: fragment.kind.clone(),
            brackets: Brackets::default(),
            ended: false,
        });
    }

    /// Another call begins: those whose arguments are whole have ended.
    fn end_whole(&mut self, events: &mut Vec<Event>) {
        for call in &mut self.calls {
            if call.kind != Kind::Custom && call.brackets.is_whole() {
                call.end(events);
            }
        }
    }

    /// The choice has ended, and with it all its calls.
    fn finish(&mut self, events: &mut Vec<Event>) {
        self.finished = true;
        for call in &mut self.calls {
            call.end(events);
        }
    }
}

impl Call {
    fn end(&mut self, events: &mut Vec<Event>) {
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        if self.kind == Kind::Custom {
            events.push(Event::CallInput(self.block, Ok(CUSTOM_END.to_owned())));
        }
        events.push(Event::CallEnd(self.block));
    }
}

impl Reader for ChunkReader {
    fn read(&mut self, fields: &Fields<'_>, events: &mut Vec<Event>) -> Result<(), Violation> {
        match &fields.data {
            None => events.push(Event::Silent),
            Some(data) if **data == *b"[DONE]" => self.end_mark(events),
            Some(data) => self.chunk(data, fields.event.is_some(), events)?,
        }
        Ok(())
    }

    fn is_mid_block(&self) -> bool {
        self.choices.iter().any(|choice| !choice.finished)
    }
}

/// Bytes of a response's id that make the id of a call: some servers take 40 bytes.
const ID_BYTES: usize = 24;

/// An id for a call that has none. The client needs one, to say whose result it sends.
fn new_id(chunk: &Json<'_>, block: Block) -> String {
    let response = chunk.get_str("id").unwrap_or_default();
    let plain: String = response
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .collect();
    let from = plain.len().saturating_sub(ID_BYTES);
    format!("call_{}_{block}", plain.get(from..).unwrap_or_default())
}
