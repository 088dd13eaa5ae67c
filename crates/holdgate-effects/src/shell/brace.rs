//! Brace expansion: `{a,b}` and `{1..5}`, before anything else is looked at.

use super::syntax::{Part, Word};
use crate::fuel::{Fuel, OutOfFuel};

/// Words that one word may become.
const MAX_WORDS: usize = 256;
static EMPTY: Part = Part::Quoted(String::new());
/// What a character costs here, compared to one that is only copied.
const COST: usize = 4;

#[derive(Clone, Debug)]
enum Item<'w> {
    Char(char),
    Part(&'w Part),
}

/// The words that `word` stands for.
pub(super) fn expand(word: &Word, fuel: &Fuel) -> Result<Vec<Word>, OutOfFuel> {
    let braces = |p: &Part| matches!(p, Part::Plain(t) if t.contains('{'));
    if !word.parts.iter().any(braces) {
        return Ok(vec![word.clone()]);
    }
    let mut items = Vec::new();
    for part in &word.parts {
        match part {
            Part::Plain(text) => items.extend(text.chars().map(Item::Char)),
            Part::Quoted(_)
            | Part::Variable(_)
            | Part::Command { .. }
            | Part::Process { .. }
            | Part::Arithmetic(_) => {
                items.push(Item::Part(part));
            }
        }
    }
    let mut done = Vec::new();
    let mut todo = vec![items];
    while let Some(items) = todo.pop() {
        fuel.spend_on(128 + items.len() * COST)?;
        let room = done.len() + todo.len() < MAX_WORDS;
        let group = if room { first_group(&items) } else { None };
        let Some((start, end, choices)) = group else {
            done.push(join(&items));
            continue;
        };
        let (before, after) = (
            items.get(..start).unwrap_or(&[]),
            items.get(end + 1..).unwrap_or(&[]),
        );
        for choice in choices.into_iter().take(MAX_WORDS).rev() {
            fuel.spend_on(32 + (before.len() + after.len()) * COST)?;
            let mut next = before.to_vec();
            next.extend(choice);
            next.extend_from_slice(after);
            todo.push(next);
        }
    }
    Ok(done)
}

/// The first group that really is one: where it begins and ends, and what it can be.
fn first_group<'w>(items: &[Item<'w>]) -> Option<(usize, usize, Vec<Vec<Item<'w>>>)> {
    let mut tries = 0;
    for (start, item) in items.iter().enumerate() {
        if !matches!(item, Item::Char('{')) {
            continue;
        }
        tries += 1;
        if tries > 16 {
            return None;
        }
        let Some((end, commas)) = closing(items, start) else {
            continue;
        };
        if commas.is_empty() {
            if let Some(choices) = sequence(items.get(start + 1..end).unwrap_or(&[])) {
                return Some((start, end, choices));
            }
            continue;
        }
        let mut choices = Vec::new();
        let mut from = start + 1;
        for comma in commas.into_iter().chain([end]) {
            choices.push(items.get(from..comma).unwrap_or(&[]).to_vec());
            from = comma + 1;
        }
        return Some((start, end, choices));
    }
    None
}

fn closing(items: &[Item<'_>], start: usize) -> Option<(usize, Vec<usize>)> {
    let mut open = 0usize;
    let mut commas = Vec::new();
    for (at, item) in items.iter().enumerate().skip(start) {
        match item {
            Item::Char('{') => open += 1,
            Item::Char('}') => {
                open -= 1;
                if open == 0 {
                    return Some((at, commas));
                }
            }
            Item::Char(',') if open == 1 => commas.push(at),
            Item::Char(_) | Item::Part(_) => {}
        }
    }
    None
}

/// `1..5`, `a..e`, `1..9..2`
fn sequence<'w>(items: &[Item<'w>]) -> Option<Vec<Vec<Item<'w>>>> {
    let text: String = items
        .iter()
        .map(|i| match i {
            Item::Char(c) => Some(*c),
            Item::Part(_) => None,
        })
        .collect::<Option<_>>()?;
    let mut parts = text.split("..");
    let (from, to) = (parts.next()?, parts.next()?);
    let step: i64 = parts.next().map_or(Some(1), |s| s.parse().ok())?;
    let step = usize::try_from(step.unsigned_abs().max(1)).ok()?;
    let chars = |text: String| text.chars().map(Item::Char).collect::<Vec<_>>();
    if let (Ok(from), Ok(to)) = (from.parse::<i64>(), to.parse::<i64>()) {
        let all: Vec<i64> = if from <= to {
            (from..=to).step_by(step).take(MAX_WORDS).collect()
        } else {
            (to..=from).rev().step_by(step).take(MAX_WORDS).collect()
        };
        let is_padded = |text: &str| {
            let digits = text.trim_start_matches('-');
            digits.len() > 1 && digits.starts_with('0')
        };
        let texts: Vec<&str> = text.split("..").take(2).collect();
        let width = if texts.iter().any(|t| is_padded(t)) {
            texts.iter().map(|t| t.len()).max().unwrap_or(0).min(32)
        } else {
            0
        };
        return Some(
            all.into_iter()
                .map(|n| chars(format!("{n:0width$}")))
                .collect(),
        );
    }
    let letter = |text: &str| {
        let mut all = text.chars();
        all.next()
            .filter(|c| c.is_ascii_alphabetic() && all.next().is_none())
    };
    let (from, to) = (letter(from)?, letter(to)?);
    let all: Vec<char> = if from <= to {
        (from..=to).step_by(step).collect()
    } else {
        (to..=from).rev().step_by(step).collect()
    };
    // Between `Z` and `a` stands a backslash, which quotes nothing.
    let item = |c: char| match c {
        '\\' => vec![Item::Part(&EMPTY)],
        c => vec![Item::Char(c)],
    };
    Some(all.into_iter().map(item).collect())
}

fn join(items: &[Item<'_>]) -> Word {
    let mut word = Word::default();
    for item in items {
        match item {
            Item::Char(c) => match word.parts.last_mut() {
                Some(Part::Plain(text)) => text.push(*c),
                _ => word.parts.push(Part::Plain(c.to_string())),
            },
            Item::Part(part) => word.parts.push((*part).clone()),
        }
    }
    word
}
