//! Secrets in what is reported: a hit goes into a ledger and to a model, and must not spread them.
//! Besides what is masked everywhere, patterns name secrets of their own.

use super::patterns::{Looks, Patterns};
use crate::mask::{MASK, Masked};
use regex::Captures;
use std::borrow::Cow;

/// The group of an expression that holds a secret.
pub(super) const SECRET: &str = "secret";

/// `text` with every secret that a pattern or the masker knows made unreadable.
pub(super) fn masked(text: &str, patterns: &Patterns) -> Masked {
    // First by their forms, which leaves the start of a token: it says of which service it is.
    let text = Masked::of(text);
    let mut text = Cow::Borrowed(text.as_str());
    for pattern in &patterns.list {
        let Looks::Text { regex, .. } = &pattern.looks else {
            continue;
        };
        let Some(regex) = regex.has_group(SECRET).then(|| regex.get()).flatten() else {
            continue;
        };
        let mask = |found: &Captures<'_>| {
            let whole = found.get(0).map_or("", |m| m.as_str());
            match found.name(SECRET).map(|secret| secret.as_str()) {
                Some(secret) if !secret.is_empty() && !secret.contains(MASK) => {
                    whole.replace(secret, MASK)
                }
                Some(_) | None => whole.to_owned(),
            }
        };
        if let Cow::Owned(changed) = regex.replace_all(&text, mask) {
            text = Cow::Owned(changed);
        }
    }
    Masked::of(&text)
}
