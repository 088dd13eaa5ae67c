//! A response that comes whole: one chunk, or a list of chunks if a stream was asked for without
//! `alt=sse`.

use super::super::{Declared, GuardedMessage, ReadMessage};
use super::chunk::{self, Candidates, Item, head};
use super::names::{get, is};
use super::write::{Notices, call_part, inert_call_part};
use crate::canonical::Canonical;
use crate::event::Violation;
use crate::stack::{Cleared, Refusal};
use holdgate_effects::json::Json;

/// A response whose calls have been taken out.
#[derive(Debug)]
struct Message<'a> {
    json: Json<'a>,
    /// The parts of all candidates, in order.
    parts: Vec<Parts<'a>>,
    /// The places of the calls that are not decided yet, the next one last.
    calls: Vec<(usize, usize)>,
    notices: Notices,
}

/// The parts of a candidate; what stands in the place of each.
type Parts<'a> = Vec<Vec<Json<'a>>>;

/// Reads a response body.
pub(super) fn read<'a>(body: &'a [u8], declared: &Declared) -> Result<ReadMessage<'a>, Violation> {
    let json = chunk::read(body, "the response")?;
    let mut candidates = Candidates::new(declared.clone());
    let (mut parts, mut calls, mut held) = (Vec::new(), Vec::new(), Vec::new());
    for chunk in chunks(&json) {
        let head = head(chunk);
        for candidate in chunk::candidates(chunk)?.unwrap_or_default() {
            let mut places: Parts<'a> = Vec::new();
            for item in candidates.take(candidate, &head, body)? {
                places.push(match item {
                    Item::Inert(part) => vec![part.clone()],
                    Item::Call(call, _) => {
                        calls.push((parts.len(), places.len()));
                        held.push(*call);
                        Vec::new()
                    }
                    Item::More(_) => Vec::new(),
                });
            }
            parts.push(places);
        }
    }
    if held.is_empty() {
        return match std::str::from_utf8(body) {
            Ok(text) => Ok(ReadMessage::Inert(Canonical::of_value(text))),
            Err(_) => Err(Violation::Incomplete("the response is not UTF-8")),
        };
    }
    calls.reverse();
    let message = Message {
        json,
        parts,
        calls,
        notices: Notices::default(),
    };
    Ok(ReadMessage::Calls(Box::new(message), held))
}

/// The chunks of a body.
fn chunks<'j, 'a>(json: &'j Json<'a>) -> &'j [Json<'a>] {
    json.as_array().unwrap_or(std::slice::from_ref(json))
}

impl Message<'_> {
    fn put(&mut self, parts: impl IntoIterator<Item = Json<'static>>) {
        let Some((candidate, place)) = self.calls.pop() else {
            return;
        };
        let candidate = self.parts.get_mut(candidate);
        if let Some(place) = candidate.and_then(|parts| parts.get_mut(place)) {
            for part in parts {
                place.push(part);
            }
        }
    }
}

impl GuardedMessage for Message<'_> {
    fn call(&mut self, cleared: &Cleared) {
        self.put([call_part(cleared.call())]);
    }

    fn refusal(&mut self, refusal: &Refusal, notice: String, inert_id: Option<String>) {
        let notice = self.notices.part(&notice, refusal.envelope());
        let call = inert_id.map(|id| inert_call_part(refusal, &id));
        self.put([notice].into_iter().chain(call));
    }

    fn finish(self: Box<Self>) -> Canonical {
        let mut parts = self.parts.into_iter();
        let written = chunks(&self.json).iter().map(|chunk| {
            let candidates = get(chunk, "candidates").and_then(Json::as_array);
            let candidates = candidates.unwrap_or_default().iter();
            let candidates = candidates.map(|candidate| {
                let parts = parts.next().unwrap_or_default();
                with_parts(candidate, parts.into_iter().flatten().collect())
            });
            replaced(chunk, "candidates", Json::Array(candidates.collect()))
        });
        let mut written: Vec<Json<'_>> = written.collect();
        let body = match (&self.json, written.pop()) {
            (Json::Array(_), last) => Json::Array(written.into_iter().chain(last).collect()),
            (_, last) => last.unwrap_or(Json::Null),
        };
        Canonical::of_value(&body.text())
    }
}

/// A candidate with these parts.
fn with_parts<'a>(candidate: &Json<'a>, parts: Vec<Json<'a>>) -> Json<'a> {
    match get(candidate, "content") {
        Some(content @ Json::Object(_)) => {
            let content = replaced(content, "parts", Json::Array(parts));
            replaced(candidate, "content", content)
        }
        _ => candidate.clone(),
    }
}

/// The object with another value of this member, if it has it.
fn replaced<'a>(object: &Json<'a>, name: &str, value: Json<'a>) -> Json<'a> {
    let mut object = object.clone();
    if let Json::Object(members) = &mut object
        && let Some((_, old)) = members.iter_mut().find(|(key, _)| is(key, name))
    {
        *old = value;
    }
    object
}
