//! Secrets that are known by their form, in the call's own text: tokens by how they begin, private
//! keys by their frame, other keys by the name that stands before them.

mod forms;

use super::words::AnyWord;
pub(crate) use forms::issuers;
pub use forms::{Check, Form, Named, TOKENS, forms, may_have_token, named};
use regex::Regex;
use std::ops::Range;
use std::sync::LazyLock;

/// Lines that may come before a key in its frame.
const KEY_HEADERS: &[&str] = &["Proc-Type:", "Version:", "Comment:", "Charset:"];

/// The bodies of private keys, also with `\n` for line ends.
pub fn private_keys(text: &str) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut from = 0;
    let mut ends = true;
    while let Some(begin) = text.get(from..).and_then(|rest| rest.find("-----BEGIN ")) {
        let header = from + begin + "-----BEGIN ".len();
        from = header;
        let Some(line) = text
            .get(header..)
            .and_then(|rest| rest.find("-----").map(|at| (at, rest)))
        else {
            break;
        };
        let kind = line.1.get(..line.0).unwrap_or_default();
        if line.0 > 64 || !kind.contains("PRIVATE KEY") {
            continue;
        }
        let body = header + line.0 + "-----".len();
        let rest = text.get(body..).unwrap_or_default();
        let key = rest.trim_start_matches(is_filling);
        let run = key
            .bytes()
            .take_while(|b| b.is_ascii_alphanumeric() || b"+/=:-".contains(b));
        let headed = KEY_HEADERS.iter().any(|start| key.starts_with(start));
        if run.take(16).count() < 16 && !headed {
            continue;
        }
        // If this key has no end, later keys do not have one either.
        let end = ends.then(|| rest.find("-----END ")).flatten();
        ends = end.is_some();
        let len = end.unwrap_or_else(|| {
            let is_key =
                |c: char| c.is_ascii_alphanumeric() || "+/=:,-.".contains(c) || is_filling(c);
            rest.find(|c: char| !is_key(c)).unwrap_or(rest.len())
        });
        ranges.push(body..body + len);
        from = body + len;
    }
    ranges
}

/// Characters between the lines of a key: white space, its escapes, quotes, and replacements of
/// line ends.
fn is_filling(c: char) -> bool {
    c.is_whitespace() || "\\\"'nr+\u{fffd}".contains(c)
}

/// Whether a token of a known form is one of documentation.
pub fn is_sample(token: &str) -> bool {
    let lower = token.to_ascii_lowercase();
    let mut kinds: Vec<u8> = lower.bytes().collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds.len() <= 3 || is_example(&lower) || lower.contains("xxxxxx")
}

/// Whether a value says that it is an example.
pub fn is_example(lower: &str) -> bool {
    let words = ["example", "placeholder", "redacted", "your_", "your-"];
    words.iter().any(|word| lower.contains(word))
}

/// A key after its name: `AWS_SECRET_ACCESS_KEY=…`, `DB_PASSWORD: "…"`.
const NAMED: &str = r#"(?x) (?-u:\b) (?: ([A-Z][A-Z0-9]{1,30}) _ (?:[A-Z0-9]+_){0,4}
  (?: SECRET | TOKEN | PASSWORD | PASSWD | KEY ) | (aws) _secret_access_key ) [\ \t]* [=:] [\ \t]* ["']? ([^\s"'<>$\{\}]{12,200})"#;

/// One of these is in each of them.
static NAMES: LazyLock<AnyWord> = LazyLock::new(|| {
    AnyWord::of([
        "_SECRET",
        "_TOKEN",
        "_PASSWORD",
        "_PASSWD",
        "_KEY",
        "aws_secret_access_key",
    ])
});

/// What is private to somebody: a password in words or in an address, a social security number, a
/// card's number.
const PRIVATE: &str = r#"(?x)
  (?i: (?-u:\b) (?: password | passwd | passphrase | api[\ _-]?key | secret )) (?-u:\b)
    [\ \t]* (?: is | : | = | -> ) [\ \t]* ["'`]? (?P<word> [^\s"'`<>\{\}$]{10,80})
| [a-z][a-z0-9+]{2,20}:// [^\s/:@"'<>]{1,64} : (?P<login> [^\s/@"'<>$\{\}]{8,80}) @ (?P<host> [^\s/:"'<>]+)
| (?-u:\b) (?P<number> [0-9]{3}-[0-9]{2}-[0-9]{4}) (?-u:\b)
| (?-u:\b) (?P<card> (?:[0-9][\ -]?){14,15}[0-9]) (?-u:\b)
"#;

struct Forms {
    tokens: Regex,
    named: Regex,
    private: Regex,
}

static FORMS: LazyLock<Option<Forms>> = LazyLock::new(|| {
    Some(Forms {
        tokens: Regex::new(&TOKENS).ok()?,
        named: Regex::new(NAMED).ok()?,
        private: Regex::new(PRIVATE).ok()?,
    })
});

/// What a secret in a text is known by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark<'t> {
    /// How a token begins: `ghp_`.
    Start(&'t str),
    /// The first word of its name: `AWS`.
    Name(&'t str),
    /// The frame of a private key.
    Frame,
}

/// Makes the forms ready, which takes longer than looking for them.
pub fn prepare() {
    LazyLock::force(&FORMS);
}

/// What the secrets in a text are known by. Examples of documentation count only in a text that was
/// `encoded`: nobody encodes those.
pub fn marks(text: &str, encoded: bool) -> Vec<Mark<'_>> {
    let mut found = Vec::new();
    if text.contains("-----BEGIN ") && !private_keys(text).is_empty() {
        found.push(Mark::Frame);
    }
    let Some(forms) = &*FORMS else {
        return found;
    };
    // A token is one long word: prose has few.
    let long = text
        .split_whitespace()
        .filter(|word| word.len() >= MIN_TOKEN && may_have_token(word));
    let tokens = long.flat_map(|word| forms.tokens.captures_iter(word));
    for token in tokens.take(MAX_MARKS) {
        let Some(whole) = token.get(0) else { continue };
        let start = token.iter().skip(1).flatten().next();
        if let Some(start) = start
            && (encoded || !is_sample(whole.as_str()))
        {
            found.push(Mark::Start(start.as_str()));
        }
    }
    let named = |line: &&str| NAMES.is_in(line) && line.contains(['=', ':']);
    let lines = text.lines().filter(named);
    let named = lines.flat_map(|line| forms.named.captures_iter(line));
    for named in named.take(MAX_MARKS) {
        let name = named.get(1).or_else(|| named.get(2));
        let (Some(name), Some(value)) = (name, named.get(3)) else {
            continue;
        };
        if is_random(value.as_str()) && (encoded || !is_sample(value.as_str())) {
            found.push(Mark::Name(name.as_str()));
        }
    }
    found
}

/// Whether a text holds what is private to somebody, other than examples.
pub fn is_private(text: &str) -> bool {
    let Some(forms) = &*FORMS else {
        return false;
    };
    let text = super::beginning(text, MAX_SEARCHED);
    let words = [
        "assw",
        "assphrase",
        "ecret",
        "ey",
        "EY",
        "ASSW",
        "ECRET",
        "://",
    ];
    let is_telling = |line: &&str| {
        let digits = line.bytes().filter(u8::is_ascii_digit).count();
        digits >= 9 || digits > 0 && words.iter().any(|word| line.contains(word))
    };
    let lines = text.lines().filter(is_telling);
    let found = lines.flat_map(|line| forms.private.captures_iter(line));
    let mut found = found.take(MAX_MARKS);
    found.any(|found| {
        let group = |name| found.name(name).map(|group| group.as_str());
        let chosen = |word: &str| is_chosen(word) && !is_sample(word);
        let local = |host: &str| {
            host.starts_with("localhost") || host.starts_with("127.") || !host.contains('.')
        };
        group("word").is_some_and(chosen)
            || group("login").is_some_and(chosen) && !group("host").is_some_and(local)
            || group("number")
                .is_some_and(|number| !number.starts_with("000") && number != "123-45-6789")
            || group("card").is_some_and(is_card)
    })
}

/// Whether a password is one that somebody has chosen to be safe: letters of both cases and digits,
/// no word of a test.
fn is_chosen(word: &str) -> bool {
    let has = |of: fn(&u8) -> bool| word.bytes().any(|b| of(&b));
    let lower = word.to_ascii_lowercase();
    let plain = [
        "test", "demo", "pass", "admin", "change", "sample", "dummy", "foo", "secret", "xxx", "...",
    ];
    has(u8::is_ascii_lowercase)
        && has(u8::is_ascii_uppercase)
        && has(u8::is_ascii_digit)
        && !plain.iter().any(|w| lower.contains(w))
        && !word.contains(['(', '[', '/'])
}

/// Whether digits are the number of a card, and not one that is known for tests.
fn is_card(text: &str) -> bool {
    let digits: Vec<u32> = text.chars().filter_map(|c| c.to_digit(10)).collect();
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(at, digit)| match (at % 2, digit * 2) {
            (1, double @ 10..) => double - 9,
            (1, double) => double,
            _ => *digit,
        })
        .sum();
    let plain: String = text.chars().filter(char::is_ascii_digit).collect();
    let tests = [
        "4242424242424242",
        "4111111111111111",
        "5555555555554444",
        "378282246310005",
        "4012888888881881",
    ];
    let kinds = plain.starts_with(['3', '4', '5', '6']) && matches!(plain.len(), 15 | 16);
    kinds
        && sum.is_multiple_of(10)
        && !tests.contains(&plain.as_str())
        && !plain.ends_with("00000000")
}

/// A shorter word is no token.
const MIN_TOKEN: usize = 20;
/// What stands behind is not searched.
const MAX_SEARCHED: usize = 64 << 10;
/// Secrets of one text that are looked at.
const MAX_MARKS: usize = 16;

/// Whether a value looks drawn by lot: letters and digits mixed, no words of a program.
fn is_random(value: &str) -> bool {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let letters = value.bytes().filter(u8::is_ascii_alphabetic).count();
    digits >= 1 && letters >= 4 && !value.contains(['(', '[', ';']) && !value.contains("://")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_things_are_known_by_their_forms() {
        for text in [
            "the db password is Kx9vLm2qTz8",
            "postgres://app:Kx9vLm2qTz8@db.corp.example.org/app",
            "Anna 536-22-8917",
            "card 4539 1488 0343 6467",
        ] {
            assert!(is_private(text), "{text}");
        }
        for text in [
            "password: Test1234567",
            "password: ${DB_PASSWORD}",
            "postgres://postgres:Kx9vLm2qTz8@localhost:5432/app",
            "card 4242 4242 4242 4242",
            "build 2024-01-02 took 1234567890123456 ns",
            "the password is required",
        ] {
            assert!(!is_private(text), "{text}");
        }
    }

    #[test]
    fn secrets_are_known_by_their_forms() {
        let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8".repeat(3));
        assert_eq!(marks(&token, false), [Mark::Start("ghp_")]);
        assert_eq!(
            marks("DB_PASSWORD=hunter2hunter2x", false),
            [Mark::Name("DB")]
        );
        for none in [
            "AKIAIOSFODNN7EXAMPLE",
            "API_KEY=<your key here>",
            "API_TOKEN=${TOKEN_FROM_VAULT_1}",
            "the key is kept in the vault",
        ] {
            assert_eq!(marks(none, false), [], "{none}");
        }
        assert_eq!(marks("AKIAIOSFODNN7EXAMPLE", true), [Mark::Start("AKIA")]);
    }
}
