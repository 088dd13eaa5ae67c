//! Files and folders: where paths lead, what is read, written and deleted.

use super::{Fueled, Scene};
use crate::effect::{Actor, Kind};
use crate::language::Language;
use crate::path::{self, PathClass, Place};
use crate::tag::Tag;
use crate::traces::{self, MAX_LINKS};
use crate::value::{ENDLESS, HOLE, OLD_FILE, Origins, Value};

/// Fuel for all files that one call writes: about 50 ms.
const MAX_GRANT: u64 = 1_000_000;
/// What the disk is asked about a path costs so much.
const FUEL_OF_LOOK_UP: u64 = 40;
/// Bytes of a file that a tool writes which are kept for later calls.
pub(super) const MAX_KEPT: usize = 64 << 10;

impl Scene<'_> {
    /// Where a path leads from here.
    pub(crate) fn place(&self, path: &Value) -> Place {
        let mut cost = self.links.len() as u64 / 4;
        if self.world.facts.is_some() {
            cost += FUEL_OF_LOOK_UP + path.text.len() as u64 / 16;
        }
        if self.fuel.spend(cost).is_err() {
            // The next step ends the reading.
            self.fuel.exhaust();
        }
        if let Some(outside) = self.outside(path) {
            let mut place = self.know.paths.place(&outside, "/", self.world);
            place.classes.add(PathClass::Mounted);
            return place;
        }
        let folder = self.folder_for(&path.text);
        let mut place = self.resolved.place(path, folder, self.world, self.know);
        let runs = |folder: &String| path::is_under(&place.text, folder);
        if self.hook_folders.iter().any(runs) {
            place.classes.add(PathClass::Hook);
        }
        if self.lost_links {
            return place.unresolved();
        }
        match self.linked(&place.text) {
            Some(target) => {
                let folder = self.folder_for(&target);
                let target = Value::known(target);
                let target = self.know.paths.place(&target, folder, self.world);
                // The link may fail, say because something is there already.
                target.or(&place)
            }
            None => place,
        }
    }

    /// Where `path` leads by a link that the call made.
    pub(crate) fn linked(&self, path: &str) -> Option<String> {
        let (link, target) = self
            .links
            .iter()
            .rev()
            .find(|(link, _)| path::is_under(path, link))?;
        let rest = path.get(link.len()..).unwrap_or("");
        Some(format!("{}{rest}", target.trim_end_matches('/')))
    }

    /// `link` is `target` from here on.
    pub(crate) fn link(&mut self, target: &Value, link: &Value) {
        let target = self.place(target).text;
        let mut name = self.place(link).text;
        if name == target {
            return;
        }
        if self.links.len() >= MAX_LINKS {
            self.lost_links = true;
            return;
        }
        if link.text.ends_with('/') || link.text == "." {
            let file = target.rsplit('/').next().unwrap_or("");
            name = format!("{}/{file}", name.trim_end_matches('/'));
        }
        // Where something is already, the link may fail: then that is still what runs.
        let loose = |content: &&Value| content.origins.any(traces::LOOSE);
        if let Some(content) = self.files.get(&name).filter(loose).cloned() {
            self.files.insert(&target, content);
        }
        self.links.push((name, target));
    }

    /// A file or folder is read. Returns its content, which is known if the call wrote it.
    pub(crate) fn read(&mut self, actor: &Actor, path: &Value) -> Fueled<Value> {
        if path.text.is_empty() {
            return Ok(Value::default());
        }
        let place = self.place(path);
        if place.text == "/dev/null" {
            return Ok(Value::default());
        }
        let content = self.known(&place.text).cloned();
        let mut content = content.unwrap_or_else(|| Value::unknown(Origins::FILE));
        if place.is(PathClass::Secret) {
            content.origins |= Origins::SECRET;
        }
        if place.short.ends_with("/environ") {
            content.origins |= Origins::ENVIRONMENT;
        }
        if content.is_blank() && content.origins.any(Origins::FETCHED) && !self.written {
            self.seen.insert(place.text.clone());
        }
        content.add_source(&place.text);
        if path::is_endless(&place.text) {
            content.add_source(ENDLESS);
        }
        self.emit(actor.does(Kind::Read).at(place).of(path))?;
        Ok(content)
    }

    /// The actor that gives the file at `path` this content: one that empties it, if there is nothing
    /// in it but a remark.
    pub(crate) fn filler(actor: &Actor, path: &Value, content: &Value, append: bool) -> Actor {
        let part = [Tag::Edit, Tag::InPlace, Tag::Link, Tag::Mkdir];
        let part = append || part.into_iter().any(|tag| actor.is(tag));
        let known = content.origins == Origins::NONE && content.is_known();
        if known && !part && is_stub(&path.text, &content.text) {
            actor.and(Tag::Empties)
        } else {
            actor.clone()
        }
    }

    /// A file is created or changed.
    pub(crate) fn write(
        &mut self,
        actor: &Actor,
        path: &Value,
        content: &Value,
        append: bool,
    ) -> Fueled {
        if path.text.is_empty() {
            return Ok(());
        }
        let place = self.place(path);
        let before = if append && content.is_known() {
            self.whole(&place, &content.text)
        } else {
            None
        };
        let mut effect = actor.does(Kind::Write).at(place.clone()).of(content);
        if append {
            effect = effect.tagged(Tag::Append);
        } else if self.replaces_file(actor, &place) {
            effect = effect.tagged(Tag::Overwrite);
        }
        if content.loaded().next().is_some() {
            effect.origins |= Origins::SECRET;
        }
        if content.is_endless() && !place.is(PathClass::Stream) {
            effect = effect.tagged(Tag::Endless);
        }
        // `git show HEAD:f > f`: what was changed since is gone.
        let old = |s: &&std::sync::Arc<str>| s.strip_prefix(OLD_FILE) == Some(&*place.text);
        if !append && content.sources.iter().any(|s| old(&s)) {
            let lost = actor.does(Kind::Vcs).tagged(Tag::Discards);
            self.emit(lost.about(&place.text))?;
        }
        if !content.text.is_empty() {
            effect = effect.about(&content.text);
        }
        self.emit(effect)?;
        if self.depth > 0 && !place.is(PathClass::Stream) {
            let mut whole = match self.files.remove(&place.text) {
                // A link fails where something is.
                Some(before) if append || actor.is(Tag::Link) => before,
                _ => Value::default(),
            };
            let piece = actor.is(Tag::Edit) || append && whole.text.is_empty();
            whole.push(content);
            if piece {
                self.pieces.insert(place.text.clone());
            }
            self.files.insert(&place.text, whole);
        }
        self.read_written(&place, content)?;
        if self.depth == 0 && !self.written && content.text.len() <= MAX_KEPT {
            // Written by a tool: only later calls can use it.
            if actor.is(Tag::Edit) {
                self.pieces.insert(place.text.clone());
            } else {
                self.pieces.remove(&place.text);
            }
            self.files.insert(&place.text, content.clone());
        }
        match before {
            Some(before) => {
                let after = format!("{}{}", before.text, content.text);
                self.becomes(&place, &before, after)
            }
            None => Ok(()),
        }
    }

    /// Whether all that a file held is lost when it is written now. What this call wrote is known.
    fn replaces_file(&self, actor: &Actor, place: &Place) -> bool {
        // What a walk over personal files finds is there.
        if !self.written && place.text.contains("**") && place.is(PathClass::Home) {
            return !place.is_harmless();
        }
        let facts = self.world.facts.as_ref();
        let new = !self.written && !actor.is(Tag::Edit) && !self.files.contains(&place.text);
        new && !place.text.contains(HOLE) && facts.is_some_and(|f| f.is_file(&place.text))
    }

    /// How a file is read that lies at `path` (with `~` for the home), if it may run.
    pub(crate) fn language_of(&self, path: &str, content: &str) -> Option<Language> {
        self.know.files.language(path, content)
    }

    /// What is written to a file that will run does its work later: it is judged now.
    pub(super) fn read_written(&mut self, place: &Place, content: &Value) -> Fueled {
        if content.text.is_empty() || self.written || place.is(PathClass::Stream) {
            return Ok(());
        }
        self.runs_again(place, content)?;
        if matches!(
            place.short.rsplit('.').next(),
            Some("patch" | "diff" | "mbox" | "eml")
        ) {
            return self.announces_patch(&place.text, content);
        }
        self.takes_effect(place, content)?;
        let language = self.language_of(&place.short, &content.text);
        if self.depth == 0 {
            self.grant(content.text.len());
        }
        let quotes = self.quotes(place);
        self.shaped(place, language, content, quotes)?;
        let Some(language) = language else {
            return Ok(());
        };
        let (marks, links) = (self.marks.len(), self.links.len());
        let lost_links = self.lost_links;
        // A container's recipe and a pipeline's steps act elsewhere.
        let name = place.short.rsplit('/').next().unwrap_or("");
        let recipe = name.starts_with("Dockerfile")
            || name.rsplit('.').next() == Some("dockerfile")
            || name == "Containerfile";
        if recipe || place.short.contains("/.github/") || name == ".gitlab-ci.yml" {
            self.marks.push(Tag::Container);
        }
        self.script = Some(place.text.clone());
        let read = self.reads_later(language, content, quotes);
        self.script = None;
        read?;
        self.marks.truncate(marks);
        // They are there when it runs.
        self.links.truncate(links);
        self.lost_links = lost_links;
        Ok(())
    }

    /// Reads what will run later.
    pub(super) fn reads_later(
        &mut self,
        language: Language,
        content: &Value,
        quotes: bool,
    ) -> Fueled {
        self.apart(|scene| {
            scene.written = true;
            scene.reads_file(language, content, quotes)?;
            let rest = has_texts(language).then(|| resumed(&content.text));
            match rest.flatten() {
                Some(rest) => scene.reads_file(language, &content.map(rest), quotes),
                None => Ok(()),
            }
        })
    }

    /// What the shape of a written file says, whatever its language. Recipes of containers act elsewhere.
    fn shaped(
        &mut self,
        place: &Place,
        language: Option<Language>,
        content: &Value,
        quotes: bool,
    ) -> Fueled {
        let path = place.in_project().unwrap_or(&place.short).to_owned();
        self.apart(|scene| {
            scene.written = true;
            let interpreter = scene.interpreter;
            interpreter.shapes(scene, &path, language, content, quotes)
        })
    }

    fn reads_file(&mut self, language: Language, content: &Value, quotes: bool) -> Fueled {
        if !(quotes && is_guess(language)) {
            self.code(language, content)?;
        }
        // The texts that no call of a known function takes.
        if !quotes && has_texts(language) && language != Language::Source {
            self.code(Language::Source, content)?;
        }
        Ok(())
    }

    /// Whether commands stand in this file as examples, by where it lies in the project.
    fn quotes(&self, place: &Place) -> bool {
        let project = self.world.project.as_deref().unwrap_or("");
        let inside = place.text.strip_prefix(project).unwrap_or(&place.text);
        self.know.files.quotes(inside)
    }

    /// What was written to the file at this absolute path. Code that is only written does not run what
    /// earlier calls have downloaded: that is judged when it runs.
    pub(super) fn known(&self, path: &str) -> Option<&Value> {
        let content = self.files.get(path)?;
        let idle = self.written
            && !self.due
            && content.origins.any(traces::LOOSE)
            && content.origins.any(Origins::FILE);
        (!idle).then_some(content)
    }

    /// A file that a tool writes may take longer to read than a command: nobody types it.
    pub(super) fn grant(&mut self, bytes: usize) {
        let flat = if self.granted == 0 { 200_000 } else { 0 };
        let units = (flat + 8 * bytes as u64).min(MAX_GRANT.saturating_sub(self.granted));
        self.granted += units;
        self.fuel.grant(units);
    }

    /// A file or folder goes away.
    pub(crate) fn delete(&mut self, actor: &Actor, path: &Value) -> Fueled {
        let mut actor = actor.clone();
        if path.text.contains("**") {
            let place = self.place(path);
            // All personal files of a kind, one after the other: `find ~ -exec rm {} ;`.
            if place.is(PathClass::Home) && !place.is(PathClass::Project) {
                actor.tag([Tag::Recursive, Tag::Filtered]);
            }
        }
        self.delete_moved(&actor, path)?;
        self.touch(&actor, Kind::Delete, path)
    }

    /// Any other effect on a path.
    pub(crate) fn touch(&mut self, actor: &Actor, kind: Kind, path: &Value) -> Fueled {
        if path.text.is_empty() {
            return Ok(());
        }
        let place = self.place(path);
        self.emit(actor.does(kind).at(place).of(path))
    }

    /// What is known of a file's content without reading it.
    pub(crate) fn content(&self, path: &Value) -> Value {
        let place = self.place(path);
        if let Some(content) = self.files.get(&place.text) {
            return content.clone();
        }
        let mut content = Value::unknown(Origins::FILE).with_source(&place.text);
        if place.is(PathClass::Secret) {
            content.origins |= Origins::SECRET;
        }
        content
    }

    /// The program that `name` leads to, by a link in this folder.
    pub(crate) fn linked_program(&self, name: &Value) -> Option<String> {
        if self.links.is_empty() || !name.text.contains('/') {
            return None;
        }
        let path = path::absolute(&name.text, self.folder(), &self.world.home);
        self.linked(&path)
    }

    /// Whether the call itself has written this file.
    pub(crate) fn is_written(&self, path: &Value) -> bool {
        !self.files.is_empty() && self.files.contains(&self.place(path).text)
    }
}

/// Whether the reader of a language only looks for what may be commands.
fn is_guess(language: Language) -> bool {
    matches!(
        language,
        Language::Data | Language::Source | Language::Lines
    )
}

/// Whether code of a language holds texts that its reader may not have seen to run.
fn has_texts(language: Language) -> bool {
    matches!(
        language,
        Language::Python
            | Language::JavaScript
            | Language::Perl
            | Language::Ruby
            | Language::Php
            | Language::Lua
            | Language::PowerShell
            | Language::Compiled
            | Language::Other
            | Language::Source
    )
}

/// What follows the text or comment in which a piece of a file begins, if it seems to begin in one:
/// the first long quote stands alone on its line, as closing ones do.
fn resumed(text: &str) -> Option<&str> {
    for mark in ["\"\"\"", "'\'\'", "`", "*/"] {
        let Some(at) = memchr::memmem::find(text.as_bytes(), mark.as_bytes()) else {
            continue;
        };
        let before = text.get(..at).unwrap_or("");
        let after = text.get(at + mark.len()..).unwrap_or("");
        let line = before.rsplit('\n').next().unwrap_or("");
        let next = after.lines().next().unwrap_or("");
        let opens = mark == "*/" && before.contains("/*");
        if line.trim().is_empty() && !opens && next.len() < 8 && before.contains('\n') {
            return Some(after);
        }
    }
    None
}

/// Whether a text is as good as nothing: blank, or a remark in a file of code or settings.
fn is_stub(path: &str, text: &str) -> bool {
    const LONGEST: usize = 120;
    const REMARKS: [&str; 10] = [
        "# ", "#!", "//", "-- ", "/*", "*/", "<!--", "; ", "% ", "package ",
    ];
    const NOTHING: [&str; 14] = [
        "#",
        "{}",
        "[]",
        "---",
        "...",
        "pass",
        "null",
        "<?php",
        "export {};",
        "export {}",
        "export default {};",
        "module.exports = {};",
        "module.exports = {}",
        "\"use strict\";",
    ];
    let text = text.trim();
    if text.is_empty() {
        return true;
    }
    // There, a line with a hash is a heading.
    let prose = [".md", ".mdx", ".txt", ".rst", ".adoc"];
    if text.len() > LONGEST || prose.iter().any(|end| path.ends_with(end)) {
        return false;
    }
    let remark = |line: &str| REMARKS.iter().any(|mark| line.starts_with(mark));
    let mut lines = text.lines().map(str::trim);
    lines.all(|line| line.is_empty() || remark(line) || NOTHING.contains(&line))
}
