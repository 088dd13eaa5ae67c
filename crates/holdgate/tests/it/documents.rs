//! What documents count is counted.

use holdgate::eval::{Expect, read_file};
use std::path::Path;

/// The rows of the table in `corpus/README.md`: file, cases, and how many are expected to be what.
#[test]
fn the_corpus_has_as_many_cases_as_its_document_says() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus");
    let text = std::fs::read_to_string(corpus.join("README.md")).unwrap();
    let mut listed = Vec::new();
    for row in text.lines().filter(|line| line.contains(".jsonl | ")) {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let [name, count, expect, ..] = cells.as_slice() else {
            panic!("{row}");
        };
        let cases = read_file(&corpus.join(name)).unwrap();
        assert_eq!(cases.len().to_string(), *count, "{name}");
        for part in expect.split(", ") {
            let (count, word) = part.split_once(' ').unwrap_or((count, part));
            let expect = Expect::from_word(word).unwrap_or_else(|| panic!("{row}"));
            let found = cases.iter().filter(|case| case.expect == expect).count();
            assert_eq!(found.to_string(), count, "{name}, {word}");
        }
        listed.push((*name).to_owned());
    }
    let files = std::fs::read_dir(&corpus).unwrap();
    let files = files.map(|file| file.unwrap().path());
    for file in files.filter(|path| path.extension().is_some_and(|e| e == "jsonl")) {
        let file = file.file_name().unwrap().to_str().unwrap().to_owned();
        assert!(
            listed.contains(&file),
            "corpus/README.md does not list {file}"
        );
    }
}
