//! Markings: words by which a text says that it is classified, controlled or restricted.
//!
//! ```text
//! text -> tokens       every word at which a marking may stand, in one pass
//!      -> fold         those lines as a reader sees them
//!      -> read         the grammar: a level and its blocks, portion marks, blocks of lines, phrases
//!      -> place        where in its line it stands
//!      -> context      what the text and its file are
//!      -> judge        the verdict
//! ```
//!
//! A word alone is no marking: structure and place decide.

mod banner;
mod context;
mod controls;
mod countries;
mod export;
mod fold;
mod judge;
mod lines;
mod mark;
mod place;
mod portion;
mod read;
mod tables;
#[cfg(test)]
mod tests;
mod tokens;
mod words;

use super::{Spill, What};
use crate::verdict::Verdict;
use context::Context;
use mark::{Form, Mark};
use place::{Place, Speech, Spot};
use std::borrow::Cow;
use std::ops::Range;
use tables::Family;
use tokens::Token;

/// Longer lines are read in pieces, which overlap.
const PIECE: usize = 2048;
const OVERLAP: usize = 256;
/// Markings of one text that are weighed against each other; as many again that count only together.
const MOST_MARKS: usize = 256;
/// Levels without a block, plain portion marks and labels of one line that are read.
const MOST_WEAK: usize = 16;
/// Lines with a word of export control that are read with their surroundings.
const MOST_NOTICES: usize = 64;
/// Bytes around such a word.
const NOTICE: usize = 400;

/// The markings of `text`, which is the content of the file `path`, if it is one: the strictest of
/// each kind.
pub(super) fn examine(text: &str, path: Option<&str>) -> Vec<Spill> {
    let mut marks = Vec::new();
    let mut notices = Vec::new();
    for piece in pieces(text) {
        piece.read(text, &mut marks, &mut notices);
        if marks.iter().filter(|mark| !mark.form.is_weak()).count() >= MOST_MARKS {
            break;
        }
    }
    export_notices(text, &notices, &mut marks);
    if marks.is_empty() {
        return Vec::new();
    }
    let context = Context::of(text, path, &marks);
    let mut spills: Vec<(Family, Spill)> = Vec::new();
    for mark in &marks {
        let verdict = judge::verdict(mark, &marks, text, &context);
        if verdict == Verdict::Allow {
            continue;
        }
        match spills.iter_mut().find(|(family, _)| *family == mark.family) {
            Some((_, spill)) if spill.verdict >= verdict => {}
            Some((_, spill)) => *spill = spill_of(mark, verdict),
            None => spills.push((mark.family, spill_of(mark, verdict))),
        }
    }
    spills.into_iter().map(|(_, spill)| spill).collect()
}

fn spill_of(mark: &Mark, verdict: Verdict) -> Spill {
    Spill {
        what: What::Marking,
        rule: mark.family.rule(),
        verdict,
        reason: format!("the text has {}", mark.family.what()),
        range: mark.range.clone(),
        issuers: &[],
    }
}

/// A line, or a part of a long one, in which a token stands.
struct Piece<'a> {
    folded: Cow<'a, str>,
    range: Range<usize>,
    line: usize,
}

/// The lines of a text that have a token.
fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    if text.is_ascii() {
        let mut from = 0;
        let mut line = 0;
        let mut counted = 0;
        while let Some(hit) = tokens::next(text, from) {
            let before = text.get(..hit.start).unwrap_or_default();
            let start = before.rfind('\n').map_or(0, |at| at + 1);
            let rest = text.get(hit.start..).unwrap_or_default();
            let end = rest.find('\n').map_or(text.len(), |at| hit.start + at);
            line += newlines(text, counted..start);
            counted = start;
            split(text, start..end, line, &mut pieces);
            from = end;
        }
        return pieces;
    }
    let mut start = 0;
    for (line, words) in text.split('\n').enumerate() {
        let end = start + words.len();
        if !words.is_ascii() || tokens::next(words, 0).is_some() {
            split(text, start..end, line, &mut pieces);
        }
        start = end + 1;
    }
    pieces
}

fn newlines(text: &str, range: Range<usize>) -> usize {
    let bytes = text.as_bytes().get(range).unwrap_or_default();
    memchr::memchr_iter(b'\n', bytes).count()
}

/// The parts of a line that have a token once they are folded.
fn split<'a>(text: &'a str, line_range: Range<usize>, line: usize, pieces: &mut Vec<Piece<'a>>) {
    let mut start = line_range.start;
    loop {
        let end = text.floor_char_boundary((start + PIECE).min(line_range.end));
        let part = text.get(start..end).unwrap_or_default();
        let folded = fold::fold(part);
        if tokens::next(&folded, 0).is_some() {
            pieces.push(Piece {
                folded,
                range: start..end,
                line,
            });
        }
        if end >= line_range.end {
            break;
        }
        start = text.floor_char_boundary(end - OVERLAP);
    }
}

impl Piece<'_> {
    fn read(&self, text: &str, marks: &mut Vec<Mark>, notices: &mut Vec<(usize, usize)>) {
        let original = text.get(self.range.clone()).unwrap_or_default();
        let exact = matches!(&self.folded, Cow::Borrowed(_));
        let mut from = 0;
        let mut few = 0;
        let full = marks.iter().filter(|mark| mark.form.is_weak()).count() >= MOST_MARKS;
        while let Some(hit) = tokens::next(&self.folded, from) {
            // A token that turns out to be none may begin inside of another word.
            from = hit.start + 1;
            if (full || few >= MOST_WEAK) && hit.is_alone(&self.folded) {
                continue;
            }
            if hit.token == Token::Export && notices.len() < MOST_NOTICES {
                let at = if exact {
                    self.range.start + hit.start
                } else {
                    self.range.start
                };
                notices.push((self.line, at));
            }
            let Some(read) = read::read(&self.folded, hit) else {
                continue;
            };
            from = from.max(read.end);
            let words = self.folded.get(read.start..read.end).unwrap_or_default();
            // Nobody hides a word that is not meant as a marking.
            let hidden = !exact && matches!(read.form, Form::Bare(_)) && !original.contains(words);
            let hidden = hidden
                && match read.spot.place {
                    Place::Own | Place::Start => true,
                    // The first line of a cable: `S E C R E T SECTION 01 OF 02`.
                    Place::Lead => {
                        !original.contains(char::is_lowercase)
                            && original.contains(char::is_numeric)
                    }
                    Place::End | Place::Marked | Place::Value | Place::Literal | Place::Inside => {
                        false
                    }
                };
            let mut spot = read.spot;
            spot.comment = place::is_comment(original);
            let range = if exact {
                self.range.start + read.start..self.range.start + read.end
            } else {
                original.find(words).map_or(self.range.clone(), |at| {
                    self.range.start + at..self.range.start + at + words.len()
                })
            };
            let weak = read.form.is_weak();
            few += usize::from(weak);
            let alike = marks.iter().filter(|mark| mark.form.is_weak() == weak);
            if read.is_nothing() || alike.count() >= MOST_MARKS {
                continue;
            }
            marks.push(Mark {
                family: read.family,
                form: if hidden { Form::Phrase } else { read.form },
                spot,
                words: words.to_ascii_uppercase(),
                blocks: read.blocks,
                line: self.line,
                range,
            });
        }
    }
}

/// Words of export control with what stands around them.
fn export_notices(text: &str, notices: &[(usize, usize)], marks: &mut Vec<Mark>) {
    for (line, at) in notices {
        let start = text.ceil_char_boundary(at.saturating_sub(NOTICE));
        let end = text.floor_char_boundary(at.saturating_add(NOTICE).min(text.len()));
        let around = text.get(start..end).unwrap_or_default();
        let here = at - start.min(*at);
        let start = around
            .get(..here)
            .and_then(|before| before.rfind("\n\n"))
            .map_or(0, |at| at + 2);
        let stop = around
            .get(here..)
            .and_then(|rest| rest.find("\n\n"))
            .map_or(around.len(), |at| here + at);
        let paragraph = around.get(start..stop).unwrap_or_default();
        let folded = fold::fold(paragraph);
        let words: Vec<String> = folded
            .split_whitespace()
            .map(|word| word.trim_matches(['*', '#', '/']).to_ascii_lowercase())
            .filter(|word| !word.is_empty())
            .collect();
        if !export::is_notice(&words.join(" ")) {
            continue;
        }
        let first = around
            .get(..here)
            .and_then(|before| before.rfind('\n'))
            .map_or(0, |at| at + 1);
        let last = around
            .get(here..)
            .and_then(|rest| rest.find('\n'))
            .map_or(around.len(), |end| here + end);
        let offset = end - around.len();
        let row = around.get(first..last).unwrap_or_default();
        // A row of a table is about the words.
        if row.matches('|').count() >= 3 {
            continue;
        }
        marks.push(Mark {
            family: Family::Export,
            form: Form::Full,
            spot: Spot {
                place: Place::Own,
                strict: false,
                speech: Speech::Silent,
                quoted: false,
                comment: place::is_comment(row),
            },
            words: "EXPORT".to_owned(),
            blocks: 1,
            line: *line,
            range: offset + first..offset + last,
        });
        return;
    }
}
