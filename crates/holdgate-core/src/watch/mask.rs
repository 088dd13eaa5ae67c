//! Secrets in what is reported: a hit goes into a ledger and to a model, and must not spread them.

use super::patterns::{Looks, Patterns};
use regex::Captures;
use std::borrow::Cow;

/// The group of an expression that holds a secret.
pub(super) const SECRET: &str = "secret";
/// So much of it stays, to tell one from another.
const KEPT: usize = 4;

/// `text` with every secret that a pattern knows made unreadable.
pub(super) fn masked(text: &str, patterns: &Patterns) -> String {
    let mut text = Cow::Borrowed(text);
    for pattern in &patterns.list {
        let Looks::Text { regex, .. } = &pattern.looks else {
            continue;
        };
        if !regex.capture_names().any(|name| name == Some(SECRET)) {
            continue;
        }
        let mask = |found: &Captures<'_>| {
            let whole = found.get(0).map_or("", |m| m.as_str());
            let Some(secret) = found.name(SECRET).filter(|m| !m.is_empty()) else {
                return whole.to_owned();
            };
            let start: String = secret.as_str().chars().take(KEPT).collect();
            whole.replace(secret.as_str(), &format!("{start}[masked]"))
        };
        if let Cow::Owned(changed) = regex.replace_all(&text, mask) {
            text = Cow::Owned(changed);
        }
    }
    text.into_owned()
}
