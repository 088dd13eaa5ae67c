//! Secrets are masked before text is written anywhere: the ledger, the terminal, a refusal, an
//! error.
//!
//! [`Masked`] is text in which no secret that can be recognised is left, and only this module makes
//! one. What is judged, compared or sent as the call itself is never masked.

mod find;
mod names;
mod signs;
#[cfg(test)]
mod tests;

pub(crate) use find::{Found, How};
pub(crate) use names::{Strength, is_code, is_placeholder, strength};

use find::Finder;
use holdgate_effects::json::{Json, LoneSurrogates, shorten};
use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;
use std::sync::LazyLock;

/// What replaces a secret.
pub(crate) const MASK: &str = "[masked]";
/// Bytes that are read beyond what is shown, so that a secret at the cut is recognised.
const BEYOND: usize = 4096;
/// At the end of what was read, a secret may be too short to be recognised.
const UNSURE: usize = 1024;
/// A shorter word is no part of a secret that says anything.
const MIN_RUN: usize = 8;
/// As deep as a call's arguments can be.
const MAX_DEPTH: usize = 128;

/// Text in which secrets cannot be read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Masked(String);

impl Masked {
    /// All of `text`.
    pub fn of(text: &str) -> Masked {
        Masked(masked(text).into_owned())
    }

    /// At most `most` characters of `text`, with control characters made visible. The text is cut
    /// after it is masked, so that no half of a secret is left.
    pub fn start(text: &str, most: usize) -> Masked {
        let window = text.floor_char_boundary(most.saturating_mul(4).saturating_add(BEYOND));
        let read = text.get(..window).unwrap_or(text);
        let masked = masked(read);
        if read.len() == text.len() && !text.ends_with('…') {
            return Masked(shorten(&masked, most));
        }
        // The last word may be half a secret, too short to be known.
        let unsure = masked.ceil_char_boundary(masked.len().saturating_sub(UNSURE));
        let (sure, unsure) = masked.split_at_checked(unsure).unwrap_or_default();
        let last = unsure.rfind(char::is_whitespace).unwrap_or_default();
        let kept = masked.get(..sure.len() + last).unwrap_or(sure);
        let mut short = shorten(kept, most);
        if !short.ends_with('…') {
            short.push('…');
        }
        Masked(short)
    }

    /// The last `most` characters of `text`, cut after it is masked.
    pub fn end(text: &str, most: usize) -> Masked {
        let masked = masked(text);
        let skipped = masked.chars().count().saturating_sub(most);
        Masked(masked.chars().skip(skipped).collect())
    }

    /// A JSON value in its compact form, each string masked by itself and by what its key says.
    pub fn json(value: Json<'_>) -> Masked {
        Masked(value_of(value).text())
    }

    /// Whether masking changes a value that is written as JSON, or the value cannot be read.
    pub fn changes_json(text: &str) -> bool {
        let value = Json::read(text.as_bytes(), MAX_DEPTH, LoneSurrogates::Replace);
        value.map_or(true, |value| value_of(value.clone()).text() != value.text())
    }

    /// The same for a value that is written as JSON. The result is JSON in any case.
    pub fn json_text(text: &str) -> Masked {
        match Json::read(text.as_bytes(), MAX_DEPTH, LoneSurrogates::Replace) {
            Ok(value) => Masked::json(value),
            Err(_) => Masked::json(text.into()),
        }
    }

    /// At most `most` characters of a value that is written as JSON.
    pub fn json_start(text: &str, most: usize) -> Masked {
        if text.len() > most.saturating_mul(4).saturating_add(BEYOND) {
            return Masked::start(text, most);
        }
        Masked(shorten(&Masked::json_text(text), most))
    }

    /// All of `text`, and without every word that could be a part of a secret in some form: for a
    /// text that is known to contain one.
    pub fn runs(text: &str) -> Masked {
        let mut out = String::new();
        let is_run = |c: char| c.is_ascii_alphanumeric() || "+/_=%\\-".contains(c);
        for piece in masked(text).split_inclusive(|c: char| !is_run(c)) {
            let run = piece.trim_end_matches(|c: char| !is_run(c));
            let letters = run.bytes().filter(u8::is_ascii_alphanumeric).count();
            let digit = run.bytes().any(|b| b.is_ascii_digit());
            if letters >= MIN_RUN && digit && run != MASK.trim_matches(['[', ']']) {
                out.push_str(MASK);
                out.push_str(piece.get(run.len()..).unwrap_or_default());
            } else {
                out.push_str(piece);
            }
        }
        Masked(out)
    }

    /// The same for a value that is written as JSON. The result is JSON.
    pub fn json_runs(text: &str) -> Masked {
        let mut value = match Json::read(text.as_bytes(), MAX_DEPTH, LoneSurrogates::Replace) {
            Ok(value) => value_of(value),
            Err(_) => text.into(),
        };
        let mut open = vec![&mut value];
        while let Some(json) = open.pop() {
            match json {
                Json::String(text) => *text = Masked::runs(text).into_string().into(),
                Json::Array(items) => open.extend(items),
                Json::Object(members) => open.extend(members.iter_mut().map(|(_, value)| value)),
                Json::Null | Json::Bool(_) | Json::Number(_) => {}
            }
        }
        Masked(value.text())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The text.
    pub fn into_string(self) -> String {
        self.0
    }
}

impl From<&str> for Masked {
    fn from(text: &str) -> Masked {
        Masked::of(text)
    }
}

impl Deref for Masked {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Masked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether there is anything to mask in `text`.
pub(crate) fn has_secret(text: &str) -> bool {
    masked(text) != text
}

/// The secrets in `text` that are known by what comes before them.
pub(crate) fn in_context(text: &str) -> Vec<Found<'_>> {
    FINDER
        .as_ref()
        .map_or_else(|_| Vec::new(), |finder| finder.in_context(text))
}

/// Builds the expressions now that every text needs, so that the first one need not wait for it.
pub fn prepare() {
    LazyLock::force(&FINDER);
}

/// The same, also for those that few texts need.
pub fn prepare_all() {
    if let Ok(finder) = &*FINDER {
        finder.prepare();
    }
}

static FINDER: LazyLock<Result<Finder, regex::Error>> = LazyLock::new(Finder::new);

fn masked(text: &str) -> Cow<'_, str> {
    match &*FINDER {
        Ok(finder) => finder.masked(text),
        // A test builds them all. If one is invalid nevertheless, nothing is shown.
        Err(_) => Cow::Owned(MASK.to_owned()),
    }
}

fn value_of(value: Json<'_>) -> Json<'_> {
    match value {
        Json::String(text) => Json::String(string(text)),
        Json::Array(items) => array(items),
        Json::Object(members) => object(members),
        Json::Null | Json::Bool(_) | Json::Number(_) => value,
    }
}

fn string(text: Cow<'_, str>) -> Cow<'_, str> {
    let changed = match masked(&text) {
        Cow::Owned(changed) => changed,
        Cow::Borrowed(_) => return text,
    };
    Cow::Owned(changed)
}

/// The words of a command: `--password` says what the next one is.
fn array(items: Vec<Json<'_>>) -> Json<'_> {
    let mut flag: Option<String> = None;
    let mut masked = Vec::with_capacity(items.len());
    for item in items {
        let text = item.as_str().unwrap_or_default();
        let is_flag = text.starts_with('-') && !text.contains(['=', ' ']);
        let name = is_flag.then(|| text.trim_start_matches('-').to_owned());
        masked.push(match std::mem::replace(&mut flag, name) {
            Some(before) if !is_flag => member(&before, item),
            Some(_) | None => value_of(item),
        });
    }
    Json::Array(masked)
}

fn object<'a>(members: Vec<(Cow<'a, str>, Json<'a>)>) -> Json<'a> {
    // `{"name": "DB_PASSWORD", "value": "…"}`
    let said = members.iter().find_map(|(key, value)| {
        let is_name = matches!(key.as_ref(), "name" | "key" | "variable" | "header");
        value.as_str().filter(|_| is_name).map(str::to_owned)
    });
    let mut masked: Vec<(Cow<'_, str>, Json<'_>)> = Vec::with_capacity(members.len());
    for (key, value) in members {
        let value = match (&said, key.as_ref()) {
            (Some(name), "value") => member(name, value),
            (_, key) => member(key, value),
        };
        let key = string(key);
        // Duplicate keys are renamed: such an object could not be read again.
        let key = if key.contains(MASK) && masked.iter().any(|(k, _)| *k == key) {
            Cow::Owned(format!("{key} {}", masked.len()))
        } else {
            key
        };
        masked.push((key, value));
    }
    Json::Object(masked)
}

/// A value whose key says what it is.
fn member<'a>(name: &str, value: Json<'a>) -> Json<'a> {
    let shown = match &value {
        Json::String(text) => text.as_ref(),
        Json::Number(text) if strength(name) == Some(Strength::Strong) => text,
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::Array(_) | Json::Object(_) => {
            return value_of(value);
        }
    };
    match names::masked_member(name, shown) {
        Some(masked) => masked.into(),
        None => value_of(value),
    }
}
