//! Errors of the file as sentences for people.

use holdgate_effects::worded::nearest;
use std::ops::Range;

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
