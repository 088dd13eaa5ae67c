//! Reads the markings of one folded line, at its tokens.

use super::banner::{Blocks, blocks, is_word};
use super::countries::is_code;
use super::mark::Form;
use super::place::{Place, Spot, is_start, spot};
use super::tables::{Family, Level, SHORT_LEVELS, Sense};
use super::tokens::{Hit, Label, Token};

/// What was read in a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Read {
    pub(super) family: Family,
    pub(super) form: Form,
    pub(super) spot: Spot,
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) blocks: usize,
}

/// The marking at `hit`, if there is one.
pub(super) fn read(line: &str, hit: Hit) -> Option<Read> {
    let before = line.get(..hit.start)?;
    let word = line.get(hit.start..hit.end)?;
    let rest = line.get(hit.end..)?;
    match hit.token {
        Token::Level(level) => banner(line, hit, level),
        Token::Phrase(family, sense) => phrase(line, hit, family, sense),
        Token::Portion => portion(line, hit),
        Token::Short => short(line, hit),
        Token::Sec => mail(line, hit),
        Token::Label(label) => label_line(line, hit, label),
        Token::Distribution => statement(line, hit),
        Token::Authorized => {
            let us = [
                "U.S.", "US ", "DoD", "DOD", "the De", "THE DE", "Dep", "DEP", "by", "BY",
            ];
            let names = us.iter().any(|us| rest.trim_start().starts_with(us));
            let written = !word.starts_with(|c: char| c.is_lowercase());
            let spot = spot(line, hit.start, hit.end);
            (names && written && !before.ends_with(is_word)).then_some(Read {
                family: Family::Distribution,
                form: Form::Full,
                spot,
                start: hit.start,
                end: hit.end,
                blocks: 1,
            })
        }
        Token::Export | Token::Disguise => None,
    }
}

/// Whether a word can begin here: no identifier, path, host or option goes before it.
fn is_apart(before: &str) -> bool {
    let Some(last) = before.chars().next_back() else {
        return true;
    };
    if last == '/' {
        return before
            .trim()
            .bytes()
            .all(|b| matches!(b, b'/' | b'*' | b'#' | b'('));
    }
    !is_word(last) && !matches!(last, '.' | '$' | '@' | '-' | '\\' | '%' | '&' | '?')
}

/// Whether a word ends here, and is not the name of something.
fn is_ended(rest: &str) -> bool {
    let mut chars = rest.chars();
    let next = chars.next();
    let second = chars.next();
    match next {
        None => true,
        Some(c) if is_word(c) => false,
        Some('.' | '-' | ':' | '/' | '@' | '\\') => second.is_none_or(|c| !is_word(c) && c != ':'),
        Some('[' | '=' | '$' | '(') => false,
        Some(_) => true,
    }
}

fn is_upper(word: &str) -> bool {
    !word.contains(char::is_lowercase)
}

fn banner(line: &str, hit: Hit, level: Level) -> Option<Read> {
    let (before, word, rest) = around(line, hit)?;
    let upper = is_upper(word);
    let next = rest.trim_start_matches(' ');
    // Most words of prose and code end here.
    if !upper && !next.starts_with("//") {
        return None;
    }
    let owner = owner(before);
    if owner.is_none() && !is_apart(before) || rest.starts_with(is_word) {
        return file_name(line, hit);
    }
    let found = blocks(rest, level);
    let at = owner.unwrap_or(hit.start);
    let end = hit.end + found.length;
    let spot = spot(line, at, end);
    let form = banner_form(level, found, spot, rest, owner.is_some())?;
    if !upper && (form != Form::Full || found.strong == 0) {
        return None;
    }
    let family = match level {
        Level::Cui | Level::Controlled | Level::Unclassified => Family::Cui,
        Level::Official | Level::Protected => Family::Au,
        Level::TopSecret | Level::Secret | Level::Confidential | Level::Restricted => Family::Us,
    };
    Some(Read {
        family,
        form,
        spot,
        start: at,
        end,
        blocks: found.known + usize::from(owner.is_some()),
    })
}

fn around(line: &str, hit: Hit) -> Option<(&str, &str, &str)> {
    Some((
        line.get(..hit.start)?,
        line.get(hit.start..hit.end)?,
        line.get(hit.end..)?,
    ))
}

fn banner_form(level: Level, found: Blocks, spot: Spot, rest: &str, owned: bool) -> Option<Form> {
    if found.known > 0 {
        // `SECRET // SI units`
        let loose = rest.starts_with(' ') && found.strong == 0 && found.known < 2;
        let outside = !matches!(spot.place, Place::Own | Place::Marked);
        return Some(if loose && outside {
            Form::Code
        } else {
            Form::Full
        });
    }
    if owned {
        return Some(Form::Full);
    }
    if found.public {
        return None;
    }
    if found.unknown > 0 {
        let own = matches!(spot.place, Place::Own | Place::Marked);
        let clear = matches!(level, Level::TopSecret | Level::Cui);
        let code = matches!(
            level,
            Level::Unclassified | Level::Official | Level::Restricted | Level::Controlled
        );
        return match (own, clear) {
            (true, true) => Some(Form::Full),
            (true, false) if !code => Some(Form::Code),
            _ => None,
        };
    }
    let alone = matches!(
        level,
        Level::TopSecret
            | Level::Secret
            | Level::Confidential
            | Level::Restricted
            | Level::Cui
            | Level::Protected
    );
    (alone && is_ended(rest)).then_some(Form::Bare(level))
}

/// Where the country before a foreign level begins: `//GBR SECRET`, `//JOINT SECRET`.
fn owner(before: &str) -> Option<usize> {
    let name = before.strip_suffix(' ')?;
    let at = name.rfind("//")?;
    let codes = name.get(at + 2..)?;
    let named = codes == "JOINT" || !codes.is_empty() && codes.split(' ').all(is_code);
    let url = name
        .get(..at)?
        .strip_suffix(':')
        .is_some_and(|s| s.ends_with(char::is_alphabetic));
    (named && !url).then_some(at)
}

/// A file's name: `SECRET_NOFORN_annex.pdf`.
fn file_name(line: &str, hit: Hit) -> Option<Read> {
    let (before, word, rest) = around(line, hit)?;
    let begins = before
        .chars()
        .next_back()
        .is_none_or(|c| !c.is_alphanumeric());
    let length = rest
        .find(|c: char| !is_word(c) && !matches!(c, '-' | '.' | '(' | ')'))
        .unwrap_or(rest.len());
    let name = rest.get(..length)?;
    let (stem, kind) = name.rsplit_once('.')?;
    let strong = ["NOFORN", "ORCON", "FOUO", "REL_TO", "RELIDO", "AUSTEO"];
    let marked = strong.iter().any(|control| {
        stem.split(['_', '-']).any(|part| part == *control)
            || *control == "REL_TO" && stem.contains("_REL_TO_USA")
    });
    let document = [
        "pdf", "doc", "docx", "ppt", "pptx", "xls", "xlsx", "txt", "md", "csv", "zip", "eml",
        "msg", "kml", "kmz", "json", "png", "jpg",
    ];
    let is_file = is_upper(word)
        && begins
        && marked
        && document.contains(&kind.to_ascii_lowercase().as_str());
    let end = hit.end + length;
    let mut spot = spot(line, hit.start, end);
    spot.place = Place::Value;
    is_file.then_some(Read {
        family: Family::Us,
        form: Form::Full,
        spot,
        start: hit.start,
        end,
        blocks: 2,
    })
}

fn phrase(line: &str, hit: Hit, family: Family, sense: Sense) -> Option<Read> {
    let (before, word, rest) = around(line, hit)?;
    let bracketed = before.ends_with(['(', '[']);
    if !is_apart(before) && !bracketed
        || !is_ended(rest) && !rest.starts_with(['-', ':', '.', '(', '/'])
        || rest.starts_with(is_word)
    {
        return None;
    }
    let level = match family {
        Family::Cui => Level::Cui,
        Family::Au | Family::Uk | Family::Ca => Level::Protected,
        _ => Level::Secret,
    };
    let found = blocks(rest, level);
    let end = hit.end + found.length;
    let spot = spot(line, hit.start, end);
    let first: String = word.chars().take_while(|c| c.is_alphanumeric()).collect();
    let form = match sense {
        _ if family == Family::Tlp && !is_upper(word) => Form::Loose,
        Sense::Only if is_upper(word) && found.known > 0 => Form::Full,
        Sense::Only if is_upper(word) => Form::Phrase,
        Sense::Word if is_upper(word) => Form::Bare(Level::Secret),
        Sense::Line if is_upper(word) => Form::Loose,
        _ if first.len() > 1 && is_upper(&first) => Form::Loose,
        _ if family == Family::National
            && !first.starts_with(char::is_lowercase)
            && word.contains([' ', '-']) =>
        {
            Form::Loose
        }
        Sense::Only if spot.strict && word.starts_with(char::is_uppercase) => Form::Loose,
        Sense::Only | Sense::Word | Sense::Line => return None,
    };
    Some(Read {
        family,
        form,
        spot,
        start: hit.start,
        end,
        blocks: found.known,
    })
}

/// `(S//NF)`, `(TS-SI-NF)`, `(//GBR S)`, `(S)`.
fn portion(line: &str, hit: Hit) -> Option<Read> {
    let before = line.get(..hit.start)?;
    let open = line.get(hit.start..)?;
    let close = if open.starts_with('[') { ']' } else { ')' };
    let window = open.get(..open.floor_char_boundary(160))?;
    let length = window.find(close)?;
    let inside = window.get(1..length)?;
    let end = hit.start + length + 1;
    let mut spot = spot(line, hit.start, end);
    if is_start(before) && spot.place != Place::Own {
        spot.place = Place::Start;
    }
    let make = |form, family, blocks| Read {
        family,
        form,
        spot,
        start: hit.start,
        end,
        blocks,
    };
    if let Some(foreign) = inside.strip_prefix("//") {
        return foreign_portion(foreign).then(|| make(Form::Full, Family::Portion, 1));
    }
    let name_length = inside.bytes().take_while(u8::is_ascii_uppercase).count();
    let (name, rest) = inside.split_at_checked(name_length)?;
    let (_, level) = *SHORT_LEVELS.iter().find(|(short, _)| *short == name)?;
    if rest.is_empty() {
        let plain = !before.ends_with(is_word) && open.starts_with('(');
        return plain.then(|| make(Form::Portion(level), Family::Portion, 0));
    }
    if before.ends_with(is_word) && !rest.starts_with("//") {
        return None;
    }
    let slashed = if rest.starts_with("//") {
        rest.to_owned()
    } else {
        rest.replace(['-', '_', '/'], "//")
    };
    let found = blocks(&slashed, level);
    let sure = ["NF", "NOFORN", "FOUO", "OC"];
    let whole = found.length >= slashed.trim_end().len() && found.known > 0;
    let named = rest.starts_with("//")
        || found.known > 1
        || slashed.split("//").any(|item| sure.contains(&item));
    let family = if level == Level::Cui || level == Level::Unclassified {
        Family::Cui
    } else {
        Family::Portion
    };
    (whole && named && found.unknown <= found.known).then(|| make(Form::Full, family, found.known))
}

/// `GBR S`, `NATO S//REL TO USA`, `NS`, `CTS-B`.
fn foreign_portion(inside: &str) -> bool {
    let first = inside.split("//").next().unwrap_or_default();
    match first.rsplit_once(' ') {
        Some((codes, level)) => {
            let short = SHORT_LEVELS.iter().any(|(short, _)| *short == level);
            short
                && codes
                    .split(' ')
                    .all(|code| is_code(code) || code == "JOINT")
                || codes.starts_with("JOINT ") && is_code(level)
        }
        None => matches!(
            first,
            "CTS" | "NS" | "NC" | "NR" | "CTS-B" | "CTSA" | "NSA" | "NCA"
        ),
    }
}

/// `TS//SI//NF` without brackets.
fn short(line: &str, hit: Hit) -> Option<Read> {
    let (before, word, _) = around(line, hit)?;
    let open = before.chars().next_back().is_none_or(|c| {
        c.is_whitespace() || matches!(c, '"' | '\'' | '[' | '>' | '|' | '=' | ':' | ',')
    });
    let level = SHORT_LEVELS
        .iter()
        .find(|(short, _)| word.strip_suffix("//") == Some(*short))?
        .1;
    let found = blocks(line.get(hit.end - 2..)?, level);
    let end = hit.end - 2 + found.length;
    let ended = is_ended(line.get(end..)?) || line.get(end..)?.starts_with(':');
    let family = if level == Level::Unclassified {
        Family::Cui
    } else {
        Family::Us
    };
    (open && ended && found.known > 0 && found.unknown == 0).then(|| Read {
        family,
        form: Form::Full,
        spot: spot(line, hit.start, end),
        start: hit.start,
        end,
        blocks: found.known,
    })
}

/// Levels of an Australian mail that limit who may read it.
const MAIL_LEVELS: &[&str] = &[
    "TOP-SECRET",
    "TOP SECRET",
    "SECRET",
    "CONFIDENTIAL",
    "RESTRICTED",
    "HIGHLY-PROTECTED",
    "PROTECTED",
    "OFFICIAL:SENSITIVE",
    "OFFICIAL: SENSITIVE",
    "OFFICIAL-SENSITIVE",
    "X-IN-CONFIDENCE",
    "IN-CONFIDENCE",
    "CABINET-IN-CONFIDENCE",
    "SENSITIVE",
    "FOR-OFFICIAL-USE-ONLY",
];

/// `[SEC=PROTECTED, CAVEAT=SH:CABINET]`.
fn mail(line: &str, hit: Hit) -> Option<Read> {
    let (before, word, rest) = around(line, hit)?;
    if !is_upper(word) || before.ends_with(is_word) || before.ends_with(['$', '-', '.', '&', '?']) {
        return None;
    }
    let level = MAIL_LEVELS.iter().find(|level| {
        rest.get(..level.len()).is_some_and(|start| {
            start.eq_ignore_ascii_case(level) && start.starts_with(|c: char| c.is_ascii_uppercase())
        })
    })?;
    let tail = rest.get(level.len()..)?;
    let boxed =
        before.ends_with('[') || before.trim_end().ends_with(',') || tail.starts_with([',', ']']);
    if tail.starts_with(is_word) || tail.starts_with(['-', '_', '.', '/']) {
        return None;
    }
    let length = tail.find([']', '"', '|']).unwrap_or(tail.len()).min(200);
    let length = if boxed {
        tail.floor_char_boundary(length)
    } else {
        0
    };
    let end = hit.end + level.len() + length;
    let mut spot = spot(line, hit.start, end);
    // The keys before it and behind it are its own.
    if boxed && spot.place == Place::Inside {
        spot.place = Place::End;
    }
    let own = matches!(spot.place, Place::Own | Place::Marked);
    let form = if boxed || own { Form::Full } else { Form::Code };
    Some(Read {
        family: Family::Au,
        form,
        spot,
        start: hit.start,
        end,
        blocks: 2,
    })
}

/// A line of a block: the label, a colon and a value that somebody has filled in.
fn label_line(line: &str, hit: Hit, label: Label) -> Option<Read> {
    let (before, word, rest) = around(line, hit)?;
    if before.ends_with(is_word) || word.starts_with(char::is_lowercase) {
        return None;
    }
    let short = word.ends_with(':')
        || label == Label::Reason && word.ends_with(|c: char| c.is_ascii_digit());
    let value = if short {
        rest
    } else {
        let colon = rest.find(':').filter(|at| *at <= 24)?;
        rest.get(colon + 1..)?
    };
    let value = value.trim().trim_matches(['"', '\'', ',', '*']).trim();
    let blank = [
        "<", "[", "{", "_", "...", "\u{2026}", "xx", "XX", "N/A", "TBD", "$", "%", "`",
    ];
    let filled = label == Label::Reason && short
        || value.len() > 1 && !blank.iter().any(|sign| value.starts_with(sign));
    // The next label may stand in the same line.
    let end = hit.end;
    let family = match label {
        Label::ClassifiedBy | Label::DerivedFrom | Label::DeclassifyOn | Label::Reason => {
            Family::Authority
        }
        Label::ControlledBy | Label::CuiCategory | Label::Dissemination | Label::Contact => {
            Family::CuiDesignation
        }
    };
    let dated = label == Label::DeclassifyOn && is_date(value);
    let mut spot = spot(line, hit.start, end);
    spot.quoted = false;
    filled.then_some(Read {
        family,
        form: Form::Label(label),
        spot,
        start: hit.start,
        end,
        blocks: usize::from(dated),
    })
}

/// `20491231`, `25X1`, `50X1-HUM`, `01/02/2045`, `MR`.
fn is_date(value: &str) -> bool {
    let word = value.split([' ', ',', ';']).next().unwrap_or_default();
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    let exempt = word.starts_with("25X")
        || word.starts_with("50X")
        || word.starts_with("75X")
        || word == "X1"
        || word == "OADR";
    exempt
        || digits == 8
            && word
                .bytes()
                .all(|b| b.is_ascii_digit() || matches!(b, b'-' | b'/' | b'.'))
}

/// `DISTRIBUTION STATEMENT D.`
fn statement(line: &str, hit: Hit) -> Option<Read> {
    let (before, word, rest) = around(line, hit)?;
    let text = rest.trim_start_matches([' ', ':', '"', '\'', '#', '-', '(']);
    let mut chars = text.chars();
    let letter = chars.next().filter(|c| matches!(c, 'A'..='F' | 'X'))?;
    if chars.next().is_some_and(is_word)
        || before.ends_with(is_word)
        || word.starts_with(char::is_lowercase)
    {
        return None;
    }
    let end = line.len() - text.len() + 1;
    let spot = spot(line, hit.start, end);
    Some(Read {
        family: Family::Distribution,
        form: Form::Statement(letter),
        spot,
        start: hit.start,
        end,
        blocks: 1,
    })
}
