//! How far a text has been read: what the next line may continue.

use super::command::SeenCommand;
use super::event;
use super::excerpt::last;
use super::listing::Listing;
use super::plain::plain;
use super::typed::Typed;
use holdgate_effects::text;
use std::borrow::Cow;

/// Bytes of each of two lines that are read as one.
pub(super) const JOINED: usize = 400;
/// Bytes of a line that does not end what came before it.
const SHORT: usize = 32;
/// Bytes of an input that comes in pieces.
const MAX_INPUT: usize = 16 << 10;

/// Frames and marks that programs draw around text.
const DRAWN: [char; 18] = [
    '│', '┃', '║', '▌', '▎', '┆', '╎', '|', '>', '⎿', '└', '⏺', '●', '•', '*', '#', '─', '━',
];

/// How far a text has been read.
#[derive(Clone, Debug, Default)]
pub(super) struct Reading {
    pub(super) listing: Listing,
    pub(super) typed: Typed,
    /// The end of the previous line, as text; `None` if it was not examined.
    pub(super) previous: Option<String>,
    /// It was short.
    short: bool,
    /// The previous line had a word of a pattern, so a match may continue in the next line.
    pub(super) warm: bool,
    /// The unfinished line of a text that comes in pieces, one an event.
    pub(super) said: String,
    /// The input of a call that comes in pieces, as far as it has come.
    pub(super) input: String,
}

impl Reading {
    /// Whether the next line must be examined because of what came before it.
    pub(super) fn goes_on(&self) -> bool {
        self.warm || self.typed.is_open() || !self.said.is_empty() || !self.input.is_empty()
    }

    /// A line that is not text: the next one does not continue it.
    pub(super) fn leave_text(&mut self) {
        self.typed.leave();
        self.listing.pass_quiet(b"\n");
        self.warm = false;
        self.previous = Some(String::new());
    }

    /// A text that has nothing to do with what was before it.
    pub(super) fn unrelated() -> Reading {
        Reading {
            previous: Some(String::new()),
            ..Reading::default()
        }
    }

    /// Notes the last of the previous lines, which were quiet.
    pub(super) fn remember(&mut self, lines: &[u8]) {
        self.previous = None;
        self.short = true;
        let mut recent = lines.rsplit(|b| *b == b'\n');
        let mut recent = [recent.next(), recent.next(), recent.next()];
        recent.reverse();
        for line in recent.into_iter().flatten() {
            let start = line.len().saturating_sub(4 * JOINED);
            let plain = plain(line.get(start..).unwrap_or_default());
            self.pass_line(&text::as_it_looks(undrawn(&plain.shown)));
        }
    }

    /// Notes a line as the previous one. A short one does not end what came before it: text that
    /// is wrapped to be missed has a word on each line.
    pub(super) fn pass_line(&mut self, looks: &str) {
        let before = self.previous.take().unwrap_or_default();
        let is_short = looks.len() < SHORT && !looks.is_empty();
        let goes_on = std::mem::replace(&mut self.short, is_short) && is_short;
        let line = if goes_on && before.len() < JOINED {
            Cow::Owned(format!("{before} {looks}"))
        } else {
            Cow::Borrowed(looks)
        };
        self.previous = Some(last(line.trim_start(), JOINED).to_owned());
    }

    /// The call whose input is complete with this piece.
    pub(super) fn input_with(&mut self, more: &str) -> Option<SeenCommand> {
        if self.input.len() + more.len() > MAX_INPUT {
            self.input.clear();
            return None;
        }
        self.input.push_str(more);
        let call = more
            .trim_end()
            .ends_with('}')
            .then(|| event::logged(&self.input))?;
        if call.is_some() {
            self.input.clear();
        }
        call
    }
}

/// Without frames, marks and the numbers of lines around it.
pub(super) fn undrawn(line: &str) -> &str {
    let drawn = |c: char| c.is_whitespace() || DRAWN.contains(&c);
    let line = line.trim_matches(drawn);
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    match rest.strip_prefix(['→', '\t']) {
        Some(rest) if rest.len() < line.len() => rest.trim_start_matches(drawn),
        _ => line,
    }
}
