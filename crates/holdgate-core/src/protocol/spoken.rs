//! Where the words of a model stand in frames and bodies, for clients that act from words
//! (`text_actions.rs`).

use crate::canonical::{Canonical, Frames};
use holdgate_effects::json::Json;
use std::borrow::Cow;
use std::fmt::Debug;

/// What words are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Words {
    /// What the model says.
    Text,
    /// What it thinks.
    Thought,
}

/// Takes a text, which it may change: what it is, and of which answer to the request.
pub(crate) type Visit<'v, 'a> = dyn FnMut(Words, u64, &mut Cow<'a, str>) + 'v;

/// Where a protocol has words.
pub trait Spoken: Debug + Sync {
    /// Shows all words of a frame or a body, in order.
    fn each<'a>(&self, json: &mut Json<'a>, visit: &mut Visit<'_, 'a>);

    /// What the frames of a response have in common with this one; small.
    fn head(&self, json: &Json<'_>) -> Json<'static>;

    /// A frame that adds `text`, in a response whose frames have `head`.
    fn text(&self, head: &Json<'_>, text: &str) -> Canonical;

    /// A frame.
    fn frame(&self, json: &Json<'_>) -> Canonical {
        let mut out = Frames::default();
        out.push(None, &json.text());
        out.finish()
    }
}

/// Anthropic Messages.
#[derive(Debug)]
pub(super) struct Anthropic;

impl Spoken for Anthropic {
    fn each<'a>(&self, json: &mut Json<'a>, visit: &mut Visit<'_, 'a>) {
        for key in ["content_block", "delta"] {
            if let Some(block) = member(json, key) {
                block_words(block, visit);
            }
        }
        if let Some(Json::Array(blocks)) = member(json, "content") {
            for block in blocks {
                block_words(block, visit);
            }
        }
    }

    fn head(&self, json: &Json<'_>) -> Json<'static> {
        kept(json, &["index"])
    }

    fn text(&self, head: &Json<'_>, text: &str) -> Canonical {
        let delta = Json::object([("type", "text_delta".into()), ("text", text.into())]);
        self.frame(&Json::object([
            ("type", "content_block_delta".into()),
            ("index", head.get("index").cloned().unwrap_or(Json::Null)),
            ("delta", delta),
        ]))
    }

    fn frame(&self, json: &Json<'_>) -> Canonical {
        let mut out = Frames::default();
        out.push(json.get_str("type"), &json.text());
        out.finish()
    }
}

fn block_words<'a>(block: &mut Json<'a>, visit: &mut Visit<'_, 'a>) {
    words(member(block, "text"), Words::Text, 0, visit);
    words(member(block, "thinking"), Words::Thought, 0, visit);
}

/// `OpenAI` Chat Completions.
#[derive(Debug)]
pub(super) struct Chat;

impl Spoken for Chat {
    fn each<'a>(&self, json: &mut Json<'a>, visit: &mut Visit<'_, 'a>) {
        let Some(Json::Array(choices)) = member(json, "choices") else {
            return;
        };
        for choice in choices {
            let number = choice.get("index").and_then(Json::as_u64).unwrap_or(0);
            for key in ["delta", "message"] {
                let Some(message) = member(choice, key) else {
                    continue;
                };
                for key in ["reasoning_content", "reasoning"] {
                    words(member(message, key), Words::Thought, number, visit);
                }
                words(member(message, "content"), Words::Text, number, visit);
            }
        }
    }

    fn head(&self, json: &Json<'_>) -> Json<'static> {
        kept(json, &["id", "object", "created", "model"])
    }

    fn text(&self, head: &Json<'_>, text: &str) -> Canonical {
        let choice = Json::object([
            ("index", 0.into()),
            ("delta", Json::object([("content", text.into())])),
            ("finish_reason", Json::Null),
        ]);
        let mut chunk = head.clone();
        chunk.set("choices", Json::Array(vec![choice]));
        self.frame(&chunk)
    }
}

/// Gemini's `generateContent`.
#[derive(Debug)]
pub(super) struct Gemini;

impl Spoken for Gemini {
    fn each<'a>(&self, json: &mut Json<'a>, visit: &mut Visit<'_, 'a>) {
        if let Json::Array(chunks) = json {
            for chunk in chunks {
                self.each(chunk, visit);
            }
            return;
        }
        let Some(Json::Array(candidates)) = member(json, "candidates") else {
            return;
        };
        for candidate in candidates {
            let number = candidate.get("index").and_then(Json::as_u64).unwrap_or(0);
            let content = member(candidate, "content");
            let Some(Json::Array(parts)) = content.and_then(|c| member(c, "parts")) else {
                continue;
            };
            for part in parts {
                let kind = match part.get("thought") {
                    Some(Json::Bool(true)) => Words::Thought,
                    _ => Words::Text,
                };
                words(member(part, "text"), kind, number, visit);
            }
        }
    }

    fn head(&self, json: &Json<'_>) -> Json<'static> {
        kept(json, &["modelVersion", "responseId"])
    }

    fn text(&self, head: &Json<'_>, text: &str) -> Canonical {
        let parts = Json::Array(vec![Json::object([("text", text.into())])]);
        let content = Json::object([("parts", parts), ("role", "model".into())]);
        let candidate = Json::object([("content", content), ("index", 0.into())]);
        let mut chunk = Json::object([("candidates", Json::Array(vec![candidate]))]);
        for (key, value) in head.as_object().unwrap_or_default() {
            chunk.set(key, value.clone());
        }
        self.frame(&chunk)
    }
}

/// Ollama's `/api/chat`.
#[derive(Debug)]
pub(super) struct Ollama;

impl Spoken for Ollama {
    fn each<'a>(&self, json: &mut Json<'a>, visit: &mut Visit<'_, 'a>) {
        if let Some(message) = member(json, "message") {
            words(member(message, "thinking"), Words::Thought, 0, visit);
            words(member(message, "content"), Words::Text, 0, visit);
        }
    }

    fn head(&self, json: &Json<'_>) -> Json<'static> {
        kept(json, &["model", "created_at"])
    }

    fn text(&self, head: &Json<'_>, text: &str) -> Canonical {
        let message = [("role", "assistant".into()), ("content", text.into())];
        let mut line = head.clone();
        line.set("message", Json::object(message));
        line.set("done", Json::Bool(false));
        self.frame(&line)
    }

    fn frame(&self, json: &Json<'_>) -> Canonical {
        let mut out = Frames::default();
        out.push_line(&[&json.text()]);
        out.finish()
    }
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "an option of a borrow is taken as it comes"
)]
/// A string, or the texts of a list of parts.
fn words<'a>(json: Option<&mut Json<'a>>, kind: Words, of: u64, visit: &mut Visit<'_, 'a>) {
    match json {
        Some(Json::String(text)) => visit(kind, of, text),
        Some(Json::Array(parts)) => {
            for part in parts {
                if let Some(Json::String(text)) = member(part, "text") {
                    visit(kind, of, text);
                }
            }
        }
        Some(Json::Null | Json::Bool(_) | Json::Number(_) | Json::Object(_)) | None => {}
    }
}

fn member<'j, 'a>(json: &'j mut Json<'a>, key: &str) -> Option<&'j mut Json<'a>> {
    let Json::Object(members) = json else {
        return None;
    };
    let found = members.iter_mut().find(|(name, _)| name == key);
    found.map(|(_, value)| value)
}

/// These members alone, if they are small.
fn kept(json: &Json<'_>, keys: &[&'static str]) -> Json<'static> {
    let mut head = Json::Object(Vec::new());
    for key in keys {
        let value = json.get(key);
        if let Some(value) = value.filter(|value| value.text().len() <= 256) {
            head.set(key, value.clone().into_owned());
        }
    }
    head
}
