//! Guards that hand their judging out. Virtual time.

use crate::client::{calls, summary};
use crate::guarding::{Frames, Seen, all_scripted, judge, run, settings};
use crate::responses::{PUSH, message};
use bytes::Bytes;
use holdgate_core::{
    Action, Answer, GuardSettings, Job, MessageGuard, Output, Progress, StreamGuard, Unjudged,
};
use std::time::Duration;

/// A guard, what it said, and the call that it wants to have judged.
struct Play {
    guard: StreamGuard,
    seen: Seen,
    job: Option<Job>,
    now: Duration,
}

impl Play {
    fn new(settings: GuardSettings) -> Play {
        Play {
            guard: StreamGuard::new(judge(settings), Duration::ZERO).judging_apart(),
            seen: Seen::default(),
            job: None,
            now: Duration::ZERO,
        }
    }

    fn act(&mut self, act: impl FnOnce(&mut StreamGuard, Duration, &mut Vec<Output>)) {
        let mut outputs = Vec::new();
        act(&mut self.guard, self.now, &mut outputs);
        let mut rest = Vec::new();
        for output in outputs {
            if let Output::Judge(job) = output {
                assert!(self.job.replace(*job).is_none(), "one at a time");
            } else {
                rest.push(output);
            }
        }
        self.seen.take(&mut rest);
    }

    fn feed(&mut self, bytes: &[u8]) {
        let chunk = Bytes::copy_from_slice(bytes);
        self.act(|guard, now, out| guard.feed(chunk, now, out));
    }

    /// Judges all that is to be judged.
    fn judge(&mut self) {
        while let Some(job) = self.job.take() {
            self.act(|guard, now, out| guard.judged(job.run(), now, out));
        }
    }

    fn sent(&self) -> usize {
        calls(&self.seen.bytes).len()
    }
}

#[test]
fn frames_go_on_to_be_taken_in_while_a_call_is_judged() {
    let mut play = Play::new(settings());
    let text = message(&["ls", "pwd"]);
    play.feed(text.as_bytes());
    play.act(|guard, _, out| guard.finish(out));
    assert_eq!(play.sent(), 0);
    assert!(
        summary(&play.seen.bytes)
            .iter()
            .any(|s| s.contains("text 0"))
    );
    assert!(play.guard.is_waiting() && play.guard.is_over());

    play.now = Duration::from_secs(11);
    let silent = play.seen.bytes.len();
    // Even a verdict that is overdue comes in if it comes before the clock is looked at.
    play.judge();
    assert!(play.seen.bytes.len() > silent);
    assert_eq!(play.sent(), 2);
    assert!(!play.guard.is_waiting());
    let whole = run(settings(), &[text.as_bytes()]);
    assert_eq!(play.seen.bytes, whole.bytes);
    assert_eq!(play.seen.decisions(), whole.decisions());
}

#[test]
fn a_verdict_that_does_not_come_is_a_refusal_and_a_late_one_changes_nothing() {
    let mut play = Play::new(settings());
    play.feed(message(&["ls", "pwd"]).as_bytes());
    let late = play.job.take().unwrap();
    play.now = Duration::from_secs(4);
    play.act(StreamGuard::tick);
    assert!(play.guard.is_waiting(), "calls of others may come first");
    play.now = play.guard.next_deadline().unwrap();
    play.act(StreamGuard::tick);
    assert_eq!(play.seen.decisions(), ["judging-too-slow Explained"]);
    let next = play.job.take().unwrap();
    play.act(|guard, now, out| guard.judged(late.run(), now, out));
    assert_eq!(play.sent(), 0, "the refusal stands");
    play.act(|guard, now, out| guard.judged(next.run(), now, out));
    let sent = calls(&play.seen.bytes);
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0].id, "call1");
}

#[test]
fn a_call_that_cannot_be_judged_is_refused() {
    for (why, rule) in [
        (Unjudged::Crowded, "judging-overload Explained"),
        (Unjudged::Failed, "judging-failure Explained"),
    ] {
        let mut play = Play::new(settings());
        play.feed(message(&["ls"]).as_bytes());
        let job = play.job.take().unwrap();
        play.act(|guard, now, out| guard.judged(job.give_up(why), now, out));
        assert_eq!(play.sent(), 0);
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
        let mut play = Play::new(GuardSettings {
            ask: Some(Duration::from_mins(2)),
            hold_all,
            ..settings()
        });
        play.feed(message(&["ls", PUSH, "pwd"]).as_bytes());
        play.judge();
        let incident = play.guard.question().unwrap().to_owned();
        assert_eq!(play.sent(), usize::from(!hold_all));
        play.act(|guard, now, out| guard.answer(&incident, Answer::Once, now, out));
        play.judge();
        assert_eq!(play.sent(), 3);
    }
}

/// Frame by frame, with each verdict at once or all of them at the end.
fn play(settings: GuardSettings, frames: &Frames, at_once: bool) -> Play {
    let mut play = Play::new(settings);
    for frame in frames {
        play.feed(frame);
        if at_once {
            play.judge();
        }
    }
    play.act(|guard, _, out| guard.finish(out));
    play.judge();
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
                assert_eq!(calls(&late.seen.bytes).len(), calls(&inline.bytes).len());
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
                    guard.judged(job.run(), Duration::ZERO, &mut out);
                }
                Output::Judge(_) => guard.unjudged(Unjudged::Late, Duration::ZERO, &mut out),
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
