//! A response that comes whole, without streaming.

use super::ruling::{Judged, Ruling};
use super::sink::Sink;
use super::{JobDone, Output, Progress, ResponseContext, Unjudged};
use crate::answer::Answer;
use crate::call::HeldCall;
use crate::canonical::Canonical;
use crate::event::Violation;
use crate::protocol::{GuardedMessage, ReadMessage};
use crate::text_actions::{self, TextActions};
use bytes::Bytes;
use std::time::Duration;

/// One whole response under guard.
#[derive(Debug)]
pub struct MessageGuard<'b> {
    ruling: Ruling,
    message: Message<'b>,
    /// The call that a person is asked about.
    asked: Option<Box<Judged>>,
    /// Whether its text may act, and has not been read yet.
    may_act: bool,
}

#[derive(Debug)]
enum Message<'b> {
    /// It holds no call.
    Inert(Canonical),
    /// The message, and its calls that are still to be judged.
    Calls(Box<dyn GuardedMessage + 'b>, std::vec::IntoIter<HeldCall>),
}

impl<'b> From<ReadMessage<'b>> for Message<'b> {
    fn from(read: ReadMessage<'b>) -> Self {
        match read {
            ReadMessage::Inert(body) => Message::Inert(body),
            ReadMessage::Calls(message, calls) => Message::Calls(message, calls.into_iter()),
        }
    }
}

impl<'b> MessageGuard<'b> {
    /// A guard for this body.
    pub fn new(
        judge: ResponseContext,
        body: &'b [u8],
        out: &mut Vec<Output>,
    ) -> Result<Self, Violation> {
        let read = judge.protocol.read_message(body, &judge.declared());
        let mut ruling = Ruling::new(judge);
        let message = match read {
            Ok(message) => message.into(),
            Err(violation) => {
                note(&mut ruling, &violation, out);
                return Err(violation);
            }
        };
        Ok(MessageGuard {
            may_act: ruling.judge.settings.text_actions != TextActions::Off,
            ruling,
            message,
            asked: None,
        })
    }

    /// Hands the judging out as [`Output::Judge`] instead of doing it at once.
    #[must_use]
    pub fn judging_apart(mut self) -> Self {
        self.ruling.apart = true;
        self
    }

    /// Judges on, until all calls are decided, or a person is asked or a verdict is awaited.
    pub fn advance(&mut self, now: Duration, out: &mut Vec<Output>) -> Result<Progress, Violation> {
        while self.asked.is_none() && self.ruling.verdict_due().is_none() {
            let next = match &mut self.message {
                Message::Inert(_) => None,
                Message::Calls(_, calls) => calls.next(),
            };
            let Some(mut held) = next else {
                if std::mem::take(&mut self.may_act) {
                    self.read_text(out)?;
                    continue;
                }
                return Ok(Progress::Decided);
            };
            if let Err(violation) = self.ruling.admit(&mut held) {
                note(&mut self.ruling, &violation, out);
                return Err(violation);
            }
            let mut sink = Sink::new(&Bytes::new(), out);
            let judged = self.ruling.judge(held, (0, now), now, &mut sink);
            self.put(judged);
        }
        Ok(Progress::Waiting)
    }

    /// All calls are decided: what the text of the message does comes next.
    fn read_text(&mut self, out: &mut Vec<Output>) -> Result<(), Violation> {
        let none = Message::Inert(Canonical::default());
        let body = match std::mem::replace(&mut self.message, none) {
            Message::Inert(body) => body,
            Message::Calls(message, _) => message.finish(),
        };
        let judge = &self.ruling.judge;
        match text_actions::message(judge.protocol, body, &judge.response_id) {
            Ok(message) => self.message = message.into(),
            Err(violation) => {
                note(&mut self.ruling, &violation, out);
                return Err(violation);
            }
        }
        Ok(())
    }

    /// Takes the verdict of a [`Job`](super::Job), or why none will come: then the call is refused.
    pub fn judged(
        &mut self,
        done: Result<JobDone, Unjudged>,
        now: Duration,
        out: &mut Vec<Output>,
    ) {
        let mut sink = Sink::new(&Bytes::new(), out);
        let judged = self.ruling.judged(done, now, &mut sink);
        self.put(judged);
    }

    /// Until when a verdict is awaited, if one is.
    pub fn verdict_due(&self) -> Option<Duration> {
        self.ruling.verdict_due()
    }

    fn put(&mut self, judged: Option<(usize, Judged)>) {
        match judged {
            Some((_, judged)) if judged.question.is_some() => self.asked = Some(Box::new(judged)),
            Some((_, judged)) => self.write(&judged),
            None => {}
        }
    }

    fn write(&mut self, judged: &Judged) {
        let Message::Calls(message, _) = &mut self.message else {
            return;
        };
        match &judged.judgement.outcome {
            Ok(cleared) => message.call(cleared),
            Err(refusal) => {
                let notice = judged.notice().map(|(text, _)| text).unwrap_or_default();
                message.refusal(refusal, notice, judged.inert_call.clone());
            }
        }
    }

    /// The incident of the question that is open, and until when.
    pub fn question(&self) -> Option<(&str, Duration)> {
        let asked = self.asked.as_ref()?;
        Some((&asked.incident, asked.question?.1))
    }

    /// Takes the answer to the question that is open.
    pub fn answer(&mut self, answer: Answer, now: Duration, out: &mut Vec<Output>) {
        if let Some(mut judged) = self.asked.take() {
            let mut sink = Sink::new(&Bytes::new(), out);
            self.ruling.answer(&mut judged, answer, now, &mut sink);
            self.write(&judged);
        }
    }

    /// The body to send, once all calls are decided.
    pub fn finish(self) -> Canonical {
        match self.message {
            Message::Inert(body) => body,
            Message::Calls(message, _) => message.finish(),
        }
    }
}

fn note(ruling: &mut Ruling, violation: &Violation, out: &mut Vec<Output>) {
    let record = ruling.stream_record("stream-protocol", &violation.to_string());
    out.push(Output::Record(Box::new(record)));
}

/// Guards one response that is not streamed, where nobody can be asked.
pub fn guard_message(
    judge: ResponseContext,
    body: &[u8],
    now: Duration,
    out: &mut Vec<Output>,
) -> Result<Canonical, Violation> {
    let mut guard = MessageGuard::new(judge, body, out)?;
    while guard.advance(now, out)? == Progress::Waiting {
        guard.answer(Answer::Nobody, now, out);
    }
    Ok(guard.finish())
}
