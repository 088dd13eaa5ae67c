//! Reads the markings of one folded line, at its tokens.

use super::banner::{Blocks, blocks, is_word};
use super::countries::is_code;
use super::mark::Form;
use super::place::{Place, Spot, spot};
use super::tables::{Family, Level, Sense};
use super::tokens::{Hit, Token};
use super::{lines, portion};

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

impl Read {
    /// Whether it is a level in the middle of other words.
    pub(super) fn is_nothing(&self) -> bool {
        let among = matches!(self.spot.place, Place::Inside | Place::End | Place::Value);
        among && matches!(self.form, Form::Bare(_))
    }
}

/// The marking at `hit`, if there is one.
pub(super) fn read(line: &str, hit: Hit) -> Option<Read> {
    match hit.token {
        Token::Level(level) => banner(line, hit, level),
        Token::Phrase(family, sense) => phrase(line, hit, family, sense),
        Token::Portion => portion::marked(line, hit),
        Token::Short => portion::short(line, hit),
        Token::Sec => lines::mail(line, hit),
        Token::Label(label) => lines::label(line, hit, label),
        Token::Distribution => lines::statement(line, hit),
        Token::Authorized => lines::authorized(line, hit),
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
pub(super) fn is_ended(rest: &str) -> bool {
    let mut chars = rest.chars();
    let next = chars.next();
    let second = chars.next();
    match next {
        Some(c) if is_word(c) => false,
        Some('.' | '-' | ':' | '/' | '@' | '\\') => second.is_none_or(|c| !is_word(c) && c != ':'),
        Some('[' | '=' | '$' | '(') => false,
        None | Some(_) => true,
    }
}

pub(super) fn is_upper(word: &str) -> bool {
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

pub(super) fn around(line: &str, hit: Hit) -> Option<(&str, &str, &str)> {
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
    let begun = is_apart(before) || before.ends_with(['(', '[']);
    let ended =
        is_ended(rest) || rest.starts_with(['-', ':', '(', '/']) || !word.ends_with(is_word);
    if !begun || !ended {
        return None;
    }
    let level = match family {
        Family::Cui => Level::Cui,
        Family::Au | Family::Uk | Family::Ca => Level::Protected,
        Family::Us
        | Family::Portion
        | Family::Authority
        | Family::CuiDesignation
        | Family::Distribution
        | Family::Export
        | Family::Nato
        | Family::Eu
        | Family::National
        | Family::Tlp => Level::Secret,
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
        Sense::Company if is_upper(word) => Form::Bare(Level::Confidential),
        Sense::Line if is_upper(word) => Form::Loose,
        _ if first.len() > 1 && is_upper(&first) => Form::Loose,
        _ if family == Family::National
            && !first.starts_with(char::is_lowercase)
            && word.contains([' ', '-'])
            && matches!(spot.place, Place::Own | Place::Marked) =>
        {
            Form::Loose
        }
        Sense::Only if spot.strict && word.starts_with(char::is_uppercase) => Form::Loose,
        Sense::Only | Sense::Word | Sense::Company | Sense::Line => return None,
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
