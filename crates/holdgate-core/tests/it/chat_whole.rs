//! Chat messages that are not streamed, and conversations in requests.

use crate::chat::{LS, RM, context};
use crate::guarding::settings;
use holdgate_core::{
    CHAT, CallLimits, CallReader, Conversations, Outcome, Unbounded, guard_message,
};
use holdgate_effects::Knowledge;
use holdgate_effects::path::World;
use serde_json::{Value, json};
use std::time::Duration;

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
