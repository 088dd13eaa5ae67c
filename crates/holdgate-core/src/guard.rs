//! One response under guard: the walk of a byte, from top to bottom.
//!
//! [`StreamGuard::feed`] takes a chunk from upstream. Text leaves in the same call, byte for byte.
//! A tool call is held until it is whole, judged, and written anew or replaced. What the shell has
//! to do comes out as [`Output`]s, in order.

mod asking;
mod ruling;
mod sink;
mod whole;

pub use whole::{MessageGuard, guard_message};

use crate::event::{Event, Part, Violation};
use crate::history::History;
use crate::hold::{Hold, Runs, Waiting};
use crate::incident::{Action, Record};
use crate::question::{Answer, Question};
use crate::request::RequestFacts;
use crate::session::SharedSession;
use crate::sse::{self, Decoder, Piece};
use crate::stack::Stack;
use crate::verdict::Verdict;
use crate::wire::anthropic::{self, Reader, Writer};
use asking::Asked;
use bytes::Bytes;
use ruling::{Judged, Ruling};
use sink::Sink;
use std::sync::Arc;
use std::time::Duration;

/// Events without meaning that one response may have.
const MAX_STRAYS: usize = 100;

/// What the shell has to do, in order.
#[derive(Debug)]
pub enum Output {
    /// Send these bytes to the client.
    Send(Bytes),
    /// Write this to the ledger. What follows must not leave before that is done.
    Record(Box<Record>),
    /// Ask a person, and tell [`StreamGuard::answer`] or [`MessageGuard::answer`] what was said. At
    /// most one question of a response is open at a time.
    Ask(Box<Question>),
    /// Break the connection off: nothing was sent that could be ended properly.
    Abort,
}

/// What stands in a refused call's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnBlock {
    /// A text.
    Explain,
    /// A text, and a call that cannot run, so that the agent's loop goes on.
    Continue,
}

/// How responses are guarded.
#[derive(Clone, Debug)]
pub struct GuardSettings {
    /// What stands in a refused call's place.
    pub on_block: OnBlock,
    /// Keep all calls of a message until its end, and release none before all are judged.
    pub hold_all: bool,
    /// The longest silence towards the client while a call is held.
    pub keep_alive: Duration,
    /// How long a person has to answer a question; `None` if nobody is asked.
    pub ask: Option<Duration>,
    /// Kinds of block that the operator has declared harmless.
    pub inert_blocks: Arc<[String]>,
    /// Bytes of one event.
    pub max_event_bytes: usize,
    /// Bytes held for one response.
    pub max_held_bytes: usize,
    /// Calls in one response.
    pub max_calls: usize,
}

/// Whose response it is, and what judges it.
#[derive(Clone, Debug)]
pub struct Judge {
    /// The layers.
    pub stack: Arc<Stack>,
    /// The agent's session.
    pub session: SharedSession,
    /// The finished calls of the conversation.
    pub history: Arc<History>,
    /// Whether the operator has lifted the gate for this request.
    pub expert: bool,
    /// The session's id, for records.
    pub session_id: String,
    /// This response's id: incidents are numbered below it.
    pub response_id: String,
    /// What the request told.
    pub request: Arc<RequestFacts>,
    /// How responses are guarded.
    pub settings: Arc<GuardSettings>,
}

/// One streamed response under guard.
#[derive(Debug)]
pub struct StreamGuard {
    ruling: Ruling,
    decoder: Decoder,
    reader: Reader,
    writer: Writer,
    hold: Hold<Judged>,
    state: State,
    seen_frame: bool,
    strays: usize,
    last_frame: Fate,
    /// When the client last got something.
    last_sent: Duration,
    /// The question that is open.
    question: Option<Asked>,
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

/// What became of a frame; the tail of its last line end shares it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Passed,
    Queued,
    Gone,
}

impl StreamGuard {
    /// A guard at the start of a response.
    pub fn new(judge: Judge, now: Duration) -> Self {
        StreamGuard {
            decoder: Decoder::new(judge.settings.max_event_bytes),
            reader: Reader::new(judge.settings.inert_blocks.clone()),
            writer: Writer::default(),
            hold: Hold::default(),
            state: State::Open,
            seen_frame: false,
            strays: 0,
            last_frame: Fate::Gone,
            last_sent: now,
            question: None,
            judged: 0,
            ruling: Ruling::new(judge),
        }
    }

    /// Takes a chunk from upstream.
    pub fn feed(&mut self, mut chunk: Bytes, now: Duration, out: &mut Vec<Output>) {
        let mut sink = Sink::new(&chunk, out);
        while !self.is_over() || self.decoder.awaits_tail() {
            let piece = match self.decoder.next(&mut chunk) {
                Ok(Some(Piece::Frame(_))) if self.is_over() => break,
                Ok(Some(piece)) => piece,
                Ok(None) => break,
                Err(error) => {
                    self.fail(&error.into(), &mut sink);
                    break;
                }
            };
            let taken = match piece {
                Piece::Frame(frame) => self.frame(frame, now, &mut sink),
                Piece::Tail(tail) => {
                    self.tail(tail, &mut sink);
                    Ok(())
                }
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
    fn frame(&mut self, frame: Bytes, now: Duration, sink: &mut Sink<'_>) -> Result<(), Violation> {
        let first = !std::mem::replace(&mut self.seen_frame, true);
        self.last_frame = Fate::Gone;
        let event = self.reader.read(&sse::fields(&frame, first)?)?;
        match event {
            Event::Free => {
                self.last_frame = Fate::Passed;
                sink.send(frame);
            }
            Event::Inert(part) => {
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
                    let sent = self.writer.inert(frame.clone(), part);
                    self.last_frame = if sent == frame {
                        Fate::Passed
                    } else {
                        Fate::Gone
                    };
                    sink.send(sent);
                } else {
                    self.last_frame = Fate::Queued;
                    self.hold.push_frame(&frame, part);
                    self.release(now, sink);
                }
            }
            Event::CallStart(block, mut held) => {
                self.ruling.admit(&mut held)?;
                self.hold.push_call(block, held, now);
            }
            Event::CallInput(block, fragment) => {
                let limits = self.ruling.judge.stack.call_limits();
                self.hold.with_open(block, |held| match fragment {
                    Ok(fragment) => held.push_input(&fragment, limits),
                    Err(fault) => held.fail(fault),
                });
            }
            Event::CallNoise => {}
            Event::CallEnd(block) => {
                self.hold.end(block);
                self.release(now, sink);
            }
            Event::UpstreamError => {
                if !self.hold.is_empty() {
                    let reason = "the upstream reported an error before the call was whole";
                    sink.record(self.ruling.stream_record("upstream-cut", reason));
                }
                self.state = State::Failed;
                self.let_go();
                sink.send(frame);
            }
            Event::Stray(what) => self.leave_out(what, sink)?,
        }
        if self.hold.bytes() > self.ruling.judge.settings.max_held_bytes {
            return Err("more is held for one response than its limit allows".into());
        }
        Ok(())
    }

    /// A frame that is not passed on. Recorded once: there may be many.
    fn leave_out(&mut self, what: &'static str, sink: &mut Sink<'_>) -> Result<(), Violation> {
        self.strays += 1;
        if self.strays > MAX_STRAYS {
            return Err("too many events that have no meaning where they stand".into());
        }
        if self.strays == 1 {
            let mut record = self.ruling.stream_record("stray-event", what);
            record.verdict = Verdict::Audit;
            record.action = Action::LeftOut;
            sink.record(record);
        }
        Ok(())
    }

    /// The LF that belongs to the frame before it.
    fn tail(&mut self, tail: Bytes, sink: &mut Sink<'_>) {
        match self.last_frame {
            Fate::Passed => sink.send(tail),
            Fate::Queued => {
                if let Some(raw) = self.hold.last_frame() {
                    *raw = Bytes::from([raw.as_ref(), tail.as_ref()].concat());
                } else {
                    sink.send(tail);
                }
            }
            Fate::Gone => {}
        }
    }

    /// Lets go what has become ready, in order.
    fn release(&mut self, now: Duration, sink: &mut Sink<'_>) {
        let hold_all = self.ruling.judge.settings.hold_all;
        let ended = self.state == State::Complete;
        if self.question.is_some() || hold_all && ended && !self.judge_set(now, sink) {
            return;
        }
        while let Some(next) = self.hold.front() {
            if let Waiting::Call(call) = next {
                let waits_for_end = hold_all && !ended && call.held.runs == Runs::AtClient;
                if !call.whole || waits_for_end || self.judge_at(0, now, sink) {
                    return;
                }
            }
            match self.hold.pop() {
                Some(Waiting::Frame(raw, part)) => sink.send(self.writer.inert(raw, part)),
                Some(Waiting::Judged(judged, _)) => self.write(&judged, sink),
                Some(Waiting::Notice(judged)) => self.write_notice(&judged, sink),
                Some(Waiting::Call(_)) | None => return,
            }
        }
    }

    fn write(&mut self, judged: &Judged, sink: &mut Sink<'_>) {
        match &judged.judgement.outcome {
            Ok(cleared) => sink.send(self.writer.call(cleared)),
            Err(refusal) => {
                if !judged.notice_apart {
                    self.write_notice(judged, sink);
                }
                if let Some(id) = &judged.inert_call {
                    sink.send(self.writer.inert_call(refusal, id));
                }
            }
        }
    }

    fn write_notice(&mut self, judged: &Judged, sink: &mut Sink<'_>) {
        if let Err(refusal) = &judged.judgement.outcome {
            let answer = judged.answer.map(|(answer, _)| answer);
            sink.send(self.writer.notice(refusal, &judged.incident, answer));
        }
    }

    /// The upstream has ended the body.
    pub fn finish(&mut self, out: &mut Vec<Output>) {
        let all_said = self.state == State::Ending && self.hold.is_empty();
        if all_said && !self.reader.is_mid_block() && !self.decoder.is_mid_frame() {
            // Only the very last event is missing, which some servers forget.
            self.state = State::Complete;
            out.push(Output::Send(anthropic::message_stop()));
            return;
        }
        let all_come = self.state == State::Ending && self.question.is_some();
        if all_come && !self.reader.is_mid_block() && !self.decoder.is_mid_frame() {
            // The same, behind a call that waits for an answer.
            self.state = State::Complete;
            let stop = anthropic::message_stop();
            self.hold.push_frame(&stop, Part::MessageStop);
            return;
        }
        self.cut(
            "the upstream ended the response in the middle of the message",
            out,
        );
    }

    /// The upstream cannot be read on, because of `why`. Loud: a client takes a quiet end for
    /// success.
    pub fn cut(&mut self, why: &str, out: &mut Vec<Output>) {
        if self.is_over() {
            return;
        }
        let mut sink = Sink::new(&Bytes::new(), out);
        sink.record(self.ruling.stream_record("upstream-cut", why));
        if self.seen_frame {
            sink.send(anthropic::error_event(&format!("[holdgate] {why}")));
            sink.finish();
        } else {
            // Without a first event, clients try again as they would without us.
            out.push(Output::Abort);
        }
        self.state = State::Failed;
        self.let_go();
    }

    /// Forgets all that waits. A question is no longer open.
    fn let_go(&mut self) {
        self.hold.take();
        self.question = None;
    }

    fn fail(&mut self, violation: &Violation, sink: &mut Sink<'_>) {
        sink.record(
            self.ruling
                .stream_record("stream-protocol", &violation.to_string()),
        );
        let message = format!(
            "[holdgate] The response was stopped, because what follows cannot be judged: \
             {violation}. No tool call after this point was passed on. (rule stream-protocol)"
        );
        sink.send(self.writer.failure(&message));
        self.last_frame = Fate::Gone;
        self.state = State::Failed;
        self.let_go();
    }

    /// When [`tick`](Self::tick) wants to be called, if nothing happens before.
    pub fn next_deadline(&self) -> Option<Duration> {
        let keep_alive = self.last_sent + self.ruling.judge.settings.keep_alive;
        match &self.question {
            Some(asked) => Some(keep_alive.min(asked.deadline)),
            None if self.hold.is_empty() || self.is_over() => None,
            None => Some(keep_alive),
        }
    }

    /// Keeps the client waiting while a call is held, and ends a question that nobody answers.
    pub fn tick(&mut self, now: Duration, out: &mut Vec<Output>) {
        let overdue = |asked: &&Asked| asked.deadline <= now;
        if let Some(asked) = self.question.as_ref().filter(overdue) {
            let incident = asked.incident.clone();
            self.answer(&incident, Answer::Timeout, now, out);
        } else if self.next_deadline().is_some_and(|due| due <= now) {
            out.push(Output::Send(anthropic::ping()));
            self.last_sent = now;
        }
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
        self.decoder.kept() + self.hold.bytes()
    }
}
