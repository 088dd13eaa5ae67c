//! What a folder holds: programs that run what lies in it, or show all of it to others.

use super::args::Parsed;
use super::role::Role;
use crate::effect::{Actor, Kind};
use crate::scene::{Done, Scene};
use crate::tag::Tag;
use crate::value::{Origins, Value};

/// Programs, and the files of the folder that they run.
const RUNS: [(&[&str], &[&str]); 11] = [
    (
        &["make", "gmake", "bmake"],
        &["Makefile", "makefile", "GNUmakefile"],
    ),
    (&["just"], &["justfile", "Justfile", ".justfile"]),
    (&["task", "go-task"], &["Taskfile.yml", "Taskfile.yaml"]),
    (&["npm", "pnpm", "yarn", "bun"], &["package.json"]),
    (
        &["cargo"],
        &["build.rs", "Cargo.toml", ".cargo/config.toml"],
    ),
    (
        &["pytest", "tox", "nox"],
        &["conftest.py", "tox.ini", "noxfile.py"],
    ),
    (&["pip", "pip3", "uv"], &["setup.py"]),
    (&["rake"], &["Rakefile"]),
    (
        &["gradle", "gradlew"],
        &["build.gradle", "build.gradle.kts"],
    ),
    (&["cmake"], &["CMakeLists.txt"]),
    (
        &["invoke", "fab", "scons"],
        &["tasks.py", "fabfile.py", "SConstruct"],
    ),
];

/// `make` runs the Makefile that lies here, wherever that came from.
pub(super) fn runs_what_lies_here(
    scene: &mut Scene<'_>,
    program: &str,
    parsed: &Parsed,
    actor: &Actor,
) -> Done {
    if scene.files.is_empty() && !scene.holds_fetched() {
        return Ok(());
    }
    let Some((_, files)) = RUNS
        .iter()
        .find(|(programs, _)| programs.contains(&program))
    else {
        return Ok(());
    };
    if parsed.tags.iter().any(|t| *t == Tag::DryRun) {
        return Ok(());
    }
    for file in *files {
        let path = format!("{}/{file}", scene.cwd.trim_end_matches('/'));
        let loose = Origins::FETCHED | Origins::DECODED;
        let content = scene.files.get(&path).filter(|c| c.origins.any(loose));
        if let Some(content) = content.cloned() {
            scene.executes(actor, &content)?;
        }
    }
    let cwd = scene.cwd.clone();
    scene.runs_fetched(actor, &format!("{cwd}/x"))
}

/// A server that shows a folder to whoever asks.
pub(super) fn serves(scene: &mut Scene<'_>, parsed: &Parsed, actor: &Actor) -> Done {
    let option = parsed.options.iter().find_map(|o| match &o.value {
        Some((Role::Cwd, folder)) => Some(folder.clone()),
        _ => None,
    });
    let operand = || {
        let mut folders = parsed.operands.iter();
        folders
            .find(|o| o.text.starts_with(['/', '~', '.']))
            .cloned()
    };
    let folder = option.or_else(operand).unwrap_or(Value::known("."));
    let place = scene.place(&folder);
    scene.emit(actor.does(Kind::Listen).tagged(Tag::Serves).at(place))
}

/// `make SHELL=program`: every line of the Makefile is given to it.
pub(super) fn shell_of_make(scene: &mut Scene<'_>, parsed: &Parsed, actor: &Actor) -> Done {
    for operand in &parsed.operands {
        if let Some(shell) = operand.text.strip_prefix("SHELL=") {
            scene.set_environment(actor, "SHELL", &operand.map(shell.to_owned()))?;
        }
    }
    Ok(())
}
