//! What is shown of a match: the text around it, a command, the output before it.

use super::CONTEXT;
use super::plain::plain;
use crate::mask::Masked;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// Bytes of a command as evidence.
const COMMAND_EVIDENCE: usize = 3000;

/// Bytes before the shown text that are read too, so that it does not begin inside a secret.
const LEAD: usize = 4096;

/// A match with the text around it. Secrets are masked before it is cut.
pub(super) fn around(text: &str, found: std::ops::Range<usize>, most: usize) -> String {
    let room = most.saturating_sub(found.len()) / 2;
    let lead = text.floor_char_boundary(found.start.saturating_sub(room + LEAD));
    let before = Masked::end(text.get(lead..found.start).unwrap_or_default(), room);
    let rest = most.saturating_sub(before.chars().count());
    let rest = Masked::start(text.get(found.start..).unwrap_or_default(), rest);
    format!("{before}{rest}")
}

/// A command as evidence. If it is too long: its start, its end, and a hash of all of it.
pub(super) fn whole(text: &str) -> String {
    if text.len() <= COMMAND_EVIDENCE {
        return text.to_owned();
    }
    let mut hash = DefaultHasher::new();
    text.hash(&mut hash);
    let half = COMMAND_EVIDENCE / 2;
    let lead = text.ceil_char_boundary(text.len() - half);
    let lead = text.get(lead.saturating_sub(LEAD)..).or(text.get(lead..));
    let begin = Masked::start(text, half);
    let end = Masked::end(lead.unwrap_or_default(), half);
    format!(
        "{begin} … {} bytes, {:016x} … {end}",
        text.len(),
        hash.finish()
    )
}

/// The last `most` characters.
pub(super) fn last(text: &str, most: usize) -> &str {
    match text.char_indices().rev().nth(most.saturating_sub(1)) {
        Some((at, _)) => text.get(at..).unwrap_or(text),
        None => text,
    }
}

pub(super) fn first(text: &str, most: usize) -> &str {
    text.get(..text.floor_char_boundary(most)).unwrap_or(text)
}

/// Raw output as people read it.
pub(super) fn history_text(history: &[u8]) -> String {
    let mut text = String::new();
    for line in history
        .split(|b| *b == b'\n')
        .filter(|line| !line.is_empty())
    {
        text.push_str(&plain(line).shown);
        text.push('\n');
    }
    last(&text, 2 * CONTEXT).to_owned()
}
