//! A response that comes whole, without streaming.

use super::super::chat::without;
use super::super::said::Said;
use super::super::{Declared, GuardedMessage, ReadMessage};
use super::line::{self, CALLS, Line};
use super::write::{inert_call, tool_call};
use crate::canonical::Canonical;
use crate::event::Violation;
use crate::stack::{Cleared, Refusal};
use holdgate_effects::json::Json;
use std::collections::HashMap;

/// A message whose calls have been taken out.
#[derive(Debug)]
struct Message<'a> {
    json: Json<'a>,
    calls: Vec<Json<'static>>,
    text: String,
}

/// Reads a response body.
pub(super) fn read<'a>(body: &'a [u8], declared: &Declared) -> Result<ReadMessage<'a>, Violation> {
    let (json, mut calls) = match line::read(body, declared, &mut HashMap::new())? {
        Line::Message(json, calls) => (json, calls),
        Line::Error => (Json::Null, Vec::new()),
    };
    if calls.is_empty() {
        return ReadMessage::inert(body);
    }
    let text = line::text(&json).to_owned();
    let mut said = Said::default();
    said.push(&text);
    for call in &mut calls {
        call.said = said.end();
    }
    let message = Message {
        json,
        calls: Vec::new(),
        text,
    };
    Ok(ReadMessage::Calls(Box::new(message), calls))
}

impl GuardedMessage for Message<'_> {
    fn call(&mut self, cleared: &Cleared) {
        self.calls.push(tool_call(cleared.call()));
    }

    fn refusal(&mut self, refusal: &Refusal, notice: String, inert_id: Option<String>) {
        if !self.text.is_empty() {
            self.text.push_str("\n\n");
        }
        self.text.push_str(&notice);
        self.calls
            .extend(inert_id.map(|id| inert_call(refusal, &id)));
    }

    fn finish(mut self: Box<Self>) -> Canonical {
        let none = Json::Object(Vec::new());
        let mut message = without(self.json.get("message").unwrap_or(&none), CALLS);
        message.set("content", self.text.into());
        if !self.calls.is_empty() {
            message.set("tool_calls", Json::Array(self.calls));
        }
        self.json.set("message", message);
        Canonical::of_value(&self.json.text())
    }
}
