//! What is wrong with a file of rules, and where.

use super::*;

/// A file has one error, with this message, and it points at what stands between `«` and `»`.
#[track_caller]
fn wrong(marked: &str, message: &str) {
    let (before, rest) = marked.split_once('«').unwrap();
    let (inside, after) = rest.split_once('»').unwrap();
    let text = format!("{before}{inside}{after}");
    let Err(RuleErrors(errors)) = read(&text) else {
        panic!("nothing wrong with:\n{text}");
    };
    let shown = errors.first().unwrap().to_string();
    let lines: Vec<&str> = shown.lines().collect();
    let line = before.split('\n').count();
    let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
    let expected = format!("t.yaml:{line}:{column}: {message}");
    assert_eq!(lines.first(), Some(&expected.as_str()), "{shown}");
    let (source, carets) = (lines[2], lines[3]);
    let under: String = source
        .chars()
        .zip(carets.chars().chain(std::iter::repeat(' ')))
        .filter(|(_, caret)| *caret == '^')
        .map(|(c, _)| c)
        .collect();
    assert_eq!(under, inside, "{shown}");
    assert_eq!(errors.len(), 1, "{errors:?}");
}

#[test]
fn an_error_says_where_and_what_to_do() {
    // A word that is none, with the one that is meant.
    let unknown = |marked: &str, what: &str, meant: &str| {
        let word = marked.split(['«', '»']).nth(1).unwrap();
        let message = format!("unknown {what} `{word}`, did you mean `{meant}`?");
        wrong(marked, &message);
    };
    for (when, what, meant) in [
        ("{ «efect»: read }", "field", "effect"),
        ("{ effect: «reed» }", "effect", "read"),
        (
            "{ path: { in: [secret, «projekt»] } }",
            "path class",
            "project",
        ),
        ("{ host: { in: «externel» } }", "host class", "external"),
        ("{ from: «fetch» }", "origin", "fetched"),
        ("{ is: «Recursive» }", "tag", "recursive"),
    ] {
        unknown(&rule_with(when), what, meant);
    }
    wrong(
        &rule_with("{ text: «'a('» }"),
        "this is not a valid regular expression: unclosed group",
    );

    wrong(
        &rule_with("{ path: { glob: [src/**, «infra/»] } }"),
        "write `infra/**` for a folder and all that lies in it",
    );
    wrong(
        &rule_with("{ path: { not_glob: «'*.md'» } }"),
        "write `./*.md` for what lies in the project's folder, or `**/*.md` for what lies in any folder",
    );

    let good = rule_with("{ effect: read }");
    let but = |from: &str, to: &str| {
        assert!(good.contains(from), "{from}");
        good.replace(from, to)
    };
    let name = |text: &str| text.replace("a-rule", "«a-rule»");
    unknown(&but("when", "«whn»"), "field", "when");
    wrong(
        &but("DENY", "«DENI»"),
        "`DENI` is not a valid verdict, did you mean `DENY`?",
    );
    wrong(
        &but("DENY", "«REQUIRE»"),
        "REQUIRE needs `before`, or `approval: true`",
    );
    wrong(
        &but("  because: it is so\n", "").replace("- id", "- «id»"),
        "the field `because` is missing",
    );
    wrong(
        &but("a-rule", "«A rule»"),
        "`A rule` is not a valid name: names look like `force-push`",
    );
    wrong(
        &but("it is so", "«it is so.»"),
        "write a clause without a full stop",
    );
    wrong(
        &name(&but(", allow: [y]", "")),
        "a rule needs an example of both kinds: add one to `examples.allow`",
    );
    wrong(
        &name(&but("deny: [x]", "deny: []")),
        "a rule needs an example of both kinds: add one to `examples.deny`",
    );
    wrong(
        &but("deny: [x]", "deny: [x], ask: «[»z]"),
        "this rule's verdict is `deny`, so write `deny:` here",
    );
    wrong(
        &but("do: DENY", "do: DENY\n  «do»: ASK"),
        "duplicate key `do`",
    );
    wrong(
        &(good.clone() + &name(&good)),
        "the rule `a-rule` already exists in t.yaml:1: choose another name",
    );
}

/// All errors of a file, each in a line.
fn all(text: &str) -> Vec<String> {
    let Err(RuleErrors(errors)) = read(text) else {
        panic!("nothing wrong with:\n{text}");
    };
    let first = |error: &RuleError| error.to_string().lines().next().unwrap().to_owned();
    errors.iter().map(first).collect()
}

#[test]
fn all_errors_of_a_file_are_told_at_once() {
    let text = "\
- id: First Rule
  do: DENI
  categry: x
  when: { efect: read, is: [recursiv, force], path: { glob: { a: b } } }
  because: [1]
  within: soon
  examples: { deny: [x], allow: [y] }
- id: second
  do: ASK
  because: it is so
  examples: { ask: [{ tool: Read, inptu: {} }], alow: [y] }
- just a text
- id: sound
  do: ASK
  category: c
  when: { effect: read }
  because: it is so
  examples: { ask: [x], allow: [y] }
- id: last
  do: ASK
  category: c
  when: { effect: reed }
  because: it is so
  examples: { ask: [x], allow: [y] }
";
    assert_eq!(
        all(text),
        [
            "t.yaml:1:7: `First Rule` is not a valid name: names look like `force-push`",
            "t.yaml:2:7: `DENI` is not a valid verdict, did you mean `DENY`?",
            "t.yaml:3:3: unknown field `categry`, did you mean `category`?",
            "t.yaml:4:11: unknown field `efect`, did you mean `effect`?",
            "t.yaml:4:29: unknown tag `recursiv`, did you mean `recursive`?",
            "t.yaml:4:61: expected a word or a list of words, not a map",
            "t.yaml:5:12: expected a text, not a list",
            "t.yaml:6:11: expected a number, not `soon`",
            "t.yaml:8:3: the field `category` is missing",
            "t.yaml:8:3: the field `when` is missing",
            "t.yaml:11:35: unknown field `inptu`, did you mean `input`?",
            "t.yaml:11:49: unknown field `alow`, did you mean `allow`?",
            "t.yaml:12:3: expected a rule, not `just a text`",
            "t.yaml:22:19: unknown effect `reed`, did you mean `read`?",
        ]
    );
}

#[test]
fn an_entry_that_is_not_yaml_does_not_hide_the_others() {
    let text = "\
- id: a
  do: 'DENY
  category: c
- id: b
  do: ASK
  do: DENY
  wen: {}
- id: c
  do: [
- id: d
  category: 'x'
  category: y
  whn: {}
";
    let all = all(text);
    for expected in [
        "t.yaml:6:3: duplicate key `do`",
        "t.yaml:7:3: unknown field `wen`",
    ] {
        assert!(all.iter().any(|e| e.starts_with(expected)), "{all:#?}");
    }
    assert!(all.iter().any(|e| e.contains("`whn`")), "{all:#?}");
}

#[test]
fn a_condition_that_cannot_be_meant_is_an_error() {
    let wrong = |when: &str, message: &str| wrong(&rule_with(when), message);
    let nothing = "this says only what a call must not do: add a condition on what it does";
    wrong("«{» not: { effect: read } }", nothing);
    wrong("«{» all: [{ not: { effect: read } }] }", nothing);
    wrong(
        "«{» effect: read, any: [{ effect: write }] }",
        "no single effect can meet all of this; to match several effects of a call, write `all: [{…}, {…}]`",
    );
    wrong(
        "«{» effect: read, all: [{ effect: write }] }",
        "`all` matches several effects here, but the other keys match one effect: put them into an `all`, as in `all: [{…}, {all: […]}]`",
    );
    wrong(
        "{ effect: read, not: { all: «[»{ effect: read }] } }",
        "`all` matches several effects, but the condition around it matches one effect",
    );
    wrong("{ any: «[»] }", "`any` needs a condition");
    wrong(
        "«{»}",
        "an empty condition matches everything: say which effect to match",
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
