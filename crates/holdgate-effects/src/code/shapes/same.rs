//! Checks that cannot fail: something is compared with itself, with nothing, or only by its first few characters.

use super::door;
use super::pieces::{arguments, called, comparisons, left, right};
use super::scan::{Text, has_any};
use crate::effect::Effect;

/// Calls of one file that are looked at.
const MAX_CALLS: usize = 4096;
/// Fewer characters than this are guessed.
const MAX_GUESSED: u32 = 7;

/// Words in the names of calls that compare what must not be guessed.
#[rustfmt::skip]
const COMPARES: [&str; 13] = [
    "compare_digest", "timingsafe", "constanttime", "constant_time", "securecompare", "secure_compare", "hash_equals",
    "hmac.equal", "isequal", "comparehash", "bcrypt.compare", "fixedtimeequals", "safe_str_cmp",
];
/// The same for calls that many programs have.
const OTHERS: [&str; 6] = ["equal", "compare", "verify", "match", "check", "same"];
/// What must not be guessed.
#[rustfmt::skip]
const SECRETS: [&str; 15] = [
    "signature", "hmac", "digest", "password", "passwd", "token", "secret", "apikey", "api_key", "mac", "checksum", "otp",
    "csrf", "nonce", "hash",
];

pub(super) fn run(text: &Text<'_>, found: &mut Vec<Effect>) {
    if !text.is_code() {
        return;
    }
    let shows = |at: usize| {
        let line = text.line(at);
        text.is_new(line).then(|| door(line))
    };
    for (at, _) in text.low.match_indices('(').take(MAX_CALLS) {
        let name = called(text.low.get(..at).unwrap_or(""));
        let safe = has_any(name, &COMPARES);
        if !safe && !has_any(name, &OTHERS) {
            continue;
        }
        let given = arguments(text.low.get(at + 1..).unwrap_or(""));
        let [first, second, ..] = given.as_slice() else {
            continue;
        };
        let secret = || safe || has_any(name, &SECRETS) || has_any(first, &SECRETS);
        let same = is_variable(first) && first == second;
        let nothing = safe && (is_nothing(first) || is_nothing(second));
        let fixed = safe && is_fixed(first) && is_fixed(second);
        let short =
            safe && cut(first).is_some_and(|count| count <= MAX_GUESSED) && cut(second).is_some();
        if (same && secret() || nothing || fixed || short)
            && let Some(door) = shows(at)
        {
            found.push(door);
            return;
        }
    }
    let mut from = 0;
    for line in text.low.split('\n') {
        let start = from;
        from += line.len() + 1;
        if line.len() > 1200 || comparisons(line).next().is_none() || !has_any(line, &SECRETS) {
            continue;
        }
        let itself = comparisons(line).any(|(at, length)| {
            let left = left(line.get(..at).unwrap_or(""));
            let right = right(line.get(at + length..).unwrap_or(""));
            left == right && is_variable(left) && has_any(left, &SECRETS)
        });
        if itself && let Some(door) = shows(start) {
            found.push(door);
            return;
        }
    }
}

fn is_variable(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || c == '_' || c == '$' || c == '&')
        && !matches!(text, "true" | "false" | "null" | "none" | "nil")
}

/// An empty text, or the first none of something.
fn is_nothing(text: &str) -> bool {
    let dense: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let ends = [
        "[:0]",
        "[0:0]",
        "[..0]",
        "(0,0)",
        ".take(0)",
        "alloc(0)",
        ".first(0)",
        "[0,0]",
        "[0...0]",
        "left(0)",
    ];
    matches!(
        dense.as_str(),
        "\"\"" | "''" | "b''" | "b\"\"" | "``" | "[]byte(\"\")" | "buffer.from('')"
    ) || ends.iter().any(|end| dense.ends_with(end))
}

fn is_fixed(text: &str) -> bool {
    let text = text.trim_start_matches('b');
    let quote = text.chars().next();
    text.len() > 1
        && quote.is_some_and(|quote| matches!(quote, '"' | '\'') && text.ends_with(quote))
}

/// How many characters of something are compared: `a[:4]`, `a.slice(0, 4)`.
fn cut(text: &str) -> Option<u32> {
    let dense: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let starts = [
        "[:",
        "[0:",
        "[..",
        ".slice(0,",
        ".substring(0,",
        ".substr(0,",
        ".take(",
        ".first(",
    ];
    let rest = starts.iter().find_map(|start| {
        let at = dense.rfind(start)?;
        dense.get(at + start.len()..)
    })?;
    rest.strip_suffix([']', ')'])?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_fail_is_told() {
        assert!(is_nothing("expected[:0]"));
        assert!(is_nothing("sig.slice(0, 0)"));
        assert!(!is_nothing("sig.slice(0, 32)"));
        assert_eq!(cut("a[:4]"), Some(4));
        assert_eq!(cut("a.slice(0, 6)"), Some(6));
        assert_eq!(cut("a"), None);
        assert!(is_fixed("'a'"));
        assert!(!is_fixed("a"));
    }
}
