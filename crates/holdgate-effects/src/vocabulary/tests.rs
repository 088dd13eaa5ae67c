use super::*;
use std::collections::BTreeSet;
use std::path::Path;

const PAGE: &str = include_str!("../../../../docs/rules-language.md");

#[test]
fn the_page_on_rules_ends_with_the_list_of_words() {
    assert!(
        PAGE.ends_with(&vocabulary()),
        "docs/rules-language.md is old: replace its section `Words` by what \
         `cargo run -p holdgate -- rules words` prints"
    );
}

#[test]
fn a_meaning_is_a_sentence_and_a_word_is_declared_once() {
    for (title, words) in words() {
        let mut known = BTreeSet::new();
        for (word, meaning) in words {
            assert!(known.insert(word), "{title}: `{word}` is declared twice");
            let first = meaning.chars().next();
            let is_sentence = meaning.ends_with('.') && first.is_some_and(char::is_uppercase);
            assert!(is_sentence, "{title}: `{word}` means {meaning}");
        }
    }
}

/// All sources of the crate, without tests.
fn sources(folder: &Path, text: &mut String) {
    #[expect(clippy::disallowed_methods, reason = "a test that reads the sources")]
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.is_dir() {
            if name != "tests" {
                sources(&path, text);
            }
        } else if path.extension().is_some_and(|e| e == "rs") && name != "tests.rs" {
            let source = std::fs::read_to_string(&path).unwrap();
            text.push_str(source.split("#[cfg(test)]").next().unwrap());
        }
    }
}

/// The members of `name` that code uses other than in a comparison.
fn made_by_code(name: &str) -> BTreeSet<String> {
    let mut text = String::new();
    sources(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("src"),
        &mut text,
    );
    let mark = format!("{name}::");
    let compared = [".is(", "(is(", " is(", "!is(", "== ", "!= ", "contains(&"];
    let pieces: Vec<&str> = text.split(&mark).collect();
    let mut found = BTreeSet::new();
    for pair in pieces.windows(2) {
        if !compared.iter().any(|mark| pair[0].ends_with(mark)) {
            let member = pair[1].chars().take_while(|c| c.is_alphanumeric());
            found.insert(member.collect());
        }
    }
    found
}

#[test]
fn every_word_is_produced_by_code_or_a_table() {
    let commands = crate::Knowledge::built_in().unwrap();
    let mut tags: BTreeSet<String> = made_by_code("Tag");
    tags.extend(
        commands
            .commands
            .tags()
            .iter()
            .map(|tag| format!("{tag:?}")),
    );
    // What the conversation says about a call is known only above: `provenance.rs` of the core.
    tags.extend(["Exposed", "Untrusted"].map(str::to_owned));
    let changes = commands.tools.changes.keys();
    tags.extend(changes.map(|tag| format!("{tag:?}")));
    let paths = include_str!("../paths.yaml");
    let hosts = include_str!("../hosts.yaml");
    let listed = |yaml: &str, word: &str| yaml.lines().any(|l| l == format!("{word}:"));
    let (kinds, places, names) = (
        made_by_code("Kind"),
        made_by_code("PathClass"),
        made_by_code("HostClass"),
    );
    let mut missing: Vec<&str> = Vec::new();
    let is = |known: &BTreeSet<String>, member: String| known.contains(&member);
    missing.extend(
        Tag::ALL
            .iter()
            .filter(|tag| !is(&tags, format!("{tag:?}")))
            .map(|tag| tag.word()),
    );
    missing.extend(
        Kind::ALL
            .iter()
            .filter(|kind| !is(&kinds, format!("{kind:?}")) && !commands.commands.does(**kind))
            .map(|kind| kind.word()),
    );
    missing.extend(
        PathClass::ALL
            .iter()
            .filter(|c| !is(&places, format!("{c:?}")) && !listed(paths, c.word()))
            .map(|c| c.word()),
    );
    missing.extend(
        HostClass::ALL
            .iter()
            .filter(|c| !is(&names, format!("{c:?}")) && !listed(hosts, c.word()))
            .map(|c| c.word()),
    );
    assert!(missing.is_empty(), "nothing produces {missing:?}");
}
