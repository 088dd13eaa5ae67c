//! Files of patterns: their examples, and their errors.

use super::*;
use crate::rules::RuleErrors;

#[test]
fn the_built_in_patterns_hold_on_their_examples() {
    let tried = try_examples(&patterns(), &commands(), |_| true);
    let errors: Vec<_> = tried.into_iter().filter_map(|t| t.error).collect();
    assert!(errors.is_empty(), "{}", RuleErrors(errors));
}

#[test]
fn an_operator_adds_patterns_and_says_what_is_safe() {
    let read = |text| {
        let file = PatternFile {
            name: "own.yaml",
            text,
        };
        Patterns::joined(&[file])
    };
    let found = |text, output: &str| {
        let mut watch = OutputWatch::new(read(text).unwrap(), commands());
        let mut hits = Vec::new();
        watch.feed(output.as_bytes(), &mut hits);
        let reported = hits
            .iter()
            .map(|hit| (hit.pattern.to_string(), hit.severity, hit.certain));
        reported.collect::<Vec<_>>()
    };
    let safe = "adjust:\n  - pattern: account-list-shown\n    because: our images have no users\n    known_safe: [{ match: ':/bin/false$', because: nobody can log in }]\n";
    assert_eq!(found(safe, "root:x:0:0:root:/root:/bin/false\n"), []);
    assert_eq!(found(safe, "root:x:0:0:root:/root:/bin/sh\n").len(), 1);
    let low = "adjust:\n  - { pattern: wrecked-machine, severity: medium, because: a lab }\n";
    let reported = found(low, "$ dd if=/dev/zero of=/dev/nvme0n1 bs=1M\n");
    assert!(reported.contains(&("wrecked-machine".to_owned(), Severity::Medium, false)));
    let own = "- { id: our-code-name, family: own, severity: low, words: [swordfish], regex: swordfish, because: a code name, examples: { trips: [swordfish], passes: [fish] } }\n";
    assert_eq!(found(own, "swordfish\n").len(), 1);

    let check = |text, expected: &str| {
        let error = read(text).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    };
    check(
        "adjust:\n  - { pattern: token-show, severity: low, because: x }\n",
        "own.yaml:2:16: there is no pattern `token-show`, did you mean `token-shown`?",
    );
    check(
        "adjust:\n  - { pattern: token-shown, because: x }\n",
        "own.yaml:2:16: nothing changes: write a `severity` or `known_safe`",
    );
    check("paterns: []\n", "own.yaml:1:1: unknown field `paterns`");
}

fn wrong(text: &str, message: &str) {
    let file = PatternFile {
        name: "t.yaml",
        text,
    };
    let errors = Patterns::read(&[file]).unwrap_err().to_string();
    assert!(errors.contains(message), "{errors}");
}

/// They are built on first use, so nothing else tries all of them.
#[test]
fn every_expression_that_is_built_in_can_be_built() {
    let read = Patterns::read(patterns::FILES);
    read.unwrap_or_else(|errors| panic!("{errors}"));
}

#[test]
fn an_error_is_reported_with_its_place() {
    let good = "- id: a-b\n  family: f\n  severity: low\n  words: [abc]\n  regex: abc\n  because: x\n  \
                examples: { trips: [abc], passes: [ab] }\n";
    let file = PatternFile {
        name: "t.yaml",
        text: good,
    };
    assert_eq!(Patterns::read(&[file]).unwrap().iter().count(), 1);
    let with = |old: &str, new: &str| good.replace(old, new);
    wrong(
        &with("severity", "severty"),
        "t.yaml:3:3: unknown field `severty`, did you mean `severity`?",
    );
    wrong(
        &with("low", "lo"),
        "t.yaml:3:13: unknown severity `lo`, did you mean `low`?",
    );
    wrong(&with("a-b", "A B"), "t.yaml:1:7: `A B` is not a valid name");
    wrong(
        &with("regex: abc", "regex: '(abc'"),
        "t.yaml:5:10: this is not a valid regular expression: unclosed group",
    );
    wrong(&with("regex: abc", "regex: 'x*'"), "matches the empty text");
    wrong(&with("  words: [abc]\n", ""), "a `regex` needs `words`");
    wrong(&with("[abc]\n", "[a/c]\n"), "no slash, quote or backslash");
    wrong(
        &with("words: [abc]\n  regex: abc\n  ", ""),
        "the pattern needs a `regex`",
    );
    wrong(&with("because: x", "because: x."), "without a full stop");
    wrong(
        &with("trips: [abc]", "trips: []"),
        "a pattern needs examples that it matches",
    );
    wrong(
        &with("trips: [abc]", "trips: [xyz]"),
        "none of the pattern's `words`",
    );
    wrong(
        &with("regex: abc", "regex: abc\n  rules: [x]"),
        "add `command: true`",
    );
    wrong(&format!("{good}{good}"), "the pattern `a-b` already exists");
}
