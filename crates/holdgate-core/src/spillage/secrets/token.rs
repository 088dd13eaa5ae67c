//! Reads a token of a known form at a place in a text: its form, its ends, and what else is true of
//! it.

use super::{Candidate, Evidence, words};
use holdgate_effects::decode::base64_exact;
use holdgate_effects::json::{Json, LoneSurrogates};
use holdgate_effects::text::secret::{self, Check, Form};
use regex::Regex;
use std::ops::Range;

/// Longer tokens are cut.
const MAX_TOKEN: usize = 8192;
/// The longest lead of a form.
const MAX_LEAD: usize = 96;
/// How far around a token the words are looked for that say what it is.
const NEAR: usize = 400;

/// Reads one form.
pub(super) struct Reader {
    form: &'static Form,
    /// What comes before the start, up to it.
    lead: Option<Regex>,
    exact: Regex,
}

impl Reader {
    pub(super) fn new(form: &'static Form) -> Option<Reader> {
        let lead = match form.lead {
            "" => None,
            lead => Some(Regex::new(&format!("(?:{lead})$")).ok()?),
        };
        Some(Reader {
            form,
            lead,
            exact: form.exact().ok()?,
        })
    }

    /// The token whose start is at `at`.
    pub(super) fn read(&self, text: &str, at: usize) -> Option<Candidate> {
        let start = match &self.lead {
            Some(lead) => {
                let from = text.ceil_char_boundary(at.saturating_sub(MAX_LEAD));
                from + lead.find(text.get(from..at)?)?.start()
            }
            None => at,
        };
        if self.form.bounded && !begins(text, start, self.form.goes_on) {
            return None;
        }
        let end = text.floor_char_boundary(start.saturating_add(MAX_TOKEN).min(text.len()));
        let found = self.exact.captures(text.get(start..end)?)?;
        let token = found.get(0)?.as_str();
        let shown = found.get(1).map_or(0, |shown| shown.end());
        let body = token.get(shown..).unwrap_or_default();
        let range = start..start + token.len();
        if goes_on(text, range.end, self.form.goes_on)
            || words::is_published(token)
            || words::is_published(body)
        {
            return None;
        }
        let evidence = self.evidence(text, start, token, body)?;
        // The name before a key is no part of it.
        let named = self
            .form
            .starts
            .iter()
            .any(|start| start.ends_with(['=', ' ', '"']));
        let range = if named {
            start + shown..range.end
        } else {
            range
        };
        Some(Candidate {
            issuers: self.form.issuers,
            ..Candidate::new(self.form.name, evidence, range)
        })
    }

    fn evidence(&self, text: &str, start: usize, token: &str, body: &str) -> Option<Evidence> {
        let form = self.form;
        match form.check {
            Check::Jwt => jwt(token),
            Check::Login => login(body),
            Check::Hash => (!words::is_dummy(body)).then(|| {
                let line = text.get(..start).unwrap_or_default().rsplit('\n').next();
                let user = line.and_then(|line| line.strip_suffix(':'));
                let is_user = |name: &str| {
                    !name.is_empty()
                        && name.len() <= 32
                        && name
                            .bytes()
                            .all(|b| b.is_ascii_alphanumeric() || b"_-.".contains(&b))
                };
                if user.is_some_and(is_user) {
                    Evidence::Exact
                } else {
                    Evidence::Weak
                }
            }),
            Check::Crc62 if !words::is_dummy(body) && crc62(body) => Some(Evidence::Checked),
            Check::Form | Check::Crc62 | Check::MayBePublic => {
                // A login of two short parts has no body.
                let real = body.len() < 16 || words::is_body(body);
                if !real || words::is_dummy(body) {
                    return None;
                }
                let named = form.check != Check::MayBePublic || is_named(text, start);
                Some(if named {
                    Evidence::Exact
                } else {
                    Evidence::Weak
                })
            }
        }
    }
}

/// Whether a token can begin here: no word goes on, except the letter of an escape (`\n`, `%3D`).
fn begins(text: &str, at: usize, joined: &str) -> bool {
    let before = text.get(..at).unwrap_or_default();
    let mut last = before.bytes().rev();
    let (one, two, three) = (last.next(), last.next(), last.next());
    let Some(byte) = one else { return true };
    let escape = two == Some(b'\\') && b"nrt".contains(&byte);
    let percent = three == Some(b'%') && byte.is_ascii_hexdigit();
    escape || percent || !(byte.is_ascii_alphanumeric() || joined.bytes().any(|b| b == byte))
}

/// Whether the token would go on.
pub(super) fn goes_on(text: &str, end: usize, joined: &str) -> bool {
    let joins = |at: usize| {
        let byte = text.as_bytes().get(at);
        byte.is_some_and(|byte| joined.bytes().any(|b| b == *byte))
    };
    let is_letter = |at: usize| {
        let byte = text.as_bytes().get(at);
        byte.is_some_and(u8::is_ascii_alphanumeric)
    };
    // A point at the end of a sentence is no part of it.
    is_letter(end) || joins(end) && (is_letter(end + 1) || joins(end + 1))
}

/// What says, before a key that may be public, that it is a secret; and what says that it is not.
const SECRET_WORDS: &[&str] = &[
    "key",
    "token",
    "secret",
    "api",
    "auth",
    "password",
    "credential",
];
#[rustfmt::skip]
const PUBLIC_WORDS: &[&str] = &[
    "authdomain", "messagingsenderid", "firebaseapp.com", "storagebucket", "google-services", "maps/api/js", "data-sitekey", "public",
];

fn is_named(text: &str, start: usize) -> bool {
    let from = text.ceil_char_boundary(start.saturating_sub(NEAR));
    let to = text.floor_char_boundary(start.saturating_add(NEAR).min(text.len()));
    let before = text.get(from..start).unwrap_or_default();
    let line = before
        .rsplit('\n')
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase();
    let near = text.get(from..to).unwrap_or_default().to_ascii_lowercase();
    SECRET_WORDS.iter().any(|word| line.contains(word))
        && !PUBLIC_WORDS.iter().any(|word| near.contains(word))
}

/// Whether the last six characters are the CRC-32 of those before, in base 62.
fn crc62(body: &str) -> bool {
    const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let Some((random, sum)) = body
        .len()
        .checked_sub(6)
        .and_then(|at| body.split_at_checked(at))
    else {
        return false;
    };
    let value = sum.bytes().try_fold(0u64, |value, byte| {
        let digit = DIGITS.iter().position(|digit| *digit == byte)?;
        Some(value * 62 + u64::try_from(digit).ok()?)
    });
    value == Some(u64::from(crc32fast::hash(random.as_bytes())))
}

/// A JWT whose parts are JSON. Those of documents, and keys that browsers get to see, count little.
fn jwt(token: &str) -> Option<Evidence> {
    let mut parts = token.split('.');
    let part = |part: Option<&str>| base64_exact(part?);
    let (header, claims) = (part(parts.next())?, part(parts.next())?);
    let header = Json::read(&header, 8, LoneSurrogates::Replace).ok()?;
    header.get("alg").or(header.get("typ"))?;
    let Ok(text) = std::str::from_utf8(&claims) else {
        return Some(Evidence::Exact);
    };
    Json::read(text.as_bytes(), 32, LoneSurrogates::Replace).ok()?;
    let signed = parts
        .next()
        .is_some_and(|signature| signature.len() >= 16 && !words::is_dummy(signature));
    let shown = ["\"1234567890\"", "John Doe", "\"anon\"", "example.com"];
    let real = signed && !shown.iter().any(|word| text.contains(word));
    Some(if real {
        Evidence::Exact
    } else {
        Evidence::Weak
    })
}

/// The name and the password of a login, in base64.
pub(super) fn login(encoded: &str) -> Option<Evidence> {
    let bytes = base64_exact(encoded)?;
    let text = String::from_utf8_lossy(&bytes);
    let (user, password) = text.split_once(':')?;
    if password.is_empty() || words::is_dummy(password) {
        return None;
    }
    let weak = words::is_common(password, user);
    Some(if weak {
        Evidence::Weak
    } else {
        Evidence::Login
    })
}

/// Letters that a private key has at least.
const MIN_KEY: usize = 40;

/// The bodies of private keys: PEM, OpenSSH, PGP and `PuTTY`.
pub(super) fn private_keys(text: &str) -> Vec<Candidate> {
    if memchr::memmem::find(text.as_bytes(), b"-----BEGIN ").is_none()
        && !text.contains("Private-Lines: ")
    {
        return Vec::new();
    }
    let is_key = |range: &Range<usize>| {
        let body = text.get(range.clone()).unwrap_or_default();
        let letters = body
            .bytes()
            .filter(|b| b.is_ascii_alphanumeric() || b"+/".contains(b))
            .count();
        letters >= MIN_KEY
            && !body.contains("...")
            && !body.contains('\u{2026}')
            && !secret::is_sample(body)
    };
    let framed = secret::private_keys(text).into_iter();
    let putty = putty_keys(text).into_iter();
    let keys = framed.chain(putty).filter(is_key).take(super::MAX_SECRETS);
    keys.map(|range| Candidate::new("private-key", Evidence::Exact, range))
        .collect()
}

/// A `PuTTY` key is not longer.
const MAX_PUTTY: usize = 16 << 10;

/// The private lines of `PuTTY` keys.
fn putty_keys(text: &str) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut from = 0;
    while let Some(at) = text
        .get(from..)
        .and_then(|rest| rest.find("Private-Lines: "))
    {
        let body = from + at + "Private-Lines: ".len();
        let most = text.floor_char_boundary(body.saturating_add(MAX_PUTTY).min(text.len()));
        let rest = text.get(body..most).unwrap_or_default();
        let end = rest.find("Private-MAC").map_or(most, |end| body + end);
        ranges.push(body..end);
        from = end;
    }
    ranges
}
