//! Files of this conversation that run although no word of the call names them: tests, hooks, modules.

use super::{Fueled, Scene};
use crate::effect::Actor;
use crate::language::Language;
use crate::path;
use crate::tag::Tag;
use crate::value::{HOLE, Origins, Value};

/// Bytes of such files that are read for one call; what is more was judged when it was written.
const MAX_KNOWN: usize = 24 << 10;

impl Scene<'_> {
    /// A known file runs now, and is read once for each call.
    pub(crate) fn runs_known(&mut self, actor: &Actor, path: &str) -> Fueled {
        if self.written || self.run.iter().any(|known| known == path) {
            return Ok(());
        }
        let Some(code) = self.files.get(path).cloned() else {
            return Ok(());
        };
        if code.is_blank() {
            let loose = code.origins.any(Origins::FETCHED | Origins::DECODED);
            return if loose {
                self.executes(actor, &code)
            } else {
                Ok(())
            };
        }
        let bytes: usize = self
            .run
            .iter()
            .filter_map(|p| self.files.get(p))
            .map(|c| c.text.len())
            .sum();
        if bytes + code.text.len() > MAX_KNOWN {
            return Ok(());
        }
        let short = self.place(&Value::known(path)).short;
        let language = self.language_of(&short, &code.text);
        let Some(language) = language.filter(|language| !language.is_guess()) else {
            return Ok(());
        };
        self.run.push(path.to_owned());
        self.grant(3 * code.text.len());
        let (files, before) = (self.files.clone(), self.effects.len());
        self.apart(|scene| {
            if language == Language::Shell {
                scene.shell(actor, &code)
            } else {
                scene.interpret(actor, language, &code)
            }
        })?;
        self.files = files;
        // Tests and modules are full of texts that name what must not happen.
        let mut at = 0;
        self.effects.retain(|effect| {
            at += 1;
            at <= before || !effect.is(Tag::Suspect)
        });
        Ok(())
    }

    /// The known files below the current folder that `fits`, in order.
    pub(crate) fn known_files(&self, fits: impl Fn(&str) -> bool) -> Vec<String> {
        let folder = self.folder();
        let below = |path: &&str| folder.contains(HOLE) || path::is_under(path, folder);
        let known = self.files.paths().filter(below).filter(|path| fits(path));
        let mut known: Vec<String> = known.map(str::to_owned).collect();
        known.sort_unstable();
        known
    }
}
