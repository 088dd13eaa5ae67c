//! Programs that are pure functions of a known text: what they print is known too.

use super::{edit, filter, translate};
use crate::decode;
use crate::fuel::{Fuel, OutOfFuel};
use crate::value::{HOLE, HOLE_STR, Origins, Value};

/// Numbers that `seq` counts; what follows them is not worth following.
const MAX_NUMBERS: usize = 256;
/// The programs that are known here.
const FOLDED: [&str; 28] = [
    "awk", "base64", "basename", "cat", "cut", "dirname", "expr", "gawk", "gunzip", "gzip", "head",
    "mawk", "mktemp", "openssl", "pigz", "readlink", "realpath", "rev", "sed", "seq", "tac",
    "tail", "tee", "tr", "which", "xargs", "xxd", "zcat",
];

/// Those of them that read no input.
const BY_ARGUMENTS: [&str; 8] = [
    "basename", "dirname", "expr", "mktemp", "readlink", "realpath", "seq", "which",
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
    let made = match program {
        "seq" => 16 << 10,
        // Its patterns must be read.
        "sed" if input > 0 => 64 << 10,
        _ => 1 << 10,
    };
    let times = if program == "sed" { 64 } else { 16 };
    fuel.spend_on(made + input * times)?;
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
    if BY_ARGUMENTS.contains(&program) {
        return from_arguments(program, &options, &operands);
    }
    let stdin = stdin.filter(|s| s.is_known() && !s.text.is_empty())?;
    let decoded = |bytes: Vec<u8>| {
        let text = decode::text_of(bytes);
        Some(stdin.map(text).marked(Origins::DECODED))
    };
    let has = |letters: &[&str]| arguments.iter().any(|a| letters.contains(&a.text.as_str()));
    let printed = match program {
        "base64" if has(&["-d", "-D", "--decode", "-di", "-id"]) && operands.is_empty() => {
            return decoded(decode::base64(&stdin.text)?);
        }
        "base64" if operands.is_empty() => return None,
        "openssl" if has(&["-d"]) && (has(&["-base64", "-a", "base64"])) => {
            return decoded(decode::base64(&stdin.text)?);
        }
        "xxd" if options.contains('r') => return decoded(decode::hex(&stdin.text)?),
        "gunzip" | "zcat" | "gzip" | "pigz"
            if matches!(program, "gunzip" | "zcat") || options.contains('d') =>
        {
            return decoded(decode::inflate(&decode::bytes_of(&stdin.text))?);
        }
        "rev" if arguments.is_empty() => {
            let lines = filter::each_line(&stdin.text, |line| line.chars().rev().collect());
            return Some(stdin.map(lines).marked(Origins::DECODED));
        }
        "tac" if arguments.is_empty() && stdin.text.ends_with('\n') => {
            stdin.text.split_inclusive('\n').rev().collect()
        }
        "tr" => translate::tr(&stdin.text, arguments)?,
        "head" | "tail" => filter::ends(program, arguments, &stdin.text)?,
        "cut" => filter::cut(arguments, &stdin.text)?,
        "sed" => edit::sed(arguments, &stdin.text)?,
        "cat" if arguments.iter().all(|a| matches!(&*a.text, "-" | "-u")) => stdin.text.clone(),
        // It marks what it shows.
        "cat" if operands.is_empty() && options.contains(['A', 'b', 'e', 'E', 'n', 'T']) => {
            HOLE_STR.to_owned()
        }
        "tee" if operands.is_empty() => stdin.text.clone(),
        "awk" | "gawk" | "mawk" => filter::awk(arguments, &stdin.text)?,
        "xargs" if arguments.is_empty() && !stdin.text.contains(['\'', '"', '\\']) => {
            stdin.text.split_whitespace().collect::<Vec<_>>().join(" ") + "\n"
        }
        _ => return None,
    };
    Some(stdin.map(printed))
}

/// What follows from the arguments alone.
fn from_arguments(program: &str, options: &str, operands: &[&Value]) -> Option<Value> {
    match program {
        "basename" if options.is_empty() => basename(operands),
        "dirname" if options.is_empty() => dirname(operands),
        "realpath" | "readlink" => operands.first().map(|p| (*p).clone()),
        "seq" if options.is_empty() => seq(operands),
        "mktemp" => Some(Value::known("/tmp/tmp.Xa1b2c3d4e\n")),
        "which" => operands
            .first()
            .map(|p| Value::known(format!("/usr/bin/{}\n", p.text))),
        "expr" => substring(operands),
        _ => None,
    }
}

/// `expr substr TEXT FROM LENGTH`
fn substring(operands: &[&Value]) -> Option<Value> {
    let [verb, text, from, length] = operands else {
        return None;
    };
    let from: usize = from.text.parse().ok().filter(|_| verb.text == "substr")?;
    let kept = text.text.chars().skip(from.saturating_sub(1));
    let cut: String = kept.take(length.text.parse().ok()?).collect();
    Some(text.map(cut + "\n"))
}

fn basename(operands: &[&Value]) -> Option<Value> {
    let (path, suffix) = match operands {
        [path] => (path, ""),
        [path, suffix] => (path, suffix.text.as_str()),
        _ => return None,
    };
    let name = match path.text.trim_end_matches('/') {
        "" if !path.text.is_empty() => "/",
        text => text.rsplit('/').next()?,
    };
    let stem = name.strip_suffix(suffix).filter(|s| !s.is_empty());
    Some(path.map(format!("{}\n", stem.unwrap_or(name))))
}

fn dirname(operands: &[&Value]) -> Option<Value> {
    let [path] = operands else {
        return None;
    };
    let parent = match path.text.trim_end_matches('/') {
        "" if !path.text.is_empty() => "/",
        text => match text.rsplit_once('/').map(|(p, _)| p.trim_end_matches('/')) {
            Some("") => "/",
            Some(parent) => parent,
            None => ".",
        },
    };
    Some(path.map(format!("{parent}\n")))
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
    let mut numbers = (from..=to).step_by(step);
    let mut all: String = (&mut numbers)
        .take(MAX_NUMBERS)
        .map(|n| format!("{n}\n"))
        .collect();
    if numbers.next().is_some() {
        all.push(HOLE);
    }
    Some(Value::known(all))
}
