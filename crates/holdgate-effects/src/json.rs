//! Strict JSON: what is read here can mean only one thing to whoever reads it next.
//!
//! Clients disagree about duplicate keys, lone surrogates and trailing text, so a judge that is as
//! lenient as a client may judge something else than the client runs. The reader refuses all of
//! these (and the key `__proto__`, which is none when JavaScript copies it), keeps key order and the exact text of numbers, borrows where it can, and is linear in
//! its input. (`serde_json` keeps the last of two equal keys and rounds numbers.)

mod read;

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::{self, Write as _};

/// A JSON value. Objects keep their order and have no key twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Json<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, as it was written.
    Number(Cow<'a, str>),
    /// A string, unescaped.
    String(Cow<'a, str>),
    /// An array.
    Array(Vec<Json<'a>>),
    /// An object.
    Object(Vec<(Cow<'a, str>, Json<'a>)>),
}

/// What a lone half of a surrogate pair (`\ud800`) does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoneSurrogates {
    /// It is an error. For everything that may act.
    Refuse,
    /// It becomes U+FFFD in the value that is read. For text that only passes by, and whose bytes
    /// are forwarded as they came: servers in JavaScript cut strings between the halves.
    Replace,
}

/// Why a text is not acceptable JSON.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} at byte {at}")]
pub struct JsonError {
    /// What is wrong, as a phrase.
    pub what: Cow<'static, str>,
    /// Offset in bytes.
    pub at: usize,
}

impl<'a> Json<'a> {
    /// Reads one value that fills the whole of `text`, nested at most `depth` deep.
    pub fn read(
        text: &'a [u8],
        depth: usize,
        surrogates: LoneSurrogates,
    ) -> Result<Json<'a>, JsonError> {
        read::read(text, depth, surrogates)
    }

    /// The value of `key`, if this is an object that has it.
    pub fn get(&self, key: &str) -> Option<&Json<'a>> {
        self.as_object()?
            .iter()
            .find(|(k, _)| k == key)
            .map(|(_, v)| v)
    }

    /// The text of the member `key`, if it is a string.
    pub fn get_str(&self, key: &str) -> Option<&str> {
        self.get(key)?.as_str()
    }

    /// Sets `key`, in its place if it exists and else at the end. Does nothing to a non-object.
    pub fn set(&mut self, key: &str, value: Json<'a>) {
        if let Json::Object(members) = self {
            match members.iter_mut().find(|(k, _)| k == key) {
                Some((_, old)) => *old = value,
                None => members.push((Cow::Owned(key.to_owned()), value)),
            }
        }
    }

    /// The members, if this is an object.
    pub fn as_object(&self) -> Option<&[(Cow<'a, str>, Json<'a>)]> {
        if let Json::Object(members) = self {
            Some(members)
        } else {
            None
        }
    }

    /// The items, if this is an array.
    pub fn as_array(&self) -> Option<&[Json<'a>]> {
        if let Json::Array(items) = self {
            Some(items)
        } else {
            None
        }
    }

    /// The text, if this is a string.
    pub fn as_str(&self) -> Option<&str> {
        if let Json::String(text) = self {
            Some(text)
        } else {
            None
        }
    }

    /// The number, if this is a whole one that fits.
    pub fn as_u64(&self) -> Option<u64> {
        if let Json::Number(text) = self {
            text.parse().ok()
        } else {
            None
        }
    }

    /// A key that stands beside another one from which it differs in case only, at any level. Some
    /// readers take the two for the same (Go's `encoding/json` does), and believe the last one.
    pub fn ambiguous_key(&self) -> Option<&str> {
        match self {
            Json::Array(items) => items.iter().find_map(Json::ambiguous_key),
            Json::Object(members) => {
                let plain = |(key, _): &(Cow<'_, str>, _)| {
                    key.bytes().all(|b| b.is_ascii() && !b.is_ascii_uppercase())
                };
                // Equal keys were refused when the object was read.
                let all_plain = members.iter().all(plain);
                let mut seen = HashSet::new();
                let twice = members
                    .iter()
                    .filter(|_| !all_plain)
                    .find(|(key, _)| !seen.insert(fold(key)));
                let twice = twice.map(|(key, _)| &**key);
                twice.or_else(|| members.iter().find_map(|(_, value)| value.ambiguous_key()))
            }
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => None,
        }
    }

    /// An object with these members. The caller sees to it that no key comes twice.
    pub fn object<const N: usize>(members: [(&'static str, Json<'a>); N]) -> Json<'a> {
        Json::Object(
            members
                .into_iter()
                .map(|(k, v)| (Cow::Borrowed(k), v))
                .collect(),
        )
    }

    /// The same value, borrowing nothing.
    pub fn into_owned(self) -> Json<'static> {
        match self {
            Json::Null => Json::Null,
            Json::Bool(b) => Json::Bool(b),
            Json::Number(n) => Json::Number(Cow::Owned(n.into_owned())),
            Json::String(s) => Json::String(Cow::Owned(s.into_owned())),
            Json::Array(items) => Json::Array(items.into_iter().map(Json::into_owned).collect()),
            Json::Object(members) => Json::Object(
                members
                    .into_iter()
                    .map(|(k, v)| (Cow::Owned(k.into_owned()), v.into_owned()))
                    .collect(),
            ),
        }
    }

    /// The value in its one compact form.
    pub fn text(&self) -> String {
        self.text_of_about(0)
    }

    /// The same, with room for so many bytes from the start.
    pub fn text_of_about(&self, bytes: usize) -> String {
        let mut out = String::with_capacity(bytes);
        self.write(&mut out);
        out
    }

    fn write(&self, out: &mut String) {
        match self {
            Json::Null => out.push_str("null"),
            Json::Bool(true) => out.push_str("true"),
            Json::Bool(false) => out.push_str("false"),
            Json::Number(text) => out.push_str(text),
            Json::String(text) => write_string(text, out),
            Json::Array(items) => {
                out.push('[');
                for (i, item) in items.iter().enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    item.write(out);
                }
                out.push(']');
            }
            Json::Object(members) => {
                out.push('{');
                for (i, (key, value)) in members.iter().enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    write_string(key, out);
                    out.push(':');
                    value.write(out);
                }
                out.push('}');
            }
        }
    }
}

impl fmt::Display for Json<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}

impl<'a> From<&'a str> for Json<'a> {
    fn from(text: &'a str) -> Self {
        Json::String(Cow::Borrowed(text))
    }
}

impl From<String> for Json<'_> {
    fn from(text: String) -> Self {
        Json::String(Cow::Owned(text))
    }
}

impl From<u64> for Json<'_> {
    fn from(number: u64) -> Self {
        Json::Number(Cow::Owned(number.to_string()))
    }
}

/// A key as readers see it that do not tell capital letters from small ones.
pub fn fold(key: &str) -> String {
    let fold = |c: char| match c {
        '\u{17f}' => 's',
        '\u{212a}' => 'k',
        c => c,
    };
    key.chars().map(fold).flat_map(char::to_lowercase).collect()
}

/// Appends `text` as a JSON string with its quotes.
pub fn write_string(text: &str, out: &mut String) {
    out.reserve(text.len() + 2);
    out.push('"');
    let mut rest = text;
    while let Some(at) = first_escaped(rest.as_bytes()) {
        let (plain, special) = rest.split_at(at);
        out.push_str(plain);
        let mut chars = special.chars();
        match chars.next() {
            Some('"') => out.push_str("\\\""),
            Some('\\') => out.push_str("\\\\"),
            Some('\n') => out.push_str("\\n"),
            Some('\r') => out.push_str("\\r"),
            Some('\t') => out.push_str("\\t"),
            Some(control) => {
                // Writing to a String cannot fail.
                let _ = write!(out, "\\u{:04x}", u32::from(control));
            }
            None => {}
        }
        rest = chars.as_str();
    }
    out.push_str(rest);
    out.push('"');
}

fn must_escape(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

/// The first byte that must be escaped in a string: a quote, a backslash or a control character.
/// Eight bytes are looked at together.
fn first_escaped(bytes: &[u8]) -> Option<usize> {
    let (eights, rest) = bytes.as_chunks::<8>();
    for (number, eight) in eights.iter().enumerate() {
        let found = escaped(u64::from_le_bytes(*eight));
        if found != 0 {
            return Some(number * 8 + found.trailing_zeros() as usize / 8);
        }
    }
    let at = rest.iter().position(|&b| must_escape(b))?;
    Some(eights.len() * 8 + at)
}

/// The highest bit of each byte that must be escaped.
#[inline]
fn escaped(eight: u64) -> u64 {
    const EACH: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = EACH * 0x80;
    let low = eight & !HIGH;
    let other_than = |byte: u8| (low ^ (EACH * u64::from(byte))) + EACH * 0x7f;
    let printable = low + EACH * (0x80 - 0x20);
    !(printable & other_than(b'"') & other_than(b'\\')) & !eight & HIGH
}

/// At most `most` characters of `text`, control characters made visible, for messages.
pub fn shorten(text: &str, most: usize) -> String {
    // Nearly all texts begin like this.
    let start = text.get(..most.min(text.len())).unwrap_or_default();
    if !start.is_empty() && start.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        let more = if start.len() < text.len() { "…" } else { "" };
        return [start, more].concat();
    }
    let mut chars = text.chars();
    let mut short: String = chars
        .by_ref()
        .take(most)
        .map(|c| if c.is_control() { '\u{fffd}' } else { c })
        .collect();
    if chars.next().is_some() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests;
