//! What a client gets in place of what was refused, and that all else stays as it was.

use crate::client::summary;
use crate::frames::{LS, TWICE, bash, check, check_with, frame, input, message, start, stop, text};
use crate::guarding::{Play, judge, run, scripted, settings, whole};
use holdgate_core::{ANTHROPIC, GuardSettings, OnBlock};
use serde_json::{Value, json};

#[track_caller]
fn check_whole(body: &Value, expected: Result<Value, &str>) {
    match (whole(judge(settings()), body), expected) {
        (Ok(mut got), Ok(expected)) => {
            let blocks = got.get_mut("content").and_then(Value::as_array_mut);
            for block in blocks.into_iter().flatten() {
                if let Some(text) = block["text"].as_str() {
                    block["text"] = text.lines().next().unwrap_or_default().into();
                }
            }
            assert_eq!(got, expected);
        }
        (Err(got), Err(expected)) => assert!(got.contains(expected), "{got}"),
        (got, expected) => panic!("{got:?} is not {expected:?}"),
    }
}

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
    let out = seen.text();
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
fn what_the_provider_ran_passes_and_does_not_count_as_tool_use() {
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
    let mut play = Play::new(judge);
    play.feed(message(&blocks).as_bytes());
    assert_eq!(
        summary(&play.seen.bytes),
        [
            "0 mcp_tool_use q: {\"a\":1}",
            "1 mcp_tool_result:",
            "stop end_turn",
        ],
    );
}

#[test]
fn extra_members_of_a_call_are_kept() {
    let block = json!({"type": "tool_use", "id": "t", "name": "Bash", "input": {}, "caller": {"type": "direct"}});
    let seen = run(
        settings(),
        &[message(&(start(0, block) + &input(0, LS) + &stop(0))).as_bytes()],
    );
    assert!(seen.text().contains(r#""caller":{"type":"direct"}"#));
}

#[test]
fn unknown_blocks_are_refused_by_a_text_that_names_the_setting() {
    let robot =
        start(0, json!({"type": "robot", "id": "t", "input": {}})) + &input(0, LS) + &stop(0);
    let seen = run(settings(), &[message(&robot).as_bytes()]);
    assert!(seen.text().contains("guard.inert_blocks"));
    let declared = GuardSettings {
        inert_blocks: vec!["robot".to_owned()].into(),
        ..settings()
    };
    let robot = start(0, json!({"type": "robot", "note": "hi"})) + &stop(0);
    check_with(declared, &message(&robot), &["0 robot:", "stop end_turn"]);
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
fn a_broken_upstream_is_an_error_for_the_client() {
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
            let mut play = Play::new(session.clone());
            play.feed(&frames.concat());
            !play.seen.cleared().is_empty()
        })
        .collect();
    assert_eq!(cleared, [true, true, true, true, true, false, false]);
}
