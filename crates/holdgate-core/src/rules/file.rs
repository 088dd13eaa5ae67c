//! A file of rules or of patterns: a list of them, or a map of such a list and of changes to
//! existing ones.

use super::faults::{self, Top};
use super::report::{Mark, RuleError, Source};
use crate::compiled;
use holdgate_effects::table::Table;
use holdgate_effects::worded::suggestion;
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::Options;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// What a file lists.
pub(crate) trait Entry {
    /// What they are called, also as a key.
    const NAME: &'static str;
    /// The keys of a file that is a map: the name, and `adjust`.
    const FIELDS: &'static [&'static str];
}

/// A file as written.
#[derive(Debug)]
pub(crate) struct FileSpec<E, A> {
    pub(crate) entries: Vec<E>,
    pub(crate) adjust: Vec<A>,
}

/// As much of a file as can be read.
#[derive(Debug)]
pub(crate) struct FileRead<E, A> {
    /// Each with whether all of it could be read.
    pub(crate) entries: Vec<(E, bool)>,
    pub(crate) adjust: Vec<(A, bool)>,
    /// What could not.
    pub(crate) errors: Vec<RuleError>,
}

impl<E, A> FileSpec<E, A>
where
    E: Entry + de::DeserializeOwned,
    A: de::DeserializeOwned,
{
    /// Reads a file whose values nest at most `max_depth` deep.
    pub(crate) fn read(source: &Arc<Source>, max_depth: usize) -> FileRead<E, A> {
        // If something is wrong with it, the YAML says it better.
        let compiled = compiled::file(&source.name, &source.text);
        if let Some(Ok(file)) = compiled.map(Table::read::<Self>) {
            return file.whole();
        }
        if source.text.trim().is_empty() {
            let what = format!("the file is empty: write `[]` for no {}", E::NAME);
            return FileRead {
                entries: Vec::new(),
                adjust: Vec::new(),
                errors: vec![RuleError::new(source, Mark::default(), what)],
            };
        }
        let options = serde_saphyr::options! {
            with_snippet: false,
            // `yes` is a program.
            strict_booleans: true,
            budget: serde_saphyr::budget! { max_depth: max_depth },
        };
        match serde_saphyr::from_str_with_options::<Self>(&source.text, options.clone()) {
            Ok(file) => file.whole(),
            Err(first) => {
                let mut read = Self::read_sound(source, &options);
                if read.errors.is_empty() {
                    read.errors
                        .push(RuleError::of_yaml(source, first.without_snippet()));
                }
                read
            }
        }
    }

    /// A file in which nothing is wrong.
    fn whole(self) -> FileRead<E, A> {
        FileRead {
            entries: self.entries.into_iter().map(|e| (e, true)).collect(),
            adjust: self.adjust.into_iter().map(|a| (a, true)).collect(),
            errors: Vec::new(),
        }
    }

    /// The sound parts of a file, and every error in it.
    fn read_sound(source: &Arc<Source>, options: &Options) -> FileRead<E, A> {
        let mut errors = Vec::new();
        let (mut entries, mut adjust) = (Vec::new(), Vec::new());
        match faults::tree(source, options, &mut errors) {
            Top::List(list) => entries = list,
            Top::Map(members) => {
                for (key, at, value) in members {
                    let list = if key == E::NAME {
                        &mut entries
                    } else if key == "adjust" {
                        &mut adjust
                    } else {
                        let hint = suggestion(&key, E::FIELDS);
                        let what = format!("unknown field `{key}`, {hint}");
                        errors.push(RuleError::new(source, at.into(), what));
                        continue;
                    };
                    match value.list() {
                        Ok(found) => *list = found,
                        Err(at) => {
                            let what = format!("`{key}` is a list");
                            errors.push(RuleError::new(source, at.into(), what));
                        }
                    }
                }
            }
            Top::Other => {}
        }
        let entries = entries.into_iter();
        let entries = entries.filter_map(|node| node.read(source, &mut errors));
        let entries = entries.collect();
        let adjust = adjust.into_iter();
        let adjust = adjust.filter_map(|node| node.read(source, &mut errors));
        let adjust = adjust.collect();
        FileRead {
            entries,
            adjust,
            errors,
        }
    }
}

impl<'de, E, A> Deserialize<'de> for FileSpec<E, A>
where
    E: Entry + Deserialize<'de>,
    A: Deserialize<'de>,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Read(PhantomData))
    }
}

struct Read<E, A>(PhantomData<(E, A)>);

impl<'de, E, A> Visitor<'de> for Read<E, A>
where
    E: Entry + Deserialize<'de>,
    A: Deserialize<'de>,
{
    type Value = FileSpec<E, A>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = E::NAME;
        write!(f, "a list of {name}, or `{name}` and `adjust`")
    }

    fn visit_unit<F: de::Error>(self) -> Result<Self::Value, F> {
        // A file that was cut off can be empty, too.
        let what = format!("the file is empty: write `[]` for no {}", E::NAME);
        Err(F::custom(what))
    }

    fn visit_none<F: de::Error>(self) -> Result<Self::Value, F> {
        self.visit_unit()
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut list: S) -> Result<Self::Value, S::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = list.next_element()? {
            entries.push(entry);
        }
        let adjust = Vec::new();
        Ok(FileSpec { entries, adjust })
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
        let (mut entries, mut adjust) = (None, None);
        while let Some(key) = map.next_key::<String>()? {
            if key == E::NAME {
                entries = Some(map.next_value()?);
            } else if key == "adjust" {
                adjust = Some(map.next_value()?);
            } else {
                return Err(de::Error::unknown_field(&key, E::FIELDS));
            }
        }
        if entries.is_none() && adjust.is_none() {
            let what = format!("the file has neither `{}` nor `adjust`", E::NAME);
            return Err(de::Error::custom(what));
        }
        let (entries, adjust) = (entries.unwrap_or_default(), adjust.unwrap_or_default());
        Ok(FileSpec { entries, adjust })
    }
}
