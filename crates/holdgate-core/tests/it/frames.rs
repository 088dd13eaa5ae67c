//! Frames of a response, written by hand, and what must come through.

use crate::client::summary;
use crate::guarding::{run, settings};
use holdgate_core::GuardSettings;
use serde_json::{Value, json};

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

pub(crate) fn message(blocks: &str) -> String {
    let head = json!({"type": "message_start", "message": {"id": "m", "content": [], "usage": {}}});
    let end = json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 7}});
    frame(&head) + blocks + &frame(&end) + &frame(&json!({"type": "message_stop"}))
}

#[track_caller]
pub(crate) fn check_with(settings: GuardSettings, stream: &str, expected: &[&str]) {
    let seen = run(settings, &[stream.as_bytes()]);
    let got = summary(&seen.bytes);
    let fits = |(got, expected): (&String, &&str)| match expected.strip_suffix('…') {
        Some(start) => got.starts_with(start),
        None => got == expected,
    };
    let same = got.len() == expected.len() && got.iter().zip(expected).all(fits);
    assert!(same, "{got:#?}\n{:?}", seen.decisions());
}

#[track_caller]
pub(crate) fn check(stream: &str, expected: &[&str]) {
    check_with(settings(), stream, expected);
}

/// The stream is ended, and why.
#[track_caller]
pub(crate) fn check_ended(blocks: &str, why: &str) {
    let seen = run(settings(), &[message(blocks).as_bytes()]);
    let got = summary(&seen.bytes);
    let last = got.last().unwrap();
    assert!(
        last.starts_with("error [holdgate] The response was stopped") && last.contains(why),
        "{got:#?}"
    );
    assert_eq!(
        seen.decisions().last().unwrap(),
        "stream-protocol ResponseEnded"
    );
    assert!(seen.cleared().is_empty());
}

pub(crate) const LS: &str = r#"{"command":"ls"}"#;
pub(crate) const TWICE: &str = r#"{"command":"ls","command":"rm"}"#;
