//! One response under guard: the walk of a byte, from top to bottom.
//!
//! [`StreamGuard::feed`] takes a chunk from upstream. Text is sent in the same call, in canonical
//! form, which most text already has. A tool call is held until it is complete, judged, and then
//! rewritten or replaced. The [`Output`]s say what the shell has to do, in order.

mod asking;
mod ending;
mod hold;
mod job;
mod ruling;
mod settings;
mod sink;
mod whole;

pub use asking::Progress;
pub use job::{Job, JobDone, Unjudged};
pub use settings::{GuardSettings, OnBlock, ResponseContext};
pub use whole::{MessageGuard, guard_message};

use crate::answer::Answer;
use crate::call::Executor;
use crate::canonical::Canonical;
use crate::event::{Event, Part, Violation};
use crate::framing::Decoder;
use crate::incident::{Action, Record};
use crate::protocol::{Protocol, Reader, Writer};
use crate::question::Question;
use crate::text_actions;
use crate::verdict::Verdict;
use asking::Asked;
use bytes::Bytes;
use hold::{Hold, Waiting};
use ruling::{Judged, Ruling};
use sink::Sink;
use std::time::Duration;

/// Stray events that one response may have.
const MAX_STRAYS: usize = 100;
/// After this time without output, a comment from upstream becomes a keep-alive for the client.
const QUIET: Duration = Duration::from_secs(1);

/// What the shell has to do, in order.
#[derive(Debug)]
pub enum Output {
    /// Send these bytes to the client.
    Send(Canonical),
    /// Write this to the ledger. What follows must not leave before that is done.
    Record(Box<Record>),
    /// Judge a call, and pass the result to [`StreamGuard::judged`] or [`MessageGuard::judged`].
    /// At most one call of a response is judged at a time.
    Judge(Box<Job>),
    /// Ask a person, and pass the answer to [`StreamGuard::answer`] or [`MessageGuard::answer`]. At
    /// most one question of a response is open at a time.
    Ask(Box<Question>),
    /// Close the connection: nothing was sent yet, so there is nothing to end properly.
    Abort,
}

/// One streamed response under guard.
#[derive(Debug)]
pub struct StreamGuard {
    ruling: Ruling,
    decoder: Decoder,
    reader: Box<dyn Reader>,
    writer: Box<dyn Writer>,
    /// What the last frame meant. Kept for its memory.
    events: Vec<Event>,
    hold: Hold,
    state: State,
    seen_frame: bool,
    strays: usize,
    /// When the client last got something.
    last_sent: Duration,
    /// The question that is open.
    question: Option<Asked>,
    /// The place of a call that waits to be judged, because the agent makes very many, and until when.
    slowed: Option<(usize, Duration)>,
    /// With `hold_all`, how far the calls of the finished message are judged.
    judged: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Open,
    /// The reason for the end has come.
    Ending,
    /// The message is complete; whatever follows is ignored.
    Complete,
    /// The stream was ended with an error.
    Failed,
}

impl StreamGuard {
    /// A guard at the start of a response.
    pub fn new(judge: ResponseContext, now: Duration) -> Self {
        let protocol = judge.protocol;
        let plain = (protocol.reader(judge.declared()), protocol.writer());
        let actions = judge.settings.text_actions;
        let (reader, writer) = text_actions::guarded(protocol, actions, &judge.response_id, plain);
        StreamGuard {
            decoder: protocol.framing().decoder(judge.settings.max_event_bytes),
            reader,
            writer,
            events: Vec::new(),
            hold: Hold::default(),
            state: State::Open,
            seen_frame: false,
            strays: 0,
            last_sent: now,
            question: None,
            slowed: None,
            judged: 0,
            ruling: Ruling::new(judge),
        }
    }

    /// Hands the judging out as [`Output::Judge`] instead of doing it immediately: threads that
    /// carry streams must not do slow work.
    #[must_use]
    pub fn judging_apart(mut self) -> Self {
        self.ruling.apart = true;
        self
    }

    /// Takes a chunk from upstream.
    pub fn feed(&mut self, mut chunk: Bytes, now: Duration, out: &mut Vec<Output>) {
        let mut sink = Sink::new(&chunk, out);
        while !self.is_over() {
            let taken = match self.decoder.next(&mut chunk) {
                Ok(Some(frame)) => self.frame(&frame, now, &mut sink),
                Ok(None) => break,
                Err(error) => Err(error.into()),
            };
            if let Err(violation) = taken {
                self.fail(&violation, &mut sink);
            }
        }
        if sink.finish() {
            self.last_sent = now;
        }
    }

    /// One frame: passed, queued behind a held call, or taken in.
    fn frame(&mut self, raw: &Bytes, now: Duration, sink: &mut Sink<'_>) -> Result<(), Violation> {
        let first = !std::mem::replace(&mut self.seen_frame, true);
        let framing = self.protocol().framing();
        let mut fields = framing.fields(raw, first)?;
        let mut events = std::mem::take(&mut self.events);
        self.reader.read(&fields, &mut events)?;
        fields.event = fields.event.filter(|_| self.protocol().names_frames());
        let canonical = || {
            let frame = framing.canonical(raw, &fields);
            frame.ok_or(Violation::Incomplete("an event has no data"))
        };
        for event in events.drain(..) {
            self.event(event, &canonical, now, sink)?;
        }
        self.events = events;
        if self.hold.bytes() + self.reader.kept() > self.ruling.judge.settings.max_held_bytes {
            return Err(Violation::TooMuch(
                "the response exceeds the limit on held data",
            ));
        }
        Ok(())
    }

    /// What a frame, or a part of it, leads to.
    fn event(
        &mut self,
        event: Event,
        frame: &impl Fn() -> Result<Canonical, Violation>,
        now: Duration,
        sink: &mut Sink<'_>,
    ) -> Result<(), Violation> {
        match event {
            Event::Silent => {
                if now.saturating_sub(self.last_sent) >= QUIET {
                    sink.send(self.keep_alive());
                }
            }
            Event::Ping => sink.send(frame()?),
            Event::Inert(part) => self.inert(frame()?, part, now, sink),
            Event::Piece(part, frame) => self.inert(frame, part, now, sink),
            Event::CallStart(block, mut held) => {
                self.ruling.admit(&mut held)?;
                self.hold.push_call(block, *held, now);
            }
            Event::CallInput(block, fragment) => {
                let limits = self.ruling.judge.stack.call_limits();
                self.hold.with_open(block, |held| match fragment {
                    Ok(fragment) => held.push_input(&fragment, limits),
                    Err(fault) => held.fail(fault),
                });
            }
            Event::CallAgain(block, input) => {
                let limits = self.ruling.judge.stack.call_limits();
                self.hold.with_open(block, |held| match input {
                    Ok(input) => held.repeat_input(&input, limits),
                    Err(fault) => held.fail(fault),
                });
            }
            Event::CallWhole(block, whole, input) => {
                self.hold
                    .with_open(block, |held| held.replace_with(*whole, &input));
            }
            Event::CallNoise => {}
            Event::CallEnd(block) => {
                self.hold.end(block);
                self.release(now, sink);
            }
            Event::UpstreamError => self.upstream_failed(frame()?, sink),
            Event::Failure(frame) => self.upstream_failed(frame, sink),
            Event::Stray(what) => self.leave_out(what, sink)?,
        }
        Ok(())
    }

    /// The upstream reports an error, which `frame` says.
    fn upstream_failed(&mut self, frame: Canonical, sink: &mut Sink<'_>) {
        if !self.hold.is_empty() {
            let reason = "the upstream reported an error before the call was whole";
            sink.record(self.ruling.stream_record("upstream-cut", reason));
        }
        self.state = State::Failed;
        self.let_go();
        sink.send(frame);
    }

    /// An inert frame: passed, or queued behind a held call.
    fn inert(&mut self, frame: Canonical, part: Part, now: Duration, sink: &mut Sink<'_>) {
        match part {
            Part::StopReason => self.state = State::Ending,
            Part::MessageStop => self.state = State::Complete,
            Part::MessageStart
            | Part::BlockStart(_)
            | Part::BlockMore(_)
            | Part::BlockStop(_)
            | Part::Other => {}
        }
        if self.hold.is_empty() {
            sink.send(self.writer.inert(frame, part));
        } else {
            self.hold.push_frame(&frame, part);
            self.release(now, sink);
        }
    }

    /// A frame that is not sent. Only the first one is recorded: there may be many.
    fn leave_out(&mut self, what: &'static str, sink: &mut Sink<'_>) -> Result<(), Violation> {
        self.strays += 1;
        if self.strays > MAX_STRAYS {
            return Err(Violation::TooMuch(
                "too many events without a meaning at their position",
            ));
        }
        if self.strays == 1 {
            let mut record = self.ruling.stream_record("stray-event", what);
            record.verdict = Verdict::Audit;
            record.action = Action::LeftOut;
            sink.record(record);
        }
        Ok(())
    }

    /// Sends what has become ready, in order.
    fn release(&mut self, now: Duration, sink: &mut Sink<'_>) {
        let hold_all = self.ruling.judge.settings.hold_all;
        let ended = self.state == State::Complete;
        let mut progress = self.progress();
        if hold_all && ended && progress == Progress::Decided {
            progress = self.judge_all(now, sink);
        }
        if progress == Progress::Waiting {
            return;
        }
        while let Some(next) = self.hold.front() {
            if let Waiting::Call(call) = next {
                let waits_for_end = hold_all && !ended && call.held.runs == Executor::AtClient;
                if !call.whole || waits_for_end || self.judge_at(0, now, sink) == Progress::Waiting
                {
                    return;
                }
            }
            match self.hold.pop() {
                Some(Waiting::Frame(raw, part)) => sink.send(self.writer.inert(raw, part)),
                Some(Waiting::Judged(judged, _)) => self.write(&judged, sink),
                Some(Waiting::Notice(text, of)) => sink.send(self.writer.notice(&text, &of)),
                Some(Waiting::Call(_) | Waiting::Away(_)) | None => return,
            }
        }
    }

    fn write(&mut self, judged: &Judged, sink: &mut Sink<'_>) {
        match &judged.judgement.outcome {
            Ok(cleared) => sink.send(self.writer.call(cleared)),
            Err(refusal) => {
                if let Some((notice, of)) = judged.notice().filter(|_| !judged.notice_apart) {
                    sink.send(self.writer.notice(&notice, of));
                }
                if let Some(id) = &judged.inert_call {
                    sink.send(self.writer.inert_call(refusal, id));
                }
            }
        }
    }

    /// When [`tick`](Self::tick) wants to be called, if nothing happens before.
    pub fn next_deadline(&self) -> Option<Duration> {
        let keep_alive = self.last_sent + self.ruling.judge.settings.keep_alive;
        if let Some((_, until)) = self.slowed {
            return Some(keep_alive.min(until));
        }
        match (&self.question, self.ruling.verdict_due()) {
            (Some(asked), _) => Some(keep_alive.min(asked.deadline)),
            (None, Some(due)) => Some(keep_alive.min(due)),
            (None, None) if self.hold.is_empty() || self.is_over() => None,
            (None, None) => Some(keep_alive),
        }
    }

    /// Sends a keep-alive while a call is held, and stops waiting for an overdue answer or verdict.
    pub fn tick(&mut self, now: Duration, out: &mut Vec<Output>) {
        if let Some((at, _)) = self.slowed.filter(|(_, until)| *until <= now) {
            return self.go_on(at, now, out);
        }
        if self.ruling.verdict_due().is_some_and(|due| due <= now) {
            return self.judged(Err(Unjudged::Late), now, out);
        }
        let overdue = |asked: &&Asked| asked.deadline <= now;
        if let Some(asked) = self.question.as_ref().filter(overdue) {
            let incident = asked.incident.clone();
            self.answer(&incident, Answer::Timeout, now, out);
        } else if self.next_deadline().is_some_and(|due| due <= now) {
            let mut sink = Sink::new(&Bytes::new(), out);
            sink.send(self.keep_alive());
            sink.finish();
            self.last_sent = now;
        }
    }

    /// The keep-alive of the protocol; empty if it has none.
    fn keep_alive(&mut self) -> Canonical {
        let numbered = self.writer.keep_alive();
        let keep_alive = numbered.or_else(|| self.protocol().keep_alive());
        keep_alive.unwrap_or_default()
    }

    /// How client and upstream talk to each other.
    pub fn protocol(&self) -> &'static dyn Protocol {
        self.ruling.judge.protocol
    }

    /// Whether nothing that comes from upstream matters any more.
    pub fn is_over(&self) -> bool {
        match self.state {
            State::Complete | State::Failed => true,
            State::Open | State::Ending => false,
        }
    }

    /// Whether the stream was ended with an error.
    pub fn has_failed(&self) -> bool {
        self.state == State::Failed
    }

    /// Bytes that are kept.
    pub fn kept(&self) -> usize {
        self.decoder.kept() + self.reader.kept() + self.hold.bytes()
    }
}
