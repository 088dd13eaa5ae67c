//! Filters that can be followed: lines in, lines out.

use crate::code::awk;
use crate::value::Value;

/// `text` with each of its lines changed; whether the last one ends stays as it is.
pub(super) fn each_line(text: &str, change: impl Fn(&str) -> String) -> String {
    let one = |line: &str| match line.strip_suffix('\n') {
        Some(line) => change(line) + "\n",
        None => change(line),
    };
    text.split_inclusive('\n').map(one).collect()
}

/// `head -n 2`, `tail -c 3`, `tail -n +2`
pub(super) fn ends(program: &str, arguments: &[Value], text: &str) -> Option<String> {
    let mut count = "10".to_owned();
    let mut bytes = false;
    let mut rest = arguments.iter().map(|a| a.text.as_str());
    while let Some(word) = rest.next() {
        let long = word.strip_prefix("--").and_then(|w| w.split_once('='));
        let (kind, value) = match (long, word.strip_prefix('-')) {
            (Some(("lines", value)), _) => ('n', value),
            (Some(("bytes", value)), _) => ('c', value),
            (None, Some("n" | "c")) => (word.chars().nth(1)?, rest.next()?),
            (None, Some(short)) if short.starts_with(['n', 'c']) => {
                (short.chars().next()?, short.get(1..)?)
            }
            (None, Some(short)) => ('n', short),
            (Some(_), _) | (None, None) => return None,
        };
        bytes = kind == 'c';
        value.clone_into(&mut count);
    }
    // Bytes and characters are the same here only.
    if bytes && !text.is_ascii() {
        return None;
    }
    let from_start = count.starts_with('+');
    let count: usize = count.trim_start_matches('+').parse().ok()?;
    let total = if bytes {
        text.chars().count()
    } else {
        text.split_inclusive('\n').count()
    };
    let (skip, take) = match (program, from_start) {
        ("head", _) => (0, count),
        (_, true) => (count.saturating_sub(1), usize::MAX),
        (_, false) => (total.saturating_sub(count), usize::MAX),
    };
    Some(if bytes {
        text.chars().skip(skip).take(take).collect()
    } else {
        text.split_inclusive('\n').skip(skip).take(take).collect()
    })
}

/// `cut -c1-3`, `cut -d: -f2`
pub(super) fn cut(arguments: &[Value], text: &str) -> Option<String> {
    let mut delimiter = '\t';
    let (mut fields, mut chars) = (None, None);
    let mut rest = arguments.iter();
    while let Some(word) = rest.next() {
        let mut value = |prefix: usize| match word.text.get(prefix..) {
            Some(attached) if !attached.is_empty() => Some(attached.to_owned()),
            _ => rest.next().map(|w| w.text.clone()),
        };
        if word.text.starts_with("-d") {
            delimiter = one_char(&value(2)?)?;
        } else if word.text.starts_with("-f") {
            fields = Some(value(2)?);
        } else if word.text.starts_with("-c") || word.text.starts_with("-b") {
            chars = Some(value(2)?);
        } else {
            return None;
        }
    }
    let list = match (&chars, &fields) {
        (Some(list), None) | (None, Some(list)) => ranges(list)?,
        _ => return None,
    };
    if chars.is_some() && !text.is_ascii() {
        return None;
    }
    let wanted = |at: usize| list.iter().any(|(from, to)| (*from..=*to).contains(&at));
    Some(ended(each_line(text, |line| {
        if chars.is_some() {
            let kept = line.chars().enumerate().filter(|(at, _)| wanted(at + 1));
            return kept.map(|(_, c)| c).collect();
        }
        if !line.contains(delimiter) {
            return line.to_owned();
        }
        let fields = line
            .split(delimiter)
            .enumerate()
            .filter(|(at, _)| wanted(at + 1));
        let fields: Vec<&str> = fields.map(|(_, f)| f).collect();
        fields.join(delimiter.encode_utf8(&mut [0; 4]))
    })))
}

/// Some end their last line even where it had no end.
fn ended(lines: String) -> String {
    if lines.ends_with('\n') {
        lines
    } else {
        lines + "\n"
    }
}

fn one_char(text: &str) -> Option<char> {
    let mut chars = text.chars();
    chars
        .next()
        .filter(|c| c.is_ascii() && chars.next().is_none())
}

/// `1,3-5,7-`
fn ranges(list: &str) -> Option<Vec<(usize, usize)>> {
    let number = |text: &str, other: usize| match text {
        "" => Some(other),
        text => text.parse().ok(),
    };
    let range = |range: &str| match range.split_once('-') {
        Some((from, to)) => Some((number(from, 1)?, number(to, usize::MAX)?)),
        None => range.parse().ok().map(|at| (at, at)),
    };
    if list.len() > 64 {
        return None;
    }
    let ranges: Option<Vec<_>> = list.split(',').map(range).collect();
    let valid = |(from, to): &(usize, usize)| *from > 0 && from <= to;
    ranges.filter(|all| all.iter().all(valid) && !list.split(',').any(|r| r == "-"))
}

/// `{print $2}` on known lines, also with `-F:`.
pub(super) fn awk(arguments: &[Value], text: &str) -> Option<String> {
    let texts: Vec<&str> = arguments.iter().map(|a| a.text.as_str()).collect();
    let (separator, script) = match texts.as_slice() {
        [script] => (None, *script),
        ["-F", separator, script] => (Some(*separator), *script),
        [option, script] => (Some(option.strip_prefix("-F")?), *script),
        _ => return None,
    };
    let field = awk::printed_field(script)?;
    let separator = match separator {
        Some(" ") | None => None,
        Some("\\t" | "t") => Some('\t'),
        Some(text) => Some(one_char(text).filter(|c| *c != '\\')?),
    };
    let blanks = [' ', '\t'];
    let pick = |line: &str| match (field.checked_sub(1), separator) {
        (None, _) => line.to_owned(),
        (Some(at), Some(separator)) => line.split(separator).nth(at).unwrap_or("").to_owned(),
        (Some(at), None) => {
            let mut fields = line.split(blanks).filter(|f| !f.is_empty());
            fields.nth(at).unwrap_or("").to_owned()
        }
    };
    Some(ended(each_line(text, pick)))
}
