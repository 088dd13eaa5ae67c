//! A message that comes whole, without streaming.

use super::super::{carries_calls, is_call};
use super::read::{MAX_DEPTH, could_act};
use super::write::notice;
use super::{BlockKind, Declared};
use crate::answer::Answer;
use crate::call::{Fault, HeldCall, Runs};
use crate::canonical::Canonical;
use crate::event::Violation;
use crate::stack::{Cleared, Refusal};
use holdgate_effects::json::{Json, LoneSurrogates, shorten};

/// A message whose calls have been taken out.
#[derive(Debug)]
pub struct GuardedMessage<'a> {
    json: Json<'a>,
    /// The content so far; calls are put back one by one.
    content: Vec<Json<'a>>,
    notices: Vec<Json<'a>>,
    tool_use_sent: bool,
}

/// A block of the content, in order.
#[derive(Debug)]
pub enum MessageBlock<'a> {
    /// Goes back as it is.
    Inert(Json<'a>),
    /// Must be judged first.
    Call(HeldCall),
}

/// A response body that was read.
#[derive(Debug)]
pub enum ReadMessage<'a> {
    /// It holds no call and can leave.
    Inert(Canonical),
    /// It holds calls, which stand among its blocks.
    Calls(GuardedMessage<'a>, Vec<MessageBlock<'a>>),
}

/// Reads a response body.
pub fn read_message<'a>(body: &'a [u8], declared: &Declared) -> Result<ReadMessage<'a>, Violation> {
    let (json, fault) = match Json::read(body, MAX_DEPTH, LoneSurrogates::Refuse) {
        Ok(json) => (json, None),
        // Text may hold half a character; a call in such a body is refused.
        Err(strict) => match Json::read(body, MAX_DEPTH, LoneSurrogates::Replace) {
            Ok(json) => (json, Some(Fault::Json(strict))),
            Err(error) => {
                return Err(Violation::Json {
                    what: "the response",
                    error,
                });
            }
        },
    };
    let inert = || match std::str::from_utf8(body) {
        Ok(text) => Ok(ReadMessage::Inert(Canonical::of_value(text))),
        Err(_) => Err(Violation::Incomplete("the response is not UTF-8")),
    };
    check_members(&json)?;
    let content = match (json.get("type").and_then(Json::as_str), json.get("content")) {
        (Some("error"), None) => return inert(),
        (_, Some(Json::Array(content))) => content,
        (Some("message"), _) => {
            return Err(Violation::Incomplete("the message has no content"));
        }
        _ if could_act(&json) => {
            return Err(Violation::NotAMessage("could carry an action"));
        }
        _ => return inert(),
    };
    let mut blocks = Vec::new();
    let mut has_calls = false;
    for block in content {
        let kind = block
            .get("type")
            .and_then(Json::as_str)
            .ok_or(Violation::Incomplete("a block without a type"))?;
        blocks.push(match declared.block(kind, block) {
            BlockKind::Inert => MessageBlock::Inert(block.clone()),
            BlockKind::Call(mut held) => {
                has_calls = true;
                if let Some(fault) = &fault {
                    held.fail(fault.clone());
                }
                MessageBlock::Call(held)
            }
        });
    }
    if !has_calls {
        return inert();
    }
    let message = GuardedMessage {
        json,
        content: Vec::new(),
        notices: Vec::new(),
        tool_use_sent: false,
    };
    Ok(ReadMessage::Calls(message, blocks))
}

/// Calls stand in `content` only, and every reader finds the same members.
fn check_members(json: &Json<'_>) -> Result<(), Violation> {
    let Some(members) = json.as_object() else {
        return if carries_calls(json) {
            Err(Violation::NotAMessage("carries tool calls"))
        } else {
            Ok(())
        };
    };
    let names: Json<'_> = Json::Object(
        members
            .iter()
            .map(|(k, _)| (k.clone(), Json::Null))
            .collect(),
    );
    for (key, value) in members.iter().filter(|(key, _)| key != "content") {
        if is_call(key, value) || value.ambiguous_key().is_some() {
            return Err(Violation::HiddenInMember(shorten(key, 40)));
        }
    }
    match names.ambiguous_key() {
        Some(key) => Err(Violation::AmbiguousKey(shorten(key, 40))),
        None => Ok(()),
    }
}

impl<'a> GuardedMessage<'a> {
    /// Puts an inert block back.
    pub fn inert(&mut self, block: Json<'a>) {
        self.content.push(block);
    }

    /// Puts a call back, written anew from what was judged.
    pub fn call(&mut self, cleared: &Cleared) {
        let call = cleared.call();
        self.tool_use_sent |= call.runs == Runs::AtClient;
        let mut block = call.envelope.clone();
        block.set("input", call.input.clone());
        self.content.push(block);
    }

    /// Puts an explanation where a call stood, and, with `inert_id`, a call that cannot run.
    pub fn refusal(
        &mut self,
        refusal: &Refusal,
        incident: &str,
        inert_id: Option<String>,
        answer: Option<Answer>,
    ) {
        self.notices.push(Json::object([
            ("type", "text".into()),
            ("text", notice(refusal, incident, answer).into()),
        ]));
        if let Some(id) = inert_id {
            self.tool_use_sent = true;
            self.content.push(Json::object([
                ("type", "tool_use".into()),
                ("id", id.into()),
                ("name", refusal.tool().unwrap_or_default().to_owned().into()),
                ("input", Json::Object(Vec::new())),
            ]));
        }
    }

    /// The body to send. Explanations stand before the first call.
    pub fn finish(mut self) -> Canonical {
        let is_call = |b: &Json<'_>| b.get("type").and_then(Json::as_str) == Some("tool_use");
        let at = self.content.iter().position(is_call);
        let at = at.unwrap_or(self.content.len());
        self.content.splice(at..at, self.notices);
        self.json.set("content", Json::Array(self.content));
        let reason = self.json.get("stop_reason").and_then(Json::as_str);
        if reason == Some("tool_use") && !self.tool_use_sent {
            self.json.set("stop_reason", "end_turn".into());
        }
        Canonical::of_value(&self.json.to_string())
    }
}
