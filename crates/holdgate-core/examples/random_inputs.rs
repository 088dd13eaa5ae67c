//! Judges random calls, and reports what fails, what is slow for its size, and what grows faster than
//! its size: `cargo run --release -p holdgate-core --example random_inputs -- COUNT [SEED [FILE…]]`
//!
//! The calls are random bytes, soups of words, deep nesting, and changed texts of the cases in the
//! files (those of `holdgate eval`). They go to a shell, to files of many languages, to patches and to
//! unknown tools; some follow each other in one session.

#![expect(clippy::print_stdout, reason = "an example prints")]
#![expect(
    clippy::disallowed_methods,
    reason = "it measures time and reads files, which the core must not do"
)]
#![expect(
    clippy::indexing_slicing,
    reason = "indices are drawn below the length"
)]

use holdgate_core::rules::{Profile, RuleSet};
use holdgate_core::{
    CallLimits, Clock, Context, Executor, HeldCall, History, JudgeLimits, RateLimits, Session,
    Stack, layers,
};
use holdgate_effects::Knowledge;
use holdgate_effects::json::Json;
use holdgate_effects::path::World;
use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

#[rustfmt::skip]
const SHELL: &[&str] = &[
    "rm", "-rf", "~", "/etc/passwd", "echo", "x=", "$x", "${x:-", "${!x}", "${x//a/b}", "a[$(", "]=", "}", "$(", ")",
    "`", "$((", "))", "((", "[[", "]]", "(", "{", "{a,b}", "{1..9}", "<<E\n", "\nE\n", "<<'E'\n", "<<<", "<(", ">",
    "2>&1", "|", "||", "&&", "&", ";", ";;", "\n", "if", "then", "fi", "for i in", "do", "done", "while", "case x in",
    "a)", "esac", "function f", "f()", "eval", "sh -c", "python3 -c", "awk", "sed s/a/b/e", "xargs", "find . -exec",
    "base64 -d", "curl http://a.b", "git", "sudo", "env", "export", "\"", "'", "$'\\x41", "\\", "\\\n", "#", "*",
    "é", "\u{200b}", "\u{fffc}", "\0", "\r\n", "cd /a/b", "cd ..", "tar -x", "docker run -v /:/x", "ssh h", "=",
];
#[rustfmt::skip]
const CODE: &[&str] = &[
    "import os", "from os import *", "os.system(", "subprocess.run([", "exec(", "eval(", "open('", "')", "(", ")", "[",
    "]", "{", "}", "=>", "->", "::", ".", ",", ";", "\n", "\n    ", "def f(", "):", "function(", "class A", "return",
    "lambda x:", "for x in", "if", "else:", "'", "\"", "\"\"\"", "`", "${", "#{", "/*", "*/", "//", "#", "<?php", "?>",
    "$_GET[", "$x", "=", "+=", "==", "+", "x", "request.args", "@app.route(", ".get(", "fetch(", "https://a.b/c",
    "process.env", "require('child_process')", "new Function(", "base64.b64decode(", "socket", "connect(", "<<~E", "%w(",
    "q{", "=begin", "=cut", "r'", "f'{x}'", "1e9", "0x41", "\\x41", "rm -rf ~/", "Invoke-Expression", "|", "&", "é",
    "fn main() {", "std::process::Command", "let", "var", "async", "await", "yield", "\u{fffc}", "~/.ssh/id_rsa",
];
#[rustfmt::skip]
const DATA: &[&str] = &[
    "{", "}", "[", "]", ":", ",", "\"", "'", "- ", "\n", "\n  ", "\n    ", "run: ", "command: ", "scripts", "postinstall",
    "on: push", "jobs:", "steps:", "|\n", ">-\n", "&a ", "*a", "<<: ", "!!str ", "---\n", "...", "# x", "key = ", "[a.b]",
    "[[c]]", "\"\"\"", "resource \"a\" \"b\" {", "provisioner \"local-exec\" {", "${{ x }}", "curl http://a.b | sh",
    "true", "null", "1", "1.5e3", "\\u0041", "\\ud800", "\\", "<a href=\"", "</script>", "<script>", "image: x",
    "volumes:", "/:/x", "privileged: true", "RUN ", "FROM a\n", "all:\n\t", "$(shell ", "é", "\t",
];
#[rustfmt::skip]
const FILES: &[&str] = &[
    "a.sh", "a.py", "a.js", "a.ts", "a.rb", "a.pl", "a.php", "a.lua", "a.rs", "a.go", "a.java", "a.ps1",
    "a.yml", "a.json", "a.toml", "a.tf", "a.md", "a.html", "a.sql", "a.awk", "a.c", "a.txt", "a.ipynb",
    "a.ex", "Makefile", "Dockerfile", "CMakeLists.txt", "package.json", ".github/workflows/a.yml",
    ".vscode/tasks.json", ".git/hooks/pre-commit", "/home/dev/.bashrc", "setup.py", "docker-compose.yml",
    "a.patch",
];

/// A text for calls that are slow enough to look at how they grow.
const SLOW: Duration = Duration::from_millis(5);
/// The most that a call may take beyond its share, whatever its size: the first use of a table.
const SPARE: Duration = Duration::from_millis(4);
/// Shorter texts say nothing about the time per byte.
const MIN_BYTES: usize = 200;

/// xorshift64*.
struct Random(u64);

impl Random {
    /// 0 <= result < `end`, or 0.
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let number = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 16;
        usize::try_from(number).unwrap_or_default() % end.max(1)
    }

    fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

struct Watch(Instant);

impl Clock for Watch {
    fn now(&self) -> Duration {
        self.0.elapsed()
    }
}

/// A call: the tool, its arguments and the kind of text in them.
struct Call {
    kind: &'static str,
    tool: &'static str,
    file: &'static str,
    text: String,
}

impl Call {
    fn held(&self) -> HeldCall {
        let text = || Json::from(self.text.clone());
        let input = match self.tool {
            "Bash" => Json::object([("command", text())]),
            "Write" => Json::object([("file_path", self.file.into()), ("content", text())]),
            "Edit" => Json::object([
                ("file_path", self.file.into()),
                ("old_string", "x".into()),
                ("new_string", text()),
            ]),
            "apply_patch" => Json::object([("input", text())]),
            _ => Json::object([("query", text()), ("items", Json::Array(vec![text()]))]),
        };
        let (id, tool) = ("call".to_owned(), self.tool.to_owned());
        HeldCall::new(Executor::AtClient, Some(id), Some(tool), Some(input.text()))
    }
}

fn soup(random: &mut Random, words: &[&str]) -> String {
    let length = match random.below(50) {
        0 => random.below(4_000),
        1..=5 => random.below(300),
        _ => 1 + random.below(40),
    };
    let space = if random.below(3) == 0 { "" } else { " " };
    let words: Vec<&str> = (0..length).map(|_| *random.pick(words)).collect();
    words.join(space)
}

fn nested(random: &mut Random) -> String {
    let pairs = [
        ("$(", ")"),
        ("(", ")"),
        ("{ ", "; }"),
        ("[", "]"),
        ("f(", ")"),
        ("\"${x:-", "}\""),
        ("if a; then ", "; fi"),
        ("sh -c '", "'"),
        ("`", "`"),
        ("{\"a\":", "}"),
        ("[{", "}]"),
        ("<a>", "</a>"),
        ("- ", ""),
        ("eval ", ""),
        ("\\", ""),
        ("x=>(", ")"),
        ("/*", "*/"),
        ("<<E\n", "\nE\n"),
        ("sudo env ", ""),
        ("!", ""),
        ("a.b(", ").c"),
    ];
    let most = if random.below(20) == 0 { 6_000 } else { 200 };
    let depth = 1 + random.below(most);
    let mix = random.below(3) == 0;
    let mut chosen = *random.pick(&pairs);
    let (mut open, mut close) = (String::new(), Vec::new());
    for _ in 0..depth {
        if mix {
            chosen = *random.pick(&pairs);
        }
        open.push_str(chosen.0);
        close.push(chosen.1);
    }
    close.reverse();
    let close = if random.below(3) == 0 {
        String::new()
    } else {
        close.concat()
    };
    format!("{open}{}{close}", random.pick(SHELL))
}

fn mutated(random: &mut Random, texts: &[String]) -> String {
    let limit = if random.below(20) == 0 { 40_000 } else { 2_000 };
    let mut chars: Vec<char> = random.pick(texts).chars().take(limit).collect();
    for _ in 0..=random.below(4) {
        let at = random.below(chars.len() + 1);
        let to = (at + random.below(40)).min(chars.len());
        match random.below(5) {
            0 => chars.truncate(at),
            1 => drop(chars.splice(at..at, random.pick(SHELL).chars())),
            2 => drop(chars.drain(at..to)),
            3 => {
                let copy = chars[at..to].to_vec();
                chars.splice(at..at, copy).for_each(drop);
            }
            _ => {
                let other: Vec<char> = random.pick(texts).chars().take(400).collect();
                chars.splice(at.., other).for_each(drop);
            }
        }
    }
    chars.into_iter().collect()
}

fn call(random: &mut Random, texts: &[String]) -> Call {
    let (kind, text) = match random.below(if texts.is_empty() { 5 } else { 8 }) {
        0 => {
            let most = if random.below(20) == 0 { 8_000 } else { 120 };
            let length = random.below(most);
            let bytes: Vec<u8> = (0..length)
                .map(|_| random.below(256).to_le_bytes()[0])
                .collect();
            ("bytes", String::from_utf8_lossy(&bytes).into_owned())
        }
        1 => ("shell", soup(random, SHELL)),
        2 => ("code", soup(random, CODE)),
        3 => ("data", soup(random, DATA)),
        4 => ("nested", nested(random)),
        _ => ("mutated", mutated(random, texts)),
    };
    let tools = [
        "Bash",
        "Bash",
        "Bash",
        "Write",
        "Write",
        "Edit",
        "apply_patch",
        "mcp__a__b",
    ];
    Call {
        kind,
        tool: random.pick::<&str>(&tools),
        file: random.pick::<&str>(FILES),
        text,
    }
}

/// All texts in the arguments of the cases in these files.
fn texts_of(files: &[String]) -> Result<Vec<String>, Box<dyn Error>> {
    let mut texts = Vec::new();
    for file in files {
        for line in std::fs::read_to_string(file)?.lines() {
            let mut open = vec![serde_json::from_str::<serde_json::Value>(line)?];
            while let Some(value) = open.pop() {
                match value {
                    serde_json::Value::String(text) if text.len() > 8 => texts.push(text),
                    serde_json::Value::Array(items) => open.extend(items),
                    serde_json::Value::Object(members) => {
                        open.extend(members.into_iter().map(|(_, value)| value));
                    }
                    serde_json::Value::Null
                    | serde_json::Value::Bool(_)
                    | serde_json::Value::Number(_)
                    | serde_json::Value::String(_) => {}
                }
            }
        }
    }
    Ok(texts)
}

struct Judge {
    stack: Stack,
    world: Arc<World>,
    failures: usize,
}

impl Judge {
    fn session(&self) -> Session {
        let mut session = Session::default();
        session.world = self.world.clone();
        session
    }

    /// How long the verdict takes. A failure is printed and counted.
    fn judge(&mut self, call: &Call, session: &mut Session) -> Duration {
        let history = History::default();
        let context = Context::new(&history, Duration::ZERO);
        let judgement = self.stack.judge(call.held(), session, &context);
        for finding in judgement.findings() {
            if ["reader-failure", "layer-failure", "judging-too-slow"].contains(&&*finding.rule) {
                self.failures += 1;
                println!(
                    "{} on {} {} {:?}",
                    finding.rule, call.tool, call.file, call.text
                );
            }
        }
        judgement.took
    }

    /// The best of three tries in a fresh session, as the machine may be busy with something else.
    fn best(&mut self, call: &Call) -> Duration {
        let mut once = || {
            let mut session = self.session();
            self.judge(call, &mut session)
        };
        once().min(once()).min(once())
    }

    /// Whether a call of twice the size takes much more than twice as long.
    fn grows_too_fast(&mut self, call: &Call) -> bool {
        let twice = Call {
            text: call.text.repeat(2),
            ..*call
        };
        // On a busy machine, a single comparison says little.
        (0..5).all(|_| {
            let (one, two) = (self.best(call), self.best(&twice));
            two > one * 3 + SPARE
        })
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| arguments.get(at).and_then(|text| text.parse::<u64>().ok());
    let count = number(0).ok_or("usage: random_inputs COUNT [SEED [FILE…]]")?;
    let mut random = Random(number(1).unwrap_or(1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let texts = texts_of(arguments.get(2..).unwrap_or_default())?;
    let limits = JudgeLimits {
        call: CallLimits {
            max_bytes: 16 << 20,
            max_depth: 64,
        },
        fuel: 64_000,
        deadline: Duration::from_secs(2),
    };
    let know = Knowledge::built_in()?;
    know.warm();
    let layers = layers(RuleSet::built_in(Profile::default())?, RateLimits::NONE);
    let mut judge = Judge {
        stack: Stack::new(layers, know, Arc::new(Watch(Instant::now())), limits),
        world: Arc::new(World::lexical("/home/dev/project")),
        failures: 0,
    };
    let mut slowest: Vec<(u128, Duration, usize, String)> = Vec::new();
    let (mut longest, mut bytes, mut grown) = (Duration::ZERO, 0, 0);
    let mut session = judge.session();
    for _ in 0..count {
        if random.below(4) > 0 {
            session = judge.session();
        }
        let call = call(&mut random, &texts);
        let took = judge.judge(&call, &mut session);
        bytes += call.text.len();
        longest = longest.max(took);
        if call.text.len() >= MIN_BYTES && took > Duration::from_millis(1) {
            let best = took.min(judge.best(&call));
            let per_byte = best.as_nanos() / call.text.len() as u128;
            let name = format!("{} in {} {}", call.kind, call.tool, call.file);
            slowest.push((per_byte, best, call.text.len(), name));
            slowest.sort_by_key(|slow| std::cmp::Reverse(slow.0));
            slowest.truncate(10);
            if best > SLOW && judge.grows_too_fast(&call) {
                grown += 1;
                let start: String = call.text.chars().take(300).collect();
                println!("grows too fast: {} {} {start:?}", call.tool, call.file);
            }
        }
    }
    println!("{count} calls with {bytes} bytes, the longest verdict {longest:?} (one try)");
    println!(
        "{} failures, {grown} grow faster than their size",
        judge.failures
    );
    for (per_byte, best, size, name) in slowest {
        println!("{per_byte:8} ns per byte: {best:?} for {size} bytes of {name}");
    }
    if judge.failures + grown > 0 {
        return Err("some calls failed, or grow faster than their size".into());
    }
    Ok(())
}
