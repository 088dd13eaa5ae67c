//! The Unicode pass: a text as a reader sees it, and what is written in characters that show nothing.

use holdgate_effects::text::{as_it_looks, first_foreign, look_of_normal, normalise};
use std::borrow::Cow;

/// Invisible characters in a row that no script and no emoji needs.
const LONG_RUN: usize = 24;
/// Invisible characters in a row that may be a message.
const SHORT_RUN: usize = 4;
/// Letters of a message that is no accident.
pub(super) const MIN_MESSAGE: usize = 4;
/// Bytes of messages that are kept.
const MAX_MESSAGES: usize = 1 << 16;

const BLACK_FLAG: char = '\u{1F3F4}';
const REVERSE: char = '\u{202E}';

/// What a text shows, and what it hides.
#[derive(Debug)]
pub(super) struct Seen<'a> {
    /// The text in compatibility form, without invisible characters, and in lower case of the same
    /// length where it is not ASCII.
    pub(super) text: Cow<'a, str>,
    /// Other ways to read it: look-alike letters as those that they imitate, right to left.
    pub(super) others: Vec<String>,
    /// Messages in invisible characters.
    pub(super) messages: Vec<String>,
    /// Invisible characters in a row that cannot be read.
    pub(super) long_run: bool,
}

/// Looks at `text`.
pub(super) fn look(text: &str) -> Seen<'_> {
    if text.is_ascii() {
        return Seen {
            text: Cow::Borrowed(text),
            others: Vec::new(),
            messages: Vec::new(),
            long_run: false,
        };
    }
    let normal = normalise(text);
    let letters = drawn_upright(text);
    let looks = if letters == text {
        look_of_normal(&normal)
    } else {
        Some(as_it_looks(&letters).into_owned()).filter(|looks| *looks != normal)
    };
    let mut others: Vec<String> = looks.iter().map(|looks| lower(looks)).collect();
    if text.contains(REVERSE) {
        others.push(lower(&normalise(&turned(text))));
    }
    let (messages, long_run) = messages(text);
    Seen {
        text: Cow::Owned(lower(&normal)),
        others,
        messages,
        long_run,
    }
}

/// The text with every character of it `upright`.
fn drawn_upright(text: &str) -> String {
    let mut upright_text = String::with_capacity(text.len());
    each_foreign(text, |plain, foreign| {
        upright_text.push_str(plain);
        upright_text.extend(foreign.and_then(upright));
    });
    upright_text
}

/// Calls `each` for every character that is not ASCII, with what stands before it, and for the rest.
fn each_foreign<'t>(text: &'t str, mut each: impl FnMut(&'t str, Option<char>)) {
    let mut rest = text;
    while let Some(at) = first_foreign(rest) {
        let (plain, from) = rest.split_at_checked(at).unwrap_or_default();
        let mut chars = from.chars();
        each(plain, chars.next());
        rest = chars.as_str();
    }
    each(rest, None);
}

/// A letter without its marks, and letters that are drawn in other ways: as flags, as Braille, and as
/// those that the table of look-alikes knows as `l`.
fn upright(c: char) -> Option<char> {
    let from = |first: char, base: char| {
        let offset = u32::from(c) - u32::from(first);
        char::from_u32(u32::from(base) + offset)
    };
    match c {
        '\0'..='\x7f' => Some(c),
        '\u{300}'..='\u{36F}' => None,
        '\u{406}' | '\u{399}' | '\u{4C0}' => Some('I'),
        '\u{456}' | '\u{3B9}' => Some('i'),
        '\u{1F1E6}'..='\u{1F1FF}' => from('\u{1F1E6}', 'a'),
        '\u{2800}'..='\u{283F}' => Some(braille(c).unwrap_or(c)),
        other => Some(other),
    }
}

/// The letters of Braille, from `a` on.
fn braille(c: char) -> Option<char> {
    const LETTERS: &str = "⠁⠃⠉⠙⠑⠋⠛⠓⠊⠚⠅⠇⠍⠝⠕⠏⠟⠗⠎⠞⠥⠧⠺⠭⠽⠵";
    let at = LETTERS.chars().position(|letter| letter == c)?;
    char::from_u32(u32::from('a') + u32::try_from(at).ok()?)
}

/// Lower case, where that takes as many bytes.
fn lower(text: &str) -> String {
    let mut lower = String::with_capacity(text.len());
    each_foreign(text, |plain, foreign| {
        lower.push_str(plain);
        if let Some(c) = foreign {
            let mut small = c.to_lowercase();
            match (small.next(), small.next()) {
                (Some(only), None) if only.len_utf8() == c.len_utf8() => lower.push(only),
                _ => lower.push(c),
            }
        }
    });
    lower
}

/// Every part that is forced to run from right to left, as it is read.
fn turned(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut part: Option<String> = None;
    let mut put = |part: &mut Option<String>| {
        if let Some(part) = part.take() {
            shown.extend(part.chars().rev());
        }
    };
    let mut plain = Vec::new();
    for c in text.chars() {
        match c {
            REVERSE => part = Some(String::new()),
            '\u{202C}' | '\n' => {
                put(&mut part);
                plain.push(c);
            }
            c => match &mut part {
                Some(part) => part.push(c),
                None => plain.push(c),
            },
        }
    }
    put(&mut part);
    // What runs from left to right stays as it is in the other readings.
    shown.push('\n');
    shown
}

/// What an invisible character stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unseen {
    /// A tag is an ASCII character.
    Tag(u8),
    /// There are 256 variation selectors, as many as there are bytes.
    Selector(u8),
    /// A digit of some kind, or nothing.
    Blank(char),
}

fn unseen(c: char) -> Option<Unseen> {
    let code = u32::from(c);
    Some(match code {
        0xE0000..=0xE007F => Unseen::Tag(u8::try_from(code & 0x7F).unwrap_or_default()),
        0xFE00..=0xFE0F => Unseen::Selector(u8::try_from(code - 0xFE00).unwrap_or_default()),
        0xE0100..=0xE01EF => {
            Unseen::Selector(u8::try_from(code - 0xE0100 + 16).unwrap_or_default())
        }
        0x200B..=0x200F | 0x2060..=0x2064 | 0xFEFF | 0x180E | 0x034F | 0x3164 | 0x061C => {
            Unseen::Blank(c)
        }
        _ => return None,
    })
}

/// The messages in runs of invisible characters, and whether there is a long run that is none.
fn messages(text: &str) -> (Vec<String>, bool) {
    let (mut all, mut long_run, mut kept) = (Vec::new(), false, 0);
    let mut run: Vec<Unseen> = Vec::new();
    // Messages may be spread over the words of a text.
    let (mut tags, mut selectors) = (String::new(), Vec::new());
    let mut before = ' ';
    let mut finish = |run: &mut Vec<Unseen>| {
        if run.len() >= SHORT_RUN && kept < MAX_MESSAGES {
            let message = digits(run);
            long_run |= message.is_none() && blanks(run) >= LONG_RUN;
            kept += message.as_ref().map_or(0, String::len);
            all.extend(message);
        }
        run.clear();
    };
    each_foreign(text, |plain, foreign| {
        if let Some(last) = plain.chars().next_back() {
            before = last;
            finish(&mut run);
        }
        let Some(c) = foreign else {
            return;
        };
        let Some(part) = unseen(c) else {
            before = c;
            finish(&mut run);
            return;
        };
        match part {
            Unseen::Tag(byte) if before != BLACK_FLAG => {
                tags.extend((byte >= 0x20).then_some(char::from(byte)));
            }
            Unseen::Selector(byte) => selectors.push(byte),
            Unseen::Tag(_) | Unseen::Blank(_) => {}
        }
        run.push(part);
    });
    finish(&mut run);
    // Emoji have one selector each, mostly the same.
    if selectors.len() >= 8 && selectors.iter().any(|b| !matches!(b, 14 | 15)) {
        all.extend(String::from_utf8(selectors).ok().filter(|m| is_message(m)));
    }
    if is_message(&tags) {
        all.push(tags);
    }
    (all, long_run)
}

fn blanks(run: &[Unseen]) -> usize {
    let blank = |part: &&Unseen| matches!(part, Unseen::Blank(_));
    run.iter().filter(blank).count()
}

/// A run of two different blanks as the digits of bytes.
fn digits(run: &[Unseen]) -> Option<String> {
    let marks: Vec<char> = run
        .iter()
        .filter_map(|part| match part {
            Unseen::Blank(c) => Some(*c),
            Unseen::Tag(_) | Unseen::Selector(_) => None,
        })
        .collect();
    let mut kinds = marks.clone();
    kinds.sort_unstable();
    kinds.dedup();
    let [first, second, ..] = kinds.as_slice() else {
        return None;
    };
    for one in [second, first] {
        let bits: Vec<u8> = marks
            .iter()
            .filter(|c| [first, second].contains(c))
            .map(|c| u8::from(c == one))
            .collect();
        let bytes = bits.as_chunks::<8>().0.iter();
        let bytes = bytes.map(|eight| eight.iter().fold(0, |byte, bit| byte << 1 | bit));
        let text = String::from_utf8(bytes.collect()).ok();
        if let Some(message) = text.filter(|text| is_message(text)) {
            return Some(message);
        }
    }
    None
}

/// Whether somebody has written this.
fn is_message(text: &str) -> bool {
    let letters = text.chars().filter(|c| c.is_alphanumeric()).count();
    let strange = text
        .chars()
        .filter(|c| c.is_control() && !c.is_whitespace())
        .count();
    letters >= MIN_MESSAGE && strange == 0
}
