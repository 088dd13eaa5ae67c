//! Calls that a person has to decide about, in the guard. Virtual time.

use crate::client::summary;
use crate::guarding::{PATIENCE, Play, asking, judge};
use crate::responses::{PUSH, message};
use holdgate_core::{Action, Answer, MessageGuard, Progress, StreamGuard};
use proptest::prelude::*;
use std::time::Duration;

#[test]
fn an_asked_call_and_all_behind_it_wait_for_the_answer() {
    let mut play = Play::new(judge(asking(false)));
    play.feed(message(&["ls", PUSH, "pwd"]).as_bytes());
    assert_eq!(play.seen.sent(), ["call0"]);
    let shown = summary(&play.seen.bytes);
    assert_eq!(shown.len(), 3, "what follows the call waits: {shown:?}");
    let question = &play.seen.questions[0];
    assert_eq!(question.deadline, PATIENCE);
    assert_eq!(question.record.action, Action::Asked);
    assert_eq!(question.record.findings[0].rule, "history-rewrite");
    assert!(
        play.guard.is_over(),
        "nothing more is expected from upstream"
    );

    play.act(|guard, now, out| guard.answer("another", Answer::Once, now, out));
    play.finish();
    assert_eq!(play.seen.sent(), ["call0"]);

    play.now = Duration::from_secs(7);
    play.answer(Answer::Once);
    assert_eq!(play.seen.sent(), ["call0", "call1", "call2"]);
    assert!(!play.seen.aborted && !play.guard.has_failed());
    assert_eq!(summary(&play.seen.bytes).last().unwrap(), "stop tool_use");
    let decided = &play.seen.records[1];
    assert_eq!(decided.id, play.seen.questions[0].record.id);
    assert_eq!(decided.answer, Some((Answer::Once, Duration::from_secs(7))));
    assert_eq!(decided.action, Action::Sent);
}

#[test]
fn every_answer_does_what_it_says() {
    #[track_caller]
    fn check(answer: Answer, sent: &[&str], asked: usize, said: &str) {
        for hold_all in [false, true] {
            let mut play = Play::new(judge(asking(hold_all)));
            // The second is the same once more, the third another.
            play.feed(message(&[PUSH, PUSH, "git push -f fork x"]).as_bytes());
            play.answer(answer);
            while play.guard.question().is_some() {
                play.answer(Answer::Deny);
            }
            assert_eq!(play.seen.sent(), sent, "{answer:?}, hold_all {hold_all}");
            assert_eq!(play.seen.questions.len(), asked, "{answer:?}");
            let text = play.seen.text();
            assert!(text.contains(said), "{text}");
            assert!(text.contains("message_stop"), "{text}");
        }
    }
    check(Answer::Once, &["call0"], 3, "said no");
    check(Answer::Session, &["call0", "call1"], 2, "said no");
    check(Answer::Rule, &["call0", "call1"], 2, "said no");
    check(Answer::Deny, &[], 3, "was asked about it and said no");
    check(Answer::Nobody, &[], 3, "nobody can be asked here");
    check(Answer::NoPin, &[], 3, "no PIN is set (`holdgate pin`");
    check(Answer::Timeout, &[], 3, "nobody answered in time");
}

#[test]
fn a_question_that_nobody_answers_is_a_refusal_in_time() {
    let mut play = Play::new(judge(asking(false)));
    play.feed(message(&[PUSH]).as_bytes());
    play.finish();
    let mut pings = 0;
    while let Some(due) = play.guard.next_deadline() {
        assert!(due > play.now, "a deadline that brings nothing would spin");
        assert!(due <= PATIENCE, "{due:?}");
        play.now = due;
        play.act(StreamGuard::tick);
        pings += 1;
    }
    assert_eq!(play.now, PATIENCE);
    assert!(pings >= 12, "the client is kept waiting");
    assert_eq!(play.seen.sent(), [""; 0]);
    let text = play.seen.text();
    assert!(text.contains("nobody answered in time"), "{text}");
    assert_eq!(
        play.seen.records[0].answer,
        Some((Answer::Timeout, PATIENCE))
    );
    assert_eq!(summary(&play.seen.bytes).last().unwrap(), "stop end_turn");
}

#[test]
fn an_upstream_that_forgets_its_last_event_changes_nothing() {
    let whole = message(&[PUSH]);
    let (cut, _) = whole.rsplit_once("event: message_stop").unwrap();
    let mut play = Play::new(judge(asking(false)));
    play.feed(cut.as_bytes());
    play.finish();
    assert!(play.guard.question().is_some());
    play.answer(Answer::Once);
    assert_eq!(play.seen.sent(), ["call0"]);
    let text = play.seen.text();
    assert!(text.ends_with("{\"type\":\"message_stop\"}\n\n"), "{text}");
}

#[test]
fn a_response_that_breaks_withdraws_its_question() {
    let whole = message(&[PUSH, "ls"]);
    let (half, _) = whole.split_once("text 1").unwrap();
    for hold_all in [false, true] {
        let mut play = Play::new(judge(asking(hold_all)));
        play.feed(half.as_bytes());
        assert_eq!(play.guard.question().is_some(), !hold_all);
        play.act(|guard, _, out| guard.cut("it broke", out));
        assert_eq!(play.guard.question(), None);
        assert_eq!(play.guard.next_deadline(), None);
        play.act(|guard, now, out| guard.answer("r-1", Answer::Once, now, out));
        assert_eq!(play.seen.sent(), [""; 0]);
    }
}

#[test]
fn a_message_that_is_not_streamed_asks_too() {
    let body = serde_json::json!({"type":"message","content":[
        {"type":"tool_use","id":"a","name":"Bash","input":{"command":PUSH}},
        {"type":"tool_use","id":"b","name":"Bash","input":{"command":"git push -f fork x"}},
    ],"stop_reason":"tool_use"})
    .to_string();
    let mut out = Vec::new();
    let judge = judge(asking(false));
    let mut guard = MessageGuard::new(judge, body.as_bytes(), &mut out).unwrap();
    for answer in [Answer::Once, Answer::Deny] {
        let progress = guard.advance(Duration::ZERO, &mut out).unwrap();
        assert_eq!(progress, Progress::Waiting);
        let progress = guard.advance(Duration::ZERO, &mut out).unwrap();
        assert_eq!(progress, Progress::Waiting, "it waits");
        guard.answer(answer, Duration::from_secs(1), &mut out);
    }
    let progress = guard.advance(Duration::ZERO, &mut out).unwrap();
    assert_eq!(progress, Progress::Decided);
    let sent = String::from_utf8(guard.finish().to_vec()).unwrap();
    let sent: serde_json::Value = serde_json::from_str(&sent).unwrap();
    let content = sent["content"].as_array().unwrap();
    let ids: Vec<_> = content.iter().filter_map(|b| b["id"].as_str()).collect();
    assert_eq!(ids, ["a"], "{sent}");
    assert!(sent.to_string().contains("said no"), "{sent}");
}

fn any_answer() -> impl Strategy<Value = Answer> {
    prop_oneof![
        Just(Answer::Once),
        Just(Answer::Session),
        Just(Answer::Rule),
        Just(Answer::Deny),
        Just(Answer::Timeout),
        Just(Answer::Nobody),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// However the bytes are cut and whenever the answers come: the same calls leave, in order, and
    /// none of those that were asked about without an approval.
    #[test]
    fn an_asked_call_never_leaves_before_an_answer(
        hold_all: bool,
        commands in prop::collection::vec(prop::sample::select(
            &["ls", PUSH, "git push -f fork x", "git push -f other y", "rm -rf ~"][..]), 1..5),
        answers in prop::collection::vec(any_answer(), 5),
        late in prop::collection::vec(0usize..40, 5),
        cuts in prop::collection::vec(0usize..4000, 0..40),
    ) {
        let whole = message(&commands);
        let run = |cuts: &[usize], late: &[usize]| {
            let mut play = Play::new(judge(asking(hold_all)));
            let (mut answers, mut late) = (answers.iter(), late.iter());
            let mut wait = None;
            for chunk in crate::guarding::chunks(whole.as_bytes(), cuts) {
                play.feed(chunk);
                while play.guard.question().is_some() {
                    let left = wait.get_or_insert_with(|| *late.next().unwrap());
                    if *left > 0 {
                        *left -= 1;
                        break;
                    }
                    wait = None;
                    play.answer(*answers.next().unwrap());
                }
                let id = play.guard.question().map(str::to_owned);
                if let Some(id) = id {
                    let asked = play.seen.questions.last().unwrap();
                    prop_assert_eq!(&asked.record.id, &id);
                    let holdgate_core::Subject::Call { call, .. } = &asked.record.subject
                    else { panic!("no call") };
                    prop_assert!(!play.seen.sent().contains(call.as_ref().unwrap()));
                }
            }
            play.finish();
            while play.guard.question().is_some() {
                play.answer(*answers.next().unwrap());
            }
            let decisions: Vec<_> = play.seen.records.iter()
                .map(|r| (r.id.clone(), r.action, r.answer.map(|(answer, _)| answer)))
                .collect();
            Ok((play.seen.bytes, decisions))
        };
        let (plain, decided) = run(&[], &[0; 5])?;
        let (cut, same) = run(&cuts, &late)?;
        prop_assert_eq!(String::from_utf8_lossy(&plain), String::from_utf8_lossy(&cut));
        prop_assert_eq!(&decided, &same);
        for (_, action, answer) in decided {
            let passed = answer.is_none_or(|answer| answer.approval().is_some());
            prop_assert!(action != Action::Sent || passed);
        }
    }
}
