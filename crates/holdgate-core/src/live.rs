//! A session of which calls and results are shown one by one, as the hooks of clients do it, instead
//! of in a conversation.

use crate::call::HeldCall;
use crate::conversation::CallReader;
use crate::history::{History, Outcome, Step};
use crate::session::Session;
use crate::stack::{Context, Judgement, Stack, Tickets};
use crate::verdict::Finding;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

/// Calls whose result has not come yet.
const MAX_OPEN: usize = 256;
/// Bytes that the steps of one session keep, and those of its open calls.
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
    open_bytes: usize,
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
        self.open(Step::new(
            id,
            tool,
            Outcome::Done,
            judgement.effects.clone(),
        ));
    }

    fn open(&mut self, step: Step) {
        self.open_bytes += step.bytes;
        self.open.push_back(step);
        while (self.open.len() > MAX_OPEN || self.open_bytes > MAX_BYTES)
            && self.open.len() > 1
            && let Some(oldest) = self.open.pop_front()
        {
            self.open_bytes -= oldest.bytes;
        }
    }

    /// A call that another process has judged, and what became of it. One of which it is not known
    /// what it does is left out.
    pub fn recall(&mut self, held: &HeldCall, outcome: Outcome, reader: &CallReader<'_>) {
        if let Some(step) = reader.step(held, outcome) {
            self.push(step);
        }
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
        self.open_bytes -= step.bytes;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_without_results_take_no_more_room_than_those_with() {
        let mut live = LiveSession::default();
        let tool = "n".repeat(200_000);
        for number in 0..40 {
            let id = format!("c{number}");
            live.open(Step::new(&id, &tool, Outcome::Done, Vec::new()));
        }
        let open: usize = live.open.iter().map(|step| step.bytes).sum();
        assert!(open <= MAX_BYTES, "{open} bytes");
        assert_eq!(open, live.open_bytes);
        live.ended("c39", false, &[]);
        assert_eq!(live.history.len(), 1);
    }
}
