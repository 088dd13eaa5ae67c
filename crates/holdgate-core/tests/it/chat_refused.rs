//! Chat calls that are refused, and streams that break off, hide a call, or can be read in several ways.

use crate::chat::{DONE, LS, RM, begin, check, chunk, context, delta, finish, guarded, short};
use crate::guarding::{Play, settings};
use crate::loose;
use holdgate_core::{CHAT, GuardSettings, OnBlock};
use serde_json::{Value, json};

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
