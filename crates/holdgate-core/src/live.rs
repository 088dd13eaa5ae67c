//! A session of which calls and results are shown one by one, as the hooks of clients do it, instead
//! of in a conversation.

use crate::call::HeldCall;
use crate::history::{History, Outcome, Step};
use crate::session::Session;
use crate::stack::{Context, Judgement, Stack, Tickets};
use crate::verdict::Finding;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

/// Calls whose result has not come yet.
const MAX_OPEN: usize = 256;
/// Bytes that the steps of one session keep.
const MAX_BYTES: usize = 4 << 20;

/// One agent's session.
#[derive(Debug, Default)]
pub struct LiveSession {
    /// What the agent has done, as far as it is counted.
    pub session: Session,
    history: History,
    steps: VecDeque<Arc<Step>>,
    bytes: usize,
    open: VecDeque<Step>,
}

impl LiveSession {
    /// Judges the next call.
    pub fn judge(
        &mut self,
        stack: &Stack,
        held: HeldCall,
        (expert, tickets): (bool, Option<&dyn Tickets>),
        now: Duration,
    ) -> Judgement {
        let context = Context {
            expert,
            tickets,
            ..Context::new(&self.history, now)
        };
        stack.judge(held, &mut self.session, &context)
    }

    /// The call may run: it was cleared, or the client asks its user.
    pub fn begun(&mut self, judgement: &Judgement) {
        let Some((id, tool)) = named(judgement) else {
            return;
        };
        let step = Step::new(id, tool, Outcome::Done, judgement.effects.clone());
        if self.open.len() == MAX_OPEN {
            self.open.pop_front();
        }
        self.open.push_back(step);
    }

    /// The call does not run.
    pub fn refused(&mut self, judgement: &Judgement) {
        let Some((id, tool)) = named(judgement) else {
            return;
        };
        self.session.forget_traces(id);
        self.push(Step::new(id, tool, Outcome::Refused, Vec::new()));
    }

    /// The result of a call has come. Returns what it has shown that must not get around, with the
    /// names of tool and call. A call that was not judged here is left out.
    pub fn ended(
        &mut self,
        call: &str,
        failed: bool,
        texts: &[&str],
    ) -> Vec<(Finding, String, String)> {
        let at = self.open.iter().position(|step| step.call == call);
        let Some(mut step) = at.and_then(|at| self.open.remove(at)) else {
            return Vec::new();
        };
        if failed {
            step.outcome = Outcome::Failed;
        }
        self.push(step.showing(texts));
        self.session.new_shown(&self.history)
    }

    fn push(&mut self, step: Step) {
        let step = Arc::new(step);
        self.bytes += step.bytes;
        self.steps.push_back(step.clone());
        if self.bytes <= MAX_BYTES {
            self.history.push(step);
            return;
        }
        // The older half goes, and what it did is forgotten.
        while self.bytes > MAX_BYTES / 2
            && self.steps.len() > 1
            && let Some(old) = self.steps.pop_front()
        {
            self.bytes -= old.bytes;
        }
        self.history = History::default();
        for step in &self.steps {
            self.history.push(step.clone());
        }
    }
}

/// The id and the tool of the call, if they could be read.
fn named(judgement: &Judgement) -> Option<(&str, &str)> {
    match &judgement.outcome {
        Ok(cleared) => Some((&cleared.call().id, &cleared.call().name)),
        Err(refusal) => Some((refusal.id()?, refusal.tool()?)),
    }
}
