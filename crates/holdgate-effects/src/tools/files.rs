//! Tools that read and change files.

use super::Role;
use super::code::shell_lines;
use super::edit::{self, Replacement};
use super::fields::{Call, Fields, list_of_words};
use super::run::enter_folder;
use super::{unchecked, untested};
use crate::decode;
use crate::effect::{Actor, Kind};
use crate::json::Json;
use crate::language::Language;
use crate::patch::{self, MAX_CONTENT};
use crate::path::PathClass;
use crate::scene::{Fueled, Scene};
use crate::tag::Tag;
use crate::text;
use crate::value::Value;
use std::borrow::Cow;

/// Files that one text may be put into by one call.
const MAX_TARGETS: usize = 16;

pub(super) fn read(scene: &mut Scene<'_>, call: &Call<'_>) -> Fueled<bool> {
    let mut found = false;
    for item in call.fields.items() {
        let fields = Fields::of(scene, item)?;
        found |= read_all(scene, &call.actor, &fields)?;
    }
    found |= read_all(scene, &call.actor, &call.fields)?;
    Ok(found)
}

fn read_all(scene: &mut Scene<'_>, actor: &Actor, fields: &Fields<'_>) -> Fueled<bool> {
    let mut paths = fields.paths();
    // Some are given globs of what to read.
    let globs = fields.all(Role::Glob).filter(|(key, _)| *key != "pattern");
    for (_, value) in globs {
        paths.extend(list_of_words(value).unwrap_or_default());
    }
    for path in &paths {
        scene.read(actor, path)?;
    }
    Ok(!paths.is_empty())
}

/// Names or parts of files are shown: below a folder, or here.
pub(super) fn look(scene: &mut Scene<'_>, call: &Call<'_>, tag: Tag) -> Fueled<bool> {
    let mut actor = call.actor.and(tag);
    // Names or numbers only.
    let modes = ["files_with_matches", "count"];
    let mode = call.input.get("output_mode").and_then(Json::as_str);
    if mode.is_some_and(|mode| modes.contains(&mode)) {
        actor.tags.push(Tag::List);
    }
    let mut folders = call.fields.paths();
    if folders.is_empty() {
        folders.push(Value::known("."));
    }
    // What is searched for is no glob.
    let globs: Vec<&str> = call
        .fields
        .all(Role::Glob)
        .filter(|(key, _)| tag == Tag::List || *key != "pattern")
        .filter_map(|(_, value)| value.as_str())
        .collect();
    for folder in folders {
        scene.touch(&actor, Kind::Read, &folder)?;
        for glob in globs.iter().flat_map(|glob| alternatives(glob)) {
            let path = if glob.starts_with(['/', '~']) {
                glob
            } else {
                format!("{}/{glob}", folder.text)
            };
            let actor = actor.and(Tag::Filtered);
            scene.touch(&actor, Kind::Read, &Value::known(path))?;
        }
    }
    Ok(true)
}

/// What a glob with braces stands for: `*.{pem,key}` is `*.pem` and `*.key`.
fn alternatives(glob: &str) -> Vec<String> {
    let parts = glob.split_once('{').and_then(|(before, rest)| {
        let (inside, after) = rest.split_once('}')?;
        (!inside.contains('{')).then_some((before, inside, after))
    });
    let Some((before, inside, after)) = parts else {
        return vec![glob.to_owned()];
    };
    let inside = inside.split(',').take(MAX_TARGETS);
    inside.map(|one| format!("{before}{one}{after}")).collect()
}

/// New text for files: at once, or part by part.
pub(super) fn write(scene: &mut Scene<'_>, call: &Call<'_>) -> Fueled<bool> {
    let paths = call.fields.paths();
    let mut found = !paths.is_empty();
    let mut content = content_of(&call.fields);
    let mut edits = edit::of(&call.fields, call.input);
    for item in call.fields.items() {
        let fields = Fields::of(scene, item)?;
        let added = content_of(&fields);
        let mut own = fields.paths();
        // `{name: "index.ts", content: …}`
        let name = item.get("name").and_then(Json::as_str);
        if own.is_empty() && !added.is_empty() {
            own.extend(name.filter(|n| n.contains('.')).map(Value::known));
        }
        found |= !own.is_empty();
        if own.is_empty() {
            push_part(&mut content, &added);
            edits.extend(edit::of(&fields, item));
        } else {
            let edits = edit::of(&fields, item);
            change(scene, &call.actor, &fields, &own, (&added, &edits))?;
        }
    }
    let mut actor = call.actor.clone();
    let is_whole = |key: &str| matches!(key, "content" | "contents" | "text" | "file_text");
    if !call.fields.all(Role::Content).any(|(key, _)| is_whole(key)) {
        actor.tag([Tag::Edit]);
    }
    change(scene, &actor, &call.fields, &paths, (&content, &edits))?;
    Ok(found)
}

fn change(
    scene: &mut Scene<'_>,
    actor: &Actor,
    fields: &Fields<'_>,
    paths: &[Value],
    (content, edits): (&str, &[Replacement]),
) -> Fueled {
    if paths.len() > MAX_TARGETS {
        let effect = actor.does(Kind::Unreadable).tagged(Tag::TooLong);
        return scene.emit(effect.about("one edit for too many files"));
    }
    let verb = fields.text(Role::Action).unwrap_or_default();
    let deletes = ["delete", "remove"].iter().any(|v| verb.starts_with(v));
    let content = decoded(fields, content);
    // An edit that takes the guard's program out of somebody's settings.
    let own = scene.know.own.program.clone();
    let had_own = || fields.texts(Role::Label).iter().any(|t| t.contains(&*own));
    let removes_own = !own.is_empty() && !content.contains(&*own) && had_own();
    for path in paths {
        let settings = [
            PathClass::AgentSettings,
            PathClass::Hook,
            PathClass::Startup,
        ];
        if removes_own && settings.iter().any(|class| scene.place(path).is(*class)) {
            let effect = actor.does(Kind::Guard).tagged(Tag::Removes);
            scene.emit(effect.about(&path.text))?;
        }
        if !edits.is_empty() && unchecked::takes_check_out(&path.text, edits) {
            let door = actor.does(Kind::Elevate).tagged(Tag::BackDoor);
            scene.emit(door.tagged(Tag::Written).about(&path.text))?;
        }
        scene.fuel.spend_on(content.len())?;
        if untested::passes_unseen(&path.text, &edit::replaced(edits), &content) {
            let off = Actor::new("access", &path.text).does(Kind::Remote);
            let off = off.tagged(Tag::SecurityOff).tagged(Tag::Written);
            scene.emit(off.about(&path.text))?;
        }
        if deletes && content.is_empty() {
            scene.delete(actor, path)?;
        } else {
            let content = Value::known(text::beginning(&content, MAX_CONTENT));
            if edits.is_empty() {
                let actor = Scene::filler(actor, path, &content, false);
                scene.write(&actor, path, &content, false)?;
            } else {
                scene.replaced = edit::replaced(edits);
                scene.edit(actor, path, &content, |text| edit::apply(text, edits))?;
                scene.replaced.clear();
            }
        }
    }
    Ok(())
}

fn decoded<'t>(fields: &Fields<'_>, content: &'t str) -> Cow<'t, str> {
    let is_base64 = fields
        .text(Role::Encoding)
        .is_some_and(|e| e.eq_ignore_ascii_case("base64"));
    let bytes = is_base64.then(|| decode::base64(content)).flatten();
    bytes.map_or(Cow::Borrowed(content), |b| Cow::Owned(decode::text_of(b)))
}

fn content_of(fields: &Fields<'_>) -> String {
    let mut content = String::new();
    for (_, value) in fields.all(Role::Content) {
        match value {
            Json::String(text) if patch::is_search_and_replace(text) => {
                push_part(&mut content, &patch::added_text(text));
            }
            Json::String(text) => push_part(&mut content, text),
            Json::Array(items) => {
                for item in items {
                    if let Json::String(line) = item {
                        push_part(&mut content, line);
                    }
                }
            }
            Json::Object(_) => push_part(&mut content, &value.text()),
            Json::Null | Json::Bool(_) | Json::Number(_) => {}
        }
    }
    for diff in fields.texts(Role::Diff) {
        push_part(&mut content, &patch::added_text(diff));
    }
    content
}

fn push_part(content: &mut String, part: &str) {
    if !content.is_empty() && !content.ends_with('\n') {
        content.push('\n');
    }
    content.push_str(part);
}

/// Several verbs in one tool.
pub(super) fn editor(scene: &mut Scene<'_>, call: &Call<'_>) -> Fueled<bool> {
    match call.fields.text(Role::Action).unwrap_or_default() {
        "view" | "read" | "cat" | "open" => read(scene, call),
        "delete" | "remove" => delete(scene, call),
        "rename" | "move" => relocate(scene, call, Kind::Move),
        _ => write(scene, call),
    }
}

pub(super) fn patch(scene: &mut Scene<'_>, call: &Call<'_>) -> Fueled<bool> {
    enter_folder(scene, call);
    let paths = call.fields.paths();
    let patches = call.fields.texts(Role::Patch);
    // A patch beside the name of its one file is only the hunks.
    if !paths.is_empty() {
        return write(scene, call);
    }
    for text in &patches {
        patch::apply(scene, &call.actor, &Value::known(*text))?;
    }
    Ok(!patches.is_empty())
}

/// A cell's source runs when the notebook does.
pub(super) fn notebook(scene: &mut Scene<'_>, call: &Call<'_>) -> Fueled<bool> {
    let found = write(scene, call)?;
    let prose = call
        .fields
        .text(Role::Cell)
        .or_else(|| call.fields.text(Role::Language))
        .is_some_and(|cell| matches!(cell, "markdown" | "raw"));
    let source = content_of(&call.fields);
    if !prose && !source.is_empty() {
        let language = call
            .fields
            .text(Role::Language)
            .and_then(super::shape::language_named)
            .unwrap_or(Language::Python);
        scene.apart(|scene| {
            scene.written = true;
            for line in shell_lines(&source) {
                scene.shell(&call.actor, &Value::known(line))?;
            }
            scene.code(
                language,
                &Value::known(text::beginning(&source, MAX_CONTENT)),
            )
        })?;
    }
    Ok(found)
}

pub(super) fn make_folder(scene: &mut Scene<'_>, call: &Call<'_>) -> Fueled<bool> {
    let actor = call.actor.and(Tag::Folder);
    let paths = call.fields.paths();
    for path in &paths {
        scene.touch(&actor, Kind::Write, path)?;
    }
    Ok(!paths.is_empty())
}

pub(super) fn delete(scene: &mut Scene<'_>, call: &Call<'_>) -> Fueled<bool> {
    let mut actor = call.actor.clone();
    let whole = call.name.to_ascii_lowercase();
    let is_on = |key: &str| call.input.get(key) == Some(&Json::Bool(true));
    if is_on("recursive") || ["dir", "folder", "path"].iter().any(|w| whole.contains(w)) {
        actor.tags.push(Tag::Recursive);
    }
    let paths = call.fields.paths();
    for path in &paths {
        scene.delete(&actor, path)?;
    }
    Ok(!paths.is_empty())
}

/// Something goes, or is copied, from one place to another.
pub(super) fn relocate(scene: &mut Scene<'_>, call: &Call<'_>, kind: Kind) -> Fueled<bool> {
    let from = call.fields.texts(Role::From);
    let mut content = Value::default();
    for path in &from {
        let path = Value::known(*path);
        if kind == Kind::Move {
            scene.touch(&call.actor, Kind::Move, &path)?;
            let place = scene.place(&path);
            let mut targets = call.fields.texts(Role::To).into_iter();
            let kept = targets.all(|to| scene.place(&Value::known(to)).is(PathClass::Secret));
            if place.is(PathClass::Secret) && !kept {
                // Its new place is not one of secrets: whoever reads that reads it.
                scene.read(&call.actor, &path)?;
            }
            content.add_source(&scene.place(&path).text);
            for to in call.fields.texts(Role::To) {
                scene.note_moved(&path, &Value::known(to));
            }
        } else {
            content.push(&scene.read(&call.actor, &path)?);
        }
    }
    for path in call.fields.texts(Role::To) {
        scene.write(&call.actor, &Value::known(path), &content, false)?;
    }
    Ok(!from.is_empty())
}
