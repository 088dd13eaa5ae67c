//! `OpenAI` Responses under guard: all places in which a stream repeats a call, and what replaces one
//! that is refused.

mod hostile;
mod random;
mod script;

use crate::guarding::{Play, Seen, judge, play, settings, whole};
use crate::responses_client as client;
use holdgate_core::{GuardSettings, OnBlock, RESPONSES, ResponseContext};
use script::*;
use serde_json::{Value, json};
use std::sync::Arc;

/// A request that declares the tools of Codex.
fn context(settings: GuardSettings) -> ResponseContext {
    let provider = json!([{"type": "web_search"}, {"type": "mcp", "server_label": "docs"}]);
    declaring(&provider, settings)
}

/// A request that declares these tools, too.
fn declaring(more: &Value, settings: GuardSettings) -> ResponseContext {
    let mut tools = json!([
        {"type": "function", "name": "exec_command", "parameters": {"required": ["cmd"]}},
        {"type": "custom", "name": "apply_patch"},
    ]);
    let more = more.as_array().unwrap().iter().cloned();
    tools.as_array_mut().unwrap().extend(more);
    let body = json!({"input": "go", "tools": tools});
    let request = RESPONSES.read_request(body.to_string().into()).unwrap();
    ResponseContext {
        protocol: RESPONSES,
        request: request.facts,
        ..judge(settings)
    }
}

fn run(settings: GuardSettings, chunks: &[&[u8]]) -> Seen {
    play(context(settings), chunks)
}

fn guard(stream: &str) -> Seen {
    run(settings(), &[stream.as_bytes()])
}

fn events(seen: &Seen) -> Vec<Value> {
    let text = seen.text();
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    data.map(|data| serde_json::from_str(data).unwrap())
        .collect()
}

fn kinds(seen: &Seen) -> Vec<String> {
    let kind = |event: &Value| event["type"].as_str().unwrap().replace("response.", "");
    events(seen).iter().map(kind).collect()
}

/// Numbers have no gaps, names are those of the data, and the last response has what was sent.
fn check_form(seen: &Seen) {
    let events = events(seen);
    for (number, event) in events.iter().enumerate() {
        assert_eq!(event["sequence_number"], number, "{event}");
    }
    let done = |event: &&Value| event["type"] == "response.output_item.done";
    let items: Vec<&Value> = events.iter().filter(done).map(|e| &e["item"]).collect();
    let indexes = events
        .iter()
        .filter(done)
        .map(|e| e["output_index"].as_u64().unwrap());
    assert!(indexes.eq(0..items.len() as u64));
    let last = events.last().unwrap();
    if last["type"] == "response.completed" {
        assert_eq!(last["response"]["output"], json!(items));
    }
}

#[test]
fn an_allowed_call_leaves_in_all_its_places_as_it_was_judged() {
    for (item, place) in [
        (function_call("c", "{\"cmd\": \"ls\"}"), "{\"cmd\":\"ls\"}"),
        (custom_call("apply_patch", PATCH), PATCH),
        (local_shell(&["ls", "-l"]), "ls"),
        (shell(&["ls", "git status"]), "git status"),
        (patch_call("a.txt", "+hi"), "+hi"),
    ] {
        let stream = stream(&[message("Running."), item.clone()]);
        let seen = guard(&stream);
        check_form(&seen);
        assert_eq!(seen.decisions(), ["- Sent"], "{item}");
        assert_eq!(
            client::meaning(stream.as_bytes()),
            client::meaning(&seen.bytes),
            "{item}"
        );
        let quoted = serde_json::to_string(place).unwrap();
        let places = seen.text().matches(quoted.as_str()).count();
        assert!(places >= 3, "{places} places of {item}");
    }
}

#[test]
fn nothing_of_a_call_leaves_before_its_verdict() {
    let frames = frames(&[message("Running."), function_call("c", "{\"cmd\":\"ls\"}")]);
    let mut play = Play::new(context(settings()));
    for frame in &frames {
        play.feed(frame.as_bytes());
        let whole = frame.contains("response.output_item.done") && frame.contains("function_call");
        let sent = play.seen.text().contains("function_call");
        if whole {
            assert!(sent, "Codex runs it now");
            break;
        }
        assert!(!sent, "{frame}");
    }
}

#[test]
fn a_refused_call_becomes_a_message_with_all_its_events() {
    let seen = guard(&stream(&[
        function_call("a", "{\"cmd\":\"rm -rf ~\"}"),
        function_call("b", "{\"cmd\":\"ls\"}"),
    ]));
    check_form(&seen);
    let text = seen.text();
    assert!(
        !text.contains("\"arguments\":\"{\\\"cmd\\\":\\\"rm"),
        "{text}"
    );
    assert_eq!(
        kinds(&seen)[2..8],
        [
            "output_item.added",
            "content_part.added",
            "output_text.delta",
            "output_text.done",
            "content_part.done",
            "output_item.done"
        ]
    );
    let last = events(&seen).pop().unwrap();
    let output = &last["response"]["output"];
    assert_eq!(output[0]["type"], "message");
    let said = output[0]["content"][0]["text"].as_str().unwrap();
    assert!(said.starts_with("[holdgate] The call to `exec_command` was blocked"));
    assert_eq!(output[1]["call_id"], "b");
    assert_eq!(last["response"]["status"], "completed");
}

#[test]
fn the_agent_goes_on_with_a_call_that_cannot_run() {
    let go_on = GuardSettings {
        on_block: OnBlock::Continue,
        ..settings()
    };
    let refused = stream(&[
        function_call("a", "{\"cmd\":\"rm -rf ~\"}"),
        message("Done."),
    ]);
    let seen = run(go_on.clone(), &[refused.as_bytes()]);
    check_form(&seen);
    let last = events(&seen).pop().unwrap();
    let output = &last["response"]["output"];
    assert_eq!(
        (&output[1]["name"], &output[1]["arguments"]),
        (&json!("exec_command"), &json!("{}"))
    );
    assert_eq!(output[1]["call_id"], "toolu_holdgate_r_1");
    // A custom tool takes any text.
    let refused = stream(&[custom_call(
        "exec",
        "await tools.exec_command({cmd: 'rm -rf ~'})",
    )]);
    let seen = run(go_on, &[refused.as_bytes()]);
    check_form(&seen);
    assert!(!seen.text().contains("_call\""), "{}", seen.text());
}

#[test]
fn words_and_reasoning_leave_byte_for_byte() {
    let stream = stream(&[reasoning("gAAAA=="), message("Hello."), refusal("No.")]);
    let seen = guard(&stream);
    assert_eq!(seen.text(), stream);
    // Behind a call that takes another number of events, only numbers change.
    let items = [function_call("c", "{\"cmd\":\"ls\"}"), reasoning("gAAAA==")];
    let seen = guard(&script::stream(&items));
    check_form(&seen);
    assert!(seen.text().contains("\"encrypted_content\":\"gAAAA==\""));
}

#[test]
fn schemas_of_tools_are_no_calls() {
    let tools = json!([{"type": "function", "name": "f", "parameters": {"type": "object",
        "properties": {"tool_calls": {"type": "array"}, "ID": {}, "id": {}}}}]);
    let stream = stream(&[message("Hi.")]).replace("\"tools\":[]", &format!("\"tools\":{tools}"));
    assert_eq!(guard(&stream).text(), stream);
}

#[test]
fn servers_that_leave_names_or_starts_out_are_understood() {
    let stream = stream(&[message("Hi."), function_call("c", "{\"cmd\":\"ls\"}")]);
    let named = guard(&stream);
    let unnamed: String = stream
        .lines()
        .filter(|l| !l.starts_with("event: "))
        .map(|l| format!("{l}\n"))
        .collect();
    assert_eq!(guard(&unnamed).text(), named.text());
    let item = function_call("c", "{\"cmd\":\"ls\"}");
    let only_done = json!({"type": "response.output_item.done", "sequence_number": 2, "output_index": 0, "item": item});
    let frames = frames(&[item]);
    let seen = guard(
        &[
            &*frames[0],
            &frames[1],
            &frame(&only_done),
            frames.last().unwrap(),
        ]
        .concat(),
    );
    check_form(&seen);
    assert_eq!(seen.decisions(), ["- Sent"]);
    let twice = frame(&only_done);
    let seen = guard(
        &[
            &*frames[0],
            &frames[1],
            &twice,
            &twice,
            frames.last().unwrap(),
        ]
        .concat(),
    );
    assert_eq!(seen.decisions(), ["- Sent", "stray-event LeftOut"]);
}

#[test]
fn a_held_call_keeps_the_client_waiting_with_numbered_events() {
    let frames = frames(&[function_call("c", "{\"cmd\":\"ls\"}")]);
    let mut play = Play::new(context(settings()));
    play.feed(frames[..4].concat().as_bytes());
    play.now = std::time::Duration::from_secs(10);
    play.act(holdgate_core::StreamGuard::tick);
    play.feed(frames[4..].concat().as_bytes());
    play.finish();
    check_form(&play.seen);
    assert_eq!(kinds(&play.seen)[2], "keepalive");
}

#[test]
fn all_calls_of_a_message_can_be_held_to_its_end() {
    let hold_all = GuardSettings {
        hold_all: true,
        ..settings()
    };
    let items = [
        function_call("a", "{\"cmd\":\"ls\"}"),
        message("Two."),
        function_call("b", "{\"cmd\":\"rm -rf ~\"}"),
    ];
    let seen = run(hold_all, &[stream(&items).as_bytes()]);
    check_form(&seen);
    let last = events(&seen).pop().unwrap();
    let output = last["response"]["output"].as_array().unwrap();
    let kinds: Vec<&Value> = output.iter().map(|item| &item["type"]).collect();
    assert_eq!(kinds, ["message", "function_call", "message"]);
}

#[test]
fn a_response_that_is_not_streamed_is_guarded_too() {
    let body = response(
        "completed",
        &[
            message("Running."),
            function_call("a", "{\"cmd\": \"ls\"}"),
            function_call("b", "{\"cmd\":\"rm -rf ~\"}"),
            json!({"type": "odd", "id": "o"}),
        ],
    );
    let got = whole(context(settings()), &body).unwrap();
    let output = got["output"].as_array().unwrap();
    assert_eq!(output[0], message("Running."));
    assert_eq!(output[1], function_call("a", "{\"cmd\":\"ls\"}"));
    for refused in &output[2..] {
        let text = refused["content"][0]["text"].as_str().unwrap();
        assert!(text.starts_with("[holdgate] "), "{text}");
    }
    let words = response("completed", &[reasoning("x"), message("Hi.")]);
    assert_eq!(whole(context(settings()), &words).unwrap(), words);
    let error = json!({"error": {"message": "no", "type": "invalid_request_error", "param": null, "code": null}});
    assert_eq!(whole(context(settings()), &error).unwrap(), error);
    let hidden = json!({"object": "response", "output": [], "extra": [function_call("x", "{}")]});
    assert!(whole(context(settings()), &hidden).is_err());
}

#[test]
fn tools_of_other_servers_are_judged_under_their_full_name() {
    let mut call = function_call("c", "{\"cmd\":\"x\"}");
    call["namespace"] = json!("evil");
    call["name"] = json!("wait");
    let seen = guard(&stream(&[call]));
    check_form(&seen);
    let tools: Vec<String> = seen.cleared().into_iter().map(|(tool, ..)| tool).collect();
    assert_eq!(tools, ["mcp__evil__wait"]);
    assert!(seen.text().contains("\"namespace\":\"evil\""));
}

#[test]
fn operators_can_declare_items_inert() {
    let inert = GuardSettings {
        inert_blocks: Arc::from(["odd".to_owned()]),
        ..settings()
    };
    let stream = stream(&[json!({"type": "odd", "id": "o"})]);
    assert_eq!(run(inert, &[stream.as_bytes()]).text(), stream);
}
