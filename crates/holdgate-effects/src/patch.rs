//! Patches: the `*** Begin Patch` form of `apply_patch`, unified diffs, and search-and-replace
//! blocks. Only what they write, delete and move is read, not whether they would apply.

mod unified;

use crate::effect::{Actor, Kind};
use crate::scene::{Fueled, Scene};
use crate::tag::Tag;
use crate::text;
use crate::value::Value;

/// Of longer new text only the beginning is read.
pub(crate) const MAX_CONTENT: usize = 256 << 10;

/// One thing that a patch does.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Change {
    /// A file gets this new text, in place of these parts or, without any, as all that it holds.
    Write(String, String, Vec<Hunk>),
    /// A file goes away.
    Delete(String),
    /// A file goes from here to there.
    Move(String, String),
}

/// A part of a file, as it was and as it becomes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hunk {
    pub(crate) old: String,
    pub(crate) new: String,
}

impl Hunk {
    /// Takes a line of a diff with its mark; `false` if it has none.
    fn takes(&mut self, line: &str) -> bool {
        match line.chars().next() {
            Some('+') => push_line(&mut self.new, line.get(1..).unwrap_or("")),
            Some('-') => push_line(&mut self.old, line.get(1..).unwrap_or("")),
            Some(' ') | None => {
                let line = line.get(1..).unwrap_or("");
                push_line(&mut self.old, line);
                push_line(&mut self.new, line);
            }
            Some(_) => return false,
        }
        true
    }
}

/// What a text becomes by these changes; `None` if they do not fit.
pub(crate) fn changed(text: &str, hunks: &[Hunk]) -> Option<String> {
    let mut text = text.to_owned();
    for Hunk { old, new } in hunks {
        if old.is_empty() {
            return None;
        }
        if text.contains(old.as_str()) {
            text = text.replacen(old.as_str(), new, 1);
            continue;
        }
        // The last line of a file may have no end.
        let (old, new) = (old.trim_end_matches('\n'), new.trim_end_matches('\n'));
        if old.is_empty() || !text.contains(old) {
            return None;
        }
        text = text.replacen(old, new, 1);
    }
    Some(text)
}

/// Says in `scene` what a patch does.
pub(crate) fn apply(scene: &mut Scene<'_>, actor: &Actor, patch: &Value) -> Fueled {
    scene.fuel.spend_on(patch.text.len())?;
    let Some(changes) = read(&patch.text) else {
        return scene.emit(
            actor
                .does(Kind::Unreadable)
                .tagged(Tag::Patch)
                .about("a patch that cannot be read"),
        );
    };
    for change in changes {
        match change {
            Change::Write(path, added, hunks) => {
                let added = text::beginning(&added, MAX_CONTENT).to_owned();
                let (path, added) = (patch.map(path), patch.map(added));
                if hunks.is_empty() {
                    scene.write(actor, &path, &added, false)?;
                } else {
                    let old: Vec<&str> = hunks.iter().map(|hunk| hunk.old.as_str()).collect();
                    scene.replaced = old.join("\n");
                    scene.edit(actor, &path, &added, |text| changed(text, &hunks))?;
                    scene.replaced.clear();
                }
            }
            Change::Delete(path) => scene.delete(actor, &patch.map(path))?,
            Change::Move(from, to) => {
                scene.touch(actor, Kind::Move, &patch.map(from))?;
                scene.write(actor, &patch.map(to), &Value::default(), false)?;
            }
        }
    }
    Ok(())
}

/// The text that a diff of one file puts in: what follows each `+`, or what replaces in
/// search-and-replace blocks; all of it if it is neither.
pub(crate) fn added_text(diff: &str) -> String {
    if let Some(replacements) = replacements(diff) {
        return replacements;
    }
    let is_diff = diff
        .lines()
        .any(|line| line.starts_with("@@") || line.starts_with("+++ "))
        || diff.lines().all(|line| line.starts_with(['+', '-', ' ']));
    if !is_diff {
        return diff.to_owned();
    }
    let mut added = String::new();
    for line in diff.lines() {
        if let Some(line) = line.strip_prefix('+')
            && !line.starts_with("++ ")
        {
            push_line(&mut added, line);
        }
    }
    added
}

/// The parts that a diff of one file, or search-and-replace blocks, change.
pub(crate) fn hunks(diff: &str) -> Vec<Hunk> {
    let mut hunks = Vec::new();
    blocks(diff, &mut hunks);
    if !hunks.is_empty() || !diff.lines().any(|line| line.starts_with("@@")) {
        return hunks;
    }
    let mut hunk = Hunk::default();
    for line in diff.lines().skip_while(|line| !line.starts_with("@@")) {
        if line.starts_with("@@") {
            hunks.push(std::mem::take(&mut hunk));
        } else {
            hunk.takes(line);
        }
    }
    hunks.push(hunk);
    hunks.retain(|hunk| *hunk != Hunk::default());
    hunks
}

/// Whether it is made of search-and-replace blocks.
pub(crate) fn is_search_and_replace(text: &str) -> bool {
    text.contains("SEARCH") && replacements(text).is_some()
}

/// What stands between `=======` and `>>>>>>> REPLACE`.
fn replacements(diff: &str) -> Option<String> {
    let mut hunks = Vec::new();
    blocks(diff, &mut hunks)?;
    Some(hunks.into_iter().map(|hunk| hunk.new).collect())
}

/// The search-and-replace blocks of a text, in the spellings of aider, Cline and Roo; `None` if it has
/// none.
fn blocks(diff: &str, hunks: &mut Vec<Hunk>) -> Option<()> {
    let mut found = false;
    let mut within = None;
    let mut hunk = Hunk::default();
    for line in diff.lines() {
        let mark = line.trim_end();
        let is_mark = |c: char, word: &str| {
            mark.strip_suffix(word)
                .map(str::trim_end)
                .is_some_and(|marks| marks.len() >= 3 && marks.chars().all(|m| m == c))
        };
        if is_mark('<', "SEARCH") || is_mark('-', "SEARCH") {
            within = Some(false);
        } else if within == Some(false) && is_mark('=', "") {
            within = Some(true);
            found = true;
        } else if within == Some(true) && (is_mark('>', "REPLACE") || is_mark('+', "REPLACE")) {
            within = None;
            hunks.push(std::mem::take(&mut hunk));
        } else if within == Some(true) {
            push_line(&mut hunk.new, line);
        } else if within == Some(false) && !line.starts_with(":start_line:") {
            push_line(&mut hunk.old, line);
        }
    }
    if found && within == Some(true) {
        hunks.push(hunk);
    }
    found.then_some(())
}

fn push_line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

/// `None` if it is no patch of any form.
fn read(text: &str) -> Option<Vec<Change>> {
    let is_marked = |line: &str| header(line.trim()).is_some() || is_frame(line.trim());
    if text.lines().any(is_marked) {
        read_marked(text)
    } else {
        unified::read(text)
    }
}

/// A header of the `apply_patch` form.
enum Header<'a> {
    /// A file, and whether it exists before.
    Change(&'a str, bool),
    Delete(&'a str),
    MoveTo(&'a str),
}

fn header(line: &str) -> Option<Header<'_>> {
    let (mark, path) = line.strip_prefix("***")?.split_once(':')?;
    let path = path.trim();
    if path.is_empty() {
        return None;
    }
    match mark.trim().to_ascii_lowercase().as_str() {
        "add file" => Some(Header::Change(path, false)),
        "update file" => Some(Header::Change(path, true)),
        "delete file" => Some(Header::Delete(path)),
        "move to" | "move file to" => Some(Header::MoveTo(path)),
        _ => None,
    }
}

fn is_frame(line: &str) -> bool {
    ["*** Begin Patch", "*** End Patch", "*** End of File"].contains(&line)
}

/// The file that the lines of a marked patch are about.
#[derive(Default)]
struct Section {
    path: String,
    moved_to: Option<String>,
    added: String,
    hunks: Vec<Hunk>,
    /// Whether it changes a file that exists: then an indented line is context.
    updates: bool,
}

impl Section {
    fn close(self, changes: &mut Vec<Change>) {
        if self.path.is_empty() {
            return;
        }
        match self.moved_to {
            Some(to) => {
                changes.push(Change::Move(self.path, to.clone()));
                changes.push(Change::Write(to, self.added, self.hunks));
            }
            None => changes.push(Change::Write(self.path, self.added, self.hunks)),
        }
    }
}

/// Missing frames and a here-document around it are as good as none.
fn read_marked(text: &str) -> Option<Vec<Change>> {
    let mut changes = Vec::new();
    let mut section = Section::default();
    for line in text.lines() {
        let as_header = if section.updates {
            line.trim_end()
        } else {
            line.trim()
        };
        match header(as_header) {
            Some(Header::Change(path, updates)) => {
                let next = Section {
                    path: path.to_owned(),
                    updates,
                    ..Section::default()
                };
                std::mem::replace(&mut section, next).close(&mut changes);
            }
            Some(Header::Delete(path)) => {
                std::mem::take(&mut section).close(&mut changes);
                changes.push(Change::Delete(path.to_owned()));
            }
            Some(Header::MoveTo(path)) => section.moved_to = Some(path.to_owned()),
            None => {
                if section.updates && !is_frame(line.trim_end()) {
                    if line.starts_with("@@") || section.hunks.is_empty() {
                        section.hunks.push(Hunk::default());
                    }
                    if let Some(hunk) = section.hunks.last_mut() {
                        hunk.takes(line);
                    }
                }
                if let Some(line) = line.strip_prefix('+') {
                    if section.path.is_empty() {
                        // New text for no file: whatever takes this takes it otherwise than we do.
                        return None;
                    }
                    push_line(&mut section.added, line);
                }
            }
        }
    }
    section.close(&mut changes);
    Some(changes)
}

#[cfg(test)]
mod tests;
