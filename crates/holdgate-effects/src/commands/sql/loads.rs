//! Code that statements load, and commands that leave nothing of a database.

use super::super::loads::fetched;
use crate::effect::{Actor, Kind};
use crate::path::PathClass;
use crate::scene::{Fueled, Scene};
use crate::tag::Tag;
use crate::value::Value;

/// Code that a client or server loads: `.load x`, `LOAD 'x'`, `load_extension('x')`, `AS 'x' LANGUAGE C`.
/// One that came from the network runs, whatever its ending; so does one that lies outside of the project.
pub(super) fn loads(scene: &mut Scene<'_>, actor: &Actor, value: &Value) -> Fueled {
    let lower = value.text.to_ascii_lowercase();
    let words = [".load", "load ", "load_extension", "language c", "install "];
    if !words.iter().any(|word| lower.contains(word)) {
        return Ok(());
    }
    let dot = value.text.lines().map(str::trim_start);
    let dot = dot.filter_map(|line| line.strip_prefix(".load "));
    let dot = dot.filter_map(|rest| rest.split_whitespace().next());
    let quoted = value.text.split('\'').skip(1).step_by(2);
    let named = dot
        .chain(quoted)
        .filter(|name| !name.contains(char::is_whitespace));
    for name in named.take(16) {
        let path = value.map(name.trim_matches(['"', '\'']));
        if path.text.contains("://") {
            let host = scene.know.hosts.host(&path);
            if lower.contains("install ") && scene.know.hosts.is_unheard_of(&host) {
                let effect = actor.does(Kind::Database).tagged(Tag::Shell);
                scene.emit(effect.about(&value.text))?;
            }
            continue;
        }
        if let Some(code) = fetched(scene, &path) {
            scene.executes(actor, &code)?;
            continue;
        }
        let place = scene.place(&path);
        let loose = place.is(PathClass::Temp) && path.text.starts_with('/');
        let is_code = !lower.contains("infile") && !lower.contains("load data");
        if loose && is_code && !actor.is(Tag::Query) {
            let effect = actor.does(Kind::Database).tagged(Tag::Shell);
            scene.emit(effect.about(&value.text))?;
        }
    }
    Ok(())
}

/// Commands of a client that put another database in the place of this one, or leave nothing of it.
pub(super) fn resets(scene: &mut Scene<'_>, actor: &Actor, value: &Value) -> Fueled {
    let lower = value.text.to_ascii_lowercase();
    let marks = [
        ".restore",
        "reset_database",
        "writable_schema",
        ".open --new",
    ];
    if !marks.iter().any(|mark| lower.contains(mark)) {
        return Ok(());
    }
    let mut actor = actor.clone();
    actor.tags.retain(|tag| *tag != Tag::TestTarget);
    let effect = actor.does(Kind::Database).tagged(Tag::Drop);
    scene.emit(effect.about(&value.text))
}
