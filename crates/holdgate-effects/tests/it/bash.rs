//! The same as bash: what it can read we can read, and what a word means to it, it means to us.

use crate::corpus::commands;
use crate::grammar::Writer;
use crate::random::Random;
use holdgate_effects::effect::Kind;
use holdgate_effects::fuel::Fuel;
use holdgate_effects::json::Json;
use holdgate_effects::path::World;
use holdgate_effects::value::HOLE;
use holdgate_effects::{Invocation, Knowledge, shell_syntax, understand};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

/// Tokens that make sense in some orders.
#[rustfmt::skip]
const TOKENS: &[&str] = &[
    "a", "echo", "x=1", "x=(a b)", "a[1]=2", "\"q $x\"", "'s'", "$x", "${x:-d}", "${x[@]}", "$(a)",
    "`a`", "$((1+2))", "((x++))", "[[ a ]]", "[[", "]]", "[[ $x =~ ^(a|b)+$ ]]", "[ -f x ]", ";",
    "&", "&&", "||", "|", "|&", "\n", "(", ")", "{", "}", "if", "then", "else", "elif", "fi", "for",
    "in", "do", "done", "while", "until", "case", "esac", ";;", ";&", "a)", "*)", "select",
    "function", "f()", "f() { a; }", "!", "time", "coproc", ">f", "2>&1", "<f", "&>f", "<<<w",
    "<<E\nbody\nE\n", "<<'E'\n$(\nE\n", "<(a)", "{fd}>f", ">|f", "{a,b}", "~", "*.c", "@(a|b)",
    "#c", "# c\n", "\\\n", "a\\ b", "export", "declare -A m", "m[k]=v", "a=b", "a#b", "$", "$\"t\"",
    "for i in 1 2;", "while read l;", "case $x in", "if a;", "for ((;;))", "function g {",
    "$(case a in a) b;; esac)", "$(cat <<E\nt\nE\n)",
];

/// What bash prints.
fn output(bash: &mut Command) -> Vec<u8> {
    let output = bash.output();
    output.expect("these tests need a bash in PATH").stdout
}

/// Whether bash reads each of `scripts` without complaint.
fn accepted(scripts: &[String]) -> Vec<bool> {
    let folder = tempfile::tempdir().unwrap();
    for (number, script) in scripts.iter().enumerate() {
        std::fs::write(folder.path().join(number.to_string()), script).unwrap();
    }
    let half = scripts.len() / 2;
    let run = |from: usize, to: usize| {
        let each = format!(
            "for ((i={from}; i<{to}; i++)); do bash -O extglob -n $i 2>$i.err </dev/null; echo $?; done"
        );
        output(
            Command::new("bash")
                .args(["-c", &each])
                .current_dir(folder.path()),
        )
    };
    let (first, second) = std::thread::scope(|scope| {
        let first = scope.spawn(|| run(0, half));
        let second = run(half, scripts.len());
        (first.join().unwrap(), second)
    });
    let codes = String::from_utf8([first, second].concat()).unwrap();
    let codes: Vec<&str> = codes.lines().collect();
    assert_eq!(codes.len(), scripts.len(), "bash stopped early");
    let quiet = |number: usize| is_quiet(&folder.path().join(format!("{number}.err")));
    codes
        .iter()
        .enumerate()
        .map(|(number, code)| *code == "0" && quiet(number))
        .collect()
}

/// Only here-documents that end with the text are worth a warning.
fn is_quiet(complaints: &Path) -> bool {
    let text = std::fs::read_to_string(complaints).unwrap_or_default();
    text.lines()
        .all(|line| line.contains("here-document at line"))
}

/// Where we are stricter on purpose.
fn is_known(script: &str, error: &str) -> bool {
    // Bash reads the inside of backticks when it runs them.
    script.contains('`')
        // `!(…)` is a subshell that is negated, unless extended globs are on.
        || script.contains("!(")
        || error.contains("nested too deeply")
}

fn check(scripts: &[String], least: usize) {
    let accepted = accepted(scripts);
    let read = accepted.iter().filter(|a| **a).count();
    assert!(read >= least, "bash reads only {read} of {}", scripts.len());
    let mut wrong = Vec::new();
    for (script, _) in scripts
        .iter()
        .zip(accepted)
        .filter(|(_, accepted)| *accepted)
    {
        if let Err(error) = shell_syntax(script)
            && !is_known(script, &error)
        {
            wrong.push(format!("{error}\n{script}"));
        }
    }
    wrong.sort_by_key(String::len);
    wrong.truncate(5);
    assert!(wrong.is_empty(), "{}", wrong.join("\n---\n"));
}

#[test]
fn what_bash_reads_we_read() {
    let mut random = Random::new(3);
    let mut scripts: Vec<String> = (0..1200).map(|_| Writer::script(&mut random)).collect();
    for _ in 0..1200 {
        let count = 1 + random.below(6);
        let tokens: Vec<&str> = (0..count).map(|_| *random.pick(TOKENS)).collect();
        scripts.push(tokens.join(" "));
    }
    check(&scripts, 900);
}

#[test]
fn what_our_cases_run_we_read() {
    check(&commands(), 500);
}

/// What `show` is given when bash runs `script`.
fn shown_by_bash(folder: &Path, script: &str) -> Vec<String> {
    let script = format!("PATH=$PWD:$PATH; cd /; exec 3>&1 >&2\n{script}\n");
    let shown = output(
        Command::new("bash")
            .args(["-c", &script])
            .current_dir(folder)
            .env("HOME", "/home/dev")
            .env("LC_ALL", "C.UTF-8"),
    );
    let text = String::from_utf8_lossy(&shown).into_owned();
    text.split_terminator('\0').map(str::to_owned).collect()
}

/// What `show` is given in our reading of `script`.
fn shown_by_us(script: &str) -> Vec<String> {
    let input = Json::object([("command", format!("cd /\n{script}").into())]);
    let call = Invocation {
        tool: "Bash",
        input: &input,
        text: &input.text(),
    };
    let world = World::lexical("/home/dev/project");
    let know = Knowledge::built_in().unwrap();
    let effects = understand(call, &world, &know, &Fuel::new(1_000_000)).unwrap();
    let runs = effects
        .iter()
        .filter(|e| e.kind == Kind::Run && &*e.program == "show");
    runs.map(|e| e.text.as_deref().unwrap_or("").to_owned())
        .collect()
}

/// Whether `text` may be what is known of it: a hole stands for anything.
fn fits(text: &str, known: &str) -> bool {
    let mut pieces = known.split(HOLE);
    let Some(mut rest) = pieces.next().and_then(|first| text.strip_prefix(first)) else {
        return false;
    };
    let Some(last) = pieces.next_back() else {
        return rest.is_empty();
    };
    for piece in pieces {
        let Some((_, after)) = rest.split_once(piece) else {
            return false;
        };
        rest = after;
    }
    rest.ends_with(last)
}

/// The scripts of a list: one in each line, indented lines go on with it.
fn scripts(list: &str) -> Vec<String> {
    let mut scripts: Vec<String> = Vec::new();
    for line in list.lines().filter(|l| !l.starts_with("# ")) {
        match (line.strip_prefix("    "), scripts.last_mut()) {
            (Some(more), Some(script)) => *script += &format!("\n{more}"),
            _ => scripts.push(line.to_owned()),
        }
    }
    scripts
}

/// Compares what `show` is given by bash and by us.
fn compare(list: &str, same: impl Fn(&str, &str) -> bool) {
    // A program, so that `env` and `xargs` find it too.
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("show");
    std::fs::write(&program, "#!/bin/sh\nprintf '%s\\0' \"$*\" >&3\n").unwrap();
    std::fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
    let mut wrong = Vec::new();
    for script in scripts(list) {
        let theirs = shown_by_bash(folder.path(), &script);
        let ours = shown_by_us(&script);
        let all_same = !theirs.is_empty()
            && theirs.len() == ours.len()
            && theirs
                .iter()
                .zip(&ours)
                .all(|(theirs, ours)| same(theirs, ours));
        if !all_same {
            wrong.push(format!("{script}\n  bash {theirs:?}\n  we   {ours:?}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn what_a_word_means_to_bash_it_means_to_us() {
    compare(include_str!("words.txt"), |theirs, ours| theirs == ours);
}

/// What is seldom written may stay unknown, but is never taken for something else.
#[test]
fn what_is_not_known_is_not_made_up() {
    compare(include_str!("rare-words.txt"), fits);
}
