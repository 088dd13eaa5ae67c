//! Items, responses and errors of ours.

use super::super::MAX_DEPTH;
use super::frame::single;
use crate::canonical::Canonical;
use crate::mask::Masked;
use crate::sse;
use crate::stack::Refusal;
use holdgate_effects::json::{Json, LoneSurrogates, shorten};

/// What a response says about itself.
#[derive(Debug)]
pub(super) struct Head {
    id: String,
    model: String,
    created_at: String,
}

impl Default for Head {
    fn default() -> Self {
        Head {
            id: "resp_holdgate".to_owned(),
            model: "none".to_owned(),
            created_at: "0".to_owned(),
        }
    }
}

pub(super) fn head(frame: &Canonical) -> Head {
    let read = || {
        let data = sse::fields(frame, false).ok()?.data?;
        let json = Json::read(&data, MAX_DEPTH, LoneSurrogates::Replace).ok()?;
        let response = json.get("response")?;
        let text = |key| response.get_str(key).map(|text| shorten(text, 200));
        let none = Head::default();
        Some(Head {
            id: text("id").unwrap_or(none.id),
            model: text("model").unwrap_or(none.model),
            created_at: match response.get("created_at") {
                Some(Json::Number(at)) if at.len() < 32 => at.clone().into_owned(),
                _ => none.created_at,
            },
        })
    };
    read().unwrap_or_default()
}

pub(in super::super::super) fn text_part(text: String) -> Json<'static> {
    Json::object([
        ("type", "output_text".into()),
        ("text", text.into()),
        ("annotations", Json::Array(Vec::new())),
        ("logprobs", Json::Array(Vec::new())),
    ])
}

/// An item that holds a text of ours.
pub(in super::super::super) fn message(id: &str, text: &str) -> Json<'static> {
    Json::object([
        ("id", id.to_owned().into()),
        ("type", "message".into()),
        ("status", "completed".into()),
        ("role", "assistant".into()),
        ("content", Json::Array(vec![text_part(text.to_owned())])),
    ])
}

/// The item of a call that cannot run.
pub(in super::super) fn inert_call(refusal: &Refusal, id: &str) -> Json<'static> {
    Json::object([
        ("id", id.replacen("toolu_", "fc_", 1).into()),
        ("type", "function_call".into()),
        ("status", "completed".into()),
        ("call_id", id.to_owned().into()),
        ("name", refusal.tool().unwrap_or_default().to_owned().into()),
        ("arguments", "{}".into()),
    ])
}

/// An `error` event, after which nothing follows. Clients read its members in both places.
pub(in super::super) fn error_event(message: &str) -> Canonical {
    let message = Masked::of(message).into_string();
    let error = Json::object([
        ("type", "error".into()),
        ("sequence_number", 0.into()),
        ("code", "server_error".into()),
        ("message", message.clone().into()),
        ("param", Json::Null),
        ("error", error("server_error", message)),
    ]);
    single("error", &error.text())
}

/// An error as a whole body.
pub(in super::super) fn error_body(status: u16, message: &str) -> Canonical {
    let kind = match status {
        400..500 => "invalid_request_error",
        _ => "server_error",
    };
    let error = error(kind, Masked::of(message).into_string());
    Canonical::of_value(&Json::object([("error", error)]).text())
}

fn error(kind: &'static str, message: String) -> Json<'static> {
    Json::object([
        ("message", message.into()),
        ("type", kind.into()),
        ("param", Json::Null),
        ("code", kind.into()),
    ])
}

impl Head {
    /// A response of ours, with what is known about it.
    pub(super) fn response(&self, status: &'static str, error: Json<'static>) -> Json<'static> {
        let mut response = response(&self.id, &self.model, &self.created_at, status);
        response.set("error", error);
        response
    }
}

/// A response object, without its output and its cost.
pub(in super::super::super) fn response(
    id: &str,
    model: &str,
    created_at: &str,
    status: &'static str,
) -> Json<'static> {
    Json::object([
        ("id", id.to_owned().into()),
        ("object", "response".into()),
        ("created_at", Json::Number(created_at.to_owned().into())),
        ("status", status.into()),
        ("error", Json::Null),
        ("incomplete_details", Json::Null),
        ("instructions", Json::Null),
        ("metadata", Json::Object(Vec::new())),
        ("model", model.to_owned().into()),
        ("output", Json::Array(Vec::new())),
        ("parallel_tool_calls", Json::Bool(true)),
        ("temperature", Json::Null),
        ("tool_choice", "auto".into()),
        ("tools", Json::Array(Vec::new())),
        ("top_p", Json::Null),
        ("usage", Json::Null),
    ])
}
