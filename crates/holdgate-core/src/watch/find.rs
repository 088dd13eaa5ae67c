//! What a pattern matches, and how much that weighs.

use super::command::{Commands, SeenCommand};
use super::judged::Matched;
use super::patterns::{Looks, Pattern, Patterns};
use super::{Hit, Severity, Weight};
use crate::rules::LazyRegex;
use crate::verdict::{Finding, Verdict};
use holdgate_effects::text;
use std::ops::Range;

/// Bytes before and after a match in which `known_safe` is tried.
const AROUND: usize = 160;
/// Bytes before and after a match that are searched for quotes.
const QUOTED: usize = 1 << 10;
/// Matches of one pattern on one line that are compared with what is known to be safe.
const MAX_TRIED: usize = 8;

/// The patterns for commands that match a call.
pub(super) fn matched(patterns: &Patterns, commands: &Commands, said: &SeenCommand) -> Matched {
    let judged = commands.judged(said);
    let looks = text::as_it_looks(&said.text);
    let others = said.input.as_object().is_some_and(|o| o.len() > 1);
    let input = if others {
        said.input.text()
    } else {
        String::new()
    };
    let why = |finding: &Finding| format!("{}: {}", finding.rule, finding.reason);
    let because = |pattern: &Pattern| {
        let because = match &pattern.looks {
            Looks::Text { .. } => None,
            Looks::Command(regex) => find(pattern, regex, &looks, None)
                .or_else(|| find(pattern, regex, &input, None))
                .map(|_| pattern.because.to_string()),
            Looks::Denied => judged
                .iter()
                .find(|finding| finding.verdict >= Verdict::Block)
                .map(why),
            Looks::Judged { rules, regex } => {
                if regex.as_ref().is_some_and(|regex| !regex.is_match(&looks)) {
                    return None;
                }
                let named = |finding: &&Finding| rules.iter().any(|rule| *rule == finding.rule);
                judged.iter().find(named).map(why)
            }
        };
        let is_safe = || pattern.known_safe.iter().any(|safe| safe.is_match(&looks));
        because.filter(|_| !is_safe())
    };
    let matched = patterns.for_commands();
    matched
        .filter_map(|(place, pattern)| Some((place, because(pattern)?)))
        .collect()
}

/// A hit of this pattern with this weight.
pub(super) fn hit_of(pattern: &Pattern, because: String, weight: Weight) -> Hit {
    let most = match weight {
        Weight::Shown => Severity::Medium,
        Weight::Said | Weight::Done => Severity::High,
    };
    Hit {
        pattern: pattern.id.clone(),
        family: pattern.family.clone(),
        severity: pattern.severity.min(most),
        certain: pattern.certain && weight == Weight::Done,
        call: false,
        quoted: weight == Weight::Shown,
        because,
        evidence: String::new(),
        context: String::new(),
    }
}

/// The first match that is not known to be safe and that extends across `edge`, if there is one.
pub(super) fn find(
    pattern: &Pattern,
    regex: &LazyRegex,
    text: &str,
    edge: Option<usize>,
) -> Option<Range<usize>> {
    let over = |m: &Range<usize>| edge.is_none_or(|edge| m.start < edge && m.end > edge + 1);
    let found = regex.get()?.find_iter(text).take(MAX_TRIED);
    let mut found = found.map(|m| m.range()).filter(over);
    found.find(|found| !is_safe(pattern, text, found))
}

fn is_safe(pattern: &Pattern, text: &str, found: &Range<usize>) -> bool {
    let start = text.floor_char_boundary(found.start.saturating_sub(AROUND));
    let end = text.floor_char_boundary((found.end + AROUND).min(text.len()));
    let near = text.get(start..end).unwrap_or(text);
    pattern.known_safe.iter().any(|safe| safe.is_match(near))
}

/// Whether a match is in quotes. A quote within a word is an apostrophe.
pub(super) fn is_quoted(text: &str, found: Range<usize>) -> bool {
    let start = text.ceil_char_boundary(found.start.saturating_sub(QUOTED));
    let end = text.floor_char_boundary((found.end + QUOTED).min(text.len()));
    let before = text.get(start..found.start).unwrap_or_default();
    let after = text.get(found.end..end).unwrap_or_default();
    let opens = |mark: char| {
        let (mut inside, mut in_word) = (false, false);
        let mut chars = before.chars().peekable();
        while let Some(c) = chars.next() {
            let word_goes_on = chars.peek().is_some_and(|c| c.is_alphanumeric());
            if c == mark && !(if inside { word_goes_on } else { in_word }) {
                inside = !inside;
            }
            in_word = c.is_alphanumeric();
        }
        inside
    };
    ['"', '\'', '`']
        .into_iter()
        .any(|mark| after.contains(mark) && opens(mark))
        || (before.rfind('“') > before.rfind('”') && after.contains('”'))
}
