//! What an operator and a project can say: over time, by allowing, by adjusting.

mod branches;
mod over_time;

use super::*;
use crate::call::ToolCall;
use crate::history::{History, Outcome, Step};
use crate::verdict::Verdict;
use holdgate_effects::fuel::Fuel;
use holdgate_effects::json::Json;
use holdgate_effects::path::World;
use holdgate_effects::{Knowledge, understand};
use std::sync::Arc;

const FUEL: u64 = 1_000_000;

fn effects(command: &str) -> Vec<holdgate_effects::effect::Effect> {
    let input = Json::object([("command", command.to_owned().into())]);
    let call = ToolCall::alone("x", "Bash", input);
    let know = Knowledge::built_in().unwrap();
    let world = World::lexical("/home/dev/project");
    understand(call.invocation(), &world, &know, &Fuel::new(FUEL)).unwrap()
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

/// The rules of the policy that match after `before`, whose commands were carried out unless they
/// begin with `!` (an error), `#` (refused) or `@` (at the provider). What `?` did is not known.
fn matching(operator: &str, project: &str, before: &[&str], command: &str) -> Vec<String> {
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
fn what_is_thrown_away_is_not_written() {
    let writes = |command: &str| {
        let written = effects(command).into_iter();
        let written = written.filter(|e| e.kind == holdgate_effects::effect::Kind::Write);
        written.count()
    };
    for command in [
        "ls 2>/dev/null",
        "make > /dev/null 2>&1",
        "cat a | tee /dev/stderr > /dev/stdout",
        "dir > NUL",
        "curl -o /dev/null http://localhost",
    ] {
        assert_eq!(writes(command), 0, "{command}");
    }
    assert_eq!(writes("ls > /dev/tty"), 1);
    assert_eq!(writes("echo x > a 2> /dev/null"), 1);
    assert!(writes("mv src /dev/null") > 0, "it is lost there");
}

#[test]
fn allow_hides_what_it_matches_and_nothing_else() {
    let rules = allowing("{ effect: vcs, is: push, text: mine }");
    let check = |project: &str, command: &str, expected: &[&str]| {
        assert_eq!(
            matching(&rules, project, &[], command),
            expected,
            "{command}"
        );
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
    assert!(matching(&rules, "", &[], "git push mine").is_empty());
    assert_eq!(
        matching(&tested, "", &[], "git push mine"),
        ["untested-push"]
    );
    assert!(matching(&tested, "", &["cargo test"], "git push mine").is_empty());
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
        ".holdgate.yaml:3:9: a project's rules can only tighten, and this loosens `sudo`, which says ASK in the profile `workstation`: remove it, or ask the operator to change it
  |
3 |     do: AUDIT
  |         ^^^^^",
    );
    wrong(
        "",
        &allowing("{ effect: vcs }"),
        ".holdgate.yaml:10:7: a project's rules can only tighten, and this one loosens: the operator can allow it in a file in `~/.config/holdgate/rules`
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
            "operator.yaml:3:9: `{}` protects Holdgate itself and must stay at DENY: remove this
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
        error.contains("`unseen-overwrite` matches this example"),
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
        "REQUIRE needs `before`",
    );
    wrong(
        "  because",
        "  same: pat\n  because",
        "did you mean `path`?",
    );
    wrong(
        "  because",
        "  within: 0\n  because",
        "is a number of calls, at least 1",
    );
    wrong(
        "  because",
        "  within: some\n  because",
        "t.yaml:8:11: expected a number",
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
