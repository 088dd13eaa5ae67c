//! What an operator and a project can say: over time, by allowing, by adjusting.

use super::*;
use crate::action::path::World;
use crate::action::{Knowledge, understand};
use crate::fuel::Fuel;
use crate::history::{History, Outcome, Step};
use crate::hold::ToolCall;
use crate::json::Json;
use crate::verdict::Verdict;
use std::sync::Arc;

const FUEL: u64 = 1_000_000;

fn effects(command: &str) -> Vec<crate::action::effect::Effect> {
    let input = Json::object([("command", command.to_owned().into())]);
    let call = ToolCall::alone("x", "Bash", input);
    let know = Knowledge::built_in().unwrap();
    let world = World::lexical("/home/dev/project");
    understand(&call, &world, &know, &Fuel::new(FUEL)).unwrap()
}

/// The files that are not empty.
fn files<'a>(operator: &'a str, project: &'a str) -> Vec<RuleFile<'a>> {
    let all = [
        RuleFile::operator("operator.yaml", operator),
        RuleFile::project(".holdgate.yaml", project),
    ];
    all.into_iter()
        .filter(|file| !file.text.is_empty())
        .collect()
}

/// The rules of the policy that speak after `before`, whose commands were carried out unless
/// they begin with `!` (an error), `#` (refused) or `@` (at the provider). What `?` did is not known.
fn speak(operator: &str, project: &str, before: &[&str], command: &str) -> Vec<String> {
    let set = RuleSet::read(Profile::default(), &files(operator, project));
    let set = set.unwrap_or_else(|e| panic!("{e}"));
    let mut history = History::default();
    for step in before {
        let outcome = match step.chars().next() {
            Some('!') => Outcome::Failed,
            Some('#') => Outcome::Refused,
            _ => Outcome::Done,
        };
        let mut done = match step.trim_start_matches(['!', '#', '@']) {
            "?" => Step::unknown("x", "Bash", outcome),
            command => Step::new("x", "Bash", outcome, effects(command)),
        };
        done.local = !step.starts_with('@');
        history.push(Arc::new(done));
    }
    let fuel = Fuel::new(FUEL);
    let found = set.findings(RuleLayer::Policy, &effects(command), &history, &fuel);
    let found = found.unwrap().into_iter();
    found.map(|finding| finding.rule.into_owned()).collect()
}

const TESTS_FIRST: &str = "
- id: untested-push
  do: REQUIRE
  category: vcs
  when: { effect: vcs, is: push }
  before: { effect: run, program: cargo, text: '^test' }
  since: { effect: write }
  because: nobody has tried it
  examples:
    deny: ['git push']
    allow: [{ first: ['cargo test'], then: 'git push' }]
";

#[test]
fn what_is_required_must_have_been_done_before_and_since_the_last_change() {
    let check = |before: &[&str], command: &str, speaks: bool| {
        let spoken = speak(TESTS_FIRST, "", before, command);
        assert_eq!(!spoken.is_empty(), speaks, "{before:?} {command}");
    };
    check(&[], "git push", true);
    check(&["cargo test"], "git push", false);
    check(&["cargo test", "ls", "git status"], "git push", false);
    check(&["cargo test", "echo x > a.rs"], "git push", true);
    check(&["echo x > a.rs", "cargo test"], "git push", false);
    check(&["cargo test; echo x > a.rs"], "git push", true);
    check(&["echo x > a.rs && cargo test"], "git push", false);
    check(&[], "cargo test && git push", false);
    check(&["cargo test"], "echo x > a.rs; git push", true);
    check(&["!cargo test"], "git push", true);
    check(&["#cargo test"], "git push", true);
    check(&["cargo test", "#echo x > a.rs"], "git push", false);
    check(&["echo cargo test"], "git push", true);
    check(&[], "git status", false);
    // It ran elsewhere, or need not have run, or need not have succeeded.
    check(&["@cargo test"], "git push", true);
    check(&["cargo test", "@echo x > a.rs"], "git push", true);
    check(&["if false; then cargo test; fi"], "git push", true);
    check(&["while false; do cargo test; done"], "git push", true);
    check(&["case x in y) cargo test;; esac"], "git push", true);
    check(&["cargo test || true"], "git push", true);
    check(&["true || cargo test"], "git push", true);
    check(&["(cd a && cargo test) || true"], "git push", true);
    check(&["cargo test &"], "git push", true);
    check(&["cd a && cargo test & ls"], "git push", true);
    check(&[], "cargo test || git push", true);
    check(&["cd a && cargo test"], "git push", false);
    check(&["sleep 1 & cargo test"], "git push", false);
    check(&[], "cd a && cargo test && git push", false);
    check(
        &["cargo test", "false && echo x > a.rs || true"],
        "git push",
        true,
    );
}

#[test]
fn a_command_with_many_effects_hides_none() {
    let check = |rule: &str, before: &[&str], command: &str, speaks: bool| {
        let spoken = speak(rule, "", before, command);
        assert_eq!(!spoken.is_empty(), speaks);
    };
    let many =
        |each: &dyn Fn(usize) -> String, count| (0..count).map(each).collect::<Vec<_>>().join("; ");
    let reads = many(&|i| format!("cat {i}.txt"), 600);
    let same = many(&|_| "cat a.txt".to_owned(), 600);
    check(
        TESTS_FIRST,
        &[&format!("{reads}; cargo test")],
        "git push",
        true,
    );
    check(
        TESTS_FIRST,
        &[&format!("{same}; cargo test")],
        "git push",
        false,
    );
    check(TESTS_FIRST, &["cargo test", &reads], "git push", false);
    let last = format!("{reads}; echo x > a.rs");
    check(TESTS_FIRST, &["cargo test", &last], "git push", true);
    let read = format!("{reads}; cat .env");
    check(AFTER_SECRET, &[&read], "curl https://example.com", true);
    let read = format!("{same}; cat .env");
    check(AFTER_SECRET, &[&read], "curl https://example.com", true);
    check(AFTER_SECRET, &[&same], "curl https://example.com", false);
}

#[test]
fn a_call_of_which_nothing_is_known_may_have_done_anything() {
    let check = |rule: &str, before: &[&str], command: &str, speaks: bool| {
        let spoken = speak(rule, "", before, command);
        assert_eq!(!spoken.is_empty(), speaks, "{before:?} {command}");
    };
    check(AFTER_SECRET, &["?"], "curl https://example.com", true);
    check(AFTER_SECRET, &["#?"], "curl https://example.com", false);
    check(TESTS_FIRST, &["?"], "git push", true);
    check(TESTS_FIRST, &["cargo test", "?"], "git push", true);
    check(TESTS_FIRST, &["?", "cargo test"], "git push", false);
}

#[test]
fn the_same_path_counts_however_it_is_spelt() {
    let rule = "
- id: blind-write
  do: REQUIRE
  category: files
  when: { effect: write }
  before: { effect: [read, write] }
  same: path
  earlier_call: true
  because: what is in it is not known
  examples:
    deny: ['echo x > a']
    allow: [{ first: ['cat a'], then: 'echo x > a' }, 'ls']
";
    let check = |before: &[&str], command: &str, speaks: bool| {
        let spoken = speak(rule, "", before, command);
        assert_eq!(!spoken.is_empty(), speaks, "{before:?} {command}");
    };
    check(&["cat a.txt"], "echo x > a.txt", false);
    check(&["cat b.txt"], "echo x > a.txt", true);
    check(&["cat ./src/../a.txt"], "echo x > $PWD/a.txt", false);
    check(&["cat ~/project/a.txt"], "tee a.txt < b", false);
    check(&["cd src && cat a.txt"], "echo x > a.txt", true);
    check(&["cd src && cat ../a.txt"], "echo x > a.txt", false);
    check(&["cat *.txt"], "echo x > a.txt", false);
    check(&["cat *.md"], "echo x > a.txt", true);
    check(&["cat *.txt"], "echo x > src/a.txt", true);
    check(&["cat [ab].txt"], "echo x > a.txt", false);
    check(&["cat [bc].txt"], "echo x > a.txt", true);
    check(&["cat *"], "echo x > .env", true);
    check(&["cat \"$X\""], "echo x > a.txt", true);
    check(&["cat \"$X/a.txt\""], "echo x > a.txt", true);
    check(&["cat */a.txt"], "echo x > src/a.txt", false);
    check(&["cat a.txt"], "echo x > a.txt; echo x > b.txt", true);
    check(
        &["cat a.txt", "ls", "cat b.txt"],
        "echo x > a.txt; echo x > b.txt",
        false,
    );
    check(&[], "cat a.txt; echo x > a.txt", true);
    let near = rule.replace("same: path", "same: path\n  within: 2");
    let spoken = |before: &[&str]| !speak(&near, "", before, "echo x > a.txt").is_empty();
    assert!(!spoken(&["cat a.txt", "ls"]));
    assert!(spoken(&["cat a.txt", "ls", "ls"]));
}

const AFTER_SECRET: &str = "
- id: network-after-secret
  do: DENY
  category: network
  when: { effect: fetch }
  after: { effect: read, path: { in: secret } }
  because: what was read could leave
  examples:
    deny: [{ first: ['cat .env'], then: 'curl https://example.com' }]
    allow: ['curl https://example.com']
";

#[test]
fn a_rule_can_speak_only_after_something() {
    let check = |before: &[&str], command: &str, speaks: bool| {
        let spoken = speak(AFTER_SECRET, "", before, command);
        assert_eq!(!spoken.is_empty(), speaks, "{before:?} {command}");
    };
    check(&[], "curl https://example.com", false);
    check(
        &["cat .env", "ls", "cargo build"],
        "curl https://example.com",
        true,
    );
    check(&["#cat .env"], "curl https://example.com", false);
    check(&["!cat .env"], "curl https://example.com", true);
    check(&[], "cat .env; curl https://example.com", true);
    check(&[], "curl https://example.com; cat .env", false);
}

#[test]
fn what_may_have_been_touched_counts_as_touched() {
    let rule = "
- id: network-after-customers
  do: DENY
  category: network
  when: { effect: fetch }
  after: { effect: read, path: { glob: '**/customer.csv' } }
  because: what was read could leave
  examples:
    deny: [{ first: ['cat customer.csv'], then: 'curl https://example.com' }]
    allow: ['curl https://example.com']
";
    let check = |before: &str, speaks: bool| {
        let spoken = speak(rule, "", &[before], "curl https://example.com");
        assert_eq!(!spoken.is_empty(), speaks, "{before}");
    };
    for may in [
        "cat data/customer.csv",
        "cat *",
        "cat data/cust*",
        "cat data/[a-d]ustomer.csv",
        "cat \"$X\"",
        "cat \"$X.csv\"",
        "grep -r . .",
        "cp -r data /tmp/x",
        "@cat customer.csv",
        "!cat customer.csv",
        "false && cat customer.csv || true",
    ] {
        check(may, true);
    }
    for never in [
        "cat notes.md",
        "cat *.md",
        "cat \"$X/notes.md\"",
        "ls -R",
        "#cat *",
    ] {
        check(never, false);
    }
    let fixed = rule.replace("**/customer.csv", "~/project/data/customer.csv");
    let fixed = fixed.replace("cat customer.csv", "cat data/customer.csv");
    let spoken =
        |before: &str| !speak(&fixed, "", &[before], "curl https://example.com").is_empty();
    assert!(spoken("cat data/*") && spoken("grep -r x ."));
    assert!(!spoken("cat *") && !spoken("grep -r x src"));
    let same = "
- id: sent-after-change
  do: DENY
  category: network
  when: { effect: delete }
  after: { effect: read }
  same: path
  because: it was looked at
  examples:
    deny: [{ first: ['cat a'], then: 'rm a' }]
    allow: ['rm a']
";
    let spoken = |before: &str| !speak(same, "", &[before], "rm a.txt").is_empty();
    assert!(
        spoken("cat *") && spoken("cat \"$X\"") && spoken("grep -r . .") && spoken("cat [a].txt")
    );
    assert!(!spoken("cat b*") && !spoken("cat src/*") && !spoken("grep -r . src"));
}

const NO_PUSH: &str = "
- id: any-push
  do: ASK
  category: vcs
  when: { effect: vcs, is: push }
  because: it leaves
  examples: { ask: ['git push'], allow: ['git status'] }
";

fn allowing(when: &str) -> String {
    format!(
        "{NO_PUSH}
- id: push-to-mine
  do: ALLOW
  category: vcs
  when: {when}
  because: it is my own
  examples: {{ allow: ['git push mine'], ask: ['git push'] }}
"
    )
}

#[test]
fn allow_hides_what_it_speaks_of_and_nothing_else() {
    let rules = allowing("{ effect: vcs, is: push, text: mine }");
    let check = |project: &str, command: &str, expected: &[&str]| {
        assert_eq!(speak(&rules, project, &[], command), expected, "{command}");
    };
    check("", "git push mine", &[]);
    check("", "git push other", &["any-push"]);
    check("", "git push mine; git push other", &["any-push"]);
    let own = NO_PUSH.replace("any-push", "project-push");
    check(&own, "git push mine", &["project-push"]);
}

#[test]
fn an_exception_from_one_rule_is_none_from_another() {
    let rules = allowing("{ effect: vcs, is: push, text: mine }");
    let rules = rules.replace("do: ALLOW", "do: ALLOW\n  only: any-push");
    let tested = format!("{rules}{TESTS_FIRST}");
    assert!(speak(&rules, "", &[], "git push mine").is_empty());
    assert_eq!(speak(&tested, "", &[], "git push mine"), ["untested-push"]);
    assert!(speak(&tested, "", &["cargo test"], "git push mine").is_empty());
}

#[test]
fn adjusting_changes_a_verdict_and_a_project_can_only_tighten() {
    let adjust = |verdict: &str| {
        format!("adjust:\n  - rule: sudo\n    do: {verdict}\n    because: we like it so\n")
    };
    let verdict = |operator: &str, project: &str| {
        let set = RuleSet::joined(Profile::default(), &files(operator, project));
        let set = set.unwrap_or_else(|e| panic!("{e}"));
        set.rule("sudo").unwrap().verdict(Profile::default())
    };
    assert_eq!(verdict("", ""), Verdict::Ask);
    assert_eq!(verdict(&adjust("ALLOW"), ""), Verdict::Allow);
    assert_eq!(verdict(&adjust("ALLOW"), &adjust("AUDIT")), Verdict::Audit);
    assert_eq!(verdict("", &adjust("DENY")), Verdict::Block);
    let wrong = |operator: &str, project: &str, expected: &str| {
        let errors = RuleSet::joined(Profile::default(), &files(operator, project)).unwrap_err();
        assert_eq!(errors.to_string(), expected);
    };
    wrong(
        "",
        &adjust("AUDIT"),
        "\
.holdgate.yaml:3:9: a project's own rules may only tighten, and this loosens `sudo`, which says \
ASK in the profile `workstation`: leave it out, or have the operator change it
  |
3 |     do: AUDIT
  |         ^^^^^",
    );
    wrong(
        "",
        &allowing("{ effect: vcs }"),
        "\
.holdgate.yaml:10:7: a project's own rules may only tighten, and this one loosens: the operator \
can allow it in a file of their own, under `~/.config/holdgate/rules`
   |
10 |   do: ALLOW
   |       ^^^^^",
    );
    wrong(
        &adjust("DENY").replace("sudo", "soudo"),
        "",
        "\
operator.yaml:2:11: there is no rule `soudo`, did you mean `sudo`?
  |
2 |   - rule: soudo
  |           ^^^^^",
    );
    let own = RuleSet::built_in(Profile::default()).unwrap();
    let own = own
        .rules()
        .find(|r| r.category == "self-protection")
        .unwrap();
    wrong(
        &adjust("AUDIT").replace("sudo", &own.id),
        "",
        &format!(
            "\
operator.yaml:3:9: `{}` protects Holdgate itself and stays at DENY: leave it out
  |
3 |     do: AUDIT
  |         ^^^^^",
            own.id
        ),
    );
}

#[test]
fn examples_can_be_sequences_and_name_files_that_are_there() {
    let rule = |allow: &str| {
        format!(
            "
- id: unseen-overwrite
  do: REQUIRE
  category: files
  when: {{ effect: write, is: overwrite }}
  before: {{ effect: [read, write] }}
  same: path
  earlier_call: true
  because: what is in it is not known
  instead: read it first
  examples:
    deny:
      - {{ files: [notes.md], then: 'echo x > notes.md' }}
      - {{ files: [notes.md], then: {{ tool: Write, input: {{ file_path: notes.md, content: x }} }} }}
    allow: [{allow}]
"
        )
    };
    let know = Knowledge::built_in().unwrap();
    let load = |text: &str| {
        let file = RuleFile::operator("t.yaml", text);
        RuleSet::load(Profile::default(), &[file], &know).map(drop)
    };
    let good = "'echo x > new.md', { files: [a], first: ['cat a'], then: 'echo x > a' }, \
                { files: [a], then: 'echo x >> a' }, \
                { files: [a], then: { tool: Edit, input: { file_path: a, old_string: x, new_string: y } } }";
    load(&rule(good)).unwrap();
    let bad = "{ files: [a], first: ['cat b'], then: 'echo x > a' }";
    let error = load(&rule(bad)).unwrap_err().to_string();
    assert!(
        error.contains("`unseen-overwrite` fires on this example"),
        "{error}"
    );
    let empty = load(&rule("{ first: ['cat b'] }")).unwrap_err().to_string();
    assert!(empty.contains("`{first: […], then: …}`"), "{empty}");
}

#[test]
fn wrong_timings_are_said() {
    let wrong = |from: &str, to: &str, expected: &str| {
        let text = TESTS_FIRST.replace(from, to);
        let file = RuleFile::operator("t.yaml", &text);
        let error = RuleSet::read(Profile::default(), &[file]).unwrap_err();
        let error = error.to_string();
        assert!(error.contains(expected), "{error}");
    };
    wrong("do: REQUIRE", "do: DENY", "belong to REQUIRE");
    wrong(
        "  before: { effect: run, program: cargo, text: '^test' }\n",
        "",
        "REQUIRE what?",
    );
    wrong(
        "  because",
        "  same: pat\n  because",
        "did you mean `path`?",
    );
    wrong(
        "  because",
        "  within: 0\n  because",
        "counts calls, from 1",
    );
    wrong(
        "  because",
        "  within: some\n  because",
        "t.yaml:8:11: a number is wanted here",
    );
}

#[test]
fn what_a_project_forbids_does_not_make_an_operators_example_wrong() {
    let know = Knowledge::built_in().unwrap();
    let operator = NO_PUSH.replace("'git status'", "'git status', 'git fetch'");
    let project = "
- id: no-fetch
  do: DENY
  category: vcs
  when: { effect: run, program: git, text: '^fetch' }
  because: nothing comes from there
  examples: { deny: ['git fetch'], allow: ['git status'] }
";
    RuleSet::load(Profile::default(), &files(&operator, project), &know).unwrap();
    let wrong = project.replace("'git status'", "'git push'");
    let error = RuleSet::load(Profile::default(), &files(&operator, &wrong), &know);
    let error = error.unwrap_err().to_string();
    assert!(error.contains("`any-push` says ASK"), "{error}");
}

#[test]
fn a_file_without_rules_says_so() {
    for text in ["# mine\n", "~\n", "{}\n", ""] {
        let file = RuleFile::operator("t.yaml", text);
        assert!(
            RuleSet::read(Profile::default(), &[file]).is_err(),
            "{text:?}"
        );
    }
    for text in ["[]\n", "rules: []\n", "adjust: []\n"] {
        let file = RuleFile::operator("t.yaml", text);
        RuleSet::read(Profile::default(), &[file]).unwrap();
    }
}

#[test]
fn errors_are_short_and_harmless_to_a_terminal() {
    let text = format!(
        "- id: x\n  categry: \u{1b}[2J{}\u{202e}\n",
        "x".repeat(10_000)
    );
    let file = RuleFile::operator("t.yaml", &text);
    let error = RuleSet::read(Profile::default(), &[file])
        .unwrap_err()
        .to_string();
    assert!(error.len() < 1_000, "{}", error.len());
    assert!(!error.contains(['\u{1b}', '\u{202e}']), "{error}");
}
