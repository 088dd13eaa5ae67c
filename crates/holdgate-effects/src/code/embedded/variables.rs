//! Variables that settings of editors and agents give to all programs, and tasks that start by themselves.

use super::Reader;
use crate::effect::{Actor, Kind};
use crate::json::Json;
use crate::language::{programs, variables};
use crate::scene::Fueled;
use crate::tag::Tag;
use std::borrow::Cow;

/// Variables of one list.
const MAX_VARIABLES: usize = 32;

/// Whether the members under a key are variables: `env`, `terminal.integrated.env.linux`, `remoteEnv`.
pub(super) fn are_settings(key: &str) -> bool {
    let last = key
        .split('.')
        .find(|part| part.to_ascii_lowercase().ends_with("env"));
    last.is_some() || key == "environment"
}

impl Reader<'_, '_, '_> {
    /// Of these variables, the ones that load code into every program or name a program in place of
    /// another.
    pub(super) fn variables(&mut self, members: &[(Cow<'_, str>, Json<'_>)]) -> Fueled {
        for (name, value) in members.iter().take(MAX_VARIABLES) {
            let Some(text) = value.as_str().filter(|_| self.scene.written) else {
                continue;
            };
            if variables::loads(name, text) {
                let evidence = format!("{name}={text}");
                let actor = Actor::new("settings", &evidence);
                let effect = actor.does(Kind::Env).tagged(Tag::Injects);
                self.scene.emit(effect.about(&evidence))?;
            }
        }
        Ok(())
    }

    /// Settings of an editor that name a program which lies where nobody installs one: `git.path`.
    pub(super) fn programs(&mut self, members: &[(Cow<'_, str>, Json<'_>)]) -> Fueled {
        for (name, value) in members.iter().filter(|(name, _)| name.contains('.')) {
            let last = name.rsplit('.').next().unwrap_or("");
            if self.scene.written
                && let Some(path) = odd_program(last, value, 0)
            {
                let evidence = format!("{name}={path}");
                let effect = Actor::new("settings", &evidence).does(Kind::Env);
                self.scene
                    .emit(effect.tagged(Tag::Injects).about(&evidence))?;
            }
        }
        Ok(())
    }

    /// A setting of any tool that names a hidden or a temporary file to be run or loaded by it.
    pub(super) fn loaded(&mut self, name: &str, value: &Json<'_>) -> Fueled {
        if !self.scene.written || !names_code(name) {
            return Ok(());
        }
        let one = std::slice::from_ref(value);
        let words = value
            .as_array()
            .unwrap_or(one)
            .iter()
            .filter_map(Json::as_str);
        let line: Vec<&str> = words.take(MAX_WORDS).collect();
        let line = line.join(" ");
        let first = line.split_whitespace().next().unwrap_or("");
        let alone = is_stored_nowhere(first) && !first.contains("://");
        let given = || runs_odd(&line) && line.split_whitespace().any(is_stored_nowhere);
        if !alone && !given() {
            return Ok(());
        }
        let evidence = format!("{name}={}", crate::json::shorten(&line, 200));
        let effect = Actor::new("settings", &evidence).does(Kind::Env);
        // Its key says that it is code, wherever the settings lie.
        let marks = self.scene.marks.clone();
        self.scene.marks.retain(|mark| *mark != Tag::Suspect);
        let done = self
            .scene
            .emit(effect.tagged(Tag::Injects).about(&evidence));
        self.scene.marks = marks;
        done
    }

    /// What an editor runs on this machine before it starts the container: `initializeCommand`.
    pub(super) fn starts_on_host(&mut self, command: &Json<'_>) -> Fueled {
        let text = if let Json::String(text) = command {
            text.to_string()
        } else {
            command.text()
        };
        let plain = text.replace(['"', '[', ']', '{', '}', ','], " ");
        if !self.scene.written || !runs_odd(&plain) && !is_hidden(plain.trim()) {
            return Ok(());
        }
        let evidence = format!("runs on this machine when the folder is opened: {text}");
        let effect = Actor::new("settings", &evidence).does(Kind::Env);
        self.scene.emit(effect.tagged(Tag::Injects).about(&text))
    }

    /// A task that an editor runs as soon as the folder is opened.
    pub(super) fn starts_by_itself(&mut self, task: &Json<'_>) -> Fueled {
        let when = task.get("runOptions").and_then(|o| o.get_str("runOn"));
        if when != Some("folderOpen") {
            return Ok(());
        }
        let command = task.get_str("command").unwrap_or("");
        let actor = Actor::new(
            "settings",
            &format!("runs when the folder is opened: {command}"),
        );
        let effect = actor.does(Kind::Env).tagged(Tag::Injects);
        self.scene.emit(effect.about(command))
    }
}

/// Words of a command line in a setting.
const MAX_WORDS: usize = 32;

/// Whether a key names a program, or code that a program loads.
fn names_code(name: &str) -> bool {
    const ENDS: [&str; 17] = [
        "command",
        "cmd",
        "executable",
        "binary",
        "interpreter",
        "program",
        "commandline",
        "launcher",
        "wrapper",
        "runner",
        "tool",
        "plugin",
        "plugins",
        "preload",
        "hook",
        "extension",
        "server",
    ];
    let ends = |end: &str| {
        let from = name.len().checked_sub(end.len());
        let last = from.and_then(|from| name.get(from..));
        last.is_some_and(|last| last.eq_ignore_ascii_case(end))
    };
    ENDS.into_iter().any(ends)
}

/// Whether a path leads to where no project keeps sources: a folder for temporary files, or a hidden one
/// that is not shared.
pub(in crate::code) fn is_stored_nowhere(path: &str) -> bool {
    const SHARED: [&str; 22] = [
        ".github",
        ".gitlab",
        ".gitea",
        ".forgejo",
        ".circleci",
        ".husky",
        ".config",
        ".devcontainer",
        ".ci",
        ".buildkite",
        ".claude",
        ".cursor",
        ".codex",
        ".gemini",
        ".vscode",
        ".storybook",
        ".scripts",
        ".tools",
        ".githooks",
        ".agents",
        ".dev",
        ".build",
    ];
    let temporary = ["/tmp/", "/var/tmp/", "/dev/shm/"];
    let path = path.trim_matches(['"', '\'', ';', '&']);
    let shared = |part: &str| SHARED.iter().any(|known| part.starts_with(known));
    temporary.iter().any(|folder| path.starts_with(folder))
        || is_hidden(path) && !path.starts_with("~/") && !path.split('/').any(shared)
}

/// Objects in a setting: `profiles.linux: {bash: {path: …}}`.
const MAX_DEPTH: u32 = 3;

/// The odd program that a setting names: as its value, as the first of a list, in a member of it.
fn odd_program<'j>(name: &str, value: &'j Json<'_>, depth: u32) -> Option<&'j str> {
    const ENDS: [&str; 12] = [
        "path",
        "executable",
        "binary",
        "interpreter",
        "command",
        "program",
        "commandline",
        "cmd",
        "launcher",
        "wrapper",
        "runner",
        "tool",
    ];
    // A list of folders, which is judged as the variable that it is.
    if name == "PYTHONPATH"
        && value
            .as_str()
            .is_some_and(|text| !variables::loads(name, text))
    {
        return None;
    }
    let name = name.to_ascii_lowercase();
    let runs = ENDS.iter().any(|end| name.ends_with(end));
    // `alternateTools: {go: …}`: each member is a program.
    let tools = name.ends_with("tools") || name.ends_with("binaries") || name.ends_with("commands");
    // A path alone may lead to anything, also to what is no program.
    let sure = runs && (name == "path" || !name.ends_with("path"));
    let odd = |path: &&str| {
        let relative = path.starts_with(|c: char| c.is_ascii_alphanumeric()) && path.contains('/');
        let windows = path.contains(':');
        let here = sure && relative && !windows && is_odd_program(&format!("./{path}"));
        is_odd_program(path) || here || runs_odd(path)
    };
    match value {
        Json::String(text) => Some(&**text).filter(|path| runs && odd(path)),
        Json::Array(items) => {
            let first = items.first().and_then(Json::as_str);
            let words: Vec<&str> = items.iter().filter_map(Json::as_str).collect();
            first.filter(|path| runs && (odd(path) || runs_odd(&words.join(" "))))
        }
        Json::Object(members) if depth < MAX_DEPTH => members.iter().find_map(|(name, value)| {
            let name = if tools { "path" } else { name };
            odd_program(name, value, depth + 1)
        }),
        Json::Object(_) | Json::Null | Json::Bool(_) | Json::Number(_) => None,
    }
}

/// Whether a command line gives an interpreter a file where nobody looks: `sh .cache/a.sh`.
fn runs_odd(command: &str) -> bool {
    let mut words = command.split_whitespace();
    let program = words.next().unwrap_or("");
    let program = program.rsplit('/').next().unwrap_or(program);
    if !programs::is_shell(program) && programs::interpreter(program).is_none() {
        return false;
    }
    words.any(|word| {
        let word = word.trim_matches(['"', '\'', ';', '&']);
        is_hidden(word) || word.starts_with("/tmp/") || word.contains("://")
    })
}

/// Whether a path leads through a hidden folder that no tool keeps its programs in.
fn is_hidden(path: &str) -> bool {
    const KNOWN: [&str; 14] = [
        ".venv",
        ".yarn",
        ".pnp",
        ".direnv",
        ".nix-profile",
        ".cargo",
        ".rustup",
        ".local",
        ".nvm",
        ".pyenv",
        ".rbenv",
        ".asdf",
        ".volta",
        ".bin",
    ];
    let mut parts = path.split('/').filter(|part| part.len() > 2);
    path.contains('/')
        && !path.contains("node_modules")
        && parts.any(|part| {
            part.starts_with('.')
                && part != "..."
                && !part.starts_with("..")
                && !KNOWN.iter().any(|known| part.starts_with(known))
        })
}

/// Whether a program lies in a folder for temporary or hidden files, or among the project's sources.
fn is_odd_program(path: &str) -> bool {
    let made = [
        "node_modules",
        "venv",
        ".yarn",
        "target",
        "build",
        "dist",
        "vendor",
        "sdk",
        "toolchain",
    ];
    let temporary = ["/tmp/", "/var/tmp/", "/dev/shm/"]
        .iter()
        .any(|t| path.starts_with(t));
    let here = path.starts_with("${workspaceFolder}/") || path.starts_with("./");
    let file = path.rsplit('/').next().unwrap_or("");
    let extension = file.rsplit_once('.').map(|(_, extension)| extension);
    let document = extension.is_some_and(|extension| !matches!(extension, "sh" | "exe"));
    temporary
        || here && is_hidden(path)
        || here && !document && !made.iter().any(|part| path.contains(part))
}
