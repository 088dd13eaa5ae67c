//! Many globs against one path. Nearly all globs of the tables name one file, a folder with all below
//! it, or a name wherever it lies: those are looked up. Only the rest is matched.

use super::Place;
use crate::text::words::AnyWord;
use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};
use rustc_hash::FxHashMap;
use std::sync::OnceLock;

/// Globs that one pattern with braces stands for; with more, it is matched as it is.
const MAX_EXPANDED: usize = 64;
/// Bytes of globs that are a few: the automaton for all of them is far from its limit.
const FEW_BYTES: usize = 4 << 10;

/// The patterns that a key belongs to, by their position.
#[derive(Clone, Debug, Default)]
struct Lookup {
    keys: FxHashMap<String, Vec<usize>>,
    /// Which lengths keys have, as bits: nearly all texts are ruled out by theirs.
    lengths: u64,
}

impl Lookup {
    fn add(&mut self, key: String, at: usize) {
        self.lengths |= Lookup::bit(&key);
        self.keys.entry(key).or_default().push(at);
    }

    fn get(&self, key: &str) -> Option<&[usize]> {
        if self.lengths & Lookup::bit(key) == 0 {
            return None;
        }
        self.keys.get(key).map(Vec::as_slice)
    }

    fn is_empty(&self) -> bool {
        self.lengths == 0
    }

    /// The last bit is for all that are longer.
    fn bit(key: &str) -> u64 {
        1 << key.len().min(63)
    }
}

/// Patterns of paths, ready to match.
#[derive(Clone, Debug, Default)]
pub struct PathGlobs {
    /// `~/.netrc`
    exact: Lookup,
    /// `~/.ssh/**`, by the folder
    below: Lookup,
    /// Bytes of the longest of these folders.
    longest: usize,
    /// `**/.env` and `**/.aws/credentials`, by the name, or the folder's name and the name
    named: Lookup,
    /// `**/dist/**`, by the folder's name
    inside: Lookup,
    /// `**/*.log`, by the extension
    extensions: Lookup,
    /// Whether one begins at the root, so that the whole path must be compared too.
    from_root: bool,
    /// All others.
    others: Others,
    /// Their positions.
    positions: Vec<usize>,
}

/// Globs that must be matched. They are made ready on first use: most are never needed.
#[derive(Clone, Debug, Default)]
struct Others {
    globs: Vec<Glob>,
    /// A path that one of them matches has one of these in it.
    signs: Vec<String>,
    /// Whether one of them has no sign.
    unsigned: bool,
    search: OnceLock<AnyWord>,
    ready: OnceLock<Option<GlobSet>>,
}

impl Others {
    fn add(&mut self, pattern: &str) -> Result<(), globset::Error> {
        self.globs.push(glob(pattern)?);
        let parts = expanded(pattern);
        let signs: Option<Vec<String>> =
            parts.and_then(|parts| parts.iter().map(|part| sign(part)).collect());
        match signs {
            Some(signs) => self.signs.extend(signs),
            None => self.unsigned = true,
        }
        Ok(())
    }

    /// The globs, if one of them may match: nearly no path has a sign of any.
    fn set(&self, path: &str) -> Option<&GlobSet> {
        if self.globs.is_empty() {
            return None;
        }
        if !self.unsigned {
            let words = || AnyWord::of(self.signs.iter().map(String::as_str));
            if !self.search.get_or_init(words).is_in(path) {
                return None;
            }
        }
        let ready = self.ready.get_or_init(|| self.build().ok());
        ready.as_ref()
    }

    fn build(&self) -> Result<GlobSet, globset::Error> {
        let mut builder = GlobSetBuilder::new();
        for glob in &self.globs {
            builder.add(glob.clone());
        }
        builder.build()
    }

    /// Whether they are so few that nothing can go wrong when they are made ready.
    fn are_few(&self) -> bool {
        let bytes: usize = self.globs.iter().map(|glob| glob.glob().len()).sum();
        bytes <= FEW_BYTES
    }
}

impl PathGlobs {
    /// Reads the patterns. The error comes with the position of the pattern.
    pub fn read<'p>(
        patterns: impl IntoIterator<Item = &'p str>,
    ) -> Result<Self, (usize, globset::Error)> {
        let mut globs = PathGlobs::default();
        let mut last = 0;
        for (at, pattern) in patterns.into_iter().enumerate() {
            last = at;
            // What is wrong with a pattern, it says better than its parts. Without one of these
            // signs, nothing can be wrong.
            if pattern.contains(['{', '}', '[', '\\']) {
                glob(pattern).map_err(|error| (at, error))?;
            }
            globs.from_root |= !pattern.starts_with('~') && !pattern.starts_with("**/");
            let parts = expanded(pattern);
            let Some(parts) = parts.filter(|parts| parts.iter().any(|p| globs.lookup(p).is_some()))
            else {
                globs.others.add(pattern).map_err(|error| (at, error))?;
                globs.positions.push(at);
                continue;
            };
            for part in parts {
                if let Some((lookup, key)) = globs.lookup(&part) {
                    lookup.add(key, at);
                } else {
                    globs.others.add(&part).map_err(|error| (at, error))?;
                    globs.positions.push(at);
                }
            }
        }
        if !globs.others.are_few() {
            let set = globs.others.build().map_err(|error| (last, error))?;
            globs.others.ready = OnceLock::from(Some(set));
        }
        Ok(globs)
    }

    /// Where a glob without braces is looked up, and under which key.
    fn lookup(&mut self, glob: &str) -> Option<(&mut Lookup, String)> {
        let is_plain = |text: &str| !text.contains(['*', '?', '[', ']', '{', '}', '\\']);
        let is_name = |text: &str| is_plain(text) && !text.contains('/') && !text.is_empty();
        if is_plain(glob) {
            return Some((&mut self.exact, glob.to_owned()));
        }
        let Some(rest) = glob.strip_prefix("**/") else {
            let folder = glob.strip_suffix("/**")?;
            let is_folder = is_plain(folder) && !folder.is_empty();
            if is_folder {
                self.longest = self.longest.max(folder.len());
            }
            return is_folder.then(|| (&mut self.below, folder.to_owned()));
        };
        if is_name(rest)
            || rest
                .split_once('/')
                .is_some_and(|(a, b)| is_name(a) && is_name(b))
        {
            return Some((&mut self.named, rest.to_owned()));
        }
        if let Some(folder) = rest.strip_suffix("/**") {
            return is_name(folder).then(|| (&mut self.inside, folder.to_owned()));
        }
        let extension = rest.strip_prefix("*.")?;
        let is_extension = is_name(extension) && !extension.contains('.');
        is_extension.then(|| (&mut self.extensions, extension.to_owned()))
    }

    /// The positions of all patterns that match, some of them perhaps twice.
    pub fn matches(&self, path: &str) -> Vec<usize> {
        let mut found = Vec::new();
        self.each_lookup(path, |at| {
            found.extend_from_slice(at);
            false
        });
        if let Some(others) = self.others.set(path) {
            let others = others.matches(path);
            found.extend(others.iter().filter_map(|at| self.positions.get(*at)));
        }
        found
    }

    /// Whether any pattern matches a place, by its whole path or with `~` for the home.
    pub fn find(&self, place: &Place) -> bool {
        self.is_match(&place.short)
            || (self.from_root && place.short != place.text && self.is_match(&place.text))
    }

    /// Whether any pattern matches.
    pub fn is_match(&self, path: &str) -> bool {
        let others = || self.others.set(path);
        self.each_lookup(path, |_| true) || others().is_some_and(|others| others.is_match(path))
    }

    /// Gives `enough` what each lookup finds, until it says so. Returns whether it did.
    fn each_lookup(&self, path: &str, mut enough: impl FnMut(&[usize]) -> bool) -> bool {
        let mut finds = |lookup: &Lookup, key: &str| lookup.get(key).is_some_and(&mut enough);
        if finds(&self.exact, path) {
            return true;
        }
        if !self.named.is_empty() || !self.extensions.is_empty() {
            // The last part of the path, and the last two.
            let mut slashes = memchr::memrchr_iter(b'/', path.as_bytes()).map(|at| at + 1);
            let name = slashes.next().and_then(|at| path.get(at..));
            let in_folder = name.and_then(|_| path.get(slashes.next().unwrap_or(0)..));
            let name = name.unwrap_or(path);
            if finds(&self.named, name) || in_folder.is_some_and(|named| finds(&self.named, named))
            {
                return true;
            }
            if !self.extensions.is_empty()
                && let Some((_, extension)) = name.rsplit_once('.')
                && finds(&self.extensions, extension)
            {
                return true;
            }
        }
        if !self.below.is_empty() {
            let start = path.as_bytes();
            let start = start.get(..=self.longest).unwrap_or(start);
            let slashes = memchr::memchr_iter(b'/', start);
            let whole = (path.len() <= self.longest).then_some(path.len());
            for end in slashes.chain(whole) {
                if path.get(..end).is_some_and(|f| finds(&self.below, f)) {
                    return true;
                }
            }
        }
        if self.inside.is_empty() {
            return false;
        }
        let mut from = 0;
        for at in memchr::memchr_iter(b'/', path.as_bytes()).chain([path.len()]) {
            let part = path.get(from..at);
            if part.is_some_and(|part| finds(&self.inside, part)) {
                return true;
            }
            from = at + 1;
        }
        false
    }
}

/// A glob as the tables write it: `*` stays within a folder, and `x/**` means `x` too.
fn glob(pattern: &str) -> Result<Glob, globset::Error> {
    let pattern = match pattern.strip_suffix("/**") {
        Some(folder) if !folder.is_empty() => format!("{{{folder},{pattern}}}"),
        _ => pattern.to_owned(),
    };
    GlobBuilder::new(&pattern).literal_separator(true).build()
}

/// The longest text that every path has in it which a pattern without braces matches.
fn sign(pattern: &str) -> Option<String> {
    let mut runs = vec![String::new()];
    let mut rest = pattern;
    while let Some(c) = rest.chars().next() {
        let run = runs.last_mut()?;
        match c {
            '*' => {
                // A slash beside `**` may be missing.
                run.truncate(run.trim_end_matches('/').len());
                runs.push(String::new());
                rest = rest.trim_start_matches('*').trim_start_matches('/');
            }
            '?' => {
                runs.push(String::new());
                rest = rest.get(1..)?;
            }
            '[' => {
                let (class, behind) = rest.get(1..)?.split_once(']')?;
                match class.as_bytes() {
                    // `[*]` is a star.
                    [one] if !matches!(one, b'!' | b'^') => run.push_str(class),
                    [] | [b'!' | b'^', ..] => return None,
                    _ => runs.push(String::new()),
                }
                rest = behind;
            }
            '\\' => return None,
            _ => {
                run.push(c);
                rest = rest.get(c.len_utf8()..)?;
            }
        }
    }
    let longest = runs.into_iter().max_by_key(String::len)?;
    (longest.len() > 1).then_some(longest)
}

/// What a pattern with braces stands for; `None` if that is too much.
fn expanded(pattern: &str) -> Option<Vec<String>> {
    let mut done = Vec::new();
    let mut open = vec![pattern.to_owned()];
    while let Some(pattern) = open.pop() {
        if done.len() + open.len() >= MAX_EXPANDED {
            return None;
        }
        let Some(start) = pattern.find('{') else {
            done.push(pattern);
            continue;
        };
        // A brace in brackets or behind a backslash is none.
        if pattern.contains(['[', '\\']) {
            return None;
        }
        let (before, rest) = pattern.split_at_checked(start)?;
        let mut depth = 0;
        let mut choices = vec![String::new()];
        let mut after = "";
        for (at, c) in rest.char_indices() {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            match (c, depth) {
                ('{', 1) => {}
                ('}', 0) => {
                    after = rest.get(at + 1..)?;
                    break;
                }
                (',', 1) => choices.push(String::new()),
                _ => choices.last_mut()?.push(c),
            }
        }
        open.extend(
            choices
                .iter()
                .map(|choice| format!("{before}{choice}{after}")),
        );
    }
    Some(done)
}

#[cfg(test)]
mod tests {
    use super::{PathGlobs, glob};
    use globset::GlobSetBuilder;
    use proptest::prelude::*;

    proptest! {
        /// What is looked up is what the glob library would match.
        #[test]
        fn lookups_find_what_globs_match(
            patterns in prop::collection::vec("(\\*\\*/|~/|/)?(a|b|\\.c|\\*|\\{a,b\\}|\\{a,b/\\{c,d\\}\\}|a\\.log|\\*\\.log|\\[ab\\])(/(a|b|\\*|\\.c|x\\.log)){0,2}(/\\*\\*)?", 1..6),
            path in "(~|/)?(/?(a|b|\\.c|c|d|x\\.log|\\.log|a\\.log)){1,4}/?",
        ) {
            let ours = PathGlobs::read(patterns.iter().map(String::as_str)).unwrap();
            let mut theirs = GlobSetBuilder::new();
            for pattern in &patterns {
                theirs.add(glob(pattern).unwrap());
            }
            let theirs = theirs.build().unwrap();
            let mut found = ours.matches(&path);
            found.sort_unstable();
            found.dedup();
            prop_assert_eq!(&found, &theirs.matches(&path), "{:?} against {}", patterns, path);
            prop_assert_eq!(ours.is_match(&path), theirs.is_match(&path));
        }
    }

    #[test]
    fn a_wrong_pattern_is_named() {
        let read = PathGlobs::read(["~/a", "~/[b"]);
        assert_eq!(read.unwrap_err().0, 1);
    }
}
