//! The most lenient client imaginable of the protocols that put calls into `tool_calls`: `OpenAI` Chat
//! Completions and Ollama. It joins fragments by number, by id and by neither, takes the first name
//! or the last, ignores case in keys, and finds arguments at any position.
//!
//! It reads the wire format by itself on purpose, as [`client`](super::client) does.

#![allow(
    clippy::indexing_slicing,
    reason = "a member that a JSON value does not have reads as null"
)]

use super::client::Assembled;
use super::readers::{Reading, read, readings};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// How a client tells which fragments belong to one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Join {
    /// By the number, whatever id comes with it: the AI SDK.
    Number,
    /// By number and id.
    NumberAndId,
    /// By id; a fragment without one belongs to the last call.
    Id,
    /// A fragment with a name begins a call; all others belong to it.
    Order,
}

const JOINS: [Join; 4] = [Join::Number, Join::NumberAndId, Join::Id, Join::Order];

#[derive(Clone, Debug, Default)]
struct Building {
    key: String,
    names: Vec<String>,
    id: String,
    /// The fragments of the arguments, joined.
    text: String,
    /// Arguments that are no text.
    object: Option<Value>,
}

/// The calls that each way of reading and joining finds in `response`, complete or not.
pub fn all_calls(response: &[u8]) -> Vec<(Reading, Vec<Assembled>)> {
    let mut all = Vec::new();
    for reading in readings(response) {
        let mut found: Vec<Vec<Assembled>> = Vec::new();
        for join in JOINS {
            let calls = calls_of(&reading.events, join);
            let calls: Vec<Assembled> = calls.iter().flat_map(Building::assemble).collect();
            if !found.contains(&calls) {
                found.push(calls);
            }
        }
        all.extend(found.into_iter().map(|calls| (reading.clone(), calls)));
    }
    all
}

/// The calls that the usual way of reading finds.
pub fn calls(response: &[u8]) -> Vec<Assembled> {
    let events = events(response);
    let calls = calls_of(&events, Join::NumberAndId);
    calls.iter().flat_map(Building::assemble).collect()
}

/// Whether a call that can be read out of `response` holds `marker`, in its name or its arguments,
/// readable or not, wherever they are.
pub fn holds(response: &[u8], marker: &str) -> bool {
    readings(response).iter().any(|reading| {
        let mut texts = Vec::new();
        for event in &reading.events {
            acting_texts(event, &mut texts);
        }
        let joined = texts.concat();
        let mut lone = texts.iter().map(String::as_str).chain([joined.as_str()]);
        lone.any(|text| {
            text.contains(marker) || read(text).is_some_and(|v| v.to_string().contains(marker))
        }) || JOINS.iter().any(|join| {
            let calls = calls_of(&reading.events, *join);
            calls.iter().any(|call| call.holds(marker))
        })
    })
}

/// Whether `sent` says to a client that reads it as it is meant what `came` says. How it was cut
/// into chunks says nothing, and a call that had no id may have got one.
pub fn same(sent: &[u8], came: &[u8]) -> bool {
    let (mut sent, came) = (meaning(sent), meaning(came));
    if sent.len() != came.len() {
        return false;
    }
    for (sent, came) in sent.iter_mut().zip(&came) {
        let calls = came["calls"].as_array().into_iter().flatten();
        for (at, call) in calls.enumerate() {
            let other = sent.get_mut("calls").and_then(|calls| calls.get_mut(at));
            if let Some(other) = other.filter(|_| call["id"] == "") {
                other["id"] = "".into();
            }
        }
    }
    sent == came
}

/// What a response says: one object for each choice, and the errors.
fn meaning(response: &[u8]) -> Vec<Value> {
    let events = events(response);
    let mut choices: BTreeMap<u64, Map<String, Value>> = BTreeMap::new();
    let mut others = Vec::new();
    for event in &events {
        if !event["error"].is_null() {
            others.push(event["error"].clone());
        }
        for (number, choice, message) in messages(event) {
            let said = choices.entry(number).or_default();
            for key in [
                "content",
                "refusal",
                "reasoning_content",
                "reasoning",
                "thinking",
            ] {
                let text = message[key].as_str().unwrap_or_default();
                let known = said.entry(key).or_insert_with(|| "".into());
                *known = format!("{}{text}", known.as_str().unwrap_or_default()).into();
            }
            for key in ["finish_reason", "done", "done_reason"] {
                let reason = [&choice[key], &event[key]];
                if let Some(reason) = reason.iter().find(|r| r.is_string() || r.is_boolean()) {
                    said.insert(key.to_owned(), (*reason).clone());
                }
            }
        }
        if event["usage"].is_object() {
            others.push(event["usage"].clone());
        }
    }
    for call in calls_of(&events, Join::NumberAndId) {
        let number = call.key.split(' ').next().and_then(|n| n.parse().ok());
        let said = choices.entry(number.unwrap_or_default()).or_default();
        let calls = said
            .entry("calls")
            .or_insert_with(|| Value::Array(Vec::new()));
        if let (Some(calls), Some(call)) =
            (calls.as_array_mut(), call.assemble().into_iter().next())
        {
            let mut value = Map::new();
            value.insert("tool".to_owned(), call.tool.into());
            value.insert("id".to_owned(), call.id.into());
            value.insert("input".to_owned(), call.input.unwrap_or_default());
            calls.push(value.into());
        }
    }
    let choices = choices.into_values().map(Value::Object);
    choices.chain(others).collect()
}

/// The values of a response as a strict client reads it: frames, lines, or one value.
fn events(response: &[u8]) -> Vec<Value> {
    let text = String::from_utf8_lossy(response);
    if let Some(whole) = read(&text) {
        return vec![whole];
    }
    let data = |line: &str| {
        let line = line.trim();
        read(line.strip_prefix("data:").unwrap_or(line))
    };
    text.lines().filter_map(data).collect()
}

/// The parts of an event in which messages or pieces of them are: number, choice, message.
fn messages(event: &Value) -> Vec<(u64, &Value, &Value)> {
    let mut found = Vec::new();
    for choice in event["choices"].as_array().into_iter().flatten() {
        let number = choice["index"].as_u64().unwrap_or_default();
        for message in [&choice["delta"], &choice["message"]] {
            if message.is_object() {
                found.push((number, choice, message));
            }
        }
    }
    if event["message"].is_object() {
        found.push((0, &Value::Null, &event["message"]));
    }
    found
}

/// The calls of a response, joined in this way.
fn calls_of(events: &[Value], join: Join) -> Vec<Building> {
    let mut calls: Vec<Building> = Vec::new();
    for event in events {
        for (choice, _, message) in messages(event) {
            let listed = message["tool_calls"].as_array().into_iter().flatten();
            // A whole message numbers its calls by their order, and so does Ollama.
            let is_stream = event["object"] == "chat.completion.chunk";
            for call in listed {
                let number = call["index"].as_u64().filter(|_| is_stream);
                let id = call["id"].as_str().unwrap_or_default();
                let parts = [&call["function"], &call["custom"], call];
                let part = parts.into_iter().find(|part| part.is_object());
                let part = part.unwrap_or(&Value::Null);
                let begins = part["name"].as_str().is_some_and(|name| !name.is_empty());
                let last = calls.iter().rev().find(|c| c.is_in(choice));
                let last_key = || last.map_or_else(|| format!("{choice} ?"), |c| c.key.clone());
                let fresh = || format!("{choice} new {}", calls.len());
                let key = match (join, number) {
                    (Join::Number, Some(number)) => format!("{choice} {number}"),
                    (Join::NumberAndId, Some(number)) => {
                        let same = |c: &&Building| {
                            c.key.starts_with(&format!("{choice} {number} "))
                                && (id.is_empty() || c.id == id)
                        };
                        let known = calls.iter().rev().find(same);
                        known.map_or_else(
                            || format!("{choice} {number} {}", calls.len()),
                            |c| c.key.clone(),
                        )
                    }
                    (Join::Id, _) if !id.is_empty() => format!("{choice} id {id}"),
                    (Join::Number | Join::NumberAndId, None) if !id.is_empty() => {
                        format!("{choice} id {id}")
                    }
                    _ if begins => fresh(),
                    _ => last_key(),
                };
                add(&mut calls, key, id, part);
            }
            if message["function_call"].is_object() {
                let key = format!("{choice} legacy");
                add(&mut calls, key, "", &message["function_call"]);
            }
        }
    }
    calls
}

fn add(calls: &mut Vec<Building>, key: String, id: &str, part: &Value) {
    let at = calls.iter().position(|call| call.key == key);
    let at = at.unwrap_or_else(|| {
        calls.push(Building {
            key,
            ..Building::default()
        });
        calls.len() - 1
    });
    let call = &mut calls[at];
    if let Some(name) = part["name"].as_str().filter(|name| !name.is_empty()) {
        call.names.push(name.to_owned());
    }
    if call.id.is_empty() {
        id.clone_into(&mut call.id);
    }
    for input in [&part["arguments"], &part["input"]] {
        match input {
            Value::Null => {}
            Value::String(text) => call.text.push_str(text),
            Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
                call.object = Some(input.clone());
            }
        }
    }
}

impl Building {
    fn is_in(&self, choice: u64) -> bool {
        self.key.starts_with(&format!("{choice} "))
    }

    /// The call under each name that some client takes.
    fn assemble(&self) -> Vec<Assembled> {
        let input = match (&self.object, self.text.as_str()) {
            (Some(object), "") => Some(object.clone()),
            (None, "") => Some(Value::Object(Map::new())),
            (_, text) => read(text).or_else(|| Some(text.into())),
        };
        let joined = self.names.concat();
        let mut names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        names.push(&joined);
        names.dedup();
        let call = |name: &str| Assembled {
            tool: name.to_owned(),
            id: self.id.clone(),
            input: input.clone(),
        };
        names.into_iter().map(call).collect()
    }

    fn holds(&self, marker: &str) -> bool {
        let names = self.names.concat();
        let inputs = self.assemble().into_iter().filter_map(|call| call.input);
        names.contains(marker)
            || self.text.contains(marker)
            || inputs
                .into_iter()
                .any(|input| input.to_string().contains(marker))
    }
}

/// Names and arguments of calls at any position, in order. Texts for people are none.
fn acting_texts(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (key, value) in members {
                match key.to_lowercase().as_str() {
                    "arguments" | "input" | "partial_json" => {
                        let text = value.as_str().map(str::to_owned);
                        texts.push(text.unwrap_or_else(|| value.to_string()));
                    }
                    _ => acting_texts(value, texts),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| acting_texts(item, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(delta: &str) -> String {
        format!(
            "data: {{\"object\":\"chat.completion.chunk\",\"choices\":[{{\"index\":0,\"delta\":{delta}}}]}}\n\n"
        )
    }

    #[test]
    fn a_marker_is_found_wherever_a_client_could_act_on_it() {
        #[track_caller]
        fn check(response: &str, held: bool) {
            assert_eq!(holds(response.as_bytes(), "EVIL"), held, "{response}");
        }
        let call = |args: &str| {
            chunk(&format!(
                r#"{{"tool_calls":[{{"index":0,"id":"a","function":{{"name":"x","arguments":"{args}"}}}}]}}"#
            ))
        };
        let more = |args: &str| {
            chunk(&format!(
                r#"{{"tool_calls":[{{"index":0,"function":{{"arguments":"{args}"}}}}]}}"#
            ))
        };
        check(&(call(r#"{\"c\":\"EV"#) + &more(r#"IL\"}"#)), true);
        check(&call(r#"{\"c\":\"\\u0045VIL\"}"#), true);
        check(&chunk(r#"{"content":"EVIL"}"#), false);
        check(
            &chunk(r#"{"Tool_Calls":[{"function":{"Arguments":"EVIL"}}]}"#),
            true,
        );
        check(&chunk(r#"{"function_call":{"name":"EVIL"}}"#), true);
        check(
            "{\"message\":{\"tool_calls\":[{\"function\":{\"name\":\"x\",\"arguments\":{\"c\":\"EVIL\"}}}]}}\n",
            true,
        );
        check(
            "{\"message\":{\"content\":\"EVIL\"}}\n{\"done\":true}\n",
            false,
        );
    }

    #[test]
    fn the_same_meaning_in_other_pieces() {
        let one = chunk(
            r#"{"content":"ab","tool_calls":[{"index":0,"function":{"name":"x","arguments":"{\"a\": 1}"}}]}"#,
        );
        let other = chunk(r#"{"content":"a"}"#)
            + &chunk(r#"{"content":"b"}"#)
            + &chunk(
                r#"{"tool_calls":[{"index":0,"id":"new","function":{"name":"x","arguments":"{\"a\""}}]}"#,
            )
            + &chunk(r#"{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]}"#);
        assert!(same(other.as_bytes(), one.as_bytes()));
        assert!(!same(one.as_bytes(), other.as_bytes()), "an id is kept");
        assert!(!same(
            chunk(r#"{"content":"ab"}"#).as_bytes(),
            one.as_bytes()
        ));
    }
}
