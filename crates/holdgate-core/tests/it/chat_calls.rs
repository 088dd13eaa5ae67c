//! Chat calls in every form that servers give them.

use crate::chat::{
    DONE, LS, RM, begin, check, chunk, context, delta, finish, guarded, more, values,
};
use crate::guarding::{Play, settings};
use holdgate_core::CHAT;
use serde_json::{Value, json};

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
