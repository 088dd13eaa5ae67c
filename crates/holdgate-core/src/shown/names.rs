//! The names in a text, as hashes, and the hosts among them.

use crate::compiled::table;
use holdgate_effects::effect::allocated;
use serde::Deserialize;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::LazyLock;

/// Names of one text that are kept: those with marks in them, and plain words.
const MAX_NAMES: usize = 1024;
const MAX_WORDS: usize = 512;
/// Bytes of a name, at least and at the most.
const NAME_BYTES: std::ops::RangeInclusive<usize> = 4..=256;

/// Random for each process.
pub(super) static KEYS: LazyLock<RandomState> = LazyLock::new(RandomState::new);

/// The table that is built in. A test reads it, so that it can be read.
static HOSTING: LazyLock<Option<Hosting>> = LazyLock::new(|| table!("hosting").read().ok());

/// Where anybody can have a name; the comments in `hosting.yaml` explain the parts.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Hosting {
    below: Vec<String>,
    whole: Vec<String>,
    countries: Vec<String>,
}

/// The names of a text, as hashes in ascending order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names(Box<[u32]>);

impl Names {
    /// The names in all of `texts`.
    pub(crate) fn of<'t>(texts: impl Iterator<Item = &'t str>) -> Names {
        let (mut marked, mut words) = (Vec::new(), Vec::new());
        for token in texts.flat_map(tokens) {
            let list = if is_marked(token) {
                &mut marked
            } else {
                &mut words
            };
            if list.len() < 4 * MAX_NAMES {
                list.push(hash(token));
            }
            if let Some(host) = host_of(token) {
                marked.push(hash(host));
            }
        }
        for (list, most) in [(&mut marked, MAX_NAMES), (&mut words, MAX_WORDS)] {
            list.sort_unstable();
            list.dedup();
            list.truncate(most);
        }
        marked.append(&mut words);
        marked.sort_unstable();
        marked.dedup();
        Names(marked.into())
    }

    /// Whether a name is among them.
    pub(crate) fn have(&self, name: u32) -> bool {
        self.0.binary_search(&name).is_ok()
    }

    /// About how many bytes they take in memory.
    pub(crate) fn bytes(&self) -> usize {
        allocated(self.0.len() * size_of::<u32>())
    }
}

/// What a name is compared by.
pub(crate) fn hash(name: &str) -> u32 {
    // Most names are in lower case already.
    let small = name
        .bytes()
        .all(|b| b.is_ascii() && !b.is_ascii_uppercase());
    let hash = if small {
        KEYS.hash_one(name)
    } else {
        KEYS.hash_one(name.to_lowercase())
    };
    u32::try_from(hash >> 32).unwrap_or_default()
}

/// The words of a text that can name something.
pub(super) fn tokens(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_between)
        .map(|token| token.trim_matches(['.', ':', '!', '?', '/']))
        .filter(|token| NAME_BYTES.contains(&token.len()))
}

fn is_between(c: char) -> bool {
    c.is_whitespace()
        || matches!(
            c,
            '"' | '\''
                | '`'
                | '<'
                | '>'
                | '('
                | ')'
                | '['
                | ']'
                | '{'
                | '}'
                | '|'
                | ';'
                | ','
                | '='
                | '\\'
                | '*'
        )
}

/// Whether it is more than a word of a language.
fn is_marked(token: &str) -> bool {
    token
        .bytes()
        .any(|b| matches!(b, b'.' | b'/' | b'@' | b':' | b'_' | b'-' | b'0'..=b'9'))
}

/// The host that a token names, if it is an address.
pub(super) fn host_of(token: &str) -> Option<&str> {
    let colon = memchr::memchr(b':', token.as_bytes())?;
    let (_, rest) = token.get(colon..)?.split_once("://")?;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let host = rest.get(..end)?;
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    let host = host.split_once(':').map_or(host, |(host, _)| host);
    (!host.is_empty()).then_some(host)
}

/// The part of a host's name that is bought as one: `example.com` of `api.example.com`.
pub(crate) fn domain(host: &str) -> &str {
    let hosting = HOSTING.as_ref();
    let below = |domain: &String| {
        let rest = host.strip_suffix(domain.as_str());
        rest.is_some_and(|rest| rest.ends_with('.'))
    };
    if hosting.is_some_and(|hosting| hosting.whole.iter().any(below)) {
        return host;
    }
    if host
        .bytes()
        .all(|b| b.is_ascii_digit() || b == b'.' || b == b':')
    {
        return host;
    }
    let mut dots = host.rmatch_indices('.').map(|(at, _)| at);
    let second = dots.nth(1);
    let second = match second {
        // `example.co.uk`
        Some(at) if is_second_level(host.get(at + 1..).unwrap_or_default()) => dots.next(),
        other => other,
    };
    second.and_then(|at| host.get(at + 1..)).unwrap_or(host)
}

/// Whether `co.uk` is a name below which names are bought.
fn is_second_level(name: &str) -> bool {
    let (first, last) = name.split_once('.').unwrap_or_default();
    HOSTING.as_ref().is_some_and(|hosting| {
        last.len() == 2 && hosting.countries.iter().any(|known| known == first)
            || hosting.below.iter().any(|known| known == name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_domain_is_what_one_owner_has() {
        for (host, expected) in [
            ("api.example.com", "example.com"),
            ("example.com", "example.com"),
            ("a.b.example.co.uk", "example.co.uk"),
            ("evil.github.io", "evil.github.io"),
            ("x.evil.github.io", "evil.github.io"),
            ("10.0.0.5", "10.0.0.5"),
            ("localhost", "localhost"),
            ("bucket.s3.amazonaws.com", "bucket.s3.amazonaws.com"),
        ] {
            assert_eq!(domain(host), expected);
        }
    }

    #[test]
    fn names_are_words_that_can_name_something() {
        let text =
            "See <https://docs.Example.com/a?b=1>, install `left-pad` or write to bob@example.org.";
        let names = Names::of(std::iter::once(text));
        for name in ["docs.example.com", "left-pad", "bob@example.org", "install"] {
            assert!(names.have(hash(name)), "{name}");
        }
        for name in ["example.com", "to", "bob"] {
            assert!(!names.have(hash(name)), "{name}");
        }
    }
}
