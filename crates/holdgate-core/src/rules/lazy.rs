//! Regular expressions that are built on first use: most calls and most output need few of them, and
//! building all would take longer than the rest of the start.

use regex::{Regex, RegexBuilder};
use std::sync::OnceLock;

/// A regular expression that is built on first use.
#[derive(Debug)]
pub(crate) struct LazyRegex {
    pattern: String,
    built: OnceLock<Option<Regex>>,
}

impl LazyRegex {
    /// Bytes that a compiled one may take.
    pub(crate) const MAX_SIZE: usize = 1 << 20;

    pub(crate) fn new(pattern: &str) -> Self {
        LazyRegex {
            pattern: pattern.to_owned(),
            built: OnceLock::new(),
        }
    }

    /// Builds one that takes so many bytes at the most, to see whether that is possible.
    pub(crate) fn build_within(&self, size: usize) -> Result<Regex, regex::Error> {
        RegexBuilder::new(&self.pattern).size_limit(size).build()
    }

    /// The expression; `None` if it cannot be built, which is known before it is used: files are
    /// tried when they are read, and those that are built in by tests.
    pub(crate) fn get(&self) -> Option<&Regex> {
        self.built
            .get_or_init(|| self.build_within(Self::MAX_SIZE).ok())
            .as_ref()
    }

    pub(crate) fn is_match(&self, text: &str) -> bool {
        self.get().is_some_and(|regex| regex.is_match(text))
    }

    /// Whether it has a group of this name.
    pub(crate) fn has_group(&self, name: &str) -> bool {
        self.pattern.contains(&format!("<{name}>"))
    }
}
