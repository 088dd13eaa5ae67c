//! Streams that want two readers to see two things, or break off.

use super::script::*;
use super::{check_form, client, events, guard};
use crate::guarding::{Seen, settings, whole};
use serde_json::{Value, json};

/// What a provider runs is a call too, wherever a reader may look for one.
#[test]
fn calls_under_unknown_members_of_a_response_are_refused() {
    for kind in ["web_search_call", "odd_call", "Computer-Call"] {
        let item = json!({"type": kind, "id": "x", "action": {"type": "search", "query": "EVIL"}});
        for name in ["outputs", "o5tput"] {
            let members = format!("\"{name}\":[{item}],\"output\":");
            let change = |frame: String| {
                if frame.contains("response.completed") {
                    frame.replacen("\"output\":", &members, 1)
                } else {
                    frame
                }
            };
            let frames = frames(&[message("hello")]).into_iter().map(change);
            let seen = guard(&frames.collect::<String>());
            assert!(!seen.text().contains("EVIL"), "{kind}: {}", seen.text());
        }
    }
}

#[test]
fn places_that_differ_are_refused() {
    let evil = "{\"cmd\":\"echo EVIL\"}";
    let call = || frames(&[function_call("c", "{\"cmd\":\"ls\"}")]);
    let with = |name: &str, from: &str, to: &str| {
        let change = |frame: String| {
            if frame.contains(name) {
                frame.replace(from, to)
            } else {
                frame
            }
        };
        call().into_iter().map(change).collect::<String>()
    };
    let quote = |text: &str| {
        let text = serde_json::to_string(text).unwrap();
        text[1..text.len() - 1].to_owned()
    };
    let (ls, evil) = (quote("{\"cmd\":\"ls\"}"), quote(evil));
    for (place, stream) in [
        ("deltas", with("arguments.delta", "ls", "EVIL")),
        ("end of the deltas", with("arguments.done", &ls, &evil)),
        ("item", with("item.done", &ls, &evil)),
        (
            "start",
            with(
                "item.added",
                "\"arguments\":\"\"",
                &format!("\"arguments\":\"{evil}\""),
            ),
        ),
        ("name", with("item.done", "exec_command", "EVIL")),
        (
            "id",
            with("item.done", "\"call_id\":\"c\"", "\"call_id\":\"EVIL\""),
        ),
        (
            "kind",
            with("item.added", "function_call", "custom_tool_call"),
        ),
    ] {
        let seen = guard(&stream);
        assert!(
            !client::holds(&seen.bytes, "EVIL"),
            "{place}: {}",
            seen.text()
        );
        assert!(seen.cleared().is_empty(), "{place}");
    }
    // The stream is over when the last response comes: the call has run, another one must not.
    let seen = guard(&with("response.completed", &ls, &evil));
    assert!(!client::holds(&seen.bytes, "EVIL"));
    assert!(seen.text().contains("response.failed"), "{}", seen.text());
}

#[test]
fn a_call_that_only_the_last_response_has_is_refused() {
    let extra = function_call("x", "{\"cmd\":\"echo EVIL\"}");
    for items in [
        vec![message("Hi.")],
        vec![function_call("c", "{\"cmd\":\"ls\"}")],
    ] {
        let stream = stream(&items).replace("\"output\":[{", &format!("\"output\":[{extra},{{"));
        let seen = guard(&stream);
        assert!(!client::holds(&seen.bytes, "EVIL"), "{}", seen.text());
        assert!(seen.text().contains("response.failed"));
        assert!(!seen.text().contains("response.completed"));
    }
}

#[test]
fn the_first_of_two_calls_with_one_id_is_the_only_one() {
    let stream = stream(&[
        function_call("c", "{\"cmd\":\"ls\"}"),
        function_call("c", "{\"cmd\":\"echo EVIL\"}"),
    ]);
    let seen = guard(&stream);
    check_form(&seen);
    assert!(!client::holds(&seen.bytes, "EVIL"), "{}", seen.text());
    // In another order, the last response would name the other one.
    let mut swapped: Vec<Value> = events(&Seen {
        bytes: stream.into_bytes(),
        ..Seen::default()
    });
    let last = swapped.last_mut().unwrap();
    last["response"]["output"].as_array_mut().unwrap().reverse();
    let stream: String = swapped.iter().map(frame).collect();
    let seen = guard(&stream);
    assert!(!client::holds(&seen.bytes, "EVIL"), "{}", seen.text());
}

#[test]
fn what_the_provider_runs_passes_if_the_request_declares_it() {
    let search = json!({"type": "web_search_call", "id": "ws", "status": "completed",
        "action": {"type": "search", "query": "x"}});
    let mcp = |server: &str| {
        json!({"type": "mcp_call", "id": "m", "server_label": server, "name": "q",
            "arguments": "{}", "output": "a", "error": null})
    };
    let file =
        json!({"type": "file_search_call", "id": "f", "queries": ["x"], "status": "completed"});
    for (item, passes) in [
        (search, true),
        (mcp("docs"), true),
        (mcp("other"), false),
        (file, false),
        (json!({"type": "odd_call", "id": "o", "x": 1}), false),
        (
            json!({"type": "mcp_list_tools", "id": "l", "server_label": "docs", "tools": []}),
            true,
        ),
    ] {
        let stream = stream(&[item.clone(), message("Hi.")]);
        let seen = guard(&stream);
        check_form(&seen);
        assert_eq!(seen.bytes == stream.as_bytes(), passes, "{}", seen.text());
        assert_eq!(seen.decisions().is_empty(), passes, "{item}");
    }
}

#[test]
fn a_response_that_breaks_off_never_runs_half_a_call() {
    let frames = frames(&[function_call("c", "{\"cmd\":\"ls\"}")]);
    for end in 3..frames.len() - 2 {
        let seen = guard(&frames[..end].concat());
        assert!(!seen.text().contains("function_call"), "{}", seen.text());
        assert!(seen.text().ends_with("\n\n") && seen.text().contains("event: error\n"));
        for (kind, status) in [("failed", "failed"), ("incomplete", "incomplete")] {
            let response = json!({"id": "resp_1", "status": status, "output": [],
                "error": {"code": "server_is_overloaded", "message": "Overloaded"}});
            let event = json!({"type": format!("response.{kind}"), "response": response});
            let seen = guard(&(frames[..end].concat() + &frame(&event)));
            assert!(!seen.text().contains("function_call"), "{}", seen.text());
            assert!(seen.text().contains("Overloaded"));
            assert!(
                seen.text()
                    .contains("the response ended before the call was whole")
            );
        }
    }
    let seen = guard("");
    assert!(seen.aborted);
}

#[test]
fn errors_pass_and_hide_nothing() {
    let error = json!({"type": "error", "code": "x", "message": "Overloaded", "param": null});
    let seen = guard(&(frames(&[])[..2].concat() + &frame(&error)));
    assert!(seen.text().contains("Overloaded"));
    let call = function_call("c", "{\"cmd\":\"EVIL\"}");
    for event in [
        json!({"type": "error", "message": "x", "item": call}),
        json!({"type": "response.created", "response": {"output": [call]}}),
        json!({"type": "response.in_progress", "response": {"output": [call]}}),
        json!({"type": "response.failed", "response": {"output": [call]}}),
        json!({"type": "response.completed", "response": {"output": [], "metadata": {"x": call}}}),
        json!({"type": "response.foo", "item": call}),
        json!({"type": "codex.rate_limits", "x": {"y": [call]}}),
        json!({"type": "response.output_text.delta", "output_index": 0, "delta": "x", "call": call}),
        json!({"type": "response.output_item.done", "output_index": 0, "item":
            {"type": "message", "id": "m", "content": [call]}}),
        json!({"type": "response.output_item.added", "output_index": 0, "item":
            {"type": "message", "Type": "function_call", "arguments": "EVIL", "content": []}}),
        json!({"type": "response.content_part.added", "output_index": 0, "part": call}),
        json!({"type": "response.function_call_arguments.delta", "output_index": 0, "delta": "EVIL"}),
        json!({"type": "response.function_call_arguments.done", "output_index": 0, "arguments": "EVIL"}),
    ] {
        for before in [
            frames(&[])[..2].concat(),
            frames(&[message("Hi.")])[..4].concat(),
        ] {
            let seen = guard(&(before + &frame(&event)));
            assert!(!client::holds(&seen.bytes, "EVIL"), "{}", seen.text());
        }
    }
}

#[test]
fn a_call_with_an_action_beside_its_own_never_leaves() {
    let with = |mut item: Value, key: &str, value: Value| {
        item[key] = value;
        item
    };
    let computer = json!({"id": "cu", "type": "computer_call", "status": "completed", "call_id": "k",
        "action": {"type": "screenshot"}, "pending_safety_checks": []});
    let call = || function_call("c", "{\"cmd\":\"ls\"}");
    let clicks = json!([{"type": "type", "text": "EVIL"}]);
    for item in [
        with(computer.clone(), "Actions", clicks.clone()),
        with(computer, "Action", clicks),
        with(call(), "input", json!("EVIL")),
        with(call(), "Input", json!("EVIL")),
        with(call(), "action", json!({"command": ["EVIL"]})),
        with(call(), "x_more", json!({"arguments": "EVIL"})),
        with(
            custom_call("apply_patch", PATCH),
            "arguments",
            json!("EVIL"),
        ),
        with(local_shell(&["ls"]), "commands", json!(["EVIL"])),
        with(shell(&["ls"]), "operation", json!({"diff": "EVIL"})),
        with(message("Hi."), "arguments", json!("EVIL")),
        with(
            json!({"type": "message", "id": "m", "role": "assistant"}),
            "content",
            json!([{"type": "output_text", "text": "x", "action": {"command": "EVIL"}}]),
        ),
        with(
            message("Hi."),
            "content",
            json!({"type": "odd", "command": "EVIL"}),
        ),
        with(
            reasoning("gA=="),
            "summary",
            json!({"type": "odd", "command": "EVIL"}),
        ),
    ] {
        let body = response("completed", std::slice::from_ref(&item));
        let done = json!({"type": "response.output_item.done", "output_index": 0, "item": item});
        let completed = json!({"type": "response.completed", "response": body});
        let seen = guard(&(frames(&[])[..2].concat() + &frame(&done) + &frame(&completed)));
        assert!(!seen.text().contains("EVIL"), "{}", seen.text());
        let sent = whole(super::context(settings()), &body);
        assert!(!sent.is_ok_and(|sent| sent.to_string().contains("EVIL")));
    }
}

#[test]
fn an_id_that_comes_late_names_no_second_call() {
    let twice = stream(&[
        function_call("c", "{\"cmd\":\"ls\"}"),
        function_call("c", "{\"cmd\":\"echo EVIL\"}"),
    ]);
    // The events that announce the calls do not name them.
    let late = twice.replace(
        "\"arguments\":\"\",\"call_id\":\"c\",\"id\":\"fc_c\"",
        "\"arguments\":\"\"",
    );
    assert_ne!(late, twice);
    let seen = guard(&late);
    assert!(seen.cleared().len() <= 1, "{}", seen.text());
    assert!(!client::holds(&seen.bytes, "EVIL"), "{}", seen.text());
}

/// A client that has declared the provider's shell may have one of its own.
#[test]
fn what_the_item_says_the_client_runs_is_a_call() {
    let tools = json!([{"type": "shell", "environment": {"type": "container_auto"}},
        {"type": "tool_search"}]);
    let mut local = shell(&["rm -rf ~"]);
    local["environment"] = json!({"type": "local"});
    let mut hosted = shell(&["rm -rf ~"]);
    hosted["environment"] = json!({"type": "container_reference", "container_id": "x"});
    let search = |execution: &str| {
        json!({"type": "tool_search_call", "id": "t", "call_id": "t", "status": "completed",
            "execution": execution, "arguments": {"query": "x"}})
    };
    for (item, passes) in [
        (local, false),
        (hosted, true),
        (shell(&["rm -rf ~"]), true),
        (search("client"), false),
        (search("server"), true),
    ] {
        let seen = super::play(
            super::declaring(&tools, settings()),
            &[stream(std::slice::from_ref(&item)).as_bytes()],
        );
        assert_eq!(seen.decisions().is_empty(), passes, "{item}");
    }
}

#[test]
fn the_largest_number_of_an_event_is_no_trouble() {
    let first = frames(&[message("Hi."), function_call("c", "{\"cmd\":\"ls\"}")])
        .concat()
        .replacen(
            "\"sequence_number\":0",
            "\"sequence_number\":18446744073709551615",
            1,
        );
    let seen = guard(&first);
    assert_eq!(seen.decisions(), ["- Sent"]);
}

#[test]
fn an_event_of_the_response_carries_nothing_else() {
    for event in [
        "response.created",
        "response.in_progress",
        "response.completed",
    ] {
        for more in [
            json!({"type": "program", "code": "EVIL", "action": {}}),
            json!({"type": "odd", "command": ["EVIL"]}),
        ] {
            let events = frames(&[message("Hi.")]);
            let with = |frame: String| {
                let to = format!("\"item\":{more},\"type\":\"{event}\"");
                frame.replace(&format!("\"type\":\"{event}\""), &to)
            };
            let events: String = events.into_iter().map(with).collect();
            assert!(events.contains("EVIL"));
            let seen = guard(&events);
            assert!(!seen.text().contains("EVIL"), "{}", seen.text());
        }
    }
}
