//! What a text looks like is not what it is: the forms that are compared besides the one written.
//!
//! These forms are for judging only. What is sent, recorded and shown stays as it was written.

pub mod secret;
pub(crate) mod words;

use crate::value::HOLE;
use std::borrow::Cow;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};
use unicode_security::confusable_detection::skeleton;

/// `text` in compatibility form (NFKC) without characters that show nothing.
///
/// Lines stay lines. What would become a quote, a `$`, a backtick or a backslash stays as it is: no
/// shell takes a full-width quote for a quote, and prose that has one would fall apart. A [`HOLE`]
/// becomes U+FFFD, so that no text from outside can pretend to be unknown.
pub fn normalise(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let mut normal = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = first_foreign(rest) {
        // The letter before may take on an accent.
        let (plain, run) = rest
            .split_at_checked(at.saturating_sub(1))
            .unwrap_or_default();
        let skipped = at - plain.len();
        let native = run.bytes().skip(skipped).position(|b| b.is_ascii());
        let end = native.map_or(run.len(), |native| skipped + native);
        let (run, after) = run.split_at_checked(end).unwrap_or_default();
        normal.push_str(plain);
        normalise_run(run, &mut normal);
        rest = after;
    }
    normal.push_str(rest);
    if normal == text {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(normal)
    }
}

/// The first byte of `text` that is not ASCII. Eight bytes are looked at together.
pub fn first_foreign(text: &str) -> Option<usize> {
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let (eights, rest) = text.as_bytes().as_chunks::<8>();
    for (number, eight) in eights.iter().enumerate() {
        let high = u64::from_le_bytes(*eight) & HIGH;
        if high != 0 {
            return Some(number * 8 + high.trailing_zeros() as usize / 8);
        }
    }
    let at = rest.iter().position(|b| !b.is_ascii())?;
    Some(eights.len() * 8 + at)
}

fn normalise_run(run: &str, normal: &mut String) {
    // Arrows, dashes and most letters are what they are.
    let special = |c: char| is_ignorable(c) || c == HOLE || would_quote(c);
    if is_nfkc_quick(run.chars()) == IsNormalized::Yes && !run.contains(special) {
        normal.push_str(run);
        return;
    }
    let mut pending = String::new();
    for c in run.chars() {
        if is_ignorable(c) {
            continue;
        }
        if c == HOLE || would_quote(c) {
            normal.extend(pending.nfkc());
            pending.clear();
            normal.push(if c == HOLE { '\u{FFFD}' } else { c });
        } else {
            pending.push(c);
        }
    }
    normal.extend(pending.nfkc());
}

/// `text` without any [`HOLE`] of its own.
pub(crate) fn without_holes(text: &str) -> Cow<'_, str> {
    if text.contains(HOLE) {
        Cow::Owned(text.replace(HOLE, "\u{FFFD}"))
    } else {
        Cow::Borrowed(text)
    }
}

/// The first `most` bytes of `text`, or a little less where a character would be cut.
pub(crate) fn beginning(text: &str, most: usize) -> &str {
    text.split_at_checked(text.floor_char_boundary(most))
        .map_or(text, |(start, _)| start)
}

/// The ASCII text that `text` looks like, if it is not ASCII and every letter of it has such a twin:
/// `cat` for the Cyrillic `сат`.
pub(crate) fn skeleton_ascii(text: &str) -> Option<String> {
    if text.is_ascii() {
        return None;
    }
    let mut ascii = String::with_capacity(text.len());
    let mut buffer = [0; 4];
    for c in text.chars() {
        if c.is_ascii() {
            // Kept: by the book `m` looks like `rn`, and `0` like `O`.
            ascii.push(c);
            continue;
        }
        if is_ignorable(c) {
            continue;
        }
        let start = ascii.len();
        for twin in skeleton(c.encode_utf8(&mut buffer)) {
            let twin = small_capital(twin).unwrap_or(twin);
            if !twin.is_ascii_graphic() {
                return None;
            }
            ascii.push(twin);
        }
        if ascii.len() == start {
            return None;
        }
    }
    Some(ascii)
}

/// `normalise`, and every word that looks like ASCII as what it looks like.
pub fn as_it_looks(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let normal = normalise(text);
    match look_of_normal(&normal) {
        Some(looks) if looks == text => Cow::Borrowed(text),
        Some(looks) => Cow::Owned(looks),
        None => normal,
    }
}

/// The same of a text that is normal, if it looks like another one.
pub fn look_of_normal(normal: &str) -> Option<String> {
    if normal.is_ascii() {
        return None;
    }
    let mut looks = String::with_capacity(normal.len());
    let mut rest = normal;
    while let Some(at) = first_foreign(rest) {
        let before = rest.get(..at).unwrap_or_default();
        let start = before.rfind(|c| !in_word(c)).map_or(0, |last| last + 1);
        let (plain, word) = rest.split_at_checked(start).unwrap_or_default();
        let end = word.find(|c| !in_word(c)).unwrap_or(word.len());
        let (word, after) = word.split_at_checked(end).unwrap_or_default();
        looks.push_str(plain);
        match skeleton_ascii(word) {
            Some(ascii) => looks.push_str(&ascii),
            None => looks.push_str(word),
        }
        let mut chars = after.chars();
        looks.extend(chars.next());
        rest = chars.as_str();
    }
    looks.push_str(rest);
    (looks != normal).then_some(looks)
}

/// Whether a word of a command has characters in it that a reader of the command cannot see.
///
/// Only words outside of quotes count, and only where the hidden character touches ASCII: joined
/// emoji, Persian and Indic words and quoted prose need such characters. Text after a here-document
/// has begun is not looked at.
pub(crate) fn hides_in_words(command: &str) -> bool {
    if command.is_ascii() {
        return false;
    }
    let command = command.strip_prefix('\u{FEFF}').unwrap_or(command);
    let mut quote = None;
    let mut before = ' ';
    let mut before_tag = ' ';
    let mut here_document = false;
    let mut chars = command.chars().peekable();
    while let Some(c) = chars.next() {
        let after = chars.peek().copied().unwrap_or(' ');
        match quote {
            Some(q) if c == q => quote = None,
            None if c == '\n' && here_document => return false,
            None if matches!(c, '\'' | '"') && before != '\\' => quote = Some(c),
            None if c == '<' && before == '<' => here_document = after != '<',
            None if is_tag(c) && before_tag != BLACK_FLAG => return true,
            None if is_ignorable(c) && !is_tag(c) => {
                let keycap = c == '\u{FE0F}' && after == '\u{20E3}';
                if !keycap && (touches_word(before) || touches_word(after)) {
                    return true;
                }
            }
            Some(_) | None => {}
        }
        before = c;
        if !is_tag(c) {
            before_tag = c;
        }
    }
    false
}

/// England's flag is this one followed by tags.
const BLACK_FLAG: char = '\u{1F3F4}';

fn touches_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '-' | '_' | '~' | '$')
}

fn in_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_') || !c.is_ascii()
}

fn is_tag(c: char) -> bool {
    matches!(c, '\u{E0000}'..='\u{E007F}')
}

/// Characters that show nothing by themselves (Unicode: `Default_Ignorable_Code_Point`).
fn is_ignorable(c: char) -> bool {
    matches!(c,
        '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}'
        | '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}'
        | '\u{2060}'..='\u{206F}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}'
        | '\u{FFA0}' | '\u{FFF0}'..='\u{FFF8}' | '\u{1BCA0}'..='\u{1BCA3}'
        | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}')
}

fn would_quote(c: char) -> bool {
    matches!(
        c,
        '＂' | '＇' | '｀' | '＄' | '＼' | '﹩' | '﹨' | '\u{1FEF}'
    )
}

/// The confusables table ends at small capitals, which look like the letters for all purposes here.
fn small_capital(c: char) -> Option<char> {
    let letter = match c {
        'ᴀ' => 'a',
        'ʙ' => 'b',
        'ᴄ' => 'c',
        'ᴅ' => 'd',
        'ᴇ' => 'e',
        'ꜰ' => 'f',
        'ɢ' => 'g',
        'ʜ' => 'h',
        'ɪ' => 'i',
        'ᴊ' => 'j',
        'ᴋ' | 'ĸ' => 'k',
        'ʟ' => 'l',
        'ᴍ' => 'm',
        'ɴ' => 'n',
        'ᴏ' => 'o',
        'ᴘ' => 'p',
        'ʀ' => 'r',
        'ꜱ' => 's',
        'ᴛ' => 't',
        'ᴜ' => 'u',
        'ᴠ' => 'v',
        'ᴡ' => 'w',
        'ʏ' => 'y',
        'ᴢ' => 'z',
        _ => return None,
    };
    Some(letter)
}

#[cfg(test)]
mod tests;
