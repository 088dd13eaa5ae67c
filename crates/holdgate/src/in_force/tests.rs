use super::*;
use holdgate_core::{Action, Context, History, Record, Verdict};
use holdgate_effects::json::Json;
use holdgate_effects::path::World;
use std::time::Duration;
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

struct Setting {
    dir: TempDir,
    in_force: InForce,
}

impl Setting {
    fn new(operator: &str) -> Setting {
        let dir = tempfile::tempdir().unwrap();
        for folder in ["rules", "project"] {
            std::fs::create_dir(dir.path().join(folder)).unwrap();
        }
        std::fs::write(dir.path().join("rules/own.yaml"), operator).unwrap();
        let in_force = InForce::load(config(&dir)).unwrap();
        Setting { dir, in_force }
    }

    fn project(&self) -> String {
        self.dir.path().join("project").to_str().unwrap().to_owned()
    }

    fn write(&self, text: &str) {
        std::fs::write(self.dir.path().join("project/.holdgate.yaml"), text).unwrap();
    }

    /// The verdicts on `touch a`, `touch b` and `touch c` in the project.
    fn verdicts(&self) -> [&'static str; 3] {
        ["a", "b", "c"].map(|name| {
            let project = self.project();
            let stack = self.in_force.stack(Some(&project)).unwrap();
            verdict(&stack, &format!("touch {name}")).word()
        })
    }

    #[track_caller]
    fn look(&self, now: Option<&str>, problem: Option<&str>) {
        let news = self.in_force.look_at(&self.project());
        let said = news.as_ref().map(|news| news.now.as_str());
        assert_eq!(said.is_some(), now.is_some(), "{news:?}");
        assert!(said.unwrap_or("").contains(now.unwrap_or("")), "{news:?}");
        let wrong = news.as_ref().and_then(|news| news.problem.as_deref());
        assert_eq!(wrong.is_some(), problem.is_some(), "{news:?}");
        let wrong = wrong.unwrap_or("");
        assert!(wrong.contains(problem.unwrap_or("")), "{wrong}");
    }
}

fn config(dir: &TempDir) -> Config {
    let mut config = Config::defaults(dir.path().join("state")).unwrap();
    config.rules.dirs = vec![dir.path().join("rules")];
    // A busy machine must not decide what comes out.
    config.judge.deadline = Duration::from_mins(1);
    config
}

fn verdict(stack: &Stack, command: &str) -> Verdict {
    let call = judging::call(
        "Bash",
        &Json::object([("command", command.to_owned().into())]),
    );
    let mut session = judging::session(World::lexical("/home/dev/project"));
    let history = History::default();
    let context = Context::new(&history, Duration::ZERO);
    stack.judge(call, &mut session, &context).verdict()
}

#[test]
fn a_project_goes_over_the_operator_and_both_over_what_is_built_in() {
    let setting = Setting::new(&rule("a", "DENY"));
    assert!(setting.in_force.stack(Some(&setting.project())).is_none());
    setting.write(&rule("b", "DENY"));
    setting.look(Some(".holdgate.yaml is in force"), None);
    assert_eq!(setting.verdicts(), ["block", "block", "allow"]);
    setting.look(None, None);
    let elsewhere = setting.in_force.stack(None).unwrap();
    assert_eq!(verdict(&elsewhere, "touch b"), Verdict::Allow);
    assert_eq!(verdict(&elsewhere, "touch a"), Verdict::Block);
    assert_eq!(verdict(&elsewhere, "rm -rf ~"), Verdict::Block);
}

#[test]
fn a_broken_project_file_is_left_out_and_said_to_be() {
    let setting = Setting::new(&rule("a", "DENY"));
    setting.write(&rule("b", "DENY").replace("because", "becuase"));
    setting.look(
        Some("is not in force: using the other rules without it"),
        Some(".holdgate.yaml:5:3: unknown field `becuase`, did you mean `because`?"),
    );
    assert_eq!(setting.verdicts(), ["block", "allow", "allow"]);
    setting.look(None, None);
    setting.write(&rule("b", "DENY"));
    setting.look(Some("is in force"), None);
    assert_eq!(setting.verdicts(), ["block", "block", "allow"]);
    setting.write("- id: [");
    setting.look(Some("keeping its previous rules"), Some(".holdgate.yaml:"));
    assert_eq!(setting.verdicts(), ["block", "block", "allow"]);
    std::fs::remove_file(setting.dir.path().join("project/.holdgate.yaml")).unwrap();
    setting.look(Some("was removed"), None);
    assert_eq!(setting.verdicts(), ["block", "allow", "allow"]);
}

#[test]
fn projects_outlive_a_change_of_the_rules_around_them() {
    let mut setting = Setting::new(&rule("a", "DENY"));
    setting.write(&rule("b", "DENY"));
    setting.look(Some("is in force"), None);
    setting.write("broken: [");
    setting.look(Some("keeping its previous rules"), Some(""));
    std::fs::write(setting.dir.path().join("rules/own.yaml"), rule("c", "ASK")).unwrap();
    let operator = rulebook::operator_files(&setting.in_force.config.rules.dirs).unwrap();
    let config = setting.in_force.config.clone();
    setting.in_force = setting.in_force.next(config, operator.into()).unwrap();
    assert!(setting.in_force.stack(Some(&setting.project())).is_none());
    setting.look(None, None);
    assert_eq!(
        setting.verdicts(),
        ["allow", "block", "ask"],
        "the last good rules go on"
    );
}

#[test]
fn a_rule_on_trial_only_audits() {
    let operator = rule("a", "DENY").replace("  category", "  stage: trial\n  category");
    let setting = Setting::new(&operator);
    setting.look(None, None);
    assert_eq!(setting.verdicts(), ["audit", "allow", "allow"]);
}

#[test]
fn an_error_of_the_operator_prevents_the_start() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("rules")).unwrap();
    let check = |text: &str, expected: &str| {
        std::fs::write(dir.path().join("rules/own.yaml"), text).unwrap();
        let error = InForce::load(config(&dir)).unwrap_err().to_string();
        let shown = format!("{}/", dir.path().display());
        assert_eq!(error.replace(&shown, ""), expected);
    };
    check(
        &rule("a", "DENY").replace(", allow: [touch other-file]", ""),
        "rules/own.yaml:1:7: a rule needs an example of both kinds: add one to `examples.allow`
  |
1 | - id: touch-a
  |       ^^^^^^^",
    );
    check(
        &rule("a", "DENY").replace("  when", "  becase: x\n  when"),
        "rules/own.yaml:4:3: unknown field `becase`, did you mean `because`?
  |
4 |   becase: x
  |   ^^^^^^",
    );
    check(
        &(rule("a", "DENY") + &rule("a", "ASK")),
        "rules/own.yaml:7:7: the rule `touch-a` already exists in rules/own.yaml:1: choose another name
  |
7 | - id: touch-a
  |       ^^^^^^^",
    );
}

/// A file with this many rules that all match `touch a`.
fn many(rules: usize) -> String {
    let rule = |n| rule("a", "DENY").replace("touch-a", &format!("touch-a-{n}"));
    (0..rules).map(rule).collect()
}

#[test]
fn a_project_file_costs_little_however_it_is_written() {
    let setting = Setting::new("[]");
    setting.write(&many(200));
    setting.look(Some("is in force"), None);
    assert_eq!(setting.verdicts(), ["block", "allow", "allow"]);

    let stack = setting.in_force.stack(Some(&setting.project())).unwrap();
    let input = Json::object([("command", "touch a".into())]);
    let mut session = judging::session(World::lexical("/home/dev/project"));
    let history = History::default();
    let context = Context::new(&history, Duration::ZERO);
    let judgement = stack.judge(judging::call("Bash", &input), &mut session, &context);
    let (id, whose) = ("1-1".to_owned(), "s".to_owned());
    let record = Record::of_call(id, whose, &judgement, Action::Explained, Duration::ZERO);
    assert!(record.findings.len() >= 200);
    let members = record.members(4096);
    let written = members.as_str();
    assert_eq!(written.matches("\"reason\":").count(), 16, "{written}");
    assert!(written.contains("\"findings_left_out\":"), "{written}");

    setting.write(&many(201));
    setting.look(
        Some("keeping its previous rules"),
        Some("at most 200 rules"),
    );
    let long = rule("b", "DENY").replace("it is ours", &"long ".repeat(100));
    setting.write(&long);
    setting.look(
        Some("keeping its previous rules"),
        Some("at most 400 characters"),
    );
    let costly = "'for a in {1..40}; do for b in {1..40}; do rm $a/$b; done; done', ".repeat(600);
    let costly = rule("b", "DENY").replace("[touch other-file]", &format!("[{costly} ls]"));
    setting.write(&costly);
    setting.look(Some("keeping its previous rules"), Some("too much work"));
    assert_eq!(setting.verdicts(), ["block", "allow", "allow"]);
}

#[test]
fn the_operator_can_switch_project_files_off() {
    let setting = Setting::new("[]");
    setting.write(&rule("a", "DENY"));
    let mut config = config(&setting.dir);
    config.rules.project_files = false;
    let in_force = InForce::load(config).unwrap();
    let setting = Setting {
        in_force,
        ..setting
    };
    setting.look(None, None);
    assert_eq!(setting.verdicts(), ["allow", "allow", "allow"]);
}

#[test]
fn an_exception_holds_in_its_project_until_its_end() {
    let allow = |limit: &str| {
        format!(
            "- id: approved\n  do: ALLOW\n  only: [recursive-delete-outside-project]\n  {limit}\n  \
             category: own\n  when: {{ effect: delete, path: {{ glob: /home/dev/old }} }}\n  \
             because: it is old\n  \
             examples: {{ allow: [rm -rf /home/dev/old], deny: [rm -rf /home/dev/older] }}\n"
        )
    };
    let check = |limit: &str, in_project: Verdict, elsewhere: Verdict| {
        let setting = Setting::new(&rule("a", "DENY"));
        let project = setting.project();
        let text = allow(&limit.replace("PROJECT", &project));
        std::fs::write(setting.dir.path().join("rules/own.yaml"), text).unwrap();
        let in_force = InForce::load(config(&setting.dir)).unwrap();
        in_force.look_at(&project);
        let call = "rm -rf /home/dev/old";
        let stack = in_force.stack(Some(&project)).unwrap();
        assert_eq!(verdict(&stack, call), in_project, "{limit}");
        assert_eq!(verdict(&stack, "rm -rf /home/dev/older"), Verdict::Block);
        let stack = in_force.stack(None).unwrap();
        assert_eq!(verdict(&stack, call), elsewhere, "{limit}");
        in_force.is_over(SystemTime::now())
    };
    let (passes, blocked) = (Verdict::Audit, Verdict::Block);
    check("stage: stable", passes, passes);
    check("project: PROJECT", passes, blocked);
    check("project: /elsewhere", blocked, blocked);
    check("until: 2999-01-01T00:00:00Z", passes, passes);
    assert!(!check("until: 2001-01-01T00:00:00Z", blocked, blocked));
}
