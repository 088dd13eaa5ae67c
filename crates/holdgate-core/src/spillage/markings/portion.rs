//! Portion marks, and the short banners that are made of the same words.

use super::banner::{blocks, is_word};
use super::countries::is_code;
use super::mark::Form;
use super::place::{Place, is_start, spot};
use super::read::{Read, around, is_ended};
use super::tables::{Family, Level, SHORT_LEVELS};
use super::tokens::Hit;

/// `(S//NF)`, `(TS-SI-NF)`, `(//GBR S)`, `(S)`.
pub(super) fn marked(line: &str, hit: Hit) -> Option<Read> {
    let before = line.get(..hit.start)?;
    let open = line.get(hit.start..)?;
    let close = if open.starts_with('[') { ']' } else { ')' };
    let window = open.get(..open.floor_char_boundary(160))?;
    let length = window.find(close)?;
    let inside = window.get(1..length)?;
    let end = hit.start + length + 1;
    let make = |form, family, blocks| {
        let mut spot = spot(line, hit.start, end);
        if is_start(before) && spot.place != Place::Own {
            spot.place = Place::Start;
        }
        Read {
            family,
            form,
            spot,
            start: hit.start,
            end,
            blocks,
        }
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
pub(super) fn short(line: &str, hit: Hit) -> Option<Read> {
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
