//! Responses: written, and what came through of them in short.

use crate::client::events;

pub(crate) const PUSH: &str = "git push --force origin main";

/// A message with a text and a call of each command.
pub(crate) fn message(commands: &[&str]) -> String {
    let frame = |event: &str, data: serde_json::Value| format!("event: {event}\ndata: {data}\n\n");
    let mut out = frame(
        "message_start",
        serde_json::json!({"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"x","content":[],"stop_reason":null,"usage":{"input_tokens":1,"output_tokens":1}}}),
    );
    let mut index = 0;
    let mut block = |start: serde_json::Value, delta: serde_json::Value| {
        for (event, mut data) in [
            (
                "content_block_start",
                serde_json::json!({"content_block": start}),
            ),
            ("content_block_delta", serde_json::json!({"delta": delta})),
            ("content_block_stop", serde_json::json!({})),
        ] {
            data["type"] = event.into();
            data["index"] = index.into();
            out.push_str(&frame(event, data));
        }
        index += 1;
    };
    for (n, command) in commands.iter().enumerate() {
        block(
            serde_json::json!({"type":"text","text":""}),
            serde_json::json!({"type":"text_delta","text":format!("text {n}")}),
        );
        let input = serde_json::json!({ "command": command }).to_string();
        block(
            serde_json::json!({"type":"tool_use","id":format!("call{n}"),"name":"Bash","input":{}}),
            serde_json::json!({"type":"input_json_delta","partial_json":input}),
        );
    }
    out.push_str(&frame(
        "message_delta",
        serde_json::json!({"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":1}}),
    ));
    out.push_str(&frame(
        "message_stop",
        serde_json::json!({"type":"message_stop"}),
    ));
    out
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
