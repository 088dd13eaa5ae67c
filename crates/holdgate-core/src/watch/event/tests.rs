//! What events contain, and what it is worth.

use super::*;

fn check(line: &str, calls: &[&str], texts: &[&str]) {
    let event = read(line.as_bytes()).unwrap();
    let (mut found, mut said) = (Vec::new(), Vec::new());
    for part in parts(&event) {
        match part {
            Part::Text(text, _) => said.push(text.into_owned()),
            Part::Piece(text) => said.push(format!("+{text}")),
            Part::Input(text) => said.push(format!("({text}")),
            Part::Call(call, _) => found.push(format!("{}: {}", call.tool, call.text)),
        }
    }
    assert_eq!(
        (found, said),
        (
            calls.iter().map(ToString::to_string).collect(),
            texts.iter().map(ToString::to_string).collect()
        ),
        "{line}"
    );
}

#[test]
fn the_events_of_agents() {
    check(
        r#"{"type":"assistant","message":{"content":[{"type":"text","text":"a\u0062c"},{"type":"tool_use","id":"t","name":"Bash","input":{"command":"ls"}}]}}"#,
        &["Bash: ls"],
        &["assistant", "text", "abc", "tool_use", "t", "Bash"],
    );
    check(
        r#"{"type":"item.started","item":{"id":"i","type":"command_execution","command":"bash -lc 'ls'","status":"in_progress"}}"#,
        &["Bash: bash -lc 'ls'"],
        &["item.started", "i", "command_execution", "in_progress"],
    );
    check(
        r#"{"msg":{"type":"exec_command_begin","command":["bash","-lc","ls"]}}"#,
        &["shell: bash -lc ls"],
        &["exec_command_begin"],
    );
    check(
        r#"{"type":"function_call","name":"shell","arguments":"{\"command\":[\"ls\"]}"}"#,
        &["shell: ls"],
        &["function_call", "shell"],
    );
    check(
        r#"{"type":"tool_use","tool_name":"run_shell_command","parameters":{"command":"ls"}}"#,
        &["run_shell_command: ls"],
        &["tool_use", "run_shell_command"],
    );
    check(
        r#"{"part":{"tool":"bash","state":{"input":{"command":"ls"}}}}"#,
        &["bash: ls"],
        &["bash", "ls"],
    );
    check(r#"{"content":"{\"a\":\"x\\u0079\"}"}"#, &[], &["xy"]);
    check(
        r#"{"name":"Bash","description":"runs"}"#,
        &[],
        &["Bash", "runs"],
    );
}

#[test]
fn pieces_of_texts() {
    check(
        r#"{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"a b"}}}"#,
        &[],
        &["stream_event", "content_block_delta", "+a b"],
    );
    check(
        r#"{"type":"message","role":"assistant","content":"a","delta":true}"#,
        &[],
        &["message", "assistant", "+a"],
    );
    check(
        r#"{"type":"response.output_text.delta","delta":"a"}"#,
        &[],
        &["response.output_text.delta", "+a"],
    );
}

#[test]
fn pieces_of_inputs() {
    check(
        r#"{"type":"content_block_delta","delta":{"type":"input_json_delta","partial_json":"{\"c"}}"#,
        &[],
        &["content_block_delta", "({\"c"],
    );
    check(
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"c"}}]}}]}"#,
        &[],
        &["({\"c"],
    );
    check(
        r#"{"type":"response.function_call_arguments.delta","delta":"{\"c"}"#,
        &[],
        &["response.function_call_arguments.delta", "({\"c"],
    );
}

#[test]
fn what_a_call_in_an_event_is_worth() {
    let weight = |line: &str| {
        let event = read(line.as_bytes()).unwrap();
        let calls = parts(&event).into_iter().filter_map(|part| match part {
            Part::Call(_, weight) => Some(weight),
            Part::Text(..) | Part::Piece(_) | Part::Input(_) => None,
        });
        calls.collect::<Vec<_>>()
    };
    let call = r#"{"type":"tool_use","name":"Bash","input":{"command":"ls"}}"#;
    let own = format!(r#"{{"type":"assistant","message":{{"content":[{call}]}}}}"#);
    assert_eq!(weight(&own), [Weight::Done]);
    assert_eq!(weight(call), [Weight::Done]);
    let codex = r#"{"msg":{"type":"exec_command_begin","command":["ls"]}}"#;
    assert_eq!(weight(codex), [Weight::Done]);
    let data = r#"{"id":"1","call":{"tool":"Bash","input":{"command":"ls"}}}"#;
    assert_eq!(weight(data), [Weight::Shown]);
    let result = format!(
        r#"{{"type":"user","message":{{"content":[{{"type":"tool_result","content":[{call}]}}]}}}}"#
    );
    assert_eq!(weight(&result), [Weight::Shown]);
    let printed = Json::object([
        ("type", "assistant".to_owned().into()),
        ("text", own.into()),
    ]);
    assert_eq!(weight(&printed.text()), [Weight::Shown]);
}
