//! Markings that are lines with a form of their own: mail headers, lines of blocks, distribution
//! statements.

use super::banner::is_word;
use super::mark::Form;
use super::place::{Place, spot};
use super::read::{Read, around, is_upper};
use super::tables::Family;
use super::tokens::{Hit, Label};
use super::words::{MAIL_LEVELS, words};

/// `Distribution authorized to U.S. Government agencies only`.
pub(super) fn authorized(line: &str, hit: Hit) -> Option<Read> {
    let (before, word, rest) = around(line, hit)?;
    let to = [
        "U.S.", "US ", "DoD", "DOD", "the De", "THE DE", "Dep", "DEP", "by", "BY",
    ];
    let named = to.iter().any(|to| rest.trim_start().starts_with(to));
    let written = !word.starts_with(char::is_lowercase) && !before.ends_with(is_word);
    (named && written).then_some(Read {
        family: Family::Distribution,
        form: Form::Full,
        spot: spot(line, hit.start, hit.end),
        start: hit.start,
        end: hit.end,
        blocks: 1,
    })
}

/// `[SEC=PROTECTED, CAVEAT=SH:CABINET]`.
pub(super) fn mail(line: &str, hit: Hit) -> Option<Read> {
    let (before, word, rest) = around(line, hit)?;
    if !is_upper(word) || before.ends_with(is_word) || before.ends_with(['$', '-', '.', '&', '?']) {
        return None;
    }
    let level = words(MAIL_LEVELS).find(|level| {
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
pub(super) fn label(line: &str, hit: Hit, label: Label) -> Option<Read> {
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
    let open = value.trim_start().starts_with([',', ')', ';', '/']);
    let value = value.trim().trim_matches(['"', '\'', ',', '*']).trim();
    let blank = [
        "<", "[", "{", "_", "...", "\u{2026}", "xx", "XX", "N/A", "TBD", "$", "%", "`",
    ];
    let filled = label == Label::Reason && short
        || !value.is_empty() && !blank.iter().any(|sign| value.starts_with(sign));
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
    (filled && !open).then_some(Read {
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
pub(super) fn statement(line: &str, hit: Hit) -> Option<Read> {
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
