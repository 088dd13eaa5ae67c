//! Judging as work that the shell can do elsewhere: it takes time, and may look at a disk.

use super::ResponseContext;
use crate::call::{Executor, HeldCall};
use crate::session::{self, SharedSession};
use crate::stack::{Context, Judgement, Refusal};
use crate::verdict::{Finding, LayerName};
use holdgate_effects::json::Json;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// How much longer than the time limit of judging a response waits for a verdict: calls of other
/// responses may come first.
pub(super) const GRACE: Duration = Duration::from_secs(5);

/// A call that is to be judged. At most one call of a response is judged at a time.
#[derive(Debug)]
pub struct Job {
    number: usize,
    held: HeldCall,
    judge: ResponseContext,
    now: Duration,
}

/// What came of a [`Job`].
#[derive(Debug)]
pub struct JobDone {
    pub(super) number: usize,
    pub(super) judgement: Result<Box<Judgement>, Unjudged>,
}

/// Why a call has no verdict. It is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unjudged {
    /// Too many calls of other responses wait for a verdict.
    Crowded,
    /// The verdict did not come in time.
    Late,
    /// Judging broke off.
    Failed,
}

impl Unjudged {
    fn finding(self) -> Finding {
        let (rule, reason) = match self {
            Unjudged::Crowded => (
                "judging-overload",
                "too many calls are waiting to be judged; try again later",
            ),
            Unjudged::Late => ("judging-too-slow", "there was no verdict in time"),
            Unjudged::Failed => ("judging-failure", "judging this call failed"),
        };
        Finding::block(LayerName::Stack, rule, reason)
    }
}

impl Job {
    pub(super) fn new(
        number: usize,
        held: HeldCall,
        judge: &ResponseContext,
        now: Duration,
    ) -> Self {
        Job {
            number,
            held,
            judge: judge.clone(),
            now,
        }
    }

    /// Judges the call. Does not panic.
    pub fn run(self) -> JobDone {
        let Job {
            number,
            held,
            judge,
            now,
        } = self;
        let said = held.said.clone();
        let context = Context {
            expert: judge.expert,
            said: &said,
            tickets: judge.tickets.as_deref(),
            agent: &judge.request.root,
            ..Context::new(&judge.history, now)
        };
        let judged = || Box::new(judge.stack.judge(held, &judge.session, &context));
        // A session only gets whole notes, so a panic leaves nothing half done.
        let judgement = catch_unwind(AssertUnwindSafe(judged)).map_err(|_| Unjudged::Failed);
        JobDone { number, judgement }
    }

    /// The call is not judged, because of `why`.
    pub fn give_up(self, why: Unjudged) -> JobDone {
        JobDone {
            number: self.number,
            judgement: Err(why),
        }
    }
}

/// A call whose [`Job`] is under way.
#[derive(Debug)]
pub(super) struct Away {
    pub(super) number: usize,
    /// Its place in the queue, which does not move meanwhile, and since when it waits there.
    pub(super) place: (usize, Duration),
    /// When it is refused if no verdict has come.
    pub(super) deadline: Duration,
    name: Option<String>,
    id: Option<String>,
    runs: Executor,
    envelope: Json<'static>,
    /// Which agent made it.
    agent: String,
}

impl Away {
    pub(super) fn new(job: &Job, place: (usize, Duration)) -> Self {
        Away {
            number: job.number,
            place,
            deadline: job.now + job.judge.stack.deadline() + GRACE,
            name: job.held.name.clone(),
            id: job.held.id.clone(),
            runs: job.held.runs.clone(),
            envelope: job.held.envelope.clone(),
            agent: job.judge.request.root.clone(),
        }
    }

    /// The judgement, which is a refusal if there is none.
    pub(super) fn judgement(
        self,
        judgement: Result<Box<Judgement>, Unjudged>,
        session: &SharedSession,
        now: Duration,
    ) -> Judgement {
        match judgement {
            Ok(judgement) => *judgement,
            Err(why) => {
                session::lock(session).note(None, false, &self.agent, now);
                let refusal = Refusal::unread(self.name, self.id, self.runs, why.finding());
                Judgement::refused(refusal.with_envelope(self.envelope), Duration::ZERO)
            }
        }
    }
}
