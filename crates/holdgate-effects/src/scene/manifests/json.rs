//! Manifests in JSON: keys with their values, also where only a piece of the file is shown.

use super::{Found, Named};
use crate::knowledge::publishers::Registry;

/// Keys whose value looks like a version, and that name no package.
const OTHER_KEYS: [&str; 10] = [
    "version",
    "node",
    "npm",
    "yarn",
    "pnpm",
    "bun",
    "vscode",
    "packageManager",
    "target",
    "php",
];

pub(super) fn npm(text: &str) -> Found<'_> {
    let mut found = Vec::new();
    for pair in dependencies(text) {
        let Some(value) = pair.value else {
            continue;
        };
        let local = [
            "workspace:",
            "file:",
            "link:",
            "portal:",
            "catalog:",
            ".",
            "/",
            "~/",
        ];
        if local.iter().any(|start| value.starts_with(start)) {
            continue;
        }
        let forge = ["github:", "gitlab:", "bitbucket:", "gist:"];
        let named = if let Some(other) = value.strip_prefix("npm:") {
            let is_name = other.starts_with(|c: char| c.is_ascii_alphabetic() || c == '@');
            Named::Package(Registry::Npm, if is_name { other } else { pair.key })
        } else if value.contains("://") || value.starts_with("git@") {
            Named::Address(value.strip_prefix("git+").unwrap_or(value))
        } else if let Some(rest) = forge.iter().find_map(|start| value.strip_prefix(start)) {
            Named::Package(Registry::Forge, rest.split('/').next().unwrap_or(rest))
        } else if is_short(value) {
            Named::Package(Registry::Forge, value.split('/').next().unwrap_or(value))
        } else {
            Named::Package(Registry::Npm, pair.key)
        };
        found.push((named, pair.words));
    }
    found
}

pub(super) fn packagist(text: &str) -> Found<'_> {
    let pairs = dependencies(text).into_iter();
    let pairs = pairs.filter(|pair| pair.key.contains('/') && pair.value.is_some());
    pairs
        .map(|pair| (Named::Package(Registry::Packagist, pair.key), pair.words))
        .collect()
}

pub(super) fn container(text: &str) -> Found<'_> {
    let mut found = Vec::new();
    for pair in pairs(text) {
        match (pair.key, pair.value) {
            ("image", Some(image)) => found.push((Named::Image(image), pair.words)),
            (feature, _) if pair.under == "features" || feature.starts_with("ghcr.io/") => {
                found.push((Named::Image(feature), pair.words));
            }
            _ => {}
        }
    }
    found
}

/// `owner/name`, which npm takes from GitHub.
fn is_short(value: &str) -> bool {
    let part = |c: char| c.is_ascii_alphanumeric() || "-_.#/".contains(c);
    value.matches('/').count() == 1
        && value.chars().all(part)
        && value.starts_with(|c: char| c.is_ascii_alphanumeric())
}

fn dependencies(text: &str) -> Vec<Pair<'_>> {
    let whole = text.trim_start().starts_with('{');
    let mut found = pairs(text);
    found.retain(|pair| {
        let names = [
            "overrides",
            "resolutions",
            "require",
            "require-dev",
            "catalog",
            "imports",
        ];
        let looks = |value: &str| {
            value.starts_with(['^', '~', '>', '<', '=', '*'])
                || value.starts_with(|c: char| c.is_ascii_digit()) && value.contains('.')
                || [
                    "latest", "next", "npm:", "github:", "git+", "git:", "git@", "http",
                ]
                .iter()
                .any(|start| value.starts_with(start))
        };
        if pair.under.is_empty() {
            let other = OTHER_KEYS.contains(&pair.key);
            let page = matches!(
                pair.key,
                "url" | "homepage" | "repository" | "bugs" | "$schema"
            );
            return !whole && !other && !page && pair.value.is_some_and(looks);
        }
        pair.under.ends_with("ependencies") || names.contains(&pair.under)
    });
    found
}

/// A key and its text, and the key under which both stand.
#[derive(Clone, Copy, Debug)]
struct Pair<'t> {
    under: &'t str,
    key: &'t str,
    /// `None` for an object, list, number or truth value.
    value: Option<&'t str>,
    words: &'t str,
}

/// All keys of a text, whether it is whole or a piece.
fn pairs(text: &str) -> Vec<Pair<'_>> {
    let mut found = Vec::new();
    let mut open: Vec<&str> = Vec::new();
    let mut key: Option<(&str, usize)> = None;
    let mut after_colon = false;
    let mut at = 0;
    while let Some(rest) = text.get(at..) {
        let Some(offset) = rest.find(['"', '{', '}', ':', ',', '[']) else {
            break;
        };
        let start = at + offset;
        at = start + 1;
        match text.as_bytes().get(start) {
            Some(b'"') => {
                let Some(end) = end_of(text, at) else {
                    break;
                };
                let string = text.get(at..end).unwrap_or("");
                at = end + 1;
                match key {
                    Some((name, from)) if after_colon => {
                        let under = open.last().copied().unwrap_or("");
                        let words = text.get(from..at).unwrap_or("");
                        found.push(Pair {
                            under,
                            key: name,
                            value: Some(string),
                            words,
                        });
                        key = None;
                        after_colon = false;
                    }
                    _ => key = Some((string, start)),
                }
            }
            Some(b':') => after_colon = key.is_some(),
            Some(b'{') => {
                let name = key.take().filter(|_| after_colon);
                let under = open.last().copied().unwrap_or("");
                if let Some((name, from)) = name {
                    let words = text.get(from..start).unwrap_or("");
                    found.push(Pair {
                        under,
                        key: name,
                        value: None,
                        words,
                    });
                }
                open.push(name.map_or("", |(name, _)| name));
                after_colon = false;
            }
            Some(b'}') => {
                open.pop();
                (key, after_colon) = (None, false);
            }
            _ => (key, after_colon) = (None, false),
        }
    }
    found
}

/// Where the string ends that begins at `start`.
fn end_of(text: &str, start: usize) -> Option<usize> {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(start) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return Some(at),
            b'\n' => return None,
            _ => {}
        }
    }
    None
}
