//! Guards that hand their judging out. Virtual time.

use crate::client::summary;
use crate::guarding::{Frames, Play, all_scripted, asking, judge, run, settings};
use crate::responses::{PUSH, message};
use holdgate_core::{
    Action, Answer, GuardSettings, MessageGuard, Output, Progress, StreamGuard, Unjudged,
};
use std::time::Duration;

/// A guard that hands its judging out.
fn apart(settings: GuardSettings) -> Play {
    let play = Play::new(judge(settings));
    Play {
        guard: play.guard.judging_apart(),
        ..play
    }
}

/// Judges all that is to be judged.
fn judge_all(play: &mut Play) {
    while let Some(job) = play.seen.job.take() {
        play.act(|guard, now, out| guard.judged(Ok(job.run()), now, out));
    }
}

#[test]
fn frames_go_on_to_be_taken_in_while_a_call_is_judged() {
    let mut play = apart(settings());
    let text = message(&["ls", "pwd"]);
    play.feed(text.as_bytes());
    play.finish();
    assert_eq!(play.seen.sent().len(), 0);
    assert!(
        summary(&play.seen.bytes)
            .iter()
            .any(|s| s.contains("text 0"))
    );
    assert!(play.guard.is_waiting() && play.guard.is_over());

    play.now = Duration::from_secs(11);
    let silent = play.seen.bytes.len();
    // Even a verdict that is overdue comes in if it comes before the clock is looked at.
    judge_all(&mut play);
    assert!(play.seen.bytes.len() > silent);
    assert_eq!(play.seen.sent().len(), 2);
    assert!(!play.guard.is_waiting());
    let whole = run(settings(), &[text.as_bytes()]);
    assert_eq!(play.seen.bytes, whole.bytes);
    assert_eq!(play.seen.decisions(), whole.decisions());
}

#[test]
fn a_verdict_that_does_not_come_is_a_refusal_and_a_late_one_changes_nothing() {
    let mut play = apart(settings());
    play.feed(message(&["ls", "pwd"]).as_bytes());
    let late = play.seen.job.take().unwrap();
    play.now = Duration::from_secs(4);
    play.act(StreamGuard::tick);
    assert!(play.guard.is_waiting(), "calls of others may come first");
    play.now = play.guard.next_deadline().unwrap();
    play.act(StreamGuard::tick);
    assert_eq!(play.seen.decisions(), ["judging-too-slow Explained"]);
    let next = play.seen.job.take().unwrap();
    play.act(|guard, now, out| guard.judged(Ok(late.run()), now, out));
    assert_eq!(play.seen.sent().len(), 0, "the refusal stands");
    play.act(|guard, now, out| guard.judged(Ok(next.run()), now, out));
    assert_eq!(play.seen.sent(), ["call1"]);
}

#[test]
fn a_call_that_cannot_be_judged_is_refused() {
    for (why, rule) in [
        (Unjudged::Crowded, "judging-overload Explained"),
        (Unjudged::Failed, "judging-failure Explained"),
    ] {
        let mut play = apart(settings());
        play.feed(message(&["ls"]).as_bytes());
        let job = play.seen.job.take().unwrap();
        play.act(|guard, now, out| guard.judged(Ok(job.give_up(why)), now, out));
        assert_eq!(play.seen.sent().len(), 0);
        assert_eq!(play.seen.decisions(), [rule]);
        assert_eq!(
            summary(&play.seen.bytes).last().unwrap(),
            "stop end_turn",
            "the message ends well"
        );
    }
}

#[test]
fn a_question_follows_the_verdict() {
    for hold_all in [false, true] {
        let mut play = apart(asking(hold_all));
        play.feed(message(&["ls", PUSH, "pwd"]).as_bytes());
        judge_all(&mut play);
        assert_eq!(play.seen.sent().len(), usize::from(!hold_all));
        play.answer(Answer::Once);
        judge_all(&mut play);
        assert_eq!(play.seen.sent().len(), 3);
    }
}

/// Frame by frame, with each verdict at once or all of them at the end.
fn play(settings: GuardSettings, frames: &Frames, at_once: bool) -> Play {
    let mut play = apart(settings);
    for frame in frames {
        play.feed(frame);
        if at_once {
            judge_all(&mut play);
        }
    }
    play.finish();
    judge_all(&mut play);
    play
}

#[test]
fn it_does_not_matter_where_a_call_is_judged() {
    for (name, frames) in all_scripted() {
        for hold_all in [false, true] {
            let settings = || GuardSettings {
                hold_all,
                ..settings()
            };
            let pieces: Vec<&[u8]> = frames.iter().map(Vec::as_slice).collect();
            let inline = run(settings(), &pieces);
            let apart = play(settings(), frames, true);
            assert_eq!(apart.seen.bytes, inline.bytes, "{name}");
            assert_eq!(apart.seen.decisions(), inline.decisions(), "{name}");

            let late = play(settings(), frames, false);
            let sent = late.seen.cleared();
            if late.guard.has_failed() {
                // What was not judged before the response broke is gone with it.
                let known = inline.cleared();
                assert!(sent.iter().all(|call| known.contains(call)), "{name}");
            } else {
                assert_eq!(sent, inline.cleared(), "{name}");
                assert_eq!(late.seen.sent(), inline.sent());
            }
        }
    }
}

#[test]
fn a_whole_message_waits_for_each_verdict() {
    let body = serde_json::json!({"id": "m", "type": "message", "role": "assistant",
    "content": [
        {"type": "tool_use", "id": "a", "name": "Bash", "input": {"command": "ls"}},
        {"type": "tool_use", "id": "b", "name": "Bash", "input": {"command": "pwd"}},
    ]})
    .to_string();
    let mut out = Vec::new();
    let guard = MessageGuard::new(judge(settings()), body.as_bytes(), &mut out).unwrap();
    let mut guard = guard.judging_apart();
    let mut records = Vec::new();
    let mut jobs = 0;
    while guard.advance(Duration::ZERO, &mut out).unwrap() == Progress::Waiting {
        for output in std::mem::take(&mut out) {
            match output {
                Output::Judge(job) if jobs == 0 => {
                    jobs += 1;
                    guard.judged(Ok(job.run()), Duration::ZERO, &mut out);
                }
                Output::Judge(_) => {
                    guard.judged(Err(Unjudged::Late), Duration::ZERO, &mut out);
                }
                Output::Record(record) => records.push(record.action),
                Output::Send(_) | Output::Ask(_) | Output::Abort => panic!("no such output"),
            }
        }
    }
    records.extend(out.into_iter().map(|output| match output {
        Output::Record(record) => record.action,
        Output::Send(_) | Output::Judge(_) | Output::Ask(_) | Output::Abort => {
            panic!("no such output")
        }
    }));
    assert_eq!(records, [Action::Sent, Action::Explained]);
    let sent = String::from_utf8(guard.finish().to_vec()).unwrap();
    assert!(sent.contains(r#""id":"a""#) && !sent.contains(r#""id":"b""#));
}
