//! The same as bash: what it can read we can read, and what a word means to it, it means to us.

use crate::corpus::commands;
use crate::grammar::Writer;
use crate::random::Random;
use holdgate_core::action::shell_syntax;
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
        Command::new("bash")
            .args(["-c", &each])
            .current_dir(folder.path())
            .output()
            .unwrap()
            .stdout
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
        || error.contains("nested too deep")
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
