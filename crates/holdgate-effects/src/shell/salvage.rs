//! The second, careful reading of a text that is no valid script.

use crate::language::programs;

/// Pieces that are looked at, at the most.
const MAX_PIECES: usize = 64;

/// Lines that are looked at, at the most.
const MAX_LINES: usize = 400;

/// The lines of `text`, with those put together that a backslash at the end continues.
pub(super) fn lines(text: &str) -> Vec<String> {
    let joined = text.replace("\\\n", " ");
    let lines = joined.lines().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.take(MAX_LINES).map(str::to_owned).collect()
}

/// What could be commands in `text`: everything between operators, its quotes closed.
pub(super) fn pieces(text: &str) -> Vec<String> {
    text.split(['\n', ';', '|', '&', '(', ')', '`', '{', '}'])
        .map(str::trim)
        .filter(|piece| !piece.is_empty())
        .take(MAX_PIECES)
        .map(closed)
        .collect()
}

/// What looks like commands in a text of another language: in its strings, and after its own words
/// for running things (`exec rm …`, `COMMAND rm …`, `!rm …`).
pub(super) fn commands(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for piece in text.split(['"', '\'', '`', '\n']) {
        let mut rest = piece;
        for _ in 0..8 {
            rest = rest.trim_start_matches([' ', '\t', '!', '(', ':', ',']);
            let (word, after) = rest.split_once([' ', '\t']).unwrap_or((rest, ""));
            if programs::is_telling(word) && !after.is_empty() {
                found.push(closed(rest.trim_end_matches([')', ';'])));
                break;
            }
            rest = after;
        }
        if found.len() >= MAX_PIECES {
            break;
        }
    }
    found
}

/// The piece with the quotes closed that are open at its end.
fn closed(piece: &str) -> String {
    let mut open = None;
    let mut escaped = false;
    for char in piece.chars() {
        if escaped {
            escaped = false;
            continue;
        }
        match (char, open) {
            ('\\', None | Some('"')) => escaped = true,
            ('\'' | '"', None) => open = Some(char),
            (quote, Some(by)) if quote == by => open = None,
            _ => {}
        }
    }
    let mut piece = piece.trim_end_matches(['<', '>', '\\']).to_owned();
    piece.extend(open);
    piece
}
