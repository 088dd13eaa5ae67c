//! Cleared calls and refusals to lines.

use super::super::Writer;
use crate::call::ToolCall;
use crate::canonical::{Canonical, Frames};
use crate::event::Part;
use crate::mask::Masked;
use crate::stack::{Cleared, Refusal};
use holdgate_effects::json::{Json, LoneSurrogates};

/// Bytes of what all lines have in common, at the most: it is written once for each call.
const HEAD_BYTES: usize = 1 << 10;

/// Writes lines like the upstream's own.
#[derive(Debug, Default)]
pub(super) struct LineWriter {
    /// Model and time, as the upstream's last line has them.
    head: Option<(Json<'static>, Json<'static>)>,
    has_text: bool,
}

impl Writer for LineWriter {
    fn inert(&mut self, frame: Canonical, part: Part) -> Canonical {
        match part {
            Part::BlockMore(_) => self.has_text = true,
            Part::MessageStart
            | Part::BlockStart(_)
            | Part::BlockStop(_)
            | Part::StopReason
            | Part::MessageStop
            | Part::Other => {}
        }
        if self.head.is_none() {
            let json = Json::read(&frame, 128, LoneSurrogates::Replace);
            let member = |key| {
                let value = json.as_ref().ok()?.get(key)?.clone();
                (value.text().len() <= HEAD_BYTES).then(|| value.into_owned())
            };
            self.head = member("model").zip(member("created_at"));
        }
        frame
    }

    fn call(&mut self, cleared: &Cleared) -> Canonical {
        let call = tool_call(cleared.call());
        self.message("", Some(call))
    }

    fn notice(&mut self, text: &str, _: &Json<'_>) -> Canonical {
        let before = if self.has_text { "\n\n" } else { "" };
        self.has_text = true;
        self.message(&format!("{before}{text}"), None)
    }

    fn inert_call(&mut self, refusal: &Refusal, id: &str) -> Canonical {
        self.message("", Some(inert_call(refusal, id)))
    }

    fn end(&mut self) -> Canonical {
        Canonical::default()
    }

    /// `message` as a text, for clients that ignore what they do not know, and as an error.
    fn failure(&mut self, message: &str) -> Canonical {
        let mut out = Frames::default();
        let text = Masked::of(message).into_string();
        let text = if self.has_text {
            format!("\n\n{text}")
        } else {
            text
        };
        out.push_line(&[&self.line(&text, None).text()]);
        out.push_line(&[&error(message).text()]);
        out.finish()
    }
}

impl LineWriter {
    fn message(&self, text: &str, call: Option<Json<'static>>) -> Canonical {
        frame(&self.line(text, call))
    }

    fn line(&self, text: &str, call: Option<Json<'static>>) -> Json<'static> {
        let (model, created_at) = self
            .head
            .clone()
            .unwrap_or_else(|| ("none".into(), "1970-01-01T00:00:00Z".into()));
        let mut message = Json::object([
            ("role", "assistant".into()),
            ("content", text.to_owned().into()),
        ]);
        if let Some(call) = call {
            message.set("tool_calls", Json::Array(vec![call]));
        }
        Json::object([
            ("model", model),
            ("created_at", created_at),
            ("message", message),
            ("done", Json::Bool(false)),
        ])
    }
}

/// A call as it stands in a message, written from what was judged.
pub(super) fn tool_call(call: &ToolCall) -> Json<'static> {
    let function = Json::object([
        ("name", call.name.clone().into()),
        ("arguments", call.input.clone()),
    ]);
    match call.envelope.get("has_id") {
        Some(Json::Bool(true)) => {
            Json::object([("id", call.id.clone().into()), ("function", function)])
        }
        _ => Json::object([("function", function)]),
    }
}

/// A call that cannot run.
pub(super) fn inert_call(refusal: &Refusal, id: &str) -> Json<'static> {
    let name = refusal.tool().unwrap_or_default().to_owned();
    let function = Json::object([
        ("name", name.into()),
        ("arguments", Json::Object(Vec::new())),
    ]);
    Json::object([("id", id.to_owned().into()), ("function", function)])
}

/// A line with these data.
pub(super) fn frame(json: &Json<'_>) -> Canonical {
    let mut out = Frames::default();
    out.push_line(&[&json.text()]);
    out.finish()
}

/// A line that adds nothing.
pub(super) fn empty_line() -> Canonical {
    LineWriter::default().message("", None)
}

/// The error object of the API.
pub(super) fn error(message: &str) -> Json<'static> {
    Json::object([("error", Masked::of(message).into_string().into())])
}
