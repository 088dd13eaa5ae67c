use super::*;
use crate::effect::Effect;
use crate::fuel::Fuel;
use crate::json::{Json, LoneSurrogates};
use crate::path::World;
use crate::{Invocation, Knowledge, understand};

fn understood(name: &str, input: &str) -> Vec<Effect> {
    let input = Json::read(input.as_bytes(), 64, LoneSurrogates::Refuse)
        .unwrap()
        .into_owned();
    let text = input.text();
    let call = Invocation {
        tool: name,
        input: &input,
        text: &text,
    };
    let know = Knowledge::built_in().unwrap();
    let world = World::lexical("/home/dev/app");
    understand(call, &world, &know, &Fuel::new(10_000_000)).unwrap()
}

/// The effects of a call as lines: kind, path, host, tags.
fn effects(name: &str, input: &str) -> Vec<String> {
    understood(name, input)
        .iter()
        .map(|effect| {
            let mut line = effect.kind.word().to_owned();
            if let Some(path) = &effect.path {
                line += &format!(" {}", path.short);
            }
            if let Some(host) = &effect.host {
                line += &format!(" {}", host.name);
            }
            for tag in &effect.tags {
                line += &format!(" +{tag}");
            }
            line
        })
        .collect()
}

#[track_caller]
fn check(name: &str, input: &str, expected: &[&str]) {
    assert_eq!(effects(name, input), expected, "{name} {input}");
}

/// Some effects may be there besides: what the content itself does.
#[track_caller]
fn check_has(name: &str, input: &str, expected: &str) {
    let effects = effects(name, input);
    assert!(
        effects.iter().any(|e| e == expected),
        "{name} {input}: {effects:?}"
    );
}

#[test]
fn files_are_read_by_any_name_of_the_tool() {
    for (name, input) in [
        ("Read", r#"{"file_path":"/home/dev/.ssh/id_rsa"}"#),
        ("read", r#"{"filePath":"~/.ssh/id_rsa"}"#),
        ("read_file", r#"{"absolute_path":"/home/dev/.ssh/id_rsa"}"#),
        ("read_file", r#"{"target_file":"../.ssh/id_rsa"}"#),
        (
            "mcp__filesystem__read_text_file",
            r#"{"path":"~/.ssh/id_rsa"}"#,
        ),
        ("view_image", r#"{"path":"~/.ssh/id_rsa"}"#),
        (
            "str_replace_based_edit_tool",
            r#"{"command":"view","path":"~/.ssh/id_rsa"}"#,
        ),
        ("read_many_files", r#"{"paths":["~/.ssh/id_rsa"]}"#),
        (
            "fs_read",
            r#"{"operations":[{"mode":"Line","path":"~/.ssh/id_rsa"}]}"#,
        ),
    ] {
        check(name, input, &["read ~/.ssh/id_rsa"]);
    }
    check(
        "Glob",
        r#"{"pattern":"**/*.rs"}"#,
        &["read ~/app +list", "read ~/app/**/*.rs +list"],
    );
    check(
        "Grep",
        r#"{"pattern":"x","path":"/etc"}"#,
        &["read /etc +search"],
    );
    check(
        "list_directory",
        r#"{"dir_path":"src"}"#,
        &["read ~/app/src +list"],
    );
}

#[test]
fn files_are_written_by_any_name_of_the_tool() {
    for (name, input) in [
        ("Write", r#"{"file_path":"notes.txt","content":"x"}"#),
        (
            "Edit",
            r#"{"file_path":"notes.txt","old_string":"a","new_string":"x"}"#,
        ),
        (
            "edit",
            r#"{"filePath":"notes.txt","oldString":"a","newString":"x"}"#,
        ),
        (
            "MultiEdit",
            r#"{"file_path":"notes.txt","edits":[{"old_string":"a","new_string":"x"}]}"#,
        ),
        (
            "edit_file",
            r#"{"path":"notes.txt","edits":[{"oldText":"a","newText":"x"}]}"#,
        ),
        (
            "edit_file",
            r#"{"target_file":"notes.txt","instructions":"i","code_edit":"x"}"#,
        ),
        (
            "write_to_file",
            r#"{"TargetFile":"notes.txt","CodeContent":"x"}"#,
        ),
        ("create_file", r#"{"filePath":"notes.txt","content":"x"}"#),
        (
            "multi_replace_string_in_file",
            r#"{"replacements":[{"filePath":"notes.txt","newString":"x"}]}"#,
        ),
        (
            "str_replace_editor",
            r#"{"command":"create","path":"notes.txt","file_text":"x"}"#,
        ),
        (
            "replace_in_file",
            r#"{"path":"notes.txt","diff":"------- SEARCH\na\n=======\nx\n+++++++ REPLACE"}"#,
        ),
        (
            "apply_patch_call",
            r#"{"operation":{"type":"update_file","path":"notes.txt","diff":"@@\n-a\n+x\n"}}"#,
        ),
        (
            "apply_patch",
            r#"{"input":"*** Begin Patch\n*** Update File: notes.txt\n@@\n-a\n+x\n*** End Patch"}"#,
        ),
    ] {
        let whole = "write ~/app/notes.txt".to_owned();
        let part = format!("{whole} +edit");
        let done = effects(name, input);
        assert!(
            done == [whole] || done == [part],
            "{name} {input}: {done:?}"
        );
    }
    check(
        "Write",
        r#"{"file_path":"a","content":"x"}"#,
        &["write ~/app/a"],
    );
    check(
        "Edit",
        r#"{"file_path":"a","old_string":"x","new_string":"y"}"#,
        &["write ~/app/a +edit"],
    );
    check("delete_file", r#"{"target_file":"x"}"#, &["delete ~/app/x"]);
    check(
        "move_file",
        r#"{"source":"a","destination":"/tmp/b"}"#,
        &["move ~/app/a", "write /tmp/b"],
    );
    check_has(
        "copy_path",
        r#"{"source_path":"a","destination_path":"b"}"#,
        "read ~/app/a",
    );
    check(
        "create_directory",
        r#"{"path":"d"}"#,
        &["write ~/app/d +folder"],
    );
    check(
        "apply_patch",
        r#"{"input":"*** Begin Patch\n*** Delete File: /etc/hosts\n*** End Patch"}"#,
        &["delete /etc/hosts"],
    );
    check(
        "apply_patch",
        r#"{"input":"gibberish"}"#,
        &["unreadable +patch"],
    );
}

#[test]
fn commands_are_run_by_any_name_of_the_tool() {
    for (name, input) in [
        ("Bash", r#"{"command":"frob x"}"#),
        (
            "shell",
            r#"{"command":["bash","-lc","frob x"],"workdir":"/tmp"}"#,
        ),
        ("shell", r#"{"command":["frob","x"]}"#),
        ("exec_command", r#"{"cmd":"frob x","workdir":"/etc"}"#),
        (
            "local_shell_call",
            r#"{"action":{"type":"exec","command":["frob","x"]}}"#,
        ),
        ("shell_call", r#"{"action":{"commands":["ls","frob x"]}}"#),
        ("run_command", r#"{"CommandLine":"frob x","Cwd":"/"}"#),
        (
            "write_stdin",
            r#"{"session_id":1,"chars":"froz\u007fb x\r"}"#,
        ),
        (
            "create_and_run_task",
            r#"{"task":{"command":"frob","args":["x"]}}"#,
        ),
        ("mcp__x__launch", r#"{"command":"frob","args":["x"]}"#),
        ("mcp__x__launch", r#"{"script":"frob x"}"#),
        ("shell_execute", r#"{"command":["bash"],"stdin":"frob x"}"#),
        ("run_command", r#"{"command":"bash -s","stdin":"frob x\n"}"#),
        ("terminal", r#"{"command":"$TOOL x","env":{"TOOL":"frob"}}"#),
        ("run_command", r#"{"command":"[\"frob\",\"x\"]"}"#),
        ("Bash", r#"{"command":"\\u0066rob x"}"#),
        ("Bash", r#"{"command":"fcd /home/dev/app && rob x"}"#),
        ("Bash", r#"{"command":"frоb x"}"#),
    ] {
        let effects = understood(name, input);
        let runs = effects
            .iter()
            .any(|e| e.kind.word() == "run" && &*e.program == "frob");
        assert!(runs, "{name} {input}: {effects:?}");
    }
    // What is typed need not be for a shell.
    let typed = effects(
        "write_stdin",
        r#"{"session_id":1,"chars":"print('it\\'s (1'"}"#,
    );
    assert!(
        !typed.iter().any(|e| e.starts_with("unreadable")),
        "{typed:?}"
    );
    check_has(
        "run_shell_command",
        r#"{"command":"echo x > hosts","dir_path":"/etc"}"#,
        "write /etc/hosts",
    );
    check(
        "write_stdin",
        r#"{"session_id":1,"chars":""}"#,
        &["run +tool +typed"],
    );
}

#[test]
fn hosts_are_asked_and_sent_to() {
    check(
        "WebFetch",
        r#"{"url":"https://a.example/x","prompt":"p"}"#,
        &["fetch a.example"],
    );
    check(
        "web_fetch",
        r#"{"prompt":"read https://a.example/x."}"#,
        &["fetch a.example"],
    );
    check(
        "fetch_webpage",
        r#"{"urls":["https://a.example"],"query":"q"}"#,
        &["fetch a.example"],
    );
    check(
        "http_request",
        r#"{"url":"https://a.example","method":"POST","body":"x"}"#,
        &["send a.example"],
    );
    check(
        "WebFetch",
        r#"{"url":"file:///etc/shadow"}"#,
        &["read /etc/shadow"],
    );
    check(
        "WebSearch",
        r#"{"query":"rust"}"#,
        &["run +tool +web-search"],
    );
}

#[test]
fn agents_timetables_and_notes() {
    check(
        "Task",
        r#"{"description":"d","prompt":"p"}"#,
        &["agent +guarded"],
    );
    check(
        "CronCreate",
        r#"{"cron":"* * * * *","prompt":"p"}"#,
        &["persist +agent"],
    );
    check(
        "ScheduleWakeup",
        r#"{"delaySeconds":60,"prompt":"p"}"#,
        &["persist +agent"],
    );
    check(
        "TodoWrite",
        r#"{"todos":[{"content":"rm -rf /"}]}"#,
        &["run +tool +inert"],
    );
    check("KillShell", r#"{"shell_id":"1"}"#, &["kill +own"]);
    // A server of somebody else does not get to be harmless by name.
    check(
        "mcp__x__plan",
        r#"{"url":"https://a.example"}"#,
        &["run +tool", "fetch a.example"],
    );
}

#[test]
fn ways_out_of_the_sandbox_are_seen() {
    for flag in [
        r#""dangerouslyDisableSandbox":true"#,
        r#""with_escalated_permissions":true"#,
        r#""sandbox_permissions":"require_escalated""#,
        r#""additional_permissions":{"network":{}}"#,
    ] {
        let input = format!(r#"{{"command":"ls",{flag}}}"#);
        check_has("Bash", &input, "elevate +sandbox");
    }
    let has_not = effects(
        "exec_command",
        r#"{"cmd":"ls","sandbox_permissions":"use_default"}"#,
    );
    assert!(
        !has_not.iter().any(|e| e.starts_with("elevate")),
        "{has_not:?}"
    );
    check_has(
        "Bash",
        r#"{"command":"ls","run_in_background":true}"#,
        "run +tool +background",
    );
}

#[test]
fn unknown_tools_are_read_by_their_shape() {
    check("frobnicate", r#"{"x":1}"#, &["run +tool"]);
    check(
        "mcp__a__put",
        r#"{"path":"/etc/hosts","content":"x"}"#,
        &["run +tool", "write /etc/hosts"],
    );
    check(
        "mcp__a__get",
        r#"{"file":"~/.netrc"}"#,
        &["run +tool", "read ~/.netrc"],
    );
    check(
        "mcp__a__remove_item",
        r#"{"path":"k"}"#,
        &["run +tool", "delete ~/app/k"],
    );
    check(
        "mcp__a__post",
        r#"{"url":"https://a.example","json":{"k":1}}"#,
        &["run +tool", "send a.example"],
    );
    check(
        "mcp__db__query",
        r#"{"sql":"/* x */ DROP TABLE t; SELECT 1"}"#,
        &["run +tool", "database +drop"],
    );
    check(
        "mcp__docs__search",
        r#"{"query":"drop table"}"#,
        &["run +tool"],
    );
}

#[test]
fn calls_within_calls_are_opened() {
    check(
        "use_mcp_tool",
        r#"{"server_name":"fs","tool_name":"write_file","arguments":"{\"path\":\"/etc/hosts\",\"content\":\"x\"}"}"#,
        &["run +tool", "write /etc/hosts +client-view"],
    );
    check(
        "multi_tool_use.parallel",
        r#"{"tool_uses":[{"recipient_name":"functions.read_file","parameters":{"path":"/etc/shadow"}}]}"#,
        &["read /etc/shadow"],
    );
    let nest = r#"{"tool":"batch","tool_calls":[]}"#;
    check_has("batch", nest, "unreadable +too-deep");
}

#[test]
fn long_commands_are_not_read() {
    let long = "a".repeat(70_000);
    check_has(
        "Bash",
        &format!(r#"{{"command":"{long}"}}"#),
        "unreadable +too-long",
    );
    let content = format!(r#"{{"file_path":"a.txt","content":"{long}"}}"#);
    check("Write", &content, &["write ~/app/a.txt"]);
}

#[test]
fn hidden_characters_and_other_readings_are_told() {
    check_has(
        "Bash",
        "{\"command\":\"r\u{200b}m x\"}",
        "unreadable +hidden-characters",
    );
    check(
        "Read",
        r#"{"file_path":"/etc/\\u0073hadow"}"#,
        &["read /etc/\\u0073hadow", "read /etc/shadow +client-view"],
    );
    check(
        "Read",
        r#"{"file_path":"/еtс/shadow"}"#,
        &["read /еtс/shadow", "read /etc/shadow +unicode-view"],
    );
}

#[test]
fn keys_become_lines() {
    let check = |keys: &str, edited: &str, plain: &str| {
        assert_eq!(
            run::typed_lines(keys),
            (edited.to_owned(), plain.to_owned()),
            "{keys:?}"
        );
    };
    check("ls\r", "ls\n", "ls\n");
    check("\u{3}", "", "");
    check("rx\u{7f}m x\n", "rm x\n", "rxm x\n");
    check("junk\u{15}ls\n", "ls\n", "junkls\n");
    check("\u{1b}[A\n", "\n", "\n");
    check(
        "cat ~/.ss\t\n",
        "cat ~/.ss\u{fffc}\n",
        "cat ~/.ss\u{fffc}\n",
    );
}

#[test]
fn the_table_refuses_what_it_does_not_know() {
    assert!(ToolTable::read("does: {fly: [x]}\nlanguages: {}\nfields: {}").is_err());
    assert!(ToolTable::read("does: {read: [x], write: [X]}\nlanguages: {}\nfields: {}").is_err());
}
