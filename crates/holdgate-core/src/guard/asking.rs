//! Calls that a person has to decide about.

use super::sink::Sink;
use super::{Output, StreamGuard};
use crate::hold::{Waiting, WaitingCall};
use crate::question::Answer;
use bytes::Bytes;
use std::collections::VecDeque;
use std::time::Duration;

/// A question that is open.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) incident: String,
    /// Its call's place in the queue, which does not move while it is open.
    pub(super) at: usize,
    pub(super) deadline: Duration,
}

impl StreamGuard {
    /// Judges the call at this place of the queue, and tells whether a person is asked about it.
    pub(super) fn judge_at(&mut self, at: usize, now: Duration, sink: &mut Sink<'_>) -> bool {
        let ruling = &mut self.ruling;
        let judge = |call: WaitingCall| ruling.judge(call.held, call.since, now, sink);
        if let Some(judged) = self.hold.judge_at(at, judge)
            && let Some((_, deadline)) = judged.question
        {
            let incident = judged.incident.clone();
            self.question = Some(Asked {
                incident,
                at,
                deadline,
            });
        }
        self.question.is_some()
    }

    /// Judges all calls that wait, before any leaves, and tells whether all are decided.
    /// Explanations go before the calls that stay.
    pub(super) fn judge_set(&mut self, now: Duration, sink: &mut Sink<'_>) -> bool {
        let from = self.judged;
        for at in from..self.hold.len() {
            self.judged = at + 1;
            if self.judge_at(at, now, sink) {
                return false;
            }
        }
        let mut notices = VecDeque::new();
        let mut rest = VecDeque::new();
        for mut waiting in self.hold.take() {
            if let Waiting::Judged(judged, _) = &mut waiting
                && let Some(notice) = judged.split_notice()
            {
                notices.push_back(Waiting::Notice(notice));
            }
            rest.push_back(waiting);
        }
        notices.append(&mut rest);
        self.hold.put(notices);
        true
    }

    /// What a person says to the question about `incident`, or that nobody does. An answer to a
    /// question that is not open changes nothing.
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
