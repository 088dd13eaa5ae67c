//! Strings that no entry of the table settles: each is read by its own look, whatever the argument is
//! called and however deep it is nested.

use super::fields::{Call, Leaf, leaves, path_readings};
use super::name::Name;
use super::{Role, Roles, Verb, code, run, shape, told};
use crate::commands::sql;
use crate::effect::Kind;
use crate::language::programs;
use crate::scene::{Fueled, Scene};
use crate::tag::Tag;
use crate::value::{HOLE_STR, Value};

/// A longer text is a document.
const MAX_LENGTH: usize = 4096;
/// Parts of one text that may be commands.
const MAX_PIECES: usize = 256;

/// The strings of a call that have none of the roles `used`.
pub(super) fn unsettled<'j>(
    scene: &Scene<'_>,
    call: &Call<'j>,
    used: Roles,
) -> Fueled<Vec<Leaf<'j>>> {
    let mut found = leaves(scene, call.input)?;
    found.retain(|leaf| {
        let is_settled = leaf.roles.any(used) && !leaf.deep;
        !is_settled && !leaf.roles.has(Role::Label)
    });
    Ok(found)
}

/// Reads strings that nothing settles.
pub(super) fn rest(
    scene: &mut Scene<'_>,
    call: &Call<'_>,
    name: &Name,
    found: &[Leaf<'_>],
) -> Fueled {
    let runs = name.says(scene, Verb::Run);
    let silent = Roles::of(&[Role::Prose, Role::Label, Role::Recipient]);
    // What such an argument holds is a text for people or for a file, unless the tool runs things.
    let texts = Roles::of(&[Role::Content, Role::Prompt, Role::Data, Role::Query]);
    for leaf in found {
        let is_text = leaf.roles.any(silent)
            || leaf.roles.any(texts) && !leaf.roles.has(Role::Command) && !runs;
        if !is_text || looks_like_path(leaf.text) {
            one(scene, call, name, leaf)?;
        }
    }
    Ok(())
}

fn one(scene: &mut Scene<'_>, call: &Call<'_>, name: &Name, leaf: &Leaf<'_>) -> Fueled {
    let text = leaf.text.trim();
    if text.len() > MAX_LENGTH {
        // Too long for one word: its lines may be commands.
        let most = if says_run(scene, name, leaf) {
            MAX_PIECES
        } else {
            0
        };
        for line in text.lines().take(most) {
            scene.touches(&call.actor, &Value::known(line.trim()))?;
        }
        return Ok(());
    }
    scene.fuel.spend_on(text.len())?;
    let is_word = !text.contains(char::is_whitespace) && !text.contains("://");
    if looks_like_path(text) || leaf.roles.has(Role::Path) && is_word {
        return path(scene, call, name, text);
    }
    let value = Value::known(text);
    if sql::looks_like(text) {
        return sql::run(scene, &call.actor, &value);
    }
    let first = text.split_whitespace().next().unwrap_or_default();
    let spaced = first.len() < text.len();
    if spaced && programs::is_telling(first) && says_run(scene, name, leaf) {
        return run::perhaps(scene, |scene| {
            scene.apart(|scene| scene.shell(&call.actor, &value).map(drop))
        });
    }
    if shape::looks_like_code(text) {
        scene.marks.push(Tag::Suspect);
        let done = run::perhaps(scene, |scene| {
            let language = shape::language(scene, call, text);
            code::run_code(scene, &call.actor, language, text)
        });
        scene.marks.pop();
        done?;
        return pieces(scene, call, text, &['\'', '"', '`']);
    }
    if text.starts_with('<') {
        return pieces(scene, call, text, &['<', '>']);
    }
    if is_prose(text) {
        return told::order(scene, call, text);
    }
    scene.touches(&call.actor, &value)
}

/// The parts of a text between such marks, each as a word of its own.
fn pieces(scene: &mut Scene<'_>, call: &Call<'_>, text: &str, marks: &[char]) -> Fueled {
    for piece in text.split(marks).take(MAX_PIECES) {
        if piece.contains(' ') {
            scene.touches(&call.actor, &Value::known(piece.trim()))?;
        }
    }
    Ok(())
}

/// Whether a text is made of sentences.
fn is_prose(text: &str) -> bool {
    let words = text.split_whitespace().count();
    words >= 5 && text.starts_with(char::is_uppercase)
}

/// The tool or its argument is called after running things: `invoke {line}`.
fn says_run(scene: &Scene<'_>, name: &Name, leaf: &Leaf<'_>) -> bool {
    name.says(scene, Verb::Run) || leaf.roles.has(Role::Command) || leaf.key == "line"
}

/// Where a path leads that climbs out of a folder which only the tool knows: `/notes/../../.bashrc`.
fn climbing(text: &str) -> Option<Value> {
    let mut depth = 0_usize;
    let mut rest = None;
    let mut at = 0;
    for part in text.split('/') {
        at += part.len() + 1;
        match part {
            "" | "." => {}
            ".." if depth == 0 => rest = text.get(at..),
            ".." => depth -= 1,
            _ => depth += 1,
        }
    }
    let rest = rest.filter(|rest| !rest.is_empty())?;
    Some(Value::known(format!("{HOLE_STR}/{rest}")))
}

/// A path, and what the tool's name says is done there.
fn path(scene: &mut Scene<'_>, call: &Call<'_>, name: &Name, text: &str) -> Fueled {
    let deletes = scene.know.tools.changes.get(&Tag::Delete);
    let deletes = deletes.is_some_and(|all| name.own.iter().any(|w| all.verbs.contains(w)));
    for path in path_readings(text).into_iter().chain(climbing(text)) {
        if deletes {
            let mut actor = call.actor.clone();
            actor.tags.push(Tag::Recursive);
            scene.delete(&actor, &path)?;
            continue;
        }
        let place = scene.place(&path);
        if !crate::scene::is_sensitive(&place) {
            continue;
        }
        if name.only_reads(scene) {
            scene.emit(call.actor.does(Kind::Read).at(place))?;
        } else {
            scene.touches(&call.actor, &path)?;
        }
    }
    Ok(())
}

/// Whether a text is a path by its look: it begins at a known place, and has no second line.
pub(super) fn looks_like_path(text: &str) -> bool {
    let text = text.trim();
    if !text.starts_with(['/', '~', '.', '\\', 'f', '%', '$'])
        && text.as_bytes().get(1) != Some(&b':')
    {
        return false;
    }
    let starts = [
        "/",
        "~/",
        "./",
        "../",
        "..\\",
        ".\\",
        "~\\",
        "\\\\",
        "file:",
        "%2",
        "$HOME",
        "${HOME}",
        "%USERPROFILE%",
        "%APPDATA%",
    ];
    let lower = text.get(..4).unwrap_or_default();
    let drive =
        matches!(lower.as_bytes(), [letter, b':', b'\\' | b'/', _] if letter.is_ascii_alphabetic());
    let begins = drive || starts.iter().any(|start| text.starts_with(start));
    begins
        && text.len() < 1024
        && !text.starts_with("//")
        && !text.contains(['\n', '<', '|', ';', '"'])
}
