mod trees;

use super::act::HEARD;
use super::*;
use crate::fuel::Fuel;
use crate::interpreter::Readers;
use crate::path::World;
use crate::{Knowledge, case_tests};
use std::fmt::Write as _;

/// Every effect as one line: kind, tags, path or host, origins.
fn effects(language: Language, code: &str) -> Vec<String> {
    let world = World::default();
    let know = Knowledge::built_in().unwrap();
    let fuel = Fuel::new(2_000_000);
    let mut scene = Scene::new(&world, &know, &fuel, &Readers, &world.cwd);
    HEARD.with_borrow_mut(Vec::clear);
    run(&mut scene, language, &Value::known(code)).unwrap();
    let mut lines: Vec<String> = scene
        .effects
        .iter()
        .map(|e| {
            let mut line = e.kind.word().to_owned();
            for tag in &e.tags {
                let _ = write!(line, " {tag}");
            }
            if let Some(path) = &e.path {
                let _ = write!(line, " {}", path.short);
            }
            if let Some(host) = &e.host {
                let _ = write!(line, " {}", host.name);
            }
            for name in e.origins.names() {
                let _ = write!(line, " <{name}>");
            }
            line
        })
        .collect();
    lines.extend(HEARD.with_borrow_mut(std::mem::take));
    lines
}

/// Checks that all of `expected` happens, in any order.
#[track_caller]
fn check(language: Language, code: &str, expected: &[&str]) {
    let found = effects(language, code);
    for line in expected {
        assert!(
            found.iter().any(|f| f.starts_with(line)),
            "missing `{line}` in {found:#?}\nof {code}"
        );
    }
}

/// Checks that exactly `expected` is handed to shells and interpreters.
#[track_caller]
fn check_runs(language: Language, code: &str, expected: &[&str]) {
    let mut found = effects(language, code);
    found.retain(|line| line.starts_with("shell: ") || line.starts_with("argv: "));
    assert_eq!(found, expected, "of {code}");
}

#[test]
fn cases() {
    let cases = [
        include_str!("tests/handed_over.txt"),
        include_str!("tests/languages.txt"),
        include_str!("tests/other.txt"),
        include_str!("tests/network.txt"),
        include_str!("tests/readers.txt"),
        include_str!("tests/spellings.txt"),
        include_str!("tests/structure.txt"),
        include_str!("tests/texts.txt"),
        include_str!("tests/trees.txt"),
        include_str!("tests/unlisted.txt"),
    ];
    for cases in cases {
        case_tests::check(cases, |language, code| {
            effects(Language::from_word(language).unwrap(), code)
        });
    }
}

#[test]
fn hostile_shapes_end() {
    for language in [
        Language::Python,
        Language::JavaScript,
        Language::Perl,
        Language::Ruby,
        Language::Php,
        Language::Lua,
        Language::Compiled,
        Language::Other,
        Language::Awk,
    ] {
        for piece in [
            "(",
            "[",
            "{",
            "f(",
            "f'{",
            "\"#{",
            "`${",
            "x=[",
            "a.b(",
            "lambda x:",
            "def f(x):\n ",
            "x=>",
            "-",
            "f(lambda:",
            "<<A ",
            "%w[",
            "q{",
            "'",
            "\"",
            "a,",
            "?:",
            "{a:",
            "x=x+x;",
            "for x in ",
            "not ",
            "$",
            "/",
            "function f(a){f(a);f(a)};f(1);",
        ] {
            let code = piece.repeat(8_000 / piece.len());
            let world = World::default();
            let know = Knowledge::built_in().unwrap();
            let fuel = Fuel::new(2_000_000);
            let mut scene = Scene::new(&world, &know, &fuel, &Readers, &world.cwd);
            let _ = run(&mut scene, language, &Value::known(code));
        }
    }
}

#[test]
fn languages_of_files() {
    let know = Knowledge::built_in().unwrap();
    for (path, content, expected) in [
        ("~/project/run.sh", "", Some(Language::Shell)),
        (
            "~/project/tool",
            "#!/usr/bin/env python3\n",
            Some(Language::Python),
        ),
        (
            "~/project/tool",
            "#!/usr/bin/env -S deno run\n",
            Some(Language::JavaScript),
        ),
        (
            "~/project/tool",
            "#!/usr/bin/env tclsh\n",
            Some(Language::Other),
        ),
        (
            "~/project/tool",
            "#!/usr/bin/env swipl\n",
            Some(Language::Lines),
        ),
        ("~/project/notes", "remember this", Some(Language::Lines)),
        ("~/project/README.md", "#!/bin/sh\n", None),
        (
            "~/project/.git/hooks/pre-commit",
            "echo x",
            Some(Language::Shell),
        ),
        (
            "~/project/.git/hooks/pre-commit",
            "#!/usr/bin/python3\n",
            Some(Language::Python),
        ),
        ("~/project/.git/hooks/pre-commit.sample", "echo x", None),
        (
            "~/project/.github/workflows/ci.yml",
            "",
            Some(Language::Embedded),
        ),
        ("~/project/config.yml", "run: x", Some(Language::Data)),
        ("~/project/.claude/commands/x.md", "", Some(Language::Prose)),
        ("~/project/AGENTS.md", "", Some(Language::Prose)),
        ("~/project/.husky/pre-push", "echo", Some(Language::Shell)),
        ("~/project/.cursor/hooks/x.py", "", Some(Language::Python)),
        ("~/project/a.csproj", "", Some(Language::Markup)),
        ("~/project/CMakeLists.txt", "", Some(Language::Source)),
        ("~/project/requirements.txt", "", Some(Language::Lines)),
        ("~/project/notes.txt", "", None),
        ("~/project/package.json", "", Some(Language::Embedded)),
        ("~/project/data.json", "", Some(Language::Data)),
        ("~/project/Makefile", "", Some(Language::Make)),
        ("~/project/Dockerfile.dev", "", Some(Language::Embedded)),
        ("~/.bashrc", "", Some(Language::Shell)),
        ("~/.ssh/authorized_keys", "", Some(Language::Lines)),
        ("/etc/cron.d/x", "", Some(Language::Embedded)),
        ("/etc/cron.daily/x", "#!/bin/sh\n", Some(Language::Shell)),
        (
            "/etc/systemd/system/x.service",
            "",
            Some(Language::Embedded),
        ),
        (
            "~/Library/LaunchAgents/x.plist",
            "",
            Some(Language::Embedded),
        ),
        ("~/project/src/main.rs", "", Some(Language::Compiled)),
        ("~/project/style.css", "", None),
        ("~/project/style.css", "#!/bin/sh\n", Some(Language::Shell)),
    ] {
        assert_eq!(know.files.language(path, content), expected, "{path}");
    }
}

#[test]
fn data_after_padding_is_read_by_shell_and_code_alike() {
    // `true;`, its padding, and `rm -rf /`.
    let data = "dHJ1ZTs=cm0gLXJmIC8=";
    let python = format!("import os, base64\nos.system(base64.b64decode('{data}'))");
    check(Language::Python, &python, &["shell: true;rm -rf /"]);
    let shell = format!("echo {data} | base64 -d | sh");
    check(Language::Shell, &shell, &["delete recursive force /"]);
}
