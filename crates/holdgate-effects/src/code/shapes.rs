//! Sabotage in files of any kind, by its shape: checks that are switched off, doors that are opened to
//! everybody, accounts that come with a migration, destruction that waits for a day, secrets that stand
//! beside an address. Other readers know the names of libraries; here the words in names and what stands
//! beside them tell, so that a library or a language that no table has is read as well.

mod accounts;
mod agrees;
mod chance;
mod checks;
mod delayed;
mod find;
mod given;
mod homes;
mod joined;
mod leaks;
mod lock;
mod locks;
mod open;
mod packed;
mod payee;
mod pieces;
mod pipeline;
mod policy;
mod published;
mod reported;
mod rights;
mod same;
mod scan;
mod settings;
mod sockets;
mod started;
mod steps;
mod through;
mod trusts;
mod unverified;

use super::doors::mask::masked;
use crate::effect::{Actor, Effect, Kind};
use crate::language::Language;
use crate::scene::{Fueled, Scene};
use crate::tag::Tag;
use crate::value::Value;
use scan::{Group, Groups, Text};

/// What is found in one file is enough to ask.
const MAX_FOUND: usize = 12;
/// A longer file is data.
const MAX_FILE: usize = 256 << 10;

/// Looks at a file that is written at `path`. In one that `quotes`, code stands as an example.
pub(crate) fn run(
    scene: &mut Scene<'_>,
    path: &str,
    language: Option<Language>,
    content: &Value,
    quotes: bool,
) -> Fueled {
    if content.text.len() > MAX_FILE {
        return Ok(());
    }
    scene.fuel.spend_on(content.text.len() * 2)?;
    if language.is_none() && is_document(path) {
        super::prose::orders::run_document(scene, content)?;
    }
    let mut found = Vec::new();
    policy::run(path, &content.text, &mut found);
    pipeline::run(&content.text, &mut found);
    if !quotes {
        rights::run(path, &content.text, &mut found);
        packed::run(path, &content.text, &scene.replaced, &mut found);
        lock::run(path, &content.text, &scene.replaced, &mut found);
        steps::run(scene, path, &content.text, &mut found);
        published::run(path, &content.text, &mut found);
    }
    if let Some(language) = language.filter(|_| !quotes) {
        if !language.is_guess() {
            joined::run(scene, path, &content.text, &mut found);
        }
        let groups = Groups::of(&content.text);
        if groups.any() {
            scene.fuel.spend_on(content.text.len() * 8)?;
            read(scene, path, language, content, groups, &mut found);
        }
    }
    for effect in found.into_iter().take(MAX_FOUND) {
        scene.emit(effect)?;
    }
    Ok(())
}

/// Whether people read the file, and agents with them.
fn is_document(path: &str) -> bool {
    let end = path.rsplit('.').next().unwrap_or("");
    ["md", "mdx", "markdown", "rst", "txt", "adoc"]
        .iter()
        .any(|known| end.eq_ignore_ascii_case(known))
}

fn read(
    scene: &Scene<'_>,
    path: &str,
    language: Language,
    content: &Value,
    groups: Groups,
    found: &mut Vec<Effect>,
) {
    let text = Text::of(path, language, masked(&content.text), &scene.replaced);
    if groups.has(Group::Trust) {
        unverified::run(&text, found);
    }
    if groups.has(Group::Everybody) {
        trusts::run(&text, found);
        open::run(&text, found);
    }
    if groups.has(Group::Raised) {
        accounts::run(&text, found);
    }
    if groups.has(Group::Credential) || groups.has(Group::Checks) {
        checks::run(&text, found);
    }
    if text.is_code() {
        locks::run(&text.low, found);
    }
    if groups.has(Group::Trust) || groups.has(Group::Checks) || groups.has(Group::Credential) {
        through::run(&text, found);
        same::run(&text, found);
    }
    if groups.has(Group::Chance) {
        chance::run(&text, found);
    }
    if groups.has(Group::Payee) {
        payee::run(&text, found);
    }
    if groups.has(Group::Personal) {
        given::run(scene, &text, found);
    }
    if groups.has(Group::Leads) && text.is_settings() {
        settings::run(scene, &text, found);
    }
    if groups.has(Group::Process) {
        started::run(&text, found);
    }
    let waits = groups.has(Group::Clock) || groups.has(Group::Machine) || groups.has(Group::Person);
    if waits && (groups.has(Group::Destroys) || groups.has(Group::Empties)) {
        delayed::run(&text, found);
    }
    if groups.has(Group::Destroys) && groups.has(Group::Home) {
        homes::run(scene, &text, found);
    }
    if groups.has(Group::Secret) || groups.has(Group::Environment) || groups.has(Group::Checks) {
        leaks::run(scene, &text, found);
    }
    if groups.has(Group::Socket) && groups.has(Group::Process) {
        sockets::run(scene, &text, found);
    }
}

/// Looks at code that runs now.
pub(crate) fn run_inline(scene: &mut Scene<'_>, code: &Value) -> Fueled {
    let mut found = Vec::new();
    if code.text.len() <= MAX_FILE && code.text.contains("rypt") {
        locks::run(&code.text.to_ascii_lowercase(), &mut found);
    }
    for effect in found {
        scene.emit(effect)?;
    }
    Ok(())
}

/// Somebody is let in who should not be.
fn door(line: &str) -> Effect {
    let actor = Actor::new("file", &crate::json::shorten(line.trim(), 200));
    actor.does(Kind::Elevate).tagged(Tag::BackDoor)
}

/// A protection is off, or everybody is let in.
fn access(tag: Tag, line: &str) -> Effect {
    let line = crate::json::shorten(line.trim(), 200);
    let actor = Actor::new("access", &line);
    actor.does(Kind::Remote).tagged(tag).about(&line)
}
