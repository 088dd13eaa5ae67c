//! What is shown of a find: the text around it, a command, the output before it.

use super::CONTEXT;
use super::plain::plain;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// Bytes of a command as evidence.
const COMMAND_EVIDENCE: usize = 3000;

/// A find with what stands around it.
pub(super) fn around(text: &str, found: std::ops::Range<usize>, most: usize) -> String {
    let room = most.saturating_sub(found.len()) / 2;
    let start = text.floor_char_boundary(found.start.saturating_sub(room));
    shortened(text.get(start..).unwrap_or(text), most)
}

/// A command as evidence. If it is too long, its ends, and what tells it from others with the same ends.
pub(super) fn whole(text: &str) -> String {
    if text.len() <= COMMAND_EVIDENCE {
        return text.to_owned();
    }
    let mut hash = DefaultHasher::new();
    text.hash(&mut hash);
    let half = COMMAND_EVIDENCE / 2;
    let begin = text.get(..text.floor_char_boundary(half));
    let end = text.get(text.ceil_char_boundary(text.len() - half)..);
    let (begin, end) = (begin.unwrap_or_default(), end.unwrap_or_default());
    format!(
        "{begin} … {} bytes, {:016x} … {end}",
        text.len(),
        hash.finish()
    )
}

fn shortened(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
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
    last(&text, CONTEXT).to_owned()
}
