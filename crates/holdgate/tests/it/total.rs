//! Every command gets a verdict, and none costs more than its size allows.

use crate::corpus::commands;
use crate::families::families;
use crate::random::Random;
use crate::verdicts::judge_command;
use holdgate::judging;
use holdgate_core::rules::Profile;
use holdgate_core::{RateLimits, Stack};
use std::time::{Duration, Instant};

/// What shell scripts are made of, and what is made of them.
#[rustfmt::skip]
const PIECES: &[&str] = &[
    "a", "rm", "-rf", "~", "/", "/etc/passwd", "echo", "x=", "x=$x", "$x", "${x}", "${x:-", "${!x}",
    "${x//a/b}", "${x[@]}", "a[1]=", "a[$(", "]=", "}", "$(", ")", "`", "$((", "))", "((", "[[",
    "]]", "(", "{", "{a,b}", "{1..9}", "<<E\n", "\nE\n", "<<'E'\n", "<<<", "<(", ">", ">>", "2>&1",
    "&>", "<", "|", "|&", "||", "&&", "&", ";", ";;", "\n", "if", "then", "else", "fi", "for i in",
    "do", "done", "while", "case x in", "a)", "esac", "function f", "f()", "eval", "exec", "source",
    "sh -c", "bash -c", "python3 -c", "perl -e", "node -e", "awk", "sed s/a/b/e", "xargs",
    "find . -exec", "base64 -d", "tr a-z", "printf %s", "curl http://a.b", "git", "sudo", "env",
    "alias a=", "export", "declare -a x=(", "local", "read x", "trap", "set --", "\"", "'",
    "$'\\x41", "\\", "\\\n", "#", "!", "*", "?", "[a-z]", "@(a|b)", "é", "\u{200b}", "\u{fffc}",
    "\0", "\r\n", "\t", " ", " ", " ", " ", "=", "+=", "%", "-", "--", "@", ":",
    "import os; os.system('", "')", "`ls`", "system(\"", "\")", "$_", "@ARGV", "require('", "=>",
    "function(){", "EOF",
];

fn stack() -> Stack {
    judging::stack(Profile::default(), &[], RateLimits::default()).unwrap()
}

/// How many random and how many mutated commands are tried. `HOLDGATE_RANDOM_CASES=500000 cargo test
/// --release -p holdgate --test it total` tries a million.
fn cases() -> usize {
    let given = std::env::var("HOLDGATE_RANDOM_CASES").ok();
    given.map_or(6_000, |number| number.parse().unwrap())
}

/// A verdict came from rules or for want of fuel, not from a panic.
fn check(stack: &Stack, command: &str) {
    let judgement = judge_command(stack, command);
    for finding in judgement.findings() {
        let failed = ["reader-failure", "layer-failure"].contains(&&*finding.rule);
        assert!(!failed, "{} on {command:?}", finding.rule);
    }
}

#[test]
fn random_commands_get_a_verdict() {
    let stack = stack();
    let mut random = Random::new(1);
    for _ in 0..cases() {
        let length = 1 + random.below(24);
        let pieces: Vec<&str> = (0..length).map(|_| *random.pick(PIECES)).collect();
        let space = if random.below(3) == 0 { "" } else { " " };
        let command = pieces.join(space);
        check(&stack, &command);
    }
}

#[test]
fn mutated_commands_get_a_verdict() {
    let stack = stack();
    let mut random = Random::new(2);
    let commands = commands();
    for _ in 0..cases() {
        let mut chars: Vec<char> = random.pick(&commands).chars().take(2_000).collect();
        for _ in 0..=random.below(4) {
            let at = random.below(chars.len() + 1);
            match random.below(5) {
                0 => chars.truncate(at),
                1 => chars
                    .splice(at..at, random.pick(PIECES).chars())
                    .for_each(drop),
                2 => drop(chars.drain(at..(at + random.below(8)).min(chars.len()))),
                3 => {
                    let copy: Vec<char> =
                        chars[at..(at + random.below(40)).min(chars.len())].to_vec();
                    chars.splice(at..at, copy).for_each(drop);
                }
                _ => {
                    let other: Vec<char> = random.pick(&commands).chars().take(400).collect();
                    chars.splice(at.., other).for_each(drop);
                }
            }
        }
        check(&stack, &chars.into_iter().collect::<String>());
    }
}

/// Four times as much may take four times as long; more than that, and something is read twice.
#[test]
fn no_family_costs_more_than_its_size() {
    let stack = stack();
    let time = |command: &str| {
        let start = Instant::now();
        check(&stack, command);
        start.elapsed()
    };
    // What is read on first use is not part of it.
    check(&stack, "git status");
    for (name, member) in families() {
        let small = member(15 << 10);
        let large = member(60 << 10);
        // The machine may be busy with something else for a while.
        let fits = (0..3).any(|_| {
            let (small, large) = (time(&small), time(&large));
            large < small * 10 + Duration::from_millis(50)
        });
        assert!(fits, "{name} takes too long");
    }
}

#[test]
fn a_command_that_is_too_large_is_refused() {
    let command = format!("echo {}", "a".repeat(65 << 10));
    let judgement = judge_command(&stack(), &command);
    assert!(judgement.outcome.is_err());
    let judgement = judge_command(&stack(), "echo a");
    assert!(judgement.outcome.is_ok());
}

/// Honest work never runs out of fuel, and has room to spare.
#[test]
fn honest_commands_are_cheap() {
    let stack = stack();
    for command in commands() {
        let judgement = judge_command(&stack, &command);
        let Err(refusal) = &judgement.outcome else {
            continue;
        };
        let costly = refusal
            .findings()
            .iter()
            .any(|f| f.rule == "judging-too-costly");
        assert!(!costly, "{command}");
    }
}
