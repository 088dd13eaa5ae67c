//! Files whose text is known, and that change, get the execute bit or move: what comes out of that is
//! judged as a whole, and stays known.

use super::files::MAX_KEPT;
use super::{Fueled, Scene};
use crate::effect::{Actor, EffectKey};
use crate::language::{Language, programs};
use crate::path::{self, PathClass, Place};
use crate::tag::Tag;
use crate::value::{HOLE, Origins, Value};
use std::collections::HashSet;

/// A longer text is not read again for each change of it.
const MAX_READ_AGAIN: usize = 32 << 10;
/// Files and folders that were moved.
const MAX_MOVED: usize = 64;

impl Scene<'_> {
    /// The whole text of a file, if it is known: from calls, or from the disk for a file that is read
    /// as code, which `piece` is a part of.
    pub(super) fn whole(&self, place: &Place, piece: &str) -> Option<Value> {
        if self.written || place.is(PathClass::Stream) {
            return None;
        }
        if let Some(content) = self.files.get(&place.text) {
            let whole = !self.pieces.contains(&place.text) && content.is_known();
            return whole
                .then(|| content.clone())
                .filter(|c| !c.text.is_empty());
        }
        let facts = self.world.facts.as_ref()?;
        let own = place.is(PathClass::Project) && !place.is(PathClass::Secret);
        if !own || place.text.contains(HOLE) {
            return None;
        }
        self.language_of(&place.short, piece)?;
        let text = facts.content(&place.text, MAX_READ_AGAIN)?;
        (!text.contains(HOLE)).then(|| Value::known(text))
    }

    /// A part of a file changes: `added` is what is new in it, `change` makes the new text of the old.
    pub(crate) fn edit(
        &mut self,
        actor: &Actor,
        path: &Value,
        added: &Value,
        change: impl FnOnce(&str) -> Option<String>,
    ) -> Fueled {
        let place = self.place(path);
        let before = self.whole(&place, &added.text);
        self.write(&actor.and(Tag::Edit), path, added, false)?;
        let Some(before) = before else {
            return Ok(());
        };
        self.fuel.spend_on(before.text.len())?;
        match change(&before.text) {
            Some(after) => self.becomes(&place, &before, after),
            None => Ok(()),
        }
    }

    /// The text of a file was `before`, and is `after` from here on. What it does now and did not do
    /// before counts: the rest was judged when it was written.
    pub(super) fn becomes(&mut self, place: &Place, before: &Value, after: String) -> Fueled {
        if self.written || after.len() > MAX_KEPT {
            return Ok(());
        }
        let before = Value {
            origins: before.origins.without(Origins::FILE),
            ..before.clone()
        };
        let after = before.map(after);
        self.pieces.remove(&place.text);
        self.files.insert(&place.text, after.clone());
        if after.text.len().max(before.text.len()) > MAX_READ_AGAIN {
            return Ok(());
        }
        self.grant(before.text.len() + after.text.len());
        let (files, tried, start) = (self.files.clone(), self.tried, self.effects.len());
        self.read_written(place, &before)?;
        let old: HashSet<EffectKey> = self
            .effects
            .drain(start..)
            .map(|e| EffectKey::of(&e))
            .collect();
        self.tried = tried;
        self.read_written(place, &after)?;
        self.files = files;
        let new = self.effects.split_off(start.min(self.effects.len()));
        let is_new = |key: EffectKey| !old.contains(&key);
        self.effects
            .extend(new.into_iter().filter(|e| is_new(EffectKey::of(e))));
        Ok(())
    }

    /// A file that an earlier call wrote, and that runs now, may take as long to read as when it was
    /// written.
    pub(crate) fn grant_known(&mut self, path: &Value) {
        if self.written || self.world.pending.files.is_empty() {
            return;
        }
        let place = self.place(path);
        let bytes = self.world.pending.files.get(&place.text);
        if let Some(bytes) = bytes.map(|content| content.text.len()) {
            self.grant(bytes);
        }
    }

    /// A file becomes a program: what is known of it is a script, whatever its name says.
    pub(crate) fn becomes_program(&mut self, path: &Value) -> Fueled {
        if self.written || self.files.is_empty() {
            return Ok(());
        }
        let place = self.place(path);
        let Some(content) = self.files.get(&place.text).filter(|c| !c.is_blank()) else {
            return Ok(());
        };
        // Anything else was read as what it is when it was written.
        let language = self.language_of(&place.short, &content.text);
        if language.is_some_and(|language| !language.is_guess()) {
            return Ok(());
        }
        let code = content.clone();
        let line = code.text.strip_prefix("#!").and_then(|t| t.lines().next());
        let program = line.and_then(|l| l.split([' ', '/']).rfind(|word| !word.is_empty()));
        let language = program.and_then(programs::interpreter);
        self.grant(code.text.len());
        self.apart(|scene| {
            scene.written = true;
            scene.code(language.unwrap_or(Language::Shell), &code)
        })?;
        Ok(())
    }

    /// A known file runs with this call, at least in part: with what it uses as that is now.
    pub(crate) fn runs_written(&mut self, path: &str) -> Fueled {
        if self.written {
            return Ok(());
        }
        let Some(content) = self.files.get(path).filter(|c| !c.is_blank()).cloned() else {
            return Ok(());
        };
        let code = Value {
            origins: content.origins.without(Origins::FILE),
            ..content
        };
        let place = self.place(&Value::known(path));
        self.grant(code.text.len());
        let (files, outer) = (self.files.clone(), self.due);
        self.due = true;
        let done = self.read_written(&place, &code);
        self.due = outer;
        self.files = files;
        done
    }

    /// `link` is a symbolic link: a relative target starts from the folder that holds the link.
    pub(crate) fn symbolic_link(&mut self, target: &Value, link: &Value) {
        let name = self.place(link).text;
        let is_folder = link.text.ends_with('/') || matches!(link.text.as_str(), "." | "..");
        let folder = match name.rsplit_once('/') {
            Some((folder, _)) if !is_folder => folder,
            _ => name.trim_end_matches('/'),
        };
        if target.text.starts_with(['/', '~', HOLE]) || target.text.contains("://") {
            return self.link(target, link);
        }
        let target = target.map(format!("{folder}/{}", target.text));
        self.link(&target, link);
    }

    /// A file or folder is somewhere else from here on.
    pub(crate) fn note_moved(&mut self, from: &Value, to: &Value) {
        let place = self.place(from);
        if place.is_harmless() {
            return;
        }
        let mut from = place.text;
        let mut to_place = self.place(to).text;
        if to.text.ends_with('/') {
            let name = from.rsplit('/').next().unwrap_or("");
            to_place = format!("{}/{name}", to_place.trim_end_matches('/'));
        }
        let to = to_place;
        if self.moved.len() < MAX_MOVED && !self.written && !path::is_under(&from, &to) {
            // What was moved twice was first where it was first.
            let first = self.moved.iter().find(|(at, _)| path::is_under(&from, at));
            if let Some((_, first)) = first {
                from.clone_from(first);
            }
            self.moved.push((to, from));
        }
    }

    /// With a folder goes what was moved into it: that is as if it were deleted in its own place.
    pub(super) fn delete_moved(&mut self, actor: &Actor, path: &Value) -> Fueled {
        if self.moved.is_empty() || self.written {
            return Ok(());
        }
        let place = self.place(path);
        let folder = place.text.trim_end_matches(['*', '/']);
        let gone = |(at, _): &&(String, String)| path::is_under(at, folder);
        let lost: Vec<String> = self
            .moved
            .iter()
            .filter(gone)
            .map(|m| m.1.clone())
            .collect();
        self.moved.retain(|moved| !lost.contains(&moved.1));
        for from in lost {
            let from = Value::known(from);
            self.touch(actor, crate::effect::Kind::Delete, &from)?;
        }
        Ok(())
    }
}
