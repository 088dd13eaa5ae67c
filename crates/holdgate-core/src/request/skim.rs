//! Finds the parts of a request's body without reading them.
//!
//! A conversation is sent as a whole with each turn, and most of it has been read before. Here only
//! the structure is examined: strings are skipped and brackets counted. Every part is read strictly
//! before it is used, so text that only looks like JSON does no harm.

use holdgate_effects::json::{Json, JsonError, LoneSurrogates};
use std::collections::HashSet;
use std::ops::Range;

/// Members of the body, at the most.
const MAX_MEMBERS: usize = 1_000;
/// Messages of one request, as many as the API takes.
const MAX_MESSAGES: usize = 100_000;

/// Where the parts of a body are.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Outline {
    /// The members of the body but its messages: names and places.
    pub(super) members: Vec<(String, Range<usize>)>,
    /// The places of the messages.
    pub(super) messages: Vec<Range<usize>>,
}

/// The outline of a body, which must be an object nested at most `depth` deep. `messages` is the
/// member that holds its messages.
pub(super) fn outline(body: &[u8], messages: &str, depth: usize) -> Result<Outline, JsonError> {
    let mut skimmer = Skimmer { body, at: 0, depth };
    let mut outline = Outline::default();
    let mut names = HashSet::new();
    skimmer.skip_space();
    if !skimmer.take(b'{') {
        return Err(skimmer.error("not a JSON object"));
    }
    skimmer.items(b'}', 1, |skimmer| {
        let name = skimmer.name()?;
        if name == "__proto__" {
            return Err(skimmer.error("the key `__proto__`"));
        }
        if !names.insert(name.clone()) {
            // One reader would take the first, another the last.
            return Err(skimmer.error("a duplicate key"));
        }
        if names.len() > MAX_MEMBERS {
            return Err(skimmer.error("too many members"));
        }
        let start = skimmer.at;
        if name == messages && skimmer.take(b'[') {
            skimmer.items(b']', 2, |skimmer| {
                let start = skimmer.at;
                skimmer.value(2)?;
                outline.messages.push(start..skimmer.at);
                if outline.messages.len() > MAX_MESSAGES {
                    return Err(skimmer.error("too many messages"));
                }
                Ok(())
            })
        } else {
            let is_one = matches!(skimmer.peek(), Some(b'"' | b'{'));
            skimmer.value(1)?;
            if name == messages && is_one {
                // The whole conversation is one text, or one message.
                outline.messages.push(start..skimmer.at);
            }
            outline.members.push((name, start..skimmer.at));
            Ok(())
        }
    })?;
    skimmer.skip_space();
    if skimmer.at < body.len() {
        return Err(skimmer.error("text after the end of the value"));
    }
    Ok(outline)
}

/// The beginning of a message's text, which is in the member `content`: at most `most` bytes as
/// they are written. Unreadable parts are left out; reading the whole message will report them.
pub(super) fn beginning(message: &[u8], content: &str, most: usize) -> String {
    let mut skimmer = Skimmer {
        body: message,
        at: 0,
        depth: super::MAX_DEPTH,
    };
    let mut text = Beginning {
        text: String::new(),
        left: most,
    };
    // An error only ends the search, as does having found enough.
    let _ = skimmer.member(0, content, |skimmer| {
        if skimmer.take(b'[') {
            skimmer.items(b']', 2, |skimmer| {
                skimmer.member(2, "text", |skimmer| text.add(skimmer))
            })
        } else {
            text.add(skimmer)
        }
    });
    text.text
}

struct Beginning {
    text: String,
    left: usize,
}

impl Beginning {
    /// Adds what is left of the value that is next, if that is a string.
    fn add(&mut self, skimmer: &mut Skimmer<'_>) -> Result<(), JsonError> {
        if skimmer.peek() != Some(b'"') {
            return skimmer.value(2);
        }
        let rest = skimmer.body.get(skimmer.at + 1..).unwrap_or_default();
        let length = whole_characters(rest, self.left);
        let written = rest.get(..length).unwrap_or_default();
        let quoted = [b"\"", written, b"\""].concat();
        if let Some(text) = Json::read(&quoted, 1, LoneSurrogates::Replace)?.as_str() {
            if !self.text.is_empty() {
                self.text.push('\n');
            }
            self.text.push_str(text);
        }
        self.left -= length;
        skimmer.at += 1 + length;
        if skimmer.take(b'"') {
            Ok(())
        } else {
            Err(skimmer.error("enough"))
        }
    }
}

/// How much of a string comes before its closing quote and before `most`, cutting no escape and no
/// character.
fn whole_characters(text: &[u8], most: usize) -> usize {
    let window = text.get(..most).unwrap_or(text);
    let mut at = 0;
    while let Some(next) = special(window.get(at..).unwrap_or_default()) {
        let place = at + next;
        let length = match (window.get(place), text.get(place + 1)) {
            (Some(b'"'), _) => return place,
            (_, Some(b'u')) => 6,
            (_, _) => 2,
        };
        if place + length > window.len() {
            return place;
        }
        at = place + length;
    }
    let inside = |at: &usize| text.get(*at).is_some_and(|b| b & 0xC0 == 0x80);
    let mut places = (at..=window.len()).rev().skip_while(inside);
    places.next().unwrap_or(at)
}

/// The next quote or backslash. Escapes are often close together; there a look at eight bytes at a time
/// is faster than a call of `memchr` for each.
pub(super) fn special(text: &[u8]) -> Option<usize> {
    const NEAR: usize = 6;
    let (eights, _) = text.as_chunks::<8>();
    for (number, eight) in eights.iter().take(NEAR).enumerate() {
        let found = specials(u64::from_le_bytes(*eight));
        if found != 0 {
            return Some(number * 8 + found.trailing_zeros() as usize / 8);
        }
    }
    let looked_at = 8 * eights.len().min(NEAR);
    let far = text.get(looked_at..)?;
    memchr::memchr2(b'"', b'\\', far).map(|at| looked_at + at)
}

/// The highest bit of each byte that is a quote or a backslash.
#[inline]
fn specials(eight: u64) -> u64 {
    const EACH: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = EACH * 0x80;
    let low = eight & !HIGH;
    let other_than = |byte: u8| (low ^ (EACH * u64::from(byte))) + EACH * 0x7f;
    !(other_than(b'"') & other_than(b'\\')) & !eight & HIGH
}

struct Skimmer<'a> {
    body: &'a [u8],
    at: usize,
    /// How deep values may nest.
    depth: usize,
}

impl Skimmer<'_> {
    /// Calls `item` for each item up to `end`; the opening bracket has been consumed.
    fn items(
        &mut self,
        end: u8,
        depth: usize,
        mut item: impl FnMut(&mut Self) -> Result<(), JsonError>,
    ) -> Result<(), JsonError> {
        if depth > self.depth {
            return Err(self.error("nested too deeply"));
        }
        self.skip_space();
        if self.take(end) {
            return Ok(());
        }
        loop {
            self.skip_space();
            item(self)?;
            self.skip_space();
            if self.take(end) {
                return Ok(());
            }
            if !self.take(b',') {
                return Err(self.error("expected `,` or the end of the list"));
            }
        }
    }

    /// Calls `found` at the member `wanted` of an object at depth `outer`, and skips all others;
    /// skips a value that is not an object.
    fn member(
        &mut self,
        outer: usize,
        wanted: &str,
        mut found: impl FnMut(&mut Self) -> Result<(), JsonError>,
    ) -> Result<(), JsonError> {
        if !self.take(b'{') {
            return self.value(outer);
        }
        self.items(b'}', outer + 1, |skimmer| {
            if skimmer.name()? == wanted {
                found(skimmer)
            } else {
                skimmer.value(outer + 1)
            }
        })
    }

    /// A member's name and the colon behind it.
    fn name(&mut self) -> Result<String, JsonError> {
        if self.peek() != Some(b'"') {
            return Err(self.error("expected a key in quotes"));
        }
        let start = self.at;
        self.string()?;
        let text = self.body.get(start..self.at).unwrap_or_default();
        let name = Json::read(text, 1, LoneSurrogates::Refuse)?;
        self.skip_space();
        if !self.take(b':') {
            return Err(self.error("expected `:`"));
        }
        self.skip_space();
        Ok(name.as_str().unwrap_or_default().to_owned())
    }

    /// Skips one value at depth `outer`.
    fn value(&mut self, outer: usize) -> Result<(), JsonError> {
        match self.peek() {
            Some(b'"') => self.string(),
            Some(b'{' | b'[') => self.brackets(outer),
            Some(_) => self.word(),
            None => Err(self.error("the text ends unexpectedly")),
        }
    }

    /// Skips a number or a word.
    fn word(&mut self) -> Result<(), JsonError> {
        let start = self.at;
        let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'+' | b'.');
        while self.peek().is_some_and(plain) {
            self.at += 1;
        }
        if self.at == start {
            return Err(self.error("not a JSON value"));
        }
        Ok(())
    }

    /// Skips an object or an array with all that is in it.
    fn brackets(&mut self, outer: usize) -> Result<(), JsonError> {
        let mut closers = Vec::with_capacity(16);
        loop {
            let Some(byte) = self.peek() else {
                return Err(self.error("the text ends unexpectedly"));
            };
            match byte {
                b'"' => {
                    self.string()?;
                    continue;
                }
                b'{' | b'[' => {
                    closers.push(if byte == b'{' { b'}' } else { b']' });
                    if outer + closers.len() > self.depth {
                        return Err(self.error("nested too deeply"));
                    }
                }
                b'}' | b']' => {
                    if closers.pop() != Some(byte) {
                        return Err(self.error("a closing bracket without an opening one"));
                    }
                    if closers.is_empty() {
                        self.at += 1;
                        return Ok(());
                    }
                }
                _ => {}
            }
            self.at += 1;
        }
    }

    /// Skips a string; its opening quote is next.
    fn string(&mut self) -> Result<(), JsonError> {
        self.at += 1;
        loop {
            let rest = self.body.get(self.at..).unwrap_or_default();
            let Some(next) = special(rest) else {
                self.at = self.body.len();
                return Err(self.error("the string is not closed"));
            };
            self.at += next + 1;
            if rest.get(next) == Some(&b'"') {
                return Ok(());
            }
            // An escaped character does not end the string.
            self.at += 1;
        }
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.body.get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn error(&self, what: &'static str) -> JsonError {
        JsonError {
            what: what.into(),
            at: self.at.min(self.body.len()),
        }
    }
}

#[cfg(test)]
mod tests;
