//! Errors of the file as sentences for people.

/// ``FILE:LINE:COLUMN: what is wrong, did you mean `x`?`` with the line and a caret below.
pub(super) fn explain(file: &str, text: &str, error: &toml::de::Error) -> String {
    let reason = reason(error);
    let Some(span) = error.span() else {
        return format!("{file}: {reason}");
    };
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
    let Some(rest) = message.strip_prefix("unknown field `") else {
        return message;
    };
    let mut names = rest.split('`').step_by(2);
    let unknown = names.next().unwrap_or_default();
    let nearest = names
        .map(|name| (distance(unknown, name), name))
        .min()
        .filter(|(distance, _)| *distance <= 1 + unknown.len() / 3);
    match nearest {
        Some((_, name)) => format!("unknown field `{unknown}`, did you mean `{name}`?"),
        None => message,
    }
}

/// Edit distance of two short names.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.chars().count()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (y, cell) in b.chars().zip(row.iter_mut().skip(1)) {
            let best = (diagonal + usize::from(x != y))
                .min(left + 1)
                .min(*cell + 1);
            diagonal = std::mem::replace(cell, best);
            left = best;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or_default()
}
