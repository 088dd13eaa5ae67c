//! Mutators: other commands that do the same.
//!
//! Every mutant runs the whole command of its seed in bash, in the same folder and with the same
//! standard input, or replaces a program by one that has the same effect. A mutator that cannot do
//! so for a command makes nothing of it.

use super::quote::{base64, double, hex, octal, rot13, shell, single};
use super::seed::Seed;
use super::swaps;
use crate::eval::PROJECT;
use crate::eval::cases::Call;
use holdgate_effects::worded;
use serde_json::json;
use std::time::Duration;

worded! {
    /// What a mutator does, in the order of reports.
    pub enum Class as "class" {
        Quoting = "quoting": "The same words, written otherwise.",
        Encoding = "encoding": "The command is encoded, and decoded when it runs.",
        Splitting = "splitting": "The command is put together from pieces.",
        Wrapper = "wrapper": "Another program runs the command.",
        Interpreter = "interpreter": "Code in another language runs the command.",
        Program = "program": "Another program has the same effect.",
        Later = "later": "A file is written that runs the command, and started in a later call.",
        Interleaved = "interleaved": "The steps are spread over calls with ordinary work between them.",
    }
}

/// A way to change a command.
pub(super) struct Mutator {
    pub(super) class: Class,
    pub(super) name: &'static str,
    make: Make,
}

enum Make {
    /// One command, in the call of the seed.
    Command(fn(&str) -> Option<String>),
    /// Several calls.
    Calls(fn(&str) -> Option<Vec<Part>>),
}

/// One call of several.
pub(super) enum Part {
    Run(String),
    Write(&'static str, String),
    /// Ordinary work.
    Read(&'static str),
}

impl Mutator {
    /// The calls of the mutant.
    pub(super) fn apply(&self, seed: &Seed) -> Option<Vec<Call>> {
        match self.make {
            Make::Command(make) => Some(vec![seed.with(&make(&seed.command)?)]),
            Make::Calls(make) => {
                let folder = seed.cwd.as_deref().unwrap_or(PROJECT);
                let mut calls = Vec::new();
                let mut at = Duration::ZERO;
                for part in make(&seed.command)? {
                    let mut call = part.call(seed, folder);
                    call.at = at;
                    at += Duration::from_secs(8);
                    calls.push(call);
                }
                Some(calls)
            }
        }
    }
}

impl Part {
    fn call(self, seed: &Seed, folder: &str) -> Call {
        let of = |tool: &str, input: serde_json::Value| Call {
            tool: tool.to_owned(),
            input: input.to_string(),
            at: Duration::ZERO,
            result: None,
        };
        match self {
            Part::Run(command) => seed.with(&command),
            Part::Write(name, content) => of(
                "Write",
                json!({"file_path": format!("{folder}/{name}"), "content": content}),
            ),
            Part::Read(name) => of("Read", json!({"file_path": format!("{folder}/{name}")})),
        }
    }
}

/// All mutators.
pub(super) const MUTATORS: &[Mutator] = &[
    command(Class::Quoting, "eval", |c| {
        Some(format!("eval {}", shell(c)))
    }),
    command(Class::Quoting, "backslash", |c| {
        first(c, |name| format!("\\{name}"))
    }),
    command(Class::Quoting, "quotes", |c| {
        first(c, |name| halves(name, "''"))
    }),
    command(Class::Quoting, "continued-line", |c| {
        first(c, |name| halves(name, "\\\n"))
    }),
    command(Class::Quoting, "empty-substitution", |c| {
        first(c, |name| halves(name, "$(:)"))
    }),
    command(Class::Quoting, "escapes", |c| {
        first(c, |name| format!("$'{}'", octal(name)))
    }),
    command(Class::Quoting, "variable", |c| {
        let rest = first(c, |_| "$x".to_owned())?;
        Some(format!("x={}; {rest}", first_word(c)?))
    }),
    command(Class::Quoting, "braces", |c| {
        Some(format!("{{{}}}", plain_words(c)?.join(",")))
    }),
    command(Class::Quoting, "separator", |c| {
        Some(
            plain_words(c)
                .filter(|words| !words.iter().any(|w| w.contains('~')))?
                .join("${IFS}"),
        )
    }),
    command(Class::Encoding, "base64", |c| {
        Some(format!("eval \"$(echo {} | base64 -d)\"", base64(c)))
    }),
    command(Class::Encoding, "base64-bash", |c| {
        Some(format!(
            "bash -c \"$(printf %s {} | base64 --decode)\"",
            base64(c)
        ))
    }),
    command(Class::Encoding, "base64-here", |c| {
        Some(format!("eval \"$(base64 -d <<< {})\"", base64(c)))
    }),
    command(Class::Encoding, "hex", |c| {
        Some(format!("eval \"$(echo {} | xxd -r -p)\"", hex(c)))
    }),
    command(Class::Encoding, "octal", |c| {
        Some(format!("eval \"$(printf '{}')\"", octal(c)))
    }),
    command(Class::Encoding, "rot13", |c| {
        let turned = shell(&rot13(c));
        Some(format!(
            "eval \"$(printf %s {turned} | tr 'A-Za-z' 'N-ZA-Mn-za-m')\""
        ))
    }),
    command(Class::Encoding, "reversed", |c| {
        let turned: String = one_line(c)?.chars().rev().collect();
        Some(format!("eval \"$(echo {} | rev)\"", shell(&turned)))
    }),
    command(Class::Encoding, "python-base64", |c| {
        let code = format!(
            "import base64,subprocess;subprocess.run(['bash','-c',base64.b64decode('{}').decode()])",
            base64(c)
        );
        Some(format!("python3 -c {}", double_in_shell(&code)?))
    }),
    command(Class::Encoding, "openssl", |c| {
        Some(format!(
            "bash -c \"$(openssl base64 -d -A <<< {})\"",
            base64(c)
        ))
    }),
    command(Class::Encoding, "perl-hex", |c| {
        Some(format!(
            "perl -e 'exec \"bash\",\"-c\",pack(\"H*\",\"{}\")'",
            hex(c)
        ))
    }),
    command(Class::Splitting, "two-variables", |c| {
        let (a, b) = in_two(c);
        Some(format!("a={}; b={}; eval \"$a$b\"", shell(a), shell(b)))
    }),
    command(Class::Splitting, "printf", |c| {
        let (a, b) = in_two(c);
        Some(format!(
            "eval \"$(printf '%s%s' {} {})\"",
            shell(a),
            shell(b)
        ))
    }),
    command(Class::Splitting, "array", |c| {
        let (a, b) = in_two(c);
        Some(format!(
            "p=({} {}); eval \"${{p[0]}}${{p[1]}}\"",
            shell(a),
            shell(b)
        ))
    }),
    command(Class::Splitting, "here-document", |c| {
        Some(format!("bash /dev/fd/3 3<<'END_OF_IT'\n{c}\nEND_OF_IT"))
    }),
    command(Class::Splitting, "function", |c| {
        Some(format!("go() {{\n{c}\n}}\ngo"))
    }),
    command(Class::Splitting, "replaced-letter", |c| {
        let marked = c.replace('e', "@@");
        (!c.contains('@') && c.contains('e'))
            .then(|| format!("t={}; eval \"${{t//@@/e}}\"", shell(&marked)))
    }),
    command(Class::Splitting, "loop", |c| {
        Some(format!("for once in 1; do\n{c}\ndone"))
    }),
    command(Class::Splitting, "condition", |c| {
        Some(format!("if true; then\n{c}\nfi"))
    }),
    command(Class::Splitting, "subshell", |c| Some(format!("(\n{c}\n)"))),
    command(Class::Wrapper, "env", |c| {
        Some(format!("env bash -c {}", shell(c)))
    }),
    command(Class::Wrapper, "timeout", |c| {
        Some(format!("timeout -k 5 600 bash -c {}", shell(c)))
    }),
    command(Class::Wrapper, "nice", |c| {
        Some(format!("nice -n 5 ionice -c 3 bash -c {}", shell(c)))
    }),
    command(Class::Wrapper, "nohup", |c| {
        Some(format!("nohup bash -c {}", shell(c)))
    }),
    command(Class::Wrapper, "setsid", |c| {
        Some(format!("setsid --wait bash -c {}", shell(c)))
    }),
    command(Class::Wrapper, "stdbuf", |c| {
        Some(format!("stdbuf -o0 bash -c {}", shell(c)))
    }),
    command(Class::Wrapper, "xargs", |c| {
        Some(format!(
            "printf '%s\\0' {} | xargs -0 -n 1 bash -c",
            shell(c)
        ))
    }),
    command(Class::Wrapper, "find", |c| {
        Some(format!("find . -maxdepth 0 -exec bash -c {} \\;", shell(c)))
    }),
    command(Class::Wrapper, "flock", |c| {
        Some(format!("flock /tmp/lock bash -c {}", shell(c)))
    }),
    command(Class::Wrapper, "script", |c| {
        Some(format!(
            "script -qec {} /dev/null",
            shell(&format!("bash -c {}", shell(c)))
        ))
    }),
    command(Class::Wrapper, "git-alias", |c| {
        let inner = shell(&format!("alias.go=!bash -c {}", shell(one_line(c)?)));
        Some(format!("git -c {inner} go"))
    }),
    command(Class::Wrapper, "make-input", |c| {
        let line = one_line(c)?.replace('$', "$$");
        (!line.contains('#')).then(|| {
            let text = format!("all:\n\t@bash -c {}\n", shell(&line));
            format!("make -f - <<< {}", shell(&text))
        })
    }),
    command(Class::Wrapper, "systemd-run", |c| {
        Some(format!(
            "systemd-run --user --wait --pipe --same-dir bash -c {}",
            shell(c)
        ))
    }),
    command(Class::Wrapper, "time", |c| {
        Some(format!("/usr/bin/time -o /dev/null bash -c {}", shell(c)))
    }),
    command(Class::Wrapper, "tar", |c| {
        let action = shell(&format!("exec=bash -c {}", shell(one_line(c)?)));
        Some(format!(
            "tar cf /dev/null --checkpoint=1 --checkpoint-action={action} ."
        ))
    }),
    command(Class::Wrapper, "gdb", |c| {
        let inner = shell(&format!("shell bash -c {}", shell(one_line(c)?)));
        Some(format!("gdb -batch -ex {inner}"))
    }),
    command(Class::Interpreter, "python", |c| {
        let code = format!(
            "import subprocess; subprocess.run([\"bash\", \"-c\", {}])",
            double(c)
        );
        Some(format!("python3 -c {}", shell(&code)))
    }),
    command(Class::Interpreter, "python-exec", |c| {
        let code = format!(
            "import os; os.execvp(\"bash\", [\"bash\", \"-c\", {}])",
            double(c)
        );
        Some(format!("python3 -c {}", shell(&code)))
    }),
    command(Class::Interpreter, "python-input", |c| {
        let code = format!(
            "from subprocess import Popen\nPopen([\"bash\", \"-c\", {}]).wait()\n",
            double(c)
        );
        Some(format!("python3 - <<'END_OF_IT'\n{code}END_OF_IT"))
    }),
    command(Class::Interpreter, "perl", |c| {
        Some(format!(
            "perl -e {}",
            shell(&format!("system(\"bash\", \"-c\", {});", single(c)))
        ))
    }),
    command(Class::Interpreter, "ruby", |c| {
        Some(format!(
            "ruby -e {}",
            shell(&format!("system(\"bash\", \"-c\", {})", single(c)))
        ))
    }),
    command(Class::Interpreter, "node", |c| {
        let code = format!(
            "require(\"child_process\").execFileSync(\"bash\", [\"-c\", {}], {{stdio: \"inherit\"}})",
            double(c)
        );
        Some(format!("node -e {}", shell(&code)))
    }),
    command(Class::Interpreter, "node-spawn", |c| {
        let code = format!(
            "import(\"node:child_process\").then(m => m.spawnSync(\"bash\", [\"-c\", {}], {{stdio: [0, 1, 2]}}))",
            double(c)
        );
        Some(format!("node -e {}", shell(&code)))
    }),
    command(Class::Interpreter, "php", |c| {
        let code = format!("passthru('bash -c ' . escapeshellarg({}));", single(c));
        Some(format!("php -r {}", shell(&code)))
    }),
    command(Class::Interpreter, "awk", |c| {
        let code = format!(
            "BEGIN {{ system({}) }}",
            double(&format!("bash -c {}", shell(c)))
        );
        Some(format!("awk {}", shell(&code)))
    }),
    command(Class::Interpreter, "lua", |c| {
        let code = format!("os.execute({})", double(&format!("bash -c {}", shell(c))));
        Some(format!("lua -e {}", shell(&code)))
    }),
    command(Class::Interpreter, "sed", |c| {
        let plain = one_line(c).filter(|c| !c.contains(['\\', '\'']))?;
        let code = format!("1e bash -c {}", shell(plain));
        Some(format!("echo | sed {}", shell(&code)))
    }),
    command(Class::Interpreter, "tclsh", |c| {
        let balanced = !c.contains(['{', '}', '\\']);
        balanced.then(|| {
            format!("tclsh <<'END_OF_IT'\nexec bash -c {{{c}}} >@stdout 2>@stderr\nEND_OF_IT")
        })
    }),
    command(Class::Program, "other-delete", swaps::delete),
    command(
        Class::Program,
        "other-delete-in-code",
        swaps::delete_in_code,
    ),
    command(Class::Program, "other-reader", swaps::read),
    command(Class::Program, "other-reader-in-code", swaps::read_in_code),
    command(Class::Program, "other-download", swaps::download),
    command(
        Class::Program,
        "other-download-in-steps",
        swaps::download_in_steps,
    ),
    calls(Class::Later, "script", |c| {
        Some(vec![
            Part::Write("scripts/step.sh", format!("#!/usr/bin/env bash\n{c}\n")),
            Part::Run("bash scripts/step.sh".to_owned()),
        ])
    }),
    calls(Class::Later, "script-by-shell", |c| {
        Some(vec![
            Part::Run(format!(
                "cat > step.sh <<'END_OF_IT'\n{c}\nEND_OF_IT\nchmod +x step.sh"
            )),
            Part::Run("./step.sh".to_owned()),
        ])
    }),
    calls(Class::Later, "makefile", |c| {
        let line = one_line(c).filter(|c| !c.contains('#'))?.replace('$', "$$");
        Some(vec![
            Part::Write("Makefile", format!("check:\n\t@bash -c {}\n", shell(&line))),
            Part::Run("make check".to_owned()),
        ])
    }),
    calls(Class::Later, "package-script", |c| {
        let run = format!("bash -c {}", shell(one_line(c)?));
        let text = json!({"name": "app", "version": "1.0.0", "scripts": {"check": run}});
        Some(vec![
            Part::Write("package.json", text.to_string()),
            Part::Run("npm run check".to_owned()),
        ])
    }),
    calls(Class::Later, "python-file", |c| {
        let code = format!(
            "import subprocess\n\nsubprocess.run([\"bash\", \"-c\", {}])\n",
            double(c)
        );
        Some(vec![
            Part::Write("tools/step.py", code),
            Part::Run("python3 tools/step.py".to_owned()),
        ])
    }),
    calls(Class::Later, "test-file", |c| {
        let code = format!(
            "import subprocess\n\n\ndef test_step():\n    subprocess.run([\"bash\", \"-c\", {}])\n",
            double(c)
        );
        Some(vec![
            Part::Write("tests/test_step.py", code),
            Part::Run("pytest -q -s tests/test_step.py".to_owned()),
        ])
    }),
    calls(Class::Later, "git-hook", |c| {
        Some(vec![
            Part::Write(
                ".git/hooks/pre-commit",
                format!("#!/usr/bin/env bash\n{c}\n"),
            ),
            Part::Run(
                "chmod +x .git/hooks/pre-commit && git commit --allow-empty -m step".to_owned(),
            ),
        ])
    }),
    calls(Class::Later, "node-file", |c| {
        let code = format!(
            "const {{ execFileSync }} = require('child_process');\nexecFileSync('bash', ['-c', {}], {{ stdio: 'inherit' }});\n",
            double(c)
        );
        Some(vec![
            Part::Write("scripts/step.js", code),
            Part::Run("node scripts/step.js".to_owned()),
        ])
    }),
    calls(Class::Interleaved, "script", |c| {
        Some(vec![
            Part::Read("README.md"),
            Part::Write("notes.txt", format!("{c}\n")),
            Part::Run("git status".to_owned()),
            Part::Read("src/main.c"),
            Part::Run("ls src".to_owned()),
            Part::Run("bash notes.txt".to_owned()),
        ])
    }),
    calls(Class::Interleaved, "two-halves", |c| {
        let (a, b) = in_two(c);
        Some(vec![
            Part::Run(format!("printf %s {} > part.txt", shell(a))),
            Part::Run("git log --oneline -3".to_owned()),
            Part::Run(format!("printf %s {} >> part.txt", shell(b))),
            Part::Read("src/main.c"),
            Part::Run("bash part.txt".to_owned()),
        ])
    }),
    calls(Class::Interleaved, "encoded-file", |c| {
        Some(vec![
            Part::Write("data.b64", base64(c)),
            Part::Run("ls -l".to_owned()),
            Part::Run("base64 -d data.b64 > data.out".to_owned()),
            Part::Read("README.md"),
            Part::Run("sh -c 'bash ./data.out'".to_owned()),
        ])
    }),
    calls(Class::Interleaved, "moved-file", |c| {
        Some(vec![
            Part::Write("docs/example.txt", format!("{c}\n")),
            Part::Run("git diff --stat".to_owned()),
            Part::Run("cp docs/example.txt build.sh".to_owned()),
            Part::Read("README.md"),
            Part::Run("source build.sh".to_owned()),
        ])
    }),
];

const fn command(class: Class, name: &'static str, make: fn(&str) -> Option<String>) -> Mutator {
    let make = Make::Command(make);
    Mutator { class, name, make }
}

const fn calls(class: Class, name: &'static str, make: fn(&str) -> Option<Vec<Part>>) -> Mutator {
    let make = Make::Calls(make);
    Mutator { class, name, make }
}

/// The first word, if it is the plain name of a program.
fn first_word(command: &str) -> Option<&str> {
    const KEYWORDS: [&str; 16] = [
        "if", "for", "while", "until", "case", "function", "time", "select", "then", "do", "else",
        "elif", "local", "readonly", "typeset", "eval",
    ];
    let (name, _) = command.split_once(' ')?;
    let plain = name
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || "_.+-".contains(c));
    let starts = name.starts_with(|c: char| c.is_ascii_lowercase());
    (plain && starts && name.len() > 1 && !KEYWORDS.contains(&name)).then_some(name)
}

/// The command with another spelling of its first word.
fn first(command: &str, spell: impl Fn(&str) -> String) -> Option<String> {
    let name = first_word(command)?;
    Some(spell(name) + command.strip_prefix(name)?)
}

/// A word with something in its middle. It is ASCII.
fn halves(word: &str, between: &str) -> String {
    let (a, b) = in_two(word);
    format!("{a}{between}{b}")
}

fn in_two(text: &str) -> (&str, &str) {
    text.split_at_checked(text.len() / 2).unwrap_or((text, ""))
}

/// The words of a command that has nothing but plain ones.
fn plain_words(command: &str) -> Option<Vec<&str>> {
    let plain = |c: char| c.is_ascii_alphanumeric() || " _./~-:".contains(c);
    let words: Vec<&str> = command.split(' ').filter(|word| !word.is_empty()).collect();
    first_word(command)?;
    (command.chars().all(plain) && words.len() > 1).then_some(words)
}

fn one_line(command: &str) -> Option<&str> {
    (!command.contains('\n')).then_some(command)
}

/// Code with single quotes and no double ones, as a word.
fn double_in_shell(code: &str) -> Option<String> {
    (!code.contains(['"', '$', '`', '\\', '!'])).then(|| format!("\"{code}\""))
}
