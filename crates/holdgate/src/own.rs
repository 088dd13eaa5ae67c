//! The names that Holdgate goes by, taken from the code that defines them: rules protect Holdgate by
//! these.

use crate::agents::{ADDRESS, ROUTES};
use crate::args::Args;
use crate::asks::{desk, socket};
use crate::config::{DEFAULT_PORT, EXPERT_VARIABLE, VARIABLES};
use crate::expert;
use crate::listening;
use clap::CommandFactory as _;
use holdgate_effects::Knowledge;
use holdgate_effects::own::{OwnCommand, OwnNames, OwnRole};
use std::sync::{Arc, LazyLock};

/// What each command does, and the arguments without which it only shows something; `""` is an
/// operand.
const COMMANDS: [(&str, OwnRole, &[&str]); 34] = [
    ("demo", OwnRole::Shows, &[]),
    ("run", OwnRole::Runs, &[]),
    ("proxy", OwnRole::Serves, &[]),
    ("check", OwnRole::Shows, &[]),
    ("approve", OwnRole::Operator, &[""]),
    ("rules check", OwnRole::Shows, &[]),
    ("rules list", OwnRole::Shows, &[]),
    ("rules explain", OwnRole::Shows, &[]),
    ("rules diff", OwnRole::Shows, &[]),
    ("rules stats", OwnRole::Shows, &[]),
    ("rules test", OwnRole::Shows, &[]),
    ("rules docs", OwnRole::Shows, &[]),
    ("rules words", OwnRole::Shows, &[]),
    ("incidents", OwnRole::Shows, &[]),
    ("why", OwnRole::Operator, &["--apply"]),
    ("expert", OwnRole::Operator, &["--for", "--off"]),
    ("pin", OwnRole::Operator, &[]),
    ("ledger verify", OwnRole::Shows, &[]),
    ("ledger seal", OwnRole::Operator, &[]),
    ("config check", OwnRole::Shows, &[]),
    ("eval", OwnRole::Shows, &[]),
    ("redteam", OwnRole::Shows, &[]),
    ("bench", OwnRole::Shows, &[]),
    ("train", OwnRole::Operator, &[]),
    ("canary", OwnRole::Operator, &[""]),
    // Who feeds it invents what a session has done.
    ("hook", OwnRole::Operator, &[]),
    ("setup", OwnRole::Operator, &[]),
    ("uninstall", OwnRole::Operator, &[]),
    ("doctor", OwnRole::Shows, &[]),
    ("completions", OwnRole::Shows, &[]),
    // It writes files.
    ("man", OwnRole::Operator, &[]),
    ("script", OwnRole::Shows, &[]),
    // Only `run` starts it.
    ("keep", OwnRole::Operator, &[]),
    ("help", OwnRole::Shows, &[]),
];

/// Commands whose names many other programs have for commands of their own.
const COMMON: [&str; 6] = ["canary", "hook", "man", "setup", "train", "uninstall"];

/// What is known, with Holdgate's own names.
pub fn knowledge() -> anyhow::Result<Arc<Knowledge>> {
    static KNOWLEDGE: LazyLock<Result<Arc<Knowledge>, String>> =
        LazyLock::new(|| Knowledge::guarded_by(names()).map(Arc::new));
    KNOWLEDGE.clone().map_err(anyhow::Error::msg)
}

fn names() -> OwnNames {
    let mut program = Args::command();
    program.build();
    let mut commands = Vec::new();
    for command in program.get_subcommands() {
        add(command, "", &mut commands);
    }
    let answers = desk::ANSWERS.iter().chain(&[expert::PHRASE]);
    OwnNames {
        program: program.get_name().to_owned(),
        commands,
        sockets: [socket::NAME, listening::HOOKS].map(str::to_owned).to_vec(),
        port: DEFAULT_PORT.to_string(),
        variables: VARIABLES.to_owned(),
        lifts: [EXPERT_VARIABLE.to_owned(), expert::HEADER.to_owned()],
        address: ADDRESS.to_owned(),
        routes: ROUTES.map(str::to_owned).to_vec(),
        answers: answers.map(|answer| (*answer).to_owned()).collect(),
    }
}

/// Adds a command, or those in it.
fn add(command: &clap::Command, parent: &str, commands: &mut Vec<OwnCommand>) {
    let name = format!("{parent}{}", command.get_name());
    if command.has_subcommands() && command.get_name() != "help" {
        for inner in command.get_subcommands() {
            add(inner, &format!("{name} "), commands);
        }
        return;
    }
    // `rules help` and its like show something too.
    let class = name.split(' ').next_back().filter(|last| *last == "help");
    let class = class.unwrap_or(&name);
    let class = COMMANDS.iter().find(|(known, ..)| *known == class);
    let takes_value = |arg: &clap::Arg| arg.get_action().takes_values();
    let options = command.get_arguments().filter_map(|arg| {
        let long = arg.get_long()?;
        Some((format!("--{long}"), takes_value(arg)))
    });
    commands.push(OwnCommand {
        options: options.collect(),
        operands: command.get_positionals().count(),
        // One that nobody has thought about is the operator's alone.
        does: class.map_or(OwnRole::Operator, |(_, does, _)| *does),
        acts_with: class.map_or_else(Vec::new, |(.., with)| {
            with.iter().map(|name| (*name).to_owned()).collect()
        }),
        common: COMMON.contains(&name.as_str()),
        name,
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_a_class_and_every_class_a_command() {
        let known = |name: &str| COMMANDS.iter().any(|(known, ..)| *known == name);
        let names = names().commands;
        let missing: Vec<&str> = names
            .iter()
            .map(|command| command.name.as_str())
            .filter(|name| !known(name) && !name.ends_with(" help"))
            .collect();
        assert!(missing.is_empty(), "add to `COMMANDS`: {missing:?}");
        for (name, _, with) in COMMANDS {
            let command = names.iter().find(|command| command.name == name);
            let command = command.unwrap_or_else(|| panic!("`{name}` is not a command"));
            for option in with.iter().filter(|option| !option.is_empty()) {
                let has = command.options.iter().any(|(long, _)| long == option);
                assert!(has, "`{name}` has no {option}");
            }
        }
    }
}
