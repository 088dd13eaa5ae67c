//! Cleared calls and refusals to chunks.

use super::super::Writer;
use super::super::chat::without;
use super::names::is;
use crate::call::ToolCall;
use crate::canonical::{Canonical, Frames};
use crate::event::Part;
use crate::mask::Masked;
use crate::stack::{Cleared, Refusal};
use holdgate_effects::json::Json;

/// Writes chunks like the upstream's own.
#[derive(Debug, Default)]
pub(super) struct ChunkWriter {
    notices: Notices,
}

/// Where notices have been put: clients join the texts of a candidate.
#[derive(Debug, Default)]
pub(super) struct Notices {
    candidates: Vec<u64>,
}

impl Notices {
    /// A notice as the next text of the candidate in which the refused call was.
    pub(super) fn part(&mut self, notice: &str, envelope: &Json<'_>) -> Json<'static> {
        let number = number(envelope);
        let joined = envelope.get("after_text") == Some(&Json::Bool(true))
            || self.candidates.contains(&number);
        if !self.candidates.contains(&number) {
            self.candidates.push(number);
        }
        let before = if joined { "\n\n" } else { "" };
        text_part(&format!("{before}{notice}"))
    }
}

impl Writer for ChunkWriter {
    fn inert(&mut self, frame: Canonical, _: Part) -> Canonical {
        frame
    }

    fn call(&mut self, cleared: &Cleared) -> Canonical {
        let call = cleared.call();
        chunk_of(&call.envelope, call_part(call))
    }

    fn notice(&mut self, text: &str, envelope: &Json<'_>) -> Canonical {
        chunk_of(envelope, self.notices.part(text, envelope))
    }

    fn inert_call(&mut self, refusal: &Refusal, id: &str) -> Canonical {
        chunk_of(refusal.envelope(), inert_call_part(refusal, id))
    }

    fn end(&mut self) -> Canonical {
        Canonical::default()
    }

    /// `message` as a text that ends the answer, for clients that ignore errors inside of a stream,
    /// and as an error.
    fn failure(&mut self, message: &str) -> Canonical {
        let text = format!("\n\n{}", Masked::of(message).into_string());
        let candidate = Json::object([("finishReason", "OTHER".into()), ("index", 0.into())]);
        let chunk = with_parts(
            &Json::Object(Vec::new()),
            &candidate,
            vec![text_part(&text)],
        );
        let mut out = Frames::default();
        out.push(None, &chunk.text());
        out.push(None, &error(400, message).text());
        out.finish()
    }
}

/// A call as it stands in a content, written from what was judged.
pub(super) fn call_part(call: &ToolCall) -> Json<'static> {
    let mut part = match call.envelope.get_str("kind") {
        Some("executableCode") => Json::object([("executableCode", call.input.clone())]),
        Some("toolCall") => Json::object([("toolCall", call.input.clone())]),
        _ => {
            let has_id = call.envelope.get("has_id") == Some(&Json::Bool(true));
            let id = has_id.then(|| call.id.clone());
            function_call(
                id,
                &call.name,
                call.input.clone(),
                call.envelope.get("others"),
            )
        }
    };
    for (key, value) in members(call.envelope.get("about")) {
        part.set(key, value.clone());
    }
    part
}

/// A call that cannot run.
pub(super) fn inert_call_part(refusal: &Refusal, id: &str) -> Json<'static> {
    let tool = refusal.tool().unwrap_or_default();
    function_call(Some(id.to_owned()), tool, Json::Object(Vec::new()), None)
}

fn function_call(
    id: Option<String>,
    name: &str,
    args: Json<'static>,
    others: Option<&Json<'static>>,
) -> Json<'static> {
    let mut call = Json::Object(Vec::new());
    if let Some(id) = id {
        call.set("id", id.into());
    }
    call.set("name", name.to_owned().into());
    call.set("args", args);
    for (key, value) in members(others) {
        call.set(key, value.clone());
    }
    Json::object([("functionCall", call)])
}

fn members<'j>(
    object: Option<&'j Json<'static>>,
) -> impl Iterator<Item = &'j (std::borrow::Cow<'static, str>, Json<'static>)> {
    object.and_then(Json::as_object).unwrap_or_default().iter()
}

pub(super) fn text_part(text: &str) -> Json<'static> {
    Json::object([("text", text.to_owned().into())])
}

/// A chunk with this one part, in the candidate that the envelope names.
fn chunk_of(envelope: &Json<'_>, part: Json<'_>) -> Canonical {
    let candidate = Json::object([("index", number(envelope).into())]);
    let none = Json::Object(Vec::new());
    let head = envelope.get("head").unwrap_or(&none);
    frame(&with_parts(head, &candidate, vec![part]))
}

/// `chunk` with this one candidate, with these parts. Without any it gets an empty text, as the API's
/// own last chunk has: clients take a candidate without parts for an invalid answer.
pub(super) fn with_parts<'a>(
    chunk: &Json<'a>,
    candidate: &Json<'a>,
    mut parts: Vec<Json<'a>>,
) -> Json<'a> {
    if parts.is_empty() {
        parts.push(text_part(""));
    }
    let content = Json::object([("parts", Json::Array(parts)), ("role", "model".into())]);
    let mut written = Json::object([("content", content)]);
    for (key, value) in candidate.as_object().unwrap_or_default() {
        if !is(key, "content") {
            written.set(key, value.clone());
        }
    }
    let mut piece = Json::object([("candidates", Json::Array(vec![written]))]);
    for (key, value) in without(chunk, &["candidates"])
        .as_object()
        .unwrap_or_default()
    {
        piece.set(key, value.clone());
    }
    piece
}

/// The candidate to which the call with this envelope belongs.
fn number(envelope: &Json<'_>) -> u64 {
    let number = envelope.get("candidate").and_then(Json::as_u64);
    number.unwrap_or_default()
}

/// A frame with these data.
pub(super) fn frame(json: &Json<'_>) -> Canonical {
    let mut out = Frames::default();
    out.push(None, &json.text());
    out.finish()
}

/// A chunk that adds nothing.
pub(super) fn empty_chunk() -> Canonical {
    chunk_of(&Json::Null, text_part(""))
}

/// The error object of the API. Clients look for it at the start of a chunk.
pub(super) fn error(code: u16, message: &str) -> Json<'static> {
    let status = match code {
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        429 => "RESOURCE_EXHAUSTED",
        500 | 502 => "INTERNAL",
        503 => "UNAVAILABLE",
        504 => "DEADLINE_EXCEEDED",
        _ => "INVALID_ARGUMENT",
    };
    let error = Json::object([
        ("code", u64::from(code).into()),
        ("message", Masked::of(message).into_string().into()),
        ("status", status.into()),
    ]);
    Json::object([("error", error)])
}
