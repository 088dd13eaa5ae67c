//! Long names in a text, such as those of files: one may be an order.

use std::ops::Range;

/// Names that are read.
const MAX_NAMES: usize = 64;
/// Signs between the words of a long name.
const MIN_JOINTS: usize = 4;

/// The long names, as sentences, each with the rest of its line.
pub(super) fn sentences(text: &str) -> String {
    let mut all = String::new();
    let mut names = 0;
    let mut from = 0;
    while names < MAX_NAMES
        && let Some(name) = next(text.as_bytes(), from)
    {
        names += 1;
        from = name.end;
        let words = text.get(name).unwrap_or_default();
        all.extend(
            words
                .chars()
                .map(|c| if is_joint_char(c) { ' ' } else { c }),
        );
        all.push_str(".\n\n");
    }
    all
}

/// The next name from `from` on, up to the end of its line: words with at least four signs between them.
fn next(bytes: &[u8], from: usize) -> Option<Range<usize>> {
    let rest = bytes.get(from..)?;
    let (mut joints, mut last) = (0, None);
    for at in memchr::memchr2_iter(b'-', b'_', rest) {
        let word = match last {
            Some(last) => rest.get(last + 1..at)?,
            None => &[],
        };
        let goes_on = joints > 0 && !word.is_empty() && word.iter().all(|b| in_word(*b));
        joints = if goes_on {
            joints + 1
        } else {
            usize::from(
                at.checked_sub(1)
                    .and_then(|before| rest.get(before))
                    .is_some_and(|b| in_word(*b)),
            )
        };
        last = Some(at);
        if joints >= MIN_JOINTS && rest.get(at + 1).is_some_and(|b| in_word(*b)) {
            let start = start(rest, at);
            let end = memchr::memchr(b'\n', rest.get(at..)?).map_or(rest.len(), |end| at + end);
            return Some(from + start..from + end);
        }
    }
    None
}

/// Where the name begins whose fourth sign or a later one is at `at`.
fn start(bytes: &[u8], at: usize) -> usize {
    let mut start = at;
    let mut joint = true;
    while let Some(before) = start.checked_sub(1).and_then(|before| bytes.get(before)) {
        let is_joint = matches!(before, b'-' | b'_');
        if !is_joint && !in_word(*before) || is_joint && joint {
            break;
        }
        joint = is_joint;
        start -= 1;
    }
    // A sign at the start is not a part of it.
    start + usize::from(bytes.get(start).is_some_and(|b| matches!(b, b'-' | b'_')))
}

fn in_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'\'' | b'~' | b'/')
}

fn is_joint_char(c: char) -> bool {
    matches!(c, '-' | '_')
}

#[cfg(test)]
mod tests {
    use super::sentences;
    use proptest::prelude::*;
    use regex::Regex;

    proptest! {
        #[test]
        fn names_are_those_of_the_expression(text in "[a-c.~ _\\n\\-]{0,80}") {
            let long = Regex::new(r"[A-Za-z0-9.'~/]+(?:[-_][A-Za-z0-9.'~/]+){4,}[^\n]*").unwrap();
            let names = long.find_iter(&text).map(|name| name.as_str().replace(['-', '_'], " "));
            let expected: String = names.map(|name| name + ".\n\n").collect();
            prop_assert_eq!(sentences(&text), expected);
        }
    }
}
