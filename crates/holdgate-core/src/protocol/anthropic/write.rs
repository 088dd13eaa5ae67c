//! Cleared calls and refusals to frames, and inert frames to their new place.

use super::super::MAX_DEPTH;
use super::super::Writer;
use crate::call::Executor;
use crate::canonical::{Canonical, Frames};
use crate::event::{Block, Part};
use crate::mask::Masked;
use crate::sse;
use crate::stack::{Cleared, Refusal};
use holdgate_effects::json::{Json, LoneSurrogates, write_string};

/// A call's input leaves in deltas of about this size: some clients bound the length of a line.
const DELTA_BYTES: usize = 256 << 10;

/// Begins a response that never began by itself.
const EMPTY_MESSAGE: &str = r#"{"type":"message_start","message":{"id":"msg_holdgate","type":"message","role":"assistant","model":"none","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":0,"output_tokens":0}}}"#;

/// Numbers the blocks that leave, without gaps.
#[derive(Debug, Default)]
pub(super) struct EventWriter {
    started: bool,
    next: Block,
    /// Inert blocks that are open: their number as it came, and as it leaves.
    open: Vec<(Block, Block)>,
    tool_use_sent: bool,
}

impl Writer for EventWriter {
    fn inert(&mut self, frame: Canonical, part: Part) -> Canonical {
        match part {
            Part::MessageStart => {
                self.started = true;
                frame
            }
            Part::BlockStart(block) => {
                let out = self.take_index();
                self.open.push((block, out));
                renumber(frame, block, out)
            }
            Part::BlockMore(block) => {
                let out = self.find_open(block);
                renumber(frame, block, out)
            }
            Part::BlockStop(block) => {
                let out = self.find_open(block);
                self.open.retain(|(open, _)| *open != block);
                renumber(frame, block, out)
            }
            Part::StopReason if !self.tool_use_sent => without_tool_use_reason(frame),
            Part::StopReason | Part::MessageStop | Part::Other => frame,
        }
    }

    fn call(&mut self, cleared: &Cleared) -> Canonical {
        let call = cleared.call();
        self.tool_use_sent |= call.runs == Executor::AtClient;
        self.tool_block(call.envelope.clone(), &call.text)
    }

    fn notice(&mut self, text: &str, _: &Json<'_>) -> Canonical {
        let mut out = Frames::default();
        self.text_block(text, &mut out);
        out.finish()
    }

    fn inert_call(&mut self, refusal: &Refusal, id: &str) -> Canonical {
        self.tool_use_sent = true;
        self.tool_block(inert_call(refusal, id.to_owned()), "{}")
    }

    fn end(&mut self) -> Canonical {
        single("message_stop", r#"{"type":"message_stop"}"#)
    }

    /// `message` as a text, and as an error. The text is needed because clients that have not
    /// received a complete block respond to an error with a second request that is not streamed.
    fn failure(&mut self, message: &str) -> Canonical {
        let mut out = Frames::default();
        if !self.started {
            out.push(Some("message_start"), EMPTY_MESSAGE);
        }
        for (_, index) in std::mem::take(&mut self.open) {
            block_stop(index, &mut out);
        }
        self.text_block(&Masked::of(message), &mut out);
        out.push(Some("error"), &error("invalid_request_error", message));
        out.finish()
    }
}

impl EventWriter {
    fn text_block(&mut self, text: &str, out: &mut Frames) {
        let index = self.take_index();
        let block = Json::object([("type", "text".into()), ("text", "".into())]);
        block_start(index, block, out);
        delta(index, "text_delta", "text", text, out);
        block_stop(index, out);
    }

    fn tool_block(&mut self, envelope: Json<'_>, input: &str) -> Canonical {
        let index = self.take_index();
        let mut out = Frames::with_capacity(input.len() + input.len() / 8 + 512);
        block_start(index, envelope, &mut out);
        let mut rest = input;
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(rest.ceil_char_boundary(DELTA_BYTES));
            delta(index, "input_json_delta", "partial_json", piece, &mut out);
            rest = after;
        }
        block_stop(index, &mut out);
        out.finish()
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
}

/// The block of a call that cannot run.
pub(super) fn inert_call(refusal: &Refusal, id: String) -> Json<'static> {
    Json::object([
        ("type", "tool_use".into()),
        ("id", id.into()),
        ("name", refusal.tool().unwrap_or_default().to_owned().into()),
        ("input", Json::Object(Vec::new())),
    ])
}

/// A `ping`, which keeps a client waiting.
pub(super) fn ping() -> Canonical {
    single("ping", r#"{"type":"ping"}"#)
}

/// An `error` event, after which nothing follows.
pub(super) fn error_event(message: &str) -> Canonical {
    single("error", &error("api_error", message))
}

/// The error object of the API.
pub(super) fn error(kind: &'static str, message: &str) -> String {
    let message = Masked::of(message).into_string();
    let error = Json::object([("type", kind.into()), ("message", message.into())]);
    Json::object([("type", "error".into()), ("error", error)]).to_string()
}

/// The API's kind of error for an answer with this HTTP status.
pub(super) fn error_kind(status: u16) -> &'static str {
    match status {
        400 | 421 | 422 => "invalid_request_error",
        401 => "authentication_error",
        402 => "billing_error",
        403 => "permission_error",
        404 => "not_found_error",
        408 | 504 => "timeout_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        503 | 529 => "overloaded_error",
        _ => "api_error",
    }
}

pub(in super::super) fn single(event: &str, data: &str) -> Canonical {
    let mut out = Frames::default();
    out.push(Some(event), data);
    out.finish()
}

pub(in super::super) fn block_start(index: Block, block: Json<'_>, out: &mut Frames) {
    let data = Json::object([
        ("type", "content_block_start".into()),
        ("index", index.into()),
        ("content_block", block),
    ]);
    out.push(Some("content_block_start"), &data.to_string());
}

pub(in super::super) fn delta(index: Block, kind: &str, key: &str, text: &str, out: &mut Frames) {
    // By hand: this is the one frame that may be large.
    let head = format!(
        "{{\"type\":\"content_block_delta\",\"index\":{index},\"delta\":{{\"type\":\"{kind}\",\"{key}\":"
    );
    let mut value = String::new();
    write_string(text, &mut value);
    out.push_pieces(Some("content_block_delta"), &[&head, &value, "}}"]);
}

pub(in super::super) fn block_stop(index: Block, out: &mut Frames) {
    let data = Json::object([
        ("type", "content_block_stop".into()),
        ("index", index.into()),
    ]);
    out.push(Some("content_block_stop"), &data.to_string());
}

/// The frame with another block number; its other bytes stay as they are.
fn renumber(raw: Canonical, from: Block, to: Block) -> Canonical {
    if from == to {
        return raw;
    }
    rewrite(&raw, |text, json| {
        let Some(Json::Number(old)) = json.get("index") else {
            return None;
        };
        // The number borrows from the text, so its place is known.
        let at = old.as_ptr().addr().checked_sub(text.as_ptr().addr())?;
        let (before, rest) = text.split_at_checked(at)?;
        let after = rest.strip_prefix(&**old)?;
        Some(format!("{before}{to}{after}"))
    })
    .unwrap_or_default()
}

/// The stop reason must not announce a call if none follows: the client would ask the model again.
fn without_tool_use_reason(raw: Canonical) -> Canonical {
    let changed = rewrite(&raw, |_, json| {
        let reason = json.get("delta")?.get_str("stop_reason")?;
        if reason != "tool_use" {
            return None;
        }
        let mut json = json.clone();
        let mut delta = json.get("delta")?.clone();
        delta.set("stop_reason", "end_turn".into());
        json.set("delta", delta);
        Some(json.to_string())
    });
    changed.unwrap_or(raw)
}

/// The frame with other data, or `None` to leave it. The frame was read before, so it is readable.
fn rewrite(
    raw: &Canonical,
    change: impl FnOnce(&str, &Json<'_>) -> Option<String>,
) -> Option<Canonical> {
    let fields = sse::fields(raw, false).ok()?;
    let data = fields.data?;
    let text = std::str::from_utf8(&data).ok()?;
    let json = Json::read(&data, MAX_DEPTH, LoneSurrogates::Replace).ok()?;
    Some(single(fields.event?, &change(text, &json)?))
}
