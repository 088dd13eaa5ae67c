//! Responses: written, and what came through of them in short.

use crate::client::events;
use serde_json::{Value, json};

pub(crate) const PUSH: &str = "git push --force origin main";

pub(crate) fn frame(data: &Value) -> String {
    format!(
        "event: {}\ndata: {data}\n\n",
        data["type"].as_str().unwrap()
    )
}

pub(crate) fn start(index: u64, block: Value) -> String {
    frame(&json!({"type": "content_block_start", "index": index, "content_block": block}))
}

pub(crate) fn input(index: u64, fragment: &str) -> String {
    let delta = json!({"type": "input_json_delta", "partial_json": fragment});
    frame(&json!({"type": "content_block_delta", "index": index, "delta": delta}))
}

pub(crate) fn stop(index: u64) -> String {
    frame(&json!({"type": "content_block_stop", "index": index}))
}

pub(crate) fn text(index: u64, text: &str) -> String {
    let delta = json!({"type": "text_delta", "text": text});
    let delta = json!({"type": "content_block_delta", "index": index, "delta": delta});
    start(index, json!({"type": "text", "text": ""})) + &frame(&delta) + &stop(index)
}

pub(crate) fn bash(index: u64, id: &str, arguments: &str) -> String {
    let block = json!({"type": "tool_use", "id": id, "name": "Bash", "input": {}});
    start(index, block) + &input(index, arguments) + &stop(index)
}

/// A message with these blocks.
pub(crate) fn framed(blocks: &str) -> String {
    let head = json!({"type": "message_start", "message": {"id": "m", "content": [], "usage": {}}});
    let end = json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 7}});
    frame(&head) + blocks + &frame(&end) + &frame(&json!({"type": "message_stop"}))
}

/// A message with a text and a call of each command.
pub(crate) fn message(commands: &[&str]) -> String {
    let blocks = (0..).zip(commands).map(|(n, command)| {
        let input = json!({ "command": command }).to_string();
        text(2 * n, &format!("text {n}")) + &bash(2 * n + 1, &format!("call{n}"), &input)
    });
    framed(&blocks.collect::<String>())
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
