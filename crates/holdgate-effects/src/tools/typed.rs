//! Keys that are typed into a terminal, in which something runs already.

use super::Role;
use super::fields::Call;
use super::run::{perhaps, too_long};
use crate::effect::{Effect, Kind};
use crate::scene::{Fueled, Scene};
use crate::tag::Tag;
use crate::value::{HOLE, Value};

/// Arguments that say which terminal it is.
const TERMINALS: [&str; 4] = ["session", "terminal", "shell", "pid"];

/// What is typed runs as a command in whatever shell is there; nothing typed is only a look.
pub(super) fn typed(scene: &mut Scene<'_>, call: &Call<'_>) -> Fueled<bool> {
    let texts = call.fields.texts(Role::Typed);
    if too_long(scene, &call.actor, &texts)? {
        return Ok(true);
    }
    let actor = &call.actor;
    scene.emit(actor.does(Kind::Run).tagged(Tag::Tool).tagged(Tag::Typed))?;
    let terminal = terminal(call);
    for keys in texts {
        let (edited, plain) = typed_lines(keys);
        run(scene, call, &edited)?;
        if plain != edited {
            run(scene, call, &plain)?;
        }
        let before = scene.typed.before(&terminal).to_owned();
        if !before.is_empty() {
            go_on(scene, call, &before, keys)?;
        }
        scene.typed.note(&terminal, keys);
    }
    Ok(true)
}

fn run(scene: &mut Scene<'_>, call: &Call<'_>, lines: &str) -> Fueled {
    if lines.trim().is_empty() {
        return Ok(());
    }
    perhaps(scene, |scene| {
        scene.shell(&call.actor, &Value::known(lines))
    })?;
    Ok(())
}

/// The shell may know variables and be in a folder, or wait for the rest of a line. What was done before counts once.
fn go_on(scene: &mut Scene<'_>, call: &Call<'_>, before: &str, keys: &str) -> Fueled {
    let start = scene.effects.len();
    let (lines, _) = typed_lines(before);
    scene.apart(|scene| run(scene, call, &lines))?;
    let mut known = scene.effects.split_off(start);
    let (lines, _) = typed_lines(&[before, keys].concat());
    scene.apart(|scene| run(scene, call, &lines))?;
    let new = scene.effects.split_off(start);
    for effect in new {
        scene.fuel.spend(known.len() as u64)?;
        let seen = known.iter().chain(&scene.effects);
        if !seen.into_iter().any(|other| is_same(&effect, other)) {
            scene.effects.push(effect.clone());
            known.push(effect);
        }
    }
    Ok(())
}

/// Whether two effects are the same in all that rules look at.
fn is_same(one: &Effect, other: &Effect) -> bool {
    let place = |effect: &Effect| effect.path.as_ref().map(|path| path.text.clone());
    let host = |effect: &Effect| effect.host.as_ref().map(|host| host.name.clone());
    one.kind == other.kind
        && one.program == other.program
        && one.evidence == other.evidence
        && one.text == other.text
        && one.tags == other.tags
        && one.origins == other.origins
        && one.sources == other.sources
        && place(one) == place(other)
        && host(one) == host(other)
}

/// The terminal that a call is about.
fn terminal(call: &Call<'_>) -> String {
    let members = call.input.as_object().unwrap_or_default().iter();
    let named = members.filter(|(key, _)| {
        let key = key.to_lowercase();
        key.ends_with("id") || TERMINALS.iter().any(|name| key == *name)
    });
    named.map(|(_, value)| value.to_string()).collect()
}

/// The lines that a terminal makes of keys: with what erases obeyed, and with it left out.
pub(super) fn typed_lines(keys: &str) -> (String, String) {
    let mut edited = String::with_capacity(keys.len());
    let mut plain = String::with_capacity(keys.len());
    let mut line_start = 0;
    let mut chars = keys.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\r' | '\n' => {
                edited.push('\n');
                plain.push('\n');
                line_start = edited.len();
            }
            // Completion: what it puts there cannot be known.
            '\t' => {
                let after_word = edited.chars().last().is_some_and(|c| !c.is_whitespace());
                let key = if after_word { HOLE } else { ' ' };
                edited.push(key);
                plain.push(key);
            }
            '\u{8}' | '\u{7f}' => {
                if edited.len() > line_start {
                    edited.pop();
                }
            }
            '\u{15}' => edited.truncate(line_start),
            '\u{1b}' => {
                // Arrows and the like: `ESC [ … letter`.
                if chars.next_if(|c| matches!(c, '[' | 'O')).is_some() {
                    while chars
                        .next_if(|c| !c.is_ascii_alphabetic() && *c != '~')
                        .is_some()
                    {}
                    chars.next();
                }
            }
            c if c.is_control() => {}
            c => {
                edited.push(c);
                plain.push(c);
            }
        }
    }
    (edited, plain)
}
