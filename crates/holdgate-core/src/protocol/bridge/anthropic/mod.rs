//! The side of a bridge that faces a client of Anthropic Messages.

mod compose;
mod request;

use super::super::ReadMessage;
use super::super::Writer;
use super::super::anthropic::{held_call, message_of, writer};
use super::{Composer, End, Head, Part, Reason, Side, Untranslatable, Usage, Words};
use crate::call::{Executor, HeldCall};
use crate::request::{Bridged, DeclaredTool, Dialect};
use holdgate_effects::json::Json;

/// The signature of thinking that no provider has signed. Clients want one; it goes nowhere.
const SIGNATURE: &str = "unsigned";

#[derive(Debug)]
pub(super) struct Anthropic;

impl Side for Anthropic {
    fn path(&self) -> &'static str {
        "/messages"
    }

    fn request(
        &self,
        body: &Json<'_>,
        dialect: Dialect,
    ) -> Result<(Json<'static>, Bridged), Untranslatable> {
        Ok(request::translate(body, dialect))
    }

    fn call(&self, id: &str, tool: &DeclaredTool) -> HeldCall {
        let block = Json::object([
            ("type", "tool_use".into()),
            ("id", id.into()),
            ("name", tool.name.as_str().into()),
            ("input", Json::Object(Vec::new())),
        ]);
        held_call(&block, Executor::AtClient)
    }

    fn composer(&self) -> Box<dyn Composer> {
        Box::<compose::MessageComposer>::default()
    }

    fn writer(&self) -> Box<dyn Writer> {
        writer()
    }

    fn message(&self, head: &Head, parts: Vec<Part>, end: &End) -> ReadMessage<'static> {
        let content = parts.into_iter().map(|part| match part {
            Part::Words(Words::Text, text) => Ok(Json::object([
                ("type", "text".into()),
                ("text", text.into()),
            ])),
            Part::Words(Words::Thinking, text) => Ok(Json::object([
                ("type", "thinking".into()),
                ("thinking", text.into()),
                ("signature", SIGNATURE.into()),
            ])),
            Part::Call(call) => Err(call),
        });
        let mut message = message_head(head);
        message.set("stop_reason", stop_reason(end).into());
        message.set("stop_sequence", stop_sequence(end));
        message.set("usage", usage(end.usage));
        message_of(message, content.collect())
    }
}

/// A message of which nothing has come but its head.
fn message_head(head: &Head) -> Json<'static> {
    Json::object([
        ("id", head.id("msg", 0).into()),
        ("type", "message".into()),
        ("role", "assistant".into()),
        ("model", head.model.clone().into()),
        ("content", Json::Array(Vec::new())),
        ("stop_reason", Json::Null),
        ("stop_sequence", Json::Null),
        ("usage", usage(Usage::default())),
    ])
}

/// Calls decide, whatever the upstream says; the writer takes the reason back if none is sent.
fn stop_reason(end: &End) -> &'static str {
    match end.reason {
        Reason::Length => "max_tokens",
        Reason::Filter => "refusal",
        Reason::Done if end.has_calls => "tool_use",
        Reason::Done if end.stop.is_some() => "stop_sequence",
        Reason::Done => "end_turn",
    }
}

fn stop_sequence(end: &End) -> Json<'static> {
    let stop = end.stop.clone();
    let stop = stop.filter(|_| stop_reason(end) == "stop_sequence");
    stop.map_or(Json::Null, Json::from)
}

fn usage(usage: Usage) -> Json<'static> {
    Json::object([
        (
            "input_tokens",
            usage.input.saturating_sub(usage.cached).into(),
        ),
        ("cache_creation_input_tokens", 0.into()),
        ("cache_read_input_tokens", usage.cached.into()),
        ("output_tokens", usage.output.into()),
    ])
}
