//! The most lenient client imaginable: whatever it can assemble from a response, some real client
//! might run. It reads the bytes in every way that [`readers`](super::readers) knows, ignores event
//! names, takes input from starts and deltas alike, finds calls at any position, and repairs what it
//! can.
//!
//! It reads the wire format by itself on purpose, not through `holdgate_core::protocol`: it checks
//! what the guard sends, and a reader shared with the guard would share its errors.

#![allow(
    clippy::indexing_slicing,
    reason = "a member that a JSON value does not have reads as null"
)]

use super::readers::{Reading, events, read, readings};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Kinds of block that no client acts on.
const INERT: &[&str] = &[
    "text",
    "thinking",
    "redacted_thinking",
    "web_search_tool_result",
    "mcp_tool_result",
];
/// Kinds that stand for a call, wherever they are found.
const CALLS: &[&str] = &["tool_use", "server_tool_use", "mcp_tool_use"];

/// A call that the client would run: tool, id and arguments, as far as they can be read.
#[derive(Clone, Debug, PartialEq)]
pub struct Assembled {
    /// The tool's name.
    pub tool: String,
    /// The call's id.
    pub id: String,
    /// The arguments, if they can be read.
    pub input: Option<Value>,
}

#[derive(Default)]
struct Building {
    block: Value,
    fragments: String,
}

/// The calls that the standard's way of reading finds in `response`, complete or not.
pub fn calls(response: &[u8]) -> Vec<Assembled> {
    let blocks = blocks(&events(response));
    blocks.iter().filter_map(Building::assemble).collect()
}

/// The same for every way of reading.
pub fn all_calls(response: &[u8]) -> Vec<(Reading, Vec<Assembled>)> {
    let calls = |reading: Reading| {
        let blocks = blocks(&reading.events);
        let calls = blocks.iter().filter_map(Building::assemble).collect();
        (reading, calls)
    };
    readings(response).into_iter().map(calls).collect()
}

/// Whether a call that can be read out of `response` holds `marker`, in its name or its arguments,
/// readable or not.
pub fn holds(response: &[u8], marker: &str) -> bool {
    let acts = |block: &Building| block.assemble().is_some();
    let found = |block: &Building| {
        block.fragments.contains(marker)
            || mentions(&block.block, marker)
            || read(&block.fragments).is_some_and(|input| mentions(&input, marker))
    };
    let mut readings = readings(response).into_iter();
    readings.any(|reading| blocks(&reading.events).iter().any(|b| acts(b) && found(b)))
}

/// What a response says to a client that reads it as it is meant: its blocks and why it stopped.
/// How it was cut into events, and what numbers blocks have, says nothing.
pub fn meaning(response: &[u8]) -> Vec<Value> {
    let mut said: Vec<Value> = Vec::new();
    let mut open: BTreeMap<u64, usize> = BTreeMap::new();
    for event in events(response) {
        let index = event["index"].as_u64().unwrap_or(u64::MAX);
        match event["type"].as_str().unwrap_or_default() {
            "message" => {
                let content = event["content"].as_array();
                said.extend(content.into_iter().flatten().cloned());
                said.push(event["stop_reason"].clone());
            }
            "content_block_start" => {
                open.insert(index, said.len());
                said.push(event["content_block"].clone());
            }
            "content_block_delta" => {
                let block = open.get(&index).and_then(|at| said.get_mut(*at));
                let block = block.and_then(Value::as_object_mut);
                if let (Some(block), Some(delta)) = (block, event["delta"].as_object()) {
                    extend(block, delta);
                }
            }
            "message_delta" => said.push(event["delta"]["stop_reason"].clone()),
            "error" => said.push(event["error"].clone()),
            _ => {}
        }
    }
    for block in &mut said {
        // Arguments mean the same in one piece and in many.
        let fragments = block["partial_json"].as_str().map(str::to_owned);
        if let (Some(fragments), Some(members)) = (fragments, block.as_object_mut()) {
            members.remove("partial_json");
            let input = match read(&fragments) {
                Some(input) => input,
                None if fragments.is_empty() => Value::Object(Map::new()),
                None => Value::String(fragments),
            };
            members.insert("input".to_owned(), input);
        }
    }
    said
}

/// Puts the members of a delta into its block: texts grow, the rest is set.
fn extend(block: &mut Map<String, Value>, delta: &Map<String, Value>) {
    for (key, value) in delta.iter().filter(|(key, _)| *key != "type") {
        match (block.get_mut(key), value) {
            (Some(Value::String(text)), Value::String(more)) => text.push_str(more),
            _ => {
                block.insert(key.clone(), value.clone());
            }
        }
    }
}

/// All blocks, in the states in which a client might act on them.
fn blocks(events: &[Value]) -> Vec<Building> {
    let whole = |block: &Value| Building {
        block: block.clone(),
        fragments: String::new(),
    };
    let mut open: BTreeMap<u64, (Building, bool)> = BTreeMap::new();
    let mut blocks = Vec::new();
    for event in events {
        let index = event["index"].as_u64().unwrap_or(u64::MAX);
        let contents = [&event["message"]["content"], &event["content"]];
        let contents = contents.iter().filter_map(|content| content.as_array());
        let mut stand_in_event: Vec<&Value> = contents.flatten().collect();
        blocks.extend(stand_in_event.iter().map(|block| whole(block)));
        stand_in_event.push(&event["content_block"]);
        let mut nested = Vec::new();
        find_nested(event, &stand_in_event, &mut nested);
        blocks.extend(nested.into_iter().map(whole));
        if event["content_block"].is_object() {
            let new = (whole(&event["content_block"]), false);
            blocks.extend(open.insert(index, new).map(|(old, _)| old));
        }
        if let Some(fragment) = event["delta"]["partial_json"].as_str() {
            let (block, acted) = open.entry(index).or_default();
            block.fragments.push_str(fragment);
            *acted = false;
        }
        if event["type"] == "content_block_stop"
            && let Some((block, acted)) = open.get_mut(&index)
        {
            // Left open: a second stop makes some clients act again.
            *acted = true;
            blocks.push(Building {
                fragments: block.fragments.clone(),
                ..whole(&block.block)
            });
        }
    }
    let unstopped = open.into_values().filter(|(_, acted)| !acted);
    blocks.extend(unstopped.map(|(block, _)| block));
    blocks
}

/// Calls that stand where no block should. A call's own arguments are data.
fn find_nested<'v>(value: &'v Value, blocks: &[&'v Value], found: &mut Vec<&'v Value>) {
    let is_call = value["type"].as_str().is_some_and(|t| CALLS.contains(&t));
    if is_call && !blocks.iter().any(|block| std::ptr::eq(*block, value)) {
        found.push(value);
    }
    match value {
        Value::Object(members) => {
            let inner = members
                .iter()
                .filter(|(key, _)| !is_call || *key != "input");
            inner.for_each(|(_, value)| find_nested(value, blocks, found));
        }
        Value::Array(items) => {
            for item in items {
                find_nested(item, blocks, found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

impl Building {
    fn assemble(&self) -> Option<Assembled> {
        let kind = self.block["type"].as_str().unwrap_or_default();
        if INERT.contains(&kind) && self.fragments.is_empty() {
            return None;
        }
        let text = |key: &str| self.block[key].as_str().unwrap_or_default().to_owned();
        let input = match self.fragments.as_str() {
            "" => Some(self.block["input"].clone()),
            fragments => read(fragments),
        };
        Some(Assembled {
            tool: text("name"),
            id: text("id"),
            input,
        })
    }
}

/// Whether a text in `value`, or a key, holds `marker`.
pub(crate) fn mentions(value: &Value, marker: &str) -> bool {
    match value {
        Value::Null | Value::Bool(_) => false,
        Value::Number(number) => number.to_string().contains(marker),
        Value::String(text) => text.contains(marker),
        Value::Array(items) => items.iter().any(|item| mentions(item, marker)),
        Value::Object(members) => members
            .iter()
            .any(|(key, value)| key.contains(marker) || mentions(value, marker)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALL: &str = "data: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":\
                        {\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"Bash\",\"input\":{}}}\n\n";

    fn delta(json: &str) -> String {
        let fragment = serde_json::to_string(json).unwrap();
        format!(
            "data: {{\"type\":\"content_block_delta\",\"index\":1,\"delta\":\
             {{\"type\":\"input_json_delta\",\"partial_json\":{fragment}}}}}\n\n"
        )
    }

    #[test]
    fn a_marker_is_found_wherever_a_client_could_act_on_it() {
        #[track_caller]
        fn check(response: &str, held: bool) {
            assert_eq!(holds(response.as_bytes(), "EVIL"), held, "{response}");
        }
        check(&(CALL.to_owned() + &delta("{\"command\":\"EVIL\"}")), true);
        check(
            &(CALL.to_owned() + &delta("{\"command\":\"\\u0045VIL\"}")),
            true,
        );
        check(
            &(CALL.to_owned() + &delta("{\"command\":\"EV") + &delta("IL")),
            true,
        );
        check(
            &(CALL.to_owned() + &delta("{\"x\":\"\\ud800\",\"command\":\"\\u0045VIL\"}")),
            true,
        );
        check(
            "{\"type\":\"message\",\"content\":[{\"type\":\"tool_use\",\"name\":\"EVIL\"}]}",
            true,
        );
        check(
            "{\"type\":\"message\",\"content\":[{\"type\":\"text\",\"text\":\"EVIL\"}]}",
            false,
        );
        check(&(CALL.to_owned() + &delta("{}")), false);
    }

    #[test]
    fn the_same_meaning_in_other_pieces() {
        let one = CALL.to_owned() + &delta("{\"a\": 1}");
        let other = CALL.replace("\"index\":1", "\"index\":7")
            + &(delta("{\"a\"") + &delta(":1}")).replace("\"index\":1", "\"index\":7");
        assert_eq!(meaning(one.as_bytes()), meaning(other.as_bytes()));
        let less = CALL.to_owned() + &delta("{}");
        assert_ne!(meaning(one.as_bytes()), meaning(less.as_bytes()));
    }
}
