//! The parts of a text that its readers do not see, and programs do: comments, attributes, hidden
//! elements, titles of links, what a terminal conceals.

use aho_corasick::{AhoCorasick, MatchKind};
use memchr::memmem;
use regex::{Captures, Match, Regex};
use std::ops::Range;
use std::sync::LazyLock;

/// Parts that are looked at.
const MAX_PARTS: usize = 256;

/// Bytes of a part that are read.
const MAX_PART: usize = 4000;
/// Bytes of a part that may be an order.
const MIN_PART: usize = 8;

/// What must be in the text, and an expression whose first group is the part. Lengths are checked
/// afterwards: a counted repetition would make the search slow. So is that an attribute is a word: a
/// boundary in the expression would make it many times slower on texts that are not ASCII.
const CARRIERS: &[(&str, &str)] = &[
    (
        "=\"",
        r#"(?i)(?:alt|title|aria-[a-z]+|placeholder|content|summary|label|description|data-[a-z-]+)\s*=\s*"([^"<]*)""#,
    ),
    (
        "='",
        r"(?i)(?:alt|title|aria-[a-z]+|placeholder|content|summary|label|description|data-[a-z-]+)\s*=\s*'([^'<]*)'",
    ),
    ("](", r#"\]\([^)\s]*\s+["']([^"'\n]*)["']\)"#),
    ("![", r"!\[([^\]\n]*)\]\("),
    (
        "]:",
        r#"(?m)^ {0,3}\[[^\]\n]+\]:\s*\S*\s*[("'](.+)[)"']\s*$"#,
    ),
    ("\u{1b}[", "\u{1b}\\[(?:[0-9;]*;)?8m([^\u{1b}]*)"),
    (
        "\u{1b}[",
        "\u{1b}\\[(?:[0-9;]*;)?(?:30;40|37;47|97;107)m([^\u{1b}]*)",
    ),
    ("\u{1b}]", "\u{1b}\\][0-9]*;([^\u{7}\u{1b}]*)"),
    (
        "\u{1b}[",
        "([^\u{1b}\r\n]+)(?:\r?\n)?(?:\r|\u{1b}\\[[0-9;]*[AFGHKJ])",
    ),
    ("\r", "([^\r\n]+)\r[^\n]"),
    ("\u{8}\u{8}", "([^\u{8}\n]+)\u{8}{4}"),
];

/// One of them is in every text with such an attribute.
const ATTRIBUTE_MARKS: &[&str] = &[
    "alt=",
    "title=",
    "aria-",
    "placeholder=",
    "content=",
    "summary=",
    "label=",
    "description=",
    "data-",
    "alt =",
    "title =",
    "content =",
];
/// One of them is in every text with an element that is hidden.
const HIDING_MARKS: &[&str] = &[
    "style",
    "hidden",
    "sr-only",
    "<noscript",
    "<template",
    "<desc",
    "<metadata",
    "STYLE",
];

/// What hides an element of a page, in its tag.
const HIDING: &str = r"(?i)display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*[01](?:px|pt|em)?\s*[;'\x22]|opacity\s*:\s*0(?:\.0\d*)?\s*[;'\x22]|[^-]color\s*:\s*(?:\#fff|white|transparent)|(?:left|top|text-indent)\s*:\s*-\d{3}|(?:height|width)\s*:\s*[01](?:px)?\s*[;'\x22]|\shidden\s*[>=]|aria-hidden|sr-only|visually-hidden|<noscript|<template|<desc|<metadata";

static PATTERNS: LazyLock<Vec<(&str, Regex)>> = LazyLock::new(|| {
    let compiled = CARRIERS.iter();
    let compiled =
        compiled.filter_map(|(mark, expression)| Some((*mark, Regex::new(expression).ok()?)));
    compiled.collect()
});
static HIDDEN: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(HIDING).ok());

/// Whether one of the marks is there of what hides elements, or of attributes.
static HIDES: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| any_of(HIDING_MARKS));
static NAMES: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| any_of(ATTRIBUTE_MARKS));

/// Builds the expressions.
pub(super) fn prepare() {
    LazyLock::force(&PATTERNS);
    LazyLock::force(&HIDDEN);
    LazyLock::force(&HIDES);
    LazyLock::force(&NAMES);
}

/// Where in `text` the parts are.
pub(super) fn parts(text: &str) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let one_of = |marks: &LazyLock<Option<AhoCorasick>>| {
        marks.as_ref().is_none_or(|marks| marks.is_match(text))
    };
    let bytes = text.as_bytes();
    if memchr::memchr(b'<', bytes).is_some() {
        comments(text, &mut parts);
        if one_of(&HIDES) {
            elements(text, &mut parts);
        }
    }
    let controls = memchr::memchr3(b'\x1b', b'\r', b'\x08', bytes).is_some();
    let mut attributes = None;
    for (mark, pattern) in PATTERNS.iter() {
        let is_control = mark.starts_with(|c: char| c.is_control());
        if is_control && !controls || memmem::find(bytes, mark.as_bytes()).is_none() {
            continue;
        }
        if mark.starts_with('=') && !*attributes.get_or_insert_with(|| one_of(&NAMES)) {
            continue;
        }
        let is_attribute = mark.starts_with('=');
        let alone = |found: &Match<'_>| !is_attribute || !ends_in_word(text, found.start());
        let found = all(pattern, text, alone).map(|found| found.get(1).map(|part| part.range()));
        let found = found.flatten().take(MAX_PARTS);
        parts.extend(found.filter(|part| part.len() >= MIN_PART));
    }
    for part in &mut parts {
        part.end = text.floor_char_boundary(part.end.min(part.start + MAX_PART));
    }
    parts
}

/// A search for the leftmost looks at many bytes together.
fn any_of(marks: &[&str]) -> Option<AhoCorasick> {
    let mut builder = AhoCorasick::builder();
    let builder = builder.match_kind(MatchKind::LeftmostFirst);
    builder.build(marks).ok()
}

/// Comments of HTML and XML; one without an end goes to the end.
fn comments(text: &str, parts: &mut Vec<Range<usize>>) {
    let mut from = 0;
    for _ in 0..MAX_PARTS {
        let Some(start) = find(text, from, "<!--") else {
            return;
        };
        let start = start + "<!--".len();
        let end = find(text, start, "-->").unwrap_or(text.len());
        parts.push(start..end);
        from = end;
    }
}

/// The text of elements that are not shown.
fn elements(text: &str, parts: &mut Vec<Range<usize>>) {
    let Some(hiding) = HIDDEN.as_ref() else {
        return;
    };
    // `<desc` is a name by itself.
    let alone = |found: &Match<'_>| {
        let begins = found.as_str().get(..2).unwrap_or_default();
        !begins.eq_ignore_ascii_case("<d") || !begins_in_word(text, found.end())
    };
    let found = all(hiding, text, alone).filter_map(|found| found.get(0));
    for found in found.take(MAX_PARTS) {
        let Some(start) = find(text, found.end().saturating_sub(1), ">") else {
            return;
        };
        let end = find(text, start, "<").unwrap_or(text.len());
        parts.push(start + 1..end);
    }
}

/// All matches that count. After one that does not, the search goes on behind its start.
fn all<'t>(
    pattern: &Regex,
    text: &'t str,
    counts: impl Fn(&Match<'t>) -> bool,
) -> impl Iterator<Item = Captures<'t>> {
    let mut from = 0;
    std::iter::from_fn(move || {
        loop {
            let found = pattern.captures_at(text, from)?;
            let whole = found.get(0)?;
            if counts(&whole) {
                from = whole.end();
                return Some(found);
            }
            from = text.ceil_char_boundary(whole.start() + 1);
        }
    })
}

/// Whether the text before `at` ends in a word.
fn ends_in_word(text: &str, at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default();
    before.chars().next_back().is_some_and(in_word)
}

/// Whether the text from `at` on begins in a word.
fn begins_in_word(text: &str, at: usize) -> bool {
    let after = text.get(at..).unwrap_or_default();
    after.chars().next().is_some_and(in_word)
}

/// A character of words, as expressions have it.
fn in_word(c: char) -> bool {
    static WORD: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\w").ok());
    let is_word = |word: &Regex| word.is_match(c.encode_utf8(&mut [0; 4]));
    c.is_ascii_alphanumeric() || c == '_' || !c.is_ascii() && WORD.as_ref().is_some_and(is_word)
}

/// Where `what` is, from `from` on.
fn find(text: &str, from: usize, what: &str) -> Option<usize> {
    let rest = text.as_bytes().get(from..)?;
    memmem::find(rest, what.as_bytes()).map(|at| from + at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_carrier_is_a_valid_expression() {
        assert_eq!(PATTERNS.len(), CARRIERS.len());
    }

    proptest! {
        #[test]
        fn words_are_those_of_the_expression(
            text in "((x|é|\u{17f}|-|_| )?(alt|title|data-title|aria-é|\u{17f}ummary) ?= ?\"?[a é<]{0,3}\"?){0,6}",
        ) {
            let bounded = Regex::new(&format!(r"\b{}", CARRIERS[0].1)).unwrap();
            let expected = bounded.find_iter(&text).map(|found| found.range());
            let alone = |found: &Match<'_>| !ends_in_word(&text, found.start());
            let ours = all(&PATTERNS[0].1, &text, alone);
            let ours = ours.filter_map(|found| Some(found.get(0)?.range()));
            prop_assert_eq!(ours.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
        }
    }
}
