//! A streamed response on its way to the client, under guard.
//!
//! The body is pulled by the client's connection: when the client does not read, nothing is read
//! from upstream either.

use super::App;
use bytes::Bytes;
use holdgate_core::guard::{Output, StreamGuard};
use holdgate_core::wire::anthropic;
use http_body_util::BodyExt as _;
use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::{Body as HttpBody, Frame, Incoming};
use std::collections::VecDeque;
use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::Sleep;

/// The body of whatever goes either way.
pub(crate) type Body = UnsyncBoxBody<Bytes, BoxError>;
pub(crate) type BoxError = Box<dyn Error + Send + Sync>;

/// A body that is there already.
pub(crate) fn full(bytes: impl Into<Bytes>) -> Body {
    let body = http_body_util::Full::new(bytes.into());
    body.map_err(|never| match never {}).boxed_unsync()
}

/// A streamed response under guard.
pub(crate) struct GuardedBody {
    app: Arc<App>,
    upstream: Incoming,
    guard: StreamGuard,
    outputs: Vec<Output>,
    ready: VecDeque<Bytes>,
    state: State,
    timer: Timer,
    last_read: Duration,
}

enum State {
    Open,
    /// What is ready is sent, then the body ends.
    Ending,
    /// The connection is broken off.
    Broken,
}

impl GuardedBody {
    pub(crate) fn new(app: Arc<App>, upstream: Incoming, guard: StreamGuard) -> Self {
        GuardedBody {
            last_read: app.now(),
            app,
            upstream,
            guard,
            outputs: Vec::new(),
            ready: VecDeque::new(),
            state: State::Open,
            timer: Timer::default(),
        }
    }

    /// Lets the guard act, and carries out what it wants.
    fn step(&mut self, act: impl FnOnce(&mut StreamGuard, Duration, &mut Vec<Output>)) {
        let now = self.app.now();
        let (guard, outputs) = (&mut self.guard, &mut self.outputs);
        if catch_unwind(AssertUnwindSafe(|| act(guard, now, outputs))).is_err() {
            // Nothing that the guard left half done may leave.
            self.outputs.clear();
            self.end("[holdgate] an internal error: the response cannot be judged");
            return;
        }
        for output in std::mem::take(&mut self.outputs) {
            match output {
                Output::Send(bytes) => self.ready.push_back(bytes),
                Output::Record(record) => {
                    if let Err(error) = self.app.ledger.append(&record) {
                        crate::log::warn(&format!("cannot write the ledger: {error}"));
                        self.end(&format!(
                            "[holdgate] the decision cannot be recorded, so nothing more is \
                             passed on: {error}"
                        ));
                        return;
                    }
                }
                Output::Abort => self.state = State::Broken,
            }
        }
        if self.guard.has_failed() && matches!(self.state, State::Open) {
            self.state = State::Ending;
        }
    }

    fn end(&mut self, message: &str) {
        self.ready.push_back(anthropic::error_event(message));
        self.state = State::Ending;
    }

    /// Nothing more comes from upstream.
    fn finish(&mut self) {
        if matches!(self.state, State::Open) {
            self.state = State::Ending;
        }
    }

    /// The time at which something is due though nothing comes from upstream.
    fn due(&self) -> Duration {
        let idle = self.last_read + self.app.config.proxy.idle_timeout;
        self.guard.next_deadline().map_or(idle, |due| due.min(idle))
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
                return Poll::Ready(Some(Ok(Frame::data(bytes))));
            }
            match this.state {
                State::Open => {}
                State::Ending => return Poll::Ready(None),
                State::Broken => return Poll::Ready(Some(Err("the upstream sent nothing".into()))),
            }
            match Pin::new(&mut this.upstream).poll_frame(context) {
                Poll::Ready(Some(Ok(frame))) => {
                    this.last_read = this.app.now();
                    // Trailers have no meaning in these protocols.
                    if let Ok(chunk) = frame.into_data() {
                        this.step(|guard, now, out| guard.feed(chunk, now, out));
                    }
                }
                Poll::Ready(Some(Err(error))) => {
                    let why = format!("the connection to the upstream broke: {error}");
                    this.step(|guard, _, out| guard.cut(&why, out));
                    this.finish();
                }
                Poll::Ready(None) => {
                    this.step(|guard, _, out| guard.finish(out));
                    this.finish();
                }
                Poll::Pending => {
                    let (now, due) = (this.app.now(), this.due());
                    if this.timer.poll(context, now, due).is_pending() {
                        return Poll::Pending;
                    }
                    let idle = this.app.config.proxy.idle_timeout;
                    if this.app.now().saturating_sub(this.last_read) >= idle {
                        let why = format!("the upstream sent nothing for {} s", idle.as_secs());
                        this.step(|guard, _, out| guard.cut(&why, out));
                        this.finish();
                    } else {
                        this.step(StreamGuard::tick);
                    }
                }
            }
        }
    }
}

/// A timer that is set anew for every event at no cost: it is moved only when it fires too early.
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
