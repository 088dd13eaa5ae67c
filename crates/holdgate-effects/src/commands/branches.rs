//! Branches that git is told to move, and files that it brings back as they were.

use super::args::Parsed;
use crate::scene::Scene;
use crate::value::{OLD_FILE, Value};

/// Whether a branch is made to point elsewhere, wherever it pointed before: commits that only it held are
/// lost.
pub(super) fn moves(parsed: &Parsed) -> bool {
    let texts: Vec<&str> = parsed.operands.iter().map(|o| o.text.as_str()).collect();
    let is_back = |to: &str| to.contains(['~', '^']);
    let is_main = |name: &str| {
        let name = name.strip_prefix("refs/heads/").unwrap_or(name);
        matches!(name, "main" | "master" | "develop" | "trunk")
    };
    match texts.as_slice() {
        // With the old value as a third word, git refuses to lose anything.
        [name, to] if parsed.is_sub(&["update-ref"]) => {
            name.starts_with("refs/heads/") && (is_back(to) || is_main(name)) || *name == "HEAD"
        }
        [name, to] if parsed.is_sub(&["branch"]) && parsed.given(&["-f", "--force"]) => {
            is_back(to) || is_main(name)
        }
        [_, _, ..] if parsed.is_sub(&["replace"]) => true,
        _ => false,
    }
}

/// Whether a name that something is fetched into holds work of this repository alone.
pub(super) fn is_own(target: &str) -> bool {
    let kept = ["refs/heads", "refs/stash", "refs/*", "refs/notes"];
    !target.starts_with("refs/") && !target.is_empty()
        || kept.iter().any(|start| target.starts_with(start))
}

/// Whether a refspec in the settings of a remote puts what is fetched over branches of this repository.
pub(super) fn fetches_over(refspec: &str) -> bool {
    let target = refspec.split_once(':').map_or("", |(_, target)| target);
    target.starts_with("refs/") && is_own(target)
}

/// Whether an archive that is unpacked here holds the files of this folder as they were committed.
pub(super) fn unpacks_old(scene: &Scene<'_>, archive: &Value) -> bool {
    let mut sources = archive.sources.iter();
    sources.any(|source| source.strip_prefix(OLD_FILE) == Some(scene.folder()))
}

/// What `git show COMMIT:path` prints is that file as it was.
pub(super) fn shows(scene: &Scene<'_>, parsed: &Parsed, output: Value) -> Value {
    let elsewhere = ["--prefix", "--remote", "-o", "--output"];
    if parsed.is_sub(&["archive"]) && !parsed.given(&elsewhere) {
        // All files of a revision: who unpacks them right here puts them over what was changed since.
        return output.with_source(&format!("{OLD_FILE}{}", scene.folder()));
    }
    if !parsed.is_sub(&["show", "cat-file"]) {
        return output;
    }
    let mut output = output;
    for operand in &parsed.operands {
        if let Some((commit, path)) = operand.text.split_once(':')
            && !commit.is_empty()
            && !path.is_empty()
        {
            let place = scene.place(&operand.map(path));
            output.add_source(&format!("{OLD_FILE}{}", place.text));
        }
    }
    output
}
