//! The parts of a text that its readers do not see, and programs do: comments, attributes, hidden
//! elements, titles of links, what a terminal conceals.

use regex::Regex;
use std::ops::Range;
use std::sync::LazyLock;

/// Parts that are looked at.
const MAX_PARTS: usize = 256;

/// The first group of each is the part that is not seen, with what must be in the text for it.
const CARRIERS: &[(&str, &str)] = &[
    ("<!--", r"(?s)<!--(.{4,4000}?)-->"),
    ("=", r#"(?i)\b(?:alt|title|aria-[a-z]+|placeholder|content|summary|label|data-[a-z-]+)\s*=\s*"([^"<]{12,2000})""#),
    ("=", r"(?i)\b(?:alt|title|aria-[a-z]+|placeholder|content|summary|label|data-[a-z-]+)\s*=\s*'([^'<]{12,2000})'"),
    ("<", r"(?is)<[a-z]+[^>]{0,300}(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*[01](?:px|pt|em)?\s*[;'\x22]|opacity\s*:\s*0(?:\.0\d*)?\s*[;'\x22]|color\s*:\s*(?:\#fff(?:fff)?\b|white|transparent)|(?:left|top|text-indent)\s*:\s*-\d{3,}|(?:height|width)\s*:\s*[01](?:px)?\s*[;'\x22]|\shidden(?:\s|>|=)|aria-hidden|sr-only|visually-hidden)[^>]{0,300}>(.{8,2000}?)</"),
    ("<", r"(?is)<(?:noscript|template|desc|metadata|rdf:description)[^>]{0,100}>(.{8,2000}?)</"),
    ("](", r#"\]\([^)\s]{0,500}\s+["']([^"'\n]{8,1000})["']\)"#),
    ("![", r"!\[([^\]\n]{12,1000})\]\("),
    ("]:", r#"(?m)^\s{0,3}\[[^\]\n]{1,60}\]:\s*\S{0,500}\s*[("'](.{8,1000})[)"']\s*$"#),
    ("\u{1b}[", "(?s)\u{1b}\\[(?:[0-9;]*;)?8m(.{4,2000}?)(?:\u{1b}\\[|$)"),
    ("\u{1b}[", "\u{1b}\\[(?:[0-9;]*;)?(?:30;40|37;47|97;107)m([^\u{1b}]{4,2000})"),
    ("\u{1b}]", "\u{1b}\\][0-9]{0,3};([^\u{7}\u{1b}]{8,1000})"),
    ("\u{1b}[", "([^\u{1b}\r\n]{8,1000})(?:\r?\n)?(?:\r|\u{1b}\\[[0-9;]*[AFGHKJ])+"),
    ("\r", "(?m)([^\r\n]{8,1000})\r[^\n]"),
    ("\u{8}", "([^\u{8}\n]{8,1000})\u{8}{4}"),
];

static PATTERNS: LazyLock<Vec<(&str, Regex)>> = LazyLock::new(|| {
    let compiled = CARRIERS.iter();
    let compiled = compiled.filter_map(|(mark, expression)| Some((*mark, Regex::new(expression).ok()?)));
    compiled.collect()
});

/// Where in `text` the parts are.
pub(super) fn parts(text: &str) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    if memchr::memchr3(b'=', b'<', b']', text.as_bytes()).is_none()
        && memchr::memchr3(0x1b, b'\r', 8, text.as_bytes()).is_none()
    {
        return parts;
    }
    for (mark, pattern) in PATTERNS.iter() {
        if !text.contains(mark) {
            continue;
        }
        let found = pattern.captures_iter(text).filter_map(|all| all.get(1));
        parts.extend(found.map(|part| part.range()).take(MAX_PARTS));
    }
    parts
}

#[cfg(test)]
#[test]
fn every_carrier_is_a_valid_expression() {
    assert_eq!(PATTERNS.len(), CARRIERS.len());
}
