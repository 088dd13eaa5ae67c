//! Takes the text of a response apart as it arrives: prose, which leaves at once, and whatever aider
//! may act on, which is held until every one of its edit formats has come to the end of it.

mod lines;
mod readings;

pub(super) use readings::Action;

use lines::{
    FENCES, PATCH_END, PATCHES, SHELLS, THOUGHTS, is_divider, is_fence, is_head, is_shell,
    is_space, is_updated, line_length, may_be_head, split, strip,
};
use readings::{Named, actions};
use std::collections::VecDeque;

/// Lines before a block that may name its file.
const CONTEXT: usize = 3;
/// Bytes that are kept of a line of prose, and of its end if it is longer.
const KEPT: usize = 4 << 10;
const LAST: usize = 128;

/// A part of what the model has written.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Nothing acts on it.
    Prose(String),
    /// What is held, and what it does.
    Actions(String, Vec<Action>),
    /// What is held, and why it cannot be judged.
    Unclear(String, &'static str),
}

/// The text goes on where it must not.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Continued;

/// Takes a text apart.
#[derive(Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "they have nothing to do with each other"
)]
pub(super) struct Aider {
    /// A CR has come, and perhaps an LF follows.
    carriage_return: bool,
    /// The line so far; of a line of prose, not all.
    line: String,
    /// How much of it has left.
    sent: usize,
    /// Whether it is prose.
    prose: bool,
    held: Option<Held>,
    /// The last lines.
    before: VecDeque<String>,
    /// Whether anything but white space has come.
    begun: bool,
    named: Named,
    /// The line before an opened tag around thinking, and the lines before that: the text goes on
    /// with them behind the tag that closes.
    cut: Option<(String, VecDeque<String>)>,
    /// The last lines, if what stood between tags is cut out.
    before_cut: Option<VecDeque<String>>,
    over: bool,
}

/// What is held.
#[derive(Debug, Default)]
struct Held {
    text: String,
    /// How much of it had left before it was known to act.
    sent: usize,
    /// With the white space before the first line cut off, and with it: only a client that cuts out
    /// what stands before takes the line for the first.
    open: [Open; 2],
    /// Whether only white space, or thinking that is cut out, stands before it.
    first: bool,
}

/// By edit format, what is open.
#[derive(Debug, Default)]
struct Open {
    whole: [bool; FENCES.len()],
    block: Block,
    diff: bool,
    patch: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Block {
    #[default]
    None,
    /// Commands, of which so many lines have come.
    Shell(usize),
    Search,
    Replace,
}

/// Whether a line begins what aider acts on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Begins {
    Yes,
    Perhaps,
    No,
}

impl Aider {
    /// Bytes that are kept.
    pub(super) fn kept(&self) -> usize {
        self.held.as_ref().map_or(0, |held| held.text.len()) + self.line.len()
    }

    /// Takes more of the text.
    pub(super) fn push(&mut self, text: &str, out: &mut Vec<Part>) -> Result<(), Continued> {
        if text.is_empty() {
            return Ok(());
        }
        if self.over {
            return Err(Continued);
        }
        let joined = std::mem::take(&mut self.carriage_return).then(|| format!("\r{text}"));
        let mut rest = joined.as_deref().unwrap_or(text);
        if let Some(before) = rest.strip_suffix('\r') {
            self.carriage_return = true;
            rest = before;
        }
        while !rest.is_empty() {
            let length = line_length(rest);
            let (line, after) = rest
                .split_at_checked(length.unwrap_or(rest.len()))
                .unwrap_or((rest, ""));
            self.take(line, out);
            if length.is_some() {
                self.end_line(out);
            }
            rest = after;
        }
        Ok(())
    }

    /// Something else stands here. What is held ends here, or the text must not go on.
    pub(super) fn pause(&mut self, out: &mut Vec<Part>) {
        if self.held.is_some() {
            return self.finish(out);
        }
        let rest = self.line.get(self.sent..).unwrap_or_default().to_owned();
        self.sent = self.line.len();
        say(rest, out);
    }

    /// The text has ended.
    pub(super) fn finish(&mut self, out: &mut Vec<Part>) {
        if !self.line.is_empty() {
            self.end_line(out);
        }
        self.release(out);
        self.over = true;
    }

    /// Takes more of a line.
    fn take(&mut self, piece: &str, out: &mut Vec<Part>) {
        if let Some(held) = &mut self.held {
            held.text.push_str(piece);
            self.line.push_str(piece);
            return;
        }
        let mut rest = piece;
        while let Some(length) = self.thought_end(rest) {
            let (thought, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
            self.more(thought, out);
            if self.held.is_some() {
                return self.take(after, out);
            }
            self.pause(out);
            // With another tag than this one, the line stays, and may name a file.
            let line = std::mem::take(&mut self.line);
            self.remember(&line);
            let (line, before) = self.cut.take().unwrap_or_default();
            self.begun &= !line.is_empty() || !before.is_empty();
            (self.line, self.before_cut) = (line, Some(before));
            self.sent = self.line.len();
            self.prose = false;
            rest = after;
        }
        self.more(rest, out);
    }

    /// How much of `piece` belongs to thinking that is cut out, if it ends in it.
    fn thought_end(&self, piece: &str) -> Option<usize> {
        let longest = THOUGHTS.iter().map(|(_, end)| end.len()).max()?;
        let from = self.line.len().saturating_sub(longest);
        let last = self.line.get(self.line.ceil_char_boundary(from)..)?;
        let text = [last, piece].concat();
        let ends = THOUGHTS.iter().filter_map(|(_, end)| {
            let mut places = memchr::memmem::find_iter(text.as_bytes(), end.as_bytes());
            places.find_map(|at| (at + end.len()).checked_sub(last.len()).filter(|n| *n > 0))
        });
        ends.min()
    }

    fn more(&mut self, piece: &str, out: &mut Vec<Part>) {
        if piece.is_empty() {
            return;
        }
        let mut known = self.line.len();
        if self.prose {
            say(piece.to_owned(), out);
            if known > KEPT {
                // No file has such a name; the end is kept for tags.
                let from = self.line.ceil_char_boundary(known - LAST);
                self.line.drain(..from);
                known = self.line.len();
            }
            self.line.push_str(piece);
            self.sent = self.line.len();
        } else {
            self.line.push_str(piece);
        }
        for (begin, _) in THOUGHTS {
            let from = self
                .line
                .ceil_char_boundary(known.saturating_sub(begin.len()));
            let new = self.line.get(from..).unwrap_or_default();
            if let Some(at) = new.find(begin).filter(|_| self.cut.is_none()) {
                let line = self.line.get(..from + at).unwrap_or_default().to_owned();
                self.cut = Some((line, self.before.clone()));
            }
        }
        if self.prose {
            return;
        }
        match begins(&self.line, !self.begun) {
            Begins::Yes => {
                self.held = Some(Held {
                    text: self.line.clone(),
                    sent: self.sent,
                    open: Default::default(),
                    first: !self.begun,
                });
            }
            Begins::Perhaps => {}
            Begins::No => {
                self.prose = true;
                let rest = self.line.get(self.sent..).unwrap_or_default().to_owned();
                self.sent = self.line.len();
                say(rest, out);
            }
        }
    }

    fn end_line(&mut self, out: &mut Vec<Part>) {
        let line = std::mem::take(&mut self.line);
        let first = !self.begun;
        self.begun |= !strip(&line).is_empty();
        if self.held.is_none() && !self.prose {
            // Whether it had an end or not, nothing more comes of it.
            let whole = format!("{line}\n");
            if begins(&whole, first) == Begins::Yes {
                self.held = Some(Held {
                    text: line.clone(),
                    sent: self.sent,
                    open: Default::default(),
                    first,
                });
            } else {
                say(line.get(self.sent..).unwrap_or_default().to_owned(), out);
            }
        }
        let is_rest = self.held.as_mut().is_some_and(|held| {
            for (open, first) in held.open.iter_mut().zip([first, false]) {
                open.line(&line, first);
            }
            held.open.iter().all(Open::is_rest)
        });
        if self.held.is_none() {
            self.see(&line);
            if self.begun {
                self.remember(&line);
            }
        }
        (self.sent, self.prose) = (0, false);
        if is_rest {
            self.release(out);
        }
    }

    /// Names in backticks: aider takes the last for a file that has no name.
    fn see(&mut self, line: &str) {
        for word in line.split(is_space) {
            let word = word.trim_end_matches(['.', ':', ',', ';', '!']);
            let name = word
                .strip_prefix('`')
                .and_then(|word| word.strip_suffix('`'));
            if let Some(name) = name.filter(|name| name.contains(['.', '/'])) {
                self.named.seen = Some(name.to_owned());
            }
        }
    }

    fn remember(&mut self, line: &str) {
        for before in self.before_cut.iter_mut().chain([&mut self.before]) {
            if before.len() == CONTEXT {
                before.pop_front();
            }
            before.push_back(line.to_owned());
        }
    }

    /// What is held is complete.
    fn release(&mut self, out: &mut Vec<Part>) {
        let Some(held) = self.held.take() else {
            return;
        };
        let text = split(&held.text);
        let mut found = Vec::new();
        for before in [Some(&self.before), self.before_cut.as_ref()] {
            let Some(before) = before else { continue };
            let lines = before
                .iter()
                .map(String::as_str)
                .chain(text.iter().copied());
            let lines: Vec<&str> = lines.collect();
            for first in [held.first, false] {
                let here = (before.len(), first);
                actions(&lines, here, &mut self.named, &mut found);
            }
        }
        let last = text.len().saturating_sub(CONTEXT);
        for line in text.get(last..).unwrap_or_default() {
            self.remember(line);
        }
        let words = held.text.get(held.sent..).unwrap_or_default().to_owned();
        let cuts = THOUGHTS.iter().flat_map(|(begin, end)| [begin, end]);
        if { cuts }.any(|tag| held.text.contains(tag)) {
            out.push(Part::Unclear(
                words,
                "it has tags around thinking, which some clients cut out",
            ));
        } else if found.is_empty() {
            say(words, out);
        } else {
            out.push(Part::Actions(words, found));
        }
    }
}

fn say(words: String, out: &mut Vec<Part>) {
    match out.last_mut() {
        _ if words.is_empty() => {}
        Some(Part::Prose(before)) => before.push_str(&words),
        _ => out.push(Part::Prose(words)),
    }
}

/// Whether the line begins what aider acts on. `first` says that only white space stands before it,
/// which aider cuts off.
fn begins(line: &str, first: bool) -> Begins {
    let body = line.trim_end_matches(lines::is_break);
    let stripped = body.trim_start_matches(is_space);
    let edge = if first { stripped } else { body };
    let is_whole = body.len() < line.len();
    if FENCES.iter().any(|fence| is_fence(edge, *fence))
        || SHELLS.iter().any(|shell| stripped.starts_with(shell))
        || first && PATCHES.iter().any(|patch| body.starts_with(patch))
        || is_whole && is_head(body)
    {
        return Begins::Yes;
    }
    let mut fences = FENCES.iter().flat_map(|(begin, end)| [begin, end]);
    if !is_whole
        && (fences.any(|fence| fence.starts_with(edge))
            || SHELLS.iter().any(|shell| shell.starts_with(stripped))
            || first && PATCHES.iter().any(|patch| patch.starts_with(body))
            || may_be_head(stripped))
    {
        return Begins::Perhaps;
    }
    Begins::No
}

impl Open {
    /// Takes a line.
    fn line(&mut self, line: &str, first: bool) {
        let body = line.trim_end_matches(lines::is_break);
        let edge = if first { strip(body) } else { body };
        for (open, fence) in self.whole.iter_mut().zip(FENCES) {
            *open ^= is_fence(edge, fence);
        }
        self.block = match self.block {
            Block::None | Block::Shell(0 | 1) if is_head(line) => Block::Search,
            Block::None if is_shell(line) => Block::Shell(0),
            Block::Shell(_) if strip(line).starts_with("```") => Block::None,
            Block::Shell(lines) => Block::Shell(lines.saturating_add(1)),
            Block::Search if is_divider(line) => Block::Replace,
            Block::Replace if is_divider(line) || is_updated(line) => Block::None,
            block @ (Block::None | Block::Search | Block::Replace) => block,
        };
        self.diff = if self.diff {
            !edge.starts_with("```")
        } else {
            edge.starts_with("```diff")
        };
        self.patch = if self.patch {
            body != PATCH_END
        } else {
            first && PATCHES.iter().any(|patch| body.starts_with(patch))
        };
    }

    fn is_rest(&self) -> bool {
        self.whole == [false; FENCES.len()]
            && self.block == Block::None
            && !self.diff
            && !self.patch
    }
}

#[cfg(test)]
mod tests;
