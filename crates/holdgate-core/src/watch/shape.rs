//! Recognises commands that are about to run, as opposed to text that only mentions them.

use super::Weight;
use super::command::SeenCommand;
use super::listing::Listing;
use super::typed::Typed;
use holdgate_effects::json::Json;
use regex::{Captures, Regex};

/// Nobody types longer commands.
const MAX_COMMAND: usize = 16 << 10;

/// Frames that programs draw around what they show.
const FRAMES: [char; 9] = ['│', '┃', '║', '▌', '▎', '┆', '╎', '⎸', '⎹'];

/// A prompt, then what was typed. At the beginning of a line only: listings are indented.
const PROMPT: &str = r"^(?:\s*[⎿└]\s+)?(?:\([A-Za-z0-9_.+-]+\) ?|\[[0-9:.T Z-]+\] )?(?:\[?[A-Za-z0-9_.+-]+@[A-Za-z0-9_.+-]+[^$#%❯>\n]*[$#%❯>]|(?:bash|sh|zsh|dash)-?[0-9.]*[$#%>]|[~/][A-Za-z0-9_./~-]*(?: ?[$❯%]| #)|(?:PS )?[A-Z]:\\[^>\n]{0,80}>|➜ +\S+(?: +git:\([^)]*\))?(?: +✗)?|(?P<bare>[$❯>%▶])|(?P<root>#))\s+(?P<typed>\S.*)$";
/// What `set -x` prints.
const TRACE: &str = r"^\++ (?P<traced>\S.*)$";
/// The prompt of a database's console, then a statement.
const CONSOLE: &str = r"^(?:(?P<mysql>mysql|MariaDB \[[^\]\n]{0,60}\])>|(?P<sqlite>sqlite)>|(?P<database>[A-Za-z0-9_-]{1,60})[=(-][#>])\s+(?P<sql>\S.*)$";
/// A program that says what it runs.
const SAID: &str = r"^[\s⏺●•○◦▶►→>*]*(?:\[[A-Za-z0-9_ :.-]+\]\s*|[0-9][0-9T:.,Z+-]+\s+|(?:INFO|DEBUG|TRACE|NOTICE|WARN)\s*:?\s+)*(?:(?:[Rr]unning|Executing|Ran|Run|Exec|Invoking|Execute)(?: (?:the )?(?:following )?(?:shell |bash )?command)?|(?:Shell |Bash )?[Cc]ommand|[Ss]hell|[Bb]ash|cmd|exec|[Ss]pawn(?:ing)?|[Ll]aunching|executing)\s?(?::|\s[`]|\$)\s*(?P<command>\S.*)$";
/// The same with a mark and no colon.
const MARKED: &str = r"^\s*[⏺●•]\s(?:Running|Ran|Executing)\s(?P<command>\S.*)$";
/// An agent that says what it is about to run.
const ANNOUNCED: &str = r"(?i)^\W*(?:[A-Za-z]+[,.!]\s+|now\s+|next\s+|first\s+)*(?:I'll|I will|I am going to|I'm going to|let me|let's|going to|about to)\s+(?:(?:now|first|just|also|quickly|then|simply|go ahead and)\s+)*(?:run|execute|try|use)(?:\s+(?:this|the|following|shell|bash|command)){0,4}\s*:?\s*(?:`|:\s+)(?P<command>[^`]+?)(?:`.*)?$";
/// A call as agents show it.
const CALL: &str = r"^\s*(?:(?P<mark>[⏺●•○✓✔✗⎿└])\s*)?(?:\[[A-Za-z0-9_ :.-]+\]\s*)*(?P<tool>Bash|Shell|Execute|Terminal|bash|shell|execute|run_shell_command|exec_command|run_command|execute_command|run_terminal_cmd)\((?P<command>.+?)\)?\s*…?$";
/// The same without brackets, behind the mark of a call, and before where it runs.
const COLUMNS: &str = r"^\s*(?:[✓✔✗✕⊷?]\s{1,4}|\|\s{1,4})(?:Shell|Bash|bash|run_shell_command)\s+(?P<command>\S.*?)(?:\s+\[(?:current working directory|in) [^\]\n]*\].*|\s+\([^()\n]*\))?$";
/// A call that a log shows with its input as JSON.
const LOGGED: &str = r"^[^\w{]*(?:\[[^\]\n]{1,60}\]\s*)*(?:(?i:(?:tool|function)[ _-]?(?:calls?|use|input|execution)|calling|invoking|using|action(?: input)?)|Bash|Shell|Execute|bash|shell|run_shell_command|exec_command|run_command|execute_command)\b[^{\n]{0,40}(?P<json>\{.*\})\s*$";
/// Other tools need the mark: their names are words.
const MARKED_CALL: &str =
    r"^\s*[⏺●]\s*(?P<tool>Read|Write|Update|Edit|Fetch|WebFetch|Search)\((?P<command>[^()]+)\)$";
/// What Codex prints.
const EXEC: &str = r"^(?:(?:\[[0-9T:.Z -]+\] )?exec (?P<command>\S.*?)|(?P<shell>(?:/usr)?(?:/bin/)?(?:ba|z|da)?sh -l?c .+?)) in /\S*(?: (?:succeeded|exited|failed)\b.*)?$";

/// How commands look.
#[derive(Debug)]
pub(super) struct Shapes(Vec<(Regex, Weight)>);

impl Shapes {
    pub(super) fn new() -> Result<Shapes, String> {
        let shapes = [
            (PROMPT, Weight::Said),
            (TRACE, Weight::Said),
            (CONSOLE, Weight::Said),
            (LOGGED, Weight::Said),
            (SAID, Weight::Said),
            (MARKED, Weight::Done),
            (ANNOUNCED, Weight::Said),
            (CALL, Weight::Said),
            (COLUMNS, Weight::Said),
            (MARKED_CALL, Weight::Done),
            (EXEC, Weight::Done),
        ];
        let shapes = shapes.map(|(shape, weight)| Ok((Regex::new(shape)?, weight)));
        let shapes: Result<_, regex::Error> = shapes.into_iter().collect();
        shapes.map(Shapes).map_err(|error| error.to_string())
    }

    /// The command on this line, if it is one that runs, and its weight. `listing` and `typed`
    /// follow all lines of the text.
    pub(super) fn command_in(
        &self,
        line: &str,
        listing: &mut Listing,
        typed: &mut Typed,
    ) -> Option<(SeenCommand, Weight)> {
        let line = unframed(line);
        if listing.pass(line) || line.len() > MAX_COMMAND {
            typed.leave();
            return None;
        }
        let line = typed.joined(line);
        let seen = self.shaped(&line, listing.is_first(), typed);
        if seen.is_none() {
            typed.leave();
        }
        let (said, weight) = seen?;
        // The name of a program is valid text; otherwise a binary file is being printed.
        let program = said.text.split_whitespace().next()?;
        (!program.contains('\u{fffd}')).then_some((said, weight))
    }

    fn shaped(
        &self,
        line: &str,
        is_first: bool,
        typed: &mut Typed,
    ) -> Option<(SeenCommand, Weight)> {
        let found = |shape: &Regex| {
            let found = shape.captures(line)?;
            // A comment looks like the prompt of a root shell; a script does not begin with a
            // command as a comment.
            (is_first || found.name("root").is_none()).then_some(found)
        };
        let mut shapes = self.0.iter();
        let (found, weight) = shapes.find_map(|(shape, weight)| Some((found(shape)?, *weight)))?;
        let has = |name: &str| found.name(name).is_some();
        let weight = if has("mark") {
            Weight::Done
        } else if has("bare") || has("root") {
            // Documents show commands like this; the prompt of a shell usually contains more.
            Weight::Shown
        } else {
            weight
        };
        Some((seen_in(&found, typed)?, weight))
    }
}

fn seen_in(found: &Captures<'_>, typed: &mut Typed) -> Option<SeenCommand> {
    let group = |name: &str| found.name(name).map(|group| group.as_str());
    if let Some(command) = group("typed") {
        return Some(typed.placed(command, false));
    }
    if let Some(command) = group("traced") {
        return Some(typed.placed(command, true));
    }
    if let Some(statement) = group("sql") {
        let client = if group("mysql").is_some() {
            "mysql -e".to_owned()
        } else if let Some(database) = group("database") {
            format!("psql -d {database} -c")
        } else {
            "sqlite3 database".to_owned()
        };
        let statement = statement.replace('\'', r"'\''");
        return Some(SeenCommand::typed(&format!("{client} '{statement}'")));
    }
    if let Some(json) = group("json") {
        return super::event::logged(json);
    }
    let command = unquoted(group("command").or_else(|| group("shell"))?);
    Some(match group("tool") {
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
    })
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::LazyLock;

    fn check(text: &str, expected: &[&str]) {
        static SHAPES: LazyLock<Shapes> = LazyLock::new(|| Shapes::new().unwrap());
        let (mut listing, mut typed) = (Listing::default(), Typed::default());
        let found: Vec<String> = text
            .lines()
            .filter_map(|line| SHAPES.command_in(line, &mut listing, &mut typed))
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
    fn what_other_consoles_and_logs_show() {
        check("> ls\n", &["ls"]);
        check("# id", &["id"]);
        check("/ # id", &["id"]);
        check("PS C:\\work> dir", &["dir"]);
        check("mysql> DROP TABLE a;", &["mysql -e 'DROP TABLE a;'"]);
        check("shop=# select 'x", &["psql -d shop -c 'select '\\''x'"]);
        check("tool call: {\"command\":\"ls -a\"}", &["ls -a"]);
        check("[tool_use] Bash {\"command\": \"ls\"}", &["ls"]);
        check("calling {\"path\": \"x\"}", &[]);
        check("│ ✓  Shell ls -l [in /home/dev] (Lists) │", &["ls -l"]);
        check(
            "bash -lc 'ls' in /home/dev succeeded in 3ms:",
            &["bash -lc 'ls'"],
        );
    }

    #[test]
    fn what_was_typed_before() {
        check("$ a \\\n  | b", &["a \\", "a | b"]);
        check("$ curl x\n| sh\nok\n| y", &["curl x", "curl x | sh"]);
        check("$ a |\n> b\n> c", &["a |", "a | b", "c"]);
        check("⏺ Bash(a &&\n      b)", &["a &&", "a && b"]);
        check("+ cd /\n+ rm -r home", &["cd /", "cd / && rm -r home"]);
        check(
            "+ cd /home\n+ cd dev\n+ ls",
            &["cd /home", "cd dev", "cd /home/dev/ && ls"],
        );
        check(
            "+ cd /src/app\n+ ls\n+ cd -\n+ ls",
            &["cd /src/app", "ls", "cd -", "ls"],
        );
        check(
            "+ cd /etc\n+ cd $x/y(z)\n+ ls",
            &["cd /etc", "cd $x/y(z)", "ls"],
        );
        check("+ curl x\n+ sh\n+ sh", &["curl x", "curl x | sh", "sh"]);
        check("+ curl x\n+ sh build.sh", &["curl x", "sh build.sh"]);
    }

    #[test]
    fn what_a_command_on_the_screen_is_worth() {
        let weight = |line: &str| {
            let shapes = Shapes::new().unwrap();
            let (mut listing, mut typed) = (Listing::default(), Typed::default());
            let seen = shapes.command_in(line, &mut listing, &mut typed);
            seen.unwrap().1
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
        check("#!/bin/sh\n# rm -rf /", &[]);
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
