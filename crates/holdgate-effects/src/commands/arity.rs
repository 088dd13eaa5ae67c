//! Options that no table lists: whether the word behind such an option is its value or the next operand
//! is not known. An entry finds sub-commands in the first reading; here is the second.

use super::args::{find, full_name};
use super::spec::{Spec, Style};
use crate::value::{HOLE, Value};
use std::sync::Arc;

/// Sub-commands in sub-commands that are looked for.
const MAX_LEVELS: usize = 4;

/// The words with the values of unlisted options attached to them, `--option=value`, wherever a
/// sub-command follows only in that reading. `None`: both readings are the same.
pub(super) fn attached(spec: &Arc<Spec>, words: &[Value]) -> Option<Vec<Value>> {
    if spec.sub.is_empty() || !words.iter().any(|word| word.text.starts_with('-')) {
        return None;
    }
    let mut levels = vec![spec.clone()];
    // The options whose values are attached.
    let mut options = Vec::new();
    let mut at = 1;
    while let Some(word) = words.get(at) {
        at += 1;
        let level = levels.last()?;
        // Without sub-commands nothing is attached any more.
        if matches!(level.style, Style::Raw | Style::Keys) || level.sub.is_empty() {
            break;
        }
        match kind(&levels, &word.text) {
            Word::End => break,
            Word::Flag => {}
            Word::TakesValue => at += 1,
            Word::Unlisted => {
                let rest = words.get(at + 1..).unwrap_or(&[]);
                if words.get(at).is_some_and(may_be_value) && leads_to_sub_command(&levels, rest) {
                    options.push(at - 1);
                    at += 1;
                }
            }
            Word::Operand => match level.sub.get(word.text.as_str()) {
                Some(sub) if levels.len() <= MAX_LEVELS => {
                    let sub = sub.clone();
                    levels.push(sub);
                }
                _ => break,
            },
        }
    }
    if options.is_empty() {
        return None;
    }
    let mut out = Vec::with_capacity(words.len());
    let mut rest = words.iter().enumerate();
    while let Some((at, word)) = rest.next() {
        if options.contains(&at)
            && let Some((_, value)) = rest.next()
        {
            let mut joined = word.map(format!("{}=", word.text));
            joined.push(value);
            out.push(joined);
        } else {
            out.push(word.clone());
        }
    }
    Some(out)
}

enum Word {
    /// `--`
    End,
    /// An option without a value, or with one attached.
    Flag,
    TakesValue,
    Unlisted,
    Operand,
}

fn kind(levels: &[Arc<Spec>], text: &str) -> Word {
    if text == "--" {
        return Word::End;
    }
    if !text.starts_with('-') || text.len() < 2 {
        return Word::Operand;
    }
    // `--no-…` switches something off.
    if text.contains(['=', HOLE]) || text.starts_with("--no-") {
        return Word::Flag;
    }
    let is_long = text.starts_with("--");
    let whole = if is_long {
        full_name(levels, text)
    } else {
        text.to_owned()
    };
    if let Some(meaning) = find(levels, &whole) {
        return if meaning.takes_word() {
            Word::TakesValue
        } else {
            Word::Flag
        };
    }
    let last = text.chars().next_back().map(|letter| format!("-{letter}"));
    match last
        .filter(|_| !is_long)
        .and_then(|last| find(levels, &last))
    {
        Some(meaning) if meaning.takes_word() => Word::TakesValue,
        Some(_) => Word::Flag,
        None => Word::Unlisted,
    }
}

fn may_be_value(value: &Value) -> bool {
    !value.text.starts_with('-') || value.text == "-"
}

/// Whether one of these words may be a sub-command of the innermost level: those that may be values of
/// unlisted options are passed over.
fn leads_to_sub_command(levels: &[Arc<Spec>], words: &[Value]) -> bool {
    let Some(level) = levels.last() else {
        return false;
    };
    let mut may_be_passed = false;
    let mut is_value = false;
    for word in words {
        if std::mem::take(&mut is_value) {
            continue;
        }
        match kind(levels, &word.text) {
            Word::Flag => may_be_passed = false,
            Word::TakesValue => is_value = true,
            Word::Unlisted => may_be_passed = true,
            Word::Operand if level.sub.contains_key(word.text.as_str()) => return true,
            Word::Operand if may_be_passed => may_be_passed = false,
            Word::End | Word::Operand => return false,
        }
    }
    false
}

#[cfg(test)]
mod tests;
