//! What an agent prints, watched: bytes in, hits out.
//!
//! Most output is quiet and gets no further than one pass over its raw bytes ([`Patterns`]). A line
//! that is remarkable is read as a terminal shows it (`plain.rs`) or as the event of an agent
//! (`event.rs`), and looked at with all patterns (`scan.rs`); what looks like a command that runs
//! (`command.rs`) is judged by what it does. A hit depends on the bytes alone, not on how they were
//! cut: the unit is the line, and lines that are too long are cut at fixed places.

mod command;
mod event;
mod examples;
mod mask;
mod patterns;
mod plain;
mod scan;
mod spec;

pub use command::Commands;
pub use examples::{Tried, try_examples};
pub use patterns::{Pattern, PatternFile, Patterns};
pub use spec::Example;

use memchr::{memchr, memchr_iter, memrchr};
use scan::{Reading, Scan};
use std::collections::VecDeque;
use std::sync::Arc;

/// Characters of context.
pub const CONTEXT: usize = 2000;
/// Bytes of a line; a longer one is looked at in pieces.
const MAX_LINE: usize = 1 << 20;
/// What two pieces of a line have in common, so that nothing hides at their edge.
const OVERLAP: usize = 4 << 10;
/// Raw bytes from which the context is made.
const HISTORY: usize = 16 << 10;
/// Hits that are not told again: programs that draw a screen print the same line many times.
const REMEMBERED: usize = 64;

/// How bad a hit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth a note.
    Low,
    /// Worth a judge's look.
    Medium,
    /// If no judge can be asked, it is stopped.
    High,
}

impl Severity {
    /// The word for it in patterns and records.
    pub fn word(self) -> &'static str {
        match self {
            Severity::Low => "low",
            Severity::Medium => "medium",
            Severity::High => "high",
        }
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
    /// Why, as a phrase.
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
    reading: Reading,
    /// Raw output before the line; at least the last [`HISTORY`] bytes of it.
    history: Vec<u8>,
    told: VecDeque<(Arc<str>, String)>,
}

impl OutputWatch {
    /// Watches a stream from its beginning.
    pub fn new(patterns: Arc<Patterns>, commands: Commands) -> Self {
        OutputWatch {
            patterns,
            commands,
            pending: Vec::new(),
            in_pieces: false,
            reading: Reading::default(),
            history: Vec::new(),
            told: VecDeque::new(),
        }
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
            let take = end.min(MAX_LINE.saturating_sub(self.pending.len()));
            let (more, after) = rest.split_at_checked(take).unwrap_or((rest, &[]));
            self.extend(more, out);
            rest = after;
        }
    }

    /// Output has paused: looks at the unfinished line, too, and leaves it open. What is told here is
    /// not told again when the line ends.
    pub fn pause(&mut self, out: &mut Vec<Hit>) {
        let pending = std::mem::take(&mut self.pending);
        let mut reading = self.reading.clone();
        if !pending.is_empty() {
            let hits = self.scan(&pending, &mut reading, self.in_pieces);
            self.tell(hits, out);
        }
        self.pending = pending;
    }

    /// The stream has ended.
    pub fn finish(&mut self, out: &mut Vec<Hit>) {
        let pending = std::mem::take(&mut self.pending);
        if self.in_pieces {
            self.line(&pending, out);
        } else {
            self.lines(&pending, out);
        }
    }

    /// More of a line; `more` keeps it within [`MAX_LINE`].
    fn extend(&mut self, more: &[u8], out: &mut Vec<Hit>) {
        self.pending.extend_from_slice(more);
        if self.pending.ends_with(b"\n") {
            let line = std::mem::take(&mut self.pending);
            if self.in_pieces {
                self.line(&line, out);
            } else {
                self.lines(&line, out);
            }
            // Its memory serves the next line, unless it is a lot.
            if line.capacity() <= OVERLAP {
                self.pending = line;
                self.pending.clear();
            }
        } else if self.pending.len() >= MAX_LINE {
            let piece = std::mem::take(&mut self.pending);
            self.look_at_piece(&piece, out);
            self.in_pieces = true;
            let kept = piece.len() - OVERLAP;
            let (done, kept) = piece.split_at_checked(kept).unwrap_or((&piece, &[]));
            self.note(done);
            self.pending = kept.to_vec();
        }
    }

    /// Whole lines. Those with nothing remarkable are passed over together.
    fn lines(&mut self, lines: &[u8], out: &mut Vec<Hit>) {
        let mut rest = lines;
        while !rest.is_empty() {
            let at = if self.reading.warm {
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
            if line.len() <= MAX_LINE {
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
            let room = MAX_LINE.saturating_sub(self.pending.len()).min(rest.len());
            let (more, after) = rest.split_at_checked(room).unwrap_or((rest, &[]));
            self.extend(more, out);
            rest = after;
        }
    }

    fn quiet(&mut self, lines: &[u8]) {
        if !lines.is_empty() {
            self.note(lines);
            self.reading.listing.line += memchr_iter(b'\n', lines).count() as u64;
            self.reading.previous = None;
        }
    }

    /// A line that may be remarkable, or the last piece of one.
    fn line(&mut self, line: &[u8], out: &mut Vec<Hit>) {
        if self.in_pieces {
            self.in_pieces = false;
            self.look_at_piece(line, out);
            self.reading.listing.line += 1;
            self.reading.previous = None;
            self.reading.warm = false;
        } else {
            let mut reading = std::mem::take(&mut self.reading);
            let hits = self.scan(line, &mut reading, false);
            self.reading = reading;
            self.tell(hits, out);
        }
        self.note(line);
    }

    fn look_at_piece(&mut self, piece: &[u8], out: &mut Vec<Hit>) {
        if self.patterns.next_remarkable(piece, 0).is_some() {
            let hits = self.scan(piece, &mut Reading::default(), true);
            self.tell(hits, out);
        }
    }

    fn scan(&self, line: &[u8], reading: &mut Reading, piece: bool) -> Vec<Hit> {
        let start = self.history.len().saturating_sub(HISTORY);
        let history = self.history.get(start..).unwrap_or_default();
        if reading.previous.is_none() {
            let ended = history.strip_suffix(b"\n").unwrap_or(history);
            let start = memrchr(b'\n', ended).map_or(0, |end| end + 1);
            reading.remember(ended.get(start..).unwrap_or_default());
        }
        let mut scan = Scan {
            patterns: &self.patterns,
            commands: &self.commands,
            history,
            hits: Vec::new(),
        };
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        if piece {
            scan.piece(line);
        } else {
            scan.line(line, reading);
        }
        scan.hits
    }

    fn tell(&mut self, hits: Vec<Hit>, out: &mut Vec<Hit>) {
        for hit in hits {
            let same = |told: &(Arc<str>, String)| told.0 == hit.pattern && told.1 == hit.evidence;
            if self.told.iter().any(same) {
                continue;
            }
            if self.told.len() == REMEMBERED {
                self.told.pop_front();
            }
            self.told
                .push_back((hit.pattern.clone(), hit.evidence.clone()));
            out.push(hit);
        }
    }

    /// Keeps the end of what has passed.
    fn note(&mut self, passed: &[u8]) {
        let start = passed.len().saturating_sub(HISTORY);
        let passed = passed.get(start..).unwrap_or_default();
        if self.history.len() + passed.len() > 3 * HISTORY {
            let gone = self.history.len().saturating_sub(HISTORY);
            self.history.drain(..gone);
        }
        self.history.extend_from_slice(passed);
    }
}

#[cfg(test)]
mod tests;
