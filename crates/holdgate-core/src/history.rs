//! The history: calls of the conversation before the one that is judged.
//!
//! It contains only calls whose result has come back, so the same conversation always gives the
//! same history.

use holdgate_effects::effect::{Effect, EffectKey, Kind, allocated};
use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

/// Steps that are kept; the oldest go first.
pub(crate) const MAX_STEPS: usize = 2_000;
/// Effects of one step that are kept: with more, only their kinds are.
const MAX_EFFECTS: usize = 512;
/// Bytes that the steps of one conversation keep together, the latest first.
const MAX_ALL_BYTES: usize = 48 << 20;

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
    /// What it did, or would have done. Empty if it was too much to keep, or is not known.
    pub effects: Vec<Effect>,
    /// The kinds of effects that it had, if they were too many to keep, or may have had, if that is
    /// not known.
    pub cut: Vec<Kind>,
    /// Whether it ran where the agent works, and not at the provider.
    pub local: bool,
    /// Distinguishes calls that share an id.
    pub(crate) digest: u64,
    /// About how many bytes it takes in memory.
    pub(crate) bytes: usize,
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
        for effect in &mut effects {
            effect.forget_content();
        }
        if effects.len() > MAX_EFFECTS {
            forget_repeated(&mut effects);
        }
        effects.shrink_to_fit();
        let mut step = Step {
            call: call.to_owned(),
            tool: tool.to_owned(),
            outcome,
            effects,
            cut: Vec::new(),
            local: true,
            digest: 0,
            bytes: 0,
        };
        if step.effects.len() > MAX_EFFECTS {
            step.cut();
        }
        step.weigh();
        step
    }

    fn weigh(&mut self) {
        let texts = allocated(self.call.capacity()) + allocated(self.tool.capacity());
        let mut before = None;
        let mut effects = 0;
        for effect in &self.effects {
            effects += effect.bytes(before);
            before = Some(effect);
        }
        // With the counters of its `Arc`, and its pointers in two lists.
        let own = allocated(size_of::<Step>() + 16) + 2 * size_of::<Arc<Step>>();
        self.bytes = own + texts + effects + allocated(self.cut.capacity());
    }

    /// A step that may have done anything.
    pub(crate) fn unknown(call: &str, tool: &str, outcome: Outcome) -> Self {
        let mut step = Step::new(call, tool, outcome, Vec::new());
        step.cut = Kind::ALL.to_vec();
        step.weigh();
        step
    }

    /// Keeps only the kinds of its effects.
    fn cut(&mut self) {
        for effect in std::mem::take(&mut self.effects) {
            if !self.cut.contains(&effect.kind) {
                self.cut.push(effect.kind);
            }
        }
        self.weigh();
    }
}

/// Of equal effects, keeps the last one: a search from the end finds it first.
fn forget_repeated(effects: &mut Vec<Effect>) {
    let mut known = HashSet::new();
    effects.reverse();
    effects.retain(|effect| known.insert((EffectKey::of(effect), effect.unconditional)));
    effects.reverse();
}

/// Keeps the effects of the latest steps as far as there is room, and only the kinds of older ones.
pub(crate) fn bound_effects(steps: &mut [Arc<Step>]) {
    let mut room = MAX_ALL_BYTES;
    for step in steps.iter_mut().rev() {
        match room.checked_sub(step.bytes) {
            Some(left) => room = left,
            None => Arc::make_mut(step).cut(),
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
