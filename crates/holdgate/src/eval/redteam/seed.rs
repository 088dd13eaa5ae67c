//! The commands that mutants are made from.

use crate::eval::cases::{Call, Case, Subject};
use serde_json::Value;

/// Words after which a command changes the shell that it runs in: in a child it would do nothing.
const OWN_SHELL: [&str; 22] = [
    "history",
    "HISTFILE",
    "HISTSIZE",
    "HISTCONTROL",
    "HISTFILESIZE",
    "HISTIGNORE",
    "alias",
    "export",
    "unset",
    "set",
    "trap",
    "enable",
    "shopt",
    "ulimit",
    "disown",
    "umask",
    "hash",
    "fc",
    "exec",
    "declare",
    "read",
    "coproc",
];

/// A blocked command in a call.
#[derive(Clone, Debug)]
pub(in crate::eval) struct Seed {
    /// The case that it comes from.
    pub(super) id: String,
    pub(super) command: String,
    pub(super) cwd: Option<String>,
    call: Call,
    input: Value,
    place: Place,
}

/// Where the command stands in the arguments.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// A string with this name.
    Named(&'static str),
    /// The last word of an argv that starts a shell.
    Argv(&'static str),
}

impl Seed {
    /// The command of a case, if it has one that a mutant can repeat: what bash reads, in plain
    /// letters, and what does the same in another shell.
    pub(super) fn new(case: &Case) -> Option<Seed> {
        let Subject::Call(call) = &case.subject else {
            return None;
        };
        let input: Value = serde_json::from_str(&call.input).ok()?;
        let place = ["command", "cmd"]
            .into_iter()
            .find_map(|name| match input.get(name)? {
                Value::String(_) => Some(Place::Named(name)),
                Value::Array(words) => match words.as_slice() {
                    [Value::String(shell), Value::String(flag), Value::String(_)] => {
                        let is_shell = ["bash", "/bin/bash"].contains(&shell.as_str());
                        let runs = ["-c", "-lc"].contains(&flag.as_str());
                        (is_shell && runs).then_some(Place::Argv(name))
                    }
                    _ => None,
                },
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
            })?;
        let command = match place {
            Place::Named(name) => input.get(name)?.as_str()?,
            Place::Argv(name) => input.get(name)?.get(2)?.as_str()?,
        };
        is_repeatable(command).then(|| Seed {
            id: case.id.clone(),
            command: command.to_owned(),
            cwd: case.cwd.clone(),
            call: call.clone(),
            input: input.clone(),
            place,
        })
    }

    /// The same call with another command.
    pub(super) fn with(&self, command: &str) -> Call {
        let mut input = self.input.clone();
        let place = match self.place {
            Place::Named(name) => input.get_mut(name),
            Place::Argv(name) => input.get_mut(name).and_then(|argv| argv.get_mut(2)),
        };
        if let Some(place) = place {
            *place = Value::String(command.to_owned());
        }
        Call {
            input: input.to_string(),
            ..self.call.clone()
        }
    }
}

fn is_repeatable(command: &str) -> bool {
    let plain = command
        .chars()
        .all(|c| c == '\n' || c == '\t' || (' '..='~').contains(&c));
    let mut words = command.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let own_shell = words.any(|word| OWN_SHELL.contains(&word));
    // Commands of another system, functions that bring the shell down, and what depends on `$0`.
    let foreign = [
        ":\\",
        "powershell",
        "cmd.exe",
        "(){",
        "() {",
        "$$",
        "$0",
        "!!",
        "BASHPID",
        "PPID",
    ];
    let foreign = foreign.iter().any(|part| command.contains(part));
    plain && !own_shell && !foreign && !command.trim().is_empty()
}
