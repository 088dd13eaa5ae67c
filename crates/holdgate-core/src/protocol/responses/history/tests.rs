use super::*;

/// What an item says, in short.
#[track_caller]
fn check(item: &str, expected: &[&str]) {
    let json = Json::read(item.as_bytes(), 64, LoneSurrogates::Replace).unwrap();
    let mentions: Vec<String> = mentions(&json)
        .into_iter()
        .map(|mention| match mention {
            Mention::Call {
                id,
                tool,
                runs,
                input,
            } => {
                format!("{} {tool} {id} {}", runs.word(), input.unwrap_or_default())
            }
            Mention::Result {
                call,
                failed,
                texts,
                ..
            } => {
                let how = if failed { "failed" } else { "done" };
                format!("{how} {call} {}", texts.join("|"))
            }
            Mention::Text(text) => format!("model {text}"),
            Mention::User(text) => format!("user {text}"),
        })
        .collect();
    assert_eq!(mentions, expected, "{item}");
}

#[test]
fn calls_of_every_kind_are_found() {
    check(
        r#"{"type":"function_call","id":"fc","call_id":"c","name":"exec_command","arguments":"{\"cmd\":\"ls\"}"}"#,
        &[r#"client exec_command c {"cmd":"ls"}"#],
    );
    check(
        r#"{"type":"custom_tool_call","call_id":"c","name":"apply_patch","input":"*** \"x\"\n"}"#,
        &[r#"client apply_patch c {"input":"*** \"x\"\n"}"#],
    );
    check(
        r#"{"type":"local_shell_call","call_id":"c","action":{"type":"exec","command":["ls"]}}"#,
        &[r#"client local_shell_call c {"action":{"type":"exec","command":["ls"]}}"#],
    );
    check(
        r#"{"type":"mcp_call","id":"m","name":"q","server_label":"s","arguments":"{}","output":"a","error":null}"#,
        &["provider mcp__s__q m {}", "done m a"],
    );
    check(
        r#"{"type":"web_search_call","id":"w","status":"completed","action":{"type":"search","query":"x"}}"#,
        &[
            r#"provider web_search_call w {"action":{"type":"search","query":"x"}}"#,
            "done w ",
        ],
    );
}

#[test]
fn tools_have_the_names_under_which_they_are_judged() {
    let call = |space: &str| {
        format!(
            r#"{{"type":"function_call","call_id":"c","namespace":"{space}","name":"Read","arguments":"{{}}"}}"#
        )
    };
    check(&call("mcp__web"), &["client mcp__web__Read c {}"]);
    check(&call("web"), &["client mcp__web__Read c {}"]);
    check(&call("functions"), &["client Read c {}"]);
    check(
        r#"{"type":"custom_tool_call","call_id":"c","namespace":"web","name":"ask","input":"x"}"#,
        &[r#"client mcp__web__ask c {"input":"x"}"#],
    );
}

#[test]
fn results_say_how_a_call_ended() {
    let result = |output: &str| {
        format!(r#"{{"type":"function_call_output","call_id":"c","output":{output}}}"#)
    };
    check(&result(r#""fine""#), &["done c fine"]);
    check(
        &result(r#""Chunk ID: a\nProcess exited with code 0\nOutput:\nExit code: 1\n""#),
        &["done c Chunk ID: a\nProcess exited with code 0\nOutput:\nExit code: 1\n"],
    );
    check(
        &result(r#""Chunk ID: a\nProcess exited with code 2\nOutput:\nx""#),
        &["failed c Chunk ID: a\nProcess exited with code 2\nOutput:\nx"],
    );
    check(
        &result(r#""{\"output\":\"x\",\"metadata\":{\"exit_code\":1}}""#),
        &["failed c {\"output\":\"x\",\"metadata\":{\"exit_code\":1}}"],
    );
    check(
        r#"{"type":"shell_call_output","call_id":"c","output":[{"stdout":"a","stderr":"","outcome":{"type":"exit","exit_code":3}}]}"#,
        &["failed c a|"],
    );
    check(
        r#"{"type":"apply_patch_call_output","call_id":"c","status":"failed","output":"no"}"#,
        &["failed c no"],
    );
}

#[test]
fn what_the_client_says_in_the_users_name_is_not_the_user() {
    check(
        r##"{"type":"message","role":"user","content":[{"type":"input_text","text":"# AGENTS.md instructions for /x"},
            {"type":"input_text","text":"<environment_context>"},{"type":"input_text","text":"do it"}]}"##,
        &["user do it"],
    );
    check(r#"{"role":"developer","content":"rules"}"#, &[]);
    check(
        r#"{"role":"assistant","content":[{"type":"output_text","text":"a"},{"type":"refusal","refusal":"b"}]}"#,
        &["model a", "model b"],
    );
    check(r#""only text""#, &["user only text"]);
}
