//! Rules about branches and remotes.

use super::*;

/// Loads the rule, whose examples must hold.
#[track_caller]
fn holds(rule: &str) {
    let know = Knowledge::built_in().unwrap();
    let file = RuleFile::operator("t.yaml", rule);
    if let Err(errors) = RuleSet::load(Profile::Workstation, &[file], &know) {
        panic!("{errors}");
    }
}

#[test]
fn a_rule_can_name_the_branch_that_a_push_changes() {
    holds(
        r#"
- id: push-to-main
  do: DENY
  category: own
  when: { effect: vcs, is: push, branch: [main, 'release/*'] }
  because: main is protected
  examples:
    deny:
      - git push origin main
      - git push origin HEAD:main
      - git push origin fix:refs/heads/release/1
      - git push -u origin fix +main
      - git push origin :main
      - git push origin --delete main
      - git push --all
      - git push origin $BRANCH
      # Nobody knows which branch is checked out.
      - git push
      - { branch: main, then: git push }
      - { branch: main, then: git push origin HEAD }
      - { branch: fix, then: git checkout main && git push }
      - { branch: fix, then: git switch -C release/2 && git push -u origin }
      - { branch: fix, then: 'git checkout - && git push' }
      - { branch: fix, then: 'git branch -m main && git push' }
      - { branch: fix, then: 'echo "ref: refs/heads/main" > .git/HEAD; git push' }
      # It may have failed, or not run at all.
      - { branch: main, then: 'git checkout fix; git push' }
      - { branch: main, then: 'if make; then git switch fix; fi; git push' }
      - { branch: main, then: 'make && git switch fix; git push' }
      - { branch: main, then: 'git switch fix || true; git push' }
      - { branch: main, then: 'git -C . push' }
      - { branch: main, then: 'cd src && git push' }
      - { branch: main, then: 'bash -c "git push"' }
      - { branch: fix, then: 'git -C /srv/other push' }
    allow:
      - git push origin fix
      - git push origin main:fix
      - git push origin v1 refs/tags/main
      - git push --tags
      - { branch: fix, then: git push }
      - { branch: fix, then: git push --force-with-lease }
      - { branch: main, then: git checkout -b fix && git push }
      - { branch: main, then: git fetch && git checkout fix && make && git push }
      - { branch: main, then: git checkout -t origin/fix && git push }
      - { branch: main, then: git push origin HEAD:fix }
      - { branch: fix, then: 'git push -u origin "$(git branch --show-current)"' }
      - { branch: fix, then: 'git push origin $(git rev-parse --abbrev-ref HEAD)' }
      - { branch: fix, then: git checkout main.rs && git push }
      - { branch: main, then: git stash push }
      - { branch: main, then: git commit -m x }
"#,
    );
}

#[test]
fn what_is_not_known_counts_for_whoever_denies_and_against_whoever_allows() {
    holds(
        r"
- id: push-to-others
  do: ASK
  category: own
  when: { effect: vcs, is: push, not: { branch: 'agent/*' } }
  because: only branches of agents are theirs
  examples:
    ask:
      - git push
      - git push origin main
      - { branch: agent/1, then: git push origin agent/1 main }
      - { branch: main, then: 'git checkout agent/1; git push' }
    allow:
      - git push origin agent/1
      - { branch: agent/1, then: git push }
- id: commit-on-main
  do: DENY
  category: own
  when: { effect: vcs, program: git, branch: main, text: '^commit' }
  because: main is for merges
  examples:
    deny: [git commit -m x, { branch: main, then: git commit -m x }]
    allow: [{ branch: fix, then: git commit -m x }]
- id: push-of-own-branch
  do: ALLOW
  category: own
  when: { effect: vcs, is: push, branch: 'me/*' }
  because: it is mine
  examples:
    allow: [git push -f origin me/x]
    ask: [git push -f, git push -f origin me/x main]
",
    );
}

#[test]
fn a_rule_can_name_the_remote_or_its_address() {
    holds(
        r"
- id: push-to-upstream
  do: ASK
  category: own
  when: { effect: vcs, is: push, remote: [upstream, 'https://github.com/acme/*', 'git@github.com:acme/*'] }
  because: it is not ours
  examples:
    ask:
      - git push upstream fix
      - git push https://me:token@github.com/acme/web.git fix
      - git remote add x git@github.com:acme/web && git push x fix
      - { branch: fix, remotes: { origin: 'https://github.com/acme/web' }, then: git push }
      # Nobody knows where it leads.
      - git push origin fix
    allow:
      - { branch: fix, remotes: { origin: 'https://github.com/me/web' }, then: git push }
- id: push-to-other-name
  do: ASK
  category: own
  when: { effect: vcs, is: push, remote: other }
  because: it is not ours
  examples:
    ask: [git push other fix, { branch: fix, then: git push --repo other }]
    allow:
      - { branch: fix, remotes: { origin: 'https://github.com/me/web' }, then: git push }
",
    );
}

#[test]
fn a_finding_says_that_the_branch_is_not_known() {
    let rule = "- { id: a, do: DENY, category: c, when: { effect: vcs, is: push, branch: main }, \
                because: main is protected, examples: { deny: [git push origin main], allow: [git status] } }";
    let set = RuleSet::read(Profile::Workstation, &[RuleFile::operator("t.yaml", rule)]).unwrap();
    let reason = |command: &str| {
        let (effects, fuel) = (effects(command), Fuel::new(FUEL));
        let found = set.findings(RuleLayer::Policy, &effects, &History::default(), &fuel);
        found.unwrap().first().unwrap().reason.clone()
    };
    assert_eq!(reason("git push origin main"), "main is protected");
    assert!(reason("git push").contains("is not known"));
}
