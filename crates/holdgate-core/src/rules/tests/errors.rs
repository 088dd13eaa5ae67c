//! What is wrong with a file of rules, and where.

use super::*;

/// The file has one error with this message, which points at `marked`.
#[track_caller]
fn wrong(text: &str, message: &str, marked: &str) {
    let Err(RuleErrors(errors)) = read(text) else {
        panic!("nothing wrong with:\n{text}");
    };
    let shown = errors.first().unwrap().to_string();
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(lines.first(), Some(&message), "{shown}");
    let (source, carets) = (lines[2], lines[3]);
    let under: String = source
        .chars()
        .zip(carets.chars().chain(std::iter::repeat(' ')))
        .filter(|(_, caret)| *caret == '^')
        .map(|(c, _)| c)
        .collect();
    assert_eq!(under, marked, "{shown}");
    assert_eq!(errors.len(), 1, "{errors:?}");
}

#[test]
fn an_error_says_where_and_what_to_do() {
    let rule = |when: &str| rule_with(when);
    let good = rule("{ effect: read }");
    let but = |from: &str, to: &str| {
        assert!(good.contains(from), "{from}");
        good.replace(from, to)
    };
    wrong(
        &but("when", "whn"),
        "t.yaml:4:3: unknown field `whn`, did you mean `when`?",
        "whn",
    );
    wrong(
        &rule("{ efect: read }"),
        "t.yaml:4:11: unknown field `efect`, did you mean `effect`?",
        "efect",
    );
    wrong(
        &rule("{ effect: reed }"),
        "t.yaml:4:19: unknown effect `reed`, did you mean `read`?",
        "reed",
    );
    wrong(
        &rule("{ path: { in: [secret, projekt] } }"),
        "t.yaml:4:32: unknown path class `projekt`, did you mean `project`?",
        "projekt",
    );
    wrong(
        &rule("{ host: { in: externel } }"),
        "t.yaml:4:23: unknown host class `externel`, did you mean `external`?",
        "externel",
    );
    wrong(
        &rule("{ from: fetch }"),
        "t.yaml:4:17: unknown origin `fetch`, did you mean `fetched`?",
        "fetch",
    );
    wrong(
        &rule("{ text: 'a(' }"),
        "t.yaml:4:17: this is not a valid regular expression: unclosed group",
        "'a('",
    );
    wrong(
        &rule("{ is: Recursive }"),
        "t.yaml:4:15: unknown tag `Recursive`, did you mean `recursive`?",
        "Recursive",
    );
    wrong(
        &but("DENY", "DENI"),
        "t.yaml:2:7: `DENI` is not a valid verdict, did you mean `DENY`?",
        "DENI",
    );
    wrong(
        &but("DENY", "REQUIRE"),
        "t.yaml:2:7: REQUIRE needs `before`, or `approval: true`",
        "REQUIRE",
    );
    wrong(
        &but("  because: it is so\n", ""),
        "t.yaml:5:3: the field `because` is missing",
        "examples",
    );
    wrong(
        &but("a-rule", "A rule"),
        "t.yaml:1:7: `A rule` is not a valid name: names look like `force-push`",
        "A rule",
    );
    wrong(
        &but("it is so", "it is so."),
        "t.yaml:5:12: write a clause without a full stop",
        "it is so.",
    );
    wrong(
        &but(", allow: [y]", ""),
        "t.yaml:1:7: a rule needs an example of both kinds: add one to `examples.allow`",
        "a-rule",
    );
    wrong(
        &but("deny: [x]", "deny: []"),
        "t.yaml:1:7: a rule needs an example of both kinds: add one to `examples.deny`",
        "a-rule",
    );
    wrong(
        &but("deny: [x]", "deny: [x], ask: [z]"),
        "t.yaml:6:31: this rule's verdict is `deny`, so write `deny:` here",
        "[",
    );
    wrong(
        &but("do: DENY", "do: DENY\n  do: ASK"),
        "t.yaml:3:3: duplicate key `do`",
        "do",
    );
    wrong(
        &format!("{good}{good}"),
        "t.yaml:7:7: the rule `a-rule` already exists in t.yaml:1: choose another name",
        "a-rule",
    );
}

#[test]
fn a_condition_that_cannot_be_meant_is_an_error() {
    let rule = |when: &str| rule_with(when);
    let nothing =
        "t.yaml:4:9: this says only what a call must not do: add a condition on what it does";
    wrong(&rule("{ not: { effect: read } }"), nothing, "{");
    wrong(&rule("{ all: [{ not: { effect: read } }] }"), nothing, "{");
    wrong(
        &rule("{ effect: read, any: [{ effect: write }] }"),
        "t.yaml:4:9: no single effect can meet all of this; to match several effects of a call, write `all: [{…}, {…}]`",
        "{",
    );
    wrong(
        &rule("{ effect: read, all: [{ effect: write }] }"),
        "t.yaml:4:9: `all` matches several effects here, but the other keys match one effect: put them into an `all`, as in `all: [{…}, {all: […]}]`",
        "{",
    );
    wrong(
        &rule("{ effect: read, not: { all: [{ effect: read }] } }"),
        "t.yaml:4:37: `all` matches several effects, but the condition around it matches one effect",
        "[",
    );
    wrong(
        &rule("{ any: [] }"),
        "t.yaml:4:16: `any` needs a condition",
        "[",
    );
    wrong(
        &rule("{}"),
        "t.yaml:4:9: an empty condition matches everything: say which effect to match",
        "{",
    );
}

#[test]
fn hostile_files_are_refused_and_not_followed() {
    for text in [
        "- ".repeat(10_000),
        format!("- {{ a: {} }}", "[".repeat(5_000)),
        "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]".to_owned(),
        "\u{0}".to_owned(),
        rule_with(&format!("{{ text: '{}' }}", "(a{1000}){1000}")),
    ] {
        assert!(read(&text).is_err());
    }
}

proptest::proptest! {
    #[test]
    fn no_file_breaks_the_reader(
        at in 0..450usize,
        with in "[-a-z:{}\\[\\]\"'*&!|>#%@`, \n\t\u{e9}]{0,6}",
        cut in 0..40usize,
    ) {
        let whole = format!(
            "{}- &a\n  id: other\n  do: ASK\n  category: c\n  when:\n    all:\n      \
             - {{ effect: [read, write], path: {{ in: secret, glob: ['~/*'] }} }}\n      \
             - {{ not: {{ host: {{ name: '*.x' }}, text: '(?i)a+' }} }}\n  because: |\n    \
             it is\n  examples:\n    ask: [{{ tool: Read, input: {{ n: 1.5 }} }}]\n    \
             allow: [z]\n",
            rule_with("{ effect: read }")
        );
        let before = whole.chars().take(at);
        let text: String = before.chain(with.chars()).chain(whole.chars().skip(at + cut)).collect();
        if let Err(errors) = read(&text) {
            assert!(!errors.to_string().is_empty());
        }
    }
}
