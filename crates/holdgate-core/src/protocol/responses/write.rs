//! Cleared calls and refusals to frames, and inert frames to their new place.

mod frame;
mod own;

pub(in super::super) use frame::push_event;
pub(super) use frame::single;
pub(super) use own::{error_body, error_event, inert_call};
pub(in super::super) use own::{message, response, text_part};

use super::super::Writer;
use super::item::{Payload, compact, id, judged};
use super::output::wrapped_call;
use crate::canonical::{Canonical, Frames};
use crate::event::{Block, Part};
use crate::mask::Masked;
use crate::notice;
use crate::stack::{Cleared, Refusal};
use frame::{number, rewrite, with_numbers};
use holdgate_effects::json::Json;
use own::{Head, head};

/// A call's input leaves in deltas of about this size: some clients bound the length of a line.
const DELTA_BYTES: usize = 256 << 10;

/// More items than may be open at once.
const MAX_OPEN: usize = 128;

/// Bytes of calls that are repeated at the end of a response.
const MAX_KEPT: usize = 16 << 20;

/// Numbers the events and the items that leave, without gaps.
#[derive(Debug, Default)]
pub(super) struct EventWriter {
    /// What the response says about itself: its id, its model and when it was made.
    head: Option<Head>,
    /// The number of the next event.
    number: Option<u64>,
    /// The index of the next item.
    next: Block,
    /// Inert items that are open: their index as it came, and as it leaves.
    open: Vec<(Block, Block)>,
    /// What has left, in order.
    left: Vec<Left>,
    /// How many bytes of calls are kept for the end of the response; `None` if the upstream repeats
    /// them itself.
    kept: Option<usize>,
}

/// An item that has left.
#[derive(Debug)]
enum Left {
    /// As it came.
    Inert,
    /// The call with this id, as it was judged.
    Call(String),
    /// One of ours.
    Own(Json<'static>),
}

impl Writer for EventWriter {
    fn inert(&mut self, frame: Canonical, part: Part) -> Canonical {
        match part {
            Part::MessageStart => {
                self.head = Some(head(&frame));
                self.renumber(frame, None)
            }
            Part::BlockStart(block) => {
                let out = self.take_index();
                self.left.push(Left::Inert);
                if self.open.len() > MAX_OPEN {
                    // It came whole, so nothing more follows of it.
                    self.open.remove(0);
                }
                self.open.push((block, out));
                self.renumber(frame, Some((block, out)))
            }
            Part::BlockMore(block) => {
                let out = self.find_open(block);
                self.renumber(frame, Some((block, out)))
            }
            Part::BlockStop(block) => {
                let out = self.find_open(block);
                self.open.retain(|(open, _)| *open != block);
                self.renumber(frame, Some((block, out)))
            }
            Part::MessageStop => {
                let changed = rewrite(&frame, |text, json| {
                    let changed = self.end_of(json).map(|json| json.text());
                    changed.unwrap_or_else(|| text.to_owned())
                });
                self.renumber(changed, None)
            }
            Part::StopReason | Part::Other => self.renumber(frame, None),
        }
    }

    fn call(&mut self, cleared: &Cleared) -> Canonical {
        let call = cleared.call();
        let mut out = Frames::with_capacity(4 * call.text.len() + 1024);
        let item = judged(call);
        self.item(&item, &mut out);
        let room = self.kept.map(|kept| kept + call.text.len());
        self.left.push(match room.filter(|kept| *kept <= MAX_KEPT) {
            Some(kept) => {
                self.kept = Some(kept);
                Left::Own(item)
            }
            None => Left::Call(call.id.clone()),
        });
        out.finish()
    }

    fn notice(&mut self, text: &str, _: &Json<'_>) -> Canonical {
        let mut out = Frames::default();
        let item = self.message(text);
        self.item(&item, &mut out);
        self.left.push(Left::Own(item));
        out.finish()
    }

    fn inert_call(&mut self, refusal: &Refusal, id: &str) -> Canonical {
        let mut out = Frames::default();
        let item = inert_call(refusal, id);
        self.item(&item, &mut out);
        self.left.push(Left::Own(item));
        out.finish()
    }

    /// A response whose last event is missing is cut off.
    fn end(&mut self) -> Canonical {
        Canonical::default()
    }

    /// `message` as a text, and as the error of a response that has failed. Codex shows both; with
    /// this code it does not ask again.
    fn failure(&mut self, message: &str) -> Canonical {
        let message = Masked::of(message).into_string();
        let mut out = Frames::default();
        if self.head.is_none() {
            self.head = Some(Head::default());
            let response = Head::default().response("in_progress", Json::Null);
            self.push("response.created", vec![("response", response)], &mut out);
        }
        let item = self.message(&message);
        self.item(&item, &mut out);
        let error = Json::object([
            ("code", "invalid_prompt".into()),
            ("message", message.into()),
        ]);
        let none = Head::default();
        let response = self
            .head
            .as_ref()
            .unwrap_or(&none)
            .response("failed", error);
        self.push("response.failed", vec![("response", response)], &mut out);
        out.finish()
    }

    /// The event that the API itself sends while it works. Strict clients want it numbered.
    fn keep_alive(&mut self) -> Option<Canonical> {
        self.head.as_ref()?;
        let mut out = Frames::default();
        self.push("keepalive", Vec::new(), &mut out);
        Some(out.finish())
    }
}

impl EventWriter {
    /// A writer for a response whose end does not repeat its calls.
    pub(super) fn keeping() -> Self {
        EventWriter {
            kept: Some(0),
            ..EventWriter::default()
        }
    }

    /// A whole item with all its events.
    fn item(&mut self, item: &Json<'static>, out: &mut Frames) {
        let kind = item.get_str("type").unwrap_or_default().to_owned();
        let index = self.take_index();
        let name = item.get_str("id").or_else(|| id(item));
        let name: Json<'static> = name.unwrap_or_default().to_owned().into();
        let mut begun = item.clone();
        if item.get("status").is_some() {
            begun.set("status", "in_progress".into());
        }
        let at = [("item_id", name), ("output_index", index.into())];
        let event = |more: Vec<(&'static str, Json<'static>)>| [at.to_vec(), more].concat();
        let added = |begun| vec![("output_index", index.into()), ("item", begun)];
        match Payload::of(&kind) {
            Some(Payload::Arguments | Payload::Text) if kind != "mcp_approval_request" => {
                let (key, events) = match kind.as_str() {
                    "custom_tool_call" => ("input", "response.custom_tool_call_input"),
                    _ => ("arguments", "response.function_call_arguments"),
                };
                let input = item.get_str(key).unwrap_or_default().to_owned();
                begun.set(key, "".into());
                self.push("response.output_item.added", added(begun), out);
                self.deltas(&format!("{events}.delta"), &event(Vec::new()), &input, out);
                let mut done = event(vec![(key, input.into())]);
                if let Some(name) = item.get("name").filter(|_| key == "arguments") {
                    done.push(("name", name.clone()));
                }
                self.push(&format!("{events}.done"), done, out);
            }
            Some(_) => {
                self.push("response.output_item.added", added(begun), out);
            }
            None => {
                let parts = item.get("content").and_then(Json::as_array);
                let part = parts.and_then(<[_]>::first).cloned().unwrap_or(Json::Null);
                let text = part.get_str("text").unwrap_or_default().to_owned();
                let empty = text_part(String::new());
                begun.set("content", Json::Array(Vec::new()));
                let at = |more: Vec<_>| event([vec![("content_index", 0.into())], more].concat());
                let none = || ("logprobs", Json::Array(Vec::new()));
                self.push("response.output_item.added", added(begun), out);
                self.push(
                    "response.content_part.added",
                    at(vec![("part", empty)]),
                    out,
                );
                let delta = at(vec![("delta", text.clone().into()), none()]);
                self.push("response.output_text.delta", delta, out);
                let done = at(vec![("text", text.into()), none()]);
                self.push("response.output_text.done", done, out);
                self.push("response.content_part.done", at(vec![("part", part)]), out);
            }
        }
        self.push("response.output_item.done", added(item.clone()), out);
    }

    /// A text in pieces.
    fn deltas(
        &mut self,
        kind: &str,
        place: &[(&'static str, Json<'static>)],
        text: &str,
        out: &mut Frames,
    ) {
        let mut rest = text;
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(rest.ceil_char_boundary(DELTA_BYTES));
            let mut members = place.to_vec();
            members.push(("delta", piece.to_owned().into()));
            self.push(kind, members, out);
            rest = after;
        }
    }

    /// One event.
    fn push(&mut self, kind: &str, members: Vec<(&'static str, Json<'static>)>, out: &mut Frames) {
        let number = self.number.unwrap_or(0);
        self.number = Some(number.saturating_add(1));
        push_event(kind, number, members, out);
    }

    /// A message of ours.
    fn message(&self, text: &str) -> Json<'static> {
        let id = match notice::read(text) {
            Some(refused) => refused.id.replacen("toolu_", "msg_", 1),
            None => format!("msg_holdgate_{}", self.next),
        };
        message(&id, text)
    }

    /// The last event, with the output that has really left; `None` if that is what it has. The
    /// reader has checked that its calls are those that came as items.
    fn end_of(&self, json: &Json<'_>) -> Option<Json<'static>> {
        let mut response = json.get("response")?.clone().into_owned();
        let came = response.get("output")?.as_array()?;
        let is_own = |left: &Left| matches!(left, Left::Own(_));
        let calls = came.iter().filter_map(wrapped_call);
        let mut calls: Vec<&Json<'_>> = calls.collect();
        let is_silent = came.is_empty() && self.kept.is_none();
        if calls.is_empty() && (is_silent || !self.left.iter().any(is_own)) {
            return None;
        }
        let mut others = came.iter().filter(|item| wrapped_call(item).is_none());
        let mut output = Vec::new();
        for left in &self.left {
            match left {
                Left::Inert => output.extend(others.next().cloned()),
                Left::Own(item) => output.push(item.clone()),
                Left::Call(call) => {
                    let found = calls.iter().position(|item| id(item) == Some(call));
                    output.extend(found.map(|at| compact(calls.remove(at))));
                }
            }
        }
        output.extend(others.cloned());
        response.set("output", Json::Array(output));
        let mut json = json.clone().into_owned();
        json.set("response", response);
        Some(json)
    }

    fn take_index(&mut self) -> Block {
        let index = self.next;
        self.next += 1;
        index
    }

    fn find_open(&self, block: Block) -> Block {
        let found = self.open.iter().find(|(open, _)| *open == block);
        found.map_or(block, |(_, out)| *out)
    }

    /// The frame with its own number and another index; its other bytes stay as they are.
    fn renumber(&mut self, raw: Canonical, index: Option<(Block, Block)>) -> Canonical {
        let (came, expected) = (number(&raw), self.number);
        self.number = came
            .map(|came| expected.unwrap_or(came).saturating_add(1))
            .or(expected);
        let same_number = came.is_none() || expected.is_none_or(|n| came == Some(n));
        let index = index.filter(|(from, to)| from != to);
        if same_number && index.is_none() {
            return raw;
        }
        let mut wanted = Vec::new();
        wanted.extend(expected.map(|number| ("sequence_number", number)));
        wanted.extend(index.map(|(_, to)| ("output_index", to)));
        rewrite(&raw, |text, json| with_numbers(text, json, &wanted))
    }
}
