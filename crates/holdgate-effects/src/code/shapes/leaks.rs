//! Secrets beside an address: pieces of a path that lead to a place of secrets, whatever joins them, or the
//! environment handed to something that reports, in a file that names a machine outside.

use super::reported;
use super::scan::{Text, around, has_any, quoted};
use crate::effect::{Actor, Effect, Kind};
use crate::host::{Host, HostClass};
use crate::language::Language;
use crate::path::PathClass;
use crate::scene::Scene;
use crate::value::{Origins, Value};

/// Texts of one file that are looked at.
const MAX_TEXTS: usize = 4000;
/// Pieces of a path that are joined.
const MAX_PIECES: usize = 3;
/// Bytes between two pieces of one path.
const MAX_GAP: usize = 60;
/// Lines around a secret in which what sends it stands.
const NEAR: usize = 14;

/// Parts of names of secret places.
#[rustfmt::skip]
const PLACES: [&str; 27] = [
    ".ssh", ".aws", ".gnupg", ".kube", ".netrc", ".npmrc", ".pypirc", ".docker", "gcloud", ".git-credentials",
    "login data", "cookies", "logins.json", "key4.db", "keychain", ".azure", ".config/gh", ".pgpass", "shadow",
    "_history", ".password-store", "keyrings", ".mozilla", ".electrum", "wallet", "vault-token", "solana",
];

pub(super) fn run(scene: &Scene<'_>, text: &Text<'_>, found: &mut Vec<Effect>) {
    let Some((host, host_at)) = outside(scene, text) else {
        return;
    };
    if has_any(&text.low, &PLACES)
        && let Some((at, path)) = secret(scene, text)
    {
        let near = around(&text.low, at, NEAR, NEAR, 1400);
        let sends = [
            "post", "put", "send", "upload", "request", "http", "fetch", "socket", "write", "tcp",
            "smtp", "ftp", "curl",
        ];
        let line = crate::json::shorten(text.line(at).trim(), 200);
        if text.is_new(text.line(at)) && (text.is_code() || text.language == Language::Lines) {
            let close =
                text.is_code() && near.contains(host.name.as_str()) && has_any(near, &sends);
            let program = if close { "file" } else { "beside" };
            let mut effect = Actor::new(program, &line)
                .does(Kind::Send)
                .with(host.clone())
                .about(&path);
            effect.origins |= if close {
                Origins::SECRET | Origins::FILE
            } else {
                Origins::FILE
            };
            found.push(effect);
            return;
        }
    }
    if text.is_code() && text.language != Language::Other {
        reported::environment(scene, text, &host, host_at, found);
    } else {
        reported::settings(text, &host, found);
    }
}

/// The first machine outside that a text of the file names.
fn outside(scene: &Scene<'_>, text: &Text<'_>) -> Option<(Host, usize)> {
    let by_scheme = text
        .low
        .match_indices("://")
        .take(256)
        .filter_map(|(at, _)| {
            let rest = text.low.get(at + 3..)?;
            let end = rest.find(|c: char| {
                c.is_whitespace()
                    || matches!(
                        c,
                        '"' | '\'' | '`' | '<' | '>' | ')' | ',' | ';' | '/' | '?' | '}' | ']'
                    )
            });
            Some((at, rest.get(..end.unwrap_or(rest.len()))?))
        });
    let texts = std::iter::once_with(|| {
        if text.is_code() || text.language == Language::Lines {
            quoted(&text.low)
        } else {
            Vec::new()
        }
    });
    let bare = texts.flatten().take(MAX_TEXTS).filter(|(at, value)| {
        if !value.contains('.') {
            return false;
        }
        let head = text.low.get(at.saturating_sub(18)..*at).unwrap_or("");
        let named = has_any(head, &["host", "server", "addr", "endpoint", "domain"])
            && !head.contains('\n');
        looks_like_host(value, if named { 2 } else { 3 })
    });
    let elements = text
        .low
        .match_indices("host>")
        .filter_map(|(at, _)| Some((at, text.low.get(at + 5..)?.split('<').next()?)))
        .filter(|(_, v)| looks_like_host(v, 2));
    let found = by_scheme.chain(bare).chain(elements);
    found
        .map(|(at, name)| (scene.know.hosts.host(&Value::known(name)), at))
        .find(|(host, _)| {
            let named = host.name.contains('.')
                && !host.name.contains(['$', '{', '%', '#', '*', '\\', '(']);
            named
                && matches!(host.class, HostClass::External | HostClass::Drop)
                && !is_document(&host.name)
        })
}

/// Hosts whose names stand in source as names, and as links to documents.
fn is_document(host: &str) -> bool {
    let names = [
        "w3.org",
        "schema.org",
        "json-schema.org",
        "schemas.microsoft.com",
        "schemas.xmlsoap.org",
        "apache.org",
        "opensource.org",
        "example.com",
        "example.org",
        "example.net",
        "docs.",
        "developer.",
        "github.com",
        "stackoverflow.com",
        "wikipedia.org",
        "readthedocs.io",
        "gnu.org",
        "mozilla.org",
        "xmlns",
        "purl.org",
        "ietf.org",
        "spdx.org",
    ];
    names.iter().any(|name| {
        host == *name
            || host
                .strip_suffix(name)
                .is_some_and(|rest| rest.ends_with('.'))
            || name.ends_with('.') && host.starts_with(name)
    })
}

/// `collect.evil.example`, `203.0.113.9`: a name of a machine and nothing else.
fn looks_like_host(text: &str, least: usize) -> bool {
    let (name, port) = text.split_once(':').unwrap_or((text, "1"));
    let labels: Vec<&str> = name.split('.').collect();
    let address = labels.len() == 4 && labels.iter().all(|l| l.parse::<u8>().is_ok());
    let named = labels.len() >= least
        && labels
            .iter()
            .all(|l| !l.is_empty() && l.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-'))
        && labels.last().is_some_and(|l| {
            l.len() >= 2
                && l.bytes().all(|b| b.is_ascii_alphabetic())
                && !matches!(
                    *l,
                    "js" | "ts"
                        | "py"
                        | "json"
                        | "md"
                        | "txt"
                        | "html"
                        | "css"
                        | "java"
                        | "yml"
                        | "yaml"
                        | "xml"
                        | "lock"
                        | "conf"
                        | "log"
                        | "class"
                        | "name"
                        | "id"
                        | "get"
                        | "set"
                        | "value"
                        | "test"
                        | "spec"
                        | "local"
                        | "tsx"
                        | "jsx"
                        | "d"
                        | "go"
                        | "rs"
                        | "internal"
                        | "svc"
                        | "map"
                )
        });
    (address || named) && port.parse::<u16>().is_ok()
}

/// A secret place that pieces in texts lead to.
fn secret(scene: &Scene<'_>, text: &Text<'_>) -> Option<(usize, String)> {
    let mut texts = quoted(&text.clean);
    if matches!(text.language, Language::Other | Language::Lines) {
        texts.extend(bare_words(&text.clean));
    }
    for (index, (at, piece)) in texts.iter().enumerate().take(MAX_TEXTS) {
        let low = piece.to_ascii_lowercase();
        if piece.len() > 200 || !has_any(&low, &PLACES) {
            continue;
        }
        let mut path = String::new();
        let mut end = *at;
        for (from, next) in texts.iter().skip(index).take(MAX_PIECES) {
            let gap = text.clean.get(end..*from).unwrap_or("");
            if from.saturating_sub(end) > MAX_GAP
                || gap.contains([';', '{', '}'])
                || next.contains("://")
                || next.len() > 200
            {
                break;
            }
            end = from + next.len();
            let next = next.trim_matches('/');
            path = if path.is_empty() {
                next.to_owned()
            } else {
                format!("{path}/{next}")
            };
            for candidate in candidates(&path) {
                if scene
                    .place(&Value::known(candidate.as_str()))
                    .is(PathClass::Secret)
                {
                    return Some((*at, candidate));
                }
            }
        }
    }
    None
}

/// Words without quotes: Tcl and settings need none.
fn bare_words(text: &str) -> Vec<(usize, &str)> {
    let ends = |c: char| {
        c.is_whitespace()
            || matches!(
                c,
                '[' | ']' | '{' | '}' | '"' | '\'' | '(' | ')' | ',' | '=' | ';'
            )
    };
    let mut from = 0;
    let mut found = Vec::new();
    for (at, mark) in text.match_indices(ends).take(MAX_TEXTS) {
        if at > from
            && let Some(word) = text.get(from..at)
        {
            found.push((from, word));
        }
        from = at + mark.len();
    }
    found
}

/// Where a path may lead: from the home, and from what stands behind a variable in it.
fn candidates(path: &str) -> Vec<String> {
    let mut all = vec![format!("~/{}", path.trim_start_matches(['~', '/']))];
    if let Some(at) = path.find("/.") {
        all.push(format!("~{}", path.get(at..).unwrap_or("")));
    }
    if path.starts_with("etc/") || path.starts_with("home/") || path.starts_with("root/") {
        all.push(format!("/{path}"));
    }
    all
}
