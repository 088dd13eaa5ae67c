//! Pieces of a path that code puts together in a way that is not followed: where it reads a file and nobody
//! knows which, what its pieces name counts.

use super::Reader;
use crate::code::lex::Kind;
use crate::effect::{Actor, Effect, Kind as EffectKind};
use crate::path::PathClass;
use crate::scene::Fueled;
use crate::tag::Tag;
use crate::value::{HOLE, Value};

/// Texts of the code that are looked at.
const MAX_TEXTS: usize = 64;
/// Texts that may follow a folder's name.
const MAX_BEHIND: usize = 8;
/// A longer text is no piece of a path.
const MAX_LENGTH: usize = 48;
/// Words for somebody's home.
const HOMES: [&str; 7] = [
    "expanduser",
    "home",
    "HOME",
    "homedir",
    "~",
    "USERPROFILE",
    "getpwuid",
];

impl Reader<'_, '_, '_> {
    /// Looks at the pieces, if something unknown was read since there were `before` effects.
    pub(super) fn pieces(&mut self, before: usize) -> Fueled {
        let unknown = |effect: &Effect| {
            let hole = |text: &str| text.contains(HOLE);
            effect.kind == EffectKind::Read && effect.path.as_ref().is_some_and(|p| hole(&p.text))
        };
        let mut done = self.scene.effects.iter().skip(before);
        if self.scene.written || !done.any(unknown) {
            return Ok(());
        }
        if !self.has_token(|token| HOMES.iter().any(|home| token.text.contains(home))) {
            return Ok(());
        }
        let is_piece =
            |text: &&str| !text.is_empty() && text.len() <= MAX_LENGTH && !text.contains(' ');
        let tokens = self.tokens.clone();
        let texts = tokens
            .list
            .iter()
            .filter(|token| matches!(token.kind, Kind::Text(_)));
        let texts: Vec<&str> = texts
            .map(|token| token.text.trim_matches('/').trim_start_matches("~/"))
            .filter(is_piece)
            .take(MAX_TEXTS)
            .collect();
        for (at, folder) in texts.iter().enumerate() {
            // A project has such files, too.
            if !folder.starts_with('.') || folder.starts_with(".env") || folder.starts_with("..") {
                continue;
            }
            let behind = texts.iter().skip(at + 1).take(MAX_BEHIND);
            let paths = behind.map(|file| format!("~/{folder}/{file}"));
            for path in [format!("~/{folder}")].into_iter().chain(paths) {
                self.scene.fuel.spend(8)?;
                let path = Value::known(path);
                let place = self.scene.place(&path);
                if place.is(PathClass::Secret) {
                    let actor = Actor::new(self.language.word(), &path.text);
                    let read = actor.does(EffectKind::Read).at(place).of(&path);
                    return self.scene.emit(read.tagged(Tag::Suspect));
                }
            }
        }
        Ok(())
    }
}
