//! Ollama's own API under guard: one JSON value a line.

use crate::chat::context;
use crate::guarding::{Play, Seen, settings};
use crate::loose;
use holdgate_core::{GuardSettings, OLLAMA, OnBlock, guard_message};
use serde_json::{Value, json};
use std::time::Duration;

fn line(message: Value, done: bool) -> Vec<u8> {
    let mut line = json!({"model": "m", "created_at": "t", "message": message, "done": done});
    if done {
        line["done_reason"] = "stop".into();
        line["eval_count"] = 7.into();
    }
    format!("{line}\n").into_bytes()
}

fn say(text: &str) -> Vec<u8> {
    line(json!({"role": "assistant", "content": text}), false)
}

fn calls(calls: Value) -> Vec<u8> {
    line(
        json!({"role": "assistant", "content": "", "tool_calls": calls}),
        false,
    )
}

fn call(command: &str) -> Value {
    json!({"function": {"name": "bash", "arguments": {"command": command}}})
}

fn end() -> Vec<u8> {
    line(json!({"role": "assistant", "content": ""}), true)
}

fn run(settings: GuardSettings, frames: &[Vec<u8>]) -> Seen {
    let mut play = Play::new(context(OLLAMA, settings));
    for byte in frames.concat() {
        play.feed(&[byte]);
    }
    play.finish();
    play.seen
}

fn values(seen: &Seen) -> Vec<Value> {
    let text = seen.text();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    lines.collect()
}

#[test]
fn text_keeps_its_bytes_and_calls_are_written_anew() {
    let mut play = Play::new(context(OLLAMA, settings()));
    play.feed(&say("Hi"));
    assert_eq!(play.seen.bytes, say("Hi"));
    let frames = [say("Hi"), calls(json!([call("ls"), call("pwd")])), end()];
    let seen = run(settings(), &frames);
    let sent = values(&seen);
    assert_eq!(sent.len(), 4, "{}", seen.text());
    assert_eq!(sent[1]["message"]["tool_calls"], json!([call("ls")]));
    assert_eq!(sent[2]["message"]["tool_calls"], json!([call("pwd")]));
    assert_eq!(sent[1]["model"], "m");
    assert_eq!(
        (&sent[3]["done"], &sent[3]["eval_count"]),
        (&json!(true), &json!(7))
    );
    assert!(loose::same(&seen.bytes, &frames.concat()));
}

#[test]
fn a_refused_call_becomes_a_text() {
    let last = line(
        json!({"role": "assistant", "content": "So.", "tool_calls": [call("rm -rf ~")]}),
        true,
    );
    let seen = run(settings(), &[last]);
    let sent = values(&seen);
    assert_eq!(sent.len(), 3, "{}", seen.text());
    assert_eq!(sent[0]["message"]["content"], "So.");
    assert_eq!(sent[0]["done"], false);
    let notice = sent[1]["message"]["content"].as_str().unwrap();
    assert!(
        notice.starts_with("\n\n[holdgate] The call to `bash`"),
        "{notice}"
    );
    assert_eq!(
        (&sent[2]["done"], &sent[2]["message"]["content"]),
        (&json!(true), &json!(""))
    );
    assert!(loose::calls(&seen.bytes).is_empty());
    let go_on = GuardSettings {
        on_block: OnBlock::Continue,
        ..settings()
    };
    let seen = run(go_on, &[calls(json!([call("rm -rf ~")])), end()]);
    let inert = &loose::calls(&seen.bytes)[..];
    assert_eq!(inert.len(), 1);
    assert_eq!(
        (&*inert[0].tool, &inert[0].input),
        ("bash", &Some(json!({})))
    );
}

#[test]
fn what_cannot_be_read_ends_the_stream_loudly() {
    let refused = |frame: &[u8]| {
        let seen = run(settings(), &[say("Hi"), frame.to_vec(), end()]);
        assert!(
            values(&seen).last().unwrap()["error"].is_string(),
            "{}",
            seen.text()
        );
        assert!(!loose::holds(&seen.bytes, "EVIL"), "{}", seen.text());
    };
    refused(b"{\"message\":{\"Tool_Calls\":[{\"function\":{\"arguments\":\"EVIL\"}}]}}\n");
    refused(b"{\"tool_calls\":[{\"function\":{\"name\":\"EVIL\"}}]}\n");
    refused(b"{\"message\":{\"content\":\"a\",\"content\":\"EVIL\"}}\n");
    refused(b"{\"message\":{\"act\":{\"command\":\"EVIL\"}}}\n");
    refused(b"{\"message\":\n");
    refused(b"data: {}\n");
    refused(b"{\"error\":\"model failed\"}\n");
    let cut = run(settings(), &[say("Hi"), calls(json!([call("ls")]))]);
    assert!(
        values(&cut).last().unwrap()["error"].is_string(),
        "{}",
        cut.text()
    );
}

#[test]
fn a_whole_message_is_guarded_too() {
    let whole = |message: Value| {
        let body = json!({"model": "m", "message": message, "done": true});
        let body = body.to_string();
        let got = guard_message(
            context(OLLAMA, settings()),
            body.as_bytes(),
            Duration::ZERO,
            &mut Vec::new(),
        );
        serde_json::from_slice::<Value>(&got.unwrap()).unwrap()
    };
    let both = whole(json!({"content": "Hi", "tool_calls": [call("rm -rf ~"), call("ls")]}));
    assert_eq!(both["message"]["tool_calls"], json!([call("ls")]));
    let text = both["message"]["content"].as_str().unwrap();
    assert!(text.starts_with("Hi\n\n[holdgate]"), "{text}");
    assert_eq!(whole(json!({"content": "Hi"}))["message"]["content"], "Hi");
}
