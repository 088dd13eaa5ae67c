//! The table of words that orders to an agent are made of, ready to search: `lexicon.yaml`.

mod table;

use super::anchors::{Anchors, Material};
use super::terms::{Turn, Words, begins_with_capital, inherit, may_be_disguised, stands_alone};
use crate::compiled;
use aho_corasick::Input;
use holdgate_effects::table::Table as CompiledTable;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::LazyLock;
use table::{Table, anchoring, bits, spelled_out, words_of};

/// A set of groups or of classes: one bit each.
pub(super) type Bits = u128;

/// Words found in a text that are kept; what follows is examined by itself.
const MAX_HITS: usize = 1 << 16;
/// Groups of which every combination needs one.
const TELLING: &[&str] = &[
    "ignore",
    "anew",
    "conceal",
    "call",
    "agent",
    "authority",
    "frame",
    "self",
    "chat",
    "abuse",
    "planted",
    "riddle",
    "template",
    "turn",
    "grave",
    "verdict",
    "press",
    "free",
    "norefuse",
    "spread",
    "heed",
    "known",
    "licence",
    "talk",
    "soft",
    "role",
    "utter",
    "rules",
    "toward",
    "denial",
    "vital",
];

static LEXICON: LazyLock<Result<Lexicon, String>> =
    LazyLock::new(|| Lexicon::read(compiled::table!("lexicon")));

/// The table that is built in. A test reads it, so that it can be read.
pub(super) fn lexicon() -> Option<&'static Lexicon> {
    LEXICON.as_ref().ok()
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

/// A word of the table in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hit {
    pub(super) range: Range<usize>,
    pub(super) groups: Bits,
    /// Its letters take more than one byte each.
    pub(super) wide: bool,
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
    pub(super) anchors: Anchors,
    plain: Words,
    /// The same with disguised words.
    disguised: Words,
    classes: Vec<(String, String)>,
    /// The groups of verbs.
    pub(super) orders: Bits,
    before: HashSet<String>,
    pub(super) signals: Vec<Signal>,
    pub(super) combinations: Vec<Combination>,
    /// Without a word of these groups, no combination is possible.
    pub(super) telling: Bits,
    /// Words of a file name that may be an order.
    pub(super) naming: Bits,
    pub(super) not: Bits,
    pub(super) agent: Bits,
    pub(super) vocative: Bits,
    pub(super) mention: Bits,
    /// Words of texts about such orders.
    pub(super) about: Bits,
    pub(super) you: Bits,
    /// Words of those who report on such orders.
    pub(super) report: Bits,
}

impl Lexicon {
    fn read(table: CompiledTable<'_>) -> Result<Lexicon, String> {
        let table: Table = table.read().map_err(|e| e.to_string())?;
        let groups: Vec<String> = table.groups.keys().cloned().collect();
        let classes: Vec<(String, String)> = table.classes.clone().into_iter().collect();
        if groups.len() > 128 || classes.len() > 128 {
            return Err("more than 128 groups or classes".to_owned());
        }
        let class_names: Vec<String> = classes.iter().map(|(name, _)| name.clone()).collect();
        let [mut words, mut disguises] = words_of(&table, &groups)?;
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
        let combinations = table.combinations.iter().map(|entry| {
            Ok(Combination {
                all: bits(&class_names, &entry.all)?,
                any: bits(&class_names, &spelled_out(&entry.any, &table.sets))?,
                unless: bits(&class_names, &spelled_out(&entry.unless, &table.sets))?,
                rule: entry.rule.clone(),
            })
        });
        let combinations = combinations.collect::<Result<Vec<_>, String>>()?;
        let named = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
            bits(&groups, &names)
        };
        let (not, mention) = (named(&["not"])?, named(&["mention"])?);
        let telling = named(TELLING)?;
        let (call, agent) = (named(&["call"])?, named(&["agent", "call"])?);
        for (word, term) in &mut words {
            term.name = term.groups & call != 0 && word.ends_with([':', ',']);
            term.apart = term.groups & agent != 0;
        }
        let neutral = named(&["neutral"])?;
        inherit(
            &mut words,
            not,
            neutral,
            (named(&["anew"])?, named(&["rules"])?),
        )?;
        let orders = bits(&groups, &table.orders)?;
        let vocative = bits(&class_names, &["vocative".to_owned()])?;
        let anchors = Anchors::new(&Material {
            words: &words,
            disguises: &disguises,
            signals: &signals,
            combinations: &combinations,
            anchoring: anchoring(&table, &groups)?,
            disguised: named(&["disguised"])?,
            lasting: named(&["planted"])?,
            agent,
            orders,
            vocative,
        })?;
        // Most texts have no disguised words, and need not be searched for them.
        disguises.extend(words.clone());
        Ok(Lexicon {
            anchors,
            plain: Words::new(words)?,
            disguised: Words::new(disguises)?,
            orders,
            before: table.before.into_iter().collect(),
            classes,
            signals,
            combinations,
            telling,
            naming: named(&["ignore", "prior", "rules", "you"])?,
            not,
            agent,
            vocative,
            mention,
            about: named(&["mention", "resist"])?,
            you: named(&["you"])?,
            report: named(&["report"])?,
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
        let all = 0..text.len();
        self.find_in(text, std::slice::from_ref(&all))
    }

    /// The words of the table in these parts of `text`.
    pub(super) fn find_in(&self, text: &str, parts: &[Range<usize>]) -> Hits {
        let mut hits = Hits::default();
        if parts.is_empty() {
            return hits;
        }
        let words = if may_be_disguised(text) {
            &self.disguised
        } else {
            &self.plain
        };
        let inputs = parts.iter().map(|part| Input::new(text).span(part.clone()));
        for found in inputs.flat_map(|input| words.search.find_iter(input)) {
            let Some(term) = words.terms.get(found.pattern().as_usize()) else {
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
                let wide = text.get(range.clone()).is_some_and(|word| !word.is_ascii());
                hits.list.push(Hit {
                    range,
                    groups,
                    wide,
                });
            }
            if hits.list.len() + hits.turned.len() >= MAX_HITS {
                break;
            }
        }
        hits
    }

    /// Whether a word that may begin an order is a part of a name.
    pub(super) fn in_names(&self, text: &str, hits: &Hits) -> bool {
        let joined = |hit: &&Hit| {
            let after = text.as_bytes().get(hit.range.end);
            let before = hit.range.start.checked_sub(1);
            let before = before.and_then(|at| text.as_bytes().get(at));
            let joins = |b: Option<&u8>| matches!(b, Some(b'-' | b'_'));
            hit.groups & self.naming != 0 && (joins(before) || joins(after))
        };
        text.contains("AI_") || text.contains("AI-") || hits.list.iter().any(|hit| joined(&hit))
    }

    /// Whether a verb at `range` is in the place of an order: at the start of a clause, or after a
    /// word that leads to one, and with something after it that is not code. Other languages than
    /// English tell an order by its form.
    pub(super) fn is_order(&self, text: &str, range: &Range<usize>) -> bool {
        let word = text.get(range.clone()).unwrap_or_default();
        if !word.is_ascii() {
            return true;
        }
        let after = text.get(range.end..).unwrap_or_default();
        let next = after.chars().next();
        let ends = word.ends_with(|c: char| !c.is_ascii_alphanumeric());
        let code = |c| {
            matches!(
                c,
                '(' | '=' | '_' | '/' | '\\' | '[' | '{' | '-' | '\'' | '"' | ')'
            )
        };
        if !ends && next.is_some_and(code) {
            return false;
        }
        let before = text.get(..range.start).unwrap_or_default();
        let trimmed = before.trim_end_matches([' ', '\t']);
        let spaced = trimmed.len() < before.len();
        match trimmed.chars().next_back() {
            Some(c) if c.is_alphanumeric() => {
                let start = trimmed.rfind(|c: char| !c.is_alphanumeric() && c != '\'');
                let last = trimmed
                    .get(start.map_or(0, |at| at + 1)..)
                    .unwrap_or_default();
                let digits = last.bytes().all(|b| b.is_ascii_digit());
                spaced && (digits || self.before.contains(&last.to_lowercase()))
            }
            Some('_' | '/' | '\\' | '$' | '=' | '@' | '.' | '&' | '%') if !spaced => false,
            Some('-') => spaced,
            Some(_) | None => true,
        }
    }
}
