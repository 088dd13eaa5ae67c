//! Functions of libraries that make a text of texts: replaced, translated, cut, put together.
//!
//! Languages order the arguments differently. What is not followed here is unknown, and code that
//! runs a command made so is asked about ([`conceals`]).

use super::{Arguments, Reader};
use crate::code::Language;
use crate::code::fold;
use crate::code::lex::{Kind, Meaning};
use crate::code::thing::{AbstractValue, unknown_like};
use crate::scene::Fueled;
use crate::value::{MAX_VALUE, Origins};
use std::collections::HashMap;

/// Longer sets of characters are not worth following.
const MAX_SET: usize = 512;

impl Reader<'_, '_, '_> {
    /// Perl's `$x =~ tr/a/b/` and `$x =~ s/a/b/`: the reader stands at the first half. `None` for a
    /// pattern that only looks.
    pub(super) fn substituted(
        &mut self,
        variable: Option<String>,
        left: &AbstractValue,
    ) -> Fueled<Option<AbstractValue>> {
        if self.language != Language::Perl {
            return Ok(None);
        }
        let half = |at: usize| {
            self.token_at(at)
                .filter(|t| matches!(t.kind, Kind::Text(q) if q.meaning == Meaning::Pattern))
        };
        let (Some(from), Some(to)) = (half(self.at), half(self.at + 1)) else {
            return Ok(None);
        };
        let start = usize::try_from(from.start).unwrap_or(usize::MAX);
        let end = usize::try_from(to.end).unwrap_or(usize::MAX);
        let written = self.tokens.code.get(start..end).unwrap_or("");
        let translates = written.starts_with("tr") || written.starts_with('y');
        let pair = [AbstractValue::text(from.text), AbstractValue::text(to.text)];
        self.at += 2;
        let left = self.resolved(left)?;
        let subject = match &left {
            AbstractValue::Text(value) => (**value).clone(),
            _ => return Ok(Some(AbstractValue::Nothing)),
        };
        self.scene.fuel.spend_on(subject.text.len())?;
        let made = if translates {
            translated(&left, &pair)
        } else {
            replaced(&left, &pair, is_pattern)
        };
        let made = made.unwrap_or_else(|| {
            let hidden = conceals(&subject.text);
            let unknown = unknown_like(&subject);
            AbstractValue::value(if hidden {
                unknown.marked(Origins::COMPUTED)
            } else {
                unknown
            })
        });
        if let Some(name) = variable {
            self.assign(&name, made.clone())?;
        }
        Ok(Some(made))
    }

    /// The function that the reader stands at gets `first` before its other arguments.
    pub(super) fn piped(&mut self, first: AbstractValue, end: usize) -> Fueled<AbstractValue> {
        let mut name = String::new();
        while let Some(part) = self.name_at(self.at) {
            name.push_str(part);
            self.at += 1;
            if !self.is_mark(self.at, ".") || self.name_at(self.at + 1).is_none() {
                break;
            }
            name.push('.');
            self.at += 1;
        }
        let mut arguments = Arguments::default();
        if self.is_mark(self.at, "(") {
            arguments = self.arguments(end)?;
        }
        arguments.positional.insert(0, first);
        self.calls(&name, arguments)
    }

    /// The variable before the `=~` at `mark`, also of `($x = 'text') =~ …`.
    pub(super) fn bound_before(&self, mark: usize) -> Option<String> {
        let mut names = (0..mark)
            .rev()
            .take(64)
            .take_while(|at| !self.is_mark(*at, ";"))
            .filter_map(|at| self.name_at(at).filter(|name| name.starts_with('$')));
        let name = if self.is_mark(mark.wrapping_sub(1), ")") {
            names.last()
        } else {
            names.next()
        };
        name.map(str::to_owned)
    }
}

/// What a function makes of texts, all of which are known.
pub(super) fn made(
    language: Language,
    name: &str,
    arguments: &[AbstractValue],
) -> Option<AbstractValue> {
    let last = name.rsplit(['.', ':']).next().unwrap_or(name);
    let first = arguments.first()?;
    let pair = |a: usize, b: usize| Some([arguments.get(a)?.clone(), arguments.get(b)?.clone()]);
    let number = |at: usize| arguments.get(at).and_then(AbstractValue::number);
    match last {
        // The subject stands last.
        "str_replace" | "string-replace" => replaced(arguments.get(2)?, &pair(0, 1)?, |_, _| false),
        "preg_replace" | "mb_ereg_replace" | "replace-regexp-in-string" => {
            replaced(arguments.get(2)?, &pair(0, 1)?, is_pattern)
        }
        "sub" | "gsub" if arguments.len() >= 3 && language != Language::Lua => {
            replaced(arguments.get(2)?, &pair(0, 1)?, is_pattern)
        }
        "chartr" => translated(arguments.get(2)?, &pair(0, 1)?),
        // The subject stands first.
        "gsub" if language == Language::Lua => replaced(first, &pair(1, 2)?, is_pattern),
        "sub" if language == Language::Lua => {
            let from = number(1)?;
            let to = number(2).filter(|to| *to != -1);
            Some(fold::slice_of(first, Some(from.saturating_sub(1)), to, 1))
        }
        "replace" | "Replace" | "ReplaceAll" | "REPLACE" | "strrep" | "replace_all"
            if arguments.len() >= 3 =>
        {
            replaced(first, &pair(1, 2)?, |_, _| false)
        }
        "regexprep" | "regexp_replace" | "substitute" | "str_replace_all" => {
            replaced(first, &pair(1, 2)?, is_pattern)
        }
        "strtr" | "translate" | "TRANSLATE" => translated(first, &pair(1, 2)?),
        "substr" | "SUBSTR" | "mb_substr" => {
            // R counts from one and names the last, SQL counts from one, PHP and Perl from zero.
            let zero = matches!(language, Language::Php | Language::Perl);
            let from = number(1)?.saturating_sub(i64::from(!zero));
            let to = number(2).map(|n| from.saturating_add(n));
            Some(fold::slice_of(first, Some(from), to, 1))
        }
        // Spaces before commands mean nothing.
        "dedent" | "cleandoc" => Some(first.clone()),
        // R's list.
        "c" if language == Language::Compiled => Some(AbstractValue::list(arguments.to_vec())),
        "paste0" | "strcat" | "CONCAT" => joined(arguments, ""),
        "paste" if !arguments.iter().any(|a| a.items().is_some()) => joined(arguments, " "),
        "intToUtf8" | "fromCharCode" | "to_string" | "char" | "CHAR" | "implode_chars" => {
            match first {
                AbstractValue::List(items) => fold::characters(items),
                AbstractValue::Number(_) => fold::characters(arguments),
                _ => None,
            }
        }
        "fliplr" | "REVERSE" | "str_reverse" | "stri_reverse" => {
            fold::method(first, "reverse", &[])
        }
        "tolower" | "strtolower" | "downcase" | "LOWER" | "lc" => fold::method(first, "lower", &[]),
        "toupper" | "strtoupper" | "upcase" | "UPPER" | "uc" => fold::method(first, "upper", &[]),
        _ => None,
    }
}

/// `subject` with the one replaced by the other. `None` where a pattern says what is replaced.
fn replaced(
    subject: &AbstractValue,
    pair: &[AbstractValue; 2],
    pattern: impl Fn(&str, &str) -> bool,
) -> Option<AbstractValue> {
    let [from, to] = pair;
    let (from, to) = (from.known()?, to.known()?);
    // PHP writes patterns with delimiters.
    let bare = from.strip_prefix('/').and_then(|f| f.strip_suffix('/'));
    let from = bare.filter(|f| !f.is_empty()).unwrap_or(from);
    if pattern(from, to) {
        return None;
    }
    let pair = [AbstractValue::text(from), AbstractValue::text(to)];
    match subject {
        AbstractValue::Text(value) if value.is_known() => fold::method(subject, "replace", &pair),
        _ => None,
    }
}

/// Each character of the one set as the character at its place in the other.
fn translated(subject: &AbstractValue, pair: &[AbstractValue; 2]) -> Option<AbstractValue> {
    let AbstractValue::Text(value) = subject else {
        return None;
    };
    let text = value.as_known()?;
    let [from, to] = pair;
    let (from, to) = (set(from.known()?)?, set(to.known()?)?);
    let last = to.last().copied()?;
    let mut changes = HashMap::new();
    for (at, one) in from.into_iter().enumerate() {
        let change = to.get(at).copied().unwrap_or(last);
        changes.entry(one).or_insert(change);
    }
    let changed = |c: char| changes.get(&c).copied().unwrap_or(c);
    let made: String = text.chars().map(changed).collect();
    Some(AbstractValue::value(value.map(made)))
}

/// The characters of a set, `a-z` written out. `None` where a mark means something else.
fn set(text: &str) -> Option<Vec<char>> {
    if text.len() > MAX_SET || text.contains('\\') || text.starts_with('^') {
        return None;
    }
    let mut chars = text.chars();
    let mut all = Vec::new();
    while let Some(first) = chars.next() {
        let mut ahead = chars.clone();
        if let (Some('-'), Some(last)) = (ahead.next(), ahead.next())
            && last.is_ascii_alphanumeric()
            && first.is_ascii_alphanumeric()
        {
            all.extend(first..=last);
            chars = ahead;
        } else {
            all.push(first);
        }
    }
    Some(all)
}

fn joined(parts: &[AbstractValue], separator: &str) -> Option<AbstractValue> {
    let list = AbstractValue::list(parts.to_vec());
    fold::method(&list, "join", &[AbstractValue::text(separator)])
}

/// Whether `from` means more than its characters, or `to` more than its own.
fn is_pattern(from: &str, to: &str) -> bool {
    from.is_empty()
        || from.len() > MAX_VALUE
        || from.contains([
            '\\', '^', '$', '.', '|', '?', '*', '+', '(', ')', '[', ']', '{', '}', '%',
        ])
        || to.contains(['\\', '$', '%', '&'])
}

/// Whether what an unknown function makes of its arguments may be a command that nobody can read.
pub(super) fn may_compute(name: &str, receiver: &AbstractValue, arguments: &Arguments) -> bool {
    let last = name.rsplit(['.', ':']).next().unwrap_or(name);
    let lower = last.to_ascii_lowercase();
    if ASKS.iter().any(|word| lower.contains(word)) {
        return false;
    }
    let transforms = TRANSFORMS.iter().any(|word| lower.contains(word));
    let hides = |thing: &AbstractValue| match thing {
        AbstractValue::Text(value) => {
            conceals(&value.text) || transforms && is_letters(&value.text)
        }
        // Characters by their numbers.
        AbstractValue::List(items) => {
            items.len() > 3 && items.iter().all(|i| matches!(i, AbstractValue::Number(_)))
        }
        _ => false,
    };
    match receiver {
        // `text.translate(table)`: the arguments are no part of it.
        AbstractValue::Text(value) if !value.text.is_empty() && value.is_known() => {
            hides(receiver)
                || transforms
                    && arguments
                        .positional
                        .iter()
                        .any(|t| t.items().is_some_and(|i| i.iter().any(hides)))
        }
        AbstractValue::Text(_) | AbstractValue::Object(_) => false,
        AbstractValue::List(_) => transforms && hides(receiver),
        _ => arguments.positional.iter().any(hides),
    }
}

/// Whether a text may hide a command: several words that are no address.
fn conceals(text: &str) -> bool {
    text.trim().contains(char::is_whitespace) && is_letters(text) && !text.contains("://")
}

fn is_letters(text: &str) -> bool {
    text.contains(|c: char| c.is_ascii_alphanumeric()) && !text.contains(crate::value::HOLE)
}

/// Functions whose value comes from elsewhere, whatever they are given.
const ASKS: [&str; 24] = [
    "get", "which", "find", "input", "prompt", "ask", "read", "load", "open", "env", "option",
    "arg", "param", "config", "select", "query", "fetch", "search", "match", "lookup", "resolve",
    "run", "exec", "request",
];

/// Functions that make another text of one.
const TRANSFORMS: [&str; 30] = [
    "replace",
    "sub",
    "translat",
    "trans",
    "strtr",
    "chartr",
    "rev",
    "rot",
    "flip",
    "decode",
    "decrypt",
    "unpack",
    "pack",
    "chr",
    "char",
    "from",
    "join",
    "concat",
    "implode",
    "paste",
    "swap",
    "shift",
    "xor",
    "convert",
    "slice",
    "rep",
    "map",
    "fold",
    "to_string",
    "codepoint",
];
