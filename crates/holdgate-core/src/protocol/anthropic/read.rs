//! Turns frames into events. Inert kinds are listed; everything else is held or ends the stream.

use super::super::said::Said;
use super::super::{Declared, MAX_DEPTH, Reader, carries_calls, is_call, no_lone_surrogates};
use super::BlockKind;
use crate::call::Executor;
use crate::event::{Block, Event, Part, Violation};
use crate::sse::Fields;
use holdgate_effects::json::{Json, LoneSurrogates, fold, shorten};

/// Blocks that may be open at once; the API has one.
const MAX_OPEN: usize = 64;
/// Keys that can carry an action, wherever an unknown event has them.
const ACTION_KEYS: &[&str] = &[
    "content_block",
    "content",
    "delta",
    "message",
    "input",
    "partial_json",
    "arguments",
    "tool_use",
    "tool_calls",
    "function_call",
    "command",
];

/// Follows one message from its start to its stop.
#[derive(Debug)]
pub(super) struct EventReader {
    declared: Declared,
    started: bool,
    last_block: Option<Block>,
    open: Vec<(Block, Open)>,
    said: Said,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Open {
    Inert,
    Call,
    UnknownCall,
}

impl EventReader {
    /// A reader at the start of a message.
    pub(super) fn new(declared: Declared) -> Self {
        EventReader {
            declared,
            started: false,
            last_block: None,
            open: Vec::new(),
            said: Said::default(),
        }
    }

    /// What a frame means.
    fn frame(&mut self, fields: &Fields<'_>) -> Result<Event, Violation> {
        let Some(data) = &fields.data else {
            return match fields.event {
                None => Ok(Event::Silent),
                Some(_) => Err(Violation::Incomplete("an event has a name but no data")),
            };
        };
        if fields.event.is_none() && data.as_ref() == b"[DONE]" {
            return Ok(Event::Stray("the end marker of another protocol"));
        }
        let json = Json::read(data, MAX_DEPTH, LoneSurrogates::Replace).map_err(|error| {
            Violation::Json {
                what: "an event's data",
                error,
            }
        })?;
        let kind = json
            .get_str("type")
            .ok_or(Violation::Incomplete("an event has no type"))?;
        if fields.event != Some(kind) {
            return Err(Violation::OtherName {
                name: shorten(fields.event.unwrap_or_default(), 40),
                kind: shorten(kind, 40),
            });
        }
        let event = self.event(kind, &json, data)?;
        match &event {
            Event::Ping | Event::UpstreamError | Event::Inert(_) => leaves(kind, &json)?,
            Event::Piece(..)
            | Event::Silent
            | Event::CallStart(..)
            | Event::CallInput(..)
            | Event::CallAgain(..)
            | Event::CallWhole(..)
            | Event::CallNoise
            | Event::CallEnd(_)
            | Event::Failure(_)
            | Event::Stray(_) => {}
        }
        Ok(event)
    }

    fn event(&mut self, kind: &str, json: &Json<'_>, data: &[u8]) -> Result<Event, Violation> {
        match kind {
            "ping" if !could_act(json) => Ok(Event::Ping),
            "error" => Ok(Event::UpstreamError),
            "message_start" => self.message_start(json),
            _ if !self.started => Err(Violation::OutOfOrder(
                "the message does not begin with message_start",
            )),
            "content_block_start" => self.block_start(json, data),
            "content_block_delta" => self.block_delta(json, data),
            "content_block_stop" => self.block_stop(json),
            "message_delta" => Ok(Event::Inert(message_delta(json))),
            "message_stop" => self.message_stop(),
            _ if could_act(json) => Err(Violation::UnknownEvent(shorten(kind, 40))),
            _ => Ok(Event::Inert(Part::Other)),
        }
    }

    fn message_start(&mut self, json: &Json<'_>) -> Result<Event, Violation> {
        // Clients start from this object: a block inside it would need no block events.
        let content = json.get("message").and_then(|m| m.get("content"));
        match content {
            None | Some(Json::Null) => {}
            Some(Json::Array(blocks)) if blocks.is_empty() => {}
            Some(_) => return Err(Violation::OutOfOrder("message_start brings content")),
        }
        match (std::mem::replace(&mut self.started, true), self.last_block) {
            (false, _) => Ok(Event::Inert(Part::MessageStart)),
            // Some gateways send it twice.
            (true, None) => Ok(Event::Stray("a second message_start")),
            (true, Some(_)) => Err(Violation::OutOfOrder("a second message_start")),
        }
    }

    fn block_start(&mut self, json: &Json<'_>, data: &[u8]) -> Result<Event, Violation> {
        let index = index(json)?;
        if self.last_block.is_some_and(|last| index <= last) {
            return Err(Violation::OutOfOrder(
                "a block starts twice or out of order",
            ));
        }
        if self.open.len() >= MAX_OPEN {
            return Err(Violation::TooMuch(
                "too many blocks are open at the same time",
            ));
        }
        self.last_block = Some(index);
        let block = json
            .get("content_block")
            .ok_or(Violation::Incomplete("a block start without a block"))?;
        let kind = block
            .get_str("type")
            .ok_or(Violation::Incomplete("a block without a type"))?;
        let (open, event) = match self.declared.block(kind, block) {
            BlockKind::Inert => {
                if kind == "text" {
                    self.said.block(block.get_str("text").unwrap_or_default());
                }
                (Open::Inert, Event::Inert(Part::BlockStart(index)))
            }
            BlockKind::Call(mut held) => {
                held.said = self.said.end();
                let open = match &held.runs {
                    Executor::AtClient | Executor::AtProvider => Open::Call,
                    Executor::Unknown(_) => Open::UnknownCall,
                };
                if let Err(fault) = no_lone_surrogates(data) {
                    held.fail(fault);
                }
                (open, Event::CallStart(index, held))
            }
        };
        self.open.push((index, open));
        Ok(event)
    }

    fn block_delta(&mut self, json: &Json<'_>, data: &[u8]) -> Result<Event, Violation> {
        let index = index(json)?;
        let delta = json
            .get("delta")
            .ok_or(Violation::Incomplete("a block delta without a delta"))?;
        let kind = delta
            .get_str("type")
            .ok_or(Violation::Incomplete("a delta without a type"))?;
        match (self.find_open(index), kind) {
            (None, _) => Err(Violation::OutOfOrder(
                "a delta for a block that is not open",
            )),
            (Some(Open::UnknownCall), _) => Ok(Event::CallNoise),
            (Some(Open::Call), "input_json_delta") => {
                let fragment = delta.get_str("partial_json").ok_or(Violation::Incomplete(
                    "an input_json_delta without partial_json",
                ))?;
                let fragment = no_lone_surrogates(data).map(|()| fragment.to_owned());
                Ok(Event::CallInput(index, fragment))
            }
            (Some(Open::Call), other) => Err(Violation::WrongDelta {
                delta: shorten(other, 40),
                block: "a tool call",
            }),
            (Some(Open::Inert), "text_delta") => {
                self.said.push(delta.get_str("text").unwrap_or_default());
                Ok(Event::Inert(Part::BlockMore(index)))
            }
            (
                Some(Open::Inert),
                "thinking_delta" | "signature_delta" | "citations_delta" | "compaction_delta",
            ) => Ok(Event::Inert(Part::BlockMore(index))),
            (Some(Open::Inert), other)
                if other == "input_json_delta" || could_act(delta) || carries_calls(delta) =>
            {
                Err(Violation::WrongDelta {
                    delta: shorten(other, 40),
                    block: "a block of text",
                })
            }
            (Some(Open::Inert), _) => Ok(Event::Inert(Part::BlockMore(index))),
        }
    }

    fn block_stop(&mut self, json: &Json<'_>) -> Result<Event, Violation> {
        let index = index(json)?;
        if let Some(at) = self.open.iter().position(|(block, _)| *block == index) {
            return Ok(match self.open.remove(at).1 {
                Open::Inert => Event::Inert(Part::BlockStop(index)),
                Open::Call | Open::UnknownCall => Event::CallEnd(index),
            });
        }
        Ok(Event::Stray("a stop for a block that is not open"))
    }

    fn message_stop(&mut self) -> Result<Event, Violation> {
        if self.open.iter().any(|(_, open)| *open != Open::Inert) {
            return Err(Violation::OutOfOrder(
                "the message ends in the middle of a tool call",
            ));
        }
        Ok(Event::Inert(Part::MessageStop))
    }

    fn find_open(&self, index: Block) -> Option<Open> {
        let found = self.open.iter().find(|(block, _)| *block == index);
        found.map(|(_, open)| *open)
    }
}

impl Reader for EventReader {
    fn read(&mut self, fields: &Fields<'_>, events: &mut Vec<Event>) -> Result<(), Violation> {
        events.push(self.frame(fields)?);
        Ok(())
    }

    fn is_mid_block(&self) -> bool {
        !self.open.is_empty()
    }
}

fn message_delta(json: &Json<'_>) -> Part {
    match json.get("delta").and_then(|d| d.get("stop_reason")) {
        None | Some(Json::Null) => Part::Other,
        Some(_) => Part::StopReason,
    }
}

fn index(json: &Json<'_>) -> Result<Block, Violation> {
    let index = json.get("index").and_then(Json::as_u64);
    index.ok_or(Violation::Incomplete("a block event without an index"))
}

/// Checks an event that leaves: no reader may find a call in it.
fn leaves(kind: &str, json: &Json<'_>) -> Result<(), Violation> {
    let members = json.as_object().unwrap_or_default().iter();
    // The block itself has been looked at by its kind.
    let starts = kind == "content_block_start";
    let mut members =
        members.filter(|(key, _)| key != "type" && !(starts && key == "content_block"));
    if members.any(|(key, value)| is_call(key, value)) {
        return Err(Violation::HiddenCall(shorten(kind, 40)));
    }
    match json.ambiguous_key() {
        Some(key) => Err(Violation::AmbiguousKey(shorten(key, 40))),
        None => Ok(()),
    }
}

pub(super) fn could_act(json: &Json<'_>) -> bool {
    match json {
        Json::Object(members) => members
            .iter()
            .any(|(key, value)| ACTION_KEYS.contains(&fold(key).as_str()) || could_act(value)),
        Json::Array(items) => items.iter().any(could_act),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => false,
    }
}
