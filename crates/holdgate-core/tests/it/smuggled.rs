//! Chat and Ollama responses with a call at a place, or in a spelling, that only some client knows, and
//! responses that are made to cost much.

use crate::chat::{DONE, LS, begin, chunk, context, delta, finish, guarded};
use crate::guarding::{Play, Seen, settings, whole};
use holdgate_core::{CHAT, OLLAMA};
use serde_json::{Value, json};

/// A call that would be cleared at a place where it is judged.
fn evil() -> Value {
    json!({"index": 0, "id": "e", "type": "function",
        "function": {"name": "bash", "arguments": "{\"command\":\"echo EVIL\"}"}})
}

/// Deltas and messages that hold a call beside `tool_calls`.
fn messages() -> Vec<Value> {
    let call = evil();
    let input = json!({"command": "echo EVIL"});
    vec![
        json!({"content": [{"type": "tool_use", "id": "e", "name": "bash", "input": input}]}),
        json!({"content": [{"type": "tool-call", "toolName": "bash", "args": input}]}),
        json!({"content": [{"type": "toolCall", "toolName": "bash", "args": input}]}),
        json!({"content": [{"type": "tool", "name": "bash", "input": input}]}),
        json!({"content": {"type": "computer", "action": input}}),
        json!({"content": [{"type": "text", "text": "x"}, {"type": "odd", "command": "echo EVIL"}]}),
        json!({"content": [{"name": "bash", "parameters": input}]}),
        json!({"audio": {"id": "a", "tool_calls": [call]}}),
        json!({"refusal": {"tool_calls": [call]}}),
        json!({"refusal": {"id": "e", "name": "bash", "args": input}}),
        json!({"reasoning_details": [{"type": "odd", "input": input}]}),
        json!({"audio": {"id": "a", "command": "echo EVIL"}}),
        json!({"annotations": [call]}),
        json!({"reasoning_details": [{"type": "functionCall", "name": "bash", "args": input}]}),
        json!({"toolCalls": [call]}),
        json!({"tool-calls": [{"name": "bash", "args": input}]}),
        json!({"Tool_Calls": [call]}),
        json!({"tool_calls": {"0": call}}),
        json!({"tool_calls": [[call]]}),
        json!({"calls": [call]}),
        json!({"run": {"command": "echo EVIL"}}),
    ]
}

/// Chunks that hold a call beside their choices' deltas.
fn chunks() -> Vec<Value> {
    let call = evil();
    let calls = json!({"role": "assistant", "tool_calls": [call]});
    vec![
        json!({"choices": [{"index": 0, "delta": {}, "message": calls}]}),
        json!({"choices": [{"index": 0, "delta": {}}, {"index": 1, "message": calls}]}),
        json!({"choices": [{"index": 0, "delta": [calls]}]}),
        json!({"choices": [[{"index": 0, "delta": calls}]]}),
        json!({"choices": {"0": {"delta": calls}}}),
        json!({"Choices": [{"index": 0, "delta": calls}]}),
        json!({"choices": [], "usage": calls}),
        json!({"choices": [], "output": [{"type": "function_call", "name": "bash", "arguments": "EVIL"}]}),
        json!({"choices": [], "message": calls}),
        json!({"choices": [], "x_odd": {"y": [calls]}}),
        json!({"error": {"message": "x"}, "choices": [{"index": 0, "delta": calls}]}),
        json!({"error": {"message": "x"}, "choices": [{"index": 0, "delta": {"run": {"command": "echo EVIL"}}}]}),
        json!({"error": {"message": "x", "tool_calls": [call]}}),
        json!([{"choices": [{"index": 0, "delta": calls}]}]),
    ]
}

#[track_caller]
fn check(seen: &Seen) {
    assert!(!seen.text().contains("EVIL"), "{}", seen.text());
    assert!(!seen.records.is_empty(), "it is recorded");
}

#[test]
fn a_call_beside_its_place_never_leaves() {
    let hello = delta(json!({"role": "assistant", "content": "Hi"}));
    let frame = |chunk: &Value| format!("data: {chunk}\n\n").into_bytes();
    let deltas = messages().into_iter().map(delta);
    for bad in deltas.chain(chunks().iter().map(frame)) {
        for before in [Vec::new(), hello.clone(), begin(0, "a", LS)] {
            check(&guarded(
                settings(),
                &[before, bad.clone(), finish("stop"), DONE.to_vec()].concat(),
            ));
        }
    }
    for message in messages() {
        let body = json!({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]});
        if let Ok(sent) = whole(context(CHAT, settings()), &body) {
            assert!(!sent.to_string().contains("EVIL"), "{sent}");
        }
        for done in [false, true] {
            let line = json!({"model": "m", "created_at": "t", "message": message, "done": done});
            let mut play = Play::new(context(OLLAMA, settings()));
            play.feed(format!("{line}\n").as_bytes());
            check(&play.seen);
            if let Ok(sent) = whole(context(OLLAMA, settings()), &line) {
                assert!(!sent.to_string().contains("EVIL"), "{sent}");
            }
        }
    }
}

/// Go's JSON takes `Index` for `index`, and believes the last one.
#[test]
fn what_a_call_brings_along_does_not_change_its_own_members() {
    for key in ["Index", "ID", "iD", "Type", "Function", "CUSTOM", "tYpe"] {
        let mut call = evil();
        call[key] = json!("EVIL");
        let calls = |call: &Value| json!({"tool_calls": [call]});
        let stream = [delta(calls(&call)), finish("tool_calls"), DONE.to_vec()].concat();
        check(&guarded(settings(), &stream));
        call["index"].take();
        let body =
            json!({"choices": [{"index": 0, "message": calls(&call), "finish_reason": "stop"}]});
        let sent = whole(context(CHAT, settings()), &body);
        assert!(
            sent.is_err() || !sent.unwrap().to_string().contains("EVIL"),
            "{key}"
        );
    }
}

/// One frame of a size that is allowed must not cost the square of it, and not leave many times larger.
#[test]
fn many_calls_and_choices_in_one_frame_end_the_stream() {
    let many = |one: &dyn Fn(usize) -> Value| Value::Array((0..40_000).map(one).collect());
    let calls = many(&|n| json!({"id": format!("{n}")}));
    let long = "m".repeat(1000);
    let choices = many(&|_| json!({"index": 0}));
    let choices =
        json!({"id": long, "model": long, "system_fingerprint": long, "choices": choices});
    let unnamed = json!({"tool_calls": many(&|_| json!({"function": {}}))});
    let line = json!({"model": "m", "message": unnamed, "done": true});
    for (protocol, frame) in [
        (CHAT, delta(json!({"tool_calls": calls}))),
        (CHAT, format!("data: {choices}\n\n").into_bytes()),
        (OLLAMA, format!("{line}\n").into_bytes()),
    ] {
        let mut play = Play::new(context(protocol, settings()));
        play.feed(&frame);
        assert!(play.guard.has_failed());
        assert!(play.seen.bytes.len() < 10_000, "{}", play.seen.bytes.len());
        assert_eq!(play.seen.decisions(), ["stream-protocol ResponseEnded"]);
    }
    let body = json!({"choices": [{"index": 0, "message": {"tool_calls": calls}}]});
    let refused = whole(context(CHAT, settings()), &body).unwrap_err();
    assert!(refused.contains("more tool calls"), "{refused}");
}

/// Servers write these, and no client runs anything of them.
#[test]
fn words_in_unusual_forms_pass() {
    for words in [
        json!({"content": [{"type": "text", "text": "x"}]}),
        json!({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "x"}]}]}),
        json!({"content": [{"type": "image_url", "image_url": {"url": "data:"}}]}),
        json!({"content": [{"type": "reference", "reference_ids": [1]}]}),
        json!({"content": null, "tool_calls": null, "function_call": null, "audio": null}),
        json!({"content": "x", "tool_calls": [], "function_call": ""}),
        json!({"content": "x", "annotations": [{"type": "url_citation", "url_citation": {"url": "u", "content": "c"}}]}),
        json!({"reasoning_details": [{"type": "reasoning.text", "text": "hm", "signature": "s", "index": 0}]}),
    ] {
        let frames = [delta(words.clone()), finish("stop"), DONE.to_vec()].concat();
        let seen = guarded(settings(), &frames);
        assert_eq!(seen.text(), String::from_utf8_lossy(&frames), "{words}");
    }
    let error = json!({"id": "x", "error": {"code": 502, "message": "down"},
        "choices": [{"index": 0, "delta": {"content": ""}, "finish_reason": "error"}]});
    let frames = [
        chunk(&json!([{"index": 0, "delta": {"content": "x"}}])),
        format!("data: {error}\n\n").into_bytes(),
    ];
    let seen = guarded(settings(), &frames.concat());
    assert_eq!(seen.text(), String::from_utf8_lossy(&frames.concat()));
}
