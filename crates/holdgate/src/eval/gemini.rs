//! The most lenient client of Gemini's protocol imaginable. It takes keys in any case and with
//! underscores anywhere, reads every candidate, finds calls at any position, joins arguments that come
//! in pieces, and acts on kinds of part that it does not know.
//!
//! It reads the wire format by itself on purpose, as [`client`](super::client) does.

#![allow(
    clippy::indexing_slicing,
    reason = "a member that a JSON value does not have reads as null"
)]

use super::client::Assembled;
use super::readers::{Reading, events, readings};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Members of a part that no client acts on.
const INERT: &[&str] = &[
    "text",
    "thought",
    "thoughtsignature",
    "codeexecutionresult",
    "inlinedata",
];

/// The calls that each way of reading finds in `response`, complete or not.
pub fn all_calls(response: &[u8]) -> Vec<(Reading, Vec<Assembled>)> {
    let calls = |reading: Reading| {
        let calls = calls_of(&reading.events);
        (reading, calls)
    };
    readings(response).into_iter().map(calls).collect()
}

/// The calls that the standard's way of reading finds.
pub fn calls(response: &[u8]) -> Vec<Assembled> {
    calls_of(&events(response))
}

/// Whether something that a client could act on in `response` holds `marker`.
pub fn holds(response: &[u8], marker: &str) -> bool {
    readings(response).iter().any(|reading| {
        let mut texts = Vec::new();
        for event in &reading.events {
            acting_texts(event, &mut texts);
        }
        let pieces = calls_of(&reading.events).into_iter();
        let joined = pieces.map(|call| format!("{} {}", call.tool, call.input.unwrap_or_default()));
        texts
            .into_iter()
            .chain(joined)
            .any(|text| text.contains(marker))
    })
}

/// What a response says to a client that reads it as it is meant: for each candidate its parts and why
/// it ended, and what is said of the whole. How it was cut into chunks says nothing.
pub fn meaning(response: &[u8]) -> Vec<Value> {
    let mut candidates: BTreeMap<u64, (Vec<Value>, Map<String, Value>)> = BTreeMap::new();
    let mut others = Map::new();
    for event in flat(events(response)) {
        for (key, value) in event.as_object().into_iter().flatten() {
            if plain(key) != "candidates" {
                others.insert(plain(key), value.clone());
            }
        }
        for candidate in list(member(&event, "candidates")) {
            let number = member(candidate, "index").as_u64().unwrap_or_default();
            let (parts, about) = candidates.entry(number).or_default();
            for (key, value) in candidate.as_object().into_iter().flatten() {
                if plain(key) != "content" && plain(key) != "index" {
                    about.insert(plain(key), value.clone());
                }
            }
            for part in list(member(member(candidate, "content"), "parts")) {
                add_part(parts, part);
            }
        }
    }
    let candidates = candidates.into_values().map(|(parts, mut about)| {
        about.insert("parts".to_owned(), parts.into());
        Value::Object(about)
    });
    candidates.chain([Value::Object(others)]).collect()
}

/// Texts that follow each other are one text, and an empty one is none.
fn add_part(parts: &mut Vec<Value>, part: &Value) {
    let mut part: Map<String, Value> = part
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, value)| (plain(key), value.clone()))
        .collect();
    let is_plain = |part: &Map<String, Value>| {
        part.contains_key("text") && part.keys().all(|key| key == "text" || key == "thought")
    };
    if part.len() == 1 && part.get("text").is_some_and(|text| text == "") {
        return;
    }
    if let Some(call) = part.get_mut("functioncall").and_then(Value::as_object_mut) {
        call.entry("args").or_insert_with(|| Map::new().into());
    }
    if let Some(Value::Object(last)) = parts.last_mut()
        && is_plain(last)
        && is_plain(&part)
        && last.get("thought") == part.get("thought")
    {
        let joined = [&last["text"], &part["text"]].map(|text| text.as_str().unwrap_or_default());
        last.insert("text".to_owned(), joined.concat().into());
        return;
    }
    parts.push(part.into());
}

fn calls_of(events: &[Value]) -> Vec<Assembled> {
    let mut calls = Vec::new();
    for event in events {
        find_calls(event, &mut calls);
    }
    calls
}

fn find_calls(value: &Value, calls: &mut Vec<Assembled>) {
    match value {
        Value::Object(members) => {
            for (key, value) in members {
                match plain(key).as_str() {
                    "functioncall" => add_call(value, calls),
                    "executablecode" => calls.push(run("code_execution", value)),
                    "toolcall" => {
                        let tool = member(value, "toolType").as_str().unwrap_or_default();
                        calls.push(run(&tool.to_lowercase(), value));
                    }
                    _ => find_calls(value, calls),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| find_calls(item, calls)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn run(tool: &str, input: &Value) -> Assembled {
    Assembled {
        tool: tool.to_owned(),
        id: String::new(),
        input: Some(input.clone()),
    }
}

/// A call, or a further piece of the last one.
fn add_call(call: &Value, calls: &mut Vec<Assembled>) {
    let text = |name| member(call, name).as_str().unwrap_or_default().to_owned();
    let name = text("name");
    if !name.is_empty() || calls.is_empty() {
        let args = member(call, "args");
        calls.push(Assembled {
            tool: name,
            id: text("id"),
            input: Some(if args.is_null() {
                Map::new().into()
            } else {
                args.clone()
            }),
        });
    }
    let last = calls.last_mut().and_then(|call| call.input.as_mut());
    let Some(input) = last.and_then(Value::as_object_mut) else {
        return;
    };
    for piece in list(member(call, "partialArgs")) {
        let path = member(piece, "jsonPath").as_str().unwrap_or_default();
        let known = input.entry(path.trim_start_matches("$."));
        let known = known.or_insert_with(|| "".into());
        let before = known.as_str().unwrap_or_default();
        let more = piece.as_object().into_iter().flatten();
        let more = more.filter(|(key, _)| plain(key).ends_with("value"));
        let more = more.map(|(_, value)| value.as_str().map_or(value.to_string(), str::to_owned));
        *known = format!("{before}{}", more.collect::<String>()).into();
    }
}

/// Everything in a response that some client could act on.
fn acting_texts(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (key, value) in members {
                match plain(key).as_str() {
                    "functioncall" | "executablecode" | "toolcall" | "partialargs" => {
                        texts.push(value.to_string());
                    }
                    "parts" => {
                        for (key, value) in
                            list(value).iter().filter_map(Value::as_object).flatten()
                        {
                            if !INERT.contains(&plain(key).as_str()) {
                                texts.push(value.to_string());
                            }
                        }
                        acting_texts(value, texts);
                    }
                    _ => acting_texts(value, texts),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| acting_texts(item, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The chunks of a response, which may come as one list.
fn flat(events: Vec<Value>) -> Vec<Value> {
    let chunks = |event: Value| event.as_array().cloned().unwrap_or_else(|| vec![event]);
    events.into_iter().flat_map(chunks).collect()
}

fn plain(key: &str) -> String {
    key.to_lowercase().replace('_', "")
}

/// The member of this name, however it is written.
fn member<'v>(value: &'v Value, name: &str) -> &'v Value {
    let mut members = value.as_object().into_iter().flatten();
    let found = members.find(|(key, _)| plain(key) == name.to_lowercase());
    found.map_or(&Value::Null, |(_, value)| value)
}

fn list(value: &Value) -> &[Value] {
    match value {
        Value::Array(items) => items,
        Value::Object(_) => std::slice::from_ref(value),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(parts: &str) -> String {
        format!("data: {{\"candidates\":[{{\"content\":{{\"parts\":[{parts}]}}}}]}}\r\n\r\n")
    }

    #[test]
    fn a_marker_is_found_wherever_a_client_could_act_on_it() {
        #[track_caller]
        fn check(response: &str, held: bool) {
            assert_eq!(holds(response.as_bytes(), "EVIL"), held, "{response}");
        }
        check(&chunk(r#"{"text":"EVIL"}"#), false);
        check(
            &chunk(r#"{"functionCall":{"name":"x","args":{"c":"EVIL"}}}"#),
            true,
        );
        check(&chunk(r#"{"Function_Call":{"Name":"EVIL"}}"#), true);
        check(&chunk(r#"{"shellCall":{"command":"EVIL"}}"#), true);
        check(r#"[{"x":{"functionCall":{"args":"\u0045VIL"}}}]"#, true);
        let piece = |text: &str, name: &str| {
            chunk(&format!(
                r#"{{"functionCall":{{{name}"partialArgs":[{{"jsonPath":"$.c","stringValue":"{text}"}}]}}}}"#
            ))
        };
        check(&(piece("EV", r#""name":"x","#) + &piece("IL", "")), true);
    }

    #[test]
    fn the_same_meaning_in_other_pieces() {
        let call = r#"{"functionCall":{"name":"x","args":{"a":1}},"thoughtSignature":"c2ln"}"#;
        let one = chunk(&format!(r#"{{"text":"ab"}},{call}"#));
        let other = chunk(r#"{"text":"a"}"#) + &chunk(r#"{"text":"b"},{"text":""}"#) + &chunk(call);
        assert_eq!(meaning(one.as_bytes()), meaning(other.as_bytes()));
        let without = other.replace(r#","thoughtSignature":"c2ln""#, "");
        assert_ne!(meaning(one.as_bytes()), meaning(without.as_bytes()));
        assert_eq!(calls(one.as_bytes()).len(), 1);
    }
}
