//! Files of this conversation that tell a program what to do: settings that name what it reads and where
//! that goes.

use super::{Fueled, Scene};
use crate::effect::{Actor, Kind};
use crate::host::HostClass;
use crate::language::Language;
use crate::path::PathClass;
use crate::tag::Tag;
use crate::value::Value;
use std::collections::BTreeSet;

/// Words of such a file that are looked at.
const MAX_WORDS: usize = 4096;

impl Scene<'_> {
    /// A program gets a file by a word whose use nothing settles, or by an option for settings. If the file
    /// is known and names both secrets of the machine and an address outside, the program reads them.
    pub(crate) fn obeys(&mut self, actor: &Actor, word: &Value) -> Fueled {
        if self.written || self.files.is_empty() {
            return Ok(());
        }
        let path = word.text.rsplit('=').next().unwrap_or_default();
        let place = self.place(&Value::known(path));
        let Some(content) = self
            .files
            .get(&place.text)
            .filter(|content| !content.is_blank())
        else {
            return Ok(());
        };
        let settings = match self.language_of(&place.short, &content.text) {
            Some(
                Language::Data
                | Language::Lines
                | Language::Markup
                | Language::Embedded
                | Language::Source,
            ) => true,
            Some(_) | None => false,
        };
        if !settings {
            return Ok(());
        }
        self.fuel.spend_on(content.text.len())?;
        let split = |c: char| c.is_whitespace() || "\"'`,;()[]{}<>=".contains(c);
        let words: Vec<String> = content
            .text
            .split(split)
            .filter(|word| word.contains('/') || word.contains('~'))
            .take(MAX_WORDS)
            .map(str::to_owned)
            .collect();
        let outside = |word: &String| {
            let host = self.know.hosts.host(&Value::known(word.as_str()));
            word.contains("://") && matches!(host.class, HostClass::External | HostClass::Drop)
        };
        let is_path = |word: &&String| word.starts_with(['/', '~', '$']) && !word.contains("://");
        if !words.iter().any(outside) {
            return Ok(());
        }
        let mut secrets = BTreeSet::new();
        for word in words.iter().filter(is_path) {
            let word = word.replace("${HOME}", "~").replace("$HOME", "~");
            let place = self.place(&Value::known(word.as_str()));
            let holds = place.is(PathClass::Secret) || place.is(PathClass::HoldsSecrets);
            if holds && !place.is(PathClass::Project) && secrets.insert(place.text.clone()) {
                let effect = actor.does(Kind::Read).tagged(Tag::Obeyed);
                self.emit(effect.at(place))?;
            }
        }
        Ok(())
    }
}
