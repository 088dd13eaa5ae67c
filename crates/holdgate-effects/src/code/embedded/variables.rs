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
        for (name, value) in members {
            let last = name.rsplit('.').next().unwrap_or("").to_ascii_lowercase();
            let ends = ["path", "executable", "binary", "interpreter", "command"];
            let runs = name.contains('.') && ends.iter().any(|end| last.ends_with(end));
            let odd = value.as_str().filter(|path| is_odd_program(path));
            if let Some(path) = odd.filter(|_| runs && self.scene.written) {
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
