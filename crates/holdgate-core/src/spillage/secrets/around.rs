//! Secrets that are known by what comes before them: logins, headers, named values. Masking finds the
//! candidates; it hides too much rather than too little. Here the value must prove itself.

use super::{Candidate, Evidence, token, words};
use crate::mask::{self, Found, How, Strength};
use std::ops::Range;

/// Hosts where a password opens nothing that others can reach.
const LOCAL: &[&str] = &[
    "localhost",
    "127.",
    "0.0.0.0",
    "[::1]",
    "host.docker.internal",
];
/// Words in the names of hosts that do not exist.
const MADE_UP: &[&str] = &[
    "example",
    "invalid",
    ".test",
    "yourhost",
    "hostname",
    "yourdomain",
    "mydomain",
    "domain.com",
    "foo.com",
    "bar.com",
];
/// Services whose addresses hold an id that everybody may see.
const PUBLIC_IDS: &[&str] = &["sentry", "ingest.", "glitchtip"];
/// Names of values that are sent to everybody.
const PUBLIC_NAMES: &[&str] = &[
    "csrf",
    "xsrf",
    "public",
    "publishable",
    "next_token",
    "nexttoken",
    "page",
    "cursor",
    "sitekey",
    "idempotency",
    "etag",
    "cache",
];
/// Settings that stand beside a password in a connection string, in lower case.
const CONNECTION: &[&str] = &[
    "server=",
    "host=",
    "data source=",
    "user id=",
    "uid=",
    "username=",
    "user=",
    "accountname=",
];

/// How far around a value the words are looked for that say what it is.
const NEAR: usize = 256;

/// Adds the secrets in a part of `text`.
pub(super) fn examine(text: &str, window: Range<usize>, found: &mut Vec<Candidate>) {
    let Some(part) = text.get(window.clone()) else {
        return;
    };
    for secret in mask::in_context(part) {
        if let Some((rule, evidence)) = grade(&secret, part) {
            let range = window.start + secret.range.start..window.start + secret.range.end;
            found.push(Candidate::new(rule, evidence, range));
        }
        if found.len() > super::MAX_SECRETS {
            break;
        }
    }
}

fn grade(found: &Found<'_>, part: &str) -> Option<(&'static str, Evidence)> {
    let value = part.get(found.range.clone())?.trim();
    let after = part.get(found.range.end..)?;
    if words::is_dummy(value) {
        return None;
    }
    match found.how {
        How::Url => Some(("login-in-address", in_address(found.name, value, after)?)),
        How::Header => Some(("authorization-header", in_header(found, value, part)?)),
        How::Command => {
            let is_name = after.starts_with(':') && !words::is_mixed(value, 4);
            let weak = is_name || words::is_common(value, "") || value.contains(['[', '(']);
            Some((
                "login-in-command",
                if weak {
                    Evidence::Weak
                } else {
                    Evidence::Login
                },
            ))
        }
        How::Assigned | How::Flag => Some(("named-secret", assigned(found, value, part)?)),
    }
}

/// `scheme://user:` comes before the value, `@host` after it.
fn in_address(before: &str, value: &str, after: &str) -> Option<Evidence> {
    let user = before
        .rsplit("//")
        .next()
        .unwrap_or_default()
        .trim_end_matches(':');
    let host = after.trim_start_matches('@');
    let end = host.find(|c: char| c.is_whitespace() || "/?#\"'<>`,;)".contains(c));
    let host = host
        .get(..end.unwrap_or(host.len()))
        .unwrap_or_default()
        .to_ascii_lowercase();
    if PUBLIC_IDS.iter().any(|word| host.contains(word)) || value.contains(['[', '(', '{', '$']) {
        return None;
    }
    let local = LOCAL.iter().any(|start| host.starts_with(start)) || !host.contains('.');
    let made_up = MADE_UP.iter().any(|word| host.contains(word));
    let alone = before.ends_with("//") || before.is_empty();
    let weak =
        local || made_up || words::is_common(value, user) || alone && !words::is_random(value);
    Some(if weak {
        Evidence::Weak
    } else {
        Evidence::Login
    })
}

/// The text from before the start of a range to its end, in lower case.
fn near(part: &str, range: Range<usize>) -> String {
    let from = part.ceil_char_boundary(range.start.saturating_sub(NEAR));
    let to = part.floor_char_boundary(range.end.min(part.len()));
    part.get(from..to).unwrap_or_default().to_ascii_lowercase()
}

fn in_header(found: &Found<'_>, value: &str, part: &str) -> Option<Evidence> {
    let name = found.name.to_ascii_lowercase();
    if PUBLIC_NAMES.iter().any(|word| name.contains(word)) {
        return None;
    }
    let before = near(part, found.range.start..found.range.start);
    let before = before.trim_end();
    // `apiKey: "…"` in a program is no header.
    let headers = ["authorization", "cookie", "bearer", "x-"];
    let is_header = headers.iter().any(|word| name.contains(word));
    if !is_header && !before.contains("-h ") && !before.contains("--header") {
        return assigned(found, value, part);
    }
    if before.ends_with("basic") {
        return token::login(value);
    }
    // What is left of a scheme that masking does not know: `Api-Token VALUE`.
    let value = value.rsplit(char::is_whitespace).next().unwrap_or(value);
    let code = mask::is_code(value) || value.ends_with([',', ';']) || value.contains("://");
    if words::is_dummy(value) || code {
        return None;
    }
    let mixed = value.len() >= 8 && words::is_mixed(value, 4) && !words::is_wordy(value);
    let weak = name.contains("cookie") || !(mixed || words::is_uuid(value));
    Some(if weak {
        Evidence::Weak
    } else {
        Evidence::Login
    })
}

fn assigned(found: &Found<'_>, value: &str, part: &str) -> Option<Evidence> {
    let lower = found.name.to_ascii_lowercase();
    let refers = value.contains("://")
        || value.contains(":\\")
        || value.contains([' ', '(', ')', '{', '<'])
        || value.starts_with(':')
        || value.ends_with([',', ';'])
        || mask::is_code(value);
    if refers || PUBLIC_NAMES.iter().any(|word| lower.contains(word)) {
        return None;
    }
    let strength = mask::strength(found.name)?;
    let password = ["pass", "pwd"].iter().any(|word| lower.contains(word));
    let beside = near(
        part,
        found.range.start..found.range.end.saturating_add(NEAR),
    );
    let connects =
        password && beside.contains(';') && CONNECTION.iter().any(|word| beside.contains(word));
    if connects && !words::is_common(value, "") {
        return Some(Evidence::Login);
    }
    let random = words::is_random(value);
    match strength {
        Strength::Strong if random && value.len() >= 16 => Some(Evidence::Named),
        Strength::Strong if password && random => Some(Evidence::Named),
        Strength::Weak if random && value.len() >= 24 && words::has_three(value) => {
            Some(Evidence::Named)
        }
        Strength::Strong | Strength::Weak if random => Some(Evidence::Weak),
        Strength::Strong if words::is_mixed(value, 5) && value.len() >= 8 => Some(Evidence::Weak),
        Strength::Strong | Strength::Weak => None,
    }
}
