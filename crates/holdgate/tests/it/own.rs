//! What an agent must not do to its guard, in many spellings.

use crate::cli::holdgate;
use crate::verdicts::{judge, judge_command, stack};
use holdgate_core::{RateLimits, Verdict};
use holdgate_effects::json::Json;
use std::collections::HashMap;
use std::process::Stdio;

/// All commands of this list in `own.yaml` get such a verdict.
#[track_caller]
fn check(list: &str, fits: fn(Verdict) -> bool) {
    let lists: HashMap<String, Vec<String>> =
        serde_saphyr::from_str(include_str!("own.yaml")).unwrap();
    let stack = stack(RateLimits::NONE);
    let verdict = |command: &String| {
        let command = command.replace("SOCKET", "/home/dev/.local/state/holdgate/approve.sock");
        (judge_command(&stack, &command).verdict(), command)
    };
    let verdicts = lists[list].iter().map(verdict);
    let wrong: Vec<_> = verdicts.filter(|(verdict, _)| !fits(*verdict)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn is_block(verdict: Verdict) -> bool {
    verdict == Verdict::Block
}

#[test]
fn expert_mode_is_out_of_reach() {
    check("expert", is_block);
}

#[test]
fn an_agent_cannot_answer_however_it_is_spelt() {
    check("answers", is_block);
}

#[test]
fn to_look_and_to_speak_of_it_is_free() {
    check("free", Verdict::lets_pass);
}

#[test]
fn rules_and_settings_are_out_of_reach() {
    check("rules", is_block);
    let stack = stack(RateLimits::NONE);
    for path in [
        ".holdgate.yaml",
        "/home/dev/project/src/../.holdgate.yaml",
        "~/.config/holdgate/rules/x.yaml",
        "/etc/holdgate/rules/x.yaml",
        "/home/dev/.config/holdgate/holdgate.toml",
    ] {
        let input = Json::object([
            ("file_path", path.into()),
            ("content", "[]".into()),
            ("old_string", "a".into()),
            ("new_string", "b".into()),
        ]);
        for tool in ["Write", "Edit"] {
            let verdict = judge(&stack, tool, &input).verdict();
            assert_eq!(verdict, Verdict::Block, "{tool} {path}");
        }
    }
}

#[test]
fn a_number_that_is_the_guards_is_known_for_it() {
    let mut guard = holdgate(&["script", "--listen", "127.0.0.1:0"]);
    let guard = guard.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let mut guard = guard.unwrap();
    let verdict = |number: u32| {
        let number = number.to_string();
        let checked = holdgate(&["check", "--", "kill", "-9", &number]).output();
        let said = String::from_utf8(checked.unwrap().stdout).unwrap();
        said.contains("verdict block")
    };
    let verdicts = [guard.id(), std::process::id()].map(verdict);
    guard.kill().unwrap();
    guard.wait().unwrap();
    assert_eq!(verdicts, [true, false]);
}
