//! A response that comes whole, without streaming.

use super::super::said::Said;
use super::super::{Declared, GuardedMessage, ReadMessage};
use super::chunk::{
    check_members, check_no_calls, could_act, is_set, no_lone_surrogates, read_json, texts, without,
};
use super::fragment::{CUSTOM_END, CUSTOM_START, Fragment, Kind, custom_piece};
use super::write::{has_text, true_reason};
use crate::call::{Fault, HeldCall};
use crate::canonical::Canonical;
use crate::event::Violation;
use crate::stack::{Cleared, Refusal};
use holdgate_effects::json::Json;

/// The members of a message that hold calls.
const CALLS: &[&str] = &["tool_calls", "function_call"];

/// A response whose calls have been taken out.
#[derive(Debug)]
struct Message<'a> {
    json: Json<'a>,
    choices: Vec<Choice<'a>>,
    /// The choices of the calls that are not decided yet.
    calls: std::vec::IntoIter<usize>,
}

#[derive(Debug)]
struct Choice<'a> {
    json: Json<'a>,
    /// Whether a call was taken out.
    had_calls: bool,
    tool_calls: Vec<Json<'static>>,
    function_call: Option<Json<'static>>,
    notices: Vec<String>,
}

/// Reads a response body.
pub(super) fn read<'a>(body: &'a [u8], declared: &Declared) -> Result<ReadMessage<'a>, Violation> {
    let json = read_json(body, "the response")?;
    check_no_calls(&json, &["choices"])?;
    let choices = match json.get("choices") {
        Some(Json::Array(choices)) => choices,
        None if is_set(json.get("error")) || !could_act("", &json) => {
            return ReadMessage::inert(body);
        }
        _ => return Err(Violation::NotAMessage("could carry an action")),
    };
    let fault = no_lone_surrogates(body).err();
    let mut read = Vec::new();
    let (mut held, mut order) = (Vec::new(), Vec::new());
    for (at, choice) in choices.iter().enumerate() {
        let calls = calls(choice, at, declared)?;
        order.extend(calls.iter().map(|_| at));
        read.push(Choice {
            json: choice.clone(),
            had_calls: !calls.is_empty(),
            tool_calls: Vec::new(),
            function_call: None,
            notices: Vec::new(),
        });
        held.extend(calls);
        declared.check_count(held.len())?;
    }
    if held.is_empty() {
        return ReadMessage::inert(body);
    }
    for call in &mut held {
        if let Some(fault) = &fault {
            call.fail(fault.clone());
        }
    }
    let message = Message {
        json: without(&json, &["choices"]),
        choices: read,
        calls: order.into_iter(),
    };
    Ok(ReadMessage::Calls(Box::new(message), held))
}

/// The calls of a choice, which is the one at this place.
fn calls(choice: &Json<'_>, at: usize, declared: &Declared) -> Result<Vec<HeldCall>, Violation> {
    if choice.as_object().is_none() {
        return Err(Violation::Incomplete("a choice is not an object"));
    }
    check_no_calls(choice, &["message"])?;
    let message = match choice.get("message") {
        None | Some(Json::Null) => return Ok(Vec::new()),
        Some(message @ Json::Object(_)) => message,
        Some(_) => return Err(Violation::Incomplete("a message is not an object")),
    };
    check_members(message, CALLS, declared)?;
    let mut said = Said::default();
    for text in texts(message.get("content")) {
        said.push(text);
    }
    said.push(message.get_str("refusal").unwrap_or_default());
    let listed = message.get("tool_calls");
    let listed = match listed.filter(|calls| is_set(Some(calls))) {
        None => &[],
        Some(Json::Array(calls)) => calls.as_slice(),
        Some(_) => return Err(Violation::Incomplete("the tool calls are not a list")),
    };
    declared.check_count(listed.len())?;
    let legacy = message.get("function_call");
    let legacy = legacy.filter(|call| is_set(Some(call)));
    let fragments = listed.iter().map(Fragment::read);
    let fragments = fragments.chain(legacy.map(Fragment::legacy));
    let mut held = Vec::new();
    for fragment in fragments {
        let fragment = fragment?;
        let id = match fragment.kind {
            Kind::Legacy => fragment.name.unwrap_or_default().to_owned(),
            Kind::Function | Kind::Custom | Kind::Unknown(_) => {
                format!("call_{at}_{}", held.len())
            }
        };
        let mut call = fragment.begin(at as u64, id);
        call.said = said.end();
        match (&fragment.input, call.fault.is_some()) {
            (_, true) => {}
            (Ok(text), false) if fragment.kind == Kind::Custom => {
                call.start_input = [CUSTOM_START, &custom_piece(text), CUSTOM_END].concat();
            }
            (Ok(text), false) => call.start_input = text.to_string(),
            (Err(fault), false) => call.fail(Fault::clone(fault)),
        }
        held.push(call);
    }
    Ok(held)
}

impl Message<'_> {
    fn put(&mut self, kind: Option<&str>, call: Json<'static>) {
        let choice = self.calls.next().and_then(|at| self.choices.get_mut(at));
        if let Some(choice) = choice {
            match kind {
                Some("legacy") => choice.function_call = Some(call),
                _ => choice.tool_calls.push(call),
            }
        }
    }
}

/// A call as it stands in a message.
fn call(envelope: &Json<'static>, id: &str, name: &str, input: &str) -> Json<'static> {
    let (name, input) = (name.to_owned().into(), input.to_owned().into());
    let (kind, member) = match envelope.get_str("kind") {
        Some("legacy") => return Json::object([("name", name), ("arguments", input)]),
        Some("custom") => ("custom", "input"),
        _ => ("function", "arguments"),
    };
    let mut call = Json::object([
        ("id", id.to_owned().into()),
        ("type", kind.into()),
        (kind, Json::object([("name", name), (member, input)])),
    ]);
    let others = envelope.get("others").and_then(Json::as_object);
    for (key, value) in others.unwrap_or_default() {
        call.set(key, value.clone());
    }
    call
}

impl GuardedMessage for Message<'_> {
    fn call(&mut self, cleared: &Cleared) {
        let judged = cleared.call();
        let kind = judged.envelope.get_str("kind");
        let input = match kind {
            Some("custom") => judged.input.get_str("input").unwrap_or_default(),
            _ => judged.text.as_str(),
        };
        let call = call(&judged.envelope, &judged.id, &judged.name, input);
        self.put(kind, call);
    }

    fn refusal(&mut self, refusal: &Refusal, notice: String, inert_id: Option<String>) {
        let at = self.calls.as_slice().first().copied();
        if let Some(choice) = at.and_then(|at| self.choices.get_mut(at)) {
            choice.notices.push(notice);
        }
        let is_legacy = refusal.envelope().get_str("kind") == Some("legacy");
        match inert_id.filter(|_| !is_legacy) {
            None => drop(self.calls.next()),
            Some(id) => {
                let tool = refusal.tool().unwrap_or_default();
                let call = call(refusal.envelope(), &id, tool, "{}");
                self.put(refusal.envelope().get_str("kind"), call);
            }
        }
    }

    fn finish(mut self: Box<Self>) -> Canonical {
        let choices = self.choices.drain(..).map(Choice::finish).collect();
        self.json.set("choices", Json::Array(choices));
        Canonical::of_value(&self.json.text())
    }
}

impl<'a> Choice<'a> {
    fn finish(mut self) -> Json<'a> {
        if !self.had_calls {
            return self.json;
        }
        let none = Json::Object(Vec::new());
        let mut message = without(self.json.get("message").unwrap_or(&none), CALLS);
        let notice = self.notices.join("\n\n");
        if !notice.is_empty() {
            let content = match message.get("content") {
                Some(Json::String(text)) if has_text(&message) => {
                    format!("{text}\n\n{notice}").into()
                }
                Some(Json::Array(parts)) => {
                    let part = [("type", "text".into()), ("text", notice.into())];
                    let mut parts = parts.clone();
                    parts.push(Json::object(part));
                    Json::Array(parts)
                }
                _ => notice.into(),
            };
            message.set("content", content);
        }
        let is_left = !self.tool_calls.is_empty() || self.function_call.is_some();
        if !self.tool_calls.is_empty() {
            message.set("tool_calls", Json::Array(self.tool_calls));
        }
        if let Some(call) = self.function_call {
            message.set("function_call", call);
        }
        self.json.set("message", message);
        if let Some(reason) = true_reason(&self.json).filter(|_| !is_left) {
            self.json.set("finish_reason", reason);
        }
        self.json
    }
}
