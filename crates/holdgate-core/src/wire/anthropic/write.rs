//! Cleared calls and refusals to frames, and inert frames to their new place.

use super::read::MAX_DEPTH;
use crate::answer::Answer;
use crate::call::Runs;
use crate::canonical::{Canonical, Frames};
use crate::event::{Block, Part};
use crate::mask::Masked;
use crate::sse;
use crate::stack::{Cleared, Refusal};
use crate::verdict::{Finding, Verdict};
use holdgate_effects::json::{Json, LoneSurrogates, write_string};

/// A call's input leaves in deltas of about this size: some clients bound the length of a line.
const DELTA_BYTES: usize = 256 << 10;

/// Begins a response that never began by itself.
const EMPTY_MESSAGE: &str = r#"{"type":"message_start","message":{"id":"msg_holdgate","type":"message","role":"assistant","model":"none","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":0,"output_tokens":0}}}"#;

/// Numbers the blocks that leave, without gaps.
#[derive(Debug, Default)]
pub struct Writer {
    started: bool,
    next: Block,
    /// Inert blocks that are open: their number as it came, and as it leaves.
    open: Vec<(Block, Block)>,
    tool_use_sent: bool,
}

impl Writer {
    /// An inert frame, with its block's number and the stop reason made true.
    pub fn inert(&mut self, raw: Canonical, part: Part) -> Canonical {
        match part {
            Part::MessageStart => {
                self.started = true;
                raw
            }
            Part::BlockStart(block) => {
                let out = self.take_index();
                self.open.push((block, out));
                renumber(raw, block, out)
            }
            Part::BlockMore(block) => {
                let out = self.find_open(block);
                renumber(raw, block, out)
            }
            Part::BlockStop(block) => {
                let out = self.find_open(block);
                self.open.retain(|(open, _)| *open != block);
                renumber(raw, block, out)
            }
            Part::StopReason if !self.tool_use_sent => without_tool_use_reason(raw),
            Part::StopReason | Part::MessageStop | Part::Other => raw,
        }
    }

    /// A call, written anew from what was judged.
    pub fn call(&mut self, cleared: &Cleared) -> Canonical {
        let call = cleared.call();
        self.tool_use_sent |= call.runs == Runs::AtClient;
        self.tool_block(call.envelope.clone(), &call.text)
    }

    /// The text that stands in a refused call's place.
    pub fn notice(
        &mut self,
        refusal: &Refusal,
        incident: &str,
        answer: Option<Answer>,
    ) -> Canonical {
        let mut out = Frames::default();
        self.text_block(&notice(refusal, incident, answer), &mut out);
        out.finish()
    }

    /// The end of a response that cannot be read on: `message` as a text, and as an error. The
    /// text is there because clients that have no whole block yet take an error for a reason to
    /// ask again, without streaming.
    pub fn failure(&mut self, message: &str) -> Canonical {
        let mut out = Frames::default();
        if !self.started {
            out.push("message_start", EMPTY_MESSAGE);
        }
        for (_, index) in std::mem::take(&mut self.open) {
            block_stop(index, &mut out);
        }
        self.text_block(&Masked::of(message), &mut out);
        out.push("error", &error_body("invalid_request_error", message));
        out.finish()
    }

    fn text_block(&mut self, text: &str, out: &mut Frames) {
        let index = self.take_index();
        let block = Json::object([("type", "text".into()), ("text", "".into())]);
        block_start(index, block, out);
        delta(index, "text_delta", "text", text, out);
        block_stop(index, out);
    }

    /// A call of the refused tool that no client can run: it lacks the arguments that the tool's
    /// schema requires. It keeps the agent's loop alive, so that the model can choose another way.
    pub fn inert_call(&mut self, refusal: &Refusal, id: &str) -> Canonical {
        self.tool_use_sent = true;
        let envelope = Json::object([
            ("type", "tool_use".into()),
            ("id", id.to_owned().into()),
            ("name", refusal.tool().unwrap_or_default().to_owned().into()),
            ("input", Json::Object(Vec::new())),
        ]);
        self.tool_block(envelope, "{}")
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

/// A `ping`, which keeps a client waiting.
pub fn ping() -> Canonical {
    single("ping", r#"{"type":"ping"}"#)
}

/// The end of a message.
pub fn message_stop() -> Canonical {
    single("message_stop", r#"{"type":"message_stop"}"#)
}

/// An `error` event, after which nothing follows.
pub fn error_event(message: &str) -> Canonical {
    single("error", &error_body("api_error", message))
}

fn single(event: &str, data: &str) -> Canonical {
    let mut out = Frames::default();
    out.push(event, data);
    out.finish()
}

/// An error as a whole body.
pub fn error_value(message: &str) -> Canonical {
    Canonical::of_value(&error_body("api_error", message))
}

/// The error object of the API.
pub fn error_body(kind: &'static str, message: &str) -> String {
    let message = Masked::of(message).into_string();
    let error = Json::object([("type", kind.into()), ("message", message.into())]);
    Json::object([("type", "error".into()), ("error", error)]).to_string()
}

/// What the model reads in place of its call: what was refused, by which rule, why, what to do.
pub(super) fn notice(refusal: &Refusal, incident: &str, answer: Option<Answer>) -> String {
    let what = match (refusal.runs(), refusal.tool()) {
        (Runs::Unknown(kind), _) => format!("A block of the kind `{}`", short(kind)),
        (_, Some(tool)) => format!("The call to `{}`", short(tool)),
        (_, None) => "A tool call".to_owned(),
    };
    let ask = match (refusal.verdict(), answer) {
        (Verdict::Ask, Some(Answer::Deny)) => ": a person was asked about it and said no",
        (Verdict::Ask, Some(Answer::Timeout)) => {
            ": a person must decide about it, and nobody answered in time"
        }
        (Verdict::Ask, Some(Answer::NoPin)) => {
            ": a person must decide about it, and nobody can be asked here: no terminal shows the \
             question and no PIN is set (`holdgate pin`, by the operator)"
        }
        (Verdict::Ask, _) => ": a person must decide about it, and nobody can be asked here",
        (Verdict::Allow | Verdict::Audit | Verdict::Block | Verdict::Kill, _) => "",
    };
    let mut text = format!("[holdgate] {what} was blocked and did not run{ask}.\n");
    let mut worst: Vec<&Finding> = refusal.findings().iter().collect();
    worst.retain(|f| !f.verdict.lets_pass());
    worst.sort_by_key(|f| std::cmp::Reverse(f.verdict));
    for finding in worst.iter().take(3) {
        text.push_str(&format!(
            "Rule: {} ({})\nWhy: {}.\n",
            finding.rule, finding.layer, finding.reason
        ));
        if let Some(evidence) = &finding.evidence {
            text.push_str(&format!("Matched: {evidence}\n"));
        }
        if let Some(instead) = &finding.instead {
            text.push_str(&format!("Instead: {instead}.\n"));
        }
    }
    text.push_str(&format!(
        "Do not repeat the call as it was. (incident {incident})"
    ));
    Masked::of(&text).into_string()
}

fn short(text: &str) -> String {
    holdgate_effects::json::shorten(text, 80)
}

fn block_start(index: Block, block: Json<'_>, out: &mut Frames) {
    let data = Json::object([
        ("type", "content_block_start".into()),
        ("index", index.into()),
        ("content_block", block),
    ]);
    out.push("content_block_start", &data.to_string());
}

fn delta(index: Block, kind: &str, key: &str, text: &str, out: &mut Frames) {
    // By hand: this is the one frame that may be large.
    let head = format!(
        "{{\"type\":\"content_block_delta\",\"index\":{index},\"delta\":{{\"type\":\"{kind}\",\"{key}\":"
    );
    let mut value = String::new();
    write_string(text, &mut value);
    out.push_pieces("content_block_delta", &[&head, &value, "}}"]);
}

fn block_stop(index: Block, out: &mut Frames) {
    let data = Json::object([
        ("type", "content_block_stop".into()),
        ("index", index.into()),
    ]);
    out.push("content_block_stop", &data.to_string());
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

/// No client may be told that a call follows when none does: it would ask the model to try again.
fn without_tool_use_reason(raw: Canonical) -> Canonical {
    let changed = rewrite(&raw, |_, json| {
        let reason = json.get("delta")?.get("stop_reason")?.as_str()?;
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
