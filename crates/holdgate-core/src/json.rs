//! Strict JSON: what is read here can mean only one thing to whoever reads it next.
//!
//! Clients disagree about duplicate keys, lone surrogates and trailing text, so a judge that is as
//! lenient as a client may judge something else than the client runs. The reader refuses all of
//! these (and the key `__proto__`, which is none when JavaScript copies it), keeps key order and the exact text of numbers, borrows where it can, and is linear in
//! its input. (`serde_json` keeps the last of two equal keys and rounds numbers.)

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
        let text = std::str::from_utf8(text).map_err(|e| JsonError {
            what: "invalid UTF-8".into(),
            at: e.valid_up_to(),
        })?;
        let mut reader = Reader {
            text,
            at: 0,
            surrogates,
            values: 0,
        };
        reader.skip_space();
        let value = reader.value(depth)?;
        reader.skip_space();
        if reader.at < text.len() {
            return Err(reader.error("text after the end of the value"));
        }
        Ok(value)
    }

    /// The value of `key`, if this is an object that has it.
    pub fn get(&self, key: &str) -> Option<&Json<'a>> {
        self.as_object()?
            .iter()
            .find(|(k, _)| k == key)
            .map(|(_, v)| v)
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
        let mut out = String::new();
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

/// Appends `text` as a JSON string with its quotes.
pub fn write_string(text: &str, out: &mut String) {
    out.reserve(text.len() + 2);
    out.push('"');
    let mut rest = text;
    while let Some(at) = position(rest.as_bytes(), must_escape) {
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

/// The first byte that is `special`. Looks at whole chunks first, which compiles to vector code:
/// most of a large text needs no escape.
fn position(bytes: &[u8], special: fn(u8) -> bool) -> Option<usize> {
    const CHUNK: usize = 32;
    let mut at = 0;
    for chunk in bytes.chunks(CHUNK) {
        if chunk.iter().fold(false, |found, &b| found | special(b)) {
            return chunk.iter().position(|&b| special(b)).map(|i| at + i);
        }
        at += CHUNK;
    }
    None
}

/// Values in one text, at the most: a short text of many tiny values would fill the memory.
const MAX_VALUES: usize = 1 << 18;

struct Reader<'a> {
    text: &'a str,
    /// `0 <= at <= text.len()`, always on a character boundary between tokens.
    at: usize,
    surrogates: LoneSurrogates,
    values: usize,
}

impl<'a> Reader<'a> {
    fn value(&mut self, depth: usize) -> Result<Json<'a>, JsonError> {
        self.values += 1;
        if self.values > MAX_VALUES {
            return Err(self.error("too many values"));
        }
        match self.peek() {
            Some(b'{') => self.object(self.descend(depth)?),
            Some(b'[') => self.array(self.descend(depth)?),
            Some(b'"') => Ok(Json::String(self.string()?)),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word("true", Json::Bool(true)),
            Some(b'f') => self.word("false", Json::Bool(false)),
            Some(b'n') => self.word("null", Json::Null),
            Some(_) => Err(self.error("not a JSON value")),
            None => Err(self.error("the text ends too early")),
        }
    }

    fn descend(&self, depth: usize) -> Result<usize, JsonError> {
        depth
            .checked_sub(1)
            .ok_or_else(|| self.error("nested too deep"))
    }

    fn object(&mut self, depth: usize) -> Result<Json<'a>, JsonError> {
        let start = self.at;
        self.at += 1;
        let mut members = Vec::new();
        self.skip_space();
        if self.take(b'}') {
            return Ok(Json::Object(members));
        }
        loop {
            self.skip_space();
            if self.peek() != Some(b'"') {
                return Err(self.error("expected a key in quotes"));
            }
            let key = self.string()?;
            if key == "__proto__" {
                // Clients in JavaScript that copy the object find its members where we see none.
                return Err(self.error("the key `__proto__`"));
            }
            self.skip_space();
            if !self.take(b':') {
                return Err(self.error("expected `:`"));
            }
            self.skip_space();
            members.push((key, self.value(depth)?));
            self.skip_space();
            if self.take(b',') {
                continue;
            }
            if self.take(b'}') {
                break;
            }
            return Err(self.error("expected `,` or `}`"));
        }
        if let Some(key) = duplicate(&members) {
            return Err(JsonError {
                what: format!("the key `{}` stands twice in the object", shorten(key, 40)).into(),
                at: start,
            });
        }
        Ok(Json::Object(members))
    }

    fn array(&mut self, depth: usize) -> Result<Json<'a>, JsonError> {
        self.at += 1;
        let mut items = Vec::new();
        self.skip_space();
        if self.take(b']') {
            return Ok(Json::Array(items));
        }
        loop {
            self.skip_space();
            items.push(self.value(depth)?);
            self.skip_space();
            if self.take(b',') {
                continue;
            }
            if self.take(b']') {
                return Ok(Json::Array(items));
            }
            return Err(self.error("expected `,` or `]`"));
        }
    }

    fn word(&mut self, word: &str, value: Json<'a>) -> Result<Json<'a>, JsonError> {
        if self.rest().starts_with(word) {
            self.at += word.len();
            Ok(value)
        } else {
            Err(self.error("not a JSON value"))
        }
    }

    fn number(&mut self) -> Result<Json<'a>, JsonError> {
        let start = self.at;
        self.take(b'-');
        if !self.take(b'0') {
            self.digits()?;
        }
        if self.take(b'.') {
            self.digits()?;
        }
        if self.take(b'e') || self.take(b'E') {
            let _ = self.take(b'+') || self.take(b'-');
            self.digits()?;
        }
        let number = self.text.get(start..self.at).unwrap_or_default();
        Ok(Json::Number(Cow::Borrowed(number)))
    }

    fn digits(&mut self) -> Result<(), JsonError> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at == start {
            return Err(self.error("expected a digit"));
        }
        Ok(())
    }

    fn string(&mut self) -> Result<Cow<'a, str>, JsonError> {
        self.at += 1;
        let first = self.plain()?;
        if self.take(b'"') {
            return Ok(Cow::Borrowed(first));
        }
        let mut text = first.to_owned();
        loop {
            // `plain` stops only before a quote or a backslash.
            if self.take(b'"') {
                return Ok(Cow::Owned(text));
            }
            self.at += 1;
            text.push(self.escape()?);
            text.push_str(self.plain()?);
        }
    }

    /// The characters up to the next quote or backslash.
    fn plain(&mut self) -> Result<&'a str, JsonError> {
        let rest = self.rest();
        let Some(len) = memchr::memchr2(b'"', b'\\', rest.as_bytes()) else {
            self.at = self.text.len();
            return Err(self.error("the string has no end"));
        };
        let plain = rest.get(..len).unwrap_or_default();
        if let Some(control) = position(plain.as_bytes(), |b| b < 0x20) {
            self.at += control;
            return Err(self.error("a control character inside a string"));
        }
        self.at += len;
        Ok(plain)
    }

    fn escape(&mut self) -> Result<char, JsonError> {
        let Some(letter) = self.peek() else {
            return Err(self.error("the string has no end"));
        };
        self.at += 1;
        Ok(match letter {
            b'"' => '"',
            b'\\' => '\\',
            b'/' => '/',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.unicode_escape(),
            _ => {
                self.at -= 1;
                return Err(self.error("unknown escape"));
            }
        })
    }

    fn unicode_escape(&mut self) -> Result<char, JsonError> {
        let unit = self.hex4()?;
        if let Some(c) = char::from_u32(unit) {
            return Ok(c);
        }
        if (0xD800..0xDC00).contains(&unit) && self.rest().starts_with("\\u") {
            let before = self.at;
            self.at += 2;
            let low = self.hex4()?;
            if (0xDC00..0xE000).contains(&low) {
                let code = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
                if let Some(c) = char::from_u32(code) {
                    return Ok(c);
                }
            }
            self.at = before;
        }
        match self.surrogates {
            LoneSurrogates::Replace => Ok(char::REPLACEMENT_CHARACTER),
            LoneSurrogates::Refuse => Err(self.error("half of a surrogate pair")),
        }
    }

    fn hex4(&mut self) -> Result<u32, JsonError> {
        let digits = self.rest().get(..4).unwrap_or_default();
        if digits.len() == 4 && digits.bytes().all(|b| b.is_ascii_hexdigit()) {
            self.at += 4;
            u32::from_str_radix(digits, 16).map_err(|_| self.error("expected four hex digits"))
        } else {
            Err(self.error("expected four hex digits"))
        }
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn error(&self, what: &'static str) -> JsonError {
        JsonError {
            what: what.into(),
            at: self.at,
        }
    }
}

/// A key that comes twice. Pairwise for the usual handful, by hashing beyond: linear.
fn duplicate<'m>(members: &'m [(Cow<'_, str>, Json<'_>)]) -> Option<&'m str> {
    if members.len() <= 8 {
        return members.iter().enumerate().find_map(|(i, (key, _))| {
            let mut earlier = members.iter().take(i);
            earlier.any(|(k, _)| k == key).then_some(&**key)
        });
    }
    let mut seen = HashSet::with_capacity(members.len());
    members
        .iter()
        .find(|(key, _)| !seen.insert(&**key))
        .map(|(key, _)| &**key)
}

/// At most `most` characters of `text`, control characters made visible, for messages.
pub fn shorten(text: &str, most: usize) -> String {
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
