//! Parts of a text that are whole lines.

use super::{AFTER, BEFORE};
use holdgate_effects::text::first_foreign;
use std::ops::Range;

/// Lines with letters that are not ASCII: they may be in any language.
pub(super) fn foreign_lines(text: &str, parts: &mut Vec<Range<usize>>) {
    let mut at = 0;
    while let Some(next) = text.get(at..).and_then(first_foreign) {
        let start = at + next;
        let Some(c) = text.get(start..).and_then(|rest| rest.chars().next()) else {
            return;
        };
        at = start + c.len_utf8();
        if c.is_alphabetic() {
            parts.push(start.saturating_sub(BEFORE)..at + AFTER);
            at = text.ceil_char_boundary((at + AFTER / 2).min(text.len()));
        }
    }
}

/// `parts` in order, from line end to line end: no word but one that begins with a line end goes over it.
pub(super) fn whole_lines(text: &str, mut parts: Vec<Range<usize>>) -> Vec<Range<usize>> {
    parts.sort_unstable_by_key(|part| part.start);
    let mut all: Vec<Range<usize>> = Vec::new();
    let bytes = text.as_bytes();
    for part in parts {
        if let Some(last) = all.last()
            && part.end <= last.end
        {
            continue;
        }
        let before = bytes.get(..part.start).unwrap_or_default();
        let start = memchr::memrchr(b'\n', before).unwrap_or(0);
        let after = bytes.get(part.end..).unwrap_or_default();
        let end = memchr::memchr(b'\n', after).map_or(bytes.len(), |at| part.end + at);
        match all.last_mut() {
            Some(last) if start <= last.end => last.end = last.end.max(end),
            Some(_) | None => all.push(start..end),
        }
    }
    all
}
