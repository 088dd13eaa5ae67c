//! A file of patterns as written, and what is wrong with it.

use super::Severity;
use super::patterns::{Looks, Pattern};
use crate::rules::{Entry, FileSpec, LazyRegex, Mark, Report, RuleError, Source};
use serde::Deserialize;
use serde_saphyr::Spanned;
use std::sync::Arc;

/// Nesting of a file.
const MAX_DEPTH: usize = 16;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a pattern")]
struct PatternSpec {
    id: Spanned<String>,
    family: Spanned<String>,
    severity: Spanned<String>,
    #[serde(default)]
    certain: bool,
    #[serde(default)]
    command: bool,
    regex: Option<Spanned<String>>,
    /// Every match contains one of these words: only lines with one are examined.
    #[serde(default)]
    words: Vec<Spanned<String>>,
    /// Only what these rules say about a command.
    #[serde(default)]
    rules: Vec<Spanned<String>>,
    because: Spanned<String>,
    #[serde(default)]
    known_safe: Vec<KnownSafeSpec>,
    examples: ExamplesSpec,
}

impl Entry for PatternSpec {
    const NAME: &'static str = "patterns";
    const FIELDS: &'static [&'static str] = &["patterns", "adjust"];
}

/// A change to an existing pattern.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a pattern's name and its changes")]
struct AdjustSpec {
    pattern: Spanned<String>,
    severity: Option<Spanned<String>>,
    #[serde(default)]
    known_safe: Vec<KnownSafeSpec>,
    because: Spanned<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "`match` and `because`")]
struct KnownSafeSpec {
    #[serde(rename = "match")]
    regex: Spanned<String>,
    because: Spanned<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "lists of outputs")]
struct ExamplesSpec {
    trips: Spanned<Vec<Spanned<String>>>,
    passes: Spanned<Vec<Spanned<String>>>,
}

/// An output that is tried.
#[derive(Clone, Debug)]
pub struct Example {
    /// The output.
    pub text: String,
    /// Whether the pattern must find something.
    pub trips: bool,
    pub(super) at: Mark,
}

/// A change to an existing pattern.
#[derive(Debug)]
pub(super) struct Adjustment {
    pub(super) pattern: String,
    pub(super) severity: Option<Severity>,
    pub(super) known_safe: Vec<LazyRegex>,
    pub(super) at: Mark,
    pub(super) source: Arc<Source>,
}

/// The patterns of one file, and what it changes about others. If its expressions were `tried` before,
/// they are not built now.
pub(super) fn read(
    name: &str,
    text: &str,
    tried: bool,
) -> Result<(Vec<Pattern>, Vec<Adjustment>), Vec<RuleError>> {
    let mut reader = Reader {
        report: Report::new(name, text),
        tried,
    };
    let file = FileSpec::<PatternSpec, AdjustSpec>::read(&reader.report.source, MAX_DEPTH);
    reader.report.errors = file.errors;
    let (mut patterns, mut adjusted) = (Vec::new(), Vec::new());
    for (spec, is_whole) in file.entries {
        reader.report.is_partial = !is_whole;
        patterns.extend(reader.pattern(spec));
    }
    for (spec, is_whole) in &file.adjust {
        reader.report.is_partial = !is_whole;
        adjusted.push(reader.adjustment(spec));
    }
    reader.report.finish((patterns, adjusted))
}

struct Reader {
    report: Report,
    /// Whether the expressions are known to be right.
    tried: bool,
}

impl Reader {
    fn error(&mut self, at: impl Into<Mark>, what: impl Into<String>) {
        self.report.error(at, what);
    }

    /// `None` if it could not match anything; the error is noted.
    fn pattern(&mut self, spec: PatternSpec) -> Option<Pattern> {
        for name in [&spec.id, &spec.family] {
            self.report.check_name(name);
        }
        self.report.check_clause(&spec.because);
        let severity = self.report.word(&spec.severity, Severity::read);
        let known_safe = self.known_safe(&spec.known_safe);
        let looks = self.looks(&spec)?;
        let examples = self.examples(&spec.examples, &looks);
        Some(Pattern {
            at: spec.id.referenced.into(),
            id: spec.id.value.into(),
            family: spec.family.value.into(),
            severity: severity?,
            certain: spec.certain,
            because: spec.because.value.into(),
            looks,
            known_safe,
            examples,
            source: self.report.source.clone(),
        })
    }

    fn adjustment(&mut self, spec: &AdjustSpec) -> Adjustment {
        self.report.check_clause(&spec.because);
        if spec.severity.is_none() && spec.known_safe.is_empty() {
            let what = "nothing changes: write a `severity` or `known_safe`";
            self.report.absent(spec.pattern.referenced, what);
        }
        Adjustment {
            pattern: spec.pattern.value.clone(),
            severity: spec
                .severity
                .as_ref()
                .and_then(|word| self.report.word(word, Severity::read)),
            known_safe: self.known_safe(&spec.known_safe),
            at: spec.pattern.referenced.into(),
            source: self.report.source.clone(),
        }
    }

    fn known_safe(&mut self, specs: &[KnownSafeSpec]) -> Vec<LazyRegex> {
        let safe = specs.iter().filter_map(|safe| {
            self.report.check_clause(&safe.because);
            self.regex(&safe.regex)
        });
        safe.collect()
    }

    fn looks(&mut self, spec: &PatternSpec) -> Option<Looks> {
        let at = spec.id.referenced;
        if spec.command {
            if let Some(word) = spec.words.first() {
                self.error(word.referenced, "`words` are for text, not for commands");
            }
            let regex = match &spec.regex {
                Some(regex) => Some(self.regex(regex)?),
                None => None,
            };
            let rules: Vec<_> = spec.rules.iter().map(|rule| rule.value.clone()).collect();
            return Some(match regex {
                Some(regex) if rules.is_empty() => Looks::Command(regex),
                None if rules.is_empty() => Looks::Denied,
                regex => Looks::Judged { rules, regex },
            });
        }
        if let Some(rule) = spec.rules.first() {
            self.error(
                rule.referenced,
                "`rules` match commands: add `command: true`",
            );
        }
        let Some(regex) = &spec.regex else {
            let what = "the pattern needs a `regex` or `command: true`";
            self.report.absent(at, what);
            return None;
        };
        if spec.words.is_empty() {
            let what = "a `regex` needs `words`: only lines that contain one of them are examined";
            self.report.absent(regex.referenced, what);
        }
        for word in &spec.words {
            let fits = |c: char| !c.is_control() && !matches!(c, '/' | '"' | '\\' | '\'');
            if word.value.len() < 3 || !word.value.chars().all(fits) {
                let what = "a word has at least three bytes and no slash, quote or backslash";
                self.error(word.referenced, what);
            }
        }
        let words = spec.words.iter().map(|word| word.value.clone());
        Some(Looks::Text {
            regex: self.regex(regex)?,
            words: words.collect(),
        })
    }

    fn regex(&mut self, text: &Spanned<String>) -> Option<LazyRegex> {
        let regex = LazyRegex::new(&with_plain_edges(&text.value));
        if self.tried {
            return Some(regex);
        }
        match regex.build_within(LazyRegex::MAX_SIZE) {
            Ok(built) if built.is_match("") => {
                let what = "this expression matches the empty text, so it would match everywhere";
                self.error(text.referenced, what);
                None
            }
            Ok(_) => Some(regex),
            Err(error) => {
                self.report.regex_error(text, &error);
                None
            }
        }
    }

    fn examples(&mut self, spec: &ExamplesSpec, looks: &Looks) -> Vec<Example> {
        let mut examples = Vec::new();
        for (list, trips) in [(&spec.trips, true), (&spec.passes, false)] {
            if list.value.is_empty() {
                let what = "a pattern needs examples that it matches, and near misses that pass";
                self.report.absent(list.referenced, what);
            }
            for example in &list.value {
                let at = Mark::from(example.referenced);
                if let (true, Looks::Text { words, .. }) = (trips, looks) {
                    let text = example.value.to_ascii_lowercase();
                    let has = |word: &String| text.contains(&word.to_ascii_lowercase());
                    // Disguised examples have none as written.
                    if text.is_ascii() && !text.contains(['\u{1b}', '\\']) && !words.iter().any(has)
                    {
                        self.error(at, "this example contains none of the pattern's `words`");
                    }
                }
                let text = example.value.clone();
                examples.push(Example { text, trips, at });
            }
        }
        examples
    }
}

/// Makes word boundaries ASCII-only. An automaton cannot recognise those of Unicode, so a text with
/// a single non-ASCII letter would be searched a hundred times more slowly.
fn with_plain_edges(regex: &str) -> String {
    let mut out = String::with_capacity(regex.len());
    let mut rest = regex;
    while let Some((before, escaped)) = rest.split_once('\\') {
        out.push_str(before);
        let mut chars = escaped.chars();
        let kind = chars.next();
        rest = chars.as_str();
        match kind {
            Some(edge @ ('b' | 'B')) => {
                let kinds = ["{start}", "{end}", "{start-half}", "{end-half}"];
                let which = kinds.into_iter().find(|kind| rest.starts_with(kind));
                let which = which.unwrap_or_default();
                rest = rest.strip_prefix(which).unwrap_or(rest);
                out.push_str(&format!("(?-u:\\{edge}{which})"));
            }
            Some(other) => out.extend(['\\', other]),
            None => out.push('\\'),
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_of_words() {
        for (regex, expected) in [
            (r"a\b\d", r"a(?-u:\b)\d"),
            (r"\b{end-half}x", r"(?-u:\b{end-half})x"),
            (r"\\b", r"\\b"),
            (r"a\", r"a\"),
        ] {
            assert_eq!(with_plain_edges(regex), expected);
        }
    }
}
