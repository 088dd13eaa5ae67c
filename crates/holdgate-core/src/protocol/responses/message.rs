//! A response that comes whole, without streaming.

use super::super::said::Said;
use super::super::{Declared, GuardedMessage, ReadMessage, calls_apart, read_body};
use super::item::{Item, could_act, judged};
use super::output::check_members;
use super::write::{inert_call, message};
use crate::call::HeldCall;
use crate::canonical::Canonical;
use crate::event::Violation;
use crate::notice;
use crate::stack::{Cleared, Refusal};
use holdgate_effects::json::Json;

/// A response whose calls have been taken out.
#[derive(Debug)]
struct Whole<'a> {
    json: Json<'a>,
    /// The items of the output. In place of a call, what is sent for it.
    output: Vec<Vec<Json<'a>>>,
    /// The positions of calls that are not decided yet.
    calls: std::vec::IntoIter<usize>,
}

/// Reads a response body.
pub(super) fn read<'a>(body: &'a [u8], declared: &Declared) -> Result<ReadMessage<'a>, Violation> {
    let (json, fault) = read_body(body)?;
    check_members(&json)?;
    let items = match (json.get_str("object"), json.get("output")) {
        (_, Some(Json::Array(items))) => items,
        (Some("response"), _) => {
            return Err(Violation::Incomplete("the response has no output"));
        }
        (_, None) if json.get("error").is_some_and(|error| !could_act(error)) => {
            return ReadMessage::inert(body);
        }
        _ if could_act(&json) => {
            return Err(Violation::NotAMessage("could carry an action"));
        }
        _ => return ReadMessage::inert(body),
    };
    let (mut calls, mut places) = (Vec::new(), Vec::new());
    let mut output = Vec::new();
    let mut said = Said::default();
    for (at, item) in items.iter().enumerate() {
        let kind = item
            .get_str("type")
            .ok_or(Violation::Incomplete("an item without a type"))?;
        output.push(match declared.item(kind, item) {
            Item::Inert => {
                if kind == "message" {
                    say(&mut said, item);
                }
                vec![item.clone()]
            }
            Item::Call(mut held, _) => {
                held.said = said.end();
                if let Some(fault) = &fault {
                    held.fail(fault.clone());
                }
                calls.push(*held);
                places.push(at);
                declared.check_count(calls.len())?;
                Vec::new()
            }
        });
    }
    if calls.is_empty() {
        return ReadMessage::inert(body);
    }
    Ok(with_calls(json, output, places, calls))
}

/// A response with this output, in which calls stand for themselves.
pub(in super::super) fn message_of(
    mut json: Json<'static>,
    items: Vec<Result<Json<'static>, Box<HeldCall>>>,
) -> ReadMessage<'static> {
    let (output, places, calls) = calls_apart(items);
    let output = output.into_iter().map(|item| item.into_iter().collect());
    let output: Vec<Vec<Json<'_>>> = output.collect();
    if calls.is_empty() {
        let output = output.into_iter().flatten().collect();
        json.set("output", Json::Array(output));
        return ReadMessage::Inert(Canonical::of_value(&json.text()));
    }
    with_calls(json, output, places, calls)
}

fn with_calls<'a>(
    json: Json<'a>,
    output: Vec<Vec<Json<'a>>>,
    places: Vec<usize>,
    calls: Vec<HeldCall>,
) -> ReadMessage<'a> {
    let whole = Whole {
        json,
        output,
        calls: places.into_iter(),
    };
    ReadMessage::Calls(Box::new(whole), calls)
}

/// What the model says in an item.
pub(super) fn say(said: &mut Said, item: &Json<'_>) {
    let parts = item.get("content").and_then(Json::as_array);
    for part in parts.unwrap_or_default() {
        let text = part.get_str("text").or_else(|| part.get_str("refusal"));
        said.block(text.unwrap_or_default());
    }
}

impl<'a> Whole<'a> {
    /// Decides about the next call: these items take its place.
    fn put(&mut self, items: Vec<Json<'a>>) {
        let place = self.calls.next().and_then(|at| self.output.get_mut(at));
        if let Some(place) = place {
            *place = items;
        }
    }
}

impl GuardedMessage for Whole<'_> {
    fn call(&mut self, cleared: &Cleared) {
        self.put(vec![judged(cleared.call())]);
    }

    fn refusal(&mut self, refusal: &Refusal, text: String, inert_id: Option<String>) {
        let id = notice::read(&text).map(|refused| refused.id.replacen("toolu_", "msg_", 1));
        let mut items = vec![message(id.as_deref().unwrap_or("msg_holdgate"), &text)];
        items.extend(inert_id.map(|id| inert_call(refusal, &id)));
        self.put(items);
    }

    fn finish(mut self: Box<Self>) -> Canonical {
        let output = self.output.drain(..).flatten().collect();
        self.json.set("output", Json::Array(output));
        Canonical::of_value(&self.json.text())
    }
}
