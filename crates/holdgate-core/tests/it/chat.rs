//! `OpenAI` Chat Completions under guard: what leaves, when, and in which form.

use crate::guarding::{Play, Seen, judge, settings};
use crate::loose;
use holdgate_core::{CHAT, GuardSettings, Protocol, RequestFacts, ResponseContext};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

pub(crate) fn context(protocol: &'static dyn Protocol, settings: GuardSettings) -> ResponseContext {
    ResponseContext {
        protocol,
        request: Arc::new(RequestFacts {
            tools_with_required: ["bash".to_owned()].into(),
            ..RequestFacts::default()
        }),
        ..judge(settings)
    }
}

pub(crate) fn guarded(settings: GuardSettings, bytes: &[u8]) -> Seen {
    let mut play = Play::new(context(CHAT, settings));
    play.feed(bytes);
    play.finish();
    play.seen
}

/// A chunk with these choices.
pub(crate) fn chunk(choices: &Value) -> Vec<u8> {
    let chunk = json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 7,
                       "model": "m", "choices": choices, "usage": null});
    format!("data: {chunk}\n\n").into_bytes()
}

pub(crate) fn delta(delta: Value) -> Vec<u8> {
    chunk(&json!([{"index": 0, "delta": delta, "finish_reason": null}]))
}

pub(crate) fn finish(reason: &str) -> Vec<u8> {
    chunk(&json!([{"index": 0, "delta": {}, "finish_reason": reason}]))
}

pub(crate) const DONE: &[u8] = b"data: [DONE]\n\n";

/// The first fragment of a call.
pub(crate) fn begin(index: u64, id: &str, arguments: &str) -> Vec<u8> {
    let function = json!({"name": "bash", "arguments": arguments});
    delta(
        json!({"tool_calls": [{"index": index, "id": id, "type": "function", "function": function}]}),
    )
}

pub(crate) fn more(index: u64, arguments: &str) -> Vec<u8> {
    delta(json!({"tool_calls": [{"index": index, "function": {"arguments": arguments}}]}))
}

pub(crate) const LS: &str = r#"{"command":"ls"}"#;
pub(crate) const RM: &str = r#"{"command":"rm -rf ~"}"#;

/// The values that were sent.
pub(crate) fn values(seen: &Seen) -> Vec<Value> {
    let text = seen.text();
    let data = text.split_terminator("\n\n").map(|frame| {
        let data = frame.strip_prefix("data: ").unwrap();
        assert!(!data.contains('\n'), "{frame}");
        serde_json::from_str(data).unwrap_or_else(|_| data.into())
    });
    data.collect()
}

/// What was sent, in short: texts, calls, reasons.
pub(crate) fn short(seen: &Seen) -> Vec<String> {
    let mut said = Vec::new();
    for value in values(seen) {
        let empty = Vec::new();
        if value["error"].is_object() {
            said.push("error".to_owned());
        }
        for choice in value["choices"].as_array().unwrap_or(&empty) {
            let at = choice["index"].as_u64().unwrap();
            let delta = &choice["delta"];
            if let Some(text) = delta["content"].as_str() {
                let text = text.split(" was blocked").next().unwrap();
                said.push(format!("{at} say {text:?}"));
            }
            for call in delta["tool_calls"].as_array().unwrap_or(&empty) {
                let (index, id) = (&call["index"], call["id"].as_str().unwrap_or("-"));
                let part = &call[call["type"].as_str().unwrap_or("function")];
                let input = [&part["arguments"], &part["input"]];
                let input = input.iter().find_map(|i| i.as_str()).unwrap();
                said.push(format!("{at} call {index} {id} {input}"));
            }
            if delta["function_call"].is_object() {
                let function = &delta["function_call"];
                said.push(format!(
                    "{at} function {} {}",
                    function["name"], function["arguments"]
                ));
            }
            if let Some(reason) = choice["finish_reason"].as_str() {
                said.push(format!("{at} end {reason}"));
            }
        }
        if value.is_string() {
            said.push("done".to_owned());
        }
    }
    said
}

#[track_caller]
pub(crate) fn check(frames: &[Vec<u8>], expected: &[&str]) {
    let bytes = frames.concat();
    let seen = guarded(settings(), &bytes);
    assert_eq!(short(&seen), expected, "{}", seen.text());
    for size in [1, 7] {
        let mut play = Play::new(context(CHAT, settings()));
        for piece in bytes.chunks(size) {
            play.feed(piece);
        }
        play.finish();
        assert_eq!(play.seen.text(), seen.text(), "in pieces of {size}");
    }
}

#[test]
fn text_keeps_its_bytes_and_leaves_at_once() {
    let frames = [
        delta(json!({"role": "assistant", "content": ""})),
        delta(json!({"reasoning_content": "hm"})),
        delta(json!({"content": "Hello"})),
        delta(json!({"refusal": "no"})),
        chunk(
            &json!([{"index": 0, "delta": {"content": "!"}, "logprobs": {"content": []}, "finish_reason": null}]),
        ),
        finish("stop"),
        chunk(&json!([])),
        DONE.to_vec(),
    ];
    let mut play = Play::new(context(CHAT, settings()));
    for frame in &frames {
        play.seen = Seen::default();
        play.feed(frame);
        assert_eq!(play.seen.bytes, *frame);
    }
    assert!(play.guard.is_over() && !play.guard.has_failed());
}

#[test]
fn a_call_is_held_until_it_is_judged_and_written_anew() {
    let mut play = Play::new(context(CHAT, settings()));
    play.feed(&delta(json!({"role": "assistant", "content": "Look."})));
    let before = play.seen.bytes.len();
    for frame in [
        begin(0, "a", ""),
        more(0, "{\"comm"),
        more(0, "and\": \"ls\"}"),
    ] {
        play.feed(&frame);
    }
    play.feed(&delta(json!({"content": "later"})));
    assert_eq!(play.seen.bytes.len(), before, "text behind a call waits");
    play.feed(&finish("tool_calls"));
    play.feed(DONE);
    assert_eq!(
        short(&play.seen),
        [
            "0 say \"Look.\"",
            &format!("0 call 0 a {LS}"),
            "0 say \"later\"",
            "0 end tool_calls",
            "done"
        ]
    );
    let call = &values(&play.seen)[1];
    assert_eq!(call["id"], "chatcmpl-1", "in chunks like the others");
    assert_eq!(call["model"], "m");
}

#[test]
fn large_arguments_leave_in_fragments() {
    let big = format!(
        r#"{{"filePath":"x.txt","content":"{}"}}"#,
        "é".repeat(300 << 10)
    );
    let function = json!({"name": "write", "arguments": big});
    let call = json!({"tool_calls": [{"index": 0, "id": "a", "function": function}]});
    let seen = guarded(
        settings(),
        &[delta(call), finish("tool_calls"), DONE.to_vec()].concat(),
    );
    let text = seen.text();
    assert!(text.split("\n\n").all(|frame| frame.len() < 600 << 10));
    let [call] = &loose::calls(&seen.bytes)[..] else {
        panic!("{}", text.len());
    };
    assert_eq!(call.input, serde_json::from_str(&big).unwrap());
}

#[test]
fn while_a_call_is_held_empty_chunks_keep_the_client_waiting() {
    let mut play = Play::new(context(CHAT, settings()));
    play.feed(&begin(0, "a", "{"));
    play.now = Duration::from_secs(11);
    play.seen = Seen::default();
    play.act(holdgate_core::StreamGuard::tick);
    let [alive] = &values(&play.seen)[..] else {
        panic!("{}", play.seen.text());
    };
    assert_eq!(
        alive["choices"],
        json!([{"index": 0, "delta": {}, "finish_reason": null}])
    );
}
