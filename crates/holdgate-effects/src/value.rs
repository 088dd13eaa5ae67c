//! What is known of a text before it runs: the characters, the holes, and where it came from.

use crate::worded::unknown;
use std::fmt;
use std::ops::{BitOr, BitOrAssign};
use std::sync::Arc;

/// Stands in a text for what cannot be known. It is taken out of everything that comes in.
pub const HOLE: char = '\u{FFFC}';
/// The same as a text.
pub const HOLE_STR: &str = "\u{FFFC}";
/// Before the path of a file of secrets whose variables a value may hold, among its sources.
pub(crate) const LOADED: &str = "loaded:";
/// Before the path of a file that version control has brought back as it was, among the sources of a value.
pub(crate) const OLD_FILE: &str = "old:";
/// The source of what goes on until somebody stops it.
pub(crate) const ENDLESS: &str = "endless";
/// A value longer than this is cut: what expands without end is not worth following.
pub(crate) const MAX_VALUE: usize = 1 << 20;
/// Sources that are remembered for one value.
const MAX_SOURCES: usize = 4;

/// Where a text came from: a set.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Origins(u8);

impl Origins {
    /// Nothing special: it stands in the call.
    pub const NONE: Origins = Origins(0);
    /// From the network.
    pub const FETCHED: Origins = Origins(1);
    /// The content of a file.
    pub const FILE: Origins = Origins(2);
    /// A secret: the content of a key file, a password store.
    pub const SECRET: Origins = Origins(4);
    /// The environment as a whole, or a variable that holds a secret by its name.
    pub const ENVIRONMENT: Origins = Origins(8);
    /// Decoded from base64, hex or the like.
    pub const DECODED: Origins = Origins(16);
    /// Printed by a program whose output cannot be known.
    pub const OUTPUT: Origins = Origins(32);
    /// From outside of the call: a variable that nothing in the call sets.
    pub const UNKNOWN: Origins = Origins(64);
    /// Made of texts that stand in the call, in a way that is not followed.
    pub const COMPUTED: Origins = Origins(128);

    const NAMES: [(Origins, &'static str, &'static str); 8] = [
        (Origins::FETCHED, "fetched", "From the network."),
        (Origins::FILE, "file", "The content of a file."),
        (
            Origins::SECRET,
            "secret",
            "A secret: the content of a key file, a password store.",
        ),
        (
            Origins::ENVIRONMENT,
            "environment",
            "The whole environment, or a variable whose name says that it contains a secret.",
        ),
        (
            Origins::DECODED,
            "decoded",
            "Decoded from base64, hex or similar.",
        ),
        (
            Origins::OUTPUT,
            "output",
            "Printed by a program whose output is not known.",
        ),
        (
            Origins::UNKNOWN,
            "unknown",
            "From outside of the call: a variable that nothing in the call sets.",
        ),
        (
            Origins::COMPUTED,
            "computed",
            "Made of texts that stand in the call, in a way that is not followed.",
        ),
    ];

    /// Both together.
    pub(crate) const fn and(self, other: Origins) -> Origins {
        Origins(self.0 | other.0)
    }

    /// What is in here, but not in `other`.
    pub(crate) fn without(self, other: Origins) -> Origins {
        Origins(self.0 & !other.0)
    }

    /// Whether any of `other` is in here.
    pub fn any(self, other: Origins) -> bool {
        self.0 & other.0 != 0
    }

    /// The names of all that is in here.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        let here = move |&(origin, name, _)| self.any(origin).then_some(name);
        Self::NAMES.iter().filter_map(here)
    }

    /// The origin that `name` stands for; otherwise a message that suggests another word.
    pub fn read(name: &str) -> Result<Origins, String> {
        let found = Self::NAMES.iter().find(|(_, n, _)| *n == name);
        let known = || Self::NAMES.map(|(_, name, _)| name);
        found.map_or_else(|| Err(unknown("origin", name, &known())), |one| Ok(one.0))
    }

    /// All names, each with what it means.
    pub fn meanings() -> impl Iterator<Item = (&'static str, &'static str)> {
        Self::NAMES
            .iter()
            .map(|(_, name, meaning)| (*name, *meaning))
    }
}

impl BitOr for Origins {
    type Output = Origins;
    fn bitor(self, other: Origins) -> Origins {
        Origins(self.0 | other.0)
    }
}

impl BitOrAssign for Origins {
    fn bitor_assign(&mut self, other: Origins) {
        self.0 |= other.0;
    }
}

impl fmt::Debug for Origins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

/// A text, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Value {
    /// The characters, with a [`HOLE`] for each unknown stretch.
    pub text: String,
    /// Where they came from.
    pub origins: Origins,
    /// The hosts and paths that they came from, for the explanation.
    pub sources: Vec<Arc<str>>,
}

impl Value {
    /// A text that stands in the call.
    pub fn known(text: impl Into<String>) -> Self {
        Value {
            text: text.into(),
            ..Value::default()
        }
    }

    /// Nothing known but where it comes from.
    pub fn unknown(origins: Origins) -> Self {
        Value {
            text: HOLE_STR.to_owned(),
            origins,
            sources: Vec::new(),
        }
    }

    /// The same, and from which host or path.
    #[must_use]
    pub fn with_source(mut self, source: &str) -> Self {
        self.add_source(source);
        self
    }

    /// Notes a host or path.
    pub fn add_source(&mut self, source: &str) {
        if self.sources.len() < MAX_SOURCES && !self.sources.iter().any(|s| &**s == source) {
            self.sources.push(source.into());
        }
    }

    /// All of `values`, with `separator` between them.
    pub(crate) fn join(values: &[Value], separator: &str) -> Value {
        let mut joined = Value::default();
        let length: usize = values.iter().map(|v| v.text.len() + separator.len()).sum();
        joined.text.reserve(length.min(MAX_VALUE));
        for (at, value) in values.iter().enumerate() {
            if at > 0 {
                joined.push_text(separator);
            }
            joined.push(value);
        }
        joined
    }

    /// The files of secrets that were loaded and that this holds something of.
    pub(crate) fn loaded(&self) -> impl Iterator<Item = &str> {
        self.sources.iter().filter_map(|s| s.strip_prefix(LOADED))
    }

    /// The same, with nothing that shows what was loaded: a length, a few characters.
    #[must_use]
    pub(crate) fn without_loaded(mut self) -> Self {
        self.sources.retain(|s| !s.starts_with(LOADED));
        self
    }

    /// Whether it goes on until somebody stops it.
    pub(crate) fn is_endless(&self) -> bool {
        self.sources.iter().any(|s| &**s == ENDLESS)
    }

    /// A part of it, which ends.
    #[must_use]
    pub(crate) fn without_end(mut self) -> Self {
        self.sources.retain(|s| &**s != ENDLESS);
        self
    }

    /// Whether every character is known.
    pub fn is_known(&self) -> bool {
        !self.text.contains(HOLE)
    }

    /// The text, if every character is known.
    pub fn as_known(&self) -> Option<&str> {
        self.is_known().then_some(self.text.as_str())
    }

    /// Whether nothing is known but where it comes from.
    pub fn is_blank(&self) -> bool {
        self.text.chars().all(|c| c == HOLE || c.is_whitespace())
    }

    /// Adds `other` at the end.
    pub fn push(&mut self, other: &Value) {
        self.push_text(&other.text);
        self.taint(other);
    }

    /// Adds a text at the end.
    pub fn push_text(&mut self, text: &str) {
        if self.text.len() + text.len() <= MAX_VALUE {
            self.text.push_str(text);
        } else if !self.text.ends_with(HOLE) {
            self.text.push(HOLE);
        }
    }

    /// Takes over where `other` came from, without its text.
    pub fn taint(&mut self, other: &Value) {
        self.origins |= other.origins;
        for source in &other.sources {
            if self.sources.len() < MAX_SOURCES && !self.sources.contains(source) {
                self.sources.push(source.clone());
            }
        }
    }

    /// The same text with more origins.
    #[must_use]
    pub fn marked(mut self, origins: Origins) -> Self {
        self.origins |= origins;
        self
    }

    /// The value of `text` with where this one came from: what a pure function makes of it.
    #[must_use]
    pub fn map(&self, text: impl Into<String>) -> Value {
        Value {
            text: text.into(),
            origins: self.origins,
            sources: self.sources.clone(),
        }
    }
}
