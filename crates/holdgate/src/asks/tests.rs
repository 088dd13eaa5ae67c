use super::desk::Event;
use super::*;
use holdgate_core::{Action, Allowance, Finding, LayerName, NoAllowance, Record, Verdict};
use holdgate_effects::Knowledge;
use holdgate_effects::json::Json;

fn question(id: &str) -> Question {
    let mut record = Record::of_response(id.to_owned(), "s".into(), "force-push", "it rewrites");
    record.verdict = Verdict::Ask;
    record.action = Action::Asked;
    record.findings = vec![Finding {
        verdict: Verdict::Ask,
        evidence: Some("git push \u{1b}[2J -f".into()),
        ..Finding::block(
            LayerName::Policy,
            "force-push",
            "it rewrites what others have",
        )
    }];
    Question {
        agent: Some("Claude Code".into()),
        folder: Some("/work/shop".into()),
        before: vec!["Bash  make test".into()],
        record,
        deadline: Duration::from_mins(2),
        allowances: Ok(vec![Allowance {
            effects: vec![("vcs", None)],
            rule: "history-rewrite".into(),
            program: "git".into(),
            evidence: "git push -f".into(),
            path: None,
        }]),
    }
}

const LEFT: Duration = Duration::from_mins(2);

#[test]
fn a_question_is_answered_exactly_once() {
    let asks = Asks::new(Operator::Always, None);
    asks.take_pin();
    let mut first = asks.ask(&question("1"), LEFT).unwrap();
    let mut second = asks.ask(&question("2"), LEFT).unwrap();
    assert_eq!(asks.answer("2", Answer::Deny), Ok(()));
    let again = asks.answer("2", Answer::Once).unwrap_err();
    assert_eq!(
        again,
        "there is no open question `2`; it may have been answered"
    );
    assert_eq!(asks.open().len(), 1);
    assert_eq!(
        second.close(),
        Some(Answer::Deny),
        "who was faster is heard"
    );
    assert_eq!(first.close(), None);
    assert!(asks.answer("1", Answer::Once).is_err(), "too late");
}

#[test]
fn a_question_that_is_dropped_is_withdrawn() {
    let asks = Asks::new(Operator::Always, None);
    asks.take_pin();
    let ticket = asks.ask(&question("1"), LEFT).unwrap();
    let mut changes = asks.changes();
    changes.mark_unchanged();
    drop(ticket);
    assert!(changes.has_changed().unwrap());
    assert!(asks.open().is_empty());
    assert!(asks.answer("1", Answer::Once).is_err());
}

#[test]
fn nobody_is_asked_where_nobody_is_and_nobody_is_flooded() {
    let never = Asks::new(Operator::Never, None);
    let _attended = never.attend();
    assert!(never.ask(&question("1"), LEFT).is_none());

    let auto = Asks::new(Operator::Auto, None);
    assert!(auto.ask(&question("1"), LEFT).is_none());
    let attended = auto.attend();
    let tickets: Vec<_> = (0..MAX_OPEN + 5)
        .filter_map(|n| auto.ask(&question(&n.to_string()), LEFT))
        .collect();
    assert_eq!(tickets.len(), MAX_OPEN);
    drop(attended);
    drop(tickets);
    assert!(auto.ask(&question("1"), LEFT).is_none());
}

#[test]
fn a_rule_is_written_before_its_question_is_answered() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("rules/approved.yaml");
    let rules_file = RulesFile {
        path: file.clone(),
        know: Knowledge::built_in().unwrap(),
    };
    let asks = Asks::new(Operator::Always, Some(rules_file));
    asks.take_pin();
    let mut ticket = asks.ask(&question("a1-1"), LEFT).unwrap();
    assert_eq!(asks.answer("a1-1", Answer::Rule), Ok(()));
    assert_eq!(ticket.close(), Some(Answer::Rule));
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("evidence: '^git push \\-f$'"), "{text}");

    let mut gate = question("a1-2");
    let (rule, layer) = ("force-push".to_owned(), LayerName::Gate);
    gate.allowances = Err(NoAllowance::Layer { rule, layer });
    let _ticket = asks.ask(&gate, LEFT).unwrap();
    let refused = asks.answer("a1-2", Answer::Rule).unwrap_err();
    assert!(refused.contains("answer once or session"), "{refused}");
    assert_eq!(asks.open().len(), 1, "it can still be answered otherwise");
}

#[test]
fn questions_survive_the_socket() {
    let shown = Shown::of(&question("1"), LEFT);
    let text = shown.to_json().to_string();
    let json = Json::read(
        text.as_bytes(),
        16,
        holdgate_effects::json::LoneSurrogates::Refuse,
    );
    let back = Shown::from_json(&json.unwrap());
    assert_eq!(back.findings, shown.findings);
    assert_eq!((back.id, back.rule), (shown.id, shown.rule));
}

/// A terminal of some size.
struct Fixed(usize, usize, String);

impl desk::Surface for Fixed {
    fn take(&mut self) -> bool {
        true
    }

    fn give_back(&mut self) {}

    fn size(&self) -> (usize, usize) {
        (self.0, self.1)
    }

    fn draw(&mut self, text: &str) -> std::io::Result<()> {
        self.2.push_str(text);
        Ok(())
    }

    fn leave(&mut self, line: &str) -> std::io::Result<()> {
        self.2.push_str(line);
        Ok(())
    }
}

/// Plays events at a desk, and returns what was shown and answered.
fn play(
    manner: desk::Manner,
    events: Vec<Event>,
) -> (String, Vec<(String, Answer, Option<String>)>) {
    let (sender, receiver) = std::sync::mpsc::channel();
    for event in events {
        sender.send(event).unwrap();
    }
    drop(sender);
    let (mut out, mut given) = (Fixed(80, 24, String::new()), Vec::new());
    desk::run(&receiver, manner, &mut out, |id, answer, code| {
        given.push((id.to_owned(), answer, code.map(str::to_owned)));
        Ok(())
    })
    .unwrap();
    (out.2, given)
}

const AT_ONCE: desk::Manner = desk::Manner {
    too_soon: Duration::ZERO,
    codes: false,
    interrupt: desk::Interrupt::Deny,
};

fn keys(keys: &str) -> Event {
    Event::Keys(keys.as_bytes().to_vec())
}

#[test]
fn one_key_answers_a_question() {
    #[track_caller]
    fn check(pressed: &[&str], expected: &[Answer], said: &str) {
        let shown = Shown::of(&question("1"), LEFT);
        let mut events = vec![Event::Open(vec![shown])];
        events.extend(pressed.iter().map(|pressed| keys(pressed)));
        let (out, given) = play(AT_ONCE, events);
        let given: Vec<Answer> = given.into_iter().map(|(_, answer, _)| answer).collect();
        assert_eq!(given, expected, "{out}");
        assert!(out.contains(said), "{out}");
        assert!(!out.contains("push \u{1b}"), "{out}");
        assert_eq!(out.matches('\u{7}').count(), 1, "one bell: {out}");
    }
    check(&["y"], &[Answer::Once], "force-push (policy)");
    check(&["s", "y"], &[Answer::Session], "1: session");
    check(&["n\r", "y"], &[Answer::Deny], "1: deny");
    // A pasted text, keys that send several characters, Enter, the end of input.
    check(
        &["yes", "\u{1b}[A", "\r", "\u{4}", "Y", ""],
        &[],
        "1:59 left",
    );
    check(&["a", "y"], &[Answer::Rule], "do: ALLOW");
    check(&["a", "n", "x"], &[], "write it");
    check(&["a", "n", "n"], &[Answer::Deny], "write it");
    check(&["?", "y", "y"], &[Answer::Once], "make test");
    check(&["\u{3}"], &[Answer::Deny], "holdgate asks");
}

#[test]
fn a_code_is_typed_after_the_answer() {
    let manner = desk::Manner {
        codes: true,
        ..AT_ONCE
    };
    let shown = || Event::Open(vec![Shown::of(&question("1"), LEFT)]);
    let pressed = ["y", "K7", "Q3\u{7f}2", "MX\r"].map(keys);
    let (out, given) = play(manner, [shown()].into_iter().chain(pressed).collect());
    let code = Some("K7Q2MX".to_owned());
    assert_eq!(given, [("1".to_owned(), Answer::Once, code)], "{out}");
    let pressed = ["y", "K7", "\u{1b}", "n", "\r"].map(keys);
    let (out, given) = play(manner, [shown()].into_iter().chain(pressed).collect());
    let code = Some(String::new());
    assert_eq!(given, [("1".to_owned(), Answer::Deny, code)], "{out}");
}

#[test]
fn what_was_typed_for_another_question_is_not_taken() {
    let shown = |id| Shown::of(&question(id), LEFT);
    let slow = desk::Manner {
        too_soon: LEFT,
        ..AT_ONCE
    };
    let (out, given) = play(slow, vec![Event::Open(vec![shown("1")]), keys("y")]);
    assert!(given.is_empty(), "{out}");
    let closed = vec![
        Event::Open(vec![shown("1"), shown("2")]),
        Event::Open(vec![shown("2")]),
        keys("y"),
        keys("y"),
        Event::Open(vec![]),
        keys("y"),
    ];
    let (out, given) = play(AT_ONCE, closed);
    assert_eq!(given, [("2".to_owned(), Answer::Once, None)], "{out}");
    assert!(out.contains("question 1 is closed"), "{out}");
    assert!(out.contains("1 of 2") && out.contains("2 of 2"), "{out}");
}

/// The question as it stands on a terminal of this size.
fn drawn(shown: &Shown, columns: usize, rows: usize, styled: bool) -> String {
    let size = card::Size {
        columns,
        rows,
        styled,
    };
    let around = card::Around {
        number: (1, 1),
        ..card::Around::default()
    };
    let lines = card::question(
        shown,
        &around,
        shown.deadline.checked_sub(LEFT).unwrap(),
        size,
    );
    assert!(lines.len() <= rows, "{columns}x{rows}");
    for line in &lines {
        assert!(line.width() < columns, "{columns}x{rows}: {line:?}");
    }
    let lines: Vec<String> = lines.iter().map(|line| line.render(styled)).collect();
    lines.join("\n")
}

#[test]
fn a_question_fits_its_terminal() {
    let mut shown = Shown::of(&question("1"), LEFT);
    shown.command = "make && git push -f".into();
    shown.mark = Some(8..19);
    shown.findings[0][4] = "push to a new branch".into();
    assert_eq!(
        drawn(&shown, 60, 24, false),
        " holdgate asks                                   2:00 left

 Claude Code in /work/shop wants to use ?:

   make && >>> git push -f <<<

 Why      It rewrites what others have.
 Rule     force-push (policy)
 Instead  push to a new branch

 y once   s session   a always   n no   ? more"
    );
    assert_eq!(
        drawn(&shown, 40, 8, false),
        "holdgate asks                 2:00 left
Claude Code in /work/shop wants to use
?:
  make && >>> git push -f <<<
Why: It rewrites what others have.
Rule: force-push (policy)
Instead: push to a new branch
y once s session a always n no ? more"
    );
    let styled = drawn(&shown, 80, 24, true);
    assert!(styled.contains("make && \u{1b}[1m\u{1b}[4m\u{1b}[31mgit push -f\u{1b}[0m"));
}

#[test]
fn the_dangerous_part_of_a_long_command_stays_in_sight() {
    let mut shown = Shown::of(&question("1"), LEFT);
    let (before, after) = ("echo one; ".repeat(200), "; echo two".repeat(200));
    shown.command = format!("{before}git push --force{after}");
    shown.mark = Some(before.len()..before.len() + 16);
    for (columns, rows) in [(40, 12), (80, 24), (200, 50), (20, 6), (40, 7)] {
        let text = drawn(&shown, columns, rows, true).replace('\n', " ");
        let plain = text.replace("\u{1b}[1m\u{1b}[4m\u{1b}[31m", "«");
        assert!(plain.contains("«git"), "{columns}x{rows}: {text}");
        assert!(
            plain.contains("y\u{1b}[0m once"),
            "{columns}x{rows}: {text}"
        );
    }
    let text = drawn(&shown, 80, 24, false);
    assert!(text.contains(">>> git push --force <<<"), "{text}");
    assert!(
        text.contains(" lines …") && text.contains("echo two"),
        "{text}"
    );
}
