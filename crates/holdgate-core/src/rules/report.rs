//! Errors in a rule file, reported so that its author can fix them.

use holdgate_effects::worded::suggestion;
use serde_saphyr::{Error, Location};
use std::fmt;
use std::sync::Arc;

/// Characters of a line that are shown.
const SHOWN: usize = 160;
/// Errors that are shown at once.
const MAX_SHOWN: usize = 20;

/// A rule file.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) name: String,
    pub(crate) text: String,
}

/// A place in a rule file, counted from 1, in characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) line: usize,
    pub(crate) column: usize,
    width: usize,
}

impl From<Location> for Mark {
    fn from(at: Location) -> Self {
        Mark {
            line: usize::try_from(at.line()).unwrap_or(0),
            column: usize::try_from(at.column()).unwrap_or(0),
            width: usize::try_from(at.span().len()).unwrap_or(1),
        }
    }
}

/// One error: where it is, what is wrong, and how to fix it.
#[derive(Clone, Debug)]
pub struct RuleError {
    source: Arc<Source>,
    at: Mark,
    what: String,
}

impl RuleError {
    pub(crate) fn new(source: &Arc<Source>, at: Mark, what: impl Into<String>) -> Self {
        RuleError {
            source: source.clone(),
            at,
            what: what.into(),
        }
    }

    /// An error of the YAML parser.
    pub(crate) fn of_yaml(source: &Arc<Source>, error: &Error) -> Self {
        let error = error.without_snippet();
        let at = error.location().map(Mark::from).unwrap_or_default();
        RuleError::new(source, at, reason(error))
    }

    /// What is wrong, without the place.
    pub fn what(&self) -> &str {
        &self.what
    }
}

/// ``FILE:LINE:COLUMN: what is wrong, did you mean `x`?`` with the line and a caret below.
impl fmt::Display for RuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Mark {
            line: number,
            column,
            width,
        } = self.at;
        let (name, what) = (harmless(&self.source.name), harmless(&self.what));
        let line = number
            .checked_sub(1)
            .and_then(|n| self.source.text.lines().nth(n));
        let Some(line) = line else {
            return write!(f, "{name}: {what}");
        };
        let gutter = " ".repeat(number.to_string().len());
        // Tabs stay tabs, so that the caret stands below its place in any terminal.
        let blank = |c: char| if c == '\t' { '\t' } else { ' ' };
        let before = column.saturating_sub(1);
        // Of a long line, only the part around the error.
        let skipped = before.saturating_sub(SHOWN / 2);
        let line: String = line.chars().skip(skipped).take(SHOWN).collect();
        let line = harmless(&line);
        let before = before - skipped;
        let indent: String = line.chars().take(before).map(blank).collect();
        let rest = line.chars().count().saturating_sub(before);
        let carets = "^".repeat(width.clamp(1, rest.max(1)));
        write!(
            f,
            "{name}:{number}:{column}: {what}\n{gutter} |\n{number} | {line}\n{gutter} | {indent}{carets}"
        )
    }
}

/// Replaces characters that would move a terminal's cursor or reverse its text: a stranger may have
/// written the rule file.
fn harmless(text: &str) -> String {
    let plain = |c: char| match c {
        '\t' => c,
        '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{2069}'
        | '\u{feff}' => char::REPLACEMENT_CHARACTER,
        c if c.is_control() => char::REPLACEMENT_CHARACTER,
        c => c,
    };
    text.chars().map(plain).collect()
}

/// All errors in some rule files.
#[derive(Clone, Debug, thiserror::Error)]
pub struct RuleErrors(pub Vec<RuleError>);

impl fmt::Display for RuleErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, error) in self.0.iter().take(MAX_SHOWN).enumerate() {
            let gap = if number == 0 { "" } else { "\n\n" };
            write!(f, "{gap}{error}")?;
        }
        match self.0.len().saturating_sub(MAX_SHOWN) {
            0 => Ok(()),
            more => write!(f, "\n\n… and {more} more"),
        }
    }
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the parser's other errors keep its words"
)]
fn reason(error: &Error) -> String {
    match error {
        Error::SerdeUnknownField {
            field, expected, ..
        } => format!("unknown field `{field}`, {}", suggestion(field, expected)),
        Error::SerdeMissingField { field, .. } => format!("the field `{field}` is missing"),
        Error::DuplicateMappingKey { key: Some(key), .. } => {
            format!("duplicate key `{key}`")
        }
        other => {
            let message = other.to_string();
            let end = message.rfind(" at line ").unwrap_or(message.len());
            let (message, _) = message.split_at_checked(end).unwrap_or((&message, ""));
            match message {
                "invalid u32" => "expected a number".to_owned(),
                message => message.to_owned(),
            }
        }
    }
}
