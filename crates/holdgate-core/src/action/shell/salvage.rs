//! The second, careful reading of a text that is no valid script.

/// Pieces that are looked at, at the most.
const MAX_PIECES: usize = 64;

/// What could be commands in `text`: everything between operators, its quotes closed.
pub(super) fn pieces(text: &str) -> Vec<String> {
    text.split(['\n', ';', '|', '&', '(', ')', '`', '{', '}'])
        .map(str::trim)
        .filter(|piece| !piece.is_empty())
        .take(MAX_PIECES)
        .map(closed)
        .collect()
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
