//! Patches that are only written to a file.

use super::{Fueled, Scene};
use crate::effect::{Actor, Kind};
use crate::own;
use crate::path::PathClass;
use crate::tag::Tag;
use crate::value::Value;

impl Scene<'_> {
    /// Whether a patch would change the guard's own files; and what it puts into programs, if it lies where
    /// package managers and builds take patches from.
    pub(super) fn announces_patch(&mut self, path: &str, patch: &Value) -> Fueled {
        self.fuel.spend_on(patch.text.len())?;
        for path in own::patched(&patch.text) {
            // Nobody knows from which folder it will be applied.
            let is_own = ["", "~/", "/"].iter().any(|folder| {
                let place = self.place(&Value::known(format!("{folder}{path}")));
                place.is(PathClass::Holdgate)
            });
            if is_own {
                let effect = Actor::new("patch", path).does(Kind::Guard);
                return self.emit(effect.tagged(Tag::Patch).about(path));
            }
        }
        if path.contains("/patches/") {
            return self.reads_patch(patch);
        }
        Ok(())
    }

    /// The lines that a patch adds, as the language of the file that gets them.
    fn reads_patch(&mut self, patch: &Value) -> Fueled {
        let mut parts: Vec<(&str, String)> = Vec::new();
        for line in patch.text.lines() {
            if let Some(path) = line.strip_prefix("+++ ") {
                let path = path.split('\t').next().unwrap_or(path).trim();
                parts.push((path.strip_prefix("b/").unwrap_or(path), String::new()));
            } else if let (Some(line), Some((_, added))) =
                (line.strip_prefix('+'), parts.last_mut())
            {
                added.push_str(line);
                added.push('\n');
            }
        }
        for (path, added) in parts {
            let added = patch.map(added);
            if let Some(language) = self.language_of(path, &added.text) {
                self.reads_later(language, &added, false)?;
                let interpreter = self.interpreter;
                self.apart(|scene| {
                    scene.written = true;
                    interpreter.shapes(scene, path, Some(language), &added, false)
                })?;
            }
        }
        Ok(())
    }
}
