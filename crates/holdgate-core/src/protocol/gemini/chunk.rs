//! A chunk of a response, which is the whole response if it is not streamed: what may stand in it
//! besides parts, and its candidates.

use super::super::Declared;
use super::super::chat::{could_act, hides_call, is_set, no_lone_surrogates, read_json};
use super::super::said::Said;
use super::names::{self, get, is_one_of};
use super::part::{self, Part, Place};
use crate::call::{Fault, HeldCall};
use crate::event::Violation;
use holdgate_effects::json::{Json, shorten};
use std::collections::HashMap;

/// Candidates of one response; the API gives eight at the most.
const MAX_CANDIDATES: usize = 32;
/// Members of a chunk.
const OF_CHUNK: &[&str] = &[
    "candidates",
    "promptFeedback",
    "usageMetadata",
    "modelVersion",
    "modelStatus",
    "responseId",
    "createTime",
];
/// Members of a candidate.
const OF_CANDIDATE: &[&str] = &[
    "content",
    "finishReason",
    "finishMessage",
    "index",
    "tokenCount",
    "safetyRatings",
    "citationMetadata",
    "groundingMetadata",
    "groundingAttributions",
    "urlContextMetadata",
    "urlRetrievalMetadata",
    "avgLogprobs",
    "logprobsResult",
];
/// Members of a content.
const OF_CONTENT: &[&str] = &["parts", "role"];
/// Members that all chunks of a response have in common.
const HEAD: &[&str] = &["modelVersion", "responseId", "createTime"];
/// Bytes of such a member, at the most: they are written once for each call.
const HEAD_BYTES: usize = 1 << 10;

/// What came of the candidates of a response.
#[derive(Debug)]
pub(super) struct Candidates {
    declared: Declared,
    seen: Vec<Candidate>,
    /// Calls of each tool that have no id.
    names: HashMap<String, usize>,
}

#[derive(Debug)]
struct Candidate {
    number: u64,
    finished: bool,
    has_text: bool,
    said: Said,
    /// Whether a call waits for further pieces.
    open: bool,
}

/// A part of a candidate, in order.
pub(super) enum Item<'p, 'a> {
    /// Passes as it came.
    Inert(&'p Json<'a>),
    /// A call, and whether it is whole.
    Call(Box<HeldCall>, bool),
    /// A further piece of a call that will be refused, and whether it is the last.
    More(bool),
}

/// Reads what came as a chunk, and checks all of it but its candidates.
pub(super) fn read<'d>(data: &'d [u8], what: &'static str) -> Result<Json<'d>, Violation> {
    let json = read_json(data, what)?;
    names::check(&json)?;
    Ok(json)
}

/// Checks a chunk but for its candidates; `None` if it reports an error.
pub(super) fn candidates<'j, 'a>(json: &'j Json<'a>) -> Result<Option<&'j [Json<'a>]>, Violation> {
    if json.as_object().is_none() {
        return Err(Violation::Incomplete("a chunk is not an object"));
    }
    let is_error = is_set(get(json, "error"));
    if is_error && is_set(get(json, "candidates")) {
        return Err(Violation::HiddenInMember("candidates".to_owned()));
    }
    if is_error {
        check_others(json, &[], &["error"])?;
        return Ok(None);
    }
    check_others(json, &["candidates"], OF_CHUNK)?;
    match get(json, "candidates") {
        None | Some(Json::Null) => Ok(Some(&[])),
        Some(Json::Array(candidates)) => Ok(Some(candidates)),
        Some(_) => Err(Violation::Incomplete("the candidates are not a list")),
    }
}

/// Whether the provider has refused to answer at all.
pub(super) fn is_refused(json: &Json<'_>) -> bool {
    let feedback = get(json, "promptFeedback");
    is_set(feedback.and_then(|feedback| get(feedback, "blockReason")))
}

/// What the chunks that are made of `chunk` have in common with it.
pub(super) fn head<'a>(chunk: &Json<'a>) -> Json<'a> {
    let members = chunk.as_object().unwrap_or_default().iter();
    let is_short = |value: &Json<'_>| value.text().len() <= HEAD_BYTES;
    let kept = members.filter(|(key, value)| is_one_of(key, HEAD) && is_short(value));
    Json::Object(kept.cloned().collect())
}

/// The parts of a candidate, checked.
fn parts<'j, 'a>(candidate: &'j Json<'a>) -> Result<&'j [Json<'a>], Violation> {
    if candidate.as_object().is_none() {
        return Err(Violation::Incomplete("a candidate is not an object"));
    }
    check_others(candidate, &["content"], OF_CANDIDATE)?;
    let content = match get(candidate, "content") {
        None | Some(Json::Null) => return Ok(&[]),
        Some(content @ Json::Object(_)) => content,
        Some(_) => return Err(Violation::Incomplete("a content is not an object")),
    };
    check_others(content, &["parts"], OF_CONTENT)?;
    match get(content, "parts") {
        None | Some(Json::Null) => Ok(&[]),
        Some(Json::Array(parts)) => Ok(parts),
        Some(_) => Err(Violation::Incomplete("the parts are not a list")),
    }
}

/// Checks that no client finds a call in the members of `json` but those that are `read`, and that the
/// others are known or harmless.
fn check_others(json: &Json<'_>, read: &[&str], known: &[&str]) -> Result<(), Violation> {
    for (key, value) in json.as_object().unwrap_or_default() {
        if is_one_of(key, read) {
            continue;
        }
        if hides_call(key, value) || names::hides_action(key, value) {
            return Err(Violation::HiddenInMember(shorten(key, 40)));
        }
        if !is_one_of(key, known) && could_act(key, value) {
            return Err(Violation::UnknownEvent(shorten(key, 40)));
        }
    }
    Ok(())
}

impl Candidates {
    /// Before the first chunk.
    pub(super) fn new(declared: Declared) -> Self {
        Candidates {
            declared,
            seen: Vec::new(),
            names: HashMap::new(),
        }
    }

    /// What a candidate of a chunk says, in order. `data` is the chunk as it came.
    pub(super) fn take<'j, 'a>(
        &mut self,
        json: &'j Json<'a>,
        head: &Json<'_>,
        data: &[u8],
    ) -> Result<Vec<Item<'j, 'a>>, Violation> {
        let parts = parts(json)?;
        let mut names = std::mem::take(&mut self.names);
        let declared = self.declared.clone();
        let candidate = self.candidate(json)?;
        let mut items = Vec::with_capacity(parts.len());
        let mut surrogates: Option<Result<(), Fault>> = None;
        for part in parts {
            let place = Place {
                declared: &declared,
                candidate: candidate.number,
                head,
                after_text: candidate.has_text,
                open: candidate.open,
            };
            let mut held = |mut call: Box<HeldCall>, said: &mut Said| {
                call.said = said.end();
                let sound = surrogates.get_or_insert_with(|| no_lone_surrogates(data));
                if let Err(fault) = sound {
                    call.fail(fault.clone());
                }
                call
            };
            match part::read(part, &place, &mut names)? {
                Part::Inert(text) => {
                    candidate.said.push(text);
                    candidate.has_text |= !text.is_empty();
                    items.push(Item::Inert(part));
                }
                Part::Call(call) => {
                    candidate.end_open(&mut items);
                    items.push(Item::Call(held(call, &mut candidate.said), true));
                }
                Part::Begins(call) => {
                    candidate.end_open(&mut items);
                    candidate.open = true;
                    items.push(Item::Call(held(call, &mut candidate.said), false));
                }
                Part::More { ends } => {
                    candidate.open = !ends;
                    items.push(Item::More(ends));
                }
            }
        }
        if finishes(json) {
            candidate.end_open(&mut items);
            candidate.finished = true;
        }
        self.names = names;
        let calls = items.iter().filter(|item| matches!(item, Item::Call(..)));
        declared.check_count(calls.count())?;
        Ok(items)
    }

    /// Whether a candidate has not come to its end.
    pub(super) fn is_unfinished(&self) -> bool {
        let goes_on = |candidate: &Candidate| candidate.open || !candidate.finished;
        self.seen.iter().any(goes_on)
    }

    /// The candidate that `json` is a piece of.
    fn candidate(&mut self, json: &Json<'_>) -> Result<&mut Candidate, Violation> {
        let number = number(json)?;
        let at = self.seen.iter().position(|c| c.number == number);
        let at = at.unwrap_or(self.seen.len());
        if at == self.seen.len() {
            if at >= MAX_CANDIDATES {
                return Err(Violation::TooMuch("the response has too many candidates"));
            }
            self.seen.push(Candidate {
                number,
                finished: false,
                has_text: false,
                said: Said::default(),
                open: false,
            });
        }
        let candidate = self.seen.get_mut(at);
        candidate.ok_or(Violation::Incomplete("a chunk without candidates"))
    }
}

impl Candidate {
    /// A call that waits for further pieces gets none.
    fn end_open(&mut self, items: &mut Vec<Item<'_, '_>>) {
        if std::mem::take(&mut self.open) {
            items.push(Item::More(true));
        }
    }
}

/// The number of a candidate; the first one may have none.
pub(super) fn number(candidate: &Json<'_>) -> Result<u64, Violation> {
    match get(candidate, "index") {
        None | Some(Json::Null) => Ok(0),
        Some(index) => index.as_u64().ok_or(Violation::Incomplete(
            "the index of a candidate is not a number",
        )),
    }
}

/// Whether this piece of a candidate is its last.
pub(super) fn finishes(candidate: &Json<'_>) -> bool {
    match get(candidate, "finishReason") {
        Some(Json::String(reason)) => !matches!(&**reason, "" | "FINISH_REASON_UNSPECIFIED"),
        Some(Json::Number(reason)) => reason != "0",
        _ => false,
    }
}
