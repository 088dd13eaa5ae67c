//! Cleared calls and refusals to chunks, and reasons for the end that are true.

use super::super::Writer;
use super::chunk::{MAX_DEPTH, head, is_set, texts, without};
use crate::canonical::{Canonical, Frames};
use crate::event::Part;
use crate::mask::Masked;
use crate::sse;
use crate::stack::{Cleared, Refusal};
use holdgate_effects::json::{Json, LoneSurrogates, write_string};

/// A call's arguments leave in fragments of about this size: some clients bound the length of a
/// line. No client takes a part for the whole: an object that is cut is no JSON.
const FRAGMENT_BYTES: usize = 256 << 10;
/// Begins a chunk of a response of which nothing is known.
const NO_HEAD: &str =
    r#""id":"chatcmpl-holdgate","object":"chat.completion.chunk","created":0,"model":"none","#;
/// Reasons for the end that announce a call.
const CALL_REASONS: &[&str] = &["tool_calls", "function_call"];

/// Numbers the calls that leave, without gaps in each choice.
#[derive(Debug, Default)]
pub(super) struct ChunkWriter {
    /// The beginning of a chunk, up to its choices.
    head: Option<String>,
    choices: Vec<Choice>,
}

/// What has left of a choice.
#[derive(Debug, Default)]
struct Choice {
    number: u64,
    /// Whether the client joins what follows to a text.
    has_text: bool,
    tool_calls: u64,
    has_call: bool,
}

impl Writer for ChunkWriter {
    fn inert(&mut self, frame: Canonical, part: Part) -> Canonical {
        match part {
            Part::BlockMore(choice) => {
                self.choice(choice).has_text = true;
                frame
            }
            Part::MessageStart => {
                if let Some(json) = parse(&frame) {
                    self.learn(&json.as_json());
                }
                frame
            }
            Part::StopReason => self.stop_reason(frame),
            Part::BlockStart(_) | Part::BlockStop(_) | Part::MessageStop | Part::Other => frame,
        }
    }

    fn call(&mut self, cleared: &Cleared) -> Canonical {
        let call = cleared.call();
        match call.envelope.get_str("kind") {
            Some("custom") => {
                let input = call.input.get_str("input").unwrap_or_default();
                self.tool_call(&call.envelope, (&call.id, &call.name), input)
            }
            _ => self.tool_call(&call.envelope, (&call.id, &call.name), &call.text),
        }
    }

    fn notice(&mut self, text: &str, envelope: &Json<'_>) -> Canonical {
        let mut out = Frames::default();
        self.text(number_of(envelope), text, &mut out);
        out.finish()
    }

    /// An older call has no id by which it would be recognised later, so it is left out.
    fn inert_call(&mut self, refusal: &Refusal, id: &str) -> Canonical {
        if refusal.envelope().get_str("kind") == Some("legacy") {
            return Canonical::default();
        }
        let tool = refusal.tool().unwrap_or_default();
        self.tool_call(refusal.envelope(), (id, tool), "{}")
    }

    fn end(&mut self) -> Canonical {
        end_mark()
    }

    /// `message` as a text, for clients that ignore what they do not know, and as an error.
    fn failure(&mut self, message: &str) -> Canonical {
        let mut out = Frames::default();
        self.text(0, &Masked::of(message), &mut out);
        out.push(None, &error("invalid_request_error", message).text());
        out.finish()
    }
}

impl ChunkWriter {
    fn choice(&mut self, number: u64) -> &mut Choice {
        let at = self.choices.iter().position(|c| c.number == number);
        let at = at.unwrap_or_else(|| {
            self.choices.push(Choice {
                number,
                ..Choice::default()
            });
            self.choices.len() - 1
        });
        #[allow(
            clippy::indexing_slicing,
            reason = "it was found, or has just been added"
        )]
        &mut self.choices[at]
    }

    /// Takes from the first chunk what ours have in common with it.
    fn learn(&mut self, chunk: &Json<'_>) {
        let text = without(&head(chunk), &["usage"]).text();
        let inner = text.strip_prefix('{').and_then(|t| t.strip_suffix('}'));
        if let Some(inner) = inner.filter(|inner| !inner.is_empty()) {
            self.head = Some(format!("{inner},"));
        }
        for choice in chunk.get("choices").and_then(Json::as_array).unwrap_or(&[]) {
            let content = choice.get("delta").and_then(|delta| delta.get("content"));
            if texts(content).any(|text| !text.is_empty()) {
                self.choice(number(choice, "index")).has_text = true;
            }
        }
    }

    /// The reason for the end must not announce a call if none was sent: the client would ask the
    /// model again.
    fn stop_reason(&mut self, raw: Canonical) -> Canonical {
        let Some(parsed) = parse(&raw) else {
            return raw;
        };
        let mut json = parsed.as_json();
        if self.head.is_none() {
            self.learn(&json);
        }
        let mut changed = false;
        let choices = json.get("choices").and_then(Json::as_array).unwrap_or(&[]);
        let mut choices = choices.to_vec();
        for choice in &mut choices {
            let announces = choice
                .get_str("finish_reason")
                .is_some_and(|reason| CALL_REASONS.contains(&reason));
            if announces && !self.choice(number(choice, "index")).has_call {
                choice.set("finish_reason", "stop".into());
                changed = true;
            }
        }
        if !changed {
            return raw;
        }
        json.set("choices", Json::Array(choices));
        frame(&json)
    }

    fn text(&mut self, choice: u64, text: &str, out: &mut Frames) {
        let out_choice = self.choice(choice);
        let before = if out_choice.has_text { "\n\n" } else { "" };
        out_choice.has_text = true;
        let mut delta = "\"content\":".to_owned();
        write_string(&format!("{before}{text}"), &mut delta);
        self.push(choice, &[&delta], out);
    }

    /// A chunk with this delta, in pieces: the one large frame is not copied together first.
    fn push(&self, choice: u64, delta: &[&str], out: &mut Frames) {
        let head = self.head.as_deref().unwrap_or(NO_HEAD);
        let start = format!("{{{head}\"choices\":[{{\"index\":{choice},\"delta\":{{");
        let mut pieces = vec![start.as_str()];
        pieces.extend(delta);
        pieces.push("},\"finish_reason\":null}]}");
        out.push_pieces(None, &pieces);
    }

    /// A call: its first fragment names it, and further ones follow if its input is large.
    fn tool_call(&mut self, envelope: &Json<'_>, named: (&str, &str), input: &str) -> Canonical {
        let number = number_of(envelope);
        let kind = envelope.get_str("kind");
        let choice = self.choice(number);
        let index = choice.tool_calls;
        choice.has_call = true;
        if kind != Some("legacy") {
            choice.tool_calls += 1;
        }
        let (first, more, end) = match kind {
            Some("legacy") => {
                let more = "\"function_call\":{\"arguments\":".to_owned();
                let name = quoted(named.1);
                let first = format!("\"function_call\":{{\"name\":{name},\"arguments\":");
                (first, more, "}")
            }
            kind => {
                let (kind, member) = match kind {
                    Some("custom") => ("custom", "input"),
                    _ => ("function", "arguments"),
                };
                let start = format!("\"tool_calls\":[{{\"index\":{index},");
                let others = others(envelope);
                let (id, name) = (quoted(named.0), quoted(named.1));
                let first = format!(
                    "{start}\"id\":{id},\"type\":\"{kind}\",{others}\"{kind}\":{{\"name\":{name},\"{member}\":"
                );
                let more = format!("{start}\"{kind}\":{{\"{member}\":");
                (first, more, "}}]")
            }
        };
        let mut out = Frames::with_capacity(input.len() + input.len() / 8 + 512);
        let (mut start, mut rest) = (&first, input);
        loop {
            let (piece, after) = rest.split_at(rest.ceil_char_boundary(FRAGMENT_BYTES));
            self.push(number, &[start, &quoted(piece), end], &mut out);
            if after.is_empty() {
                return out.finish();
            }
            (start, rest) = (&more, after);
        }
    }
}

/// The members of a call that only the provider understands, as text.
fn others(envelope: &Json<'_>) -> String {
    let text = envelope.get("others").map(Json::text).unwrap_or_default();
    let inner = text.strip_prefix('{').and_then(|t| t.strip_suffix('}'));
    match inner {
        None | Some("") => String::new(),
        Some(inner) => format!("{inner},"),
    }
}

fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 8 + 2);
    write_string(text, &mut out);
    out
}

/// The choice to which the call with this envelope belongs.
pub(super) fn number_of(envelope: &Json<'_>) -> u64 {
    number(envelope, "choice")
}

fn number(json: &Json<'_>, key: &str) -> u64 {
    json.get(key).and_then(Json::as_u64).unwrap_or_default()
}

/// The reason for the end of a choice, if it must be another one when no call is left.
pub(super) fn true_reason(choice: &Json<'_>) -> Option<Json<'static>> {
    let reason = choice.get_str("finish_reason")?;
    CALL_REASONS.contains(&reason).then(|| "stop".into())
}

/// The data of a frame that was read before, so it is readable.
struct Parsed(Vec<u8>);

impl Parsed {
    fn as_json(&self) -> Json<'_> {
        let json = Json::read(&self.0, MAX_DEPTH, LoneSurrogates::Replace);
        json.unwrap_or(Json::Null)
    }
}

fn parse(raw: &Canonical) -> Option<Parsed> {
    let fields = sse::fields(raw, false).ok()?;
    Some(Parsed(fields.data?.into_owned()))
}

/// A frame with these data.
pub(super) fn frame(json: &Json<'_>) -> Canonical {
    let mut out = Frames::default();
    out.push(None, &json.text());
    out.finish()
}

/// The last frame of a response.
pub(super) fn end_mark() -> Canonical {
    let mut out = Frames::default();
    out.push(None, "[DONE]");
    out.finish()
}

/// A chunk that adds nothing.
pub(super) fn empty_chunk() -> Canonical {
    let mut out = Frames::default();
    ChunkWriter::default().push(0, &[], &mut out);
    out.finish()
}

/// An error as a frame, after which nothing follows.
pub(super) fn error_event(kind: &'static str, message: &str) -> Canonical {
    frame(&error(kind, message))
}

/// The error object of the API.
pub(super) fn error(kind: &'static str, message: &str) -> Json<'static> {
    let message = Masked::of(message).into_string();
    let error = Json::object([
        ("message", message.into()),
        ("type", kind.into()),
        ("param", Json::Null),
        ("code", Json::Null),
    ]);
    Json::object([("error", error)])
}

/// The API's kind of error for an answer with this HTTP status.
pub(super) fn error_kind(status: u16) -> &'static str {
    match status {
        400..=499 => "invalid_request_error",
        _ => "server_error",
    }
}

/// Whether a message has a text already.
pub(super) fn has_text(message: &Json<'_>) -> bool {
    is_set(message.get("content"))
}
