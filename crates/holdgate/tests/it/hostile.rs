//! Single tricks and limits, each with what must come of it.

use crate::client::summary;
use crate::guarding::{judge, run, scripted, settings};
use holdgate_core::guard::{GuardSettings, OnBlock, Output, StreamGuard, guard_message};
use holdgate_core::protocol::anthropic::ANTHROPIC;
use serde_json::{Value, json};
use std::time::Duration;

fn frame(data: &Value) -> String {
    format!(
        "event: {}\ndata: {data}\n\n",
        data["type"].as_str().unwrap()
    )
}

fn start(index: u64, block: Value) -> String {
    frame(&json!({"type": "content_block_start", "index": index, "content_block": block}))
}

fn input(index: u64, fragment: &str) -> String {
    let delta = json!({"type": "input_json_delta", "partial_json": fragment});
    frame(&json!({"type": "content_block_delta", "index": index, "delta": delta}))
}

fn stop(index: u64) -> String {
    frame(&json!({"type": "content_block_stop", "index": index}))
}

fn text(index: u64, text: &str) -> String {
    let delta = json!({"type": "text_delta", "text": text});
    let delta = json!({"type": "content_block_delta", "index": index, "delta": delta});
    start(index, json!({"type": "text", "text": ""})) + &frame(&delta) + &stop(index)
}

fn bash(index: u64, id: &str, arguments: &str) -> String {
    let block = json!({"type": "tool_use", "id": id, "name": "Bash", "input": {}});
    start(index, block) + &input(index, arguments) + &stop(index)
}

fn message(blocks: &str) -> String {
    let head = json!({"type": "message_start", "message": {"id": "m", "content": [], "usage": {}}});
    let end = json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 7}});
    frame(&head) + blocks + &frame(&end) + &frame(&json!({"type": "message_stop"}))
}

#[track_caller]
fn check_with(settings: GuardSettings, stream: &str, expected: &[&str]) {
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
fn check(stream: &str, expected: &[&str]) {
    check_with(settings(), stream, expected);
}

/// The stream is ended, and why.
#[track_caller]
fn check_ended(blocks: &str, why: &str) {
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

const LS: &str = r#"{"command":"ls"}"#;
const TWICE: &str = r#"{"command":"ls","command":"rm"}"#;

#[test]
fn text_behind_a_held_call_waits_for_it_and_keeps_its_order() {
    let blocks = text(0, "a") + &bash(1, "t1", LS) + &text(2, "b");
    check(
        &message(&blocks),
        &[
            "0 text: a",
            "1 tool_use Bash: {\"command\":\"ls\"}",
            "2 text: b",
            "stop tool_use",
        ],
    );
}

#[test]
fn a_refused_call_becomes_text_and_the_reason_to_stop_is_true() {
    let blocks = text(0, "a") + &bash(1, "t1", TWICE);
    check(
        &message(&blocks),
        &[
            "0 text: a",
            "1 text: [holdgate] The call to `Bash` was blocked and did not run.",
            "stop end_turn",
        ],
    );
    let blocks = bash(0, "t1", TWICE) + &bash(1, "t2", LS);
    check(
        &message(&blocks),
        &[
            "0 text: [holdgate]…",
            "1 tool_use Bash: {\"command\":\"ls\"}",
            "stop tool_use",
        ],
    );
}

#[test]
fn the_notice_names_rule_reason_and_a_better_way() {
    let seen = run(settings(), &[message(&bash(0, "t1", TWICE)).as_bytes()]);
    let out = String::from_utf8(seen.bytes).unwrap();
    for part in [
        "Rule: unreadable-call (reader)",
        "the key `command` twice",
        "Instead: ",
        "(incident r-1)",
    ] {
        assert!(out.contains(part), "{part} is not in {out}");
    }
}

#[test]
fn continue_adds_a_call_that_cannot_run_and_renumbers_what_follows() {
    let settings = || GuardSettings {
        on_block: OnBlock::Continue,
        ..settings()
    };
    let blocks = bash(0, "t1", TWICE) + &text(1, "b");
    check_with(
        settings(),
        &message(&blocks),
        &[
            "0 text: [holdgate]…",
            "1 tool_use Bash: {}",
            "2 text: b",
            "stop tool_use",
        ],
    );
    // A tool that might run without arguments gets no such call.
    let block = json!({"type": "tool_use", "id": "t1", "name": "List", "input": {}});
    let blocks = start(0, block) + &input(0, "[") + &stop(0);
    check_with(
        settings(),
        &message(&blocks),
        &["0 text: [holdgate]…", "stop end_turn"],
    );
}

#[test]
fn continue_gives_up_after_three_refusals_in_a_row() {
    let settings = GuardSettings {
        on_block: OnBlock::Continue,
        ..settings()
    };
    let blocks: String = (0..4).map(|i| bash(i, &format!("t{i}"), TWICE)).collect();
    let notice = "[holdgate]…";
    let expected: Vec<String> = (0..6)
        .map(|i| {
            if i % 2 == 0 {
                format!("{i} text: {notice}")
            } else {
                format!("{i} tool_use Bash: {{}}")
            }
        })
        .chain([format!("6 text: {notice}"), "stop tool_use".to_owned()])
        .collect();
    check_with(
        settings,
        &message(&blocks),
        &expected.iter().map(String::as_str).collect::<Vec<_>>(),
    );
}

#[test]
fn hold_all_releases_nothing_before_the_end_and_puts_notices_first() {
    let settings = || GuardSettings {
        hold_all: true,
        ..settings()
    };
    let blocks = text(0, "a") + &bash(1, "t1", LS) + &text(2, "b") + &bash(3, "t3", TWICE);
    check_with(
        settings(),
        &message(&blocks),
        &[
            "0 text: a",
            "1 text: [holdgate]…",
            "2 tool_use Bash: {\"command\":\"ls\"}",
            "3 text: b",
            "stop tool_use",
        ],
    );
    let open = message(&(bash(0, "t1", LS) + &text(1, "b")));
    let before_end = &open[..open.find("event: message_delta").unwrap()];
    let seen = run(settings(), &[before_end.as_bytes()]);
    assert!(
        seen.cleared().is_empty(),
        "a cut message releases none of its calls"
    );
}

#[test]
fn a_gap_in_the_numbers_is_closed() {
    let blocks = text(0, "a") + &text(2, "b");
    check(
        &message(&blocks),
        &["0 text: a", "1 text: b", "stop end_turn"],
    );
}

#[test]
fn what_the_provider_ran_passes_and_is_no_tool_use() {
    let block =
        json!({"type": "mcp_tool_use", "id": "x", "name": "q", "server_name": "s", "input": {}});
    let result = start(
        1,
        json!({"type": "mcp_tool_result", "tool_use_id": "x", "content": []}),
    ) + &stop(1);
    let blocks = start(0, block) + &input(0, "{\"a\":1}") + &stop(0) + &result;
    let body = r#"{"mcp_servers":[{"name":"s","url":"https://s.example"}],"messages":[]}"#;
    let mut judge = judge(settings());
    judge.request = ANTHROPIC.read_request(body.into()).unwrap().facts;
    let mut guard = StreamGuard::new(judge, Duration::ZERO);
    let mut outputs = Vec::new();
    guard.feed(message(&blocks).into(), Duration::ZERO, &mut outputs);
    let mut seen = crate::guarding::Seen::default();
    seen.take(&mut outputs);
    assert_eq!(
        summary(&seen.bytes),
        [
            "0 mcp_tool_use q: {\"a\":1}",
            "1 mcp_tool_result:",
            "stop end_turn",
        ],
    );
}

#[test]
fn a_call_that_the_request_does_not_let_the_provider_run_is_the_clients() {
    let block = json!({"type": "server_tool_use", "id": "x", "name": "Bash", "input": {}});
    let home = start(0, block) + &input(0, r#"{"command":"rm -rf ~"}"#) + &stop(0);
    check(&message(&home), &["0 text: [holdgate]…", "stop end_turn"]);
    let block =
        json!({"type": "mcp_tool_use", "id": "x", "name": "sh", "server_name": "s", "input": {}});
    let home = start(0, block) + &input(0, r#"{"command":"rm -rf ~"}"#) + &stop(0);
    check(&message(&home), &["0 text: [holdgate]…", "stop end_turn"]);
}

#[test]
fn calls_inside_of_other_blocks_are_refused() {
    let call = json!({"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls"}});
    for block in [
        json!({"type": "mcp_tool_result", "tool_use_id": "x", "content": [call]}),
        json!({"type": "text", "text": "", "extra": {"deep": [call]}}),
        json!({"type": "tool_use", "id": "u", "name": "Bash", "input": {}, "caller": call}),
    ] {
        let seen = run(
            settings(),
            &[message(&(start(0, block) + &stop(0))).as_bytes()],
        );
        assert_eq!(seen.decisions(), ["unreadable-call Explained"]);
        assert!(
            String::from_utf8(seen.bytes)
                .unwrap()
                .contains("the block contains a tool call")
        );
    }
}

#[test]
fn arguments_whose_keys_differ_in_case_only_are_refused() {
    let twice = r#"{"command":"ls","Command":"rm -rf ~"}"#;
    let seen = run(settings(), &[message(&bash(0, "t1", twice)).as_bytes()]);
    assert_eq!(seen.decisions(), ["unreadable-call Explained"]);
}

#[test]
fn extra_members_of_a_call_are_kept() {
    let block = json!({"type": "tool_use", "id": "t", "name": "Bash", "input": {}, "caller": {"type": "direct"}});
    let seen = run(
        settings(),
        &[message(&(start(0, block) + &input(0, LS) + &stop(0))).as_bytes()],
    );
    assert!(
        String::from_utf8(seen.bytes)
            .unwrap()
            .contains(r#""caller":{"type":"direct"}"#)
    );
}

#[test]
fn unknown_blocks_are_refused_by_a_text_that_names_the_setting() {
    let robot =
        start(0, json!({"type": "robot", "id": "t", "input": {}})) + &input(0, LS) + &stop(0);
    let seen = run(settings(), &[message(&robot).as_bytes()]);
    assert!(
        String::from_utf8(seen.bytes)
            .unwrap()
            .contains("guard.inert_blocks")
    );
    let declared = GuardSettings {
        inert_blocks: vec!["robot".to_owned()].into(),
        ..settings()
    };
    let robot = start(0, json!({"type": "robot", "note": "hi"})) + &stop(0);
    check_with(declared, &message(&robot), &["0 robot:", "stop end_turn"]);
}

#[test]
fn events_that_clients_read_differently_end_the_stream() {
    let tool = json!({"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "x"}});
    let hidden = start(0, tool.clone());
    for (blocks, why) in [
        (
            hidden.replacen("\"type\"", "\"type\":\"ping\",\"type\"", 1),
            "twice",
        ),
        (
            hidden.replacen("event: content_block_start", "event: ping", 1),
            "has the name `ping`",
        ),
        (
            hidden.replacen("event: content_block_start\n", "", 1),
            "has the name ``",
        ),
        (
            hidden.replacen("event: ", "event: ping\nevent: ", 1),
            "two `event` fields",
        ),
        (hidden.replacen("data:", "\u{feff}data:", 1), "no data"),
        (hidden.replacen("data:", " data:", 1), "no data"),
        (hidden.replacen("}\n\n", "} x\n\n", 1), "text after the end"),
        (
            frame(&json!({"type": "content_block_start_2", "index": 0, "content_block": tool})),
            "could carry an action",
        ),
        (hidden.clone() + &hidden, "a block starts twice"),
        (input(7, LS), "not open"),
        (
            text(0, "a").replacen("text_delta", "input_json_delta", 1),
            "inside a block of text",
        ),
        (
            hidden.clone() + &text(0, "a").replacen("content_block_start", "x", 2),
            "is unknown and could carry",
        ),
        (
            text(0, "a") + &frame(&json!({"type": "message_start", "message": {"content": []}})),
            "a second message_start",
        ),
        (
            text(0, "a").replacen(
                "\"text\":\"a\"",
                "\"text\":\"a\",\"Partial_JSON\":\"{}\"",
                1,
            ),
            "a tool call inside the event",
        ),
        (
            frame(&json!({"type": "ping", "x": {"Type": "tool_use", "name": "Bash"}})),
            "a tool call inside the event",
        ),
        (
            frame(&json!({"type": "error", "error": {"content": [tool]}})),
            "a tool call inside the event",
        ),
        (
            text(0, "a").replacen("\"index\":0", "\"index\":0,\"Index\":1", 1),
            "only in case",
        ),
        (hidden, "in the middle of a tool call"),
    ] {
        check_ended(&blocks, why);
    }
}

/// A frame that is text to one reader and a call to another leaves only as what was judged.
#[test]
fn no_reader_finds_a_call_in_what_was_read_as_text() {
    let call = json!({"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "rm"}});
    let call = call.to_string();
    let (begun, rest) = (
        start(0, json!({"type": "text", "text": ""})),
        r#""index":0,"delta":{"type":"text_delta","text":"a"}}"#,
    );
    for frame in [
        // To a reader that splits at LF only, the first line is a whole block.
        format!(
            "event: content_block_delta\ndata: {{\"type\"\r:\"content_block_start\",\"index\":1,\
             \"content_block\":{call}}}\n: \rdata: :\"content_block_delta\",{rest}\n\n"
        ),
        // To one that takes each line of data by itself, the second one is.
        format!(
            "event: content_block_delta\ndata: {{\"type\":\"content_block_delta\",\ndata: \"x\":[\ndata: {call}\ndata: ],{rest}\n\n"
        ),
        // What is no field to us may be one to others.
        format!(
            "event: content_block_delta\n data: {call}\ndata: {{\"type\":\"content_block_delta\",{rest}\n\n"
        ),
        format!(
            ": x\u{b}data: {call}\nid: \u{2028}data: {call}\nevent: content_block_delta\ndata: {{\"type\":\"content_block_delta\",{rest}\n\n"
        ),
        format!(
            "{call}\nevent: content_block_delta\ndata: {{\"type\":\"content_block_delta\",{rest}\n\n"
        ),
    ] {
        let stream = message(&(begun.clone() + &frame + &stop(0)));
        let seen = run(settings(), &[stream.as_bytes()]);
        for (reading, calls) in crate::client::all_calls(&seen.bytes) {
            assert!(
                calls.is_empty(),
                "{} finds {calls:?}: {frame:?}",
                reading.how
            );
        }
        let read = crate::client::all_calls(stream.as_bytes());
        assert!(
            read.iter().any(|(_, calls)| !calls.is_empty()),
            "no reader is tricked by {frame:?}"
        );
    }
}

#[test]
fn limits_end_the_stream_or_refuse_the_call() {
    let big = format!("{{\"command\":\"{}\"}}", "x".repeat(1 << 20));
    let fragments: String = big
        .as_bytes()
        .chunks(60_000)
        .map(|c| input(0, std::str::from_utf8(c).unwrap()))
        .collect();
    let block = json!({"type": "tool_use", "id": "t", "name": "Bash", "input": {}});
    let call = start(0, block.clone()) + &fragments + &stop(0);
    check(
        &message(&call),
        &[
            "0 text: [holdgate] The call to `Bash` was blocked…",
            "stop end_turn",
        ],
    );
    check_ended(
        &text(0, &"x".repeat((1 << 20) + 1)),
        "larger than 1048576 bytes",
    );
    let calls: String = (0..65).map(|i| start(i, block.clone())).collect();
    check_ended(&calls, "too many blocks are open");
    let behind: String = (1..80).map(|i| text(i, &"y".repeat(60_000))).collect();
    check_ended(
        &(start(0, block) + &behind),
        "exceeds the limit on held data",
    );
}

#[test]
fn only_the_first_of_two_calls_with_one_id_runs() {
    let blocks = bash(0, "same", LS) + &bash(1, "same", r#"{"command":"rm"}"#);
    check(
        &message(&blocks),
        &[
            "0 tool_use Bash: {\"command\":\"ls\"}",
            "1 text: [holdgate]…",
            "stop tool_use",
        ],
    );
}

#[test]
fn strays_are_left_out_and_recorded_once() {
    let again = frame(&json!({"type": "message_start", "message": {"content": []}}));
    let strays = again + &stop(7) + "data: [DONE]\n\n" + &text(0, "a") + &stop(0) + &stop(0);
    let seen = run(settings(), &[message(&strays).as_bytes()]);
    assert_eq!(summary(&seen.bytes), ["0 text: a", "stop end_turn"]);
    assert_eq!(seen.decisions(), ["stray-event LeftOut"]);
    assert!(!String::from_utf8(seen.bytes).unwrap().contains("DONE"));
    check_ended(&stop(7).repeat(101), "too many events");
}

#[test]
fn a_last_event_that_the_server_forgets_is_added() {
    let whole = message(&text(0, "a"));
    let cut = whole.find("event: message_stop").unwrap();
    let seen = run(settings(), &[&whole.as_bytes()[..cut]]);
    assert_eq!(summary(&seen.bytes), ["0 text: a", "stop end_turn"]);
    assert!(
        seen.bytes
            .ends_with(b"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n")
    );
}

#[test]
fn arguments_that_javascript_finds_where_json_has_none_are_refused() {
    let hidden = r#"{"__proto__":{"command":"rm"},"description":"x"}"#;
    check(
        &message(&bash(0, "t1", hidden)),
        &["0 text: [holdgate]…", "stop end_turn"],
    );
}

#[test]
fn much_behind_a_held_call_costs_no_more_than_its_length() {
    // Each delta finds its call at once: with a search through the queue, this would take minutes.
    let block = json!({"type": "tool_use", "id": "t", "name": "Bash", "input": {}});
    let many = 30_000;
    let note = frame(&json!({"type": "note"}));
    let blocks = start(0, block)
        + &note.repeat(many)
        + &input(0, "").repeat(many)
        + &input(0, LS)
        + &stop(0);
    let limits = GuardSettings {
        max_held_bytes: 64 << 20,
        ..settings()
    };
    let seen = run(limits, &[message(&blocks).as_bytes()]);
    assert_eq!(seen.cleared().len(), 1);
}

#[test]
fn a_call_whose_frame_is_huge_is_refused_and_weighs_little() {
    let block = json!({"type": "tool_use", "id": "t", "name": "x".repeat(100_000), "input": {}});
    check(
        &message(&(start(0, block) + &stop(0))),
        &["0 text: [holdgate] The call to `xxx…", "stop end_turn"],
    );
}

#[test]
fn a_broken_upstream_is_told_loudly() {
    let seen = run(settings(), &[]);
    assert!(seen.aborted && seen.bytes.is_empty());
    let open = message(&bash(0, "t", LS));
    let cut = &open[..open.find("input_json_delta").unwrap()];
    check(
        cut,
        &["error [holdgate] the upstream ended the response in the middle of the message"],
    );
    let error =
        json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    let cut = &open[..open.find("event: content_block_stop").unwrap()];
    check(&format!("{cut}{}", frame(&error)), &["error Overloaded"]);
}

#[track_caller]
fn check_whole(body: &Value, expected: Result<Value, &str>) {
    let mut outputs: Vec<Output> = Vec::new();
    let body = format!("{body:#}\r\n");
    let got = guard_message(
        judge(settings()),
        body.as_bytes(),
        Duration::ZERO,
        &mut outputs,
    );
    match (got, expected) {
        (Ok(got), Ok(expected)) => {
            assert!(!got.contains(&b'\n') && !got.contains(&b'\r'));
            let mut got: Value = serde_json::from_slice(&got).unwrap();
            let blocks = got.get_mut("content").and_then(Value::as_array_mut);
            for block in blocks.into_iter().flatten() {
                if let Some(text) = block["text"].as_str() {
                    block["text"] = text.lines().next().unwrap_or_default().into();
                }
            }
            assert_eq!(got, expected);
        }
        (Err(got), Err(expected)) => assert!(got.to_string().contains(expected), "{got}"),
        (got, expected) => panic!("{got:?} is not {expected:?}"),
    }
}

#[test]
fn whole_messages_meet_the_same_gate() {
    let message = |content: Value, stop: &str| json!({"type": "message", "id": "m", "content": content, "stop_reason": stop, "n": 1.5});
    let said = json!({"type": "text", "text": "a"});
    let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": "ls"}});
    let notice = |kind: &str| json!({"type": "text", "text": format!("[holdgate] {kind} was blocked and did not run.")});
    let spoken = message(json!([said]), "end_turn");
    check_whole(&spoken, Ok(spoken.clone()));
    let honest = message(json!([said, call("t")]), "tool_use");
    check_whole(&honest, Ok(honest.clone()));
    check_whole(
        &message(json!([{"type": "robot", "input": {}}]), "tool_use"),
        Ok(message(
            json!([notice("A block of the kind `robot`")]),
            "end_turn",
        )),
    );
    check_whole(
        &message(json!([call("t"), said, call("t")]), "tool_use"),
        Ok(message(
            json!([notice("The call to `Bash`"), call("t"), said]),
            "tool_use",
        )),
    );
    let error = json!({"type": "error", "error": {}});
    check_whole(&error, Ok(error.clone()));
    let disguised = json!({"type": "error", "content": [call("t")]});
    check_whole(&disguised, Ok(disguised.clone()));
    check_whole(
        &json!({"choices": [{"message": {"tool_calls": []}}]}),
        Err("tool calls"),
    );
    check_whole(&json!({"type": "message"}), Err("no content"));
    let mut beside = message(json!([]), "end_turn");
    beside["x"] = json!([call("t")]);
    check_whole(&beside, Err("tool calls"));
    let inside = json!({"type": "web_search_tool_result", "content": [call("t")]});
    check_whole(
        &message(json!([inside]), "end_turn"),
        Ok(message(
            json!([notice("A block of the kind `web_search_tool_result`")]),
            "end_turn",
        )),
    );
}

#[test]
fn the_scripted_repeat_is_stopped_at_the_sixth() {
    let turns = scripted("repeat");
    let session = judge(settings());
    let cleared: Vec<bool> = turns
        .iter()
        .take(7)
        .map(|frames| {
            let mut guard = StreamGuard::new(session.clone(), Duration::ZERO);
            let mut outputs = Vec::new();
            guard.feed(frames.concat().into(), Duration::ZERO, &mut outputs);
            let mut seen = crate::guarding::Seen::default();
            seen.take(&mut outputs);
            !seen.cleared().is_empty()
        })
        .collect();
    assert_eq!(cleared, [true, true, true, true, true, false, false]);
}
