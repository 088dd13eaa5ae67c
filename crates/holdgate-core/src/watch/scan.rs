//! One remarkable line, with all patterns.

use super::command::{Commands, Listing, Said};
use super::event::{self, Part};
use super::mask::masked;
use super::patterns::{Looks, Pattern, Patterns};
use super::plain::plain;
use super::{CONTEXT, Hit};
use crate::action::text;
use regex::Regex;
use std::borrow::Cow;

/// Characters of evidence.
const EVIDENCE: usize = 300;
/// Bytes before and after a find in which it may be known to be safe.
const AROUND: usize = 160;
/// Bytes of each of two lines that are read as one.
const JOINED: usize = 400;
/// Finds of one pattern on one line that are tried against what is known to be safe.
const MAX_TRIED: usize = 8;

/// Frames and marks that programs draw around text.
const DRAWN: [char; 18] = [
    '│', '┃', '║', '▌', '▎', '┆', '╎', '|', '>', '⎿', '└', '⏺', '●', '•', '*', '#', '─', '━',
];

/// How far a text has been read.
#[derive(Clone, Debug, Default)]
pub(super) struct Reading {
    pub(super) listing: Listing,
    /// The end of the line before, as text; `None` if it was not looked at.
    pub(super) previous: Option<String>,
    /// The line before had a word, so that a find may go on in the next.
    pub(super) warm: bool,
}

/// What looks at a line.
pub(super) struct Scan<'a> {
    pub(super) patterns: &'a Patterns,
    pub(super) commands: &'a Commands,
    /// Raw output before the line.
    pub(super) history: &'a [u8],
    pub(super) hits: Vec<Hit>,
}

impl Scan<'_> {
    /// A whole line.
    pub(super) fn line(&mut self, line: &[u8], reading: &mut Reading) {
        if let Some(event) = event::read(line) {
            reading.listing.line += 1;
            reading.warm = false;
            reading.previous = Some(String::new());
            let mut before = String::new();
            for part in event::parts(&event) {
                match part {
                    Part::Text(text) => {
                        self.document(&text, &before);
                        before = text.into_owned();
                    }
                    Part::Call(said) => {
                        let shown = format!("{before}\n{}: {}", said.tool, said.text);
                        self.command(&said, &shown);
                    }
                }
            }
            return;
        }
        let plain = plain(line);
        let text = escapes_resolved(&plain.shown);
        self.lines(&text, "", reading, true);
        if let Some(written) = &plain.written {
            self.lines(written, "", &mut Reading::unrelated(), false);
        }
    }

    /// A piece of a line that is too long to be kept: no command and no event.
    pub(super) fn piece(&mut self, piece: &[u8]) {
        let plain = plain(piece);
        let text = escapes_resolved(&plain.shown);
        self.lines(&text, "", &mut Reading::unrelated(), false);
        if let Some(written) = &plain.written {
            self.lines(written, "", &mut Reading::unrelated(), false);
        }
    }

    /// A text within an event.
    fn document(&mut self, text: &str, before: &str) {
        let mut reading = Reading::unrelated();
        let mut so_far = before.to_owned();
        for line in text.split('\n') {
            let plain = plain(line.as_bytes());
            self.lines(&plain.shown, &so_far, &mut reading, true);
            if let Some(written) = &plain.written {
                self.lines(written, &so_far, &mut Reading::unrelated(), false);
            }
            so_far.push('\n');
            so_far.push_str(&plain.shown);
            if so_far.len() > 16 * CONTEXT {
                so_far = last(&so_far, CONTEXT).to_owned();
            }
        }
    }

    fn lines(&mut self, text: &str, before: &str, reading: &mut Reading, commands: bool) {
        for line in text.split('\n') {
            if commands
                && let Some(said) = self.patterns.shapes.command_in(line, &mut reading.listing)
            {
                self.command(&said, &format!("{before}\n{line}"));
            }
            self.text(line, before, reading);
        }
    }

    fn command(&mut self, said: &Said, shown: &str) {
        let denied = self.commands.denied(said);
        for pattern in &self.patterns.list {
            let because = match &pattern.looks {
                Looks::Text { .. } => continue,
                Looks::Command(regex) => {
                    let looks = text::as_it_looks(&said.text);
                    let others = said.input.as_object().is_some_and(|o| o.len() > 1);
                    let in_others = || others && finds(pattern, regex, &said.input.text());
                    let safe = pattern.known_safe.iter().any(|s| s.regex.is_match(&looks));
                    if safe || !(finds(pattern, regex, &looks) || in_others()) {
                        continue;
                    }
                    pattern.because.to_string()
                }
                Looks::Denied(rules) => {
                    let counts = |rule: &str| rules.is_empty() || rules.iter().any(|r| r == rule);
                    let Some(finding) = denied.iter().find(|f| counts(&f.rule)) else {
                        continue;
                    };
                    if pattern
                        .known_safe
                        .iter()
                        .any(|s| s.regex.is_match(&said.text))
                    {
                        continue;
                    }
                    format!("{}: {}", finding.rule, finding.reason)
                }
            };
            let evidence = shortened(&said.text, EVIDENCE);
            self.hit(pattern_of(pattern, because), &evidence, shown);
        }
    }

    fn text(&mut self, line: &str, before: &str, reading: &mut Reading) {
        let drawn = line;
        let line = undrawn(line);
        let looks = text::as_it_looks(line);
        // Characters that show nothing are gone from how it looks.
        let own = (looks != line).then_some(line);
        let has_word =
            self.patterns.has_word(&looks) || own.is_some_and(|l| self.patterns.has_word(l));
        if has_word {
            self.finds(&looks, None, before, drawn);
            if let Some(own) = own {
                self.finds(own, None, before, drawn);
            }
        }
        if has_word || reading.warm {
            let previous = reading.previous.as_deref().unwrap_or_default();
            if !previous.is_empty() && !looks.is_empty() {
                let joined = format!("{previous} {}", first(&looks, JOINED));
                self.finds(&joined, Some(previous.len()), before, drawn);
            }
        }
        reading.warm = has_word;
        reading.previous = Some(last(&looks, JOINED).to_owned());
    }

    /// Finds of all patterns for text, as far as they reach over `edge`, if there is one.
    fn finds(&mut self, text: &str, edge: Option<usize>, before: &str, line: &str) {
        for pattern in &self.patterns.list {
            let Looks::Text { regex, .. } = &pattern.looks else {
                continue;
            };
            let over = |m: &regex::Match<'_>| {
                edge.is_none_or(|edge| m.start() < edge && m.end() > edge + 1)
            };
            let found = regex.find_iter(text).take(MAX_TRIED);
            let found = found
                .filter(over)
                .find(|m| !is_safe(pattern, text, m.range()));
            if let Some(found) = found {
                let evidence = around(text, found.range(), EVIDENCE);
                let shown = format!("{before}\n{line}");
                self.hit(
                    pattern_of(pattern, pattern.because.to_string()),
                    &evidence,
                    &shown,
                );
            }
        }
    }

    fn hit(&mut self, pattern: Hit, evidence: &str, shown: &str) {
        let mut context = String::new();
        if shown.len() < 4 * CONTEXT {
            context.push_str(&history_text(self.history));
        }
        context.push_str(shown.trim_start_matches('\n'));
        self.hits.push(Hit {
            evidence: masked(evidence.trim(), self.patterns),
            context: last(&masked(last(&context, CONTEXT), self.patterns), CONTEXT).to_owned(),
            ..pattern
        });
    }
}

impl Reading {
    /// A text that has nothing to do with what was before it.
    fn unrelated() -> Reading {
        Reading {
            previous: Some(String::new()),
            ..Reading::default()
        }
    }

    /// The line before, if it was quiet.
    pub(super) fn remember(&mut self, line: &[u8]) {
        let plain = plain(line);
        let looks = text::as_it_looks(undrawn(&plain.shown)).into_owned();
        self.previous = Some(last(&looks, JOINED).to_owned());
    }
}

fn pattern_of(pattern: &Pattern, because: String) -> Hit {
    Hit {
        pattern: pattern.id.clone(),
        family: pattern.family.clone(),
        severity: pattern.severity,
        certain: pattern.certain,
        because,
        evidence: String::new(),
        context: String::new(),
    }
}

/// What looks like an event and is none, without its escapes, one string a line.
fn escapes_resolved(text: &str) -> Cow<'_, str> {
    let event = text.trim_start().starts_with("{\"");
    if event || text.contains("\\u00") {
        Cow::Owned(event::unescaped(text, event))
    } else {
        Cow::Borrowed(text)
    }
}

fn finds(pattern: &Pattern, regex: &Regex, text: &str) -> bool {
    let mut found = regex.find_iter(text).take(MAX_TRIED);
    found.any(|m| !is_safe(pattern, text, m.range()))
}

fn is_safe(pattern: &Pattern, text: &str, found: std::ops::Range<usize>) -> bool {
    let start = text.floor_char_boundary(found.start.saturating_sub(AROUND));
    let end = text.floor_char_boundary((found.end + AROUND).min(text.len()));
    let near = text.get(start..end).unwrap_or(text);
    pattern.known_safe.iter().any(|s| s.regex.is_match(near))
}

/// A find with what stands around it.
fn around(text: &str, found: std::ops::Range<usize>, most: usize) -> String {
    let room = most.saturating_sub(found.len()) / 2;
    let start = text.floor_char_boundary(found.start.saturating_sub(room));
    shortened(text.get(start..).unwrap_or(text), most)
}

fn shortened(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}

/// Without frames, marks and the numbers of lines around it.
fn undrawn(line: &str) -> &str {
    let drawn = |c: char| c.is_whitespace() || DRAWN.contains(&c);
    let line = line.trim_matches(drawn);
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    match rest.strip_prefix(['→', '\t']) {
        Some(rest) if rest.len() < line.len() => rest.trim_start_matches(drawn),
        _ => line,
    }
}

/// The last `most` characters.
pub(super) fn last(text: &str, most: usize) -> &str {
    match text.char_indices().rev().nth(most.saturating_sub(1)) {
        Some((at, _)) => text.get(at..).unwrap_or(text),
        None => text,
    }
}

fn first(text: &str, most: usize) -> &str {
    text.get(..text.floor_char_boundary(most)).unwrap_or(text)
}

/// Raw output as people read it.
fn history_text(history: &[u8]) -> String {
    let mut text = String::new();
    for line in history
        .split(|b| *b == b'\n')
        .filter(|line| !line.is_empty())
    {
        text.push_str(&plain(line).shown);
        text.push('\n');
    }
    last(&text, CONTEXT).to_owned()
}
