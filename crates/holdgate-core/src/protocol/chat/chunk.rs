//! What a chunk may contain besides calls, and how it is split.

pub(super) use super::super::MAX_DEPTH;
pub(in super::super) use super::super::no_lone_surrogates;
use super::super::{Declared, is_call};
use crate::event::Violation;
use holdgate_effects::json::{Json, LoneSurrogates, fold, shorten};
use std::borrow::Cow;

/// Members of a message or delta that hold the model's words.
const WORDS: &[&str] = &[
    "audio",
    "content",
    "images",
    "reasoning",
    "reasoning_content",
    "reasoning_details",
    "reasoning_text",
    "refusal",
    "role",
    "thinking",
];
/// Members that tell about the words, and quote sources with members of any name.
const QUOTES: &[&str] = &["annotations", "context"];
/// Keys under which some client looks for a call, besides those of [`is_call`].
const CALLS: &[&str] = &["arguments"];
/// Keys that can carry an action, wherever an unknown member has them.
const ACTIONS: &[&str] = &[
    "action",
    "args",
    "code",
    "command",
    "content",
    "delta",
    "function",
    "input",
    "message",
    "parameters",
];

/// Reads what came as JSON. Text may contain a lone surrogate.
pub(in super::super) fn read_json<'d>(
    data: &'d [u8],
    what: &'static str,
) -> Result<Json<'d>, Violation> {
    let json = Json::read(data, MAX_DEPTH, LoneSurrogates::Replace)
        .map_err(|error| Violation::Json { what, error })?;
    match json.ambiguous_key() {
        Some(key) => Err(Violation::AmbiguousKey(shorten(key, 40))),
        None => Ok(json),
    }
}

/// Whether some client could find a call in this member.
pub(in super::super) fn hides_call(key: &str, value: &Json<'_>) -> bool {
    is_call(key, value) || has_key(key, value, CALLS)
}

/// Whether this member could carry an action of a kind that is not known.
pub(in super::super) fn could_act(key: &str, value: &Json<'_>) -> bool {
    hides_call(key, value) || has_key(key, value, ACTIONS)
}

fn has_key(key: &str, value: &Json<'_>, keys: &[&str]) -> bool {
    keys.contains(&fold(key).as_str()) || has_key_inside(value, keys)
}

fn has_key_inside(value: &Json<'_>, keys: &[&str]) -> bool {
    match value {
        Json::Object(members) => members.iter().any(|(key, value)| has_key(key, value, keys)),
        Json::Array(items) => items.iter().any(|item| has_key_inside(item, keys)),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => false,
    }
}

/// Checks that no client finds a call in the members of `json` but those in `calls`.
pub(super) fn check_no_calls(json: &Json<'_>, calls: &[&str]) -> Result<(), Violation> {
    let members = json.as_object().unwrap_or_default().iter();
    let mut others = members.filter(|(key, _)| !calls.contains(&&**key));
    match others.find(|(key, value)| hides_call(key, value)) {
        Some((key, _)) => Err(Violation::HiddenInMember(shorten(key, 40))),
        None => Ok(()),
    }
}

/// The same for a delta or a message, whose members must be known ones as well, or harmless.
pub(in super::super) fn check_members(
    json: &Json<'_>,
    calls: &[&str],
    declared: &Declared,
) -> Result<(), Violation> {
    check_no_calls(json, calls)?;
    let acts = |key: &str, value: &Json<'_>| match key {
        key if calls.contains(&key) || declared.inert.iter().any(|inert| inert == key) => false,
        key if QUOTES.contains(&key) => false,
        // They hold texts, or parts with kinds of their own, of which some are not known.
        key if WORDS.contains(&key) => could_act("", value),
        key => could_act(key, value),
    };
    let mut members = json.as_object().unwrap_or_default().iter();
    match members.find(|(key, value)| acts(key, value)) {
        Some((key, _)) => Err(Violation::UnknownEvent(shorten(key, 40))),
        None => Ok(()),
    }
}

/// Whether a value is there and says something.
pub(in super::super) fn is_set(value: Option<&Json<'_>>) -> bool {
    match value {
        None | Some(Json::Null) => false,
        Some(Json::String(text)) => !text.is_empty(),
        Some(Json::Array(items)) => !items.is_empty(),
        Some(Json::Object(_) | Json::Bool(_) | Json::Number(_)) => true,
    }
}

/// The texts of a message's or delta's content, in order.
pub(in super::super) fn texts<'m>(content: Option<&'m Json<'m>>) -> impl Iterator<Item = &'m str> {
    let plain = content.and_then(Json::as_str);
    let parts = content.and_then(Json::as_array).unwrap_or_default();
    let parts = parts.iter().filter_map(|part| part.get_str("text"));
    plain.into_iter().chain(parts)
}

/// Members of a chunk that all chunks of a response have, and the usage.
const HEAD: &[&str] = &[
    "id",
    "object",
    "created",
    "model",
    "system_fingerprint",
    "service_tier",
    "usage",
];
/// Bytes of such a member, at the most: they are written once for each call and choice.
const HEAD_BYTES: usize = 1 << 10;

/// What the chunks that are made of `chunk`, or come after it, have in common with it.
pub(super) fn head<'a>(chunk: &Json<'a>) -> Json<'a> {
    let members = chunk.as_object().unwrap_or_default().iter();
    let is_short = |value: &Json<'_>| value.text().len() <= HEAD_BYTES;
    let kept = members.filter(|(key, value)| HEAD.contains(&&**key) && is_short(value));
    Json::Object(kept.cloned().collect())
}

/// A chunk with this head and this one choice, and with the usage if it is the last of the choice.
pub(super) fn with_choice<'a>(head: &Json<'a>, choice: Json<'a>, with_usage: bool) -> Json<'a> {
    let left_out: &[&str] = if with_usage { &[] } else { &["usage"] };
    let mut piece = without(head, left_out);
    piece.set("choices", Json::Array(vec![choice]));
    piece
}

/// The object without these members.
pub(in super::super) fn without<'a>(json: &Json<'a>, keys: &[&str]) -> Json<'a> {
    let members = json.as_object().unwrap_or_default().iter();
    let kept = members.filter(|(key, _)| !keys.contains(&&**key));
    Json::Object(kept.cloned().collect())
}

/// A choice like `choice` with another delta: its words, or nothing and the reason for its end.
pub(super) fn with_delta<'a>(choice: &Json<'a>, delta: Json<'a>, with_finish: bool) -> Json<'a> {
    let members = choice.as_object().unwrap_or_default().iter();
    let mut kept: Vec<(Cow<'a, str>, Json<'a>)> = members
        .filter(|(key, _)| {
            key != if with_finish {
                "logprobs"
            } else {
                "finish_reason"
            }
        })
        .cloned()
        .collect();
    if !with_finish {
        kept.push(("finish_reason".into(), Json::Null));
    }
    let mut choice = Json::Object(kept);
    choice.set("delta", delta);
    choice
}
