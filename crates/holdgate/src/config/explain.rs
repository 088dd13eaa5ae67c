//! Errors of the file as sentences for people.

use super::sections::ConfigFile;
use holdgate_effects::worded::nearest;
use std::ops::Range;
use toml::de::DeTable;

/// Errors that are searched for.
const MAX_ERRORS: usize = 50;

/// The file as written, or every error in it.
pub(super) fn read(file: &str, text: &str) -> Result<ConfigFile, Vec<String>> {
    let (_, broken) = DeTable::parse_recoverable(text);
    if !broken.is_empty() {
        let broken = broken.iter().take(MAX_ERRORS);
        return Err(broken.map(|error| explain(file, text, error)).collect());
    }
    let mut errors = Vec::new();
    let mut rest = text.to_owned();
    while errors.len() < MAX_ERRORS {
        let error = match toml::from_str(&rest) {
            Ok(read) if errors.is_empty() => return Ok(read),
            Ok(_) => break,
            Err(error) => error,
        };
        // What is wrong is taken out, so that the next error is found; it is not missing then.
        if errors.is_empty() || !error.message().starts_with("missing field") {
            let start = error.span().map_or(0, |span| span.start);
            errors.push((start, explain(file, text, &error)));
        }
        let without = error.span().and_then(|span| without(&rest, &span));
        match without.filter(|rest| DeTable::parse(rest).is_ok()) {
            Some(left) => rest = left,
            None => break,
        }
    }
    errors.sort();
    Err(errors.into_iter().map(|(_, error)| error).collect())
}

/// The text with blanks for the setting or section at `span`; `None` if nothing stands there.
fn without(text: &str, span: &Range<usize>) -> Option<String> {
    let before = text.get(..span.start)?;
    let first = before.matches('\n').count();
    let inside = text.get(span.clone()).unwrap_or_default();
    let last = first + inside.trim_end().matches('\n').count();
    let lines: Vec<&str> = text.split('\n').collect();
    let is_header = |line: &&str| line.trim_start().starts_with('[');
    let last = match lines.get(first)? {
        line if line.trim().is_empty() => return None,
        line if is_header(line) => {
            let next = lines.iter().skip(first + 1).position(is_header);
            next.map_or(lines.len(), |next| first + next)
        }
        _ => last,
    };
    let kept = lines.iter().enumerate().map(|(number, line)| {
        let is_left_out = (first..=last).contains(&number);
        if is_left_out {
            " ".repeat(line.len())
        } else {
            (*line).to_owned()
        }
    });
    Some(kept.collect::<Vec<_>>().join("\n"))
}

/// ``FILE:LINE:COLUMN: what is wrong, did you mean `x`?`` with the line and a caret below.
pub(super) fn explain(file: &str, text: &str, error: &toml::de::Error) -> String {
    let reason = reason(error);
    let Some(span) = error.span() else {
        return format!("{file}: {reason}");
    };
    explain_at(file, text, span, &reason)
}

/// The same for what stands at `span`.
pub(super) fn explain_at(file: &str, text: &str, span: Range<usize>, reason: &str) -> String {
    let before = text.get(..span.start).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let number = before.matches('\n').count() + 1;
    let column = before.get(line_start..).unwrap_or_default().chars().count() + 1;
    let line = text.get(line_start..).unwrap_or_default();
    let line = line.lines().next().unwrap_or_default();
    let marked = text.get(span).unwrap_or_default();
    let width = marked
        .lines()
        .next()
        .unwrap_or_default()
        .chars()
        .count()
        .max(1);
    let gutter = " ".repeat(number.to_string().len());
    let indent = " ".repeat(column - 1);
    let carets = "^".repeat(width);
    format!(
        "{file}:{number}:{column}: {reason}\n{gutter} |\n{number} | {line}\n{gutter} | {indent}{carets}"
    )
}

/// The parser's message, with the nearest known name for an unknown one.
pub(super) fn reason(error: &toml::de::Error) -> String {
    let message = error.message().trim_end().replace('\n', "; ");
    let message = plain_types(&message);
    let Some(rest) = message.strip_prefix("unknown field `") else {
        return message;
    };
    let mut names = rest.split('`').step_by(2);
    let unknown = names.next().unwrap_or_default();
    match nearest(unknown, names) {
        Some(name) => format!("unknown field `{unknown}`, did you mean `{name}`?"),
        None => message,
    }
}

/// The same, without the names of Rust's types.
fn plain_types(message: &str) -> String {
    let Some((what, expected)) = message.rsplit_once(", expected ") else {
        return message.to_owned();
    };
    let expected = match expected {
        "usize" | "u8" | "u16" | "u32" | "u64" => "a whole number that is not negative",
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        "f32" | "f64" => "a number",
        other => other,
    };
    format!("{what}, expected {expected}")
}
