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

#[test]
fn cases() {
    crate::case_tests::check(include_str!("tests/calls.txt"), effects);
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
}

#[test]
fn long_commands_are_not_read() {
    let long = "a".repeat(70_000);
    let command = format!(r#"{{"command":"{long}"}}"#);
    assert!(effects("Bash", &command).contains(&"unreadable +too-long".to_owned()));
    let content = format!(r#"{{"file_path":"a.txt","content":"{long}"}}"#);
    assert_eq!(effects("Write", &content), ["write ~/app/a.txt"]);
}

#[test]
fn keys_become_lines() {
    let check = |keys: &str, edited: &str, plain: &str| {
        assert_eq!(
            typed::typed_lines(keys),
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
    assert!(
        ToolTable::read(crate::table::compiled(
            "does: {fly: [x]}\nlanguages: {}\nfields: {}"
        ))
        .is_err()
    );
    assert!(
        ToolTable::read(crate::table::compiled(
            "does: {read: [x], write: [X]}\nlanguages: {}\nfields: {}"
        ))
        .is_err()
    );
}
