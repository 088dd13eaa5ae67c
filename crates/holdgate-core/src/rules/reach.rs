//! Which files an earlier effect was about, where its path does not name one: a glob, a folder,
//! something unknown.
//!
//! What must have been done counts only if it certainly was. What must not have been done counts if
//! it may have been.

use holdgate_effects::effect::{Effect, Kind};
use holdgate_effects::path::{PathClass, Place, is_under};
use holdgate_effects::pattern::Pattern as ShellPattern;
use holdgate_effects::tag::Tag;
use holdgate_effects::value::{HOLE, HOLE_STR};

/// A file that a rule's glob matches.
#[derive(Debug)]
pub(super) enum Sample {
    /// `**/data/*.csv`: it can lie anywhere.
    Anywhere(String),
    /// `~/data/*.csv`, `/data/*.csv`
    Fixed(String),
    /// `data/*.csv`: in the project
    Inside(String),
    /// Its glob is too complex for a sample.
    Unknown,
}

impl Sample {
    pub(super) fn of(glob: &str) -> Self {
        if glob.contains(['[', '{', '\\']) {
            return Sample::Unknown;
        }
        let plain = |glob: &str| glob.replace("**", "x").replace(['*', '?'], "x");
        match (glob.strip_prefix("**/"), in_project(glob)) {
            (Some(rest), _) => Sample::Anywhere(plain(rest)),
            (None, Some(rest)) => Sample::Inside(plain(rest)),
            (None, None) => Sample::Fixed(plain(glob)),
        }
    }
}

/// A glob as it is compared with paths in the project, if it is about them: `src/**`, `./*.md`.
pub(super) fn in_project(glob: &str) -> Option<&str> {
    match glob.strip_prefix("./") {
        Some(rest) => Some(rest),
        None if glob.starts_with(['/', '~', '*', '?', '[', '{', '\\']) => None,
        // A drive of Windows.
        None if glob.get(1..2) == Some(":") => None,
        None => Some(glob),
    }
}

/// Whether `earlier` was certainly about the file that is called `now`.
pub(super) fn certainly_was(earlier: &str, now: &str) -> bool {
    if now.contains(HOLE) || earlier.contains(HOLE) {
        return false;
    }
    earlier == now || is_loose(earlier) && each_part(earlier, now, certainly_fits)
}

/// Whether `effect`, about a path that is written `earlier`, may have been about `now`.
fn could_be(effect: &Effect, earlier: &str, now: &str) -> bool {
    let below = effect.is(Tag::Recursive) || effect.kind == Kind::Read && !effect.is(Tag::List);
    if earlier == now || now.contains(HOLE) || below && is_under(now, earlier) {
        return true;
    }
    // Nearly always both name one file.
    if !is_loose(earlier) && !is_loose(now) {
        return false;
    }
    if earlier.contains(HOLE) || earlier.contains("**") {
        return fits(earlier, now);
    }
    is_loose(earlier) && each_part(earlier, now, fits)
        || is_loose(now) && each_part(now, earlier, fits)
}

/// Whether `effect` may have been about the same file as something at `now`.
pub(super) fn may_be(effect: &Effect, earlier: &Place, now: &Place) -> bool {
    could_be(effect, &earlier.text, &now.text)
}

/// Whether `effect` may have been about a file like `sample`.
pub(super) fn may_include(effect: &Effect, place: &Place, sample: &Sample) -> bool {
    let folder = is_whole_folder(effect, place);
    match sample {
        Sample::Unknown => folder || is_loose(&place.text),
        Sample::Fixed(sample) => {
            (folder || is_loose(&place.text))
                && (could_be(effect, &place.text, sample) || could_be(effect, &place.short, sample))
        }
        Sample::Inside(sample) => {
            let holds_project = place.is(PathClass::ProjectRoot) || place.is(PathClass::Unknown);
            folder && holds_project
                || (folder || is_loose(&place.text))
                    && place
                        .in_project()
                        .is_none_or(|inside| could_be(effect, inside, sample))
        }
        Sample::Anywhere(sample) => folder || is_loose(&place.text) && ends_so(&place.text, sample),
    }
}

/// Whether all that lies in a folder was touched. A search in what looks like a file was not.
fn is_whole_folder(effect: &Effect, place: &Place) -> bool {
    let name = place.text.rsplit('/').next().unwrap_or_default();
    effect.is(Tag::Recursive) || effect.is(Tag::Search) && !name.contains('.')
}

/// Whether the last parts of `path` can be those of `sample`.
fn ends_so(path: &str, sample: &str) -> bool {
    let mut parts = path.rsplit('/');
    for wanted in sample.rsplit('/') {
        match parts.next() {
            Some(part) if fits(part, wanted) && part.contains(HOLE) => return true,
            Some(part) if fits(part, wanted) => {}
            Some(_) | None => return false,
        }
    }
    true
}

fn is_loose(path: &str) -> bool {
    memchr::memchr3(b'*', b'?', b'[', path.as_bytes()).is_some() || path.contains(HOLE)
}

fn each_part(pattern: &str, path: &str, fits: fn(&str, &str) -> bool) -> bool {
    let count = |path: &str| path.matches('/').count();
    count(pattern) == count(path)
        && pattern
            .split('/')
            .zip(path.split('/'))
            .all(|(pattern, part)| fits(pattern, part))
}

/// Whether a glob matches a name. A glob that is too long to follow may match.
fn fits(glob: &str, name: &str) -> bool {
    let read = ShellPattern::read(&glob.replace(HOLE_STR, "*"));
    read.is_none_or(|pattern| pattern.matches(name))
}

/// Whether a glob certainly matches a name. It does not match a hidden one.
fn certainly_fits(glob: &str, name: &str) -> bool {
    let hidden = name.starts_with('.') && !glob.starts_with('.');
    let read = ShellPattern::read(glob);
    glob == name || !hidden && read.is_some_and(|pattern| pattern.matches(name))
}
