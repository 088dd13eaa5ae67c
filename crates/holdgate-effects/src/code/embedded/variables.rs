//! Variables that settings of editors and agents give to all programs, and tasks that start by themselves.

use super::Reader;
use crate::effect::{Actor, Kind};
use crate::json::Json;
use crate::language::variables::{self, Use};
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
            if loads(name, text) {
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

/// Whether a variable loads a file of code that programs would not have.
fn loads(name: &str, value: &str) -> bool {
    let system = ["/usr/lib/", "/lib/", "/opt/homebrew/", "/usr/local/lib/"];
    if value.is_empty() || system.iter().any(|folder| value.starts_with(folder)) {
        return false;
    }
    let path = value.contains(['/', '\\']);
    match variables::use_of(name) {
        Some(
            Use::Libraries
            | Use::Programs
            | Use::Code(_)
            | Use::GitSettings
            | Use::GitSetting
            | Use::Prompt,
        ) => true,
        Some(Use::Script(_)) => path,
        Some(Use::Command) => path || value.contains(['|', ';', '$']),
        Some(Use::OptionsOf(..)) => {
            let marks = [
                "-r",
                "--require",
                "--import",
                "--loader",
                "agent",
                "-M",
                "-I",
                "--eval",
            ];
            path && marks.iter().any(|mark| value.contains(mark))
        }
        Some(Use::PerhapsCommand) | None => name == "PATH" && is_odd(value),
    }
}

/// Objects in a setting: `profiles.linux: {bash: {path: …}}`.
const MAX_DEPTH: u32 = 3;

/// The odd program that a setting names: as its value, as the first of a list, in a member of it.
fn odd_program<'j>(name: &str, value: &'j Json<'_>, depth: u32) -> Option<&'j str> {
    const ENDS: [&str; 6] = [
        "path",
        "executable",
        "binary",
        "interpreter",
        "command",
        "program",
    ];
    let name = name.to_ascii_lowercase();
    let runs = ENDS.iter().any(|end| name.ends_with(end));
    // A path alone may lead to anything, also to what is no program.
    let sure = runs && (name == "path" || !name.ends_with("path"));
    let odd = |path: &&str| {
        let relative = path.starts_with(|c: char| c.is_ascii_alphanumeric()) && path.contains('/');
        let windows = path.contains(':');
        let here = sure && relative && !windows && is_odd_program(&format!("./{path}"));
        is_odd_program(path) || here
    };
    match value {
        Json::String(text) => Some(&**text).filter(|path| runs && odd(path)),
        Json::Array(items) => {
            let first = items.first().and_then(Json::as_str);
            first.filter(|path| runs && odd(path))
        }
        Json::Object(members) if depth < MAX_DEPTH => members
            .iter()
            .find_map(|(name, value)| odd_program(name, value, depth + 1)),
        Json::Object(_) | Json::Null | Json::Bool(_) | Json::Number(_) => None,
    }
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
    temporary || here && !document && !made.iter().any(|part| path.contains(part))
}

/// Whether programs are looked for in the project before anywhere else.
fn is_odd(path: &str) -> bool {
    let first = path.split([':', ';']).next().unwrap_or("");
    let own = [
        "node_modules/.bin",
        "venv",
        "/bin",
        "target/",
        "scripts",
        "vendor",
    ];
    let here = first.starts_with("${workspaceFolder}")
        || first.starts_with('.')
        || first.starts_with("/tmp");
    here && !own.iter().any(|part| first.contains(part))
}
