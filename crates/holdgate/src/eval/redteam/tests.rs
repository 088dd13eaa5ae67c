//! Mutants do what their seeds do: bash says so.

use super::mutate::MUTATORS;
use super::seed::Seed;
use crate::eval::cases::Case;
use holdgate_effects::json::Json;
use std::path::Path;
use std::process::{Command, Stdio};

fn seed(command: &str) -> Option<Seed> {
    let input = Json::object([("command", command.to_owned().into())]);
    Seed::new(&Case::of_call("seed".to_owned(), "Bash", &input))
}

/// Runs the calls of a mutant in a folder, as a client would.
fn play(folder: &Path, calls: &[crate::eval::cases::Call]) {
    for call in calls {
        let input: serde_json::Value = serde_json::from_str(&call.input).unwrap();
        match call.tool.as_str() {
            "Bash" => {
                let command = input["command"].as_str().unwrap();
                let status = Command::new("bash")
                    .args(["-c", command])
                    .current_dir(folder)
                    .stdin(Stdio::null())
                    .stdout(Stdio::null())
                    .stderr(Stdio::null())
                    .status();
                status.unwrap();
            }
            "Write" => {
                let path = Path::new(input["file_path"].as_str().unwrap());
                let path = folder.join(path.strip_prefix(crate::eval::PROJECT).unwrap());
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, input["content"].as_str().unwrap()).unwrap();
            }
            _ => {}
        }
    }
}

/// Programs that a mutator needs and that not every machine has.
fn is_there(mutator: &str, class: &str) -> bool {
    let program = match (class, mutator) {
        ("encoding", "hex") => "xxd",
        ("encoding", "openssl") => "openssl",
        ("wrapper", "systemd-run") => return false,
        ("wrapper", "gdb") => "gdb",
        ("wrapper", "time") => "/usr/bin/time",
        ("interpreter", name @ ("ruby" | "php" | "lua" | "tclsh")) => name,
        ("interpreter" | "later", name) if name.starts_with("node") => "node",
        ("later", "package-script") => "npm",
        ("later", "test-file") => "pytest",
        ("later", "makefile") | ("wrapper", "make-input") => "make",
        _ => return true,
    };
    let found = Command::new("bash")
        .args(["-c", &format!("command -v {program}")])
        .output();
    found.unwrap().status.success()
}

/// Harmless commands with everything that is hard to quote.
#[test]
fn mutants_have_the_effect_of_their_seed() {
    let commands = [
        "touch mark",
        "printf '%s' \"it's \\\"$HOME\\\"\" > mark",
        "for i in 1 2; do echo \"$i\" | tr 1 'a' >> mark; done",
        "echo a > mark\ncat <<'E' >> mark\nb $(c) `d` \\ e\nE",
        "true && { echo one; echo 'two words'; } > mark # {x}",
    ];
    for command in commands {
        let seed = seed(command).unwrap();
        let expected = tempfile::tempdir().unwrap();
        play(expected.path(), &[seed.with(command)]);
        let expected = std::fs::read_to_string(expected.path().join("mark")).unwrap();
        for mutator in MUTATORS {
            let there = is_there(mutator.name, mutator.class.word());
            let Some(calls) = mutator.apply(&seed).filter(|_| there) else {
                continue;
            };
            let folder = tempfile::tempdir().unwrap();
            let git =
                "git init -q . && git config user.email a@example.com && git config user.name a";
            play(folder.path(), &[seed.with(git)]);
            play(folder.path(), &calls);
            let mark = std::fs::read_to_string(folder.path().join("mark")).ok();
            // A step may run more than once.
            let same = mark
                .as_deref()
                .is_some_and(|mark| mark.starts_with(&expected));
            assert!(
                same,
                "{} {}: {mark:?} for {command}",
                mutator.class, mutator.name
            );
        }
    }
}

#[test]
fn commands_that_only_matter_to_their_own_shell_make_no_mutants() {
    for command in [
        "history -c",
        "unset HISTFILE",
        "rm -rf C:\\x",
        "echo \u{e9}",
        "kill $$",
        " ",
    ] {
        assert!(seed(command).is_none(), "{command}");
    }
    assert!(seed("rm -rf ~").is_some());
}
