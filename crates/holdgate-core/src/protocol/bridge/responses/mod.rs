//! The side of a bridge that faces a client of Responses, such as Codex.

mod compose;
mod request;

use super::super::responses::{
    held_item, keeping_writer, message_item, message_of, response, text_part,
};
use super::super::{ReadMessage, Writer};
use super::{Composer, End, Head, Part, Reason, Side, Untranslatable, Usage, Words};
use crate::call::HeldCall;
use crate::request::{Bridged, DeclaredTool, Dialect};
use holdgate_effects::json::Json;

#[derive(Debug)]
pub(super) struct Responses;

impl Side for Responses {
    fn path(&self) -> &'static str {
        "/responses"
    }

    fn request(
        &self,
        body: &Json<'_>,
        dialect: Dialect,
    ) -> Result<(Json<'static>, Bridged), Untranslatable> {
        request::translate(body, dialect)
    }

    fn call(&self, id: &str, tool: &DeclaredTool) -> HeldCall {
        let (kind, start, input) = if tool.takes_text {
            ("custom_tool_call", "ctc", "input")
        } else {
            ("function_call", "fc", "arguments")
        };
        let mut item = Json::object([
            ("id", format!("{start}_{id}").into()),
            ("type", kind.into()),
            ("status", "completed".into()),
            ("call_id", id.into()),
            ("name", tool.name.as_str().into()),
            (input, "".into()),
        ]);
        if let Some(namespace) = &tool.namespace {
            item.set("namespace", namespace.as_str().into());
        }
        held_item(kind, &item)
    }

    fn composer(&self) -> Box<dyn Composer> {
        Box::<compose::ResponseComposer>::default()
    }

    fn writer(&self) -> Box<dyn Writer> {
        keeping_writer()
    }

    fn message(&self, head: &Head, parts: Vec<Part>, end: &End) -> ReadMessage<'static> {
        let output = parts.into_iter().enumerate().map(|(at, part)| match part {
            Part::Words(kind, text) => Ok(item(kind, &item_id(head, kind, at as u64), &text)),
            Part::Call(call) => Err(call),
        });
        message_of(response_of(head, Some(end)), output.collect())
    }
}

fn item_id(head: &Head, kind: Words, number: u64) -> String {
    let start = match kind {
        Words::Text => "msg",
        Words::Thinking => "rs",
    };
    head.id(start, number)
}

/// An item of words that is whole.
fn item(kind: Words, id: &str, text: &str) -> Json<'static> {
    match kind {
        Words::Text => message_item(id, text),
        Words::Thinking => Json::object([
            ("id", id.to_owned().into()),
            ("type", "reasoning".into()),
            ("status", "completed".into()),
            ("summary", Json::Array(Vec::new())),
            ("content", Json::Array(vec![part(kind, text)])),
        ]),
    }
}

/// The content of an item of words.
fn part(kind: Words, text: &str) -> Json<'static> {
    let text = text.to_owned();
    match kind {
        Words::Text => text_part(text),
        Words::Thinking => Json::object([("type", "reasoning_text".into()), ("text", text.into())]),
    }
}

/// The response object, at its end or before it.
fn response_of(head: &Head, end: Option<&End>) -> Json<'static> {
    let (status, why) = match end.map(|end| end.reason) {
        None => ("in_progress", None),
        Some(Reason::Done) => ("completed", None),
        Some(Reason::Length) => ("incomplete", Some("max_output_tokens")),
        Some(Reason::Filter) => ("incomplete", Some("content_filter")),
    };
    let created = head.created.to_string();
    let mut response = response(&head.id("resp", 0), &head.model, &created, status);
    if let Some(why) = why {
        let why = Json::object([("reason", why.into())]);
        response.set("incomplete_details", why);
    }
    if let Some(end) = end {
        response.set("usage", usage(end.usage));
    }
    response
}

fn usage(usage: Usage) -> Json<'static> {
    let details = |key, number: u64| Json::object([(key, number.into())]);
    Json::object([
        ("input_tokens", usage.input.into()),
        (
            "input_tokens_details",
            details("cached_tokens", usage.cached),
        ),
        ("output_tokens", usage.output.into()),
        (
            "output_tokens_details",
            details("reasoning_tokens", usage.reasoning),
        ),
        (
            "total_tokens",
            usage.input.saturating_add(usage.output).into(),
        ),
    ])
}
