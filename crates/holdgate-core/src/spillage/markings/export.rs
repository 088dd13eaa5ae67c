//! Export control: a notice that *this* document or item is controlled. Licences that forbid exports,
//! notices about public cryptography and texts about the regulations do not count.

use super::place::has_word;
use super::words::{CLAIMS, ITEM_CLAIMS, OTHERWISE, REGIMES, words};

/// Whether `window`, in lower case and with single spaces, is such a notice.
pub(super) fn is_notice(window: &str) -> bool {
    let has = |list: &'static str| words(list).any(|word| has_word(window, word));
    if !has(REGIMES) || has(OTHERWISE) {
        return false;
    }
    let listed = is_item(window) || has_munitions_category(window);
    has(CLAIMS) || listed && has(ITEM_CLAIMS)
}

/// A number of a control list: `5e002`, `9e610.a`.
fn is_item(text: &str) -> bool {
    text.split(|c: char| !c.is_ascii_alphanumeric())
        .any(|word| match word.as_bytes() {
            [category, group, rest @ ..] => {
                category.is_ascii_digit()
                    && matches!(group, b'a'..=b'e')
                    && rest.len() == 3
                    && rest.iter().all(u8::is_ascii_digit)
            }
            _ => false,
        })
}

/// `usml category xi(c)`.
fn has_munitions_category(text: &str) -> bool {
    [
        "usml category ",
        "usml cat. ",
        "usml cat ",
        "munitions list category ",
    ]
    .iter()
    .any(|start| {
        text.match_indices(start).any(|(at, found)| {
            let rest = text.get(at + found.len()..).unwrap_or_default();
            let numeral = rest
                .bytes()
                .take_while(|b| matches!(b, b'i' | b'v' | b'x'))
                .count();
            let next = rest.get(numeral..).and_then(|rest| rest.chars().next());
            numeral > 0 && next.is_none_or(|c| !c.is_alphanumeric())
        })
    })
}
