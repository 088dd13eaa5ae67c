//! Values that stand near a word such as "password", in whatever shape: a table, a log, a dialogue.
//!
//! They need not be secrets. They are only remembered, and count when they leave.

use crate::mask::is_placeholder;
use aho_corasick::AhoCorasick;
use std::sync::LazyLock;

/// Values of one text.
const MAX_VALUES: usize = 16;
/// Lines after a word that count.
const LINES_AFTER: usize = 2;

/// Words that say that a secret is near.
#[rustfmt::skip]
const WORDS: &[&str] = &[
    "passw", "passphrase", "pwd", "secret", "token", "api key", "apikey", "api-key", "api_key",
    "credential", "private key", "recovery code", "backup code", "kennwort", "contrase", "mot de passe",
    "senha", "wachtwoord", "heslo", "пароль", "密码", "密碼", "パスワード", "비밀번호",
];

static FINDER: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    let mut builder = AhoCorasick::builder();
    builder.ascii_case_insensitive(true).build(WORDS).ok()
});

/// The values near such words in `text`; with `all`, everywhere in it.
pub(super) fn values(text: &str, all: bool) -> Vec<&str> {
    let mut found = Vec::new();
    let Some(finder) = &*FINDER else {
        return found;
    };
    if !all && !finder.is_match(text) {
        return found;
    }
    let mut left = 0;
    for line in text.lines() {
        if all || finder.is_match(line) {
            left = 1 + LINES_AFTER;
        }
        if left == 0 {
            continue;
        }
        left -= 1;
        let between = |c: char| c.is_whitespace() || "\"'`<>|,;()[]{}".contains(c);
        for word in line.split(between) {
            let value = word
                .rsplit_once(['=', ':'])
                .map_or(word, |(_, value)| value);
            if is_drawn(value) && found.len() < MAX_VALUES {
                found.push(value);
            }
        }
    }
    found
}

/// Whether a word looks drawn by lot, and like no number, name, path, date or hash.
fn is_drawn(word: &str) -> bool {
    (10..=200).contains(&word.len())
        && word.is_ascii()
        && !word.contains(['/', '\\', '@'])
        && !word.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-')
        && word.split(['-', '_', '.']).any(is_mixed)
        && !is_placeholder(word)
}

/// Whether letters, digits and signs change often, and digits stand in several places: names of
/// programs have them at one.
fn is_mixed(part: &str) -> bool {
    let class = |b: u8| match b {
        b'0'..=b'9' => 0,
        b'a'..=b'z' => 1,
        b'A'..=b'Z' => 2,
        _ => 3,
    };
    let (mut changes, mut digits, mut before) = (0, 0, None);
    for class in part.bytes().map(class) {
        if before != Some(class) {
            changes += usize::from(before.is_some());
            digits += usize::from(class == 0);
        }
        before = Some(class);
    }
    part.len() >= 8 && changes >= 5 && digits >= 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_near_the_words_are_found() {
        for text in [
            "| user | password |\n|---|---|\n| app | kT9#vLm2qTz8wXy4 |",
            "<password>kT9#vLm2qTz8wXy4</password>",
            "2026-01-02 INFO login with password kT9#vLm2qTz8wXy4 ok",
            "Das Kennwort lautet:\nkT9#vLm2qTz8wXy4",
        ] {
            assert_eq!(values(text, false), ["kT9#vLm2qTz8wXy4"], "{text}");
        }
        for text in [
            "kT9#vLm2qTz8wXy4",
            "token: src/main.rs:12",
            "password must have 12 characters",
            "secret 3f2504e0-4f89-11d3-9a0c-0305e82c3301",
            "token count: 1234567890, took 12.5ms",
            "secret av-raf-5-results-sync-2 and reWrapKey11 with sha256Base64",
        ] {
            assert!(values(text, false).is_empty(), "{text}");
        }
        assert_eq!(values("kT9#vLm2qTz8wXy4", true).len(), 1);
    }
}
