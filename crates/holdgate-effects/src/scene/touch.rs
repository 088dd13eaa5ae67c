//! What is touched by words whose use no table settles. What they name counts: a sensitive place as
//! read and written, an address as asked, a command as run. All of it is tagged `suspect`, so that
//! only rules that deny take it for done.

use super::{Fueled, Scene};
use crate::effect::{Actor, Kind};
use crate::language::programs;
use crate::path::{PathClass, Place};
use crate::tag::Tag;
use crate::value::{HOLE, Value};

/// A longer text is a document, not a path or a command.
const MAX_LENGTH: usize = 4096;
/// Commands that one text may hold.
const MAX_COMMANDS: usize = 4;
/// Parts of one word that may be paths.
const MAX_PARTS: usize = 16;

/// Places that are touched if their name stands somewhere: what is kept there is secret, runs later
/// or gives power.
const SENSITIVE: [PathClass; 8] = [
    PathClass::Secret,
    PathClass::Startup,
    PathClass::RunsLater,
    PathClass::Privilege,
    PathClass::Holdgate,
    PathClass::AgentSettings,
    PathClass::Device,
    PathClass::Escape,
];

/// Whether what is kept at a place is secret, runs later or gives power.
pub(crate) fn is_sensitive(place: &Place) -> bool {
    SENSITIVE.iter().any(|class| place.is(*class))
}

impl Scene<'_> {
    /// A word is used, and nothing says how.
    pub(crate) fn touches(&mut self, actor: &Actor, word: &Value) -> Fueled {
        self.obeys(actor, word)?;
        let text = word.text.as_str();
        if text.len() > MAX_LENGTH || !text.contains(['/', '.', '~', '_', ' ', '$']) {
            return Ok(());
        }
        self.fuel.spend(4 + text.len() as u64 / 16)?;
        self.marks.push(Tag::Suspect);
        let done = self.touches_what_it_names(actor, word);
        self.marks.pop();
        done
    }

    /// Something is deleted by a function that is known by its name alone: it counts if people keep
    /// their own things there, or the system does.
    pub(crate) fn may_delete(&mut self, actor: &Actor, path: &Value) -> Fueled {
        if !leads_out(path) {
            return Ok(());
        }
        let place = self.place(path);
        let kept = [PathClass::Home, PathClass::HomeRoot, PathClass::System];
        if place.is_harmless() || !kept.iter().any(|class| place.is(*class)) {
            return Ok(());
        }
        self.marks.push(Tag::Suspect);
        let done = self.delete(&actor.and(Tag::Recursive), path);
        self.marks.pop();
        done
    }

    /// The same for one file, or for a function that writes: it counts where people keep their own things.
    pub(crate) fn changes_private(&mut self, actor: &Actor, kind: Kind, path: &Value) -> Fueled {
        // `sys.path.remove('/home/me/lib')` and `to('/users')` name no files.
        let named = path
            .text
            .rsplit('/')
            .next()
            .is_some_and(|name| name.contains(['.', '*', HOLE]));
        if !leads_out(path) || !named {
            return Ok(());
        }
        let place = self.place(path);
        let out = [PathClass::Project, PathClass::Workspace, PathClass::Secret];
        let inside = out.iter().any(|class| place.is(*class));
        if !place.is(PathClass::Home) || place.is_harmless() || inside {
            return Ok(());
        }
        if kind == Kind::Delete {
            self.delete(actor, path)
        } else {
            self.touch(actor, kind, path)
        }
    }

    fn touches_what_it_names(&mut self, actor: &Actor, word: &Value) -> Fueled {
        for part in paths_in(&word.text) {
            self.touches_place(actor, &word.map(part))?;
        }
        for part in paths_among_words(&word.text) {
            let path = word.map(part);
            let place = self.place(&path);
            if place.is(PathClass::Secret) {
                self.emit(actor.does(Kind::Read).at(place).of(&path))?;
            }
        }
        if word.text.contains("://") && !word.text.contains(char::is_whitespace) {
            self.fetch(actor, word)?;
        }
        let own = &self.know.own;
        for command in commands_in(&word.text, |program| own.is_program(program)) {
            let command = word.map(command);
            // Nothing of it is left behind: perhaps nobody runs it.
            let (files, links) = (self.files.clone(), self.links.len());
            self.apart(|scene| scene.shell(actor, &command))?;
            self.files = files;
            self.links.truncate(links);
        }
        Ok(())
    }

    fn touches_place(&mut self, actor: &Actor, path: &Value) -> Fueled {
        let place = self.place(path);
        if place.is(PathClass::Sensor) {
            // No name but that of a device leads there, and a program that is given one uses it.
            let suspect = self.marks.pop();
            let done = self.emit(actor.does(Kind::Read).at(place).of(path));
            self.marks.extend(suspect);
            return done;
        }
        if !is_sensitive(&place) {
            return Ok(());
        }
        self.emit(actor.does(Kind::Read).at(place.clone()).of(path))?;
        self.emit(actor.does(Kind::Write).at(place).of(path))
    }
}

/// Whether a path starts from the root, from a home or above this folder.
fn leads_out(path: &Value) -> bool {
    let text = path.text.trim_start_matches("./");
    let starts = text.starts_with(['/', '~']) || text.starts_with("..");
    starts && !path.text.contains(char::is_whitespace)
}

/// What in a word may be a path: `@file`, `--option=file`, `name:file`, `a|file:///file`.
fn paths_in(word: &str) -> Vec<&str> {
    if word.contains(char::is_whitespace) && !word.starts_with(['/', '~']) {
        return Vec::new();
    }
    let mut parts = Vec::new();
    for part in word.split(['=', '@', ',', '|', ';']) {
        let part = part.trim_start_matches("file://").trim_start_matches('<');
        parts.push(part);
        if let Some((_, path)) = part.split_once(':').filter(|_| !part.contains("://")) {
            parts.push(path);
        }
        // `av://v4l2:/dev/video0`
        if let Some(at) = part.rfind(":/dev/") {
            parts.push(part.get(at + 1..).unwrap_or(""));
        }
        if let Some((_, path)) = part.split_once("file:/") {
            parts.push(path.trim_start_matches('/'));
        }
        // `fileb:///etc/shadow`: an address without a host is a file.
        if let Some((at, _)) = part.match_indices(":///").next() {
            parts.push(part.get(at + 3..).unwrap_or(""));
        }
    }
    parts.retain(|part| part.contains(['/', '.', '~', '_']) && !part.contains("://"));
    parts.truncate(MAX_PARTS);
    parts
}

/// Paths from the root or a home that stand among words: `src=/etc/shadow dest=/x`.
fn paths_among_words(text: &str) -> Vec<&str> {
    if !text.contains(char::is_whitespace) || text.starts_with(['/', '~']) {
        return Vec::new();
    }
    let ends = |c: char| c.is_whitespace() || "\"'`()[]{}<>,;=@|".contains(c);
    let words = text.split(ends).filter(|word| word.len() > 3);
    let paths = words.filter(|word| word.starts_with('/') || word.starts_with("~/"));
    paths.take(MAX_PARTS).collect()
}

/// What in a text may be a command: from a program that is worth a look, at the start or after
/// something that could end what stands before it, to the end.
fn commands_in(text: &str, is_own: impl Fn(&str) -> bool) -> Vec<&str> {
    if !text.contains(' ') {
        return Vec::new();
    }
    let ends = |c: char| "\n;|&!@`'\"({=:%".contains(c);
    let mut found = Vec::new();
    let mut at_start = true;
    for (at, char) in text.char_indices() {
        if at_start && char.is_ascii_alphabetic() || char == '/' {
            let rest = text.get(at..).unwrap_or_default();
            let (program, arguments) = rest.split_once([' ', '\t']).unwrap_or((rest, ""));
            let telling = programs::is_telling(program) || is_own(program);
            if telling && !arguments.trim().is_empty() {
                found.push(up_to_quote(text, at));
            }
            if found.len() == MAX_COMMANDS {
                break;
            }
        }
        at_start = ends(char) || at_start && char.is_whitespace();
    }
    found
}

/// The text from `at`, to the end of the quotes that it may stand in.
fn up_to_quote(text: &str, at: usize) -> &str {
    let rest = text.get(at..).unwrap_or_default();
    let before = text
        .get(..at)
        .and_then(|t| t.trim_end().chars().next_back());
    match before.filter(|c| matches!(c, '"' | '\'' | '`')) {
        Some(quote) => rest.split(quote).next().unwrap_or(rest),
        None => rest,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_found_behind_marks() {
        assert_eq!(paths_in("--in=~/.ssh/id_rsa"), ["~/.ssh/id_rsa"]);
        assert_eq!(paths_in("@/etc/shadow"), ["/etc/shadow"]);
        assert_eq!(paths_in("some words with a/slash"), [""; 0]);
        assert!(paths_in("fileb:///etc/shadow").contains(&"/etc/shadow"));
        let among = paths_among_words("read (\"~/.ssh/x\") or a/slash");
        assert_eq!(among, ["~/.ssh/x"]);
    }

    #[test]
    fn commands_are_found_where_one_can_begin() {
        let found = |text| commands_in(text, |_| false);
        assert_eq!(found("|bash -i >& x"), ["bash -i >& x"]);
        assert_eq!(found("x:;@rm -rf ~"), ["rm -rf ~"]);
        assert_eq!(found("the rm command"), [""; 0]);
        assert_eq!(found("[\"sh\",\"rm -rf ~\"]"), ["rm -rf ~"]);
    }
}
