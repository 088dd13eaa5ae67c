//! A text as its prints see it: letters and digits in lower case.

use regex::Regex;
use std::sync::LazyLock;

/// How a line begins that only names what a file uses. The same lists stand in unrelated projects.
const IMPORTS: &[&str] = &[
    "use ",
    "pub use ",
    "pub(crate) use ",
    "extern crate ",
    "import ",
    "from ",
    "export * from ",
    "#include",
    "#import",
    "using ",
    "package ",
    "require ",
    "require(",
    "require_once",
    "namespace ",
];
/// Prose that begins with such a word has more words.
const WORDS: usize = 4;
/// Lines with one of these words say who may use a file, or decorate it.
const FORMALITIES: &str = r"(?i-u)licen[cs]|copyright|warrant|merchantab|redistribut|hereby granted|liable for|free software|opensource\.org|apache\.org|additional terms or conditions|intentionally submitted|do not edit|shields\.io|badge";

#[expect(clippy::expect_used, reason = "the tests build it")]
static FORMAL: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(FORMALITIES).expect("a valid pattern"));

/// A character that counts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Character {
    pub(super) letter: char,
    /// Whether its line stands in unrelated projects too.
    pub(super) is_boilerplate: bool,
}

/// The characters that count, in order.
pub(super) fn characters(text: &str) -> impl Iterator<Item = Character> {
    letters(text).map(|letter| Character {
        letter,
        is_boilerplate: false,
    })
}

/// The same, with boilerplate marked.
pub(super) fn characters_of_source(text: &str) -> impl Iterator<Item = Character> {
    text.lines().flat_map(|line| {
        let is_boilerplate = is_boilerplate(line);
        letters(line).map(move |letter| Character {
            letter,
            is_boilerplate,
        })
    })
}

fn letters(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter_map(|c| {
        if c.is_ascii() {
            c.is_ascii_alphanumeric().then(|| c.to_ascii_lowercase())
        } else if c.is_alphanumeric() {
            c.to_lowercase().next()
        } else {
            None
        }
    })
}

fn is_boilerplate(line: &str) -> bool {
    let line = line.trim();
    is_import(line) || FORMAL.is_match(line)
}

fn is_import(line: &str) -> bool {
    if !IMPORTS.iter().any(|word| line.starts_with(word)) {
        // `const fs = require("fs");`
        return line.starts_with("const ") && line.contains(" = require(");
    }
    line.ends_with(';') || line.contains(" import ") || line.split_whitespace().nth(WORDS).is_none()
}
