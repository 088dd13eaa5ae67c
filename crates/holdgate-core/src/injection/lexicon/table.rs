//! The table as written, and the words in it.

use super::super::anchors::ANCHORS;
use super::super::terms::{Term, add_disguised, add_turned, add_word};
use super::Bits;
use serde::Deserialize;
use std::collections::BTreeMap;

/// The groups whose words are known turned and mirrored, too.
const TURNED: &[&str] = &[
    "ignore", "prior", "rules", "agent", "secret", "self", "show", "run", "destroy", "send",
];

/// The table as written; the comments in it explain the parts.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Table {
    pub(super) groups: BTreeMap<String, Vec<String>>,
    pub(super) languages: BTreeMap<String, Vec<String>>,
    pub(super) orders: Vec<String>,
    pub(super) before: Vec<String>,
    pub(super) signals: Vec<SignalEntry>,
    pub(super) classes: BTreeMap<String, String>,
    pub(super) sets: BTreeMap<String, Vec<String>>,
    pub(super) combinations: Vec<CombinationEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SignalEntry {
    pub(super) class: String,
    pub(super) all: Vec<String>,
    #[serde(default)]
    pub(super) within: usize,
    #[serde(default)]
    pub(super) affirmed: bool,
    #[serde(default = "sentences")]
    pub(super) lasts: usize,
}

/// Sentences that make one passage.
fn sentences() -> usize {
    3
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CombinationEntry {
    pub(super) rule: String,
    pub(super) all: Vec<String>,
    #[serde(default)]
    pub(super) any: Vec<String>,
    #[serde(default)]
    pub(super) unless: Vec<String>,
}

/// The words of all groups, and their disguises.
pub(super) fn words_of(
    table: &Table,
    groups: &[String],
) -> Result<[BTreeMap<String, Term>; 2], String> {
    let disguised = bits(groups, &["disguised".to_owned()])?;
    let mut words: BTreeMap<String, Term> = BTreeMap::new();
    let mut disguises: BTreeMap<String, Term> = BTreeMap::new();
    for (group, list) in table.languages.iter().chain(&table.groups) {
        let bit = bits(groups, std::slice::from_ref(group))?;
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
                add_disguised(&mut disguises, word, bit | disguised);
            }
        }
    }
    Ok([words, disguises])
}

/// Group to look for, all groups and distance of each signal that an order needs.
pub(super) fn anchoring(
    table: &Table,
    groups: &[String],
) -> Result<Vec<(Bits, Bits, usize)>, String> {
    let mut all = Vec::new();
    for signal in &table.signals {
        let Some((_, anchors)) = ANCHORS.iter().find(|(class, _)| *class == signal.class) else {
            continue;
        };
        let anchor = signal
            .all
            .iter()
            .find(|group| anchors.contains(&group.as_str()));
        let anchor =
            anchor.ok_or_else(|| format!("no anchor in a signal of `{}`", signal.class))?;
        let anchor = bits(groups, std::slice::from_ref(anchor))?;
        all.push((anchor, bits(groups, &signal.all)?, signal.within));
    }
    Ok(all)
}

/// `names` with the classes of a set in its place.
pub(super) fn spelled_out(names: &[String], sets: &BTreeMap<String, Vec<String>>) -> Vec<String> {
    let each = names.iter().map(|name| {
        let set = sets.get(name).map(Vec::as_slice);
        set.unwrap_or(std::slice::from_ref(name))
    });
    each.flatten().cloned().collect()
}

/// The bits of `names` in `all`.
pub(super) fn bits(all: &[String], names: &[String]) -> Result<Bits, String> {
    let mut set = 0;
    for name in names {
        let at = all.iter().position(|known| known == name);
        set |= 1 << at.ok_or_else(|| format!("unknown name `{name}`"))?;
    }
    Ok(set)
}
