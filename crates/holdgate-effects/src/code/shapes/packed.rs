//! What goes out with a package, an image or a page: secrets that a manifest packs, or that a list of ignored files
//! no longer leaves out, and the environment that a build puts into what everybody loads.

use super::scan::{has_any, quoted};
use crate::effect::{Actor, Effect, Kind};
use crate::pattern::Pattern;
use crate::tag::Tag;

/// A longer file of this kind is another one.
const MAX_FILE: usize = 128 << 10;
/// Names of one file that are looked at.
const MAX_NAMES: usize = 512;

/// Names of files that hold secrets.
#[rustfmt::skip]
const SECRETS: [&str; 12] = [
    ".env", ".env.production", ".env.local", ".npmrc", ".netrc", ".pypirc", ".git-credentials", "id_rsa", "id_ed25519",
    "credentials.json", "service-account.json", ".aws/credentials",
];
/// Names of files that are packed every day: a pattern with these is not about secrets.
const USUAL: [&str; 3] = ["src/index.js", "README.md", "index.js"];

pub(super) fn run(path: &str, content: &str, replaced: &str, found: &mut Vec<Effect>) {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    if content.len() > MAX_FILE {
        return;
    }
    let line = match name.as_str() {
        "package.json" => by_texts(content),
        "manifest.in" => by_words(
            content,
            &["include", "recursive-include", "graft", "global-include"],
        ),
        ".npmignore" | ".dockerignore" | ".vscodeignore" | ".gcloudignore" | ".vercelignore" => {
            by_exception(content)
        }
        "pyproject.toml" | "setup.cfg" | "setup.py" | "cargo.toml" | "jsr.json" => by_list(content),
        _ if name.ends_with(".gemspec") || name.ends_with(".nuspec") => by_list(content),
        _ if name.contains(".config.") => by_build(content),
        _ => None,
    };
    if let Some(line) = line.filter(|line| !replaced.contains(line.trim())) {
        let shown = crate::json::shorten(line.trim(), 200);
        let actor = Actor::new("packs", &shown);
        found.push(actor.does(Kind::System).tagged(Tag::Publish).about(&shown));
    }
}

/// Whether a name or pattern takes files of secrets, and not the package as a whole.
fn takes_secret(pattern: &str) -> bool {
    let plain = pattern
        .trim()
        .trim_start_matches("./")
        .trim_start_matches('/')
        .trim_start_matches("**/");
    if plain.len() < 2
        || plain.contains([' ', '(', '='])
        || has_any(plain, &["example", "sample", "template"])
    {
        return false;
    }
    if !plain.contains(['*', '?', '[']) {
        return SECRETS.contains(&plain);
    }
    let Some(pattern) = Pattern::read(plain) else {
        return false;
    };
    let matches =
        |pattern: &Pattern, names: &[&str]| names.iter().any(|name| pattern.matches(name));
    matches(&pattern, &SECRETS) && !matches(&pattern, &USUAL)
}

/// The texts of a list, in JSON.
fn by_texts(content: &str) -> Option<&str> {
    let mut texts = quoted(content).into_iter().take(MAX_NAMES);
    texts
        .find(|(_, text)| takes_secret(text))
        .map(|(_, text)| text)
}

/// Lines that begin with one of these words.
fn by_words<'t>(content: &'t str, words: &[&str]) -> Option<&'t str> {
    content.lines().take(MAX_NAMES).find(|line| {
        let mut parts = line.split_whitespace();
        parts.next().is_some_and(|word| words.contains(&word)) && parts.any(takes_secret)
    })
}

/// `!.env`: what is left out is taken after all.
fn by_exception(content: &str) -> Option<&str> {
    content
        .lines()
        .take(MAX_NAMES)
        .find(|line| line.trim().strip_prefix('!').is_some_and(takes_secret))
}

/// Lists of files to pack, by the key before them.
fn by_list(content: &str) -> Option<&str> {
    const KEYS: [&str; 8] = [
        "include",
        "package_data",
        "package-data",
        "data_files",
        "data-files",
        "files",
        "force-include",
        "assets",
    ];
    let lines: Vec<&str> = content.lines().take(4000).collect();
    lines.iter().enumerate().find_map(|(at, line)| {
        let texts = quoted(line);
        let packs = texts.iter().any(|(_, text)| takes_secret(text));
        let near = lines.get(at.saturating_sub(4)..=at).unwrap_or(&[]);
        (packs && near.iter().any(|line| has_any(line, &KEYS)) && !line.contains("exclude"))
            .then_some(*line)
    })
}

/// The whole environment as a constant of what a build makes.
fn by_build(content: &str) -> Option<&str> {
    const WHOLE: [&str; 4] = [
        "JSON.stringify(loadEnv(",
        "JSON.stringify(process.env)",
        "JSON.stringify({ ...process.env",
        "JSON.stringify({...process.env",
    ];
    content.lines().find(|line| has_any(line, &WHOLE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_packs_secrets_is_told() {
        assert!(takes_secret(".e*"));
        assert!(takes_secret(".env"));
        assert!(takes_secret("**/.env*"));
        assert!(!takes_secret("**/*"));
        assert!(!takes_secret("dist"));
        assert!(!takes_secret(".env.example"));
        assert!(by_words("include README.md\ninclude .env\n", &["include"]).is_some());
        assert!(by_exception("*.log\n!.env\n").is_some());
        assert!(by_exception(".env\n").is_none());
    }
}
