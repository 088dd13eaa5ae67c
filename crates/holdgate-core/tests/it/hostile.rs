//! Single tricks and limits, each with the expected result.

use crate::client::summary;
use crate::frames::{LS, bash, check, check_ended, frame, input, message, start, stop, text};
use crate::guarding::{run, settings};
use holdgate_core::GuardSettings;
use serde_json::json;

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
        assert!(seen.text().contains("the block contains a tool call"));
    }
}

#[test]
fn arguments_whose_keys_differ_in_case_only_are_refused() {
    let twice = r#"{"command":"ls","Command":"rm -rf ~"}"#;
    let seen = run(settings(), &[message(&bash(0, "t1", twice)).as_bytes()]);
    assert_eq!(seen.decisions(), ["unreadable-call Explained"]);
}

#[test]
fn events_that_clients_read_differently_end_the_stream() {
    let tool = json!({"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "x"}});
    let hidden = start(0, tool.clone());
    let call_but =
        |from: &str, to: &str, why: &str| check_ended(&hidden.replacen(from, to, 1), why);
    call_but("\"type\"", "\"type\":\"ping\",\"type\"", "twice");
    call_but(
        "event: content_block_start",
        "event: ping",
        "has the name `ping`",
    );
    call_but("event: content_block_start\n", "", "has the name ``");
    call_but("event: ", "event: ping\nevent: ", "two `event` fields");
    call_but("data:", "\u{feff}data:", "no data");
    call_but("data:", " data:", "no data");
    call_but("}\n\n", "} x\n\n", "text after the end");
    let said = text(0, "a");
    let text_but = |from: &str, to: &str, why: &str| check_ended(&said.replacen(from, to, 1), why);
    text_but("text_delta", "input_json_delta", "inside a block of text");
    let nested = "a tool call inside the event";
    text_but(r#""text":"a""#, r#""text":"a","Partial_JSON":"{}""#, nested);
    text_but(r#""index":0"#, r#""index":0,"Index":1"#, "only in case");
    let event = |event, why| check_ended(&frame(&event), why);
    event(
        json!({"type": "ping", "x": {"Type": "tool_use", "name": "Bash"}}),
        nested,
    );
    event(
        json!({"type": "error", "error": {"content": [tool]}}),
        nested,
    );
    event(
        json!({"type": "content_block_start_2", "index": 0, "content_block": tool}),
        "could carry an action",
    );
    check_ended(&hidden.repeat(2), "a block starts twice");
    check_ended(&input(7, LS), "not open");
    let unknown = said.replacen("content_block_start", "x", 2);
    check_ended(&(hidden.clone() + &unknown), "is unknown and could carry");
    let again = frame(&json!({"type": "message_start", "message": {"content": []}}));
    check_ended(&(said + &again), "a second message_start");
    check_ended(&hidden, "in the middle of a tool call");
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
        // A line that is not a field for us may be one for other readers.
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
    assert!(!seen.text().contains("DONE"));
    check_ended(&stop(7).repeat(101), "too many events");
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
