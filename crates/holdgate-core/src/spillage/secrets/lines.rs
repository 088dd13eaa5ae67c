//! Secrets in lists of variables (`NAME=value`), where a random value is one whatever its name says,
//! and in manifests that hold secrets in base64.

use super::{Candidate, Evidence, Standing, words};
use crate::mask::{self, Strength};
use holdgate_effects::decode::base64_exact;

/// Shorter values are not followed.
const MIN_VALUE: usize = 12;
/// Lines of one text that are read.
const MAX_LINES: usize = 4096;
/// Names whose values are random, but no secrets.
#[rustfmt::skip]
const PLAIN_NAMES: &[&str] = &[
    "hash", "sha", "sum", "digest", "commit", "revision", "rev", "version", "id", "uuid", "guid", "etag", "url", "uri", "host", "path", "dir",
    "file", "image", "tag", "name", "ref", "color", "colors", "date", "time", "arn", "region", "opts", "options", "flags", "dsn", "public",
    "prompt", "ps1", "term", "session", "display", "lang", "bus", "address",
];

/// Adds the values that look drawn by lot, if the text is a list of variables.
pub(super) fn variables(text: &str, standing: Standing, found: &mut Vec<Candidate>) {
    if standing == Standing::Digests {
        return;
    }
    // The first lines say whether this is such a list.
    let first = text.lines().filter(|line| is_content(line)).take(8);
    let (mut named, mut all) = (0, 0);
    for line in first {
        all += 1;
        named += usize::from(variable(line).is_some());
    }
    if named == 0 || named * 4 < all * 3 {
        return;
    }
    let mut at = 0;
    for line in text.split_inclusive('\n').take(MAX_LINES) {
        if let Some((name, value)) = variable(line)
            && let Some(evidence) = grade(name, value, standing)
        {
            let start = at + offset(line, value);
            found.push(Candidate::new(
                "secret-variable",
                evidence,
                start..start + value.len(),
            ));
        }
        at += line.len();
    }
}

fn is_content(line: &str) -> bool {
    let line = unnumbered(line.trim());
    !line.is_empty() && !line.starts_with('#')
}

/// Where a part of a line begins.
fn offset(line: &str, part: &str) -> usize {
    (part.as_ptr() as usize).saturating_sub(line.as_ptr() as usize)
}

/// A line without the number that agents' tools put before it: `12→NAME=value`, `12\tNAME=value`.
fn unnumbered(line: &str) -> &str {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    if rest.len() == line.len() {
        return line;
    }
    let marks = ['\u{2192}', '\t', '|', ':'];
    rest.strip_prefix(marks).map_or(line, str::trim_start)
}

/// `NAME=value`, `export NAME="value"`.
fn variable(line: &str) -> Option<(&str, &str)> {
    let line = unnumbered(line.trim());
    let line = line.strip_prefix("export ").unwrap_or(line);
    let (name, value) = line.split_once('=')?;
    let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'.';
    let is_name =
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && name.bytes().all(plain);
    let value = value.trim();
    let quoted = ['"', '\'']
        .iter()
        .find_map(|quote| value.strip_prefix(*quote)?.strip_suffix(*quote));
    is_name.then_some((name, quoted.unwrap_or(value)))
}

fn grade(name: &str, value: &str, standing: Standing) -> Option<Evidence> {
    if value.len() < 8
        || words::is_dummy(value)
        || mask::is_code(value)
        || value.contains("://")
        || value.contains(' ')
    {
        return None;
    }
    let lower = name.to_ascii_lowercase();
    let plain = lower.split('_').any(|word| PLAIN_NAMES.contains(&word));
    let strong = mask::strength(name) == Some(Strength::Strong);
    let random = words::is_random(value);
    // Among variables, a password that somebody chose is one too.
    let chosen = words::is_mixed(value, 4) && words::has_three(value);
    let kept = standing == Standing::Secrets && words::is_mixed(value, 4);
    if strong && (random || chosen || kept) && !words::is_common(value, "") {
        return Some(Evidence::Named);
    }
    (value.len() >= MIN_VALUE && random && !plain && !value.starts_with('/'))
        .then_some(Evidence::Weak)
}

/// Adds what a Kubernetes secret holds, in base64 or plain.
pub(super) fn manifest(text: &str, found: &mut Vec<Candidate>) {
    let is_secret = [
        "kind: Secret\n",
        "kind: Secret\r\n",
        "\"kind\": \"Secret\"",
        "\"kind\":\"Secret\"",
    ];
    if !is_secret.iter().any(|kind| text.contains(kind)) {
        return;
    }
    let mut at = 0;
    for line in text.split_inclusive('\n').take(MAX_LINES) {
        let start = at;
        at += line.len();
        let Some((name, value)) = line.split_once(':') else {
            continue;
        };
        let marks = |c: char| c.is_whitespace() || "\"',".contains(c);
        let (name, value) = (name.trim_matches(marks), value.trim_matches(marks));
        let decoded = base64_exact(value).and_then(|bytes| String::from_utf8(bytes).ok());
        let Some(secret) = decoded.filter(|_| value.len() >= 8) else {
            continue;
        };
        let readable = secret.chars().all(|c| !c.is_control() || c.is_whitespace());
        let named = mask::strength(name).is_some() && secret.len() >= 6;
        let real = !words::is_dummy(secret.trim()) && !words::is_common(secret.trim(), "");
        if readable && real && (named || words::is_random(secret.trim())) {
            let from = start + offset(line, value);
            found.push(Candidate::new(
                "kubernetes-secret",
                Evidence::Login,
                from..from + value.len(),
            ));
        }
    }
}
