//! Files that something runs again and again, or will run later: a watcher, a loop, a pipe that a shell reads from.
//! What is written to them then runs, whoever starts nothing.

use super::{Fueled, Scene};
use crate::effect::{Actor, Effect};
use crate::language::Language;
use crate::path::{self, Place};
use crate::tag::Tag;
use crate::value::{HOLE, Value};

/// Files of one call that are noted.
const MAX_SCRIPTS: usize = 16;

/// Words of commands that go on after what they run has ended, or that wait.
#[rustfmt::skip]
const GOES_ON: [&str; 21] = [
    "while ", "until ", "for ((", "for((", "watch", "tail -f", "tail -F", "tail -n0", "--follow", "inotify", "fswatch", "entr ",
    "nodemon", "reflex", "onchange", "chokidar", "mkfifo", "sleep ", "systemd-run", "-j ", "loop",
];

impl Scene<'_> {
    /// A script runs, or what a file brings through a pipe.
    pub(super) fn note_script(&mut self, path: &str, language: Language) {
        let known = self.written || self.scripts.len() >= MAX_SCRIPTS;
        if !known && !self.scripts.iter().any(|(at, _)| at == path) {
            self.scripts.push((path.to_owned(), language));
        }
    }

    /// The same for code that comes from files.
    pub(crate) fn note_sources(&mut self, code: &Value, language: Language) {
        if !code.is_blank() || self.written {
            return;
        }
        let files: Vec<String> = code
            .sources
            .iter()
            .filter(|source| source.starts_with('/'))
            .map(ToString::to_string)
            .collect();
        for file in files {
            self.note_script(&file, language);
        }
    }

    /// The scripts of this call that run again when the call seems to have ended.
    pub(super) fn goes_on(&self) -> Vec<(String, Language)> {
        if self.scripts.is_empty() {
            return Vec::new();
        }
        let follows = |effect: &Effect| effect.is(Tag::Follow) || effect.is(Tag::Fifo);
        let words = || GOES_ON.iter().any(|word| self.command.contains(word));
        if !self.effects.iter().any(follows) && !words() {
            return Vec::new();
        }
        let project = self.world.project.as_deref().unwrap_or("/");
        let fixed = |path: &str| {
            let end = path.find(['*', '?', '[', HOLE]).unwrap_or(path.len());
            let fixed = path.get(..end).unwrap_or("");
            if end == path.len() {
                return Some(path.to_owned());
            }
            // Any file of a folder.
            let folder = fixed.rsplit_once('/').map_or("", |(folder, _)| folder);
            (folder.len() > 1 && !path::is_under(project, folder)).then(|| folder.to_owned())
        };
        let scripts = self.scripts.iter();
        scripts
            .filter_map(|(path, language)| Some((fixed(path)?, *language)))
            .collect()
    }

    /// What is written to a file that something runs again runs now.
    pub(super) fn runs_again(&mut self, place: &Place, content: &Value) -> Fueled {
        if self.followed.is_empty() || content.is_blank() {
            return Ok(());
        }
        let mut followed = self.followed.iter();
        let Some((_, language)) = followed.find(|(at, _)| path::is_under(&place.text, at)) else {
            return Ok(());
        };
        let language = *language;
        // What is read as the same language anyhow is judged as what it is: edited all day.
        let told = self.language_of(&place.short, &content.text);
        if language != Language::Shell && told == Some(language) {
            return Ok(());
        }
        let actor = Actor::new(language.word(), &crate::json::shorten(&content.text, 200));
        self.grant(content.text.len());
        let outer = std::mem::take(&mut self.followed);
        let done = self.deeper(&actor, |scene| {
            scene.apart(|scene| {
                if language == Language::Shell {
                    scene.shell(&actor, content)
                } else {
                    scene.interpret(&actor, language, content)
                }
            })
        });
        self.followed = outer;
        done.map(drop)
    }
}
