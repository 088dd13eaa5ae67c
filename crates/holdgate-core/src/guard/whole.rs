//! A response that comes whole, without streaming.

use super::job::Away;
use super::ruling::{Judged, Ruling};
use super::sink::Sink;
use super::{JobDone, Judge, Output, Progress, Unjudged};
use crate::answer::Answer;
use crate::canonical::Canonical;
use crate::event::Violation;
use crate::stack::Judgement;
use crate::wire::anthropic::{self, Declared, GuardedMessage, MessageBlock, ReadMessage};
use bytes::Bytes;
use std::time::Duration;

/// One whole response under guard.
#[derive(Debug)]
pub struct MessageGuard<'b> {
    ruling: Ruling,
    message: Message<'b>,
    /// Whether the shell does the judging.
    apart: bool,
    /// The call that it judges now.
    away: Option<Away>,
    /// The call that a person is asked about.
    asked: Option<Box<Judged>>,
}

#[derive(Debug)]
enum Message<'b> {
    /// It holds no call.
    Inert(Canonical),
    /// The message, and what of it is still to be judged.
    Calls(GuardedMessage<'b>, std::vec::IntoIter<MessageBlock<'b>>),
}

impl<'b> MessageGuard<'b> {
    /// A guard for this body.
    pub fn new(judge: Judge, body: &'b [u8], out: &mut Vec<Output>) -> Result<Self, Violation> {
        let mut ruling = Ruling::new(judge);
        let declared = Declared {
            inert: ruling.judge.settings.inert_blocks.clone(),
            request: ruling.judge.request.clone(),
        };
        match anthropic::read_message(body, &declared) {
            Ok(read) => Ok(MessageGuard {
                ruling,
                message: match read {
                    ReadMessage::Inert(body) => Message::Inert(body),
                    ReadMessage::Calls(message, blocks) => {
                        Message::Calls(message, blocks.into_iter())
                    }
                },
                apart: false,
                away: None,
                asked: None,
            }),
            Err(violation) => {
                note(&mut ruling, &violation, out);
                Err(violation)
            }
        }
    }

    /// Hands the judging out as [`Output::Judge`] instead of doing it at once.
    #[must_use]
    pub fn judging_apart(mut self) -> Self {
        self.apart = true;
        self
    }

    /// Judges on, until all calls are decided, or a person is asked or a verdict is awaited.
    pub fn advance(&mut self, now: Duration, out: &mut Vec<Output>) -> Result<Progress, Violation> {
        while self.asked.is_none() && self.away.is_none() {
            let Message::Calls(message, blocks) = &mut self.message else {
                return Ok(Progress::Decided);
            };
            match blocks.next() {
                None => return Ok(Progress::Decided),
                Some(MessageBlock::Inert(block)) => message.inert(block),
                Some(MessageBlock::Call(mut held)) => {
                    if let Err(violation) = self.ruling.admit(&mut held) {
                        note(&mut self.ruling, &violation, out);
                        return Err(violation);
                    }
                    let job = self.ruling.job(held, now);
                    let away = Away::new(&job, 0, now);
                    if self.apart {
                        self.away = Some(away);
                        out.push(Output::Judge(Box::new(job)));
                    } else {
                        self.rule(away, job.run().judgement, now, out);
                    }
                }
            }
        }
        Ok(Progress::Waiting)
    }

    /// Takes the verdict of a [`Job`](super::Job).
    pub fn judged(&mut self, done: JobDone, now: Duration, out: &mut Vec<Output>) {
        let awaited = |away: &mut Away| away.number == done.number;
        if let Some(away) = self.away.take_if(awaited) {
            self.rule(away, done.judgement, now, out);
        }
    }

    /// No verdict will come for the call that is away: it is refused.
    pub fn unjudged(&mut self, why: Unjudged, now: Duration, out: &mut Vec<Output>) {
        if let Some(away) = self.away.take() {
            self.rule(away, Err(why), now, out);
        }
    }

    /// Until when a verdict is awaited, if one is.
    pub fn verdict_due(&self) -> Option<Duration> {
        self.away.as_ref().map(|away| away.deadline)
    }

    fn rule(
        &mut self,
        away: Away,
        judgement: Result<Box<Judgement>, Unjudged>,
        now: Duration,
        out: &mut Vec<Output>,
    ) {
        let mut sink = Sink::new(&Bytes::new(), out);
        let since = away.since;
        let judgement = away.judgement(judgement, &self.ruling.judge.session, now);
        let judged = self.ruling.rule(judgement, since, now, &mut sink);
        if judged.question.is_some() {
            self.asked = Some(Box::new(judged));
        } else if let Message::Calls(message, _) = &mut self.message {
            put_back(message, &judged);
        }
    }

    /// The incident of the question that is open, and until when.
    pub fn question(&self) -> Option<(&str, Duration)> {
        let asked = self.asked.as_ref()?;
        Some((&asked.incident, asked.question?.1))
    }

    /// What a person says to the question that is open, or that nobody does.
    pub fn answer(&mut self, answer: Answer, now: Duration, out: &mut Vec<Output>) {
        if let Some(mut judged) = self.asked.take()
            && let Message::Calls(message, _) = &mut self.message
        {
            let mut sink = Sink::new(&Bytes::new(), out);
            self.ruling.answer(&mut judged, answer, now, &mut sink);
            put_back(message, &judged);
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

fn put_back(message: &mut GuardedMessage<'_>, judged: &Judged) {
    match &judged.judgement.outcome {
        Ok(cleared) => message.call(cleared),
        Err(refusal) => {
            let answer = judged.answer.map(|(answer, _)| answer);
            message.refusal(refusal, &judged.incident, judged.inert_call.clone(), answer);
        }
    }
}

fn note(ruling: &mut Ruling, violation: &Violation, out: &mut Vec<Output>) {
    let record = ruling.stream_record("stream-protocol", &violation.to_string());
    out.push(Output::Record(Box::new(record)));
}

/// One whole response under guard, where nobody can be asked.
pub fn guard_message(
    judge: Judge,
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
