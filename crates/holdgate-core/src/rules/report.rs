//! Errors in a rule file, reported so that its author can fix them.

use holdgate_effects::worded::suggestion;
use serde_saphyr::{Error, Location, Spanned};
use std::fmt;
use std::sync::Arc;

/// Characters of a line that are shown.
const SHOWN: usize = 160;
/// Errors that are shown at once.
const MAX_SHOWN: usize = 50;

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
    pub(super) fn of_yaml(source: &Arc<Source>, error: &Error) -> Self {
        let at = error.location().map(Mark::from).unwrap_or_default();
        RuleError::new(source, at, reason(error))
    }

    /// Its line and column.
    pub(super) fn place(&self) -> (usize, usize) {
        (self.at.line, self.at.column)
    }

    /// What is wrong, without the place.
    pub fn what(&self) -> &str {
        &self.what
    }
}

/// Collects the errors of one file while it is read.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) source: Arc<Source>,
    pub(crate) errors: Vec<RuleError>,
    /// Whether a part of what is read now is missing because of an error that was reported.
    pub(crate) is_partial: bool,
}

impl Report {
    pub(crate) fn new(name: &str, text: &str) -> Self {
        let source = Source {
            name: name.to_owned(),
            text: text.to_owned(),
        };
        Report {
            source: Arc::new(source),
            errors: Vec::new(),
            is_partial: false,
        }
    }

    pub(crate) fn error(&mut self, at: impl Into<Mark>, what: impl Into<String>) {
        let at = at.into();
        // What stands in for a missing text has no place.
        if !self.is_partial || at.line > 0 {
            self.errors.push(RuleError::new(&self.source, at, what));
        }
    }

    /// Something is missing, unless that follows from another error.
    pub(crate) fn absent(&mut self, at: impl Into<Mark>, what: impl Into<String>) {
        if !self.is_partial {
            self.error(at, what);
        }
    }

    /// Names look like `recursive-delete`.
    pub(crate) fn check_name(&mut self, name: &Spanned<String>) {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_.:".contains(c);
        let text = &name.value;
        if text.is_empty() || !text.chars().all(plain) {
            let what = format!("`{text}` is not a valid name: names look like `force-push`");
            self.error(name.referenced, what);
        }
    }

    pub(crate) fn check_clause(&mut self, text: &Spanned<String>) {
        if text.value.trim().is_empty() || text.value.trim_end().ends_with('.') {
            self.error(text.referenced, "write a clause without a full stop");
        }
    }

    /// One word out of a closed set.
    pub(crate) fn word<T>(
        &mut self,
        word: &Spanned<String>,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> Option<T> {
        let read = read(&word.value);
        if let Err(error) = &read {
            self.error(word.referenced, error);
        }
        read.ok()
    }

    pub(crate) fn regex_error(&mut self, regex: &Spanned<String>, error: &regex::Error) {
        let message = error.to_string();
        let last = message.lines().last().unwrap_or_default();
        let why = last.trim().trim_start_matches("error: ");
        let what = format!("this is not a valid regular expression: {why}");
        self.error(regex.referenced, what);
    }

    /// `value`, unless there are errors.
    pub(crate) fn finish<T>(self, value: T) -> Result<T, Vec<RuleError>> {
        if self.errors.is_empty() {
            Ok(value)
        } else {
            Err(self.errors)
        }
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
        // Tabs stay tabs, so that the caret is at the right position in any terminal.
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
