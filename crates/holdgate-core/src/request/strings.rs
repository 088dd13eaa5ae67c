//! Where the strings of a value are in its text.
//!
//! A value keeps its strings in the order of the text, keys included, so a string is found by its
//! number: nothing has to be kept for the many strings that nobody asks about.

use super::skim::special;
use holdgate_effects::json::Json;
use std::collections::HashSet;
use std::ops::Range;
use std::ptr;

/// The strings `wanted` with their places, without the quotes, in `text`, from which `json` was
/// read. They are in the order of the text.
pub(crate) fn places_of<'j>(
    text: &[u8],
    json: &'j Json<'j>,
    wanted: &[&'j Json<'j>],
) -> Vec<(&'j str, Range<usize>)> {
    let mut numbers = Numbers {
        next: 0,
        wanted: wanted.iter().map(|json| ptr::from_ref(*json)).collect(),
        found: Vec::with_capacity(wanted.len()),
    };
    numbers.count(json);
    let mut strings = strings(text).enumerate();
    let places = numbers.found.iter().filter_map(|(number, value)| {
        let (_, place) = strings.find(|(at, _)| at == number)?;
        Some((*value, place))
    });
    places.collect()
}

/// The numbers of strings.
struct Numbers<'j> {
    next: usize,
    wanted: HashSet<*const Json<'j>>,
    /// In ascending order.
    found: Vec<(usize, &'j str)>,
}

impl<'j> Numbers<'j> {
    fn count(&mut self, json: &'j Json<'j>) {
        match json {
            Json::String(text) => {
                if self.wanted.contains(&ptr::from_ref(json)) {
                    self.found.push((self.next, text));
                }
                self.next += 1;
            }
            Json::Array(items) => {
                for item in items {
                    self.count(item);
                }
            }
            Json::Object(members) => {
                for (_, value) in members {
                    self.next += 1;
                    self.count(value);
                }
            }
            Json::Null | Json::Bool(_) | Json::Number(_) => {}
        }
    }
}

/// The strings of a JSON text, without their quotes.
fn strings(text: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + memchr::memchr(b'"', text.get(at..)?)? + 1;
        let mut end = start;
        loop {
            end += special(text.get(end..)?)?;
            if text.get(end) == Some(&b'"') {
                break;
            }
            // An escaped character does not end the string.
            end += 2;
        }
        at = end + 1;
        Some(start..end)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use holdgate_effects::json::LoneSurrogates;

    #[test]
    fn strings_are_found_between_escapes_keys_and_equal_strings() {
        let text = r#" {"a":"a","b\"":["a",{"a":"\\"},1,"\ud83d\ude00\"",""],"c":"é"} "#;
        let json = Json::read(text.as_bytes(), 8, LoneSurrogates::Refuse).unwrap();
        let list = json.get("b\"").unwrap().as_array().unwrap();
        let check = |wanted: &[&Json<'_>], expected: &[&str]| {
            let places = places_of(text.as_bytes(), &json, wanted);
            let found: Vec<&str> = places
                .into_iter()
                .map(|(_, place)| text.get(place).unwrap())
                .collect();
            assert_eq!(found, expected);
        };
        check(&[], &[]);
        check(&[json.get("a").unwrap()], &["a"]);
        let last = json.get("c").unwrap();
        check(
            &[last, &list[3], list[1].get("a").unwrap(), &list[4]],
            &[r"\\", r#"\ud83d\ude00\""#, "", "é"],
        );
        let second = places_of(text.as_bytes(), &json, &[&list[0]]);
        assert_eq!(second[0].1.start, text.rfind(r#""a",{"#).unwrap() + 1);
    }
}
