//! Where git works: what it deletes and writes in a folder that it is told to take for its own.

use super::args::Parsed;
use crate::effect::{Actor, Kind};
use crate::path::PathClass;
use crate::scene::{Fueled, Scene, is_sensitive};
use crate::tag::Tag;
use crate::value::Value;

/// Operands that are looked at.
const MAX_PATHS: usize = 64;
/// Commands that put files of a revision into the folder.
const FILLS: [&str; 9] = [
    "checkout",
    "checkout-index",
    "restore",
    "reset",
    "switch",
    "read-tree",
    "merge",
    "pull",
    "stash",
];

/// What git does in its folder. Where that is was entered before: relative paths start from there.
pub(super) fn acts(scene: &mut Scene<'_>, parsed: &Parsed, actor: &Actor) -> Fueled {
    cleans(scene, parsed, actor)?;
    // `git worktree add PATH`: the files of a revision appear there.
    let adds = actor.is(Tag::Worktree) && (actor.is(Tag::Add) || actor.is(Tag::Move));
    for path in parsed.operands.iter().take(2).filter(|_| adds) {
        if path.text.contains('/') {
            fills(scene, actor, path)?;
        }
    }
    if parsed.value_of(&["--work-tree"]).is_some() && parsed.is_sub(&FILLS) {
        fills(scene, actor, &Value::known("."))?;
    }
    Ok(())
}

/// Secrets that are taken into the next commit by their names.
pub(super) fn stages(scene: &mut Scene<'_>, parsed: &Parsed, actor: &Actor) -> Fueled {
    let takes = parsed.is_sub(&["add", "stage"])
        || parsed.is_sub(&["update-index"]) && parsed.given(&["--add"])
        || parsed.is_sub(&["commit"]) && !parsed.operands.is_empty();
    if !takes || parsed.tags.contains(&Tag::DryRun) {
        return Ok(());
    }
    for path in parsed.operands.iter().take(MAX_PATHS) {
        let place = scene.place(path);
        if place.is(PathClass::Secret) {
            let effect = actor.does(Kind::Vcs).tagged(Tag::Staged);
            scene.emit(effect.at(place).of(path))?;
        }
    }
    Ok(())
}

/// Files come into a folder. Most folders are made for them.
fn fills(scene: &mut Scene<'_>, actor: &Actor, folder: &Value) -> Fueled {
    if is_sensitive(&scene.place(folder)) {
        return scene.touch(actor, Kind::Write, folder);
    }
    Ok(())
}

/// `git clean` where it deletes more than files of a project: in a home, in the root folder, above the
/// project, or in a folder that is no repository of its own.
fn cleans(scene: &mut Scene<'_>, parsed: &Parsed, actor: &Actor) -> Fueled {
    if !parsed.is_sub(&["clean"]) || parsed.given(&["-n", "--dry-run"]) {
        return Ok(());
    }
    let actor = actor.and(Tag::Recursive);
    let told = parsed.value_of(&["--work-tree", "-C"]).is_some();
    let in_tree = parsed.value_of(&["--work-tree"]).is_some();
    let folder = Value::known(".");
    let place = scene.place(&folder);
    let above = [PathClass::HomeRoot, PathClass::Root, PathClass::ProjectRoot];
    let is_above = above.iter().any(|class| place.is(*class));
    let outside = !place.is(PathClass::Project);
    if parsed.operands.is_empty() {
        if outside && (is_above || in_tree && !place.is_harmless()) {
            scene.delete(&actor, &folder)?;
        }
        return Ok(());
    }
    for path in parsed.operands.iter().take(MAX_PATHS) {
        let place = scene.place(path);
        if (told || is_above) && !place.is(PathClass::Project) && !place.is_harmless() {
            scene.delete(&actor, path)?;
        }
    }
    Ok(())
}
