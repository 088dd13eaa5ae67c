//! One part of a response: words, a call, or something else that passes only if it is known.

use super::super::Declared;
use super::super::chat::{could_act, hides_call, is_set};
use super::names::{get, get_str, is, is_one_of, plain};
use crate::call::{Executor, Fault, HeldCall};
use crate::event::Violation;
use holdgate_effects::json::{Json, shorten};
use std::collections::HashMap;

/// Members that say something about the part that they are in.
const ABOUT: &[&str] = &[
    "thought",
    "thoughtSignature",
    "videoMetadata",
    "mediaResolution",
    "partMetadata",
];
/// Members of a call.
const OF_CALL: &[&str] = &["id", "name", "args", "partialArgs", "willContinue"];
/// Members of data that are a picture or a sound.
const OF_DATA: &[&str] = &["mimeType", "data", "displayName"];

/// What a part is.
pub(super) enum Part<'p> {
    /// It cannot cause an action. The text is what the model says to the user.
    Inert(&'p str),
    /// A call.
    Call(Box<HeldCall>),
    /// The first piece of a call whose arguments come in pieces.
    Begins(Box<HeldCall>),
    /// A further piece of such a call, and whether it is the last.
    More {
        /// Whether it is the last.
        ends: bool,
    },
}

/// Where a part stands.
pub(super) struct Place<'r> {
    pub(super) declared: &'r Declared,
    /// The number of its candidate.
    pub(super) candidate: u64,
    /// What the chunks of the response have in common.
    pub(super) head: &'r Json<'r>,
    /// Whether the candidate has a text before it.
    pub(super) after_text: bool,
    /// Whether a call of the candidate waits for further pieces.
    pub(super) open: bool,
}

/// Reads a part. `names` counts the calls of each tool that have no id.
pub(super) fn read<'p>(
    part: &'p Json<'_>,
    place: &Place<'_>,
    names: &mut HashMap<String, usize>,
) -> Result<Part<'p>, Violation> {
    let Some(members) = part.as_object() else {
        return Err(Violation::Incomplete("a part is not an object"));
    };
    let is_there = |value: &Json<'_>| *value != Json::Null;
    let members = members.iter().filter(|(_, value)| is_there(value));
    let (about, data): (Vec<_>, Vec<_>) = members.partition(|(key, _)| is_one_of(key, ABOUT));
    let hidden = about.iter().any(|(key, value)| hides_call(key, value));
    if let Some(function) = get(part, "functionCall").filter(|call| is_there(call)) {
        let is_more = place.open && !is_set(get(function, "name"));
        let ends = get(function, "willContinue") != Some(&Json::Bool(true));
        if is_more {
            return Ok(Part::More { ends });
        }
        let mut held = Box::new(call(part, function, place, names)?);
        if hidden || data.len() > 1 {
            held.fail(Fault::NestedCall);
        }
        if !ends || is_set(get(function, "partialArgs")) {
            held.fail(Fault::InPieces);
        }
        return Ok(if ends {
            Part::Call(held)
        } else {
            Part::Begins(held)
        });
    }
    let is_declared = |key: &str| place.declared.inert.iter().any(|inert| inert == key);
    let inside = |value: &Json<'_>| hides_call("", value);
    match data.as_slice() {
        _ if hidden => {}
        [] => return Ok(Part::Inert("")),
        [(key, data)] if is(key, "inlineData") && is_media(data) => return Ok(Part::Inert("")),
        [(key, run)] if is(key, "executableCode") && runs_code(place) && !inside(run) => {
            return Ok(Part::Call(provider_call(
                "executableCode",
                run,
                part,
                place,
                names,
            )));
        }
        [(key, run)] if is(key, "toolCall") && runs_tool(run, place) && !inside(run) => {
            return Ok(Part::Call(provider_call(
                "toolCall", run, part, place, names,
            )));
        }
        [(key, result)] if is(key, "codeExecutionResult") && runs_code(place) => {
            if !inside(result) {
                return Ok(Part::Inert(""));
            }
        }
        [(key, result)] if is(key, "toolResponse") && runs_tool(result, place) => {
            if !inside(result) {
                return Ok(Part::Inert(""));
            }
        }
        [(key, value)] if is_declared(key) && !hides_call(key, value) => {
            return Ok(Part::Inert(""));
        }
        all => {
            // What stands beside a text may say more about it.
            let (texts, others): (Vec<_>, Vec<_>) =
                all.iter().copied().partition(|(key, _)| is(key, "text"));
            let harmless = others.iter().all(|(key, value)| !could_act(key, value));
            if let ([(_, Json::String(text))], true) = (texts.as_slice(), harmless) {
                let is_thought = get(part, "thought") == Some(&Json::Bool(true));
                return Ok(Part::Inert(if is_thought { "" } else { text }));
            }
        }
    }
    let named = data.iter().find(|(key, _)| !is(key, "text"));
    let kind = named.or(data.first()).map_or("part", |(key, _)| &**key);
    let runs = Executor::Unknown(shorten(kind, 80));
    let held = HeldCall::new(runs, Some(new_id(kind, names)), None, None);
    Ok(Part::Call(Box::new(held.with_envelope(envelope(
        "unknown",
        place,
        false,
        Json::Null,
        Json::Null,
    )))))
}

/// Whether data are a picture or a sound, and nothing else.
fn is_media(data: &Json<'_>) -> bool {
    let kind = get_str(data, "mimeType").unwrap_or_default();
    let known = ["image/", "audio/", "video/"];
    let mut members = data.as_object().unwrap_or_default().iter();
    known.iter().any(|start| kind.starts_with(start))
        && members.all(|(key, value)| is_one_of(key, OF_DATA) && value.as_str().is_some())
}

/// Whether the request lets the provider run code.
fn runs_code(place: &Place<'_>) -> bool {
    let tools = &place.declared.request.provider.tools;
    tools.contains("codeexecution")
}

/// Whether the request lets the provider run the tool that this names.
fn runs_tool(run: &Json<'_>, place: &Place<'_>) -> bool {
    let kind = plain(get_str(run, "toolType").unwrap_or_default());
    let tools = &place.declared.request.provider.tools;
    tools.iter().any(|tool| kind.starts_with(tool.as_str()))
}

fn call(
    part: &Json<'_>,
    function: &Json<'_>,
    place: &Place<'_>,
    names: &mut HashMap<String, usize>,
) -> Result<HeldCall, Violation> {
    let Some(members) = function.as_object() else {
        return Err(Violation::Incomplete("a function call is not an object"));
    };
    let name = get_str(function, "name");
    let id = get_str(function, "id").filter(|id| !id.is_empty());
    let others = members.iter().filter(|(key, _)| !is_one_of(key, OF_CALL));
    let others: Vec<_> = others.cloned().collect();
    let acts = others.iter().any(|(key, value)| could_act(key, value));
    let envelope = envelope(
        "functionCall",
        place,
        id.is_some(),
        about(part),
        Json::Object(others),
    );
    let id = id.map_or_else(|| new_id(name.unwrap_or_default(), names), str::to_owned);
    let args = get(function, "args").map(Json::text);
    let name = name.map(str::to_owned);
    let mut held = HeldCall::new(Executor::AtClient, Some(id), name, args).with_envelope(envelope);
    if acts {
        held.fail(Fault::NestedCall);
    }
    Ok(held)
}

/// A call that the provider has run.
fn provider_call(
    kind: &'static str,
    run: &Json<'_>,
    part: &Json<'_>,
    place: &Place<'_>,
    names: &mut HashMap<String, usize>,
) -> Box<HeldCall> {
    let name = match kind {
        "executableCode" => "code_execution".to_owned(),
        _ => get_str(run, "toolType").unwrap_or_default().to_lowercase(),
    };
    let envelope = envelope(kind, place, false, about(part), Json::Null);
    let id = new_id(&name, names);
    let input = Some(run.text());
    let held = HeldCall::new(Executor::AtProvider, Some(id), Some(name), input);
    Box::new(held.with_envelope(envelope))
}

/// What stands beside the call in its part.
fn about<'a>(part: &Json<'a>) -> Json<'a> {
    let members = part.as_object().unwrap_or_default().iter();
    let kept = members.filter(|(key, _)| is_one_of(key, ABOUT));
    Json::Object(kept.cloned().collect())
}

fn envelope<'a>(
    kind: &'static str,
    place: &Place<'a>,
    has_id: bool,
    about: Json<'a>,
    others: Json<'a>,
) -> Json<'a> {
    Json::object([
        ("kind", kind.into()),
        ("candidate", place.candidate.into()),
        ("head", place.head.clone()),
        ("after_text", Json::Bool(place.after_text)),
        ("has_id", Json::Bool(has_id)),
        ("about", about),
        ("others", others),
    ])
}

/// An id for a call that has none: its result will name the tool, and a second call of it must not
/// pass for the same one.
fn new_id(name: &str, names: &mut HashMap<String, usize>) -> String {
    let count = names.entry(name.to_owned()).or_default();
    *count += 1;
    match *count {
        1 => name.to_owned(),
        count => format!("{name}#{count}"),
    }
}
