//! What a folder holds: programs that run what lies in it, or show all of it to others.

use super::args::Parsed;
use super::role::Role;
use super::targets;
use super::units::Run;
use crate::effect::{Actor, Kind};
use crate::path::PathClass;
use crate::pattern::Pattern;
use crate::scene::{Fueled, Scene};
use crate::tag::Tag;
use crate::value::{Origins, Value};

/// `make` runs the Makefile that lies here, wherever that came from.
pub(super) fn run_build_files(scene: &mut Scene<'_>, files: &[String], run: Run<'_>) -> Fueled {
    let known = !scene.files.is_empty() || scene.holds_fetched();
    if files.is_empty() || !known || run.parsed.tags.contains(&Tag::DryRun) {
        return Ok(());
    }
    for file in files {
        let path = format!("{}/{file}", scene.folder().trim_end_matches('/'));
        let loose = Origins::FETCHED | Origins::DECODED;
        let content = scene.files.get(&path).filter(|c| c.origins.any(loose));
        if let Some(content) = content.cloned() {
            scene.executes(run.actor, &content)?;
        }
        scene.runs_written(&path)?;
        targets::run(scene, &path, run)?;
    }
    let inside = format!("{}/x", scene.folder());
    scene.runs_fetched(run.actor, &inside)
}

/// `pytest` runs the tests that lie below this folder, `git commit` the hooks.
pub(super) fn run_known_files(scene: &mut Scene<'_>, patterns: &[String], run: Run<'_>) -> Fueled {
    let idle = scene.written || scene.files.is_empty() || run.parsed.tags.contains(&Tag::DryRun);
    if patterns.is_empty() || idle {
        return Ok(());
    }
    scene.fuel.spend(scene.files.len() as u64)?;
    let mut known = scene.known_files(|path| patterns.iter().any(|pattern| runs(pattern, path)));
    // The command line may name some of them.
    let named = |path: &String| {
        let mut words = run.call.words.iter().skip(1);
        words.any(|word| {
            let word = word.text.split("::").next().unwrap_or_default();
            let word = word.trim_start_matches("./").trim_end_matches('/');
            let below = || path.contains(&format!("/{word}/"));
            !word.is_empty() && (path.ends_with(&format!("/{word}")) || below())
        })
    };
    if known.iter().any(named) {
        known.retain(named);
    }
    for path in known {
        scene.runs_known(run.actor, &path)?;
    }
    Ok(())
}

/// `python -m a.b` runs `a/b.py`, or `a/b/__main__.py`.
pub(super) fn run_module(scene: &mut Scene<'_>, actor: &Actor, name: &str) -> Fueled {
    let file = format!("/{}", name.replace('.', "/"));
    let is_file = |path: &str| {
        let stem = path.strip_suffix(".py").unwrap_or_default();
        stem.ends_with(&file)
            || stem
                .strip_suffix("/__main__")
                .is_some_and(|s| s.ends_with(&file))
    };
    for path in scene.known_files(is_file) {
        scene.runs_known(actor, &path)?;
    }
    Ok(())
}

/// Whether a program runs the file at `path` by this pattern, which has a folder or only a name.
fn runs(pattern: &str, path: &str) -> bool {
    let (folder, name) = pattern.rsplit_once('/').unwrap_or(("", pattern));
    let (above, file) = path.rsplit_once('/').unwrap_or(("", path));
    let there = folder.is_empty() || above.ends_with(&format!("/{folder}"));
    there && Pattern::read(name).is_some_and(|name| name.matches(file))
}

/// A server that shows a folder to whoever asks.
pub(super) fn serves(scene: &mut Scene<'_>, parsed: &Parsed, actor: &Actor) -> Fueled {
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
pub(super) fn shell_of_make(scene: &mut Scene<'_>, parsed: &Parsed, actor: &Actor) -> Fueled {
    for operand in &parsed.operands {
        if let Some(shell) = operand.text.strip_prefix("SHELL=") {
            scene.set_environment(actor, "SHELL", &operand.map(shell))?;
        }
    }
    Ok(())
}

/// An archive is unpacked right here: it may put files over what this folder holds.
pub(super) fn unpacks_over(scene: &mut Scene<'_>, parsed: &Parsed, actor: &Actor) -> Fueled {
    let is = |tag: Tag| parsed.tags.contains(&tag);
    let elsewhere = parsed.given(&["-C", "--directory", "-d", "-O", "--to-stdout"]);
    let shows = !is(Tag::Extract) && parsed.given(&["-p", "-c"]);
    if elsewhere || shows || is(Tag::List) || is(Tag::Create) || is(Tag::Append) {
        return Ok(());
    }
    let here = Value::known(".");
    let place = scene.place(&here);
    let holds = [
        PathClass::HoldsHoldgate,
        PathClass::HoldsSecrets,
        PathClass::HomeRoot,
        PathClass::Startup,
        PathClass::Secret,
        PathClass::Root,
    ];
    let inside = place.is(PathClass::Project) && !place.is(PathClass::HomeRoot);
    if inside || !holds.iter().any(|class| place.is(*class)) {
        return Ok(());
    }
    scene.touch(&actor.and(Tag::Extract), Kind::Write, &here)
}
