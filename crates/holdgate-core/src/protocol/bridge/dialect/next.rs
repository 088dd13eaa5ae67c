//! What follows at a place in a text, as far as it has come: a name, or a tag behind white space.

/// Bytes of a name, and of white space between tags. Longer ones belong to no call.
const MAX_BETWEEN: usize = 256;

/// What follows at some place, white space left out.
pub(super) enum Next {
    /// One of the tags that were looked for, and where it begins.
    Tag(&'static str, usize),
    /// Something else, and where it begins.
    Other(usize),
    /// It is not known yet.
    Unknown,
    /// Nothing: the text has ended.
    End,
}

/// A name up to its `>`.
pub(super) enum Name<'t> {
    Whole(&'t str),
    /// These bytes begin no name.
    Invalid(usize),
    Unknown,
}

pub(super) fn name(text: &str) -> Name<'_> {
    let is_end = |c: char| c.is_whitespace() || matches!(c, '>' | '<' | '=');
    let text = start(text);
    match text.find(is_end) {
        Some(at) if at == 0 || at > MAX_BETWEEN => Name::Invalid(0),
        Some(at) if rest(text, at).starts_with('>') => {
            Name::Whole(text.get(..at).unwrap_or_default())
        }
        Some(at) => Name::Invalid(at),
        None if text.len() > MAX_BETWEEN => Name::Invalid(0),
        None => Name::Unknown,
    }
}

/// What follows at `from`.
pub(super) fn next(text: &str, from: usize, ended: bool, tags: &[&'static str]) -> Next {
    let tail = start(rest(text, from));
    let trimmed = tail.trim_start();
    let space = tail.len() - trimmed.len();
    if space > MAX_BETWEEN {
        return Next::Other(from);
    }
    let at = from + space;
    if let Some(tag) = tags.iter().find(|tag| trimmed.starts_with(**tag)) {
        return Next::Tag(tag, at);
    }
    match tags.iter().any(|tag| tag.starts_with(trimmed)) {
        true if !ended => Next::Unknown,
        true if trimmed.is_empty() => Next::End,
        _ => Next::Other(at),
    }
}

/// As much of a text as a tag behind white space can need.
fn start(text: &str) -> &str {
    let end = text.floor_char_boundary(2 * MAX_BETWEEN);
    text.get(..end).unwrap_or_default()
}

pub(super) fn rest(text: &str, from: usize) -> &str {
    text.get(from..).unwrap_or_default()
}
