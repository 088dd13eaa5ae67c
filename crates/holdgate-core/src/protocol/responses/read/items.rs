//! The items of a response while they are streamed.

use super::super::super::no_lone_surrogates;
use super::super::item::{Item, Payload, commands, could_act, grows_to, id, is_words};
use super::super::message::say;
use super::{EventReader, MAX_DEPTH};
use crate::call::{Fault, HeldCall};
use crate::event::{Block, Event, Part, Violation};
use holdgate_effects::json::{Json, LoneSurrogates, shorten};
use std::hash::BuildHasher as _;

/// Items that may be open at once; the API has one.
const MAX_OPEN: usize = 64;
/// Items of one response.
const MAX_ITEMS: usize = 10_000;
/// Commands of one `shell_call` that events may repeat.
const MAX_COMMANDS: usize = 1000;
/// Bytes of the input that an item has when it begins, if it is not text.
const MAX_START: usize = 64 << 10;

/// An item that has begun.
#[derive(Debug)]
pub(super) enum Open {
    Inert {
        kind: String,
        /// Whether its text has come in deltas.
        said: bool,
    },
    Call(OpenCall),
}

#[derive(Debug)]
pub(super) struct OpenCall {
    kind: String,
    pub(super) id: Option<String>,
    /// Whether it is the first call with this id.
    first: bool,
    /// The input that it began with, if that is not text.
    start: Option<Json<'static>>,
    /// Commands that came one by one: their numbers and hashes.
    commands: Vec<(u64, u64)>,
}

impl EventReader {
    /// An item begins.
    pub(super) fn added(
        &mut self,
        index: Block,
        kind: &str,
        item: &Json<'_>,
        data: &[u8],
        events: &mut Vec<Event>,
    ) -> Result<(), Violation> {
        if self.last.is_some_and(|last| index <= last) {
            return Err(Violation::OutOfOrder(
                "an item starts twice or out of order",
            ));
        }
        if self.open.len() >= MAX_OPEN {
            return Err(Violation::TooMuch(
                "too many items are open at the same time",
            ));
        }
        self.last = Some(index);
        self.items += 1;
        if self.items > MAX_ITEMS {
            return Err(Violation::TooMuch("the response has too many items"));
        }
        let open = match self.declared.item(kind, item) {
            Item::Inert => {
                events.push(Event::Inert(Part::BlockStart(index)));
                Open::Inert {
                    kind: kind.to_owned(),
                    said: false,
                }
            }
            Item::Call(whole, written) => {
                let mut held = HeldCall::new(
                    whole.runs.clone(),
                    whole.id.clone(),
                    whole.name.clone(),
                    None,
                );
                held.weight = whole.weight;
                held.said = self.said.end();
                events.push(Event::CallStart(index, Box::new(held)));
                let payload = Payload::of(kind);
                let is_text = matches!(payload, Some(Payload::Arguments | Payload::Text));
                if is_text && !written.is_empty() {
                    let written = no_lone_surrogates(data).map(|()| written);
                    events.push(Event::CallInput(index, written));
                }
                let start = whole.start_input;
                let start = (!is_text && !start.is_empty() && start.len() <= MAX_START)
                    .then(|| Json::read(start.as_bytes(), MAX_DEPTH, LoneSurrogates::Replace))
                    .and_then(Result::ok);
                Open::Call(OpenCall {
                    kind: kind.to_owned(),
                    first: self.seen.begun(whole.id.as_deref()),
                    id: whole.id,
                    start: start.map(Json::into_owned),
                    commands: Vec::new(),
                })
            }
        };
        self.open.push((index, open));
        Ok(())
    }

    /// An item is whole.
    pub(super) fn done(
        &mut self,
        index: Block,
        kind: &str,
        item: &Json<'_>,
        data: &[u8],
        events: &mut Vec<Event>,
    ) -> Result<(), Violation> {
        let Some(at) = self.open.iter().position(|(open, _)| *open == index) else {
            if self.last.is_some_and(|last| index <= last) {
                // Its call was sent at the first end: clients would run it again.
                events.push(Event::Stray("a second end of an item"));
                return Ok(());
            }
            return self.at_once(index, kind, item, data, events);
        };
        let (_, open) = self.open.remove(at);
        match (open, self.declared.item(kind, item)) {
            (Open::Inert { kind: begun, said }, Item::Inert) if begun == kind => {
                if kind == "message" && !said {
                    say(&mut self.said, item);
                }
                events.push(Event::Inert(Part::BlockStop(index)));
            }
            (Open::Inert { .. }, _) => {
                return Err(Violation::OutOfOrder(
                    "an item ends as another kind than it began",
                ));
            }
            (Open::Call(_), Item::Inert) => {
                events.push(Event::CallInput(index, Err(Fault::Differs)));
                events.push(Event::CallEnd(index));
            }
            (Open::Call(open), Item::Call(mut whole, written)) => {
                if let Err(fault) = no_lone_surrogates(data) {
                    whole.fail(fault);
                }
                if open.kind != kind || !self.agrees(&open, item, &whole) {
                    whole.fail(Fault::Differs);
                }
                let first = open.first && open.id.as_deref() == id(item);
                self.seen.done(item, first);
                events.push(Event::CallWhole(index, whole, written));
                events.push(Event::CallEnd(index));
            }
        }
        Ok(())
    }

    /// An item that ends without having begun.
    fn at_once(
        &mut self,
        index: Block,
        kind: &str,
        item: &Json<'_>,
        data: &[u8],
        events: &mut Vec<Event>,
    ) -> Result<(), Violation> {
        self.added(index, kind, item, data, events)?;
        if let Some((_, Open::Inert { .. })) = self.open.last() {
            self.open.pop();
            if kind == "message" {
                say(&mut self.said, item);
            }
            return Ok(());
        }
        self.done(index, kind, item, data, events)
    }

    /// Whether the whole item is what its events have said.
    fn agrees(&self, open: &OpenCall, item: &Json<'_>, whole: &HeldCall) -> bool {
        let grows = open.start.as_ref().is_none_or(|start| {
            let now = whole.start_input.as_bytes();
            let now = Json::read(now, MAX_DEPTH, LoneSurrogates::Replace);
            now.is_ok_and(|now| grows_to(start, &now))
        });
        let commands = commands(item);
        let same = open.commands.iter().all(|(number, hash)| {
            let command = usize::try_from(*number)
                .ok()
                .and_then(|at| commands.get(at));
            command.is_some_and(|command| self.seen.keys.hash_one(command.as_str()) == *hash)
        });
        grows && same
    }

    /// An event of an item that has begun.
    pub(super) fn delta(
        &mut self,
        index: Block,
        kind: &str,
        json: &Json<'_>,
        data: &[u8],
    ) -> Result<Event, Violation> {
        let found = self.open.iter_mut().find(|(open, _)| *open == index);
        let Some((_, open)) = found else {
            return Err(Violation::OutOfOrder(
                "an event of an item that is not open",
            ));
        };
        let text = |key: &'static str| {
            let text = json.get_str(key);
            text.ok_or(Violation::Incomplete("an event without its text"))
        };
        let input = |key| {
            let text = text(key)?;
            Ok::<_, Violation>(no_lone_surrogates(data).map(|()| text.to_owned()))
        };
        let call = match open {
            Open::Inert { kind: item, said } => {
                let spoken = match kind {
                    "response.output_text.delta" | "response.refusal.delta" => Some(text("delta")?),
                    _ => None,
                };
                if let Some(spoken) = spoken.filter(|_| item == "message") {
                    if std::mem::replace(said, true) {
                        self.said.push(spoken);
                    } else {
                        self.said.block(spoken);
                    }
                }
                if !is_of(item, kind, json) && could_act(json) {
                    return Err(wrong(kind, "an item of another kind"));
                }
                return Ok(Event::Inert(Part::BlockMore(index)));
            }
            Open::Call(call) => call,
        };
        Ok(match (call.kind.as_str(), kind) {
            ("function_call", "response.function_call_arguments.delta")
            | ("custom_tool_call", "response.custom_tool_call_input.delta")
            | ("shell_call", "response.shell_call_command.delta")
            | ("apply_patch_call", "response.apply_patch_call_operation_diff.delta") => {
                Event::CallInput(index, input("delta")?)
            }
            ("function_call", "response.function_call_arguments.done") => {
                Event::CallAgain(index, input("arguments")?)
            }
            ("custom_tool_call", "response.custom_tool_call_input.done") => {
                Event::CallAgain(index, input("input")?)
            }
            ("apply_patch_call", "response.apply_patch_call_operation_diff.done") => {
                Event::CallAgain(index, input("diff")?)
            }
            ("shell_call", "response.shell_call_command.done") => {
                let number = json.get("command_index").and_then(Json::as_u64);
                let hash = self.seen.keys.hash_one(Some(text("command")?));
                if call.commands.len() >= MAX_COMMANDS {
                    return Err(Violation::TooMuch("a call has too many commands"));
                }
                call.commands.push((number.unwrap_or(0), hash));
                Event::CallNoise
            }
            (item, kind) if Payload::of(item).is_none() || is_named(item, kind) => Event::CallNoise,
            (_, kind) => return Err(wrong(kind, "a tool call")),
        })
    }
}

fn wrong(kind: &str, block: &'static str) -> Violation {
    Violation::WrongDelta {
        delta: shorten(kind, 60),
        block,
    }
}

/// Whether this event is one that inert items of this kind have.
fn is_of(item: &str, event: &str, json: &Json<'_>) -> bool {
    let Some(event) = event.strip_prefix("response.") else {
        return false;
    };
    match (item, event) {
        ("message" | "reasoning", "content_part.added" | "content_part.done")
        | ("reasoning", "reasoning_summary_part.added" | "reasoning_summary_part.done") => {
            json.get("part").is_some_and(is_words)
        }
        (
            "message",
            "output_text.delta"
            | "output_text.done"
            | "refusal.delta"
            | "refusal.done"
            | "output_text.annotation.added",
        )
        | (
            "reasoning",
            "reasoning_summary_text.delta"
            | "reasoning_summary_text.done"
            | "reasoning_text.delta"
            | "reasoning_text.done"
            | "reasoning_summary.delta"
            | "reasoning_summary.done"
            | "reasoning.delta"
            | "reasoning.done",
        ) => true,
        ("message" | "reasoning", _) => false,
        (item, event) => event.starts_with(item),
    }
}

/// Whether the event's name says that it belongs to items of this kind.
fn is_named(item: &str, event: &str) -> bool {
    let event = event.strip_prefix("response.");
    event.is_some_and(|event| event.starts_with(item))
}
