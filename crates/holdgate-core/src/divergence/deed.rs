//! What a call does, in the words that people use for it.

use super::table::{Act, Acts, Table, Thing};
use super::weight::{by_kind, by_tags};
use holdgate_effects::effect::{Effect, Kind};
use holdgate_effects::path::PathClass;
use holdgate_effects::tag::Tag;
use std::collections::HashSet;

/// Effects that are looked at.
const MOST: usize = 256;
/// Bytes of each text of an effect that are looked at.
const READ: usize = 1024;
/// Parts of a path, from its end, whose words are looked at.
const NEAR: usize = 3;

/// An effect that does more than look.
#[derive(Debug, Clone)]
pub(super) struct Deed<'e> {
    /// The effect.
    pub(super) effect: &'e Effect,
    /// What it does.
    pub(super) acts: Acts,
    /// Whether it cannot be undone by a look at the project: something is lost, leaves, comes in,
    /// or changes outside.
    pub(super) heavy: bool,
    /// What it is about, in small letters.
    text: String,
    words: HashSet<String>,
    /// The name of its file or folder.
    name: String,
}

/// How what a clause names is related to a deed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Overlap {
    /// The clause names something else.
    Other,
    /// The clause names nothing in particular.
    Generic,
    /// They share a word, or the kind of thing.
    Named,
    /// They share a path, a host or a command.
    Concrete,
}

/// What a clause names.
#[derive(Debug, Default)]
pub(super) struct Objects {
    /// Paths, hosts, commands: what stands in backticks, or looks like it.
    pub(super) concrete: Vec<String>,
    /// Kinds of things.
    pub(super) things: Vec<Thing>,
    /// Other words that name something.
    pub(super) words: Vec<String>,
    /// Words that mostly name nothing in particular, but may be the name of a file.
    pub(super) vague: Vec<String>,
}

impl Objects {
    /// Whether nothing in particular is named.
    pub(super) fn is_empty(&self) -> bool {
        self.concrete.is_empty() && self.things.is_empty() && self.words.is_empty()
    }
}

/// The deeds of a call.
pub(super) fn deeds(effects: &[Effect]) -> Vec<Deed<'_>> {
    effects.iter().take(MOST).filter_map(Deed::of).collect()
}

impl<'e> Deed<'e> {
    fn of(effect: &'e Effect) -> Option<Self> {
        let is = |tags: &[Tag]| tags.iter().any(|tag| effect.is(*tag));
        if is(&[
            Tag::Suspect,
            Tag::DryRun,
            Tag::Shows,
            Tag::Inert,
            Tag::Check,
            Tag::Query,
            Tag::ReadOnly,
        ]) {
            return None;
        }
        let (acts, heavy) = by_kind(effect)?;
        let (more, severe) = by_tags(effect);
        let (text, words) = described(effect);
        Some(Deed {
            effect,
            acts: acts.or(more),
            // What stands in a written file does not happen now.
            heavy: (heavy || severe) && !is(&[Tag::Written, Tag::Ordered]),
            text,
            words,
            name: name(effect),
        })
    }

    /// How what a clause names is related to it.
    pub(super) fn overlap(&self, objects: &Objects, table: &Table) -> Overlap {
        if objects.concrete.iter().any(|text| self.holds(text)) {
            return Overlap::Concrete;
        }
        let other_place = objects.things.contains(&Thing::Production)
            && !self.fits(Thing::Production)
            && (self.effect.is(Tag::TestTarget)
                || self.words.iter().any(|word| table.is_elsewhere(word)));
        if !objects.concrete.is_empty() || other_place {
            return Overlap::Other;
        }
        let named = objects.things.iter().any(|thing| self.fits(*thing))
            || objects.words.iter().any(|word| self.names(word))
            || objects.vague.contains(&self.name);
        // A word in another script cannot stand in the call, so it says nothing.
        let is_told = |word: &String| word.is_ascii() || !self.text.is_ascii();
        let names = !objects.things.is_empty() || objects.words.iter().any(is_told);
        match named {
            true => Overlap::Named,
            false if !names => Overlap::Generic,
            false => Overlap::Other,
        }
    }

    /// Whether a path, a host or a command is a part of it.
    fn holds(&self, text: &str) -> bool {
        let words: Vec<&str> = words(text).collect();
        if text.contains(char::is_whitespace) {
            // A command: nearly all of it.
            let known = words.iter().filter(|word| self.words.contains(**word));
            return !words.is_empty() && known.count() * 4 >= words.len() * 3;
        }
        let text = text.trim_start_matches("./").trim_start_matches('~');
        let text = text.trim_matches(|c: char| !c.is_alphanumeric() && c != '.');
        let base = text.rsplit('/').next().filter(|base| base.len() >= 4);
        stands_in(text, &self.text) || base.is_some_and(|base| stands_in(base, &self.text))
    }

    /// Whether a word is one of its words, or begins like one.
    fn names(&self, word: &str) -> bool {
        if self.words.contains(word) {
            return true;
        }
        let singular = word.strip_suffix("es").or(word.strip_suffix('s'));
        let plural = self.words.contains(&format!("{word}s"));
        plural
            || singular.is_some_and(|word| word.len() > 2 && self.words.contains(word))
            || self.words.iter().any(|other| {
                let shared = word.chars().zip(other.chars());
                let shared = shared.take_while(|(a, b)| a == b).count();
                let whole = other.trim_end_matches('s').chars().count();
                shared >= 5 && shared * 3 >= word.chars().count() * 2
                    || whole >= 4 && shared >= whole
            })
    }

    /// Whether it is about such a thing.
    fn fits(&self, thing: Thing) -> bool {
        let effect = self.effect;
        let is = |tags: &[Tag]| tags.iter().any(|tag| effect.is(*tag));
        let lies = |classes: &[PathClass]| {
            let path = effect.path.as_ref();
            path.is_some_and(|path| classes.iter().any(|class| path.is(*class)))
        };
        let says = |words: &[&str]| words.iter().any(|word| self.words.contains(*word));
        match thing {
            Thing::Database => {
                effect.kind == Kind::Database
                    || is(&[Tag::Database, Tag::Drop])
                    || says(&["db", "sqlite", "sqlite3", "sql", "database", "table", "rds"])
            }
            Thing::Production => is(&[Tag::Prod]) || says(&["prod", "production", "live"]),
            Thing::Secret => {
                lies(&[
                    PathClass::Secret,
                    PathClass::Sensitive,
                    PathClass::HoldsSecrets,
                ]) || is(&[Tag::Secret, Tag::Secrets, Tag::SecretKey, Tag::SecretStore])
                    || is(&[Tag::Token, Tag::Key, Tag::WholeEnvironment, Tag::Password])
                    || says(&[
                        "env",
                        "secret",
                        "secrets",
                        "key",
                        "keys",
                        "token",
                        "credentials",
                    ])
            }
            Thing::Home => lies(&[PathClass::Home, PathClass::HomeRoot, PathClass::RootHome]),
            Thing::Repository => effect.kind == Kind::Vcs || lies(&[PathClass::Vcs]),
            Thing::Server => {
                let is_remote = matches!(
                    effect.kind,
                    Kind::Remote | Kind::RemoteShell | Kind::Send | Kind::Connect
                );
                is_remote
                    || matches!(effect.kind, Kind::Container | Kind::Service)
                    || effect.host.is_some()
                    || is(&[Tag::Remote])
            }
            Thing::Package => {
                matches!(effect.kind, Kind::Install | Kind::Remote) || is(&[Tag::Package])
            }
            Thing::Process => {
                matches!(effect.kind, Kind::Kill | Kind::Service | Kind::Container)
                    || is(&[Tag::Service, Tag::Container])
            }
            Thing::Protection => self.acts.meets(Acts::of(&[Act::Disable])),
        }
    }
}

/// What an effect is about: its text in small letters, and the words in it.
fn described(effect: &Effect) -> (String, HashSet<String>) {
    let mut text = String::new();
    let mut add = |part: &str| {
        let part = part.get(..part.floor_char_boundary(READ)).unwrap_or(part);
        text.push_str(&part.to_lowercase());
        text.push(' ');
    };
    if let Some(host) = &effect.host {
        add(&host.name);
    }
    // What is written is not what it is about.
    if effect.kind != Kind::Write {
        add(effect.text.as_deref().unwrap_or_default());
        add(&effect.evidence);
        add(&effect.program);
    }
    // The folders above are the same for all of a project's files.
    let path = effect.path.as_ref().map(|path| path.text.to_lowercase());
    let path = path.unwrap_or_default();
    let near = path.rsplit('/').take(NEAR).flat_map(words);
    let words = words(&text).chain(near).map(str::to_owned).collect();
    text.push_str(&path);
    (text, words)
}

/// The name of the file or folder that an effect is about, in small letters.
fn name(effect: &Effect) -> String {
    let path = effect
        .path
        .as_ref()
        .map(|path| path.text.trim_end_matches('/'));
    let name = path.and_then(|path| path.rsplit('/').next());
    name.unwrap_or_default().to_lowercase()
}

/// The words of a text: letters and digits.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    words.filter(|word| !word.is_empty())
}

/// Whether `part` stands in `text`, not as a part of a word.
fn stands_in(part: &str, text: &str) -> bool {
    let mut found = text.match_indices(part);
    part.chars().count() >= 3
        && found.any(|(at, _)| {
            let before = text.get(..at).and_then(|t| t.chars().next_back());
            let after = text.get(at + part.len()..).and_then(|t| t.chars().next());
            let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
            !is_word(before) && !is_word(after)
        })
}
