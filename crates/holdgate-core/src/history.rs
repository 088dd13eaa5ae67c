//! What the conversation shows to have been done: the calls before the one that is judged.
//!
//! Only calls whose result has come back are in it, so the same conversation gives the same history
//! to whoever reads it.

use crate::action::effect::Effect;
use std::collections::VecDeque;
use std::sync::Arc;

/// Steps that are kept; the oldest go first.
pub(crate) const MAX_STEPS: usize = 2_000;
/// Effects of one step that are kept.
const MAX_EFFECTS: usize = 64;

/// The finished calls of one conversation, oldest first.
#[derive(Clone, Debug, Default)]
pub struct History {
    steps: VecDeque<Arc<Step>>,
}

/// One finished call.
#[derive(Clone, Debug)]
pub struct Step {
    /// The call's id.
    pub call: String,
    /// The tool.
    pub tool: String,
    /// What became of it.
    pub outcome: Outcome,
    /// What it did, or would have done.
    pub effects: Vec<Effect>,
}

/// What became of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was carried out.
    Done,
    /// It was tried, and the tool reported an error.
    Failed,
    /// It was refused.
    Refused,
}

impl Step {
    /// A step with as much of its effects as later rules may ask about.
    pub fn new(call: &str, tool: &str, outcome: Outcome, mut effects: Vec<Effect>) -> Self {
        effects.truncate(MAX_EFFECTS);
        for effect in &mut effects {
            effect.forget_content();
        }
        Step {
            call: call.to_owned(),
            tool: tool.to_owned(),
            outcome,
            effects,
        }
    }
}

impl History {
    /// Adds what was done last.
    pub fn push(&mut self, step: Arc<Step>) {
        if self.steps.len() == MAX_STEPS {
            self.steps.pop_front();
        }
        self.steps.push_back(step);
    }

    /// The steps, oldest first.
    pub fn steps(&self) -> impl DoubleEndedIterator<Item = &Step> {
        self.steps.iter().map(Arc::as_ref)
    }

    /// How many steps there are.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether nothing has been done.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }
}
