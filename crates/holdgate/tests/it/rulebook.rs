//! Rules of the operator and of a project, through the commands.

use crate::cli::holdgate;
use crate::setup::{has, lacks};
use serde_json::{Value, json};
use std::path::PathBuf;
use tempfile::TempDir;

/// A rule about `touch NAME`.
fn rule(name: &str, verdict: &str) -> String {
    let key = verdict.to_lowercase();
    format!(
        "- id: touch-{name}\n  do: {verdict}\n  category: own\n  \
         when: {{ effect: write, path: {{ glob: '**/{name}' }} }}\n  because: it is ours\n  \
         examples: {{ {key}: [touch {name}], allow: [touch other-file] }}\n"
    )
}

/// A home with an operator's rules, and a project.
struct Setting(TempDir);

impl Setting {
    fn new() -> Setting {
        let setting = Setting(tempfile::tempdir().unwrap());
        setting.write("home/.config/holdgate/rules/own.yaml", &rule("a", "DENY"));
        std::fs::create_dir(setting.path("project")).unwrap();
        setting
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.0.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Exit code, output and errors of a command in the project.
    fn run(&self, args: &[&str]) -> (i32, String, String) {
        let output = holdgate(args)
            .env("HOME", self.path("home"))
            .current_dir(self.path("project"))
            .output()
            .unwrap();
        let shown = format!(
            "{}/",
            self.path("").display().to_string().trim_end_matches('/')
        );
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace(&shown, "");
        let code = output.status.code().unwrap();
        (code, text(&output.stdout), text(&output.stderr))
    }

    #[track_caller]
    fn check(&self, args: &[&str], code: i32, out: &str, err: &str) {
        let (got, stdout, stderr) = self.run(args);
        assert_eq!(got, code, "{stdout}{stderr}");
        assert!(stdout.contains(out), "{out} is not in {stdout}");
        assert!(stderr.contains(err), "{err} is not in {stderr}");
    }
}

#[test]
fn commands_judge_by_what_holds_here() {
    let setting = Setting::new();
    setting.check(&["check", "--", "touch a"], 1, "block touch-a (", "");
    setting.check(&["check", "--", "touch b"], 0, "verdict allow", "");
    setting.write("project/.holdgate.yaml", &rule("b", "DENY"));
    setting.check(&["check", "--", "touch b"], 1, "block touch-b (", "");
    setting.check(&["rules", "list"], 0, "touch-b", "");
    setting.check(
        &["rules", "explain", "touch-a"],
        0,
        "home/.config/holdgate/rules/own.yaml:1",
        "",
    );
    setting.check(&["rules", "check"], 0, "examples: all passed", "");
    setting.check(&["rules", "test"], 0, "  matches  touch b", "");
}

#[test]
fn a_project_file_that_cannot_be_used_is_left_out() {
    let setting = Setting::new();
    let error = ".holdgate.yaml:5:3: unknown field `becuase`, did you mean `because`?\n  |\n5 |   becuase: it is ours\n  |   ^^^^^^^";
    setting.write(
        "project/.holdgate.yaml",
        &rule("b", "DENY").replace("because", "becuase"),
    );
    setting.check(&["check", "--", "touch b"], 0, "verdict allow", error);
    setting.check(&["check", "--", "touch a"], 1, "block touch-a (", error);
    setting.check(&["rules", "list"], 0, "touch-a", error);
    setting.check(&["rules", "check"], 1, error, "");
}

#[test]
fn a_project_file_that_loosens_is_refused_with_the_line_that_does_it() {
    let setting = Setting::new();
    let loose = rule("b", "DENY").replace("do: DENY", "do: ALLOW");
    setting.write("project/.holdgate.yaml", &loose);
    let line = ".holdgate.yaml:2:7: a project's rules can only tighten, and this one loosens: the operator can allow it in a file in `~/.config/holdgate/rules`\n  |\n2 |   do: ALLOW\n  |       ^^^^^";
    setting.check(&["check", "--", "touch a"], 1, "block touch-a (", line);
    setting.check(&["rules", "check"], 1, line, "");
}

#[test]
fn all_commands_report_errors_of_the_operator() {
    let setting = Setting::new();
    let error = rule("a", "DENY").replace("do: DENY", "do: DENI");
    setting.write("home/.config/holdgate/rules/own.yaml", &error);
    let error = "own.yaml:2:7: `DENI` is not a valid verdict, did you mean `DENY`?";
    setting.check(&["check", "--", "true"], 2, "", error);
    setting.check(&["rules", "check"], 1, error, "");
    setting.check(&["proxy", "--listen", "127.0.0.1:0"], 2, "", error);
}

#[test]
fn a_rule_on_trial_is_marked() {
    let setting = Setting::new();
    let trial = rule("a", "DENY").replace("  category", "  stage: trial\n  category");
    setting.write("home/.config/holdgate/rules/own.yaml", &trial);
    setting.check(&["check", "--", "touch a"], 0, "audit touch-a (", "");
    setting.check(&["rules", "list"], 0, "own  (on trial: only audits)\n", "");
    setting.check(&["rules", "stats"], 0, "  -  (trial)\n", "");
}

#[test]
fn a_diff_says_what_tightens_and_what_loosens() {
    let setting = Setting::new();
    setting.write("project/a.yaml", &rule("xyzzy", "DENY"));
    setting.write(
        "project/b.yaml",
        &(rule("xyzzy", "AUDIT") + &rule("plugh", "ASK")),
    );
    let (code, out, _) = setting.run(&["rules", "diff", "a.yaml", "b.yaml"]);
    assert_eq!(code, 0);
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(
        lines[0], "loosens   block -> audit  touch-xyzzy, example 1  (touch-xyzzy)",
        "{out}"
    );
    assert_eq!(
        lines[1], "tightens  allow -> ask  touch-plugh, example 1  (touch-plugh)",
        "{out}"
    );
    assert_eq!(lines[2], "only in B: touch-plugh");
    assert!(lines[3].contains(" cases: 1 tighten, 1 loosen, "), "{out}");

    let cases = [
        json!({"id": "one", "expect": "allow", "call": {"tool": "Bash", "input": {"command": "touch xyzzy"}}}),
        json!({"id": "two", "expect": "allow", "call": {"tool": "Bash", "input": {"command": "touch z"}}}),
    ];
    setting.write(
        "project/cases.json",
        &Value::from(cases.to_vec()).to_string(),
    );
    setting.write("project/rules/a.yaml", &rule("xyzzy", "DENY"));
    let (code, out, _) = setting.run(&[
        "rules",
        "diff",
        "built-in",
        "rules",
        "--cases",
        "cases.json",
        "--json",
    ]);
    assert_eq!(code, 0);
    assert_eq!(
        serde_json::from_str::<Value>(&out).unwrap(),
        json!({
            "tightens": [{"case": "one", "before": "allow", "after": "block", "rule": "touch-xyzzy"}],
            "loosens": [], "same": 1, "only_a": [], "only_b": ["touch-xyzzy"],
        })
    );
    setting.check(
        &["rules", "diff", "built-in", "none.yaml"],
        1,
        "",
        "none.yaml",
    );
}

#[test]
fn stats_come_from_the_ledger() {
    let setting = Setting::new();
    let record = |time: &str, session: &str, more: Value| {
        let mut record = json!({"time": time, "session": session});
        record
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        record.to_string() + "\n"
    };
    let finding = |rule: &str, verdict: &str| json!([{"rule": rule, "verdict": verdict}]);
    let lines = [
        record(
            "2026-01-01T00:00:00Z",
            "s1",
            json!({"findings": finding("touch-a", "block")}),
        ),
        record(
            "2026-01-02T00:00:00Z",
            "s1",
            json!({"action": "asked", "findings": finding("force-push", "ask")}),
        ),
        record(
            "2026-01-02T00:00:01Z",
            "s1",
            json!({"answer": "once", "findings": finding("force-push", "ask")}),
        ),
        record(
            "2026-01-03T00:00:00Z",
            "s2",
            json!({"answer": "deny", "findings": finding("force-push", "ask")}),
        ),
        record("2026-01-04T00:00:00Z", "s2", json!({"findings": []})),
    ];
    setting.write("state/ledger.jsonl", &(lines.concat() + "{torn"));
    let state = setting.path("state");
    let state = state.to_str().unwrap();
    let (code, out, _) = setting.run(&["rules", "stats", "--json", "--state-dir", state]);
    assert_eq!(code, 0);
    assert_eq!(
        serde_json::from_str::<Value>(&out).unwrap(),
        json!([
            {"rule": "force-push", "times": 2, "audit": 0, "ask": 2, "block": 0, "kill": 0,
             "sessions": 2, "overridden": 1, "trial": false, "last": "2026-01-03T00:00:00Z"},
            {"rule": "touch-a", "times": 1, "audit": 0, "ask": 0, "block": 1, "kill": 0,
             "sessions": 1, "overridden": 0, "trial": false, "last": "2026-01-01T00:00:00Z"},
        ])
    );
    let since = [
        "rules",
        "stats",
        "--since",
        "2026-01-02T12:00:00Z",
        "--state-dir",
        state,
    ];
    let (_, out, _) = setting.run(&since);
    has(&out, "force-push       1 ");
    lacks(&out, "touch-a");
    assert!(out.contains(" rules have not matched"), "{out}");
}

#[test]
fn a_rule_file_can_be_measured_alone() {
    let setting = Setting::new();
    setting.write("project/x.yaml", &rule("x", "DENY"));
    let call = |command: &str| json!({"tool": "Bash", "input": {"command": command}});
    let cases = json!([
        {"id": "1", "expect": "block", "call": call("touch x")},
        {"id": "2", "expect": "block", "call": call("rm -rf ~")},
        {"id": "3", "expect": "allow", "call": call("touch z")},
    ]);
    setting.write("project/cases.json", &cases.to_string());
    let blocked = |more: &[&str]| {
        let args = [&["eval", "--json", "--rules", "x.yaml", "cases.json"], more].concat();
        let (code, out, err) = setting.run(&args);
        assert_eq!(code, 0, "{err}");
        serde_json::from_str::<Value>(&out).unwrap().to_string()
    };
    let (joined, alone) = (blocked(&[]), blocked(&["--alone"]));
    has(&joined, "recursive-delete");
    has(&joined, "touch-x");
    lacks(&alone, "recursive-delete");
    has(&alone, "touch-x");
}

#[test]
fn patterns_of_the_operator_hold_on_their_examples() {
    let setting = Setting::new();
    let write = |trips: &str| {
        let text = format!(
            "- {{ id: code-name, family: own, severity: low, words: [swordfish], regex: swordfish$, \
             because: a code name, examples: {{ trips: [{trips}], passes: [fish] }} }}\n"
        );
        setting.write("home/.config/holdgate/rules/watch/own.yaml", &text);
    };
    let (_, without, _) = setting.run(&["rules", "check"]);
    write("swordfish");
    let (code, with, errors) = setting.run(&["rules", "check"]);
    assert_eq!(code, 0, "{with} {errors}");
    assert_ne!(with, without);
    write("swordfish again");
    let (code, out, _) = setting.run(&["rules", "check"]);
    assert_eq!(code, 1, "{out}");
    has(&out, "`code-name` does not match this example");
    let (code, _, errors) = setting.run(&["run", "true"]);
    assert_eq!(code, 2, "{errors}");
    has(&errors, "`code-name` does not match this example");
}
