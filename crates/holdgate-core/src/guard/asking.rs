//! Calls that wait for their verdict, or for a person.

use super::hold::Waiting;
use super::ruling::Judged;
use super::sink::Sink;
use super::{JobDone, Output, StreamGuard, Unjudged};
use crate::answer::Answer;
use bytes::Bytes;
use std::collections::VecDeque;
use std::time::Duration;

/// How far the judging of a response has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// All calls that were handed to judging are decided.
    Decided,
    /// A verdict or a person's answer must come first.
    Waiting,
}

/// A question that is open.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) incident: String,
    /// Its call's place in the queue, which does not move while it is open.
    pub(super) at: usize,
    pub(super) deadline: Duration,
}

impl StreamGuard {
    /// Has the call at this place of the queue judged, if one is there; of an agent that makes very
    /// many, after a while.
    pub(super) fn judge_at(&mut self, at: usize, now: Duration, sink: &mut Sink<'_>) -> Progress {
        let wait = self
            .hold
            .call_at(at)
            .map(|held| self.ruling.slow_down(held, now));
        if let Some(wait) = wait.filter(|wait| !wait.is_zero()) {
            self.slowed = Some((at, now.saturating_add(wait)));
            return Progress::Waiting;
        }
        self.judge_now(at, now, sink)
    }

    /// A call that was slowed down has waited long enough.
    pub(super) fn go_on(&mut self, at: usize, now: Duration, out: &mut Vec<Output>) {
        self.slowed = None;
        let mut sink = Sink::new(&Bytes::new(), out);
        if self.judge_now(at, now, &mut sink) == Progress::Decided {
            self.release(now, &mut sink);
        }
        if sink.finish() {
            self.last_sent = now;
        }
    }

    fn judge_now(&mut self, at: usize, now: Duration, sink: &mut Sink<'_>) -> Progress {
        if let Some(call) = self.hold.take_call(at) {
            let judged = self.ruling.judge(call.held, (at, call.since), now, sink);
            self.put(judged);
        }
        self.progress()
    }

    /// Keeps a judgement in its call's place.
    fn put(&mut self, judged: Option<(usize, Judged)>) {
        let Some((at, judged)) = judged else {
            return;
        };
        if let Some((_, deadline)) = judged.question {
            let incident = judged.incident.clone();
            self.question = Some(Asked {
                incident,
                at,
                deadline,
            });
        }
        self.hold.put_judged(at, judged);
    }

    /// Takes the verdict of a [`Job`](super::Job), or why none will come: then the call is refused.
    /// A verdict that is no longer awaited has no effect.
    pub fn judged(
        &mut self,
        done: Result<JobDone, Unjudged>,
        now: Duration,
        out: &mut Vec<Output>,
    ) {
        let mut sink = Sink::new(&Bytes::new(), out);
        if let Some(judged) = self.ruling.judged(done, now, &mut sink) {
            self.put(Some(judged));
            self.release(now, &mut sink);
        }
        if sink.finish() {
            self.last_sent = now;
        }
    }

    /// Whether a verdict or an answer has to come before anything that is held can leave.
    pub fn is_waiting(&self) -> bool {
        self.progress() == Progress::Waiting
    }

    pub(super) fn progress(&self) -> Progress {
        if self.question.is_some() || self.slowed.is_some() || self.ruling.verdict_due().is_some() {
            Progress::Waiting
        } else {
            Progress::Decided
        }
    }

    /// Judges all calls that wait, before any leaves. Explanations go before the calls that stay.
    pub(super) fn judge_all(&mut self, now: Duration, sink: &mut Sink<'_>) -> Progress {
        let from = self.judged;
        for at in from..self.hold.len() {
            self.judged = at + 1;
            if self.judge_at(at, now, sink) == Progress::Waiting {
                return Progress::Waiting;
            }
        }
        let mut notices = VecDeque::new();
        let mut rest = VecDeque::new();
        for mut waiting in self.hold.take() {
            if let Waiting::Judged(judged, _) = &mut waiting
                && let Some((notice, envelope)) = judged.notice()
            {
                let envelope = envelope.clone();
                judged.notice_apart = true;
                notices.push_back(Waiting::Notice(notice, envelope));
            }
            rest.push_back(waiting);
        }
        notices.append(&mut rest);
        self.hold.put(notices);
        Progress::Decided
    }

    /// Takes the answer to the question about `incident`. An answer to a question that is not open
    /// has no effect.
    pub fn answer(&mut self, incident: &str, answer: Answer, now: Duration, out: &mut Vec<Output>) {
        let Some(asked) = self.question.take_if(|asked| asked.incident == incident) else {
            return;
        };
        let mut sink = Sink::new(&Bytes::new(), out);
        if let Some(judged) = self.hold.judged_at(asked.at) {
            self.ruling.answer(judged, answer, now, &mut sink);
        }
        self.release(now, &mut sink);
        if sink.finish() {
            self.last_sent = now;
        }
    }

    /// The incident of the question that is open.
    pub fn question(&self) -> Option<&str> {
        self.question.as_ref().map(|asked| asked.incident.as_str())
    }
}
