//! Finds the parts of a request's body without reading them.
//!
//! A conversation is sent whole with each turn, and most of it has been read before. Only the
//! shape is looked at here: strings are skipped, brackets counted. Whatever is used of a part is
//! read strictly before, so a text that only looks like JSON misleads nobody.

use crate::json::{Json, JsonError, LoneSurrogates};
use std::collections::HashSet;
use std::ops::Range;

/// Members of the body, at the most.
const MAX_MEMBERS: usize = 1_000;
/// Messages of one request, as many as the API takes.
const MAX_MESSAGES: usize = 100_000;

/// Where the parts of a body stand.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Outline {
    /// The members of the body but its messages: names and places.
    pub(super) members: Vec<(String, Range<usize>)>,
    /// The places of the messages.
    pub(super) messages: Vec<Range<usize>>,
}

/// The outline of a body, which must be an object nested at most `depth` deep.
pub(super) fn outline(body: &[u8], depth: usize) -> Result<Outline, JsonError> {
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
            return Err(skimmer.error("a member that stands twice"));
        }
        if names.len() > MAX_MEMBERS {
            return Err(skimmer.error("too many members"));
        }
        let start = skimmer.at;
        if name == "messages" && skimmer.take(b'[') {
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
            skimmer.value(1)?;
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

struct Skimmer<'a> {
    body: &'a [u8],
    at: usize,
    /// How deep values may nest.
    depth: usize,
}

impl Skimmer<'_> {
    /// What stands between commas, up to `end`; the opening bracket has been taken.
    fn items(
        &mut self,
        end: u8,
        depth: usize,
        mut item: impl FnMut(&mut Self) -> Result<(), JsonError>,
    ) -> Result<(), JsonError> {
        if depth > self.depth {
            return Err(self.error("nested too deep"));
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

    /// Skips one value that stands `outer` deep.
    fn value(&mut self, outer: usize) -> Result<(), JsonError> {
        match self.peek() {
            Some(b'"') => self.string(),
            Some(b'{' | b'[') => self.brackets(outer),
            Some(_) => self.word(),
            None => Err(self.error("the text ends too early")),
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
                return Err(self.error("the text ends too early"));
            };
            match byte {
                b'"' => {
                    self.string()?;
                    continue;
                }
                b'{' | b'[' => {
                    closers.push(if byte == b'{' { b'}' } else { b']' });
                    if outer + closers.len() > self.depth {
                        return Err(self.error("nested too deep"));
                    }
                }
                b'}' | b']' => {
                    if closers.pop() != Some(byte) {
                        return Err(self.error("a bracket that closes none"));
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
            let Some(next) = memchr::memchr2(b'"', b'\\', rest) else {
                self.at = self.body.len();
                return Err(self.error("the string has no end"));
            };
            self.at += next + 1;
            if rest.get(next) == Some(&b'"') {
                return Ok(());
            }
            // Whatever is escaped, a quote or a backslash too, ends nothing.
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
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn json() -> impl Strategy<Value = String> {
        let text = prop_oneof![
            Just(r#""""#.to_owned()),
            r#""([a-z \[\]{},:é]|\\"|\\\\|\\n|\\ud800){0,12}""#,
        ];
        let leaf = prop_oneof![
            text.clone(),
            Just("null".to_owned()),
            "-?[1-9][0-9]{0,3}(\\.5)?(e[+-]1)?",
            Just("true".to_owned()),
        ];
        let space = prop_oneof![3 => Just(""), 1 => Just(" "), 1 => Just("\n\t")];
        leaf.prop_recursive(4, 40, 5, move |inner| {
            let list = prop::collection::vec((space.clone(), inner.clone(), space.clone()), 0..5);
            let members = prop::collection::vec(inner, 0..5);
            prop_oneof![
                list.prop_map(|items| {
                    let items: Vec<_> =
                        items.iter().map(|(a, v, b)| format!("{a}{v}{b}")).collect();
                    format!("[{}]", items.join(","))
                }),
                members.prop_map(|values| {
                    let member = |(i, v)| format!(r#" "k\"{i}" : {v}"#);
                    let members: Vec<_> = values.iter().enumerate().map(member).collect();
                    format!("{{{}}}", members.join(","))
                }),
            ]
        })
    }

    proptest! {
        /// On what the strict reader takes, both see the same parts.
        #[test]
        fn finds_the_parts_that_the_reader_reads(
            values in prop::collection::vec(json(), 0..6),
            messages in prop::collection::vec(json(), 0..6),
        ) {
            let mut members: Vec<String> =
                values.iter().enumerate().map(|(i, v)| format!("\"m{i}\" :\n{v}")).collect();
            let at = members.len() / 2;
            members.insert(at, format!(r#""mess\u0061ges":[ {} ]"#, messages.join(" , ")));
            let body = format!(" {{{}}} ", members.join(", "));
            let read = Json::read(body.as_bytes(), 50, LoneSurrogates::Replace).unwrap();
            let outline = outline(body.as_bytes(), 50).unwrap();
            let part = |place: &Range<usize>| {
                let part = body.as_bytes().get(place.clone()).unwrap();
                Json::read(part, 50, LoneSurrogates::Replace).unwrap().text()
            };
            let found: Vec<_> = outline.messages.iter().map(part).collect();
            let expected = read.get("messages").and_then(Json::as_array).unwrap();
            prop_assert_eq!(found, expected.iter().map(Json::text).collect::<Vec<_>>());
            prop_assert_eq!(outline.members.len(), values.len());
            for (name, place) in &outline.members {
                prop_assert_eq!(part(place), read.get(name).unwrap().text());
            }
        }

        /// Any bytes end in an outline or an error; what the reader takes is never an error.
        #[test]
        fn takes_any_bytes(body in r#"\{("messages"|"a"|:|,|\[|\]|\{|\}|\\|"|1|tru|é| ){0,30}"#) {
            let skimmed = outline(body.as_bytes(), 50);
            let read = Json::read(body.as_bytes(), 50, LoneSurrogates::Replace);
            prop_assert!(skimmed.is_ok() || read.is_err(), "{body}");
        }
    }

    #[test]
    fn what_readers_would_disagree_about_is_an_error() {
        for body in [
            "",
            "[]",
            "\"text\"",
            "model=claude",
            r#"{"messages":[],"messages":[]}"#,
            r#"{"messages":[],"mess\u0061ges":[]}"#,
            r#"{"__proto__":{"messages":[]}}"#,
            r#"{"a":1} {"b":2}"#,
            r#"{"a":[}]}"#,
            r#"{"a":[1}"#,
            r#"{"a":"x}"#,
            r#"{"a":"x\"#,
            r#"{"messages":[1,]}"#,
            r#"{"messages":[,]}"#,
            r#"{"messages":[1 2]}"#,
            r#"{"a"}"#,
            "\u{feff}{}",
        ] {
            assert!(outline(body.as_bytes(), 50).is_err(), "{body}");
        }
    }

    #[test]
    fn depth_is_bounded() {
        let nested = |n| format!(r#"{{"a":{}{}}}"#, "[".repeat(n), "]".repeat(n));
        assert!(outline(nested(49).as_bytes(), 50).is_ok());
        assert!(outline(nested(50).as_bytes(), 50).is_err());
        let far = "[".repeat(1 << 20);
        assert!(outline(format!(r#"{{"messages":{far}"#).as_bytes(), 50).is_err());
    }
}
