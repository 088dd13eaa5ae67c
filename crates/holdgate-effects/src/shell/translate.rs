//! `tr`, as far as it can be followed.

use crate::pattern;
use crate::value::Value;
use std::collections::{HashMap, HashSet};

/// Longer sets are not worth following.
const MAX_SET: usize = 512;

/// `tr a-z n-za-m`, `tr -d x`, `tr -s ' '`, `tr -cd a-z`
pub(super) fn tr(text: &str, arguments: &[Value]) -> Option<String> {
    let (mut deletes, mut squeezes, mut others) = (false, false, false);
    let mut words = arguments.iter().map(|a| a.text.as_str()).peekable();
    while let Some(word) = words.next_if(|w| w.starts_with('-') && w.len() > 1) {
        match word {
            "--" => break,
            "--delete" => deletes = true,
            "--squeeze-repeats" => squeezes = true,
            "--complement" => others = true,
            _ => {
                for letter in word.chars().skip(1) {
                    match letter {
                        'd' => deletes = true,
                        's' => squeezes = true,
                        'c' | 'C' => others = true,
                        _ => return None,
                    }
                }
            }
        }
    }
    let from = set(words.next()?)?;
    let to = match words.next() {
        Some(text) => Some(set(text)?),
        None => None,
    };
    let members: HashSet<char> = from.chars.iter().copied().collect();
    let is_member = |c: char| members.contains(&c) != others;
    if words.next().is_some() || deletes && (squeezes || to.is_some()) {
        return None;
    }
    if deletes {
        return Some(text.chars().filter(|c| !is_member(*c)).collect());
    }
    let Some(to) = to else {
        let squeezed = |c: char| is_member(c);
        // It counts bytes, and those of a character are seldom the same.
        return (squeezes && text.is_ascii()).then(|| squeeze(text, squeezed));
    };
    let last = to.chars.last().copied()?;
    // What stands for the others goes by their codes.
    let unclear = others && (to.chars.len() > 1 || !text.is_ascii());
    let cased = |set: &Set| matches!(set.class.as_deref(), Some("upper" | "lower"));
    if unclear || to.has_class && !(cased(&to) && cased(&from)) {
        return None;
    }
    let mut changes = HashMap::new();
    for (at, char) in from.chars.iter().enumerate() {
        // Of a character that stands there twice, the last counts.
        changes.insert(*char, to.chars.get(at).copied().unwrap_or(last));
    }
    let change = |c: char| match others {
        _ if others && is_member(c) => last,
        true => c,
        false => changes.get(&c).copied().unwrap_or(c),
    };
    let changed: String = text.chars().map(change).collect();
    let squeezed: HashSet<char> = to.chars.into_iter().collect();
    Some(if squeezes {
        squeeze(&changed, |c| squeezed.contains(&c))
    } else {
        changed
    })
}

fn squeeze(text: &str, squeezed: impl Fn(char) -> bool) -> String {
    let mut before = None;
    let mut text = text.to_owned();
    text.retain(|c| before.replace(c) != Some(c) || !squeezed(c));
    text
}

#[derive(Default)]
struct Set {
    chars: Vec<char>,
    has_class: bool,
    /// The class, if there is nothing else.
    class: Option<String>,
}

/// The characters of `a-zA-Z`, `[:upper:]`, `\n`.
fn set(text: &str) -> Option<Set> {
    // It knows bytes only; and `[x*3]`, `[=x=]` are not followed.
    let repeats = text.contains('*') && text.contains('[') || text.contains("[=");
    if !text.is_ascii() || text.len() > MAX_SET || repeats {
        return None;
    }
    let mut set = Set::default();
    let mut rest = text;
    while !rest.is_empty() {
        if let Some((name, after)) = rest.strip_prefix("[:").and_then(|r| r.split_once(":]")) {
            set.chars.extend(class(name)?);
            set.has_class = true;
            set.class = (text.len() == name.len() + 4).then(|| name.to_owned());
            rest = after;
            continue;
        }
        let first = next(&mut rest)?;
        let range = rest.strip_prefix('-').filter(|r| !r.is_empty());
        let Some(mut after) = range else {
            set.chars.push(first);
            continue;
        };
        let last = next(&mut after)?;
        if first > last {
            return None;
        }
        set.chars.extend(first..=last);
        rest = after;
        if set.chars.len() > MAX_SET {
            return None;
        }
    }
    Some(set)
}

/// The next character, which may be escaped.
fn next(rest: &mut &str) -> Option<char> {
    let mut chars = rest.chars();
    let mut char = chars.next()?;
    if char == '\\' {
        char = match chars.next()? {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            '\\' => '\\',
            digit if digit.is_digit(8) => {
                let digits: String = rest.chars().skip(1).take(3).collect();
                let end = digits.find(|c: char| !c.is_digit(8));
                let digits = digits.get(..end.unwrap_or(digits.len()))?;
                chars = rest.get(1 + digits.len()..)?.chars();
                let code = u8::from_str_radix(digits, 8).ok()?;
                code.is_ascii().then_some(char::from(code))?
            }
            other if other.is_ascii_alphabetic() => return None,
            other => other,
        };
    }
    *rest = chars.as_str();
    Some(char)
}

fn class(name: &str) -> Option<Vec<char>> {
    let ranges = pattern::class(name)?;
    let is_in = |c: &char| ranges.iter().any(|(from, to)| (*from..=*to).contains(c));
    Some(('\0'..='\x7f').filter(is_in).collect())
}
