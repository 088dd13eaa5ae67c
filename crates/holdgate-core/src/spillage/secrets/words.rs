//! Whether a value looks drawn by lot, or was made up by a person to be shown.

use crate::mask::is_placeholder;
use holdgate_effects::text::secret::is_sample;

/// Words of made-up keys, in lower case.
#[rustfmt::skip]
const DUMMY: &[&str] = &[
    "example", "placeholder", "redacted", "changeme", "change_me", "change-me", "dummy", "sample", "replace", "fake", "your",
    "mytoken", "my-token", "my_token", "mysecret", "my-secret", "my_secret", "mypass", "my-pass", "my_pass", "notreal", "not-real",
    "not_real", "insert", "foobar", "todo", "tokenhere", "_here", "-here", "goes-here", "qwerty", "asdfgh", "supersecret",
    "super-secret", "super_secret", "topsecret", "randomstring", "notasecret", "not-a-secret", "not_a_secret", "invalid", "mocked",
    "letmein", "anoncvs", "anonymous", "deadbeefdeadbeef", "s3cr3t", "lorem", "testtest", "...", "***", "\u{2026}", "<", "${", "{{", "$(", "%s",
];

/// Passwords that everybody knows, in lower case without digits and marks at the end.
#[rustfmt::skip]
const COMMON: &[&str] = &[
    "password", "passwd", "passw0rd", "p@ssw0rd", "p@ssword", "pass", "pw", "pwd", "secret", "secretpassword", "admin", "administrator",
    "root", "toor", "guest", "user", "username", "test", "testing", "tester", "testpass", "testpassword", "dev", "devpass", "demo", "postgres", "postgresql",
    "mysql", "redis", "mongo", "mongodb", "rabbitmq", "elastic", "minio", "minioadmin", "docker", "vagrant", "ansible", "oracle",
    "sa", "app", "web", "db", "token", "key", "apikey", "api_key", "value", "string", "foo", "bar", "baz", "abc", "xyz", "qux", "aladdin", "opensesame",
    "welcome", "default", "local", "localhost", "none", "null", "yyy", "xxx", "hello", "world", "john", "jane", "alice", "bob",
    "mypassword", "mysecretpassword", "example", "somepassword", "some_password", "strongpassword", "verysecret", "sup3rs3cr3t", "changeit", "changethis",
    "bitnami", "airflow", "grafana", "sonar", "nexus", "jenkins", "gitlab", "wordpress", "drupal", "magento", "django", "rails", "laravel", "keycloak",
];

/// Published keys of documents and emulators, by CRC-32: they open nothing.
#[rustfmt::skip]
const PUBLISHED: &[u32] = &[
    0x776d_e070, // Stripe's test key in its documents
    0x396d_8142, // Stripe's older one
    0xb4cb_d586, // Azurite, the storage emulator
    0x8770_7360, // the Cosmos DB emulator
    0xbd0c_a09b, // the first account of Hardhat and Anvil
    // tokens and passwords in the RFCs of OAuth and OpenID
    0x9e49_269d, 0x2bdd_531a, 0x0fc6_57b9, 0xb6e6_1e46, 0x269d_4cea, 0x4f04_2581, 0x1bbf_5538,
    0x58ad_c005, 0x494b_da51, 0xd43b_7b44, 0xa8b1_08b3, 0xc3f0_aa47, 0xe031_8833,
];

/// Whether a value was made up to be shown: `<token>`, `xxxx`, `abcdef123456`.
pub(super) fn is_dummy(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    is_placeholder(value)
        || is_sample(value)
        || DUMMY.iter().any(|word| lower.contains(word))
        || has_row(value)
        || is_published(value)
}

/// Whether a key is one of a document or an emulator.
pub(super) fn is_published(value: &str) -> bool {
    PUBLISHED.contains(&crc32fast::hash(value.as_bytes()))
}

/// Whether a password is one that everybody knows, or the name of the user.
pub(super) fn is_common(password: &str, user: &str) -> bool {
    let lower = password.to_ascii_lowercase();
    let bare = lower.trim_end_matches(|c: char| !c.is_ascii_alphabetic());
    let short = password.len() <= 4;
    short
        || COMMON.contains(&bare)
        || COMMON.contains(&lower.as_str())
        || lower == user.to_ascii_lowercase()
        || bare.is_empty() && password.len() < 10
}

/// Whether the longest part of a value has a row of letters or digits in order, or of one character.
fn has_row(value: &str) -> bool {
    let parts = value.split(|c: char| !c.is_ascii_alphanumeric());
    let longest = parts.max_by_key(|part| part.len()).unwrap_or_default();
    let in_order = |step: u8| longest_row(longest, |a, b| a.checked_add(step) == Some(b));
    in_order(1) >= 6 || in_order(0) >= 6 || repeats(longest)
}

/// The longest run in which each byte stands so to the next.
fn longest_row(text: &str, next: impl Fn(u8, u8) -> bool) -> usize {
    let text = text.to_ascii_lowercase();
    let mut longest = 1;
    let mut row = 1;
    for (a, b) in text.bytes().zip(text.bytes().skip(1)) {
        row = if next(a, b) { row + 1 } else { 1 };
        longest = longest.max(row);
    }
    longest
}

/// Whether a text is a short one several times: `abc1abc1abc1abc1`.
fn repeats(text: &str) -> bool {
    (1..=8).any(|period| {
        let same = text
            .bytes()
            .zip(text.bytes().skip(period))
            .filter(|(a, b)| a == b);
        text.len() >= 12 && text.len() >= 3 * period && same.count() + period >= text.len()
    })
}

/// Whether a value looks drawn by lot: it is long, has many different characters, and letters and
/// digits take turns as they do in no word.
pub(super) fn is_random(value: &str) -> bool {
    let parts = value.split(['-', '_', '.', ':']);
    let longest = parts.max_by_key(|part| part.len()).unwrap_or_default();
    value.len() >= 12
        && is_mixed(value, 4)
        && longest.len() >= 10
        && is_mixed(longest, 4)
        && !is_wordy(value)
}

/// Whether most of a value is words: `X509RequestOptions`, `Curve25519Seed`.
pub(super) fn is_wordy(value: &str) -> bool {
    let bytes = value.as_bytes();
    let (mut at, mut wordy) = (0, 0);
    while at < bytes.len() {
        let rest = bytes.get(at..).unwrap_or_default();
        let upper = usize::from(rest.first().is_some_and(u8::is_ascii_uppercase));
        let lower = rest
            .iter()
            .skip(upper)
            .take_while(|b| b.is_ascii_lowercase());
        let len = upper + lower.count();
        if len + upper >= 4 && is_word(rest.get(..len).unwrap_or_default()) {
            wordy += len;
        }
        at += len.max(1);
    }
    wordy * 5 >= value.len() * 3
}

/// Whether letters can be spoken: vowels in between, and no four consonants in a row.
fn is_word(letters: &[u8]) -> bool {
    let is_vowel = |b: &u8| b"aeiouyAEIOUY".contains(b);
    let vowels = letters.iter().filter(|b| is_vowel(b)).count();
    let mut rows = letters.split(is_vowel);
    vowels * 4 >= letters.len() && rows.all(|row| row.len() <= 3)
}

/// Whether the body of a token of a known form is not a word or a name.
pub(super) fn is_body(value: &str) -> bool {
    is_mixed(value, 8)
}

/// Whether at least one in `per` steps is one between letters of a case, digits and marks.
pub(super) fn is_mixed(value: &str, per: usize) -> bool {
    if !value.bytes().all(|b| b.is_ascii_graphic()) {
        return false;
    }
    let mut kinds = [false; 128];
    for byte in value.bytes() {
        if let Some(kind) = kinds.get_mut(usize::from(byte)) {
            *kind = true;
        }
    }
    let distinct = kinds.iter().filter(|kind| **kind).count();
    let has = |of: fn(&u8) -> bool| value.bytes().any(|b| of(&b));
    let letters = has(u8::is_ascii_alphabetic);
    let digits = has(u8::is_ascii_digit);
    let cases = has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase);
    let class = |b: u8| match b {
        b'a'..=b'z' => 0,
        b'A'..=b'Z' => 1,
        b'0'..=b'9' => 2,
        _ => 3,
    };
    let steps = value.bytes().zip(value.bytes().skip(1));
    let changes = steps.filter(|(a, b)| class(*a) != class(*b)).count();
    letters
        && (digits || cases)
        && distinct >= 8.min(value.len() / 2)
        && changes * per >= value.len()
}

/// Whether there are digits and letters of both cases.
pub(super) fn has_three(value: &str) -> bool {
    let has = |of: fn(&u8) -> bool| value.bytes().any(|b| of(&b));
    has(u8::is_ascii_digit) && has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase)
}

/// Whether a value is an id of eight, four, four, four and twelve hexadecimal digits.
pub(super) fn is_uuid(value: &str) -> bool {
    let hex = |part: &str| part.bytes().all(|b| b.is_ascii_hexdigit());
    let lengths: Vec<usize> = value.split('-').map(str::len).collect();
    lengths == [8, 4, 4, 4, 12] && value.split('-').all(hex)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_look_drawn_by_lot_and_words_do_not() {
        for key in [
            "q8Zr5Lw2Xk9Vn4Tb",
            "5eb4223e91d0467c8a2b",
            "yqDVtkqPECriaLRi",
            "qgsnai0xokrw4j1",
            "dB2yF6@qL9vZm1P#4J",
        ] {
            assert!(is_random(key) && !is_dummy(key), "{key}");
        }
        for word in [
            "user_password_reset",
            "CertificateAuthority",
            "correct-horse-2024",
            "application/json",
            "NEXUS-GPT4-API-KEY",
            "v1.2.3-20240102",
            "short1A",
        ] {
            assert!(!is_random(word), "{word}");
        }
    }

    #[test]
    fn what_was_made_up_to_be_shown_is_no_key() {
        for dummy in [
            "xxxxxxxxxxxx",
            "abcdefghijkl1234",
            "k3jxq1234567890zz",
            "your-token",
            "AAAAAAAAAAAAAAAA",
            "a1b2a1b2a1b2a1b2",
            "${TOKEN}",
            "<key>",
        ] {
            assert!(is_dummy(dummy), "{dummy}");
        }
    }
}
