//! Rules at work in a message: what the model reads when its call is refused.

use crate::guarding::{judge, settings, whole};
use serde_json::{Value, json};

/// The content of a message that calls `Bash`, as the client gets it.
fn answer(command: &str) -> Value {
    let message = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m",
        "content": [{"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": command}}],
        "stop_reason": "tool_use", "stop_sequence": null, "usage": {},
    });
    let message = whole(judge(settings()), &message).unwrap();
    message["content"][0].clone()
}

#[track_caller]
fn refused(command: &str, parts: &[&str]) {
    let block = answer(command);
    let text = block["text"].as_str().unwrap_or_default();
    for part in parts {
        assert!(text.contains(part), "{part} is not in {block}");
    }
}

#[test]
fn a_refusal_names_the_rule_and_the_way_out() {
    refused(
        "rm -rf /",
        &[
            "was blocked and did not run.\n",
            "Rule: ",
            " (gate)",
            "Why: ",
            "Matched: rm -rf /",
        ],
    );
    assert_eq!(answer("ls -la")["input"], json!({"command": "ls -la"}));
}

#[test]
fn what_a_person_must_decide_says_so() {
    refused(
        "git push --force origin main",
        &["did not run: a person must decide about it, and nobody can be asked here."],
    );
}
