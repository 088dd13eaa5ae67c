//! Text to values.

use super::{Json, JsonError, LoneSurrogates, first_escaped, shorten};
use std::borrow::Cow;
use std::collections::HashSet;

/// Values in one text, at the most: a short text of many tiny values would fill the memory.
const MAX_VALUES: usize = 1 << 18;

pub(super) fn read(
    text: &[u8],
    depth: usize,
    surrogates: LoneSurrogates,
) -> Result<Json<'_>, JsonError> {
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
            None => Err(self.error("the text ends unexpectedly")),
        }
    }

    fn descend(&self, depth: usize) -> Result<usize, JsonError> {
        depth
            .checked_sub(1)
            .ok_or_else(|| self.error("nested too deeply"))
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
                what: format!("the object has the key `{}` twice", shorten(key, 40)).into(),
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
        // Escapes are mostly of one letter: as long as its start and some more.
        let mut text = String::with_capacity(2 * first.len() + 64);
        text.push_str(first);
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
        let end = first_escaped(rest.as_bytes());
        let special = |at: usize| rest.as_bytes().get(at).copied();
        let len = match end.and_then(special) {
            Some(b'"' | b'\\') => end.unwrap_or_default(),
            Some(_) if memchr::memchr2(b'"', b'\\', rest.as_bytes()).is_some() => {
                self.at += end.unwrap_or_default();
                return Err(self.error("a control character inside a string"));
            }
            Some(_) | None => {
                self.at = self.text.len();
                return Err(self.error("the string is not closed"));
            }
        };
        let plain = rest.get(..len).unwrap_or_default();
        self.at += len;
        Ok(plain)
    }

    fn escape(&mut self) -> Result<char, JsonError> {
        let Some(letter) = self.peek() else {
            return Err(self.error("the string is not closed"));
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
            LoneSurrogates::Refuse => Err(self.error("an unpaired surrogate")),
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
