//! What a call does to the program that guards it. The program hands over its own names: nothing
//! here lists them.

use crate::effect::{Effect, Kind};
use crate::tag::Tag;
use crate::value::Value;

/// Words that stand for the Enter key, after what is typed.
const ENTER: [&str; 6] = ["Enter", "Return", "KPEnter", "C-m", "C-j", "^M"];
/// Variables that decide where every program finds its settings.
const HOMES: [&str; 7] = [
    "HOME",
    "XDG_CONFIG_HOME",
    "XDG_STATE_HOME",
    "XDG_DATA_HOME",
    "XDG_CACHE_HOME",
    "XDG_RUNTIME_DIR",
    "XDG_CONFIG_DIRS",
];

/// The names that the guard goes by, as its own code defines them.
#[derive(Clone, Debug, Default)]
pub struct OwnNames {
    /// The program.
    pub program: String,
    /// Its commands.
    pub commands: Vec<OwnCommand>,
    /// The file names of the sockets on which the operator answers, and hooks are judged; others end
    /// with one of these.
    pub sockets: Vec<String>,
    /// The port that it listens on unless told otherwise.
    pub port: String,
    /// What the beginnings of its environment variables look like.
    pub variables: String,
    /// The variable and the request header that together lift the gate.
    pub lifts: [String; 2],
    /// The variable that points an agent at it.
    pub address: String,
    /// All variables that decide where an agent's requests go.
    pub routes: Vec<String>,
    /// What the operator types as an answer.
    pub answers: Vec<String>,
}

/// One command of the guard's program.
#[derive(Clone, Debug)]
pub struct OwnCommand {
    /// Its name; of a command in a command, both: `ledger seal`.
    pub name: String,
    /// What it does.
    pub does: OwnRole,
    /// Its options, with whether each takes a value: `--for`.
    pub options: Vec<(String, bool)>,
    /// How many operands it takes at most.
    pub operands: usize,
    /// It acts only if one of these options is given, or with an operand if that is `""`. Empty: it
    /// always acts.
    pub acts_with: Vec<String>,
    /// Many programs have a command of this name, so the name does not show whose program it is.
    pub common: bool,
}

/// What a command of the guard's program does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnRole {
    /// Only shows something.
    Shows,
    /// Runs the program that its operands name.
    Runs,
    /// Starts another guard.
    Serves,
    /// Does what only the operator may do.
    Operator,
}

impl OwnRole {
    pub(crate) fn tag(self) -> Tag {
        match self {
            OwnRole::Shows => Tag::Shows,
            OwnRole::Runs => Tag::Runs,
            OwnRole::Serves => Tag::SecondGuard,
            OwnRole::Operator => Tag::Operator,
        }
    }
}

/// A command line of the guard's program, taken apart.
pub(crate) struct Told<'o, 'w> {
    pub(crate) command: &'o OwnCommand,
    pub(crate) options: Vec<&'o str>,
    pub(crate) operands: Vec<&'w Value>,
    /// It only shows how it is used: `-h` or `--help` stands where an option can stand.
    pub(crate) help: bool,
    /// Every option is one of the command's, and there are not too many operands.
    valid: bool,
}

impl Told<'_, '_> {
    /// Whether an option that takes a value is given.
    pub(crate) fn has_settings(&self) -> bool {
        let takes_value = |given: &&str| {
            let options = &self.command.options;
            options.iter().any(|(name, value)| name == given && *value)
        };
        self.options.iter().any(takes_value)
    }
}

impl OwnNames {
    /// Whether `program`, a file name, is the guard's own.
    pub(crate) fn is_program(&self, program: &str) -> bool {
        let name = match program.get(program.len().saturating_sub(4)..) {
            Some(end) if end.eq_ignore_ascii_case(".exe") => {
                program.get(..program.len() - 4).unwrap_or(program)
            }
            Some(_) | None => program,
        };
        !self.program.is_empty() && name == self.program
    }

    /// The command that `words` (without the program) begin with, and what follows its name.
    fn find<'o, 'w>(&'o self, words: &'w [Value]) -> Option<(&'o OwnCommand, &'w [Value])> {
        let begins = |command: &&OwnCommand| {
            let mut parts = command.name.split(' ');
            let mut words = words.iter();
            parts.all(|part| words.next().is_some_and(|word| word.text == part))
        };
        let command = self
            .commands
            .iter()
            .filter(begins)
            .max_by_key(|c| c.name.len())?;
        let length = command.name.split(' ').count();
        Some((command, words.get(length..).unwrap_or(&[])))
    }

    /// Whether `words` (without the program) are none, or only the beginning of a command's name:
    /// then the program only shows how it is used.
    pub(crate) fn is_beginning(&self, words: &[Value]) -> bool {
        let given: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
        let start = format!("{} ", given.join(" "));
        words.is_empty() || self.commands.iter().any(|c| c.name.starts_with(&start))
    }

    /// The command that `words` (without the program) give, with its options and operands.
    pub(crate) fn read<'o, 'w>(&'o self, words: &'w [Value]) -> Option<Told<'o, 'w>> {
        let (command, rest) = self.find(words)?;
        let mut told = Told {
            command,
            options: Vec::new(),
            operands: Vec::new(),
            help: false,
            valid: true,
        };
        let mut rest = rest.iter();
        while let Some(word) = rest.next() {
            let name = word.text.split('=').next().unwrap_or("");
            let known = command.options.iter().find(|(option, _)| option == name);
            if name == "--" || !name.starts_with('-') {
                told.operands.extend((name != "--").then_some(word));
                if name == "--" || command.does == OwnRole::Runs {
                    told.operands.extend(rest.by_ref());
                }
            } else if matches!(word.text.as_str(), "-h" | "--help") {
                told.help = true;
            } else if let Some((option, value)) = known {
                told.options.push(option);
                if *value && name == word.text {
                    rest.next();
                }
            } else {
                told.valid = false;
            }
        }
        told.valid &= told.operands.len() <= command.operands;
        Some(told)
    }

    /// Whether `words` (without the program) begin with a command that only the operator may give.
    pub(crate) fn is_operators(&self, words: &[Value]) -> bool {
        self.find(words)
            .is_some_and(|(command, _)| command.does == OwnRole::Operator)
    }

    /// Whether `words` (without the program) are a whole command of the operator's that would act, and
    /// that few other programs have.
    pub(crate) fn would_act(&self, words: &[Value]) -> bool {
        let is_id = |word: &Value| {
            let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
            !word.text.is_empty() && word.text.chars().all(plain)
        };
        self.read(words).is_some_and(|told| {
            let with = |name: &String| match name.as_str() {
                "" => !told.operands.is_empty(),
                name => told.options.contains(&name),
            };
            let acts = &told.command.acts_with;
            told.command.does == OwnRole::Operator
                && !told.command.common
                && told.valid
                && told.operands.iter().all(|word| is_id(word))
                && (acts.is_empty() || acts.iter().any(with))
        })
    }

    /// Whether code of a language that has no reader starts the guard with a command of the
    /// operator's.
    pub(crate) fn is_in_code(&self, code: &str) -> bool {
        let acts = |line: &str| {
            let split = |c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_'));
            let words = line.split(split).filter(|word| !word.is_empty());
            let words: Vec<Value> = words.map(Value::known).collect();
            let at = words.iter().position(|word| word.text == self.program);
            let after = at.and_then(|at| words.get(at + 1..)).unwrap_or(&[]);
            (0..after.len()).any(|at| self.is_operators(after.get(at..).unwrap_or(&[])))
        };
        let named = |line: &&str| line.contains(&self.program);
        !self.program.is_empty()
            && code.contains(&self.program)
            && code.lines().filter(named).any(acts)
    }

    /// Whether a variable decides where agents send their requests. Programs of many kinds ask a model
    /// on this machine, and those that start with no variables at all are mostly no agents.
    fn route(&self, name: &str, text: &str) -> Option<Tag> {
        const HERE: [&str; 4] = ["localhost", "127.", "0.0.0.0", "[::1]"];
        if !(name == "*" || self.routes.iter().any(|route| route == name)) {
            return None;
        }
        let host = text.split_once("://").map_or("", |(_, host)| host);
        let here = name != self.address && HERE.iter().any(|here| host.starts_with(here));
        Some(if name == "*" || here {
            Tag::OtherRoute
        } else {
            Tag::GuardRoute
        })
    }

    /// The tags of an effect that names a part of the guard.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "an effect of another kind names nothing"
    )]
    pub(crate) fn tags(&self, effect: &Effect) -> Vec<Tag> {
        let text = effect.text.as_deref().unwrap_or("");
        let mut tags = Vec::new();
        match effect.kind {
            _ if self.program.is_empty() => {}
            Kind::Env => {
                let name = text.split('=').next().unwrap_or("");
                if name.starts_with(&self.variables) || name == self.lifts[0] {
                    tags.push(Tag::GuardVariable);
                }
                tags.extend(self.route(name, text));
                if HOMES.contains(&name) {
                    tags.push(Tag::SettingsHome);
                }
                if self.lifts_gate(text) {
                    tags.push(Tag::LiftsGate);
                }
            }
            Kind::Write => {
                if mentions(text, &self.variables, is_set) {
                    tags.push(Tag::GuardVariable);
                }
                let unset = |name: &String| mentions(text, name, is_unset);
                let unsets = text.contains("unset") && self.routes.iter().any(unset);
                if unsets || mentions(text, &self.address, is_set) {
                    tags.push(Tag::GuardRoute);
                }
                if self.lifts_gate(text) {
                    tags.push(Tag::LiftsGate);
                }
            }
            Kind::Kill | Kind::Service => {
                let is_port = |word: &str| word == self.port;
                if contains(text, &self.program) || words(text).any(is_port) {
                    tags.push(Tag::OfGuard);
                }
            }
            Kind::System if effect.is(Tag::Keystrokes) && self.is_answer(text) => {
                tags.push(Tag::Answer);
            }
            Kind::Run
            | Kind::Connect
            | Kind::Send
            | Kind::Fetch
            | Kind::Listen
            | Kind::RemoteShell => {
                if self.sockets.iter().any(|name| text.contains(name)) {
                    tags.push(Tag::GuardSocket);
                }
                if self.lifts_gate(text) || self.lifts_gate(&effect.evidence) {
                    tags.push(Tag::LiftsGate);
                }
            }
            _ => {}
        }
        tags
    }

    fn lifts_gate(&self, text: &str) -> bool {
        self.lifts.iter().any(|name| contains(text, name))
    }

    /// Whether what is typed ends in an answer, with or without the Enter key.
    fn is_answer(&self, typed: &str) -> bool {
        let mut text = typed.trim_end();
        loop {
            let ends = ENTER.iter().chain(&["\\n", "\\r"]);
            let Some(rest) = ends.into_iter().find_map(|key| text.strip_suffix(key)) else {
                break;
            };
            text = rest.trim_end();
        }
        self.answers.iter().any(|answer| {
            let at = text.len().checked_sub(answer.len());
            at.is_some_and(|at| {
                text.get(at..)
                    .is_some_and(|end| end.eq_ignore_ascii_case(answer))
                    && text
                        .get(..at)
                        .is_some_and(|start| start.ends_with([' ', '\n', '\t']))
            })
        })
    }
}

/// The paths that a patch names, in any of the usual forms.
pub(crate) fn patched(patch: &str) -> impl Iterator<Item = &str> {
    const NAMES: [&str; 10] = [
        "+++ ",
        "--- ",
        "rename from ",
        "rename to ",
        "copy to ",
        "diff --git ",
        "*** Update File: ",
        "*** Delete File: ",
        "*** Add File: ",
        "*** Move to: ",
    ];
    let paths = patch.lines().filter_map(|line| {
        let mut names = NAMES.iter();
        names.find_map(|start| line.strip_prefix(start))
    });
    paths.flat_map(str::split_whitespace).map(|path| {
        let inner = path.strip_prefix("a/").or(path.strip_prefix("b/"));
        inner.unwrap_or(path)
    })
}

/// Whether `name` begins a word somewhere in `text` where `test` holds for what stands before it, in
/// its line, and after it.
fn mentions(text: &str, name: &str, test: fn(&str, &str) -> bool) -> bool {
    let places = text.contains(name).then(|| text.match_indices(name));
    places.into_iter().flatten().any(|(at, _)| {
        let before = text.get(..at).unwrap_or("");
        let line = before.rsplit(['\n', ';', '&']).next().unwrap_or("");
        !before.ends_with(is_word) && test(line, text.get(at + name.len()..).unwrap_or(""))
    })
}

fn is_set(_: &str, after: &str) -> bool {
    let after = after.trim_start_matches(is_word);
    let after = after.trim_start_matches(['"', '\'', ' ', '\t']);
    after.starts_with([':', '='])
}

fn is_unset(before: &str, _: &str) -> bool {
    before.split_whitespace().next() == Some("unset")
}

fn is_word(char: char) -> bool {
    char.is_alphanumeric() || char == '_'
}

/// Whether `text` has `name` in it, in whatever case. `text` may be long.
fn contains(text: &str, name: &str) -> bool {
    let (text, name) = (text.as_bytes(), name.as_bytes());
    let is_rare = |byte: &u8| !byte.is_ascii_alphabetic();
    let at = name.iter().position(is_rare).unwrap_or(0);
    let Some(first) = name.get(at) else {
        return false;
    };
    let (lower, upper) = (first.to_ascii_lowercase(), first.to_ascii_uppercase());
    memchr::memchr2_iter(lower, upper, text).any(|found| {
        let start = found.checked_sub(at);
        let window = start.and_then(|start| text.get(start..start + name.len()));
        window.is_some_and(|window| window.eq_ignore_ascii_case(name))
    })
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !is_word(c))
}

#[cfg(test)]
mod tests;
