//! Options that make a program send what it works on to a server: caches of builds, collectors of results and
//! reports. Their names tell, whatever the program is.

use super::Call;
use crate::effect::Actor;
use crate::scene::{Fueled, Scene};
use crate::tag::Tag;
use crate::value::{Origins, Value};

/// Words in the name of an option that sends.
const SENDS: [&str; 9] = [
    "upload",
    "collector",
    "ingest",
    "telemetry",
    "sonar",
    "bes",
    "dsn",
    "executor",
    "exporter",
];
/// The same, two of them together.
const PAIRS: [[&str; 2]; 8] = [
    ["remote", "store"],
    ["remote", "execution"],
    ["remote", "cache"],
    ["build", "cache"],
    ["cache", "url"],
    ["report", "url"],
    ["report", "server"],
    ["results", "url"],
];
/// Programs that ask the addresses that they are given.
const ASKS: [&str; 8] = [
    "curl", "wget", "git", "http", "https", "xh", "aria2c", "echo",
];

/// Notes what options of the call send to servers that nobody has heard of.
pub(super) fn by_options(scene: &mut Scene<'_>, call: &Call<'_>, actor: &Actor) -> Fueled {
    if scene.written || ASKS.contains(&call.program) {
        return Ok(());
    }
    let mut words = call.words.iter().skip(1).peekable();
    while let Some(word) = words.next() {
        let Some(option) = word.text.strip_prefix('-') else {
            continue;
        };
        let (name, value, from) = match option.split_once('=') {
            Some((name, value)) => (name, value, word),
            None => match words.peek() {
                Some(next) if !next.text.starts_with('-') => (option, next.text.as_str(), *next),
                _ => continue,
            },
        };
        if !value.contains('.') || !sends(name) {
            continue;
        }
        let value = from.map(value);
        let host = scene.host_of(&value);
        let named = value.text.contains("://") || value.text.contains(':');
        if named && scene.know.hosts.is_unheard_of(&host) {
            let files = Value::unknown(Origins::FILE);
            scene.send(&actor.and(Tag::Transfer), &value, &files)?;
        }
    }
    Ok(())
}

/// Whether the words of an option's name say that it sends.
fn sends(name: &str) -> bool {
    // `-Dname=value`, `-PremoteCacheUrl=value`
    let name = name.trim_start_matches('-').trim_start_matches(['D', 'P']);
    let mut plain = String::with_capacity(name.len() + 8);
    for c in name.chars().take(64) {
        if c.is_ascii_uppercase() {
            plain.push('-');
        }
        plain.push(c.to_ascii_lowercase());
    }
    let has = |word: &str| plain.split(['-', '_', '.']).any(|part| part == word);
    SENDS.iter().any(|word| has(word)) || PAIRS.iter().any(|[a, b]| has(a) && has(b))
}

#[cfg(test)]
mod tests {
    use super::sends;

    #[test]
    fn names_tell_what_is_sent() {
        for name in [
            "-remote_cache",
            "Dsonar.host.url",
            "-bes_backend",
            "-upload-url",
            "-dsn",
        ] {
            assert!(sends(name), "{name}");
        }
        for name in ["-url", "-cache", "-remote", "-output", "-server"] {
            assert!(!sends(name), "{name}");
        }
    }
}
