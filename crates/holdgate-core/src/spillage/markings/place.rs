//! Where in a line a marking stands. Banners stand alone, at the fringe of a line or behind a key;
//! a text about markings has them in the middle of sentences and in quotes.

use super::banner::is_word;
use super::words::{DEFINITIONS, EXAMPLES, KEYS, STRICT_KEYS, TALK, VERBS, words};

/// Where a marking stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// It is the whole segment.
    Own,
    /// The segment begins with it, and a sign sets it off from what follows.
    Start,
    /// The segment begins with it, and text follows.
    Lead,
    /// The segment ends with it, and a sign sets it off from what stands before.
    End,
    /// It is the value of a key that names markings.
    Marked,
    /// It is the value of another key.
    Value,
    /// It is a string in code, or quoted in prose.
    Literal,
    /// It is part of a sentence.
    Inside,
}

/// What the words around a marking say about it. Ordered: the clearest counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Speech {
    /// Nothing.
    Silent,
    /// They may speak of it.
    Talk,
    /// They say what it means.
    Explained,
    /// They say that it is an example.
    Example,
}

/// A marking's surroundings.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot {
    pub(super) place: Place,
    /// The key before it is about markings and nothing else.
    pub(super) strict: bool,
    /// What the words around it say.
    pub(super) speech: Speech,
    /// Quotes stand around exactly this.
    pub(super) quoted: bool,
    /// It is in a comment, or the line has no sign of code before it.
    pub(super) comment: bool,
}

/// Bytes of the surroundings that are searched for cues.
const AROUND: usize = 160;
/// What [`super::fold`] writes for a line break.
pub(super) const BREAK: &str = "\n";

/// The surroundings of `start..end` in `line`.
pub(super) fn spot(line: &str, start: usize, end: usize) -> Spot {
    let before = line.get(..start).unwrap_or_default();
    let before = before.rsplit(['|', '\n']).next().unwrap_or_default();
    let after = line.get(end..).unwrap_or_default();
    let after = after.split(['|', '\n']).next().unwrap_or_default();
    let quote = before
        .chars()
        .next_back()
        .filter(|c| matches!(c, '"' | '\'' | '`'));
    let quoted = quote.is_some_and(|quote| after.starts_with(quote));
    let left = line.get(..start).unwrap_or_default();
    let key = key(before);
    let strict = key
        .as_ref()
        .is_some_and(|key| words(STRICT_KEYS).any(|part| key.contains(part)));
    Spot {
        place: if is_shown(left, line) {
            Place::Literal
        } else {
            place(before, after, quoted, key.as_deref())
        },
        strict,
        speech: speech(before, after, left),
        quoted: quoted || left.matches('"').count() % 2 == 1,
        comment: is_comment(left),
    }
}

fn speech(before: &str, after: &str, left: &str) -> Speech {
    let spanned = left.matches('`').count() % 2 == 1;
    if has_cue(before, after, EXAMPLES) {
        Speech::Example
    } else if spanned || has_cue(before, after, DEFINITIONS) {
        Speech::Explained
    } else if has_cue(before, after, TALK) {
        Speech::Talk
    } else {
        Speech::Silent
    }
}

/// Whether this is in code spans, in a string that is an argument, or in a row of a table.
fn is_shown(left: &str, line: &str) -> bool {
    let odd = |sign: char| left.matches(sign).count() % 2 == 1;
    // A row of a table is about the words, unless the cell before says what they are.
    let cell = left
        .rsplit('|')
        .nth(1)
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase();
    let named = cell.len() < 30 && words(STRICT_KEYS).any(|key| cell.contains(key));
    if odd('`') || left.ends_with('`') || line.matches('|').count() >= 3 && !named {
        return true;
    }
    let Some((code, _)) = left.rsplit_once('"').filter(|_| odd('"')) else {
        return false;
    };
    let bare = code.trim_end_matches(['b', 'r', 'c', 'f', 'u', '#']);
    bare.len() < code.len() && !bare.ends_with(char::is_alphanumeric) && !bare.is_empty()
        || bare.trim_end().ends_with(['(', '+', '[']) && bare.contains('(')
        || bare.trim_end().ends_with(',') && bare.contains('(') && !bare.contains('{')
}

/// Whether the line begins with the sign of a comment, or has no sign of code.
pub(super) fn is_comment(left: &str) -> bool {
    let signs = [
        "#", "//", "/*", "*", "--", "%", ";", "\"\"\"", "<!--", "!", "REM", "rem",
    ];
    let left = left.trim_start();
    signs.iter().any(|sign| left.starts_with(sign))
        || !left.contains(['"', '\'', '=', ';', '{', '}', '`', '<'])
}

fn place(before: &str, after: &str, quoted: bool, key: Option<&str>) -> Place {
    let at_start = is_start(before);
    let at_end = after.trim_matches(is_decoration).is_empty();
    let listed = quoted && before.trim_end_matches(['"', '\'', ' ']).ends_with('[');
    if let Some(key) = key.filter(|_| !at_start && !listed) {
        let marked = words(KEYS)
            .chain(words(STRICT_KEYS))
            .any(|part| key.contains(part));
        return match (marked, quoted) {
            (true, true) => Place::Marked,
            (true, false) if at_end || follows(after) == Place::Start => Place::Marked,
            (true, false) => Place::Lead,
            (false, true) => Place::Value,
            (false, false) if at_end => Place::End,
            (false, false) => Place::Inside,
        };
    }
    // An item of a list of strings or names.
    let rest = after.trim_start_matches(['"', '\'']);
    let listed = matches!(rest.trim(), "," | ";") || quoted;
    if listed || after.starts_with('`') {
        return Place::Literal;
    }
    match (at_start, at_end) {
        (true, true) => Place::Own,
        (true, false) => follows(after),
        (false, true) if is_set_off(before) => Place::End,
        (false, _) => Place::Inside,
    }
}

/// What stands around words without being one: signs of comments, lists, quotes, rules.
fn is_decoration(c: char) -> bool {
    c.is_whitespace()
        || matches!(
            c,
            '#' | '/'
                | '*'
                | '-'
                | '='
                | '>'
                | '<'
                | '~'
                | '+'
                | '!'
                | ';'
                | '%'
                | '"'
                | '\''
                | '('
                | ')'
                | '['
                | ']'
                | '{'
                | '}'
                | '_'
                | '.'
                | ','
                | ':'
                | '^'
                | '&'
        )
}

/// Nothing but decoration, a number, or the place that a search prints before a line.
pub(super) fn is_start(before: &str) -> bool {
    let words = before.trim_matches(is_decoration);
    if words.is_empty() || matches!(words, "REM" | "rem" | "dnl" | "title" | "Title" | "TITLE") {
        return true;
    }
    let number = words.len() <= 12
        && words
            .bytes()
            .all(|b| b.is_ascii_digit() || matches!(b, b'.' | b')' | b'(' | b'-'));
    if number || words.len() == 1 && before.trim_end().ends_with(['.', ')']) {
        return true;
    }
    // `notes/a.md:12:`
    let mut parts = before.trim_end().rsplit(':');
    let found = parts.next().is_some_and(str::is_empty)
        && parts
            .next()
            .is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
        && parts
            .next()
            .is_some_and(|path| !path.is_empty() && !path.contains(' '));
    found || subject(before)
}

/// The subject of a mail, and `Re:`.
fn subject(before: &str) -> bool {
    let low = before
        .trim_start_matches(is_decoration)
        .to_ascii_lowercase();
    let rest = low
        .strip_prefix("subject:")
        .or_else(|| low.strip_prefix("subj:"))
        .unwrap_or(&low);
    rest.len() < 40
        && rest.split(':').all(|part| {
            matches!(
                part.trim_matches(is_decoration),
                "" | "re" | "fw" | "fwd" | "aw" | "wg"
            )
        })
}

/// The key before a value, in lower case.
fn key(before: &str) -> Option<String> {
    let name = before.trim_end_matches([' ', '"', '\'', '[', '(', '\\']);
    let name = name
        .strip_suffix([':', '='])?
        .trim_end_matches([' ', '"', '\'', ':', '\\']);
    let start = name
        .rfind([',', '{', ';', '(', '[', '?', '.', '"', '\'', '='])
        .map_or(0, |at| at + 1);
    let name = name.get(start..).unwrap_or_default();
    let words: Vec<&str> = name.split_whitespace().rev().take(3).collect();
    let first = words.first()?;
    let is_key = first.starts_with(|c: char| c.is_alphabetic() || "-_@$#*/".contains(c));
    is_key.then(|| {
        words
            .into_iter()
            .rev()
            .collect::<Vec<_>>()
            .join(" ")
            .to_ascii_lowercase()
    })
}

/// What kind of text follows a marking at the start of a line.
fn follows(after: &str) -> Place {
    let text = after.trim_start();
    let sign = text.starts_with([
        '-', ':', ',', ';', ')', ']', '/', '.', '(', '[', '=', '>', '"', '_', '\'',
    ]);
    if text.starts_with('=') {
        return Place::Literal;
    }
    if sign {
        return Place::Start;
    }
    let word: String = text.chars().take_while(|c| is_word(*c)).collect();
    if words(VERBS).any(|verb| verb == word) {
        Place::Inside
    } else {
        Place::Lead
    }
}

/// Whether a sign, not a word, stands before a marking at the end of a line.
fn is_set_off(before: &str) -> bool {
    let text = before.trim_end();
    text.ends_with(['-', ':', ';', ')', ']', '>', '(', '['])
        || before.ends_with("  ")
        || before.ends_with('\t')
}

fn has_cue(before: &str, after: &str, cues: &'static str) -> bool {
    let from = before.ceil_char_boundary(before.len().saturating_sub(AROUND));
    let to = after.floor_char_boundary(AROUND);
    let near = [before.get(from..), after.get(..to)];
    near.into_iter().flatten().any(|text| {
        let low = text.to_ascii_lowercase();
        words(cues).any(|cue| has_word(&low, cue))
    })
}

/// Whether `word` begins somewhere in `text`.
pub(super) fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        before.is_none_or(|c| !c.is_alphanumeric())
    })
}
