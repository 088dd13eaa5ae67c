//! Back doors and grabbers in source that is written: what a request brings is run, what people type
//! is sent to somebody else, a word in the code opens the door. Their names tell, whatever the
//! language (`doors.yaml`).

mod aliases;
mod homes;
mod loads;
pub(super) mod mask;
mod parts;
mod requests;
mod sends;
mod trust;
mod words;

use crate::code::Language;
use crate::effect::{Actor, Effect, Kind};
use crate::knowledge::doors::{DoorTable, Group, Present};
use crate::scene::{Fueled, Scene};
use crate::tag::Tag;
use crate::value::Value;
use mask::{Masked, masked};
use std::collections::HashSet;

/// What is found in one file is enough to ask.
const MAX_FOUND: usize = 16;

/// Looks for back doors and grabbers in a file.
pub(super) fn run(scene: &mut Scene<'_>, language: Language, code: &Value) -> Fueled {
    // Each name of the table is looked for in each line.
    scene.fuel.spend_on(code.text.len() * 16)?;
    let text = masked(&code.text);
    let mut doors = Doors::of(&scene.know.doors, &text);
    let mut found = Vec::new();
    if doors.brings_anything() {
        doors.aliases = aliases::of(&scene.know.doors, &text.code);
    }
    // Most files run nothing.
    if doors.brings_anything()
        && (!doors.aliases.is_empty()
            || memchr::memchr2(b'`', b'$', text.code.as_bytes()).is_some()
            || doors.has_bare_calls()
            || doors.may_raise()
            || doors.table.acts_in(&text.code))
    {
        doors.run_requests(&mut found);
    }
    if doors.present.has(Group::Homes) && doors.present.has(Group::Deletes) {
        doors.delete_homes(scene, &mut found);
    }
    if doors.present.has(Group::Comparisons) {
        doors.open_by_word(&mut found);
    }
    doors.trusts(scene, &mut found);
    found.extend(doors.sends(scene));
    doors.send_keys(scene, &mut found);
    if language == Language::Source {
        doors.load_scripts(scene, &mut found);
    }
    if let Some(word) = doors.mines() {
        found.push(
            Actor::new("file", word)
                .does(Kind::Exhaust)
                .tagged(Tag::Miner),
        );
    }
    for effect in found.into_iter().take(MAX_FOUND) {
        scene.emit(effect)?;
    }
    Ok(())
}

/// Looks for code from an address in what runs now. What is written is looked at as a whole.
pub(super) fn run_inline(scene: &mut Scene<'_>, code: &Value) -> Fueled {
    if scene.written || !code.text.contains("://") {
        return Ok(());
    }
    scene.fuel.spend_on(code.text.len() * 4)?;
    let text = masked(&code.text);
    let doors = Doors::of(&scene.know.doors, &text);
    let mut found = Vec::new();
    doors.load_scripts(scene, &mut found);
    for effect in found.into_iter().take(MAX_FOUND) {
        scene.emit(effect)?;
    }
    Ok(())
}

struct Doors<'t> {
    table: &'t DoorTable,
    text: &'t Masked,
    /// The names that the file has.
    present: Present<'t>,
    /// Other names that the file gives to functions that run a command, where requests are answered.
    aliases: HashSet<&'t str>,
}

impl<'t> Doors<'t> {
    fn of(table: &'t DoorTable, text: &'t Masked) -> Self {
        Doors {
            table,
            text,
            present: table.present(&text.clean),
            aliases: HashSet::new(),
        }
    }

    /// Whether a name of the group stands in the code itself, and not only in a text.
    fn is_in_code(&self, group: Group) -> bool {
        let mut names = self.present.of(group).iter();
        names.any(|name| self.text.code.contains(name))
    }

    fn mines(&self) -> Option<&'t str> {
        self.present.of(Group::Miners).first().copied()
    }
}

fn back_door(kind: Kind, line: &str) -> Effect {
    let actor = Actor::new("file", &crate::json::shorten(line.trim(), 200));
    actor.does(kind).tagged(Tag::BackDoor)
}
