//! The most lenient client that one can think of. What it can assemble from a response, some real
//! client might run: it goes by event types only, keeps the last of two equal keys, takes input
//! from starts and deltas alike, and believes blocks that stand in `message_start`.

use serde_json::Value;
use std::collections::BTreeMap;

/// Kinds of block that no client acts on.
const INERT: &[&str] = &[
    "text",
    "thinking",
    "redacted_thinking",
    "web_search_tool_result",
    "mcp_tool_result",
];

/// A call that the client would run: tool, id and arguments, as far as they can be read.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Assembled {
    pub(crate) tool: String,
    pub(crate) id: String,
    pub(crate) input: Option<Value>,
}

#[derive(Default)]
struct Building {
    block: Value,
    fragments: String,
}

/// All calls that can be read out of `response`, complete or not.
pub(crate) fn calls(response: &[u8]) -> Vec<Assembled> {
    let mut open: BTreeMap<u64, Building> = BTreeMap::new();
    let mut calls = Vec::new();
    for event in events(response) {
        let index = event["index"].as_u64().unwrap_or(u64::MAX);
        if let Some(content) = event["message"]["content"].as_array() {
            calls.extend(content.iter().filter_map(|block| assemble(block, "")));
        }
        if event["content_block"].is_object() {
            calls.extend(
                open.remove(&index)
                    .and_then(|b| assemble(&b.block, &b.fragments)),
            );
            let block = event["content_block"].clone();
            open.insert(
                index,
                Building {
                    block,
                    fragments: String::new(),
                },
            );
        }
        if let Some(fragment) = event["delta"]["partial_json"].as_str() {
            open.entry(index).or_default().fragments.push_str(fragment);
        }
        if event["type"] == "content_block_stop"
            && let Some(b) = open.get(&index)
        {
            // Left open: a second stop makes some clients act again.
            calls.extend(assemble(&b.block, &b.fragments));
        }
    }
    let stopped = calls.clone();
    let unstopped = open
        .into_values()
        .filter_map(|b| assemble(&b.block, &b.fragments));
    calls.extend(unstopped.filter(|call| !stopped.contains(call)));
    calls
}

fn assemble(block: &Value, fragments: &str) -> Option<Assembled> {
    let kind = block["type"].as_str().unwrap_or_default();
    if INERT.contains(&kind) && fragments.is_empty() {
        return None;
    }
    let text = |key: &str| block[key].as_str().unwrap_or_default().to_owned();
    let input = match fragments {
        "" => Some(block["input"].clone()),
        fragments => serde_json::from_str(fragments).ok(),
    };
    Some(Assembled {
        tool: text("name"),
        id: text("id"),
        input,
    })
}

/// The JSON of all `data` lines, by any line end, joined per frame and one by one.
pub(crate) fn events(response: &[u8]) -> Vec<Value> {
    let text = String::from_utf8_lossy(response)
        .replace("\r\n", "\n")
        .replace('\r', "\n");
    let mut events = Vec::new();
    for frame in text.split("\n\n") {
        let data = |line: &str| {
            let line = line.trim_start_matches('\u{feff}');
            line.strip_prefix("data:")
                .map(|d| d.trim_start().to_owned())
        };
        let lines: Vec<String> = frame.lines().filter_map(data).collect();
        events.extend(serde_json::from_str::<Value>(&lines.join("\n")).ok());
        if lines.len() > 1 {
            events.extend(
                lines
                    .iter()
                    .filter_map(|l| serde_json::from_str::<Value>(l).ok()),
            );
        }
    }
    events
}

/// A response in short: blocks with their numbers, stop reason, errors.
pub(crate) fn summary(response: &[u8]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for event in events(response) {
        let index = &event["index"];
        match event["type"].as_str().unwrap_or_default() {
            "content_block_start" => {
                let block = &event["content_block"];
                let name = block["name"]
                    .as_str()
                    .map(|n| format!(" {n}"))
                    .unwrap_or_default();
                lines.push(format!(
                    "{index} {}{name}: ",
                    block["type"].as_str().unwrap_or("?")
                ));
            }
            "content_block_delta" => {
                let delta = &event["delta"];
                let said = ["text", "partial_json", "thinking"]
                    .iter()
                    .find_map(|key| delta[key].as_str());
                let line = lines
                    .iter_mut()
                    .rfind(|l| l.starts_with(&format!("{index} ")));
                line.expect("a delta has a block")
                    .push_str(said.unwrap_or_default());
            }
            "message_delta" => lines.push(format!(
                "stop {}",
                event["delta"]["stop_reason"].as_str().unwrap_or("-")
            )),
            "error" => lines.push(format!(
                "error {}",
                event["error"]["message"].as_str().unwrap_or("-")
            )),
            _ => {}
        }
    }
    lines
        .iter()
        .map(|line| {
            line.lines()
                .next()
                .unwrap_or_default()
                .trim_end()
                .to_owned()
        })
        .collect()
}
