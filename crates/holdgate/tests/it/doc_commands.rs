//! Every command of Holdgate's that a document shows can be typed as it stands there.

use crate::cli::{fed, holdgate};
use crate::terminal::{HOLDGATE, detached};
use clap::Parser as _;
use clap::error::ErrorKind;
use holdgate::args::Args;
use std::path::{Path, PathBuf};

/// Commands that are not run here, by their beginning, and why.
const NOT_RUN: &[(&str, &str)] = &[
    (
        "approve",
        "needs a proxy that asks; the tests of `approve.rs` run it",
    ),
    (
        "expert",
        "needs a person at a terminal; the tests of `expert.rs` run it",
    ),
    ("proxy", "does not end; the tests of `cli.rs` run it"),
    ("run -- claude", "tests/clients/first_day.py runs it"),
    (
        "run --upstream http://127.0.0.1:8000",
        "tests/clients/bridges.py runs it",
    ),
    (
        "hook",
        "reads a client's call; the tests of `hook.rs` run it",
    ),
    (
        "rules check",
        "takes long in a debug build; a step of the gate",
    ),
    (
        "eval cases.jsonl --blind",
        "goes on in the next line; a step of the gate",
    ),
    (
        "eval cases.jsonl --oracle",
        "needs the verdicts that were accepted; a step of the gate",
    ),
    ("train --held-out", "takes minutes"),
    ("train --base", "takes minutes"),
    (
        "doctor",
        "runs all agents; tests/clients/first_day.py runs it",
    ),
];

/// What stands for something in a document, and what it is here.
const PLACEHOLDERS: &[(&str, &str)] = &[
    ("COMMAND…", "true"),
    ("COMMAND", "ls"),
    ("7126f6-2-1", "INCIDENT"),
    ("CASES.jsonl", "cases.jsonl"),
    ("CASES…", "cases.jsonl"),
    ("corpus/*.jsonl", "cases.jsonl"),
    ("corpus/attacks.jsonl", "cases.jsonl"),
    ("cases.json", "cases.jsonl"),
    ("my.yaml", "mine.yaml"),
    ("RULE", "recursive-delete-outside-project"),
    ("AGENT", "claude-code"),
    ("FILE", "file.md"),
    ("TEXT", "tidy"),
    ("URL", "http://127.0.0.1:9"),
    ("ID", "INCIDENT"),
    ("A", "built-in"),
    ("B", "mine.yaml"),
];

/// A command of a document, and whether the document shows it on a line of its own.
struct Shown {
    document: String,
    line: String,
    whole: bool,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn documents() -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = [
        "README.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "corpus/README.md",
    ]
    .map(|name| root().join(name))
    .to_vec();
    let docs = std::fs::read_dir(root().join("docs")).unwrap();
    all.extend(docs.map(|entry| entry.unwrap().path()));
    // Its examples are those of the rules, which are tried with them.
    all.retain(|path| !path.ends_with("rules.md"));
    all.sort();
    all
}

fn shown() -> Vec<Shown> {
    let mut found = Vec::new();
    for path in documents() {
        let document = path.file_name().unwrap().to_str().unwrap().to_owned();
        let text = std::fs::read_to_string(&path).unwrap();
        for (number, part) in text.split("```").enumerate() {
            let mut add = |line: &str, whole| {
                let (document, line) = (document.clone(), line.to_owned());
                found.push(Shown {
                    document,
                    line,
                    whole,
                });
            };
            if number % 2 == 1 {
                let lines = part.lines().map(|line| line.trim_start_matches("$ "));
                lines
                    .filter(|line| line.starts_with("holdgate "))
                    .for_each(|line| add(line, true));
            } else {
                let spans = part.split('`').skip(1).step_by(2);
                let spans = spans.map(|span| span.split_whitespace().collect::<Vec<_>>().join(" "));
                spans
                    .filter(|span| span.starts_with("holdgate "))
                    .for_each(|span| add(&span, false));
            }
        }
    }
    found
}

/// The words of a line, without comment and redirection; what is optional is taken.
fn words(line: &str) -> Vec<String> {
    let line = line.split(" # ").next().unwrap_or_default();
    let line = line.split(" > ").next().unwrap_or_default();
    let line = line.split(" | ").next().unwrap_or_default();
    let line = line.trim().trim_end_matches(" &");
    let (mut words, mut quoted) = (vec![String::new()], false);
    for c in line.chars() {
        match c {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            '[' | ']' if !quoted => {}
            c => words.last_mut().unwrap().push(c),
        }
    }
    words.retain(|word| !word.is_empty());
    for word in &mut words {
        if let Some((_, meant)) = PLACEHOLDERS.iter().find(|(name, _)| name == word) {
            *word = (*meant).to_owned();
        }
    }
    words
}

#[test]
fn every_command_of_a_document_can_be_typed() {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path().to_str().unwrap();
    std::fs::create_dir(dir.path().join("version")).unwrap();
    let case = r#"{"id":"c-1","expect":"allow","category":"daily","call":{"tool":"Bash","input":{"command":"ls"}}}"#;
    std::fs::write(dir.path().join("cases.jsonl"), format!("{case}\n")).unwrap();
    let rule = "- id: my-rule\n  do: AUDIT\n  category: mine\n  when: {effect: delete}\n  \
                because: it deletes\n  examples: {audit: [rm x], allow: [ls]}\n";
    std::fs::write(dir.path().join("mine.yaml"), rule).unwrap();
    std::fs::write(dir.path().join("file.md"), "---\ngoal: tidy\n---\n").unwrap();
    // An incident to ask about.
    let call = format!(
        r#"{{"hook_event_name":"PreToolUse","session_id":"s","cwd":"{home}","tool_name":"Bash","tool_input":{{"command":"rm -rf /srv"}}}}"#
    );
    let set = format!("HOME={home}");
    let slow = "HOLDGATE_GUARD_JUDGE_TIMEOUT=20s";
    let mut hook = holdgate(&["hook", "claude-code", "--set", &set, "--set", slow]);
    let told = fed(hook.current_dir(dir.path()), call.as_bytes());
    let told = String::from_utf8([told.stdout, told.stderr].concat()).unwrap();
    let id = told
        .split_once("(incident ")
        .and_then(|(_, rest)| rest.split_once(')'));
    let id = id.unwrap_or_else(|| panic!("{told}")).0;

    let mut problems = Vec::new();
    let mut ran: Vec<String> = Vec::new();
    for Shown {
        document,
        line,
        whole,
    } in shown()
    {
        let mut words = words(&line);
        words
            .iter_mut()
            .filter(|word| *word == "INCIDENT")
            .for_each(|word| *word = id.to_owned());
        match Args::try_parse_from(&words).map_err(|error| error.kind()) {
            Ok(_) | Err(ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => {}
            // A text names a command, or an option of it.
            Err(
                ErrorKind::MissingRequiredArgument
                | ErrorKind::MissingSubcommand
                | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand,
            ) if !whole => continue,
            Err(ErrorKind::InvalidValue) if !whole && words.last().unwrap().starts_with("--") => {
                continue;
            }
            Err(kind) => {
                problems.push(format!("{document}: `{line}`: {kind:?}"));
                continue;
            }
        }
        let command = words[1..].join(" ");
        if NOT_RUN.iter().any(|(start, _)| command.starts_with(start)) || ran.contains(&command) {
            continue;
        }
        // A text that names `check` does not say what to check.
        if !whole && ["check", "check --json", "pin", "train"].contains(&command.as_str()) {
            continue;
        }
        let mut run = detached(HOLDGATE);
        run.args(&words[1..]).current_dir(dir.path()).env_clear();
        run.env("HOME", home)
            .env("PATH", "/usr/bin:/bin")
            .env("HOLDGATE_GUARD_JUDGE_TIMEOUT", "20s");
        let output = run.stdin(std::process::Stdio::null()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        if !matches!(output.status.code(), Some(0 | 1)) {
            problems.push(format!(
                "{document}: `{line}`: {:?}: {said}",
                output.status.code()
            ));
        }
        ran.push(command);
    }
    assert!(ran.len() > 20, "{ran:?}");
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn what_is_not_run_is_shown_somewhere() {
    let all: Vec<String> = shown()
        .iter()
        .map(|shown| words(&shown.line)[1..].join(" "))
        .collect();
    for (start, _) in NOT_RUN {
        assert!(
            all.iter().any(|command| command.starts_with(start)),
            "no document shows `{start}`"
        );
    }
}
