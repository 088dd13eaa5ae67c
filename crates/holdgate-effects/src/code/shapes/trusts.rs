//! Edits that put a `*` where the name of somebody stood who may take a role.

use super::access;
use super::scan::{Text, quoted};
use crate::effect::Effect;
use crate::tag::Tag;

/// Texts of one edit that are looked at.
const MAX_TEXTS: usize = 64;
/// How the names of those begin who are trusted.
const TRUSTED: [&str; 5] = [
    "repo:",
    "arn:aws:iam:",
    "arn:aws:sts:",
    "project_path:",
    "system:serviceaccount:",
];

pub(super) fn run(text: &Text<'_>, found: &mut Vec<Effect>) {
    if !text.is_edit() || !text.clean.contains('*') {
        return;
    }
    let is_trusted = |name: &str| TRUSTED.iter().any(|start| name.starts_with(start));
    let before = quoted(text.old());
    let before: Vec<&str> = before
        .iter()
        .map(|(_, name)| *name)
        .take(MAX_TEXTS)
        .collect();
    for (at, name) in quoted(&text.clean).into_iter().take(MAX_TEXTS) {
        let trusted = is_trusted(name) && name.contains('*') && !before.contains(&name);
        if trusted && before.iter().any(|old| is_wider(old, name)) {
            found.push(access(Tag::Public, text.line(at)));
            return;
        }
    }
}

/// Whether `new` is `old` with a `*` in place of who it is: the part behind the branch does not matter.
fn is_wider(old: &str, new: &str) -> bool {
    let parts =
        |name: &'_ str| -> Vec<String> { name.split([':', '/']).map(str::to_owned).collect() };
    let (old, new) = (parts(old), parts(new));
    if old.first() != new.first() {
        return false;
    }
    let pairs = old.iter().zip(&new).take(WHO);
    let named = |part: &str| !part.is_empty() && !part.contains('*');
    // The first part that differs says who it is.
    let mut differ = pairs.skip_while(|(old, new)| old == new);
    differ
        .next()
        .is_some_and(|(old, new)| named(old) && new.contains('*'))
}

/// Parts of a name that say who it is.
const WHO: usize = 7;

#[cfg(test)]
mod tests {
    use super::is_wider;

    #[test]
    fn a_star_in_place_of_a_name_is_wider() {
        assert!(is_wider(
            "repo:acme/app:ref:refs/heads/main",
            "repo:*:ref:refs/heads/main"
        ));
        assert!(is_wider(
            "repo:acme/app:environment:prod",
            "repo:acme/*:environment:prod"
        ));
        assert!(is_wider(
            "arn:aws:iam::1234:role/ci",
            "arn:aws:iam::*:role/ci"
        ));
        assert!(!is_wider("repo:acme/app:*", "repo:acme/web:*"));
        assert!(!is_wider(
            "arn:aws:iam::1234:role/ci",
            "arn:aws:iam::1234:role/web"
        ));
    }
}
