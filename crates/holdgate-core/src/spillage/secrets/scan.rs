//! One pass over a text with all the words that a secret needs; at each word, the form it belongs to
//! is tried, or the lines around it are marked for a closer look.

use super::{Candidate, token};
use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use holdgate_effects::text::secret::{Named, forms, named};
use regex::Regex;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::LazyLock;

/// What a word in the text is a sign of.
#[derive(Clone, Copy, Debug)]
enum Sign {
    Form(usize),
    Named(usize),
    /// A name that may be one of a secret, with a value behind it.
    Name,
    /// An address, with a login in it.
    Address,
    /// A program that takes a password.
    Program,
}

/// Words in names of secrets, in lower case.
const NAMES: &[&str] = &[
    "pass", "pwd", "secret", "token", "key", "cred", "auth", "jwt", "bearer", "cookie",
];
const PROGRAMS: &[&str] = &[
    "curl ",
    "wget ",
    "mysql",
    "mariadb",
    "sshpass ",
    " login ",
    "redis-cli ",
    "machine ",
    "sudo ",
    "--password-stdin",
];

/// The words, and what they are signs of.
pub(super) struct Scanner {
    words: AhoCorasick,
    signs: Vec<Vec<Sign>>,
    forms: Vec<token::Reader>,
    named: Vec<(&'static Named, Regex)>,
}

static SCANNER: LazyLock<Option<Scanner>> = LazyLock::new(Scanner::new);

/// The scanner. A test builds it; if an expression were invalid nevertheless, nothing would be found.
pub(super) fn scanner() -> Option<&'static Scanner> {
    SCANNER.as_ref()
}

/// Bytes before and after a word that are looked at, if the line is that long.
const BEFORE: usize = 256;
const AFTER: usize = 4096;
/// Tries within one run of letters, digits and marks. A text of nothing but starts costs no more.
const MAX_TRIES: usize = 48;
/// The longest name, and white space after it.
const MAX_NAME: usize = 64;

impl Scanner {
    fn new() -> Option<Scanner> {
        let mut signs: BTreeMap<String, Vec<Sign>> = BTreeMap::new();
        let mut add = |word: &str, sign| {
            signs
                .entry(word.to_ascii_lowercase())
                .or_default()
                .push(sign);
        };
        let (mut readers, mut by_name) = (Vec::new(), Vec::new());
        for (at, form) in forms().enumerate() {
            for start in form.starts {
                add(start, Sign::Form(at));
            }
            readers.push(token::Reader::new(form)?);
        }
        for (at, named) in named().enumerate() {
            for word in named.words {
                for between in ["", "_", "-"] {
                    add(&word.replace('_', between), Sign::Named(at));
                }
            }
            by_name.push((named, expression(named)?));
        }
        for word in NAMES {
            add(word, Sign::Name);
        }
        for word in PROGRAMS {
            add(word, Sign::Program);
        }
        add("://", Sign::Address);
        let (words, mut signs): (Vec<String>, Vec<Vec<Sign>>) = signs.into_iter().unzip();
        for signs in &mut signs {
            signs.dedup_by_key(|sign| format!("{sign:?}"));
        }
        let words = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::Standard)
            .kind(Some(AhoCorasickKind::DFA))
            .build(words)
            .ok()?;
        Some(Scanner {
            words,
            signs,
            forms: readers,
            named: by_name,
        })
    }

    /// Adds the tokens in `text` to `found`; yields the ranges where a secret may be known by what
    /// comes before it, in order and apart.
    pub(super) fn scan(&self, text: &str, found: &mut Vec<Candidate>) -> Vec<Range<usize>> {
        let mut windows: Vec<Range<usize>> = Vec::new();
        let mut run = Run::default();
        for hit in self.words.find_overlapping_iter(text) {
            let Some(signs) = self.signs.get(hit.pattern().as_usize()) else {
                continue;
            };
            for sign in signs {
                let tells =
                    match *sign {
                        Sign::Form(at) => {
                            let reader = self
                                .forms
                                .get(at)
                                .filter(|_| run.has_try(text, hit.start()));
                            found.extend(reader.and_then(|form| form.read(text, hit.start())));
                            false
                        }
                        Sign::Named(at) => {
                            let named = self.named.get(at);
                            found.extend(named.and_then(|(named, regex)| {
                                by_name(text, hit.start(), named, regex)
                            }));
                            false
                        }
                        Sign::Name => is_given(text, hit.range()),
                        Sign::Address => has_login(text, hit.end()),
                        Sign::Program => true,
                    };
                if tells {
                    widen(&mut windows, line(text, hit.range()));
                }
            }
        }
        windows
    }
}

/// The run of letters, digits and marks in which the last word stood.
#[derive(Default)]
struct Run {
    end: usize,
    tries: usize,
}

impl Run {
    fn has_try(&mut self, text: &str, at: usize) -> bool {
        if at >= self.end {
            let rest = text.as_bytes().get(at..).unwrap_or_default();
            let goes_on = |b: &&u8| b.is_ascii_alphanumeric() || b"_-.+~".contains(b);
            self.end = at + rest.iter().take_while(goes_on).count();
            self.tries = 0;
        }
        self.tries += 1;
        self.tries <= MAX_TRIES
    }
}

/// `DATADOG_API_KEY = "VALUE"`, from the word that names the service.
fn expression(named: &Named) -> Option<Regex> {
    let words: Vec<String> = named
        .words
        .iter()
        .map(|word| word.replace('_', "[_.-]?"))
        .collect();
    let (words, value) = (words.join("|"), named.value);
    Regex::new(&format!(
        r#"^(?i:{words})[A-Za-z0-9_.\x20-]{{0,40}}?\\?["'`\]]{{0,2}}\s{{0,4}}(?:=>|:=|=|:|,|\s)\s{{0,4}}\\?["'`]{{0,2}}({value})"#
    ))
    .ok()
}

fn by_name(text: &str, at: usize, named: &'static Named, regex: &Regex) -> Option<Candidate> {
    let before = text.get(..at)?.bytes().next_back().unwrap_or(b' ');
    let first = text.as_bytes().get(at).copied()?;
    // `myOktaToken` and `OKTA_TOKEN` name it, `rookTable` does not.
    let begins =
        !before.is_ascii_alphabetic() || before.is_ascii_lowercase() && first.is_ascii_uppercase();
    if !begins {
        return None;
    }
    let end = text.floor_char_boundary(at.saturating_add(AFTER));
    let value = regex.captures(text.get(at..end)?)?.get(1)?;
    let range = at + value.start()..at + value.end();
    let ends = !token::goes_on(text, range.end, "_-+/=");
    let real = super::words::is_body(value.as_str()) || super::words::is_uuid(value.as_str());
    (ends && real && !super::words::is_dummy(value.as_str())).then(|| Candidate {
        issuers: named.issuers,
        ..Candidate::new(named.name, super::Evidence::Named, range)
    })
}

/// Whether a value follows a word of a name: `key = `, `key": `, `--key `.
fn is_given(text: &str, word: Range<usize>) -> bool {
    let bytes = text.as_bytes();
    let is_name = |b: &&u8| b.is_ascii_alphanumeric() || b"_-.".contains(b);
    let rest = bytes.get(word.end..).unwrap_or_default();
    let name = rest.iter().take(MAX_NAME).take_while(is_name).count();
    let rest = rest.get(name..).unwrap_or_default();
    let marks = rest
        .iter()
        .take(4)
        .take_while(|b| b"\\\"'`]".contains(b))
        .count();
    let rest = rest.get(marks..).unwrap_or_default();
    let spaces = rest
        .iter()
        .take(MAX_NAME)
        .take_while(|b| b.is_ascii_whitespace())
        .count();
    let next = rest.get(spaces).copied().unwrap_or(b' ');
    if b"=:,".contains(&next) {
        return true;
    }
    // `--token VALUE`, `Bearer VALUE`, `password is VALUE` is prose.
    let before = bytes.get(..word.start).unwrap_or_default();
    let name = before
        .iter()
        .rev()
        .take(MAX_NAME)
        .take_while(is_name)
        .count();
    let first = bytes.get(word.start - name);
    let bearer = text
        .get(word.clone())
        .is_some_and(|word| word.eq_ignore_ascii_case("bearer"));
    spaces > 0 && (first == Some(&b'-') || bearer) && next.is_ascii_graphic()
}

/// Whether an address has an `@` before its path.
fn has_login(text: &str, at: usize) -> bool {
    let rest = text.as_bytes().get(at..).unwrap_or_default();
    let mut rest = rest.iter().take(BEFORE);
    let end = rest.find(|b| b.is_ascii_whitespace() || b"@/\"'<>`".contains(b));
    end == Some(&b'@')
}

/// The line of a word with those that it continues on, at most so long.
fn line(text: &str, word: Range<usize>) -> Range<usize> {
    let bytes = text.as_bytes();
    let from = text.ceil_char_boundary(word.start.saturating_sub(BEFORE));
    let to = text.floor_char_boundary(word.end.saturating_add(AFTER).min(text.len()));
    let before = bytes.get(from..word.start).unwrap_or_default();
    let start = memchr::memrchr(b'\n', before).map_or(from, |at| from + at + 1);
    let after = bytes.get(word.end..to).unwrap_or_default();
    let mut ends = memchr::memchr_iter(b'\n', after);
    let continues = |end: &usize| end.checked_sub(1).and_then(|at| after.get(at)) == Some(&b'\\');
    let end = ends
        .find(|end| !continues(end))
        .map_or(to, |at| word.end + at);
    start..end
}

/// Adds a range to those before it, which it may overlap.
fn widen(windows: &mut Vec<Range<usize>>, range: Range<usize>) {
    match windows.last_mut() {
        Some(last) if range.start < last.end => last.end = last.end.max(range.end),
        Some(_) | None => windows.push(range),
    }
}
