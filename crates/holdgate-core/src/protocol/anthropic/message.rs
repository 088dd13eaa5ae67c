//! A message that comes whole, without streaming.

use super::super::said::Said;
use super::super::{
    Declared, GuardedMessage, ReadMessage, calls_apart, carries_calls, is_call, read_body,
};
use super::BlockKind;
use super::read::could_act;
use super::write::inert_call;
use crate::call::{Executor, HeldCall};
use crate::canonical::Canonical;
use crate::event::Violation;
use crate::stack::{Cleared, Refusal};
use holdgate_effects::json::{Json, shorten};

/// A message whose calls have been taken out.
#[derive(Debug)]
struct Message<'a> {
    json: Json<'a>,
    /// The blocks of the content; `None` in place of a call.
    content: Vec<Option<Json<'a>>>,
    /// The positions of calls that are not decided yet.
    calls: std::vec::IntoIter<usize>,
    notices: Vec<Json<'a>>,
    tool_use_sent: bool,
}

/// Reads a response body.
pub(super) fn read<'a>(body: &'a [u8], declared: &Declared) -> Result<ReadMessage<'a>, Violation> {
    let (json, fault) = read_body(body)?;
    check_members(&json)?;
    let content = match (json.get_str("type"), json.get("content")) {
        (Some("error"), None) => return ReadMessage::inert(body),
        (_, Some(Json::Array(content))) => content,
        (Some("message"), _) => {
            return Err(Violation::Incomplete("the message has no content"));
        }
        _ if could_act(&json) => {
            return Err(Violation::NotAMessage("could carry an action"));
        }
        _ => return ReadMessage::inert(body),
    };
    let mut blocks = Vec::new();
    let (mut calls, mut places) = (Vec::new(), Vec::new());
    let mut said = Said::default();
    for (at, block) in content.iter().enumerate() {
        let kind = block
            .get_str("type")
            .ok_or(Violation::Incomplete("a block without a type"))?;
        blocks.push(match declared.block(kind, block) {
            BlockKind::Inert => {
                if kind == "text" {
                    said.block(block.get_str("text").unwrap_or_default());
                }
                Some(block.clone())
            }
            BlockKind::Call(mut held) => {
                held.said = said.end();
                if let Some(fault) = &fault {
                    held.fail(fault.clone());
                }
                calls.push(*held);
                places.push(at);
                declared.check_count(calls.len())?;
                None
            }
        });
    }
    if calls.is_empty() {
        return ReadMessage::inert(body);
    }
    Ok(with_calls(json, blocks, places, calls))
}

/// A message with this content, in which calls stand for themselves.
pub(in super::super) fn message_of(
    mut json: Json<'static>,
    content: Vec<Result<Json<'static>, Box<HeldCall>>>,
) -> ReadMessage<'static> {
    let (blocks, places, calls) = calls_apart(content);
    if calls.is_empty() {
        json.set(
            "content",
            Json::Array(blocks.into_iter().flatten().collect()),
        );
        return ReadMessage::Inert(Canonical::of_value(&json.text()));
    }
    with_calls(json, blocks, places, calls)
}

fn with_calls<'a>(
    json: Json<'a>,
    content: Vec<Option<Json<'a>>>,
    places: Vec<usize>,
    calls: Vec<HeldCall>,
) -> ReadMessage<'a> {
    let message = Message {
        json,
        content,
        calls: places.into_iter(),
        notices: Vec::new(),
        tool_use_sent: false,
    };
    ReadMessage::Calls(Box::new(message), calls)
}

/// Checks that calls are only in `content`, and that every reader finds the same members.
fn check_members(json: &Json<'_>) -> Result<(), Violation> {
    let Some(members) = json.as_object() else {
        return if carries_calls(json) {
            Err(Violation::NotAMessage("carries tool calls"))
        } else {
            Ok(())
        };
    };
    let names: Json<'_> = Json::Object(
        members
            .iter()
            .map(|(k, _)| (k.clone(), Json::Null))
            .collect(),
    );
    for (key, value) in members.iter().filter(|(key, _)| key != "content") {
        if is_call(key, value) || value.ambiguous_key().is_some() {
            return Err(Violation::HiddenInMember(shorten(key, 40)));
        }
    }
    match names.ambiguous_key() {
        Some(key) => Err(Violation::AmbiguousKey(shorten(key, 40))),
        None => Ok(()),
    }
}

impl<'a> Message<'a> {
    /// Decides about the next call: `block` takes its place.
    fn put(&mut self, block: Option<Json<'a>>) {
        let place = self.calls.next().and_then(|at| self.content.get_mut(at));
        if let Some(place) = place {
            *place = block;
        }
    }
}

impl GuardedMessage for Message<'_> {
    fn call(&mut self, cleared: &Cleared) {
        let call = cleared.call();
        self.tool_use_sent |= call.runs == Executor::AtClient;
        let mut block = call.envelope.clone();
        block.set("input", call.input.clone());
        self.put(Some(block));
    }

    fn refusal(&mut self, refusal: &Refusal, notice: String, inert_id: Option<String>) {
        self.notices.push(Json::object([
            ("type", "text".into()),
            ("text", notice.into()),
        ]));
        self.tool_use_sent |= inert_id.is_some();
        self.put(inert_id.map(|id| inert_call(refusal, id)));
    }

    /// Explanations come before the first call.
    fn finish(mut self: Box<Self>) -> Canonical {
        let mut content: Vec<Json<'_>> = self.content.drain(..).flatten().collect();
        let is_call = |b: &Json<'_>| b.get_str("type") == Some("tool_use");
        let at = content.iter().position(is_call);
        let at = at.unwrap_or(content.len());
        content.splice(at..at, self.notices.drain(..));
        self.json.set("content", Json::Array(content));
        let reason = self.json.get_str("stop_reason");
        if reason == Some("tool_use") && !self.tool_use_sent {
            self.json.set("stop_reason", "end_turn".into());
        }
        Canonical::of_value(&self.json.to_string())
    }
}
