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

/// Plays events at a desk, and returns what was shown and answered.
fn desk(too_soon: Duration, events: Vec<Event>) -> (String, Vec<(String, Answer)>) {
    let (sender, receiver) = std::sync::mpsc::channel();
    for event in events {
        sender.send(event).unwrap();
    }
    drop(sender);
    let (mut out, mut given) = (Vec::new(), Vec::new());
    let manner = desk::Manner {
        too_soon,
        codes: false,
    };
    desk::run(&receiver, manner, &mut out, |id, answer, _| {
        given.push((id.to_owned(), answer));
        Ok(())
    })
    .unwrap();
    (String::from_utf8(out).unwrap(), given)
}

#[test]
fn a_desk_takes_one_line_for_each_question() {
    #[track_caller]
    fn check(lines: &[&str], expected: &[Answer], said: &str) {
        let shown = Shown::of(&question("1"), LEFT);
        let mut events = vec![Event::Open(vec![shown])];
        events.extend(lines.iter().map(|line| Event::Line((*line).to_owned())));
        let (out, given) = desk(Duration::ZERO, events);
        let given: Vec<Answer> = given.into_iter().map(|(_, answer)| answer).collect();
        assert_eq!(given, expected, "{out}");
        assert!(out.contains(said), "{out}");
        assert!(!out.contains("\u{1b}[2J"), "{out}");
    }
    check(&["o"], &[Answer::Once], "force-push (policy)");
    check(&["session", "o"], &[Answer::Session], "1: session");
    check(&["", "yes", "y", "maybe"], &[], "[o]nce");
    check(&["d", "o"], &[Answer::Deny], "1: deny");
    check(&["r", "y"], &[Answer::Rule], "do: ALLOW");
    check(&["r", "n", "y"], &[], "write this rule?");
    check(&["r", "d"], &[Answer::Deny], "write this rule?");
}

#[test]
fn what_was_typed_for_another_question_is_not_taken() {
    let shown = |id| Shown::of(&question(id), LEFT);
    let line = || Event::Line("o".into());
    let (out, given) = desk(LEFT, vec![Event::Open(vec![shown("1")]), line()]);
    assert!(given.is_empty(), "{out}");
    let closed = vec![
        Event::Open(vec![shown("1"), shown("2")]),
        Event::Open(vec![shown("2")]),
        line(),
        line(),
        Event::Open(vec![]),
        line(),
    ];
    let (out, given) = desk(Duration::ZERO, closed);
    assert_eq!(given, [("2".to_owned(), Answer::Once)], "{out}");
    assert!(out.contains("question 1 is closed"), "{out}");
}
