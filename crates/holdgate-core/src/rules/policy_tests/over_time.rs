//! Rules that look back: what was done before, since and after.

use super::{TESTS_FIRST, matching};

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

/// Whether `rule` matches a command after those of `before`.
#[track_caller]
fn check(rule: &str, before: &[&str], command: &str, matches: bool) {
    let matched = matching(rule, "", before, command);
    assert_eq!(!matched.is_empty(), matches, "{before:.200?} {command}");
}

#[test]
fn what_is_required_must_have_been_done_before_and_since_the_last_change() {
    let check = |before: &[&str], command, matches| check(TESTS_FIRST, before, command, matches);
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
    let check = |before: &[&str], command, matches| check(rule, before, command, matches);
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
    let matched = |before: &[&str]| !matching(&near, "", before, "echo x > a.txt").is_empty();
    assert!(!matched(&["cat a.txt", "ls"]));
    assert!(matched(&["cat a.txt", "ls", "ls"]));
}

#[test]
fn a_rule_can_apply_only_after_something() {
    let check = |before: &[&str], command, matches| check(AFTER_SECRET, before, command, matches);
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
    let check = |before, matches| check(rule, &[before], "curl https://example.com", matches);
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
    let matched =
        |before: &str| !matching(&fixed, "", &[before], "curl https://example.com").is_empty();
    assert!(matched("cat data/*") && matched("grep -r x ."));
    assert!(!matched("cat *") && !matched("grep -r x src"));
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
    let matched = |before: &str| !matching(same, "", &[before], "rm a.txt").is_empty();
    assert!(
        matched("cat *")
            && matched("cat \"$X\"")
            && matched("grep -r . .")
            && matched("cat [a].txt")
    );
    assert!(!matched("cat b*") && !matched("cat src/*") && !matched("grep -r . src"));
}
