//! Runs of encoded text, decoded: base64, hexadecimal and decimal codes, binary, URL, HTML and
//! string escapes, letters turned by thirteen places or written backwards.

use super::blocks::Bitmap;
use super::lexicon::Hits;
use super::terms::Turn;
use holdgate_effects::decode;
use regex::{Captures, Regex};
use std::borrow::Cow;
use std::ops::{Range, RangeInclusive};
use std::sync::LazyLock;

/// Letters of a run that are worth decoding.
const MIN_RUN: usize = 24;
/// Numbers in a row that may be a text.
const MIN_SERIES: usize = 8;
/// Characters of a number.
const NUMBER: RangeInclusive<usize> = 2..=8;
/// Bytes between the digits of numbers in a row, of which one may have none: `4f, be, 61`.
const MAX_GAP: usize = 12;
/// Escapes that make a text unreadable.
const MIN_ESCAPES: usize = 6;
/// Runs that are decoded.
const MAX_RUNS: usize = 128;
/// Bytes that are decoded.
const MAX_BYTES: usize = 1 << 17;
/// Bytes around turned words that are turned back.
const AROUND: usize = 300;

/// What the encoded parts of `text` say.
pub(super) fn decoded(text: &str, hits: &Hits) -> Vec<String> {
    let mut all = runs(text);
    all.extend(unescaped(text));
    all.extend(turned(text, hits));
    all.extend(morse(text));
    all
}

/// Morse code: words between slashes or wide gaps.
fn morse(text: &str) -> Option<String> {
    const LETTERS: [&str; 26] = [
        ".-", "-...", "-.-.", "-..", ".", "..-.", "--.", "....", "..", ".---", "-.-", ".-..", "--",
        "-.", "---", ".--.", "--.-", ".-.", "...", "-", "..-", "...-", ".--", "-..-", "-.--",
        "--..",
    ];
    let has = |sign: &str| memchr::memmem::find(text.as_bytes(), sign.as_bytes()).is_some();
    if !has("- .") && !has(". -") {
        return None;
    }
    let mut letters = String::new();
    let mut count = 0;
    for word in text.split([' ', '\n']).take(MAX_BYTES) {
        let at = LETTERS.iter().position(|code| *code == word);
        match at.and_then(|at| u8::try_from(at).ok()) {
            Some(at) => {
                letters.push(char::from(b'a' + at));
                count += 1;
            }
            None => letters.push(' '),
        }
    }
    (count >= MIN_SERIES).then_some(letters)
}

/// Base64, hexadecimal, numbers.
fn runs(text: &str) -> Vec<String> {
    let mut found = Runs::default();
    let bytes = text.as_bytes();
    let mut from = 0;
    while !found.is_enough()
        && let Some(run) = next_long_run(bytes, from)
    {
        from = run.end;
        found.long_token(text, run);
    }
    found.finish_long(text);
    for row in rows_of_digits(bytes) {
        let mut at = row.start;
        for token in bytes
            .get(row)
            .unwrap_or_default()
            .split(|byte| !in_run(*byte))
        {
            let range = at..at + token.len();
            at = range.end + 1;
            if NUMBER.contains(&token.len()) && !found.is_enough() {
                found.number(text.get(range.clone()).unwrap_or_default(), &range);
            }
        }
    }
    found.finish_series();
    found.texts
}

/// The next token from `from` on that is long enough to be decoded; no token goes on there. Looks at
/// the end of where it would be first.
fn next_long_run(bytes: &[u8], from: usize) -> Option<Range<usize>> {
    let mut start = from;
    loop {
        let window = bytes.get(start..start + MIN_RUN)?;
        match window.iter().rposition(|b| !in_run(*b)) {
            Some(between) => start += between + 1,
            None => break,
        }
    }
    let rest = bytes.get(start..)?;
    let len = rest.iter().position(|b| !in_run(*b)).unwrap_or(rest.len());
    Some(start..start + len)
}

/// Where so many digits stand near each other as numbers in a row have, one each at the least, with
/// what else may be of the first and the last of these numbers.
fn rows_of_digits(bytes: &[u8]) -> Vec<Range<usize>> {
    let mut rows: Vec<Range<usize>> = Vec::new();
    let (mut row, mut count) = (0..0, 0);
    let mut finish = |row: &Range<usize>, count: usize| {
        if count >= MIN_SERIES {
            let before = bytes.get(..row.start).unwrap_or_default().iter().rev();
            let after = bytes.get(row.end..).unwrap_or_default().iter();
            let rest = |near: &mut dyn Iterator<Item = &u8>| {
                let near = near.take(*NUMBER.end());
                near.take_while(|byte| in_run(**byte)).count()
            };
            rows.push(row.start - rest(&mut { before })..row.end + rest(&mut { after }));
        }
    };
    for place in Bitmap::digits(bytes).places() {
        if place > row.end + MAX_GAP {
            finish(&row, count);
            (row, count) = (place..place, 0);
        }
        row.end = place + 1;
        count += 1;
    }
    finish(&row, count);
    rows
}

fn in_run(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'_' | b'-' | b'=')
}

/// How the numbers of a series are written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Radix {
    Binary,
    Decimal,
    Hexadecimal,
}

#[derive(Default)]
struct Runs {
    texts: Vec<String>,
    bytes: usize,
    /// Numbers in a row, in every way in which all of them can be read.
    series: Vec<(Radix, Vec<u8>)>,
    series_end: usize,
    /// Long tokens, one per line.
    long: Range<usize>,
}

impl Runs {
    fn is_enough(&self) -> bool {
        self.texts.len() >= MAX_RUNS || self.bytes >= MAX_BYTES
    }

    fn long_token(&mut self, text: &str, range: Range<usize>) {
        let between = text.get(self.long.end..range.start).unwrap_or_default();
        let wrapped = !self.long.is_empty() && between.trim().is_empty() && between.len() <= 8;
        if !wrapped {
            self.finish_long(text);
            self.long.start = range.start;
        }
        self.long.end = range.end;
    }

    fn number(&mut self, token: &str, range: &Range<usize>) {
        // Most tokens are words.
        let ends = [token.bytes().next(), token.bytes().next_back()];
        if let [Some(first), Some(last)] = ends
            && !((first.is_ascii_hexdigit() || first == b'+') && last.is_ascii_hexdigit())
        {
            return;
        }
        let mut digits = token;
        while let Some(rest) = digits.strip_prefix("0x") {
            digits = rest;
        }
        let read = |radix: Radix, length: Range<usize>, base: u32| {
            let byte = u8::from_str_radix(digits, base).ok()?;
            length.contains(&digits.len()).then_some((radix, byte))
        };
        let readings = [
            read(Radix::Binary, 7..9, 2),
            read(Radix::Decimal, 2..4, 10),
            read(Radix::Hexadecimal, 2..3, 16),
        ];
        let near = range.start.saturating_sub(self.series_end) <= 3;
        if readings.iter().all(Option::is_none) {
            return;
        }
        self.series_end = range.end;
        if !near {
            self.finish_series();
        }
        let readings = readings.iter().flatten();
        if self.series.is_empty() {
            self.series = readings
                .map(|(radix, byte)| (*radix, vec![*byte]))
                .collect();
            return;
        }
        for (radix, bytes) in &mut self.series {
            let same = readings.clone().find(|(other, _)| other == radix);
            bytes.extend(same.map(|(_, byte)| *byte));
        }
    }

    fn finish_series(&mut self) {
        for (_, bytes) in std::mem::take(&mut self.series) {
            if bytes.len() >= MIN_SERIES {
                self.keep(bytes);
            }
        }
    }

    fn finish_long(&mut self, text: &str) {
        let run = text.get(std::mem::take(&mut self.long)).unwrap_or_default();
        let run = if run.contains(char::is_whitespace) {
            Cow::Owned(run.split_whitespace().collect())
        } else {
            Cow::Borrowed(run)
        };
        if run.is_empty() || run.len() > MAX_BYTES {
            return;
        }
        if run.bytes().all(|b| b.is_ascii_hexdigit()) {
            self.keep(decode::hex(&run).unwrap_or_default());
        }
        // What stands before it may have been taken for a part of it: `key=…`, `a/…`.
        for from in [0, run.find('=').map_or(0, |at| at + 1)] {
            let run = run.get(from..).unwrap_or_default().trim_end_matches('=');
            let whole = run.len() - usize::from(run.len() % 4 == 1);
            let run = run.get(..whole).unwrap_or_default();
            if run.len() + 8 >= MIN_RUN && may_be_text(run) {
                self.keep(decode::base64_exact(run).unwrap_or_default());
            }
        }
    }

    fn keep(&mut self, bytes: Vec<u8>) {
        let utf16 =
            bytes.len() >= 2 * MIN_SERIES && bytes.iter().skip(1).step_by(2).all(|b| *b == 0);
        let bytes = if utf16 {
            bytes.into_iter().step_by(2).collect()
        } else {
            bytes
        };
        if let Some(text) = String::from_utf8(bytes).ok().filter(|text| is_text(text)) {
            self.bytes += text.len();
            self.texts.push(text);
        }
    }
}

/// Whether the first letters of a run in base64 may be the start of a text: those of most names and
/// hashes are not.
fn may_be_text(run: &str) -> bool {
    let Some(bytes) = run.get(..16).and_then(decode::base64_exact) else {
        return true;
    };
    let cut = |error: std::str::Utf8Error| error.error_len().is_none();
    // UTF-16 has zeros between the letters.
    bytes.get(1) == Some(&0) || std::str::from_utf8(&bytes).map_or_else(cut, |_| true)
}

/// Whether bytes that were decoded are a text that somebody has written.
fn is_text(text: &str) -> bool {
    let (mut all, mut letters, mut strange) = (0usize, 0usize, 0usize);
    for c in text.chars() {
        all += 1;
        letters += usize::from(c.is_alphabetic() || c == ' ');
        strange += usize::from(c.is_control() && !c.is_whitespace() && c != '\u{1b}');
    }
    all >= MIN_SERIES && strange * 50 <= all && letters * 10 >= all * 6
}

/// One escaped letter, in the notations of URLs, HTML, strings and mails.
const ESCAPE: &str = concat!(
    r"%([4-7][0-9A-Fa-f])|&#x0*([4-7][0-9A-Fa-f]);?|&#0*(6[5-9]|[7-9]\d|1[01]\d|12[0-2]);?",
    r"|\\x([4-7][0-9A-Fa-f])|\\u\{?00([4-7][0-9A-Fa-f])\}?|\\(1[0-7][0-7])|=([4-7][0-9A-F])"
);

/// Builds the expressions.
pub(super) fn prepare() {
    LazyLock::force(&ESCAPES);
}

static ESCAPES: LazyLock<Option<(Regex, Regex)>> = LazyLock::new(|| {
    let run = format!(
        r"(?:(?:{ESCAPE})(?:%20|&#32;|&#x20;|\\x20|\\u0020|\\040|=20|[^%&\\=\n]{{0,3}})){{{MIN_ESCAPES},}}"
    );
    Some((Regex::new(ESCAPE).ok()?, Regex::new(&run).ok()?))
});

/// Runs in which so many letters are escaped that nobody could read them.
fn unescaped(text: &str) -> Vec<String> {
    let bytes = text.as_bytes();
    let marks = memchr::memchr3_iter(b'%', b'&', b'\\', bytes);
    let marks = marks.chain(memchr::memchr_iter(b'=', bytes));
    let begins = |at: &usize| {
        let after = bytes.get(at + 1).copied().unwrap_or_default();
        match bytes.get(*at) {
            Some(b'&') => after == b'#',
            Some(b'\\') => matches!(after, b'x' | b'u' | b'1'),
            Some(_) | None => matches!(after, b'4'..=b'7'),
        }
    };
    if marks.filter(begins).take(MIN_ESCAPES).count() < MIN_ESCAPES {
        return Vec::new();
    }
    let Some((escape, run)) = ESCAPES.as_ref() else {
        return Vec::new();
    };
    let runs = run.find_iter(text).take(MAX_RUNS);
    runs.map(|run| plain(escape, run.as_str())).collect()
}

fn plain(escape: &Regex, run: &str) -> String {
    let letters = escape.replace_all(run, |all: &Captures<'_>| {
        let mut found = all.iter().enumerate().skip(1);
        let code = found.find_map(|(kind, part)| {
            let base = match kind {
                3 => 10,
                6 => 8,
                _ => 16,
            };
            u8::from_str_radix(part?.as_str(), base).ok()
        });
        code.map(char::from).map(String::from).unwrap_or_default()
    });
    let spaces = ["%20", "&#32;", "&#x20;", "\\x20", "\\u0020", "\\040", "=20"];
    spaces
        .iter()
        .fold(letters.into_owned(), |text, space| text.replace(space, " "))
}

/// The text around words that are turned by thirteen places or written backwards.
fn turned(text: &str, hits: &Hits) -> Vec<String> {
    let mut all = Vec::new();
    for turn in [Turn::Rot13, Turn::Reversed] {
        let mut ranges = hits.turned.iter().filter(|(kind, _)| *kind == turn);
        let Some((_, first)) = ranges.next() else {
            continue;
        };
        let Some((_, second)) = ranges.next() else {
            continue;
        };
        let from = text.floor_char_boundary(first.start.saturating_sub(AROUND));
        let to = text.ceil_char_boundary((second.end + AROUND).min(text.len()));
        let part = text.get(from..to).unwrap_or_default();
        all.push(match turn {
            Turn::Rot13 => decode::rot13(part),
            Turn::Reversed => part.chars().rev().collect(),
        });
    }
    all
}
