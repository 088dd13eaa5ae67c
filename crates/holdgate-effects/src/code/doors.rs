//! Back doors and grabbers in source that is written: what a request brings is run, what people type
//! is sent to somebody else, a word in the code opens the door. Their names tell, whatever the
//! language (`doors.yaml`).

mod mask;
mod parts;

use crate::code::Language;
use crate::effect::{Actor, Effect, Kind};
use crate::host::HostClass;
use crate::knowledge::doors::DoorTable;
use crate::language::programs;
use crate::scene::{Fueled, Scene};
use crate::tag::Tag;
use crate::value::{Origins, Value};
use mask::{Masked, masked};
use parts::{assignment, calls, end_of, first_argument, identifiers, inside, is_password, names};

/// Lines for which a name keeps what it was given.
const LINES_OF_NAME: usize = 40;
/// Names that are followed at once.
const MAX_NAMES: usize = 32;
/// Lines around an address in which something may be sent to it.
const LINES_BEFORE: usize = 3;
const LINES_AFTER: usize = 3;
/// Bytes around an address, where lines are long.
const MAX_WINDOW: usize = 1000;
/// What is found in one file is enough to ask.
const MAX_FOUND: usize = 4;

/// Looks for back doors and grabbers in a file.
pub(super) fn run(scene: &mut Scene<'_>, language: Language, code: &Value) -> Fueled {
    // Each name of the table is looked for in each line.
    scene.fuel.spend_on(code.text.len() * 16)?;
    let text = masked(&code.text);
    let doors = Doors {
        table: &scene.know.doors,
        text: &text,
    };
    let mut found = Vec::new();
    // Most files run nothing and delete nothing.
    if text.code.contains('`') || doors.table.acts_in(&text.code) {
        doors.run_requests(&mut found);
        doors.delete_homes(scene, &mut found);
    }
    doors.open_by_word(&mut found);
    for at in doors.sends(scene) {
        found.push(at);
    }
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

struct Doors<'t> {
    table: &'t DoorTable,
    text: &'t Masked,
}

/// A name that holds what a request brought, and the line where it got it.
type Held<'t> = (&'t str, usize);

impl<'t> Doors<'t> {
    /// Commands and code that a request brings.
    fn run_requests(&self, found: &mut Vec<Effect>) {
        if !self.brings_anything() {
            return;
        }
        let mut held: Vec<Held<'_>> = Vec::new();
        let mut offset = 0;
        let mut answers = false;
        for (number, line) in self.text.code.lines().enumerate() {
            let clean = self
                .text
                .clean
                .get(offset..offset + line.len())
                .unwrap_or("");
            held.retain(|(_, since)| number - since <= LINES_OF_NAME);
            self.hold(line, clean, number, &mut held);
            if self
                .table
                .routes
                .iter()
                .any(|mark| line.contains(mark.as_str()))
            {
                answers = true;
            } else if answers && line.contains("def ") {
                answers = false;
                let parameters = line.split_once('(').map_or("", |(_, p)| inside(p));
                let parts = parameters.split(',').filter_map(|p| identifiers(p).next());
                held.extend(parts.map(|name| (name, number)));
            }
            for (at, _) in line.match_indices('(') {
                let rest = self.text.code.get(offset + at + 1..).unwrap_or("");
                let arguments = inside(rest);
                let exact = self.text.clean.get(offset + at + 1..);
                let exact = exact.and_then(|e| e.get(..arguments.len())).unwrap_or("");
                let before = line.get(..at).unwrap_or("");
                if self.runs(before, arguments, exact, &held) {
                    found.push(back_door(Kind::ExecuteOpaque, clean));
                }
            }
            if line.match_indices('`').any(|(at, _)| {
                let inner = line.get(at + 1..).unwrap_or("");
                let inner = inner
                    .strip_prefix("#{")
                    .or_else(|| inner.strip_prefix("$_").map(|_| inner));
                inner.is_some_and(|inner| {
                    self.is_brought(inner.split('`').next().unwrap_or(""), &held)
                })
            }) {
                found.push(back_door(Kind::ExecuteOpaque, clean));
            }
            offset += line.len() + 1;
        }
    }

    fn brings_anything(&self) -> bool {
        let code = &self.text.code;
        let any = |names: &[String]| names.iter().any(|name| code.contains(name.as_str()));
        any(&self.table.requests)
            || any(&self.table.routes)
            || self
                .table
                .parameters
                .iter()
                .any(|mark| self.text.clean.contains(mark.as_str()))
    }

    /// Whether a call whose name ends `before` runs what it is given, and that was brought.
    fn runs(&self, before: &str, arguments: &str, exact: &str, held: &[Held<'_>]) -> bool {
        let before = before.trim_end();
        let first = first_argument(arguments);
        if calls(&self.table.code, before) && self.is_brought(first, held) {
            return true;
        }
        if !calls(&self.table.commands, before) {
            return false;
        }
        let exact_first = exact
            .get(..first.len())
            .unwrap_or("")
            .trim_start_matches(['[', ' ', '{', '(']);
        let literal = exact_first.trim_start_matches(['f', '$', '@']);
        let word = literal
            .get(1..)
            .unwrap_or("")
            .split(['"', '\'', '`', ' '])
            .next()
            .unwrap_or("");
        let quoted = literal.starts_with(['"', '\'', '`']);
        if quoted && programs::is_shell(word) {
            return self.is_brought(arguments, held);
        }
        // Where a text comes first, the request only adds to it.
        let starts_with_hole = ["${", "#{", "{"]
            .iter()
            .any(|hole| literal.get(1..).unwrap_or("").starts_with(hole));
        self.is_brought(first, held) && (!quoted || word.is_empty() || starts_with_hole)
    }

    fn is_brought(&self, expression: &str, held: &[Held<'_>]) -> bool {
        self.table
            .requests
            .iter()
            .any(|name| names(expression, name))
            || held.iter().any(|(name, _)| names(expression, name))
    }

    /// Notes the names that a line gives what a request brought.
    fn hold<'l>(&self, line: &'l str, clean: &'l str, number: usize, held: &mut Vec<Held<'l>>) {
        for mark in &self.table.parameters {
            let Some((_, after)) = clean.split_once(mark.as_str()) else {
                continue;
            };
            let after = if mark.ends_with('(') {
                after.split_once(')').map_or("", |(_, a)| a)
            } else {
                after
            };
            let end = after.trim_start_matches(['(', ' ']).find([',', ')', '=']);
            let skipped = after.len() - after.trim_start_matches(['(', ' ']).len();
            let part = after.get(..skipped + end.unwrap_or(0)).unwrap_or("");
            held.extend(identifiers(part).map(|name| (name, number)));
        }
        let Some((left, right)) = assignment(line) else {
            return;
        };
        if self.is_brought(right, held) {
            held.extend(identifiers(left).map(|name| (name, number)));
        }
        let over = held.len().saturating_sub(MAX_NAMES);
        held.drain(..over);
    }

    /// A comparison of what somebody must know with a word that stands in the code.
    fn open_by_word(&self, found: &mut Vec<Effect>) {
        let mut offset = 0;
        for line in self.text.code.lines() {
            let clean = self
                .text
                .clean
                .get(offset..offset + line.len())
                .unwrap_or("");
            offset += line.len() + 1;
            for (at, _) in line
                .match_indices("==")
                .chain(line.match_indices(".equals("))
            {
                let left = line.get(..at).unwrap_or("").trim_end();
                let name = left
                    .rsplit(|c: char| !(c.is_alphanumeric() || c == '_'))
                    .next()
                    .unwrap_or("");
                let right = clean.get(at..).unwrap_or("");
                let right = right
                    .trim_start_matches(".equals(")
                    .trim_start_matches(['=', ' ']);
                let word = right
                    .strip_prefix(['"', '\''])
                    .and_then(|r| r.split(['"', '\'']).next());
                let key = self
                    .table
                    .keys
                    .iter()
                    .any(|key| key.eq_ignore_ascii_case(name));
                if key && word.is_some_and(is_password) {
                    found.push(back_door(Kind::Elevate, clean));
                }
            }
        }
    }

    /// What people type, or the environment, goes to an address that is somebody else's.
    fn sends(&self, scene: &Scene<'_>) -> Vec<Effect> {
        let mut found = Vec::new();
        let starts: Vec<usize> = std::iter::once(0)
            .chain(self.text.code.match_indices('\n').map(|(at, _)| at + 1))
            .collect();
        for (at, _) in self.text.clean.match_indices("://").take(256) {
            let before = self.text.clean.get(..at).unwrap_or("");
            let scheme = ["https", "http", "wss", "ws"]
                .iter()
                .find(|s| before.ends_with(**s));
            let Some(scheme) = scheme else {
                continue;
            };
            let rest = self.text.clean.get(at - scheme.len()..).unwrap_or("");
            let url = rest
                .split(['"', '\'', '`', ' ', '\n', '<', '>', ')'])
                .next()
                .unwrap_or("");
            let host = scene.know.hosts.host(&Value::known(url));
            let named = host.name.contains('.') && !host.name.contains(['$', '{', '%', '#']);
            if !named || !matches!(host.class, HostClass::External | HostClass::Drop) {
                continue;
            }
            let line = starts
                .partition_point(|start| *start <= at)
                .saturating_sub(1);
            let from = starts
                .get(line.saturating_sub(LINES_BEFORE))
                .copied()
                .unwrap_or(0);
            let to = starts
                .get(line + LINES_AFTER + 1)
                .copied()
                .unwrap_or(self.text.code.len());
            let window = self.window(
                from.max(at.saturating_sub(MAX_WINDOW)),
                to.min(at + MAX_WINDOW),
            );
            if !self.table.sends.iter().any(|name| names(window, name)) {
                continue;
            }
            let shown = scene_line(&self.text.clean, &starts, line);
            let actor = Actor::new("file", &shown);
            let effect = |tag| {
                actor
                    .does(Kind::Send)
                    .with(host.clone())
                    .about(url)
                    .tagged(tag)
            };
            if self
                .table
                .environment
                .iter()
                .any(|name| window.contains(name.as_str()))
            {
                let mut effect = effect(Tag::WholeEnvironment);
                effect.origins |= Origins::ENVIRONMENT;
                found.push(effect);
            } else if self.table.private.iter().any(|name| names(window, name))
                && !self.is_login(url)
            {
                found.push(effect(Tag::Grabs));
            }
        }
        found
    }

    fn window(&self, from: usize, to: usize) -> &'t str {
        let code = &self.text.code;
        let from = (from..=to)
            .find(|at| code.is_char_boundary(*at))
            .unwrap_or(0);
        let to = (to..code.len()).find(|at| code.is_char_boundary(*at));
        code.get(from..to.unwrap_or(code.len())).unwrap_or("")
    }

    fn is_login(&self, url: &str) -> bool {
        let url = url.to_ascii_lowercase();
        let path = url.split_once("://").map_or("", |(_, rest)| rest);
        self.table
            .logins
            .iter()
            .any(|word| path.contains(word.as_str()))
    }

    /// A whole home that is deleted: nothing is put behind its name.
    fn delete_homes(&self, scene: &Scene<'_>, found: &mut Vec<Effect>) {
        let any = |names: &[String]| {
            names
                .iter()
                .any(|name| self.text.code.contains(name.as_str()))
        };
        if !any(&self.table.homes) || !any(&self.table.deletes) {
            return;
        }
        for (at, _) in self.text.code.match_indices('(') {
            let before = end_of(self.text.code.get(..at).unwrap_or(""));
            let before = before.trim_end_matches('!');
            let name = before.rsplit([':', '>']).next().unwrap_or(before);
            let by_name = name.rsplit('.').next().unwrap_or(name);
            if !calls(&self.table.deletes, name) && !calls(&self.table.deletes, by_name) {
                continue;
            }
            let arguments = inside(self.text.code.get(at + 1..).unwrap_or(""));
            let first = first_argument(arguments);
            let whole = !first.contains(['"', '\'', '`', '+', '/']) && !first.contains("join");
            if whole && self.table.homes.iter().any(|home| names(first, home)) {
                let shown = crate::json::shorten(arguments, 200);
                let actor = Actor::new(by_name.trim(), &shown).and(Tag::Recursive);
                found.push(actor.does(Kind::Delete).at(scene.place(&Value::known("~"))));
            }
        }
    }

    /// Scripts that are run from an address.
    fn load_scripts(&self, scene: &Scene<'_>, found: &mut Vec<Effect>) {
        for (at, _) in self.text.code.match_indices('(') {
            let before = end_of(self.text.code.get(..at).unwrap_or(""));
            let argument = self.text.clean.get(at + 1..).unwrap_or("").trim_start();
            let url = argument
                .get(1..)
                .unwrap_or("")
                .split(['"', '\''])
                .next()
                .unwrap_or("");
            if url.starts_with("http") && url.contains("://") && calls(&self.table.loads, before) {
                let code = Value::unknown(Origins::FETCHED).with_source(url);
                let host = scene.know.hosts.host(&Value::known(url));
                let actor = Actor::new("source", url);
                found.push(actor.does(Kind::ExecuteFetched).of(&code).with(host));
            }
        }
    }

    fn mines(&self) -> Option<&'t str> {
        let mut words = self.table.miners.iter().map(String::as_str);
        words.find(|word| self.text.clean.contains(word))
    }
}

fn back_door(kind: Kind, line: &str) -> Effect {
    let actor = Actor::new("file", &crate::json::shorten(line.trim(), 200));
    actor.does(kind).tagged(Tag::BackDoor)
}

fn scene_line(text: &str, starts: &[usize], line: usize) -> String {
    let start = starts.get(line).copied().unwrap_or(0);
    let rest = text.get(start..).unwrap_or("");
    crate::json::shorten(rest.lines().next().unwrap_or("").trim(), 200)
}
