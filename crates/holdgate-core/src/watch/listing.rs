//! Finds listings in a text: fenced code and the lines of a patch. Commands in them are only shown.

use memchr::{memchr, memchr_iter};

/// How far an unclosed listing reaches: one stray mark must not hide all that follows.
const MAX_LISTING: u64 = 400;
/// Lines of a part of a patch. Each of them has its mark, so a stray header hides little.
const MAX_PATCH: u64 = 20_000;

/// How far listings reach.
#[derive(Clone, Debug, Default)]
pub(super) struct Listing {
    /// The number of the line that comes next.
    line: u64,
    fenced_until: u64,
    /// Lines of a patch that are still to come: of the text before it, and of the one after it.
    old: u64,
    new: u64,
}

impl Listing {
    /// Goes on by a line; whether it is part of a listing.
    pub(super) fn pass(&mut self, line: &str) -> bool {
        let here = self.line;
        self.line += 1;
        if let Some((old, new)) = hunk(line) {
            (self.old, self.new) = (old.min(MAX_PATCH), new.min(MAX_PATCH));
            return true;
        }
        if self.in_patch() && self.pass_in_patch(line.as_bytes().first().copied()) {
            return true;
        }
        let start = line.trim_start();
        if start.starts_with("```") || start.starts_with("~~~") {
            let inside = here < self.fenced_until;
            self.fenced_until = if inside { 0 } else { here + MAX_LISTING };
            return true;
        }
        here < self.fenced_until
    }

    /// Goes on by lines with nothing remarkable in them.
    pub(super) fn pass_quiet(&mut self, lines: &[u8]) {
        let mut rest = lines;
        while self.in_patch() && !rest.is_empty() {
            let end = memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
            let (line, after) = rest.split_at_checked(end).unwrap_or((rest, &[]));
            self.line += 1;
            self.pass_in_patch(line.first().copied());
            rest = after;
        }
        self.line += memchr_iter(b'\n', rest).count() as u64;
    }

    /// Whether the line that was passed last is the first one of the text.
    pub(super) fn is_first(&self) -> bool {
        self.line == 1
    }

    fn in_patch(&self) -> bool {
        self.old > 0 || self.new > 0
    }

    /// Whether a line that begins like this belongs to the patch; if not, that has ended.
    fn pass_in_patch(&mut self, mark: Option<u8>) -> bool {
        let (old, new) = match mark {
            // Blanks at the end of a line get lost.
            Some(b' ' | b'\r' | b'\n') | None => (1, 1),
            Some(b'-') => (1, 0),
            Some(b'+') => (0, 1),
            // No line end at the end of the file.
            Some(b'\\') => (0, 0),
            Some(_) => (u64::MAX, u64::MAX),
        };
        let left = self.old.checked_sub(old).zip(self.new.checked_sub(new));
        (self.old, self.new) = left.unwrap_or((0, 0));
        left.is_some()
    }
}

/// The lines that the header of a part of a patch announces.
fn hunk(line: &str) -> Option<(u64, u64)> {
    let (ranges, _) = line.strip_prefix("@@ -")?.split_once(" @@")?;
    let count = |range: &str| match range.split_once(',') {
        Some((_, count)) => count.parse::<u64>().ok(),
        None => Some(1),
    };
    let (old, new) = ranges.split_once(" +")?;
    Some((count(old)?, count(new)?))
}
