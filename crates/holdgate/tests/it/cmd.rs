//! What people read: the help of every command, and what is said about wrong uses (`tests/cmd`).

use clap::CommandFactory as _;
use holdgate::args::Args;

const HELP: &str = include_str!("../cmd/help.trycmd");
const WRONG: &str = include_str!("../cmd/wrong.trycmd");

#[test]
fn help_and_wrong_uses_read_as_written() {
    trycmd::TestCases::new()
        .case("tests/cmd/*.trycmd")
        .env("HOME", "/nonexistent")
        .env("TZ", "UTC")
        .run();
}

#[test]
fn the_help_of_every_command_is_there() {
    fn check(command: &clap::Command, path: &str) {
        let line = format!("$ {path} --help\n");
        assert!(HELP.contains(&line), "add `{line}` to help.trycmd");
        for sub in command.get_subcommands() {
            let name = sub.get_name();
            if !sub.is_hide_set() && name != "help" {
                check(sub, &format!("{path} {name}"));
            }
        }
    }
    check(&Args::command(), "holdgate");
}

#[test]
fn wrong_uses_name_no_types_of_the_code() {
    let uses = WRONG.lines().filter(|line| line.starts_with("$ "));
    assert!(uses.count() >= 60);
    for word in [
        "usize",
        "u64",
        "i64",
        "invalid digit",
        "socket address syntax",
        "os error 22",
    ] {
        assert!(!WRONG.contains(word), "{word}");
    }
}
