//! Programs that are pure functions of a known text: what they print is known too.

use crate::action::text::decode as text;
use crate::action::value::{HOLE, MAX_VALUE, Origins, Value};
use crate::fuel::{Fuel, OutOfFuel};
use std::collections::HashMap;

/// The programs that are known here.
const FOLDED: [&str; 28] = [
    "awk", "base64", "basename", "cat", "cut", "dirname", "expr", "gawk", "gunzip", "gzip", "head",
    "mawk", "mktemp", "openssl", "pigz", "readlink", "realpath", "rev", "sed", "seq", "tac",
    "tail", "tee", "tr", "which", "xargs", "xxd", "zcat",
];

/// What `program` prints, if that follows from what is known.
pub(super) fn fold(
    program: &str,
    words: &[Value],
    stdin: Option<&Value>,
    fuel: &Fuel,
) -> Result<Option<Value>, OutOfFuel> {
    if !FOLDED.contains(&program) {
        return Ok(None);
    }
    let input = stdin.map_or(0, |s| s.text.len());
    let made = if program == "seq" { 16 << 10 } else { 1 << 10 };
    fuel.spend_on(made + input * 16)?;
    Ok(output(program, words, stdin))
}

fn output(program: &str, words: &[Value], stdin: Option<&Value>) -> Option<Value> {
    let arguments = words.get(1..).unwrap_or(&[]);
    if arguments.iter().any(|a| a.text.contains(HOLE)) {
        return None;
    }
    let options: String = arguments
        .iter()
        .map(|a| a.text.as_str())
        .filter(|a| a.starts_with('-'))
        .collect();
    let operands: Vec<&Value> = arguments
        .iter()
        .filter(|a| !a.text.starts_with('-') || a.text == "-")
        .collect();
    match program {
        "basename" => {
            let name = operands
                .first()?
                .text
                .trim_end_matches('/')
                .rsplit('/')
                .next()?
                .to_owned();
            let suffix = operands.get(1).map_or("", |s| s.text.as_str());
            return Some(Value::known(format!(
                "{}\n",
                name.strip_suffix(suffix).unwrap_or(&name)
            )));
        }
        "dirname" => {
            let path = operands.first()?;
            let parent = path
                .text
                .trim_end_matches('/')
                .rsplit_once('/')
                .map_or(".", |(p, _)| p);
            return Some(path.map(if parent.is_empty() {
                "/".to_owned()
            } else {
                parent.to_owned()
            }));
        }
        "realpath" | "readlink" => return operands.first().map(|p| (*p).clone()),
        "seq" => return seq(&operands),
        "mktemp" => return Some(Value::known("/tmp/tmp.Xa1b2c3d4e\n")),
        "which" => {
            return operands
                .first()
                .map(|p| Value::known(format!("/usr/bin/{}\n", p.text)));
        }
        "expr" if operands.first().is_some_and(|o| o.text == "substr") => {
            let number = |at: usize| operands.get(at)?.text.parse::<usize>().ok();
            let text = operands.get(1)?;
            let cut: String = text
                .text
                .chars()
                .skip(number(2)?.saturating_sub(1))
                .take(number(3)?)
                .collect();
            return Some(text.map(cut));
        }
        "expr" | "bc" | "wc" | "date" | "whoami" | "id" | "hostname" | "uname" => return None,
        _ => {}
    }
    let stdin = stdin.filter(|s| s.is_known() && !s.text.is_empty())?;
    let decoded = |bytes: Vec<u8>| {
        let text = text_of(bytes);
        Some(stdin.map(text).marked(Origins::DECODED))
    };
    let has = |letters: &[&str]| arguments.iter().any(|a| letters.contains(&a.text.as_str()));
    let printed = match program {
        "base64" if has(&["-d", "-D", "--decode", "-di", "-id"]) && operands.is_empty() => {
            return decoded(text::base64(&stdin.text)?);
        }
        "base64" if operands.is_empty() => return None,
        "openssl" if has(&["-d"]) && (has(&["-base64", "-a", "base64"])) => {
            return decoded(text::base64(&stdin.text)?);
        }
        "xxd" if options.contains('r') => return decoded(text::hex(&stdin.text)?),
        "gunzip" | "zcat" | "gzip" | "pigz" if program != "gzip" || options.contains('d') => {
            return decoded(text::gunzip(&bytes_of(&stdin.text)?, MAX_VALUE)?);
        }
        "rev" if operands.is_empty() => {
            let lines: Vec<String> = stdin
                .text
                .lines()
                .map(|l| l.chars().rev().collect())
                .collect();
            return Some(stdin.map(lines.join("\n")).marked(Origins::DECODED));
        }
        "tac" if operands.is_empty() => stdin.text.lines().rev().collect::<Vec<_>>().join("\n"),
        "tr" => tr(&stdin.text, arguments)?,
        "head" | "tail" if operands.is_empty() => ends(program, &options, arguments, &stdin.text)?,
        "cut" => cut(arguments, &stdin.text)?,
        "sed" => sed(arguments, &stdin.text)?,
        "cat" | "tee" if operands.is_empty() => stdin.text.clone(),
        "awk" | "gawk" | "mawk" => awk(&operands, &stdin.text)?,
        "xargs" if arguments.is_empty() => {
            stdin.text.split_whitespace().collect::<Vec<_>>().join(" ")
        }
        _ => return None,
    };
    Some(stdin.map(printed))
}

fn seq(operands: &[&Value]) -> Option<Value> {
    let numbers: Vec<i64> = operands
        .iter()
        .map(|o| o.text.parse().ok())
        .collect::<Option<_>>()?;
    let (from, step, to) = match numbers.as_slice() {
        [to] => (1, 1, *to),
        [from, to] => (*from, 1, *to),
        [from, step, to] if *step > 0 => (*from, usize::try_from(*step).ok()?, *to),
        _ => return None,
    };
    let all: Vec<String> = (from..=to)
        .step_by(step)
        .take(256)
        .map(|n| n.to_string())
        .collect();
    Some(Value::known(all.join("\n")))
}

/// `tr a-z n-za-m`, `tr -d x`
fn tr(text: &str, arguments: &[Value]) -> Option<String> {
    let deletes = arguments.iter().any(|a| a.text == "-d");
    let mut sets = arguments
        .iter()
        .filter(|a| !a.text.starts_with('-') || a.text.len() == 1)
        .map(|a| set(&a.text));
    let from = sets.next()??;
    if deletes {
        return Some(text.chars().filter(|c| !from.contains(c)).collect());
    }
    let to = sets.next()??;
    let last = to.last().copied()?;
    let mut changes = HashMap::new();
    for (at, char) in from.iter().enumerate() {
        // Of a character that stands there twice, the last counts.
        changes.insert(*char, to.get(at).copied().unwrap_or(last));
    }
    let change = |c: char| changes.get(&c).copied().unwrap_or(c);
    Some(text.chars().map(change).collect())
}

/// The characters of `a-zA-Z`, `[:upper:]`, `\n`.
fn set(text: &str) -> Option<Vec<char>> {
    match text {
        "[:upper:]" | "[A-Z]" => return Some(('A'..='Z').collect()),
        "[:lower:]" | "[a-z]" => return Some(('a'..='z').collect()),
        "[:space:]" | "[:blank:]" => return Some(vec![' ', '\t', '\n']),
        _ if text.starts_with("[:") => return None,
        _ => {}
    }
    let text = super::escape::decode_all(text);
    let chars: Vec<char> = text.chars().collect();
    let mut all = Vec::new();
    let mut at = 0;
    while let Some(first) = chars.get(at) {
        match (chars.get(at + 1), chars.get(at + 2)) {
            (Some('-'), Some(last)) if first <= last => {
                all.extend((*first..=*last).take(256));
                at += 3;
            }
            _ => {
                all.push(*first);
                at += 1;
            }
        }
        if all.len() > 512 {
            return None;
        }
    }
    Some(all)
}

fn ends(program: &str, options: &str, arguments: &[Value], text: &str) -> Option<String> {
    let number: String = arguments
        .iter()
        .map(|a| a.text.as_str())
        .collect::<Vec<_>>()
        .join("");
    let digits: String = number.chars().filter(char::is_ascii_digit).collect();
    let count: usize = if digits.is_empty() {
        10
    } else {
        digits.parse().ok()?
    };
    let by_bytes = options.contains('c');
    Some(match (program, by_bytes) {
        ("head", true) => text.chars().take(count).collect(),
        ("head", false) => text.lines().take(count).collect::<Vec<_>>().join("\n"),
        (_, true) => {
            let skip = if number.contains('+') {
                count.saturating_sub(1)
            } else {
                text.chars().count().saturating_sub(count)
            };
            text.chars().skip(skip).collect()
        }
        (_, false) => {
            let lines: Vec<&str> = text.lines().collect();
            let skip = if number.contains('+') {
                count.saturating_sub(1)
            } else {
                lines.len().saturating_sub(count)
            };
            lines.into_iter().skip(skip).collect::<Vec<_>>().join("\n")
        }
    })
}

/// `cut -c1-3`, `cut -d: -f2`
fn cut(arguments: &[Value], text: &str) -> Option<String> {
    let mut delimiter = '\t';
    let (mut fields, mut chars) = (None, None);
    let mut rest = arguments.iter();
    while let Some(word) = rest.next() {
        let mut value = |prefix: usize| match word.text.get(prefix..) {
            Some(attached) if !attached.is_empty() => Some(attached.to_owned()),
            _ => rest.next().map(|w| w.text.clone()),
        };
        if word.text.starts_with("-d") {
            delimiter = value(2)?.chars().next()?;
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
    let wanted = |at: usize| list.iter().any(|(from, to)| (*from..=*to).contains(&at));
    let line = |line: &str| -> String {
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
        fields
            .map(|(_, f)| f)
            .collect::<Vec<_>>()
            .join(&delimiter.to_string())
    };
    let lines: Vec<String> = text.lines().map(line).collect();
    Some(lines.join("\n"))
}

/// `1,3-5,7-`
fn ranges(list: &str) -> Option<Vec<(usize, usize)>> {
    let range = |range: &str| match range.split_once('-') {
        Some((from, to)) => {
            let from = if from.is_empty() {
                1
            } else {
                from.parse().ok()?
            };
            let to = if to.is_empty() {
                usize::MAX
            } else {
                to.parse().ok()?
            };
            Some((from, to))
        }
        None => range.parse().ok().map(|at| (at, at)),
    };
    if list.len() > 64 {
        return None;
    }
    list.split(',').map(range).collect()
}

/// `s/a/b/g` with a plain pattern.
fn sed(arguments: &[Value], text: &str) -> Option<String> {
    let mut scripts = arguments
        .iter()
        .filter(|a| !matches!(a.text.as_str(), "-e" | "-r" | "-E"));
    let script = scripts.next()?.text.as_str();
    if scripts.next().is_some() {
        return None;
    }
    if let Some(body) = script.strip_prefix("y/") {
        let mut sets = body.trim_end_matches('/').split('/');
        let (from, to): (Vec<char>, Vec<char>) = (
            sets.next()?.chars().collect(),
            sets.next()?.chars().collect(),
        );
        let change = |c: char| {
            from.iter()
                .position(|f| *f == c)
                .and_then(|at| to.get(at))
                .copied()
                .unwrap_or(c)
        };
        return Some(text.chars().map(change).collect());
    }
    let body = script.strip_prefix('s')?;
    let separator = body.chars().next()?;
    let parts: Vec<&str> = body.get(separator.len_utf8()..)?.split(separator).collect();
    let [pattern, with, flags] = parts.as_slice() else {
        return None;
    };
    if pattern.contains(['*', '[', '.', '^', '$', '\\', '(', '+', '?'])
        || with.contains(['\\', '&'])
        || pattern.is_empty()
    {
        return None;
    }
    Some(if flags.contains('g') {
        text.replace(pattern, with)
    } else {
        text.replacen(pattern, with, 1)
    })
}

/// `{print $2}` on known lines.
fn awk(operands: &[&Value], text: &str) -> Option<String> {
    let [script] = operands else {
        return None;
    };
    let field = script
        .text
        .trim()
        .strip_prefix("{print $")?
        .strip_suffix('}')?
        .trim();
    let field: usize = field.parse().ok()?;
    let line = |line: &str| match field.checked_sub(1) {
        None => line.to_owned(),
        Some(at) => line.split_whitespace().nth(at).unwrap_or("").to_owned(),
    };
    Some(text.lines().map(line).collect::<Vec<_>>().join("\n"))
}

/// Bytes as a text; those that are none keep their values as characters, so that nothing is lost.
fn text_of(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|e| e.into_bytes().into_iter().map(char::from).collect())
}

fn bytes_of(text: &str) -> Option<Vec<u8>> {
    text.chars()
        .map(|c| u8::try_from(u32::from(c)).ok())
        .collect()
}
