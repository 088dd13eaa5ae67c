//! OpenAI Chat Completions under guard: what leaves, when, and in which form.

use crate::guarding::{Play, Seen, judge, settings};
use crate::loose;
use holdgate_core::{
    CHAT, CallLimits, CallReader, Conversations, GuardSettings, OnBlock, Outcome, Protocol,
    RequestFacts, ResponseContext, Unbounded, guard_message,
};
use holdgate_effects::Knowledge;
use holdgate_effects::path::World;
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

const LS: &str = r#"{"command":"ls"}"#;
const RM: &str = r#"{"command":"rm -rf ~"}"#;

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
fn short(seen: &Seen) -> Vec<String> {
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
fn check(frames: &[Vec<u8>], expected: &[&str]) {
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
fn a_refused_call_becomes_a_text_and_the_others_close_the_gap() {
    check(
        &[
            delta(json!({"content": "So"})),
            begin(0, "a", RM),
            begin(1, "b", LS),
            finish("tool_calls"),
            DONE.to_vec(),
        ],
        &[
            "0 say \"So\"",
            "0 say \"\\n\\n[holdgate] The call to `bash`\"",
            &format!("0 call 0 b {LS}"),
            "0 end tool_calls",
            "done",
        ],
    );
    check(
        &[begin(0, "a", RM), finish("tool_calls"), DONE.to_vec()],
        &[
            "0 say \"[holdgate] The call to `bash`\"",
            "0 end stop",
            "done",
        ],
    );
    let continued = GuardSettings {
        on_block: OnBlock::Continue,
        ..settings()
    };
    let bytes = [begin(0, "a", RM), finish("tool_calls"), DONE.to_vec()].concat();
    let seen = guarded(continued, &bytes);
    assert_eq!(
        short(&seen)[1..],
        ["0 call 0 toolu_holdgate_r_1 {}", "0 end tool_calls", "done"]
    );
}

#[test]
fn all_calls_wait_for_the_end_if_they_are_judged_as_a_set() {
    let all = GuardSettings {
        hold_all: true,
        ..settings()
    };
    let bytes = [begin(0, "a", LS), begin(1, "b", RM), finish("tool_calls")].concat();
    let mut play = Play::new(context(CHAT, all));
    play.feed(&bytes);
    assert!(!play.seen.text().contains("ls"));
    play.feed(DONE);
    assert_eq!(
        short(&play.seen),
        [
            "0 say \"[holdgate] The call to `bash`\"",
            &format!("0 call 0 a {LS}"),
            "0 end tool_calls",
            "done"
        ]
    );
}

#[test]
fn a_broken_stream_ends_loudly_and_without_the_call() {
    let cut = |frames: &[Vec<u8>]| {
        let seen = guarded(settings(), &frames.concat());
        assert_eq!(short(&seen).last().unwrap(), "error", "{}", seen.text());
        assert!(!seen.text().contains("EVIL"), "{}", seen.text());
        assert!(loose::calls(&seen.bytes).is_empty());
    };
    let evil = begin(0, "a", r#"{"command":"echo EVIL"#);
    let text = delta(json!({"content": "Hi"}));
    cut(&[text.clone(), evil.clone()]);
    cut(&[text.clone(), begin(0, "a", r#"{"command":"echo EVIL"}"#)]);
    let error = b"data: {\"error\":{\"message\":\"overloaded\",\"type\":\"server_error\"}}\n\n";
    cut(&[text, evil, error.to_vec()]);
}

#[test]
fn what_no_list_names_ends_the_stream() {
    let refused = |frame: Vec<u8>| {
        let frames = [
            delta(json!({"content": "Hi"})),
            frame,
            finish("stop"),
            DONE.to_vec(),
        ];
        let seen = guarded(settings(), &frames.concat());
        assert_eq!(short(&seen).last().unwrap(), "error", "{}", seen.text());
        assert!(!loose::holds(&seen.bytes, "EVIL"), "{}", seen.text());
    };
    let call =
        json!({"id": "a", "function": {"name": "bash", "arguments": "{\"command\":\"EVIL\"}"}});
    refused(delta(json!({"Tool_Calls": [call]})));
    refused(delta(json!({"toolCalls": [call]})));
    refused(delta(
        json!({"content": [{"type": "tool_use", "input": {"command": "EVIL"}}]}),
    ));
    refused(delta(json!({"actions": [{"command": "EVIL"}]})));
    refused(delta(json!({"tool_call": call})));
    refused(delta(
        json!({"provider_specific_fields": {"tool_calls": [call]}}),
    ));
    refused(chunk(
        &json!([{"index": 0, "message": {"tool_calls": [call]}}]),
    ));
    refused(chunk(
        &json!([{"index": 0, "delta": {}, "x": {"arguments": "EVIL"}}]),
    ));
    refused(format!("data: {}\n\n", json!({"tool_calls": [call]})).into_bytes());
    refused(format!("data: {}\n\n", json!({"message": {"content": "EVIL"}})).into_bytes());
    refused(b"data: {\"choices\":[],\"choices\":[]}\n\n".to_vec());
    refused(b"data: {\"choices\":[],\"Choices\":[]}\n\n".to_vec());
    refused(b"data: {\"choices\":[{\"delta\":{\"content\":\"a\"}]}\n\n".to_vec());
}

#[test]
fn a_call_that_clients_could_read_differently_is_refused() {
    let refused = |calls: Value| {
        let frames = [
            delta(json!({"tool_calls": calls})),
            finish("tool_calls"),
            DONE.to_vec(),
        ];
        let seen = guarded(settings(), &frames.concat());
        assert!(loose::calls(&seen.bytes).is_empty(), "{}", seen.text());
        assert!(!loose::holds(&seen.bytes, "EVIL"), "{}", seen.text());
    };
    let evil = "{\"command\":\"EVIL\"}";
    let function = |name: &str, arguments: &str| json!({"name": name, "arguments": arguments});
    refused(
        json!([{"index": 0, "id": "a", "function": function("bash", "{\"command\":\"ls\",\"command\":\"EVIL\"}")}]),
    );
    refused(
        json!([{"index": 0, "id": "a", "function": function("bash", "{\"command\":\"ls\",\"Command\":\"EVIL\"}")}]),
    );
    refused(json!([{"index": 0, "id": "a", "function": function("bash", "{\"command\":\"EVIL")}]));
    refused(
        json!([{"index": 0, "id": "a", "function": function("ba", evil)},
                   {"index": 0, "function": {"name": "sh"}}]),
    );
    refused(json!([{"index": 0, "id": "a", "type": "shell", "function": function("bash", evil)}]));
    refused(json!([{"index": 0, "id": "a", "function": function("x", "{}"), "arguments": evil}]));
    refused(
        json!([{"index": 0, "id": "a", "function": function("x", "{}"), "custom": {"name": "y", "input": evil}}]),
    );
    refused(
        json!([{"index": 0, "id": "a", "function": {"name": "x", "arguments": "{}", "input": evil}}]),
    );
    refused(json!([{"index": 0, "id": "a", "function": {"name": "x", "arguments": ["EVIL"]}}]));
    let same_id = json!([{"index": 0, "id": "a", "function": function("bash", LS)},
                         {"index": 1, "id": "a", "function": function("bash", evil)}]);
    let seen = guarded(
        settings(),
        &[
            delta(json!({"tool_calls": same_id})),
            finish("stop"),
            DONE.to_vec(),
        ]
        .concat(),
    );
    assert_eq!(loose::calls(&seen.bytes).len(), 1, "{}", seen.text());
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
    play.act(|guard, now, out| guard.tick(now, out));
    let [alive] = &values(&play.seen)[..] else {
        panic!("{}", play.seen.text());
    };
    assert_eq!(
        alive["choices"],
        json!([{"index": 0, "delta": {}, "finish_reason": null}])
    );
}

#[test]
fn a_whole_message_is_guarded_too() {
    let whole = |message: Value, reason: &str| {
        let body = json!({"id": "x", "object": "chat.completion", "usage": {"total_tokens": 3},
            "choices": [{"index": 0, "message": message, "finish_reason": reason}]});
        let got = guard_message(
            context(CHAT, settings()),
            body.to_string().as_bytes(),
            Duration::ZERO,
            &mut Vec::new(),
        );
        let got = got.map_err(|violation| violation.to_string())?;
        Ok::<Value, String>(serde_json::from_slice(&got).unwrap())
    };
    let call = |id: &str, arguments: &str| json!({"id": id, "type": "function", "function": {"name": "bash", "arguments": arguments}});
    let kept = whole(
        json!({"content": "Hi", "tool_calls": [call("a", LS)]}),
        "tool_calls",
    )
    .unwrap();
    assert_eq!(
        kept["choices"][0]["message"]["tool_calls"],
        json!([call("a", LS)])
    );
    assert_eq!(kept["choices"][0]["finish_reason"], "tool_calls");
    assert_eq!(kept["usage"]["total_tokens"], 3);
    let both = json!({"content": "Hi", "tool_calls": [call("a", RM), call("b", LS)]});
    let both = whole(both, "tool_calls").unwrap();
    assert_eq!(
        both["choices"][0]["message"]["tool_calls"],
        json!([call("b", LS)])
    );
    let text = both["choices"][0]["message"]["content"].as_str().unwrap();
    assert!(
        text.starts_with("Hi\n\n[holdgate] The call to `bash`"),
        "{text}"
    );
    let none = whole(
        json!({"content": null, "tool_calls": [call("a", RM)]}),
        "tool_calls",
    )
    .unwrap();
    assert_eq!(none["choices"][0]["message"]["tool_calls"], Value::Null);
    assert_eq!(none["choices"][0]["finish_reason"], "stop");
    let legacy = json!({"content": null, "function_call": {"name": "bash", "arguments": RM}});
    let legacy = whole(legacy, "function_call").unwrap();
    assert_eq!(
        legacy["choices"][0]["message"]["function_call"],
        Value::Null
    );
    assert_eq!(legacy["choices"][0]["finish_reason"], "stop");
    let text = json!({"content": "Hi", "tool_calls": []});
    assert_eq!(
        whole(text.clone(), "stop").unwrap()["choices"][0]["message"],
        text
    );
    for hidden in [
        json!({"content": "", "Tool_calls": [call("a", RM)]}),
        json!({"content": [{"type": "tool_call"}]}),
        json!({"content": "", "x": {"command": "EVIL"}}),
    ] {
        whole(hidden.clone(), "stop").unwrap_err();
    }
}

#[test]
fn a_request_tells_what_has_been_done() {
    let notice = "On it.\n\n[holdgate] The call to `bash` was blocked and did not run.\nRule: x (gate)\n\
                  Do not repeat the call unchanged. (incident r-1)";
    let call = |id: &str, command: &str| {
        let arguments = json!({"command": command}).to_string();
        json!({"id": id, "type": "function", "function": {"name": "bash", "arguments": arguments}})
    };
    let inert = json!({"id": "toolu_holdgate_r_1", "type": "function", "function": {"name": "bash", "arguments": "{}"}});
    let body = json!({"model": "m", "messages": [
        {"role": "system", "content": "You are."},
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": "a", "tool_calls": [call("a", "touch x"), call("b", "touch y")]},
        {"role": "tool", "tool_call_id": "b", "content": "ok"},
        {"role": "tool", "tool_call_id": "a", "content": [{"type": "text", "text": "ok"}]},
        {"role": "assistant", "content": notice, "tool_calls": [inert]},
        {"role": "tool", "tool_call_id": "toolu_holdgate_r_1", "content": "schema error"},
        {"role": "assistant", "content": null, "function_call": {"name": "bash", "arguments": "{\"command\":\"touch z\"}"}},
        {"role": "function", "name": "bash", "content": "ok"}]});
    let request = CHAT.read_request(body.to_string().into()).unwrap();
    assert_eq!(request.facts.root, "go");
    let reader = CallReader {
        know: &Knowledge::built_in().unwrap(),
        world: &World::default(),
        limits: CallLimits {
            max_bytes: 1000,
            max_depth: 16,
        },
        fuel: 100_000,
        room: &Unbounded,
    };
    let history = Conversations::default().history(&request, &reader).unwrap();
    let steps: Vec<_> = history
        .steps()
        .map(|step| (step.call.as_str(), step.outcome, step.effects.is_empty()))
        .collect();
    assert_eq!(
        steps,
        [
            ("b", Outcome::Done, false),
            ("a", Outcome::Done, false),
            ("toolu_holdgate_r_1", Outcome::Refused, true),
            ("bash", Outcome::Done, false),
        ]
    );
}
