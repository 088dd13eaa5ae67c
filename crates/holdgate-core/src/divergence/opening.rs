//! Openings that no list of phrases has: a first person and a negation, with whatever stands between
//! them.

use super::clause::spaced;
use super::table::{Language, Role, Table};
use std::ops::Range;

/// Words between the person and the negation.
const BETWEEN: usize = 6;
/// Openings of one sentence.
const MOST: usize = 8;

/// Where a first person negates something in a sentence, and whether it is unwilling. Only
/// languages with a list of negations have any.
pub(super) fn openings(
    table: &Table,
    language: Language,
    sentence: &str,
) -> Vec<(Range<usize>, bool)> {
    let mut all = Vec::new();
    if table.phrase(Role::Negation, language).is_none() {
        return all;
    }
    let words: Vec<(usize, &str)> = spaced(sentence).collect();
    for (number, (at, _)) in words.iter().enumerate() {
        if all.len() == MOST {
            break;
        }
        let rest = sentence.get(*at..).unwrap_or_default();
        let negation = table.find(Role::Negation, language, rest);
        let Some(negation) = negation.filter(|found| found.start == 0) else {
            continue;
        };
        let before = words.get(..number).unwrap_or_default();
        let Some(start) = person(table, language, before, *at) else {
            continue;
        };
        let unable = table.find(Role::Unable, language, rest);
        let unwilling = unable.is_none_or(|found| found.start != 0);
        all.push((start..at + negation.end, unwilling));
    }
    all
}

/// Where the first person stands to which a negation at `at` belongs. At the start of a sentence,
/// nobody need be named.
fn person(table: &Table, language: Language, before: &[(usize, &str)], at: usize) -> Option<usize> {
    let is = |role, word: &str| {
        let found = table.find(role, language, word);
        found.is_some_and(|found| found.start == 0)
    };
    let last = before.last().map(|(_, word)| *word);
    if last.is_some_and(|word| is(Role::Past, word)) {
        return None;
    }
    let joined = before.iter().rev().find(|(_, word)| !is(Role::Modal, word));
    if joined.is_some_and(|(_, word)| is(Role::Joint, word)) {
        let person = before.iter().find(|(_, word)| is(Role::Person, word));
        return person.map(|(start, _)| *start);
    }
    if before.iter().all(|(_, word)| is(Role::Interjection, word)) {
        return Some(at);
    }
    for (start, word) in before.iter().rev().take(BETWEEN) {
        if word.ends_with([',', ';', ':', '—', '–']) {
            return None;
        }
        if is(Role::Person, word) {
            return Some(*start);
        }
        if is(Role::Subject, word) {
            return None;
        }
    }
    None
}
