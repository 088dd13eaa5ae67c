//! The words of the table, the forms in which they are written, and where they stand as words.

use super::lexicon::Bits;
use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use std::collections::BTreeMap;
use std::ops::Range;

/// Words shorter than this may occur by chance where letters are turned or mirrored.
const MIN_TURNED: usize = 6;
/// The same where digits stand for letters, or something stands between them.
pub(super) const MIN_DISGUISED: usize = 4;
/// One word of the table.
#[derive(Clone, Copy, Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a property of its own"
)]
pub(super) struct Term {
    pub(super) groups: Bits,
    /// The letter before it, or after it, would make it another word.
    pub(super) starts: bool,
    pub(super) ends: bool,
    /// Its form does not tell whether it is an order.
    pub(super) english: bool,
    /// The agent is called by it, as by a name: it begins with a capital.
    pub(super) name: bool,
    /// It does not count as a part of a name: `pi-agent`, `agent/src`.
    pub(super) apart: bool,
    pub(super) turned: Option<Turn>,
}

/// How a word is written so that people do not read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// Every letter moved by thirteen places.
    Rot13,
    /// From the last letter to the first.
    Reversed,
}

/// Words that are searched for together.
#[derive(Debug)]
pub(super) struct Words {
    pub(super) search: AhoCorasick,
    pub(super) terms: Vec<Term>,
}

impl Words {
    pub(super) fn new(words: BTreeMap<String, Term>) -> Result<Words, String> {
        let search = builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(words.keys())
            .map_err(|e| e.to_string())?;
        let terms = words.into_values().collect();
        Ok(Words { search, terms })
    }
}

/// Whether there are many single letters in `text`, or many digits between letters.
pub(super) fn may_be_disguised(text: &str) -> bool {
    let (mut single, mut digits) = (0, 0);
    for window in text.as_bytes().windows(3) {
        let [before, middle, after] = window else {
            continue;
        };
        let letters = before.is_ascii_alphabetic() && after.is_ascii_alphabetic();
        single += usize::from(letters && matches!(middle, b' ' | b'-' | b'.' | b'_'));
        digits += usize::from(letters && matches!(middle, b'0' | b'1' | b'3'..=b'5' | b'7'));
        if before.is_ascii_alphabetic() && middle.is_ascii_alphabetic() {
            single = 0;
        }
        if single >= MIN_DISGUISED || digits >= MIN_DISGUISED {
            return true;
        }
    }
    false
}

fn builder() -> aho_corasick::AhoCorasickBuilder {
    let mut builder = AhoCorasick::builder();
    builder
        .ascii_case_insensitive(true)
        .kind(Some(AhoCorasickKind::ContiguousNFA));
    builder
}

pub(super) fn add_word(words: &mut BTreeMap<String, Term>, word: &str, group: Bits, english: bool) {
    let open = word.strip_suffix('*');
    let plain = open.unwrap_or(word);
    let term = words.entry(plain.to_owned()).or_default();
    let spaced = |c: Option<char>| c.is_some_and(|c| c.is_alphabetic() && !is_dense(c));
    // Arabic and Hebrew write "and" and "the" as one word with the next.
    let prefixed = |c: char| matches!(c, '\u{590}'..='\u{6FF}');
    term.groups |= group;
    term.english |= english;
    term.starts = spaced(plain.chars().next()) && !plain.starts_with(prefixed);
    term.ends = open.is_none() && (term.ends || spaced(plain.chars().next_back()));
}

pub(super) fn add_turned(words: &mut BTreeMap<String, Term>, word: &str) {
    let plain = word.trim_end_matches('*');
    if plain.len() < MIN_TURNED || !plain.bytes().all(|b| b.is_ascii_lowercase()) {
        return;
    }
    let reversed: String = plain.chars().rev().collect();
    let rot13 = holdgate_effects::decode::rot13(plain);
    for (turned, turn) in [(rot13, Turn::Rot13), (reversed, Turn::Reversed)] {
        words.entry(turned).or_insert(Term {
            turned: Some(turn),
            ..Term::default()
        });
    }
}

/// A word with digits for letters, and with something between its letters.
pub(super) fn add_disguised(words: &mut BTreeMap<String, Term>, word: &str, groups: Bits) {
    let plain = word.trim_end_matches('*');
    if plain.len() < MIN_DISGUISED || !plain.bytes().all(|b| b.is_ascii_lowercase()) {
        return;
    }
    let digits = |from: &[char]| -> String {
        let digit = |c| match c {
            'o' => '0',
            'i' => '1',
            'e' => '3',
            'a' => '4',
            's' => '5',
            't' => '7',
            other => other,
        };
        plain
            .chars()
            .map(|c| if from.contains(&c) { digit(c) } else { c })
            .collect()
    };
    let apart = |between: &str| -> String {
        let letters: Vec<String> = plain.chars().map(String::from).collect();
        letters.join(between)
    };
    let forms = [
        digits(&['o', 'i', 'e', 'a']),
        digits(&['o', 'i', 'e']),
        digits(&['o', 'i', 'e', 'a', 's']),
        digits(&['o', 'i', 'e', 'a', 's', 't']),
        apart(" "),
        apart("-"),
        apart("."),
        apart("_"),
    ];
    for form in forms.into_iter().filter(|form| form != plain) {
        let term = words.entry(form).or_default();
        term.groups |= groups;
        (term.starts, term.ends) = (true, true);
    }
}

/// Gives each phrase the groups of the words in it, which a search for the longest does not report.
/// The word `not` keeps its meaning to itself, and a neutral phrase has no other. New rules (`anew`) are not
/// those that are set aside.
pub(super) fn inherit(
    words: &mut BTreeMap<String, Term>,
    not: Bits,
    neutral: Bits,
    (anew, rules): (Bits, Bits),
) -> Result<(), String> {
    let search = builder()
        .match_kind(MatchKind::Standard)
        .build(words.keys())
        .map_err(|e| e.to_string())?;
    let terms: Vec<Term> = words.values().copied().collect();
    for (phrase, term) in words.iter_mut() {
        if term.groups & neutral != 0 {
            term.groups = neutral;
            continue;
        }
        let own = term.groups;
        for inner in search.find_overlapping_iter(phrase.as_str()) {
            let Some(part) = terms.get(inner.pattern().as_usize()) else {
                continue;
            };
            if stands_alone(phrase, &inner.range(), *part) && term.turned.is_none() {
                let kept = if own & anew != 0 { not | rules } else { not };
                term.groups |= part.groups & !(kept & !own);
            }
        }
    }
    Ok(())
}

pub(super) fn begins_with_capital(text: &str, range: &Range<usize>) -> bool {
    let word = text.get(range.clone()).unwrap_or_default();
    word.starts_with(|c: char| c.is_uppercase() || !c.is_ascii_alphabetic())
}

/// Whether the letters around a word leave it a word.
pub(super) fn stands_alone(text: &str, range: &Range<usize>, term: Term) -> bool {
    // Most matches are parts of longer words.
    let byte = |at: Option<usize>| at.and_then(|at| text.as_bytes().get(at)).copied();
    let letter = |b: Option<u8>| b.is_some_and(|b| b.is_ascii_alphabetic());
    if term.starts && letter(byte(range.start.checked_sub(1)))
        || term.ends && letter(byte(Some(range.end)))
    {
        return false;
    }
    let before = text.get(..range.start).unwrap_or_default();
    let after = text.get(range.end..).unwrap_or_default();
    if text.get(range.clone()) == Some("@") {
        let name = |c: char| c.is_ascii_alphanumeric();
        return before.ends_with(name) && after.starts_with(name);
    }
    let part = |c: char| matches!(c, '-' | '_' | '/' | '\\' | '.');
    let letter = |c: char| c.is_alphanumeric();
    if term.apart
        && (before.ends_with(part) && before.trim_end_matches(part).ends_with(letter)
            || after.starts_with(part) && after.trim_start_matches(part).starts_with(letter))
    {
        return false;
    }
    let joins = |c: Option<char>| c.is_some_and(|c| c.is_alphabetic() && !is_dense(c));
    !(term.starts && joins(before.chars().next_back()) || term.ends && joins(after.chars().next()))
}

/// Letters of scripts that put no space between words.
fn is_dense(c: char) -> bool {
    matches!(c, '\u{0E00}'..='\u{0E7F}' | '\u{1100}'..='\u{11FF}' | '\u{2E80}'..='\u{9FFF}'
        | '\u{AC00}'..='\u{D7AF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}')
}
