//! A line as a reader sees it: without the disguises and the decoration that may surround a marking.

use super::place::BREAK;
use holdgate_effects::text::as_it_looks;
use std::borrow::Cow;

/// Single letters that follow each other before they are taken for a spaced word.
const SPACED: usize = 5;
/// Longest HTML tag or entity that is read.
const TAG: usize = 200;

/// `line` without look-alike and invisible characters, accents, HTML, emphasis, escapes, repeated
/// spaces and spaces between letters. Case stays.
pub(super) fn fold(line: &str) -> Cow<'_, str> {
    let mut folded = Cow::Borrowed(line);
    if !line.is_ascii() {
        folded = Cow::Owned(plain(line));
    }
    if folded
        .bytes()
        .any(|b| matches!(b, b'&' | b'<' | b'*' | b'\\' | b'\t'))
    {
        folded = Cow::Owned(unwrapped(&folded));
    }
    if has_spaced(&folded) {
        folded = Cow::Owned(joined(&folded));
    }
    if folded.contains("  ") {
        folded = Cow::Owned(single_spaced(&folded));
    }
    folded
}

fn single_spaced(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c != ' ' || !out.ends_with(' ') {
            out.push(c);
        }
    }
    out
}

/// ASCII where there is a twin.
fn plain(line: &str) -> String {
    // Only words of mixed script can imitate: no other alphabet has twins of all letters.
    let looks = if is_mixed(line) {
        as_it_looks(line)
    } else {
        Cow::Borrowed(line)
    };
    looks.chars().filter_map(ascii).collect()
}

/// Whether a letter that is neither Latin nor a full-width form touches an ASCII letter, or a letter
/// is of an alphabet for formulas.
fn is_mixed(line: &str) -> bool {
    let mut before = ' ';
    for c in line.chars() {
        let foreign = |c: char| matches!(c, '\u{250}'..='\u{1fff}' | '\u{a640}'..='\u{abff}');
        if foreign(c) && before.is_ascii_alphabetic() || foreign(before) && c.is_ascii_alphabetic()
        {
            return true;
        }
        if matches!(c, '\u{2100}'..='\u{218f}' | '\u{2460}'..='\u{24ff}' | '\u{1d400}'..='\u{1d7ff}' | '\u{1f100}'..='\u{1f1ff}')
        {
            return true;
        }
        if !matches!(c, '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{ad}') {
            before = c;
        }
    }
    false
}

/// The ASCII twin of a character, or nothing for what shows nothing.
fn ascii(c: char) -> Option<char> {
    Some(match c {
        '\0'..='\x7f' => c,
        '\u{ad}'
        | '\u{34f}'
        | '\u{180e}'
        | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{2069}'
        | '\u{feff}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{300}'..='\u{36f}'
        | '\u{e0000}'..='\u{e0fff}' => return None,
        '\u{a0}'
        | '\u{1680}'
        | '\u{2000}'..='\u{200a}'
        | '\u{2028}'
        | '\u{2029}'
        | '\u{202f}'
        | '\u{205f}'
        | '\u{3000}' => ' ',
        '\u{2010}'..='\u{2015}'
        | '\u{2212}'
        | '\u{fe58}'
        | '\u{fe63}'
        | '\u{2022}'
        | '\u{b7}'
        | '\u{25cf}'
        | '\u{25a0}'
        | '\u{2588}' => '-',
        '\u{2044}' | '\u{2215}' | '\u{29f8}' | '\u{2571}' => '/',
        '\u{201c}'..='\u{201f}' | '\u{ab}' | '\u{bb}' => '"',
        '\u{2018}'..='\u{201b}' => '\'',
        '\u{2502}' | '\u{2503}' | '\u{2551}' => '|',
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(c as u32 - 0xfee0).unwrap_or(c),
        'À'..='Å' | 'Ā' | 'Ă' | 'Ą' => 'A',
        'à'..='å' | 'ā' | 'ă' | 'ą' => 'a',
        'Ç' | 'Ć' | 'Č' => 'C',
        'ç' | 'ć' | 'č' => 'c',
        'È'..='Ë' | 'Ē' | 'Ę' | 'Ě' => 'E',
        'è'..='ë' | 'ē' | 'ę' | 'ě' => 'e',
        'Ì'..='Ï' | 'İ' => 'I',
        'ì'..='ï' | 'ı' => 'i',
        'Ñ' | 'Ń' => 'N',
        'ñ' | 'ń' => 'n',
        'Ò'..='Ö' | 'Ø' | 'Ő' => 'O',
        'ò'..='ö' | 'ø' | 'ő' => 'o',
        'Ù'..='Ü' | 'Ű' => 'U',
        'ù'..='ü' | 'ű' => 'u',
        'Ś' | 'Š' | 'Ş' => 'S',
        'ś' | 'š' | 'ş' => 's',
        'Ź' | 'Ż' | 'Ž' => 'Z',
        'ź' | 'ż' | 'ž' => 'z',
        'Ł' => 'L',
        'ł' => 'l',
        'Ğ' => 'G',
        'ğ' => 'g',
        other => other,
    })
}

/// Without tags, entities, emphasis and escapes. An escaped line break becomes one, which ends
/// a segment.
fn unwrapped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['&', '<', '*', '\\', '\t']) {
        let (before, from) = rest.split_at_checked(at).unwrap_or_default();
        out.push_str(before);
        let (with, length) = replacement(from);
        out.push_str(&with);
        rest = from.get(length..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

/// What replaces the beginning of `from`, and how long that is.
fn replacement(from: &str) -> (Cow<'static, str>, usize) {
    let mut chars = from.chars();
    let first = chars.next().unwrap_or(' ');
    let second = chars.next().unwrap_or(' ');
    match first {
        '*' if second == '*' => ("".into(), 2),
        // The sign of a comment stays one.
        '*' if second == '/' => ("*".into(), 1),
        '*' => ("".into(), 1),
        // A column or a gap between letters.
        '\t' => ("  ".into(), 1),
        '\\' => match second {
            'n' | 'r' => (BREAK.into(), 2),
            't' => ("  ".into(), 2),
            '/' | '"' | '-' | '(' | ')' | '[' | ']' | '_' | '*' => (second.to_string().into(), 2),
            _ => ("\\".into(), 1),
        },
        '<' => tag(from),
        _ => entity(from),
    }
}

fn tag(from: &str) -> (Cow<'static, str>, usize) {
    let name = from.trim_start_matches(['<', '/', '!']);
    let window = from.get(..from.floor_char_boundary(TAG)).unwrap_or(from);
    let end = window
        .find('>')
        .filter(|_| name.starts_with(|c: char| c.is_ascii_alphabetic()));
    match end {
        // Elements of a line keep its words apart; the others end it.
        Some(end) => {
            let inline = ["b>", "i>", "u>", "em>", "strong", "span", "font", "mark"];
            let code = ["code", "option", "kbd", "samp", "tt>", "pre>"];
            let is = |tags: &[&str]| tags.iter().any(|tag| name.starts_with(tag));
            let with = match (is(&inline), is(&code)) {
                (true, _) => "",
                (false, true) => "`",
                (false, false) => BREAK,
            };
            (with.into(), end + 1)
        }
        None => ("<".into(), 1),
    }
}

fn entity(from: &str) -> (Cow<'static, str>, usize) {
    let window = from.get(..from.floor_char_boundary(12)).unwrap_or(from);
    let Some(end) = window.find(';') else {
        return ("&".into(), 1);
    };
    let name = window.get(1..end).unwrap_or_default();
    let code = match name.strip_prefix('#') {
        Some(number) => match number.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16).ok(),
            None => number.parse().ok(),
        },
        None => named(name).map(u32::from),
    };
    match code.and_then(char::from_u32).and_then(ascii) {
        Some('\n' | '\r') => (" ".into(), end + 1),
        Some(c) => (c.to_string().into(), end + 1),
        None if code.is_some() => ("".into(), end + 1),
        None => ("&".into(), 1),
    }
}

fn named(name: &str) -> Option<char> {
    Some(match name {
        "nbsp" | "ensp" | "emsp" | "thinsp" => ' ',
        "amp" => '&',
        "sol" => '/',
        "colon" => ':',
        "comma" => ',',
        "lpar" => '(',
        "rpar" => ')',
        "lsqb" => '[',
        "rsqb" => ']',
        "equals" => '=',
        "hyphen" | "dash" | "ndash" | "mdash" => '-',
        "quot" => '"',
        "lt" => '<',
        "gt" => '>',
        "shy" | "zwnj" | "zwj" | "ZeroWidthSpace" => '\u{200b}',
        "Eacute" | "Egrave" => 'E',
        "eacute" | "egrave" => 'e',
        "Uuml" => 'U',
        "uuml" => 'u',
        _ => return None,
    })
}

/// Whether some letters stand alone, with the same sign between them: `S E C R E T`, `S.E.C.R.E.T`.
fn has_spaced(text: &str) -> bool {
    let mut run = 0;
    let mut before = b' ';
    let mut letter = false;
    for b in text.bytes() {
        let gap = matches!(b, b' ' | b'.' | b'-' | b'_' | b'/');
        if b.is_ascii_uppercase() && !letter && !before.is_ascii_alphanumeric() {
            run += 1;
            letter = true;
        } else if gap {
            letter = false;
        } else {
            run = 0;
            letter = b.is_ascii_alphanumeric();
        }
        if b.is_ascii_uppercase() && before.is_ascii_alphanumeric() {
            run = 0;
        }
        if run >= SPACED {
            return true;
        }
        before = b;
    }
    false
}

/// The letters of spaced words together. Within a run of letters the narrowest gap stands between
/// letters, and a wider one between words.
fn joined(text: &str) -> String {
    let dotted: Vec<Cow<'_, str>> = text.split(' ').map(undotted).collect();
    let mut out = String::with_capacity(text.len());
    let mut words = dotted.iter().peekable();
    let mut run: Vec<(&str, usize)> = Vec::new();
    let mut gap = 0;
    loop {
        let word = words.next();
        match word {
            Some(word) if word.is_empty() => gap += 1,
            Some(word) if is_single(word) => {
                run.push((word, gap));
                gap = 1;
            }
            other => {
                flush(&run, &mut out);
                run.clear();
                let Some(word) = other else { break };
                out.extend(std::iter::repeat_n(' ', gap));
                out.push_str(word);
                gap = 1;
            }
        }
    }
    out
}

fn is_single(word: &str) -> bool {
    word == "//"
        || word == "/"
        || word.len() == 1 && word.bytes().all(|b| b.is_ascii_uppercase() || b == b'-')
}

/// `S.E.C.R.E.T` as `SECRET`.
fn undotted(word: &str) -> Cow<'_, str> {
    let bytes = word.as_bytes();
    let (Some(b'.' | b'-' | b'_'), true) = (bytes.get(1), bytes.len() > 2 * SPACED - 2) else {
        return word.into();
    };
    let spaced = bytes.chunks(2).all(|pair| {
        pair.first().is_some_and(u8::is_ascii_uppercase)
            && pair.get(1).is_none_or(|sign| Some(sign) == bytes.get(1))
    });
    if spaced {
        word.chars().step_by(2).collect::<String>().into()
    } else {
        word.into()
    }
}

fn flush(run: &[(&str, usize)], out: &mut String) {
    let letters = run
        .iter()
        .filter(|(word, _)| word.len() == 1 && *word != "/")
        .count();
    let narrow = run.iter().skip(1).map(|(_, gap)| *gap).min().unwrap_or(1);
    for (number, (word, gap)) in run.iter().enumerate() {
        let sign = word.starts_with('/') || out.ends_with('/');
        let apart = letters < SPACED || number == 0 || *gap > narrow;
        if apart && !(sign && letters >= SPACED && number > 0) {
            out.extend(std::iter::repeat_n(' ', *gap));
        }
        out.push_str(word);
    }
}
