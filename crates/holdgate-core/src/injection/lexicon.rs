//! The table of words that orders to an agent are made of, ready to search: `lexicon.yaml`.

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use serde::Deserialize;
use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use std::sync::LazyLock;

/// A set of groups or of classes: one bit each.
pub(super) type Bits = u128;

/// Words found in a text that are kept; what follows is examined by itself.
const MAX_HITS: usize = 1 << 16;
/// Words shorter than this may occur by chance where letters are turned or mirrored.
const MIN_TURNED: usize = 6;
/// The same where digits stand for letters, or something stands between them.
const MIN_DISGUISED: usize = 4;
/// The groups whose words are known turned and mirrored, too.
const TURNED: &[&str] = &[
    "ignore", "prior", "rules", "agent", "secret", "self", "show", "run", "destroy", "send",
];

static LEXICON: LazyLock<Result<Lexicon, String>> =
    LazyLock::new(|| Lexicon::read(include_str!("lexicon.yaml")));

/// The table that is built in. A test reads it, so that it can be read.
pub(super) fn lexicon() -> Option<&'static Lexicon> {
    LEXICON.as_ref().ok()
}

/// The table as written; the comments in it explain the parts.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    groups: BTreeMap<String, Vec<String>>,
    languages: BTreeMap<String, Vec<String>>,
    orders: Vec<String>,
    before: Vec<String>,
    signals: Vec<SignalEntry>,
    classes: BTreeMap<String, String>,
    sets: BTreeMap<String, Vec<String>>,
    combinations: Vec<CombinationEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SignalEntry {
    class: String,
    all: Vec<String>,
    #[serde(default)]
    within: usize,
    #[serde(default)]
    affirmed: bool,
    #[serde(default = "sentences")]
    lasts: usize,
}

/// Sentences that make one passage.
fn sentences() -> usize {
    3
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CombinationEntry {
    rule: String,
    all: Vec<String>,
    #[serde(default)]
    any: Vec<String>,
    #[serde(default)]
    unless: Vec<String>,
}

/// Words of several groups near each other: a class.
#[derive(Debug)]
pub(super) struct Signal {
    pub(super) class: Bits,
    pub(super) all: Bits,
    pub(super) within: usize,
    pub(super) affirmed: bool,
    /// Sentences for which the class counts.
    pub(super) lasts: usize,
}

/// Classes that are suspicious together.
#[derive(Debug)]
pub(super) struct Combination {
    pub(super) rule: String,
    pub(super) all: Bits,
    /// One of them, or none if empty.
    pub(super) any: Bits,
    pub(super) unless: Bits,
}

/// One word of the table.
#[derive(Clone, Copy, Debug, Default)]
struct Term {
    groups: Bits,
    /// The letter before it, or after it, would make it another word.
    starts: bool,
    ends: bool,
    /// Its form does not tell whether it is an order.
    english: bool,
    /// The agent is called by it, as by a name: it begins with a capital.
    name: bool,
    /// It does not count as a part of a name: `pi-agent`, `agent/src`.
    apart: bool,
    turned: Option<Turn>,
}

/// How a word is written so that people do not read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// Every letter moved by thirteen places.
    Rot13,
    /// From the last letter to the first.
    Reversed,
}

/// A word of the table in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hit {
    pub(super) range: Range<usize>,
    pub(super) groups: Bits,
}

/// The words in a text.
#[derive(Debug, Default)]
pub(super) struct Hits {
    pub(super) list: Vec<Hit>,
    /// All groups of the list.
    pub(super) groups: Bits,
    /// Where turned words stand.
    pub(super) turned: Vec<(Turn, Range<usize>)>,
}

/// The table, ready to search.
#[derive(Debug)]
pub(super) struct Lexicon {
    words: AhoCorasick,
    terms: Vec<Term>,
    classes: Vec<(String, String)>,
    /// The groups of verbs.
    orders: Bits,
    before: HashSet<String>,
    pub(super) signals: Vec<Signal>,
    pub(super) combinations: Vec<Combination>,
    /// Without a word of these groups, no combination is possible.
    pub(super) telling: Bits,
    pub(super) not: Bits,
    pub(super) mention: Bits,
}

impl Lexicon {
    fn read(text: &str) -> Result<Lexicon, String> {
        let table: Table = serde_saphyr::from_str(text).map_err(|e| e.to_string())?;
        let groups: Vec<String> = table.groups.keys().cloned().collect();
        let classes: Vec<(String, String)> = table.classes.into_iter().collect();
        if groups.len() > 128 || classes.len() > 128 {
            return Err("more than 128 groups or classes".to_owned());
        }
        let class_names: Vec<String> = classes.iter().map(|(name, _)| name.clone()).collect();
        let disguised = bits(&groups, &["disguised".to_owned()])?;
        let mut words: BTreeMap<String, Term> = BTreeMap::new();
        for (group, list) in table.languages.iter().chain(&table.groups) {
            let bit = bits(&groups, std::slice::from_ref(group))?;
            let english = table.groups.get(group).is_some_and(|own| own == list);
            let verbs = english && table.orders.contains(group);
            for word in list {
                add_word(&mut words, word, bit, english);
                if verbs && word.bytes().all(|b| b.is_ascii_lowercase()) {
                    // What "the agent sends" is an order, too.
                    add_word(&mut words, &format!("{word}s"), bit, english);
                }
            }
            if TURNED.contains(&group.as_str()) {
                for word in list {
                    add_turned(&mut words, word);
                    add_disguised(&mut words, word, bit | disguised);
                }
            }
        }
        let signals = table.signals.iter().map(|entry| {
            Ok(Signal {
                class: bits(&class_names, std::slice::from_ref(&entry.class))?,
                all: bits(&groups, &entry.all)?,
                within: entry.within,
                affirmed: entry.affirmed,
                lasts: entry.lasts,
            })
        });
        let signals = signals.collect::<Result<Vec<_>, String>>()?;
        let combinations = table.combinations.into_iter().map(|entry| {
            Ok(Combination {
                all: bits(&class_names, &entry.all)?,
                any: bits(&class_names, &spelled_out(&entry.any, &table.sets))?,
                unless: bits(&class_names, &spelled_out(&entry.unless, &table.sets))?,
                rule: entry.rule,
            })
        });
        let combinations = combinations.collect::<Result<Vec<_>, String>>()?;
        let named = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
            bits(&groups, &names)
        };
        let (not, mention) = (named(&["not"])?, named(&["mention"])?);
        let telling = named(&[
            "ignore", "anew", "conceal", "call", "agent", "authority", "frame", "self", "chat",
            "abuse", "planted", "riddle", "template", "turn", "grave", "verdict", "press", "free",
            "norefuse", "spread", "heed", "known", "licence", "talk", "soft", "role", "utter", "rules",
            "toward", "denial", "vital",
        ])?;
        let (call, agent) = (named(&["call"])?, named(&["agent", "call"])?);
        for (word, term) in &mut words {
            term.name = term.groups & call != 0 && word.ends_with([':', ',']);
            term.apart = term.groups & agent != 0;
        }
        let neutral = named(&["neutral"])?;
        inherit(&mut words, not, neutral)?;
        let search = builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(words.keys())
            .map_err(|e| e.to_string())?;
        Ok(Lexicon {
            words: search,
            terms: words.into_values().collect(),
            orders: bits(&groups, &table.orders)?,
            before: table.before.into_iter().collect(),
            classes,
            signals,
            combinations,
            telling,
            not,
            mention,
        })
    }

    /// The classes of these names; a name that is not in the table is left out.
    pub(super) fn class(&self, name: &str) -> Bits {
        let at = self.classes.iter().position(|(known, _)| known == name);
        at.map_or(0, |at| 1 << at)
    }

    /// What the classes say, in the order of the table.
    pub(super) fn meanings(&self, classes: Bits) -> impl Iterator<Item = &str> {
        let each = self.classes.iter().enumerate();
        each.filter(move |(at, _)| classes >> at & 1 == 1)
            .map(|(_, (_, meaning))| meaning.as_str())
    }

    /// The words of the table in `text`, which is in lower case where it is not ASCII.
    pub(super) fn find(&self, text: &str) -> Hits {
        let mut hits = Hits::default();
        for found in self.words.find_iter(text) {
            let Some(term) = self.terms.get(found.pattern().as_usize()) else {
                continue;
            };
            let range = found.range();
            if !stands_alone(text, &range, *term) {
                continue;
            }
            if let (Some(turn), 0) = (term.turned, term.groups) {
                hits.turned.push((turn, range));
            } else {
                let mut groups = term.groups;
                if term.english && groups & self.orders != 0 && !self.is_order(text, &range) {
                    groups &= !self.orders;
                }
                if groups == 0 || term.name && !begins_with_capital(text, &range) {
                    continue;
                }
                hits.groups |= groups;
                hits.list.push(Hit { range, groups });
            }
            if hits.list.len() + hits.turned.len() >= MAX_HITS {
                break;
            }
        }
        hits
    }

    /// Whether a verb at `range` is in the place of an order: at the start of a clause, or after a
    /// word that leads to one, and with something after it that is not code. Other languages than
    /// English tell an order by its form.
    fn is_order(&self, text: &str, range: &Range<usize>) -> bool {
        let word = text.get(range.clone()).unwrap_or_default();
        if !word.is_ascii() {
            return true;
        }
        let after = text.get(range.end..).unwrap_or_default();
        let next = after.chars().next();
        let ends = word.ends_with(|c: char| !c.is_ascii_alphanumeric());
        let code = |c| matches!(c, '(' | '=' | '_' | '/' | '\\' | '[' | '{' | '-' | '\'' | '"' | ')');
        if !ends && next.is_some_and(code) {
            return false;
        }
        let before = text.get(..range.start).unwrap_or_default();
        let trimmed = before.trim_end_matches([' ', '\t']);
        let spaced = trimmed.len() < before.len();
        match trimmed.chars().next_back() {
            None => true,
            Some(c) if c.is_alphanumeric() => {
                let start = trimmed.rfind(|c: char| !c.is_alphanumeric() && c != '\'');
                let last = trimmed.get(start.map_or(0, |at| at + 1)..).unwrap_or_default();
                let digits = last.bytes().all(|b| b.is_ascii_digit());
                spaced && (digits || self.before.contains(&last.to_lowercase()))
            }
            Some('_' | '/' | '\\' | '$' | '=' | '@' | '.' | '&' | '%') if !spaced => false,
            Some('-') => spaced,
            Some(_) => true,
        }
    }
}

/// `names` with the classes of a set in its place.
fn spelled_out(names: &[String], sets: &BTreeMap<String, Vec<String>>) -> Vec<String> {
    let each = names.iter().map(|name| {
        let set = sets.get(name).map(Vec::as_slice);
        set.unwrap_or(std::slice::from_ref(name))
    });
    each.flatten().cloned().collect()
}

/// The bits of `names` in `all`.
fn bits(all: &[String], names: &[String]) -> Result<Bits, String> {
    let mut set = 0;
    for name in names {
        let at = all.iter().position(|known| known == name);
        set |= 1 << at.ok_or_else(|| format!("unknown name `{name}`"))?;
    }
    Ok(set)
}

fn builder() -> aho_corasick::AhoCorasickBuilder {
    let mut builder = AhoCorasick::builder();
    builder
        .ascii_case_insensitive(true)
        .kind(Some(AhoCorasickKind::ContiguousNFA));
    builder
}

fn add_word(words: &mut BTreeMap<String, Term>, word: &str, group: Bits, english: bool) {
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

fn add_turned(words: &mut BTreeMap<String, Term>, word: &str) {
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
fn add_disguised(words: &mut BTreeMap<String, Term>, word: &str, groups: Bits) {
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
/// The word `not` keeps its meaning to itself, and a neutral phrase has no other.
fn inherit(words: &mut BTreeMap<String, Term>, not: Bits, neutral: Bits) -> Result<(), String> {
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
        for inner in search.find_overlapping_iter(phrase.as_str()) {
            let Some(part) = terms.get(inner.pattern().as_usize()) else {
                continue;
            };
            if stands_alone(phrase, &inner.range(), *part) && term.turned.is_none() {
                term.groups |= part.groups & !not;
            }
        }
    }
    Ok(())
}

fn begins_with_capital(text: &str, range: &Range<usize>) -> bool {
    let word = text.get(range.clone()).unwrap_or_default();
    word.starts_with(|c: char| c.is_uppercase() || !c.is_ascii_alphabetic())
}

/// Whether the letters around a word leave it a word.
fn stands_alone(text: &str, range: &Range<usize>, term: Term) -> bool {
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
pub(super) fn is_dense(c: char) -> bool {
    matches!(c, '\u{0E00}'..='\u{0E7F}' | '\u{1100}'..='\u{11FF}' | '\u{2E80}'..='\u{9FFF}'
        | '\u{AC00}'..='\u{D7AF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}')
}
