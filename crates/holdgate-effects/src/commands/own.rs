//! What programs do to the guard, to a person's keyboard, and to processes that are not the agent's.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "few of the handlers take over anything"
)]

use super::Call;
use super::handler::Handler;
use super::units::Run;
use crate::effect::{Actor, Kind};
use crate::knowledge::commands::Spec;
use crate::knowledge::role::Role;
use crate::own::{OwnRole, Told};
use crate::path::PathClass;
use crate::scene::{Fueled, Scene};
use crate::tag::Tag;
use crate::value::{Origins, Value};

/// Sub-commands with which package managers remove a package.
const REMOVE: [&str; 6] = ["uninstall", "remove", "rm", "purge", "autoremove", "erase"];

/// Options of commands that else only show something: their values are files that are written.
const WRITES: [&str; 2] = ["--verdicts", "--report"];

/// Runs the guard's own program.
pub(super) fn run(scene: &mut Scene<'_>, call: &Call<'_>, actor: &Actor) -> Fueled<Value> {
    let rest = call.words.get(1..).unwrap_or(&[]);
    let told = scene.know.own.read(rest);
    let does = told.as_ref().map(|told| told.command.does);
    let first = rest.first().map_or("", |word| &word.text);
    let shows_help = match &told {
        Some(told) => told.help,
        None => {
            matches!(
                first,
                "help" | "-h" | "--help" | "version" | "-V" | "--version"
            ) || scene.know.own.is_beginning(rest)
        }
    };
    let output = Value::unknown(Origins::OUTPUT);
    if shows_help {
        return Ok(output);
    }
    let mut effect = actor.does(Kind::Guard).about(&actor.evidence);
    effect = effect.tagged(does.map_or(Tag::Hidden, OwnRole::tag));
    if told.as_ref().is_some_and(Told::has_settings) {
        effect = effect.tagged(Tag::WithSettings);
    }
    scene.emit(effect)?;
    for (index, word) in rest.iter().enumerate() {
        let (option, joined) = match word.text.split_once('=') {
            Some((option, value)) => (option, Some(word.map(value))),
            None => (word.text.as_str(), None),
        };
        let file = joined.or_else(|| rest.get(index + 1).cloned());
        if let Some(file) = file.filter(|_| WRITES.contains(&option)) {
            scene.write(actor, &file, &output, false)?;
        }
    }
    match told {
        Some(told) if does == Some(OwnRole::Runs) => {
            let words: Vec<Value> = told.operands.into_iter().cloned().collect();
            scene.argv(&words, call.stdin)
        }
        _ => Ok(output),
    }
}

/// What another program does to the guard: it is the guard's under another name, or it runs or
/// removes the guard's. `spec` is what the table says about a program of this name.
pub(super) fn notice(
    scene: &mut Scene<'_>,
    call: &Call<'_>,
    actor: &Actor,
    spec: Option<&Spec>,
) -> Fueled {
    let own = &scene.know.own;
    let rest = call.words.get(1..).unwrap_or(&[]);
    if own.program.is_empty() || rest.is_empty() {
        return Ok(());
    }
    let is_own = |word: &Value| {
        word.text
            .rsplit('/')
            .next()
            .is_some_and(|w| own.is_program(w))
    };
    // A file may have any name.
    let by_path =
        |name: &Value| name.text.contains('/') && !scene.place(name).is(PathClass::Binary);
    let known = spec.is_some() && !call.words.first().is_some_and(by_path);
    // As `npx` and `uvx` do.
    let runs_packages =
        spec.is_some_and(|spec| matches!(spec.operands.first(), Some((Role::Install, false))));
    let is_script = call.program.contains('.');
    let after_dashes = rest.iter().position(|word| word.text == "--");
    let runs_other = |at: usize| {
        let before = rest.get(..at).unwrap_or(&[]);
        let run = |word: &Value| matches!(word.text.as_str(), "run" | "r");
        before.iter().any(run) && own.is_operators(rest.get(at + 1..).unwrap_or(&[]))
    };
    let runs_own = rest.iter().position(is_own).is_some_and(|at| {
        let after = rest.get(at + 1..).unwrap_or(&[]);
        let command = after.iter().position(|word| !word.text.starts_with('-'));
        command.is_some_and(|at| own.is_operators(after.get(at..).unwrap_or(&[])))
    });
    let is_hidden = !known && !is_script && own.would_act(rest)
        || after_dashes.is_some_and(runs_other)
        || runs_own && (!known || runs_packages || after_dashes.is_some());
    let removes = rest
        .first()
        .is_some_and(|word| REMOVE.contains(&word.text.as_str()));
    let tag = match () {
        () if is_hidden => Tag::Hidden,
        () if removes && rest.iter().any(is_own) => Tag::Removes,
        () => return Ok(()),
    };
    let effect = actor.does(Kind::Guard).about(&actor.evidence);
    scene.emit(effect.tagged(tag))
}

/// A program that may type in a person's place, or enter a process that is not the agent's.
pub(super) fn takes_over(handler: Handler, scene: &mut Scene<'_>, run: Run<'_>) -> Fueled {
    let given = run.call.words.get(1..).unwrap_or(&[]);
    let words = || given.iter().map(|word| word.text.as_str());
    let has = |names: &[&str]| words().any(|word| names.contains(&word));
    let option = |names: &[&str]| {
        words().any(|word| {
            let name = word.split('=').next().unwrap_or("");
            names.contains(&name)
                || names
                    .iter()
                    .any(|n| n.len() == 2 && is_number_after(word, n))
        })
    };
    let text = words().collect::<Vec<_>>().join(" ").to_lowercase();
    let says = |parts: &[&str]| parts.iter().any(|part| text.contains(part));
    let is_digit = |c: char| c.is_ascii_digit();
    let (acts, tag) = match handler {
        Handler::AppleScript if says(&["keystroke", "key code"]) => (true, Tag::DesktopKeys),
        Handler::AppleScript if says(&["the clipboard"]) => {
            (!says(&["set the clipboard"]), Tag::Observes)
        }
        Handler::AppleScript => (says(&["do script", "write text"]), Tag::OtherTree),
        Handler::Attach => (words().any(|w| w.contains(is_digit)), Tag::TakesOver),
        Handler::Dbus => {
            let types = says(&["konsole"]) && says(&["sendtext", "runcommand"]);
            (types, Tag::DesktopKeys)
        }
        Handler::Gdb => {
            let by_operand = matches!(given, [_, process] if process.text.chars().all(is_digit));
            let attaches = by_operand || says(&["attach "]) || option(&["-p", "-pid", "--pid"]);
            (attaches && !has(&["--args", "-args"]), Tag::TakesOver)
        }
        Handler::KeyCodes => {
            let types = has(&["type", "stdin"]) || has(&["key"]) && words().any(is_typing_key);
            (types, Tag::DesktopKeys)
        }
        Handler::Keys => (has(&["type", "key", "keydown", "keyup"]), Tag::DesktopKeys),
        Handler::Lldb => {
            let by_option = option(&["-p", "-n", "--attach-pid", "--attach-name"]);
            let attaches = by_option || says(&["process attach"]);
            (attaches && !has(&["--"]), Tag::OtherTree)
        }
        Handler::Terminal => {
            let runs = option(&["-e", "-x", "--", "--command", "--execute", "-c"]);
            (runs, Tag::OtherTree)
        }
        _ => return Ok(()),
    };
    if handler == Handler::AppleScript && says(&["with administrator privileges"]) {
        scene.emit(run.actor.does(Kind::Elevate).about(&run.actor.evidence))?;
    }
    if handler == Handler::AppleScript && says(&["make login item", "make new login item"]) {
        scene.emit(run.actor.does(Kind::Persist).about(&run.actor.evidence))?;
    }
    // A window that asks for a password looks like the system's own.
    if handler == Handler::AppleScript && says(&["hidden answer"]) {
        let asks = run.actor.does(Kind::System).tagged(Tag::Observes);
        scene.emit(asks.about(&run.actor.evidence))?;
    }
    let ends = [" to quit", "\nquit", "tell me to quit", "kill application"];
    // What programs keep for a person goes to all of the person's devices.
    if handler == Handler::AppleScript && says(&["delete every", "delete all", "empty trash"]) {
        scene.emit(run.actor.does(Kind::Remote).tagged(Tag::Delete))?;
    }
    if handler == Handler::AppleScript && says(&ends) {
        let name = text.split("application \"").nth(1).unwrap_or("");
        let name = name.split('"').next().unwrap_or("");
        let effect = run.actor.does(Kind::Kill).tagged(Tag::ByName);
        scene.emit(effect.about(name))?;
    }
    if !acts {
        return Ok(());
    }
    let effect = run.actor.does(Kind::System).tagged(tag);
    scene.emit(effect.about(&run.actor.evidence))
}

/// `-p1234`
fn is_number_after(word: &str, option: &str) -> bool {
    let rest = word.strip_prefix(option);
    rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// Whether a key of `ydotool` types something: letters, digits and Enter, not what only moves
/// windows. Its keys are numbers: `28:1`.
fn is_typing_key(word: &str) -> bool {
    let code = word.strip_suffix(":1").and_then(|code| code.parse().ok());
    matches!(code, Some(2..=14 | 16..=28 | 30..=41 | 44..=53 | 57 | 96))
}

/// The tag of a copy that puts the content of a folder over that of another, not into it.
pub(super) fn merges(words: &[Value], own: &str) -> Option<Tag> {
    let onto = |word: &Value| {
        let text = word.text.as_str();
        let short = text.starts_with('-') && !text.starts_with("--") && text.contains('T');
        short || text == "--no-target-directory" || text.starts_with("--del")
    };
    let [_, .., source, _] = words else {
        return None;
    };
    let content = ["/", "/.", "/*", own]
        .iter()
        .any(|end| source.text.ends_with(end));
    (content || words.iter().any(onto)).then_some(Tag::MergesFolders)
}

/// Files that commands in an editor's arguments open or write: `-c 'w PATH'`, `--eval '(… "PATH")'`.
pub(super) fn edits(handler: Handler, scene: &mut Scene<'_>, run: Run<'_>) -> Fueled {
    const OPEN: [&str; 11] = [
        "e", "edit", "w", "write", "sav", "saveas", "up", "update", "sp", "vs", "tabe",
    ];
    let words = run.call.words.iter().skip(1);
    for word in words.filter(|w| w.text.contains(['/', '.'])) {
        let paths: Vec<&str> = if handler == Handler::Emacs {
            word.text.split('"').skip(1).step_by(2).collect()
        } else {
            let words = || {
                word.text
                    .split([' ', '|', ':', '+'])
                    .filter(|w| !w.is_empty())
            };
            let after = words().zip(words().skip(1));
            let opens = |verb: &str| OPEN.contains(&verb.trim_end_matches('!'));
            after
                .filter(|(verb, _)| opens(verb))
                .map(|(_, path)| path)
                .collect()
        };
        for path in paths
            .into_iter()
            .filter(|p| p.contains(['/', '.']))
            .take(16)
        {
            scene.touch(run.actor, Kind::Read, &word.map(path))?;
        }
    }
    Ok(())
}
