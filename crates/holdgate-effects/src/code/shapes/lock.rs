//! Lock files in which a package comes from another one's archive.

use crate::effect::{Actor, Effect, Kind};
use crate::tag::Tag;

/// Lines of a lock file that are looked at.
const MAX_LINES: usize = 50_000;

pub(super) fn run(path: &str, content: &str, replaced: &str, found: &mut Vec<Effect>) {
    let name = path.rsplit('/').next().unwrap_or(path);
    if !matches!(
        name,
        "package-lock.json" | "npm-shrinkwrap.json" | "yarn.lock" | "bun.lock"
    ) {
        return;
    }
    let before: Vec<&str> = replaced.lines().filter_map(archive).collect();
    let mut key = "";
    for line in content.lines().take(MAX_LINES) {
        if let Some(package) = package(line) {
            key = package;
        } else if line.trim_start().starts_with("\"name\":") {
            // Another name for it, which is said.
            key = "";
        }
        let Some(archive) = archive(line) else {
            continue;
        };
        let other = !key.is_empty() && key != archive;
        // The head of the entry is not part of the edit.
        let replaced = key.is_empty() && !before.is_empty() && !before.contains(&archive);
        if other || replaced {
            let actor = Actor::new("lock", &crate::json::shorten(line.trim(), 200));
            found.push(
                actor
                    .does(Kind::Install)
                    .tagged(Tag::OtherName)
                    .about(archive),
            );
            return;
        }
    }
}

/// The package whose entry begins here: `"node_modules/a": {`, `"@b/c@^1.0":`.
fn package(line: &str) -> Option<&str> {
    let head = line.trim_end();
    let head = head
        .strip_suffix('{')
        .unwrap_or(head)
        .trim_end()
        .strip_suffix(':')?;
    // The entry of `yarn.lock` begins without blanks.
    if !line.trim_end().ends_with('{') && line.starts_with([' ', '\t']) {
        return None;
    }
    let head = head
        .split(", ")
        .next()
        .unwrap_or(head)
        .trim()
        .trim_matches('"');
    if head.contains("@npm:") && !head.contains("@npm:^") {
        return None;
    }
    let name = head.rsplit("node_modules/").next().unwrap_or(head);
    let plain = name.strip_prefix('@').unwrap_or(name);
    let end = plain
        .find('@')
        .map_or(name.len(), |at| at + name.len() - plain.len());
    let listed =
        head.contains("node_modules/") || name.get(end..).is_some_and(|range| !range.is_empty());
    listed.then(|| name.get(..end)).flatten()
}

/// The package that an archive of a registry is of: `…/a/-/a-1.0.0.tgz`.
fn archive(line: &str) -> Option<&str> {
    let line = line.trim_start();
    if !line.starts_with("\"resolved\"") && !line.starts_with("resolved ") {
        return None;
    }
    let (_, url) = line.split_once("://")?;
    let (path, _) = url.split_once("/-/")?;
    let (_, path) = path.split_once('/')?;
    let scope = path.rfind('@');
    Some(scope.map_or_else(
        || path.rsplit('/').next().unwrap_or(path),
        |at| path.get(at..).unwrap_or(path),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared() {
        assert_eq!(package("    \"node_modules/lodash\": {"), Some("lodash"));
        assert_eq!(package("\"@a/b@^1.0.0\", \"@a/b@^1.2.0\":"), Some("@a/b"));
        assert_eq!(package("lodash@^4.17.21:"), Some("lodash"));
        assert_eq!(package("  dependencies:"), None);
        let line = "  \"resolved\": \"https://registry.npmjs.org/@a/b/-/b-1.0.0.tgz\",";
        assert_eq!(archive(line), Some("@a/b"));
        assert_eq!(
            archive("  resolved \"https://registry.yarnpkg.com/x/-/x-1.tgz#1\""),
            Some("x")
        );
    }
}
