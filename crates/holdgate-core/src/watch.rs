//! Watches what an agent prints: bytes in, hits out.
//!
//! Most output is quiet and gets no further than one pass over its raw bytes ([`Patterns`]). A line
//! that is remarkable is read as a terminal shows it (`plain.rs`) or as the event of an agent
//! (`event.rs`), and looked at with all patterns (`scan.rs`); what looks like a command that runs
//! (`shape.rs`) is judged by what it does. A hit depends only on the bytes, not on how they were
//! split: the unit is the line, and lines that are too long are split at fixed positions.

mod command;
#[cfg(test)]
mod compiled_tests;
mod escapes;
mod event;
mod examples;
mod excerpt;
mod find;
mod judged;
mod listing;
mod mask;
mod patterns;
mod plain;
mod reading;
mod reported;
mod scan;
mod shape;
mod spec;
mod typed;

pub use command::Commands;
pub use examples::{Tried, try_examples};
pub use patterns::{Pattern, PatternFile, Patterns};
pub use spec::Example;

use holdgate_effects::worded;
use judged::Judged;
use memchr::{memchr, memrchr};
use reading::Reading;
use reported::Reported;
use scan::Scan;
use std::sync::Arc;

/// Characters of context.
pub const CONTEXT: usize = 2000;
/// Bytes of a line; a longer one is looked at in pieces.
const MAX_LINE: usize = 1 << 20;
/// The same for a screen that is painted without line ends: it goes on for as long as the program.
const MAX_PAINTED: usize = 16 << 10;
/// The overlap of two pieces of a line, so that nothing can hide at their edge.
const OVERLAP: usize = 4 << 10;
/// Raw bytes from which the context is made.
const HISTORY: usize = 16 << 10;

worded! {
    /// How bad a hit is.
    pub enum Severity as "severity" {
        Low = "low": "It is recorded.",
        Medium = "medium": "The judge is asked.",
        High = "high": "The judge is asked; if there is none, harm in progress is stopped.",
    }
}

/// How much a match says about what happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Weight {
    /// It is data, quoted, or written as in a document: an agent is not stopped for it without
    /// asking.
    Shown,
    /// A program says so: never certain.
    Said,
    /// The agent's own call, or plain text: as bad as the pattern says.
    Done,
}

/// The families of what programs print while they do harm, and of output that could not be looked
/// at.
const HARM: [&str; 2] = ["harm-in-progress", "holdgate"];

impl Hit {
    /// Whether harm is in progress, rather than mentioned.
    pub fn is_harm(&self) -> bool {
        HARM.contains(&&*self.family) && self.severity == Severity::High && !self.quoted
    }
}

/// Something that should not be in the output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The pattern that found it.
    pub pattern: Arc<str>,
    /// The pattern's family.
    pub family: Arc<str>,
    /// How bad it is.
    pub severity: Severity,
    /// Nobody needs to be asked.
    pub certain: bool,
    /// A call of the agent's, made, announced or quoted. Where it is made, the proxy judges it.
    pub call: bool,
    /// It is quoted, or data: nobody's own words.
    pub quoted: bool,
    /// The reason, as a clause.
    pub because: String,
    /// What was found, plain, with secrets masked.
    pub evidence: String,
    /// The last 2,000 characters of output up to it, plain, with secrets masked.
    pub context: String,
}

/// One stream of output.
#[derive(Debug)]
pub struct OutputWatch {
    patterns: Arc<Patterns>,
    commands: Commands,
    /// The line that has not ended.
    pending: Vec<u8>,
    /// Pieces of it were looked at.
    in_pieces: bool,
    /// It paints a screen.
    painted: bool,
    /// How long it was when output last paused.
    seen: usize,
    reading: Reading,
    /// Raw output before the line; at least the last [`HISTORY`] bytes of it.
    history: Vec<u8>,
    /// How much output there was before the line.
    passed: u64,
    judged: Judged,
    reported: Reported,
    acted: bool,
}

impl OutputWatch {
    /// Watches a stream from its beginning.
    pub fn new(patterns: Arc<Patterns>, commands: Commands) -> Self {
        OutputWatch {
            patterns,
            commands,
            pending: Vec::new(),
            in_pieces: false,
            painted: false,
            seen: 0,
            reading: Reading::default(),
            history: Vec::new(),
            passed: 0,
            judged: Judged::default(),
            reported: Reported::default(),
            acted: false,
        }
    }

    /// Whether a call of the agent's own was in it.
    pub fn has_acted(&self) -> bool {
        self.acted
    }

    /// Takes the next bytes. Hits of lines that they end are added to `out`.
    pub fn feed(&mut self, chunk: &[u8], out: &mut Vec<Hit>) {
        let mut rest = chunk;
        while !rest.is_empty() {
            if self.pending.is_empty()
                && let Some(end) = memrchr(b'\n', rest)
                && let Some((lines, after)) = rest.split_at_checked(end + 1)
            {
                self.lines(lines, out);
                rest = after;
                continue;
            }
            let end = memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
            let take = end.min(self.room());
            let (more, after) = rest.split_at_checked(take).unwrap_or((rest, &[]));
            self.extend(more, out);
            rest = after;
        }
    }

    /// Output has paused: looks at the unfinished line, too, and leaves it open.
    ///
    /// Such a hit is reported again when the line ends only if it is more severe then. It is never
    /// certain, and commands count as shown: `rm -rf /` may continue with `tmp/x`.
    pub fn pause(&mut self, out: &mut Vec<Hit>) {
        let pending = std::mem::take(&mut self.pending);
        let fresh = pending.len().saturating_sub(self.seen);
        // A line that grows byte by byte is not looked at again from its beginning each time.
        let start = pending
            .len()
            .saturating_sub(MAX_PAINTED.max(fresh + OVERLAP));
        let look = pending.get(start..).unwrap_or_default();
        if fresh > 0 && (self.reading.goes_on() || self.patterns.next_remarkable(look, 0).is_some())
        {
            let mut reading = self.reading.clone();
            let piece = self.in_pieces || start > 0;
            self.scan(look, &mut reading, piece, true, out);
        }
        let mut said = self.reading.said.clone();
        self.look_at_said(&mut said, true, out);
        self.seen = pending.len();
        self.pending = pending;
    }

    /// The stream has ended.
    pub fn finish(&mut self, out: &mut Vec<Hit>) {
        let pending = std::mem::take(&mut self.pending);
        self.last_of_line(&pending, out);
        let mut said = std::mem::take(&mut self.reading.said);
        self.look_at_said(&mut said, false, out);
    }

    /// Bytes that the unfinished line may still grow by before it is looked at.
    fn room(&self) -> usize {
        let most = if self.painted || self.pending.len() < MAX_PAINTED {
            MAX_PAINTED
        } else {
            MAX_LINE
        };
        most.saturating_sub(self.pending.len())
    }

    /// More of a line; `more` fits into the room that is left.
    fn extend(&mut self, more: &[u8], out: &mut Vec<Hit>) {
        self.pending.extend_from_slice(more);
        if self.pending.ends_with(b"\n") {
            let line = std::mem::take(&mut self.pending);
            self.last_of_line(&line, out);
            // Its memory serves the next line, unless it is a lot.
            if line.capacity() <= OVERLAP {
                self.pending = line;
                self.pending.clear();
            }
            return;
        }
        if !self.painted && self.pending.len() == MAX_PAINTED {
            self.painted = is_painted(&self.pending);
        }
        if self.room() == 0 {
            let piece = std::mem::take(&mut self.pending);
            self.look_at_piece(&piece, out);
            self.in_pieces = true;
            let kept = piece.len().saturating_sub(OVERLAP);
            let (done, kept) = piece.split_at_checked(kept).unwrap_or((&piece, &[]));
            self.note(done);
            self.pending = kept.to_vec();
            self.seen = 0;
        }
    }

    /// A line that has ended, or what is left of it.
    fn last_of_line(&mut self, line: &[u8], out: &mut Vec<Hit>) {
        self.seen = 0;
        if self.in_pieces {
            self.look_at_piece(line, out);
            self.in_pieces = false;
            self.painted = false;
            self.reading.listing.pass_quiet(b"\n");
            self.reading.previous = None;
            self.reading.warm = false;
            self.note(line);
        } else if self.reading.goes_on() || self.patterns.next_remarkable(line, 0).is_some() {
            self.line(line, out);
        } else {
            self.quiet(line);
        }
    }

    /// Whole lines. Those with nothing remarkable are passed over together.
    fn lines(&mut self, lines: &[u8], out: &mut Vec<Hit>) {
        let mut rest = lines;
        while !rest.is_empty() {
            let at = if self.reading.goes_on() {
                0
            } else {
                let Some(at) = self.patterns.next_remarkable(rest, 0) else {
                    self.quiet(rest);
                    return;
                };
                at.saturating_sub(1)
            };
            let (before, _) = rest.split_at_checked(at).unwrap_or((rest, &[]));
            let start = memrchr(b'\n', before).map_or(0, |end| end + 1);
            let (quiet, line) = rest.split_at_checked(start).unwrap_or((rest, &[]));
            let end = memchr(b'\n', line).map_or(line.len(), |end| end + 1);
            let (line, after) = line.split_at_checked(end).unwrap_or((line, &[]));
            self.quiet(quiet);
            if line.len() <= MAX_PAINTED {
                self.line(line, out);
            } else {
                self.long_line(line, out);
            }
            rest = after;
        }
    }

    /// In the pieces in which it would have come byte by byte.
    fn long_line(&mut self, line: &[u8], out: &mut Vec<Hit>) {
        let mut rest = line;
        while !rest.is_empty() {
            let room = self.room().min(rest.len());
            let (more, after) = rest.split_at_checked(room).unwrap_or((rest, &[]));
            self.extend(more, out);
            rest = after;
        }
    }

    fn quiet(&mut self, lines: &[u8]) {
        if !lines.is_empty() {
            self.note(lines);
            self.reading.listing.pass_quiet(lines);
            self.reading.previous = None;
        }
    }

    /// A line that may be remarkable.
    fn line(&mut self, line: &[u8], out: &mut Vec<Hit>) {
        let mut reading = std::mem::take(&mut self.reading);
        self.scan(line, &mut reading, false, false, out);
        self.reading = reading;
        self.note(line);
    }

    fn look_at_piece(&mut self, piece: &[u8], out: &mut Vec<Hit>) {
        if self.patterns.next_remarkable(piece, 0).is_some() {
            self.scan(piece, &mut Reading::default(), true, false, out);
        }
    }

    fn look_at_said(&mut self, said: &mut String, unfinished: bool, out: &mut Vec<Hit>) {
        if !said.is_empty() {
            self.scanner(unfinished, out).said(said);
        }
    }

    fn scan(
        &mut self,
        line: &[u8],
        reading: &mut Reading,
        piece: bool,
        unfinished: bool,
        out: &mut Vec<Hit>,
    ) {
        let painted = self.painted;
        let mut scan = self.scanner(unfinished, out);
        if reading.previous.is_none() {
            let ended = scan.history.strip_suffix(b"\n").unwrap_or(scan.history);
            reading.remember(ended);
        }
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        if piece {
            scan.piece(line, painted);
        } else {
            scan.line(line, reading);
        }
    }

    fn scanner<'a>(&'a mut self, unfinished: bool, hits: &'a mut Vec<Hit>) -> Scan<'a> {
        let start = self.history.len().saturating_sub(HISTORY);
        Scan {
            patterns: &self.patterns,
            commands: &self.commands,
            judged: &mut self.judged,
            reported: &mut self.reported,
            acted: &mut self.acted,
            history: self.history.get(start..).unwrap_or_default(),
            at: self.passed,
            unfinished,
            hits,
        }
    }

    /// Keeps the end of what has passed.
    fn note(&mut self, passed: &[u8]) {
        self.passed += passed.len() as u64;
        let start = passed.len().saturating_sub(HISTORY);
        let passed = passed.get(start..).unwrap_or_default();
        if self.history.len() + passed.len() > 3 * HISTORY {
            let gone = self.history.len().saturating_sub(HISTORY);
            self.history.drain(..gone);
        }
        self.history.extend_from_slice(passed);
    }
}

/// Whether a line without an end is a screen: programs that paint one move the cursor about.
fn is_painted(line: &[u8]) -> bool {
    !line.trim_ascii_start().starts_with(b"{") && memchr(0x1b, line).is_some()
}

#[cfg(test)]
mod tests;
