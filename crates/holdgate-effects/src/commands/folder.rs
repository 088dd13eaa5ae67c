//! What a folder holds: programs that run what lies in it, or show all of it to others.

use super::args::Parsed;
use super::role::Role;
use super::targets;
use super::units::Run;
use crate::effect::{Actor, Kind};
use crate::path::PathClass;
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
