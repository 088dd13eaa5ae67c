//! How clients read a response into JSON values. They differ, and each way here is one that exists:
//! what any of them finds in the bytes, some client may act on.

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::fmt;

/// What one client reads.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// How it reads, for messages.
    pub how: String,
    /// The values, in order.
    pub events: Vec<Value>,
    /// Whether it ignores case in keys: here they are all lower case.
    pub folds_keys: bool,
}

/// Where a line ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lines {
    /// LF, CRLF or CR, as the standard says.
    Standard,
    /// LF only: Go's `bufio.Scanner`, aiohttp, `split("\n")`.
    Lf,
    /// CR only.
    Cr,
    /// All that Unicode counts as a line end: Python's `str.splitlines`, httpx.
    Unicode,
}

/// What of the lines is a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Data {
    /// The `data` lines of a frame, joined.
    Frame,
    /// Each `data` line, or line of JSON, by itself.
    Line,
}

/// Which of two keys counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keys {
    /// The last of two equal ones: JavaScript, Python.
    Last,
    /// The first of two equal ones.
    First,
    /// The last of two that are equal but for their case: Go's `encoding/json`.
    LastOfAnyCase,
}

/// All ways of reading `response` that differ.
pub fn readings(response: &[u8]) -> Vec<Reading> {
    let text = String::from_utf8_lossy(response);
    let mut texts: Vec<(String, Vec<String>)> = vec![("whole".to_owned(), vec![text.to_string()])];
    for lines in [Lines::Standard, Lines::Lf, Lines::Cr, Lines::Unicode] {
        let split = split(&text, lines);
        for data in [Data::Frame, Data::Line] {
            let found = data_of(&split, data);
            if !found.is_empty() && texts.iter().all(|(_, known)| *known != found) {
                texts.push((format!("{lines:?} {data:?}"), found));
            }
        }
    }
    let mut readings: Vec<Reading> = Vec::new();
    for (how, texts) in &texts {
        for keys in [Keys::Last, Keys::First, Keys::LastOfAnyCase] {
            let reading = Reading {
                how: format!("{how} {keys:?}"),
                events: texts.iter().flat_map(|text| values(text, keys)).collect(),
                folds_keys: keys == Keys::LastOfAnyCase,
            };
            if readings.iter().all(|known| known.events != reading.events) {
                readings.push(reading);
            }
        }
    }
    readings
}

/// The reading of the standard, or the one value that fills the whole response.
pub fn events(response: &[u8]) -> Vec<Value> {
    let text = String::from_utf8_lossy(response);
    if let Some(whole) = read(&text) {
        return vec![whole];
    }
    let frames = data_of(&split(&text, Lines::Standard), Data::Frame);
    frames.iter().filter_map(|data| read(data)).collect()
}

/// One JSON text, read as leniently as clients do: the last of two equal keys counts, and half a
/// surrogate pair is some character.
pub(crate) fn read(text: &str) -> Option<Value> {
    let read = |text: &str| serde_json::from_str(text).ok();
    read(text).or_else(|| read(&without_halves(text)))
}

/// The value with small letters in its keys, where the last of two counts.
pub fn fold_keys(value: &Value) -> Value {
    values(&value.to_string(), Keys::LastOfAnyCase)
        .pop()
        .unwrap_or_default()
}

fn split(text: &str, lines: Lines) -> Vec<&str> {
    let ends: &[char] = match lines {
        Lines::Standard => &['\n', '\r'],
        Lines::Lf => &['\n'],
        Lines::Cr => &['\r'],
        Lines::Unicode => &[
            '\n', '\r', '\u{b}', '\u{c}', '\u{1c}', '\u{1d}', '\u{1e}', '\u{85}', '\u{2028}',
            '\u{2029}',
        ],
    };
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(ends) {
        let (line, after) = rest.split_at(at);
        found.push(line);
        let crlf = lines != Lines::Cr && after.starts_with("\r\n");
        let end = after.chars().next().map_or(0, char::len_utf8);
        rest = after.split_at(end + usize::from(crlf)).1;
    }
    found.push(rest);
    found
}

fn data_of(lines: &[&str], data: Data) -> Vec<String> {
    let value = |line: &str| -> Option<String> {
        let line = line.trim_start_matches(['\u{feff}', ' ', '\t']);
        let (name, value) = line.split_once(':')?;
        let is_data = name.trim_end().eq_ignore_ascii_case("data");
        is_data.then(|| value.trim_start().to_owned())
    };
    match data {
        Data::Frame => lines
            .split(|line| line.trim_end_matches('\r').is_empty())
            .filter_map(|frame| {
                let lines: Vec<String> = frame.iter().filter_map(|line| value(line)).collect();
                (!lines.is_empty()).then(|| lines.join("\n"))
            })
            .collect(),
        Data::Line => {
            let json = |line: &str| line.trim_start().starts_with('{').then(|| line.to_owned());
            lines
                .iter()
                .filter_map(|line| value(line).or_else(|| json(line)))
                .collect()
        }
    }
}

/// The values at the start of `text`, as far as they can be read: some readers ask for no more.
fn values(text: &str, keys: Keys) -> Vec<Value> {
    let read = |text: &str| {
        let mut reader = serde_json::Deserializer::from_str(text);
        std::iter::from_fn(|| keys.deserialize(&mut reader).ok()).collect::<Vec<Value>>()
    };
    let found = read(text);
    if found.is_empty() && !text.trim().is_empty() {
        return read(&without_halves(text));
    }
    found
}

/// The text with every escape of half a surrogate pair replaced.
fn without_halves(text: &str) -> String {
    let mut repaired = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\\u") {
        repaired.push_str(before);
        let half = after.as_bytes().first_chunk().is_some_and(|[d, second]| {
            d.eq_ignore_ascii_case(&b'd')
                && matches!(second, b'8'..=b'9' | b'a'..=b'f' | b'A'..=b'F')
        });
        match after.split_at_checked(4) {
            Some((_, after)) if half => {
                repaired.push('\u{fffd}');
                rest = after;
            }
            _ => {
                repaired.push_str("\\u");
                rest = after;
            }
        }
    }
    repaired + rest
}

impl<'de> DeserializeSeed<'de> for Keys {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Keys {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        while let Some(item) = items.next_element_seed(self)? {
            array.push(item);
        }
        Ok(array.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = members.next_key::<String>()? {
            let value = members.next_value_seed(self)?;
            match self {
                Keys::Last => {
                    object.insert(key, value);
                }
                Keys::First => {
                    object.entry(key).or_insert(value);
                }
                Keys::LastOfAnyCase => {
                    let key = key.replace('\u{17f}', "s").replace('\u{212a}', "k");
                    object.insert(key.to_lowercase(), value);
                }
            }
        }
        Ok(object.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What each way of reading finds.
    fn found(response: &str) -> Vec<(String, String)> {
        let readings = readings(response.as_bytes()).into_iter();
        let text = |events: Vec<Value>| serde_json::to_string(&events).unwrap();
        readings.map(|r| (r.how, text(r.events))).collect()
    }

    #[track_caller]
    fn check(response: &str, how: &str, expected: &str) {
        let found = found(response);
        let reading = found.iter().find(|(name, _)| name.starts_with(how));
        let reading = reading.unwrap_or_else(|| panic!("nobody reads {how}: {found:?}"));
        assert_eq!(reading.1, expected, "{found:?}");
    }

    #[test]
    fn a_canonical_frame_is_read_alike_by_all() {
        let frame = "event: ping\ndata: {\"type\":\"ping\"}\n\n";
        // The third is the one that looks for JSON in the whole, and finds none.
        assert_eq!(found(frame).len(), 2, "{:?}", found(frame));
        check(frame, "Standard", r#"[{"type":"ping"}]"#);
    }

    #[test]
    fn readers_differ_as_real_ones_do() {
        // To the standard this is half a value, and then a line of no meaning.
        check("data: {\"a\"\r:1}\n\n", "Lf Frame", r#"[{"a":1}]"#);
        let hidden = "data: \"x\n: \rdata: 2\n\n";
        check(hidden, "Standard Line", "[2]");
        let several = "data: {\"a\":\ndata: 5}\n\n";
        check(several, "Standard Frame", r#"[{"a":5}]"#);
        check(several, "Standard Line", "[5]");
        check("data: \"a\u{2028}data: 7\"\n\n", "Unicode", "[7]");
        let twice = "data: {\"a\":1,\"a\":2}\n\n";
        check(twice, "Standard Frame Last", r#"[{"a":2}]"#);
        check(twice, "Standard Frame First", r#"[{"a":1}]"#);
        let cases = "data: {\"type\":1,\"Type\":2}\n\n";
        check(cases, "Standard Frame LastOfAnyCase", r#"[{"type":2}]"#);
        check("{\"a\":1} {\"b\":2}", "whole", r#"[{"a":1},{"b":2}]"#);
    }
}
