//! What was moved and is deleted at its new place: it is still what it was.

use super::{Fueled, Scene};
use crate::effect::{Actor, Kind};
use crate::path::{self, PathClass};
use crate::tag::Tag;
use crate::value::Value;

/// Moves that are remembered.
const MAX_MOVED: usize = 64;

impl Scene<'_> {
    /// `from` lies at `to` from here on. What nobody can make again is remembered: the project, its
    /// history, a person's own folders.
    pub(crate) fn moves(&mut self, from: &Value, to: &Value) {
        let old = self.place(from);
        let name = old.text.rsplit('/').next().unwrap_or("");
        let history = matches!(name, ".git" | ".hg" | ".svn");
        let again = old.is(PathClass::Cache) || old.is(PathClass::Generated);
        let own = old.is(PathClass::Home) && !again;
        let whole = old.is(PathClass::ProjectRoot) || old.is(PathClass::HomeRoot);
        let new = self.place(to);
        let kept = new.is(PathClass::Project) || new.is(PathClass::Home);
        let counts = (history || own || whole) && !kept && !self.written;
        if !counts || self.moved.len() >= MAX_MOVED {
            return;
        }
        let new = if to.text.ends_with('/') && !name.contains('*') {
            format!("{}/{name}", new.text.trim_end_matches('/'))
        } else {
            new.text
        };
        self.moved.push((new, old.text));
    }

    /// A folder is deleted, and with it what was moved there.
    pub(super) fn deletes_moved(&mut self, actor: &Actor, folder: &Value) -> Fueled {
        if self.moved.is_empty() || !actor.is(Tag::Recursive) {
            return Ok(());
        }
        let folder = self.place(folder).text;
        let folder = folder.trim_end_matches("/*");
        let below = self
            .moved
            .iter()
            .filter(|(new, _)| path::is_under(new, folder));
        let gone: Vec<String> = below.map(|(_, old)| old.clone()).collect();
        for old in gone {
            self.touch(actor, Kind::Delete, &Value::known(old))?;
        }
        Ok(())
    }
}
