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
fn values(seen: &Seen) -> Vec<Value> {
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
fn calls_come_in_every_way_that_servers_know() {
    let call = |id: &str| format!("0 call 0 {id} {LS}");
    let (a, end) = (call("a"), ["0 end tool_calls", "done"]);
    let ends = [finish("tool_calls"), DONE.to_vec()];
    let with = |frames: Vec<Vec<u8>>| [frames, ends.to_vec()].concat();
    // Whole, interleaved, several in a chunk.
    check(
        &with(vec![begin(0, "a", LS)]),
        &["", &a, end[0], end[1]][1..],
    );
    let b = format!("0 call 1 b {LS}");
    let both = [a.as_str(), &b, end[0], end[1]];
    let (start, rest) = LS.split_at(5);
    check(
        &with(vec![
            begin(3, "a", start),
            begin(5, "b", start),
            more(3, rest),
            more(5, rest),
        ]),
        &both,
    );
    let listed = |calls: Value| delta(json!({"tool_calls": calls}));
    let one = |id: &str| json!({"id": id, "type": "function", "function": {"name": "bash", "arguments": LS}});
    check(&with(vec![listed(json!([one("a"), one("b")]))]), &both);
    // Without numbers, and all with the same one.
    check(
        &with(vec![listed(json!([one("a")])), listed(json!([one("b")]))]),
        &both,
    );
    check(&with(vec![begin(0, "a", LS), begin(0, "b", LS)]), &both);
    check(
        &with(vec![
            begin(0, "a", start),
            more(0, rest),
            begin(0, "b", start),
            more(0, rest),
        ]),
        &both,
    );
    // Neither numbers nor ids: the client needs ids, so the calls get some.
    let bare = json!({"function": {"name": "bash", "arguments": LS}});
    check(
        &with(vec![listed(json!([bare.clone(), bare]))]),
        &[
            &call("call_chatcmpl1_0"),
            &format!("0 call 1 call_chatcmpl1_1 {LS}"),
            end[0],
            end[1],
        ],
    );
    // Together with text, and with the reason for the end.
    let function = json!({"name": "bash", "arguments": LS});
    let all = chunk(
        &json!([{"index": 0, "finish_reason": "tool_calls", "delta": {"content": "Hi",
        "tool_calls": [{"index": 0, "id": "a", "type": "function", "function": function}]}}]),
    );
    check(&[all, DONE.to_vec()], &["0 say \"Hi\"", &a, end[0], end[1]]);
    // No arguments, as an empty text, null or nothing, and arguments that are an object.
    let empty = |arguments: Value| {
        listed(
            json!([{"index": 0, "id": "a", "function": {"name": "list", "arguments": arguments}}]),
        )
    };
    check(
        &with(vec![empty(json!(""))]),
        &["0 call 0 a {}", end[0], end[1]],
    );
    check(
        &with(vec![empty(Value::Null)]),
        &["0 call 0 a {}", end[0], end[1]],
    );
    check(
        &with(vec![empty(json!({"x": 1}))]),
        &["0 call 0 a {\"x\":1}", end[0], end[1]],
    );
    // Without a reason for the end.
    check(&[begin(0, "a", LS), DONE.to_vec()], &[&a, "done"]);
    // The reason that is not true is not ours to correct while a call is there.
    check(
        &[begin(0, "a", LS), finish("stop"), DONE.to_vec()],
        &[&a, "0 end stop", "done"],
    );
}

#[test]
fn a_call_ends_when_another_begins_and_it_is_whole() {
    let mut play = Play::new(context(CHAT, settings()));
    play.feed(&begin(0, "a", LS));
    assert!(play.seen.bytes.is_empty() || !play.seen.text().contains("ls"));
    play.feed(&begin(1, "b", "{"));
    assert!(
        play.seen.text().contains("\\\"ls\\\""),
        "the first need not wait"
    );
    play.feed(&more(0, " "));
    play.feed(&more(0, "{\"command\":\"rm -rf ~\"}"));
    assert!(play.guard.has_failed(), "it has been sent");
    assert!(!play.seen.text().contains("rm -rf"));
}

#[test]
fn legacy_calls_and_custom_tools() {
    let legacy = |call: Value| delta(json!({"function_call": call}));
    check(
        &[
            legacy(json!({"name": "bash", "arguments": ""})),
            legacy(json!({"arguments": LS})),
            finish("function_call"),
            DONE.to_vec(),
        ],
        &[
            r#"0 function "bash" "{\"command\":\"ls\"}""#,
            "0 end function_call",
            "done",
        ],
    );
    check(
        &[
            legacy(json!({"name": "bash", "arguments": RM})),
            finish("function_call"),
            DONE.to_vec(),
        ],
        &[
            "0 say \"[holdgate] The call to `bash`\"",
            "0 end stop",
            "done",
        ],
    );
    let custom = |custom: Value| {
        delta(json!({"tool_calls": [{"index": 0, "id": "a", "type": "custom", "custom": custom}]}))
    };
    let patch = "*** Begin Patch\n*** Add File: \"x\"\n+hi\n*** End Patch";
    let (start, rest) = patch.split_at(20);
    check(
        &[
            custom(json!({"name": "apply_patch", "input": start})),
            delta(json!({"tool_calls": [{"index": 0, "custom": {"input": rest}}]})),
            finish("tool_calls"),
            DONE.to_vec(),
        ],
        &[&format!("0 call 0 a {patch}"), "0 end tool_calls", "done"],
    );
}

#[test]
fn choices_have_calls_notices_and_reasons_of_their_own() {
    let call = |choice: u64, id: &str, arguments: &str| {
        let function = json!({"name": "bash", "arguments": arguments});
        json!({"index": choice, "finish_reason": null, "delta": {"content": "t",
               "tool_calls": [{"index": 0, "id": id, "type": "function", "function": function}]}})
    };
    let end = |choice: u64| json!({"index": choice, "delta": {}, "finish_reason": "tool_calls"});
    check(
        &[
            chunk(&json!([call(0, "a", LS), call(1, "b", RM)])),
            chunk(&json!([end(1)])),
            chunk(&json!([end(0)])),
            DONE.to_vec(),
        ],
        &[
            "0 say \"t\"",
            &format!("0 call 0 a {LS}"),
            "1 say \"t\"",
            "1 say \"\\n\\n[holdgate] The call to `bash`\"",
            "1 end stop",
            "0 end tool_calls",
            "done",
        ],
    );
}

#[test]
fn members_that_only_the_provider_reads_stay() {
    let call = json!({"index": 0, "id": "a", "type": "function",
        "function": {"name": "bash", "arguments": LS},
        "extra_content": {"google": {"thought_signature": "c2ln"}}});
    let seen = guarded(
        settings(),
        &[delta(json!({"tool_calls": [call]})), finish("tool_calls")].concat(),
    );
    let sent = values(&seen);
    let sent = &sent[1]["choices"][0]["delta"]["tool_calls"][0];
    assert_eq!(sent["extra_content"]["google"]["thought_signature"], "c2ln");
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
