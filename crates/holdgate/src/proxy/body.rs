//! A streamed response on its way to the client, under guard.
//!
//! The body is pulled by the client's connection: when the client does not read, nothing is read
//! from upstream either.

use super::App;
use super::asking::Asked;
use super::budget::StreamLoad;
use super::judge_first::{self, Opinion};
use super::judges::Awaited;
use super::records::Writing;
use crate::upstream::BoxError;
use bytes::Bytes;
use holdgate_core::{Answer, Canonical, JobDone, Output, Question, StreamGuard, Unjudged};
use hyper::body::{Body as HttpBody, Frame, Incoming};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::Sleep;

/// Why a stream ends that finds no room in the budget.
const NO_ROOM: &str = "the proxy has used up its memory budget";

/// A streamed response under guard.
pub(crate) struct GuardedBody {
    app: Arc<App>,
    upstream: Incoming,
    guard: StreamGuard,
    load: StreamLoad,
    /// What the guard wants and is not done yet.
    outputs: VecDeque<Output>,
    ready: VecDeque<Canonical>,
    ready_bytes: usize,
    state: State,
    timer: Timer,
    last_read: Duration,
    /// The decision that is being recorded. Meanwhile, nothing else is done.
    writing: Option<Writing>,
    /// The verdict that is awaited.
    verdict: Option<Awaited>,
    /// The question that is open.
    asked: Option<Asked>,
    /// The question that the judge thinks about.
    before_judge: Option<(Box<Question>, Opinion)>,
    upstream_done: bool,
}

enum State {
    Open,
    /// What is ready is sent, then the body ends.
    Ending,
    /// The connection is broken off.
    Broken,
}

impl GuardedBody {
    pub(crate) fn new(
        app: Arc<App>,
        upstream: Incoming,
        guard: StreamGuard,
        load: StreamLoad,
    ) -> Self {
        GuardedBody {
            last_read: app.now(),
            app,
            upstream,
            guard: guard.judging_apart(),
            load,
            outputs: VecDeque::new(),
            ready: VecDeque::new(),
            ready_bytes: 0,
            state: State::Open,
            timer: Timer::default(),
            writing: None,
            verdict: None,
            asked: None,
            before_judge: None,
            upstream_done: false,
        }
    }

    /// Lets the guard act, and carries out what it wants.
    fn step(&mut self, act: impl FnOnce(&mut StreamGuard, Duration, &mut Vec<Output>)) {
        self.act(act);
        self.carry_out();
    }

    /// Lets the guard act. What it wants is carried out after what it wanted before.
    fn act(&mut self, act: impl FnOnce(&mut StreamGuard, Duration, &mut Vec<Output>)) {
        let now = self.app.now();
        let mut outputs = Vec::new();
        let guard = &mut self.guard;
        if catch_unwind(AssertUnwindSafe(|| act(guard, now, &mut outputs))).is_err() {
            // Nothing that the guard left half done may leave.
            self.end("[holdgate] internal error: the response cannot be judged");
            return;
        }
        self.outputs.extend(outputs);
    }

    /// Carries out what the guard wants, up to a decision that has to be recorded first.
    fn carry_out(&mut self) {
        while self.writing.is_none() {
            let Some(output) = self.outputs.pop_front() else {
                return self.settle();
            };
            match output {
                Output::Send(bytes) => self.send(bytes),
                Output::Record(record) => self.writing = Some(self.app.records.write(record)),
                Output::Judge(job) => match self.app.judges.judge(job) {
                    Ok(awaited) => self.verdict = Some(awaited),
                    // A call that had no room among those that are judged.
                    Err(done) => self.act(|guard, now, out| guard.judged(Ok(done), now, out)),
                },
                Output::Ask(question) => self.ask(question),
                Output::Abort => self.state = State::Broken,
            }
        }
    }

    /// All that the guard wanted is done.
    fn settle(&mut self) {
        let open = self.guard.question();
        if let Some(asked) = self.asked.take_if(|asked| Some(asked.id()) != open) {
            asked.end(self.guard.has_failed());
        }
        // A question that is closed needs no opinion.
        self.before_judge
            .take_if(|(question, _)| Some(question.record.id.as_str()) != open);
        let over = self.guard.has_failed() || self.upstream_done && !self.guard.is_waiting();
        if over && matches!(self.state, State::Open) {
            self.state = State::Ending;
        }
    }

    /// A decision is recorded, or cannot be.
    fn recorded(&mut self, written: std::io::Result<()>) {
        self.writing = None;
        match written {
            Ok(()) => self.carry_out(),
            Err(error) => self.end(&format!(
                "[holdgate] the decision cannot be recorded, so the rest of the response is \
                 not passed on: {error}"
            )),
        }
    }

    /// Asks the judge, if it comes first, or a person.
    fn ask(&mut self, question: Box<Question>) {
        // A decision on the question before it has been recorded by now.
        if let Some(before) = self.asked.take() {
            before.end(false);
        }
        match judge_first::ask(&self.app, &question) {
            Some(opinion) => self.before_judge = Some((question, opinion)),
            None => self.ask_person(*question),
        }
    }

    /// The judge has answered: only what it finds safe passes.
    fn opined(&mut self, is_safe: bool) {
        let Some((question, _)) = self.before_judge.take() else {
            return;
        };
        self.last_read = self.app.now();
        if is_safe {
            let id = question.record.id.clone();
            self.act(|guard, now, out| guard.answer(&id, Answer::Judge, now, out));
        } else {
            self.ask_person(*question);
        }
        self.carry_out();
    }

    fn ask_person(&mut self, question: Question) {
        let id = question.record.id.clone();
        if let Some((asked, writing)) = Asked::ask(&self.app, question) {
            self.asked = Some(asked);
            self.writing = Some(writing);
        } else {
            let absent = self.app.asks.absent();
            self.act(|guard, now, out| guard.answer(&id, absent, now, out));
        }
    }

    /// Ends the body with an error; what the guard wanted is not done any more.
    fn end(&mut self, message: &str) {
        self.outputs.clear();
        self.send(self.guard.protocol().error_event(message));
        self.state = State::Ending;
    }

    fn send(&mut self, bytes: Canonical) {
        self.ready_bytes += bytes.len();
        self.ready.push_back(bytes);
    }

    /// Notes what is kept, with `sent`, which the client's connection has taken and may not have
    /// passed on yet.
    fn weigh(&mut self, sent: usize) {
        self.load.keeps(self.guard.kept(), self.ready_bytes + sent);
    }

    /// Nothing more comes from upstream. The response may still wait for a verdict or an answer.
    fn finish(&mut self, act: impl FnOnce(&mut StreamGuard, Duration, &mut Vec<Output>)) {
        self.upstream_done = true;
        self.step(act);
    }

    /// The time at which something is due though nothing comes from upstream. While a person
    /// thinks, or a call is judged, the upstream may be silent.
    fn due(&self) -> Duration {
        let idle = self.last_read + self.app.config.proxy.idle_timeout;
        match self.guard.next_deadline() {
            Some(due) if self.guard.is_waiting() => due,
            Some(due) => due.min(idle),
            None => idle,
        }
    }

    /// Something is due.
    fn tick(&mut self) {
        let now = self.app.now();
        let idle = self.app.config.proxy.idle_timeout;
        if let Some(asked) = &mut self.asked {
            let late = asked.deadline <= now;
            match late.then(|| asked.ticket.close()).flatten() {
                Some(answer) => self.answered(answer),
                None => self.step(StreamGuard::tick),
            }
        } else if !self.guard.is_waiting() && now.saturating_sub(self.last_read) >= idle {
            let why = format!("the upstream sent nothing for {} s", idle.as_secs());
            self.finish(|guard, _, out| guard.cut(&why, out));
        } else {
            self.step(StreamGuard::tick);
        }
    }

    /// A verdict has come, or it is known that none will.
    fn judged(&mut self, verdict: Option<JobDone>) {
        self.verdict = None;
        self.last_read = self.app.now();
        let verdict = verdict.ok_or(Unjudged::Failed);
        self.step(|guard, now, out| guard.judged(verdict, now, out));
    }

    /// A person has answered.
    fn answered(&mut self, answer: Answer) {
        let Some(asked) = self.asked.take() else {
            return;
        };
        self.last_read = self.app.now();
        let id = asked.id().to_owned();
        asked.end(false);
        self.step(|guard, now, out| guard.answer(&id, answer, now, out));
    }
}

impl HttpBody for GuardedBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = &mut *self;
        loop {
            if let Some(bytes) = this.ready.pop_front() {
                this.ready_bytes -= bytes.len();
                this.weigh(bytes.len());
                return Poll::Ready(Some(Ok(Frame::data(bytes.into()))));
            }
            if let Some(writing) = &mut this.writing {
                match Pin::new(writing).poll(context) {
                    Poll::Ready(written) => this.recorded(written),
                    Poll::Pending => return Poll::Pending,
                }
                continue;
            }
            match this.state {
                State::Open => {}
                State::Ending => return Poll::Ready(None),
                State::Broken => return Poll::Ready(Some(Err("the upstream sent nothing".into()))),
            }
            if let Some(verdict) = &mut this.verdict
                && let Poll::Ready(done) = Pin::new(verdict).poll(context)
            {
                this.judged(done.ok());
                continue;
            }
            if let Some((_, opinion)) = &mut this.before_judge
                && let Poll::Ready(is_safe) = opinion.as_mut().poll(context)
            {
                this.opined(is_safe);
                continue;
            }
            if let Some(asked) = &mut this.asked
                && let Poll::Ready(answer) = Pin::new(&mut asked.ticket).poll(context)
            {
                this.answered(answer);
                continue;
            }
            let polled = if this.upstream_done {
                Poll::Pending
            } else {
                Pin::new(&mut this.upstream).poll_frame(context)
            };
            match polled {
                Poll::Ready(Some(Ok(frame))) => {
                    this.last_read = this.app.now();
                    // Trailers have no meaning in these protocols.
                    if let Ok(chunk) = frame.into_data() {
                        if this.load.takes(&this.app, &chunk, this.guard.kept()) {
                            this.step(|guard, now, out| guard.feed(chunk, now, out));
                        } else {
                            this.finish(|guard, _, out| guard.stop(NO_ROOM, out));
                        }
                        this.weigh(0);
                    }
                }
                Poll::Ready(Some(Err(error))) => {
                    let why = format!("the connection to the upstream was lost: {error}");
                    this.finish(|guard, _, out| guard.cut(&why, out));
                }
                Poll::Ready(None) => {
                    this.finish(StreamGuard::finish);
                }
                Poll::Pending => {
                    let (now, due) = (this.app.now(), this.due());
                    if this.timer.poll(context, now, due).is_pending() {
                        return Poll::Pending;
                    }
                    this.tick();
                }
            }
        }
    }
}

/// A timer that is cheap to reset for every event: it is moved only when it fires too early.
#[derive(Default)]
struct Timer(Option<(Duration, Pin<Box<Sleep>>)>);

impl Timer {
    /// Ready when `due` has come. Both are times of the proxy's clock.
    fn poll(&mut self, context: &mut Context<'_>, now: Duration, due: Duration) -> Poll<()> {
        if due <= now {
            return Poll::Ready(());
        }
        loop {
            let start = || (due, Box::pin(tokio::time::sleep(due.saturating_sub(now))));
            let (set, sleep) = self.0.get_or_insert_with(start);
            if *set > due {
                self.0 = None;
            } else if sleep.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            } else {
                let early = *set < due;
                self.0 = None;
                if !early {
                    return Poll::Ready(());
                }
            }
        }
    }
}
