//! Turns chunks into events. Words leave at once; calls are taken out of their chunks and held, and
//! what is neither ends the stream.
//!
//! A call has no end of its own. It is whole when its choice ends, when the stream does, or when
//! another call of the choice begins and its arguments are a whole object by then: calls may be
//! interleaved.

use super::super::{Declared, Reader};
use super::choice::Choice;
use super::chunk::{
    check_members, check_no_calls, could_act, head, is_set, no_lone_surrogates, read_json,
    with_choice, with_delta, without,
};
use super::fragment::Fragment;
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

    fn chunk(&mut self, data: &[u8], events: &mut Vec<Event>) -> Result<(), Violation> {
        let json = read_json(data, "a chunk")?;
        let is_error = is_set(json.get("error"));
        check_no_calls(&json, &["choices"])?;
        let choices = match json.get("choices") {
            Some(Json::Array(choices)) => choices.as_slice(),
            None | Some(Json::Null) if is_error || !could_act("", &json) => &[],
            _ => return Err(Violation::Incomplete("a chunk without choices")),
        };
        if choices.len() > MAX_CHOICES {
            return Err(Violation::TooMuch("a chunk has too many choices"));
        }
        if is_error {
            for choice in choices {
                if self.has_calls(choice)? {
                    return Err(Violation::HiddenInMember("choices".to_owned()));
                }
            }
            events.push(Event::UpstreamError);
            return Ok(());
        }
        match choices {
            [] => events.push(Event::Inert(Part::Other)),
            [choice] if !self.has_calls(choice)? => {
                let part = self.words(choice, events)?;
                events.push(Event::Inert(part));
            }
            choices => {
                let surrogates = no_lone_surrogates(data).err();
                let head = head(&json);
                for choice in choices {
                    self.split(&head, choice, surrogates.as_ref(), events)?;
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
        let calls = delta.get("tool_calls").and_then(Json::as_array);
        self.declared.check_count(calls.unwrap_or_default().len())?;
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
        head: &Json<'_>,
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
            let piece = with_choice(head, with_delta(json, words, false), false);
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
            choice.take(&fragment?, head, surrogates, &mut next_block, events)?;
        }
        if finishes {
            choice.finish(events);
            let nothing = Json::Object(Vec::new());
            let piece = with_choice(head, with_delta(json, nothing, true), true);
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
            self.choices.push(Choice::new(number));
        }
        let choice = self.choices.get_mut(at);
        choice.ok_or(Violation::Incomplete("a chunk without choices"))
    }
}

impl Reader for ChunkReader {
    fn read(&mut self, fields: &Fields<'_>, events: &mut Vec<Event>) -> Result<(), Violation> {
        match &fields.data {
            None => events.push(Event::Silent),
            Some(data) if **data == *b"[DONE]" => self.end_mark(events),
            Some(data) => self.chunk(data, events)?,
        }
        Ok(())
    }

    fn is_mid_block(&self) -> bool {
        self.choices.iter().any(|choice| !choice.finished)
    }
}
