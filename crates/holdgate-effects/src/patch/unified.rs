//! Unified diffs, as `git apply` and `patch` take them.

use super::{Change, Hunk, push_line};

/// The file that the lines of a unified diff are about.
#[derive(Default)]
struct Diff {
    old: Option<String>,
    new: Option<String>,
    added: String,
    hunks: Vec<Hunk>,
    deleted: bool,
    moved: bool,
    any: bool,
}

impl Diff {
    /// A line of its hunks.
    fn takes(&mut self, line: &str) {
        if let Some(hunk) = self.hunks.last_mut() {
            hunk.takes(line);
        }
    }

    fn close(self, changes: &mut Vec<Change>) {
        let named = |path: Option<String>| path.filter(|p| p != "/dev/null");
        // A file that is new holds nothing else.
        let is_new = self.old.as_deref() == Some("/dev/null");
        let mut hunks = if is_new { Vec::new() } else { self.hunks };
        hunks.retain(|hunk| *hunk != Hunk::default());
        let gone = self.deleted || self.new.as_deref() == Some("/dev/null");
        match (named(self.old), named(self.new)) {
            (Some(old), _) if gone => changes.push(Change::Delete(old)),
            (None, Some(new)) if gone => changes.push(Change::Delete(new)),
            (Some(old), Some(new)) if self.moved => {
                changes.push(Change::Move(old, new.clone()));
                changes.push(Change::Write(new, self.added, hunks));
            }
            (old, Some(new)) => {
                // `patch` takes whichever of the two names exists.
                if let Some(old) = old
                    && old != new
                {
                    changes.push(Change::Write(old, self.added.clone(), hunks.clone()));
                }
                changes.push(Change::Write(new, self.added, hunks));
            }
            (Some(old), None) => changes.push(Change::Write(old, self.added, hunks)),
            (None, None) => {}
        }
    }
}

/// `None` if it is no unified diff.
pub(super) fn read(text: &str) -> Option<Vec<Change>> {
    let mut changes = Vec::new();
    let mut diff = Diff::default();
    let mut lines_left = Lines::default();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if lines_left.takes(line) {
            diff.takes(line);
            if let Some(line) = line.strip_prefix('+') {
                push_line(&mut diff.added, line);
            }
        } else if let Some(names) = line.strip_prefix("diff --git ") {
            std::mem::take(&mut diff).close(&mut changes);
            if let Some((old, new)) = git_names(names) {
                diff.old = Some(old);
                diff.new = Some(new);
            }
        } else if let Some(old) = line.strip_prefix("--- ")
            && lines.peek().is_some_and(|next| next.starts_with("+++ "))
        {
            if diff.any {
                std::mem::take(&mut diff).close(&mut changes);
            }
            diff.any = true;
            diff.old = Some(file_name(old));
            diff.new = lines
                .next()
                .and_then(|line| line.strip_prefix("+++ "))
                .map(file_name);
        } else if line.starts_with("deleted file mode") {
            diff.deleted = true;
        } else if let Some(old) = line.strip_prefix("rename from ") {
            diff.old = Some(unquoted(old));
            diff.moved = true;
        } else if let Some(new) = line
            .strip_prefix("rename to ")
            .or_else(|| line.strip_prefix("copy to "))
        {
            diff.new = Some(unquoted(new));
        } else if let Some(path) = line.strip_prefix("Index: ") {
            if diff.any {
                std::mem::take(&mut diff).close(&mut changes);
            }
            diff.old = Some(file_name(path));
            diff.any = true;
        } else {
            lines_left = Lines::open(line).unwrap_or_default();
            diff.hunks.push(Hunk::default());
        }
    }
    diff.close(&mut changes);
    let blank = text.trim().is_empty();
    (blank || !changes.is_empty()).then_some(changes)
}

/// How many lines of a hunk are still to come. Only these are content, whatever they look like.
#[derive(Default)]
struct Lines {
    old: u64,
    new: u64,
}

impl Lines {
    /// `@@ -1,2 +3,4 @@`
    fn open(line: &str) -> Option<Lines> {
        let mut ranges = line.strip_prefix("@@ -")?.split(' ');
        let count = |range: &str| match range.split_once(',') {
            Some((_, count)) => count.parse().ok(),
            None => Some(1),
        };
        let old = count(ranges.next()?)?;
        let new = count(ranges.next()?.strip_prefix('+')?)?;
        Some(Lines { old, new })
    }

    fn takes(&mut self, line: &str) -> bool {
        if self.old == 0 && self.new == 0 {
            return false;
        }
        match line.chars().next() {
            Some('+') => self.new = self.new.saturating_sub(1),
            Some('-') => self.old = self.old.saturating_sub(1),
            Some(' ' | '\t') | None => {
                self.old = self.old.saturating_sub(1);
                self.new = self.new.saturating_sub(1);
            }
            Some('\\') => {}
            // The counts lied.
            Some(_) => {
                *self = Lines::default();
                return false;
            }
        }
        true
    }
}

/// `a/x b/x`, as far as it is clear where the first ends.
fn git_names(names: &str) -> Option<(String, String)> {
    if let Some((old, new)) = names.split_once(" b/") {
        return Some((file_name(old), new.to_owned()));
    }
    let (old, new) = names.split_once(' ')?;
    Some((file_name(old), file_name(new)))
}

/// The name in a `---` or `+++` line, without the time behind it and the `a/` before it.
fn file_name(text: &str) -> String {
    let name = text.split('\t').next().unwrap_or(text).trim();
    let name = unquoted(name);
    for prefix in ["a/", "b/", "i/", "w/", "c/", "o/"] {
        if let Some(rest) = name.strip_prefix(prefix) {
            return rest.to_owned();
        }
    }
    name
}

/// Git quotes names with odd characters.
fn unquoted(name: &str) -> String {
    let inner = name.strip_prefix('"').and_then(|n| n.strip_suffix('"'));
    match inner {
        None => name.to_owned(),
        Some(inner) => {
            let mut bytes = Vec::new();
            let mut rest = inner.as_bytes();
            while let Some((&first, after)) = rest.split_first() {
                rest = after;
                match (first, after) {
                    (b'\\', [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', tail @ ..]) => {
                        bytes.push((a - b'0') * 64 + (b - b'0') * 8 + (c - b'0'));
                        rest = tail;
                    }
                    (b'\\', [escaped, tail @ ..]) => {
                        bytes.push(*escaped);
                        rest = tail;
                    }
                    _ => bytes.push(first),
                }
            }
            String::from_utf8_lossy(&bytes).into_owned()
        }
    }
}
