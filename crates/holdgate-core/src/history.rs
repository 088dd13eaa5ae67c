//! The history: calls of the conversation before the one that is judged.
//!
//! It contains only calls whose result has come back, so the same conversation always gives the
//! same history.

mod inserted;

use crate::drift::Wander;
use crate::shown::{self, Names, Shown};
use crate::taint::{Secret, Table};
use crate::trajectory::{Act, Action, Ended, Sign, Trail};
use holdgate_effects::effect::{Effect, EffectKey, Kind, allocated};
use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, OnceLock};

mod scope;

/// Steps that are kept; the oldest go first.
pub(crate) const MAX_STEPS: usize = 2_000;
/// Effects of one step that are kept: with more, only their kinds are.
const MAX_EFFECTS: usize = 512;
/// Bytes that the steps of one conversation keep together, the latest first.
const MAX_ALL_BYTES: usize = 48 << 20;
/// Bytes of the secrets that the results of one session have shown, the latest first.
pub(crate) const MAX_SECRET_BYTES: usize = 64 << 10;
/// Actions of a conversation that are kept to be learned from.
const MAX_SEQUENCE: usize = 4 << 10;
/// The beginning of what the user said last.
const MAX_SAID: usize = 2 << 10;

/// The finished calls of one conversation, oldest first.
#[derive(Clone, Debug, Default)]
pub struct History {
    steps: VecDeque<Arc<Step>>,
    /// What the user said, in order.
    user: Vec<Arc<UserText>>,
    /// Whether a result holds what others wrote, and whether one holds what must not get around.
    external: bool,
    sensitive: bool,
    /// Whether one may hold that.
    suspect: bool,
    /// The secrets of all results, ready to be looked for.
    taint: OnceLock<Table>,
    /// What the steps did together.
    trail: Trail,
    /// What they did that is learned from.
    sequence: Vec<Action>,
    /// Where they have been.
    wander: Wander,
    /// How many steps were refused.
    refused: u32,
}

/// What the user said in one message.
#[derive(Debug)]
pub(crate) struct UserText {
    names: Names,
    /// Its beginning.
    text: Box<str>,
}

impl UserText {
    pub(crate) fn new(text: &str) -> Self {
        let text = inserted::typed(text);
        let end = text.floor_char_boundary(MAX_SAID);
        UserText {
            names: Names::of(std::iter::once(text.as_ref())),
            text: text.get(..end).unwrap_or_default().into(),
        }
    }

    /// About how many bytes it takes in memory.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<UserText>() + 16 + self.names.bytes() + allocated(self.text.len())
    }
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
    pub effects: Arc<Vec<Effect>>,
    /// The same as actions of a trajectory.
    pub(crate) acts: Arc<[Act]>,
    /// What its result has shown, if there was one.
    pub(crate) shown: Option<Arc<Shown>>,
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
        let acts = Act::all(&effects).into();
        if effects.len() > MAX_EFFECTS {
            forget_repeated(&mut effects);
        }
        effects.shrink_to_fit();
        let mut step = Step {
            call: call.to_owned(),
            tool: tool.to_owned(),
            outcome,
            effects: Arc::new(effects),
            acts,
            shown: None,
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

    /// The same, with what its result has shown.
    #[must_use]
    pub fn showing(mut self, texts: &[&str]) -> Self {
        self.shown = Some(Arc::new(self.look(texts)));
        self.weigh();
        self
    }

    /// What texts that it returns have shown.
    pub(crate) fn look(&self, texts: &[&str]) -> Shown {
        let external = shown::is_external(&self.effects, self.cut.is_empty(), self.local);
        Shown::of(texts, &self.effects, external)
    }

    /// The same with another outcome, and with what its result has shown.
    pub(crate) fn ended(&self, outcome: Outcome, shown: Option<Arc<Shown>>) -> Self {
        let mut step = self.clone();
        step.outcome = outcome;
        step.shown = shown;
        step.weigh();
        step
    }

    fn weigh(&mut self) {
        let texts = allocated(self.call.capacity()) + allocated(self.tool.capacity());
        let mut before = None;
        let mut effects = 0;
        for effect in self.effects.iter() {
            effects += effect.bytes(before);
            before = Some(effect);
        }
        // A call and its finished step share them.
        effects /= Arc::strong_count(&self.effects);
        let shown = self.shown.as_ref();
        let shown = shown.map_or(0, |shown| shown.bytes() / Arc::strong_count(shown));
        let acts = allocated(size_of_val(&*self.acts) + 16) / Arc::strong_count(&self.acts);
        // With the counters of its `Arc`, and its pointers in two lists.
        let own = allocated(size_of::<Step>() + 16) + 2 * size_of::<Arc<Step>>();
        self.bytes = own + texts + effects + acts + shown + allocated(self.cut.capacity());
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
        for effect in std::mem::take(&mut self.effects).iter() {
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

/// Keeps the secrets that the latest results have shown as far as there is room. Of older ones it is
/// only known that there were some.
pub(crate) fn bound_secrets(steps: &mut [Arc<Step>]) {
    keep_secrets(steps, &mut SecretRoom::default());
}

/// Room for the secrets of several conversations. What they share takes room once.
#[derive(Debug)]
pub(crate) struct SecretRoom {
    left: usize,
    kept: HashSet<*const Shown>,
}

impl Default for SecretRoom {
    fn default() -> Self {
        SecretRoom {
            left: MAX_SECRET_BYTES,
            kept: HashSet::new(),
        }
    }
}

impl SecretRoom {
    /// Whether there is room for the secrets of a result.
    pub(crate) fn take(&mut self, shown: &Arc<Shown>) -> bool {
        let bytes = shown.secret_bytes();
        if bytes == 0 || self.kept.contains(&Arc::as_ptr(shown)) {
            return true;
        }
        let Some(left) = self.left.checked_sub(bytes) else {
            return false;
        };
        self.left = left;
        self.kept.insert(Arc::as_ptr(shown))
    }
}

/// Keeps the secrets of the latest steps as far as there is `room`.
pub(crate) fn keep_secrets(steps: &mut [Arc<Step>], room: &mut SecretRoom) {
    for step in steps.iter_mut().rev() {
        let Some(shown) = &step.shown else { continue };
        if !room.take(shown) {
            let shown = Arc::new(shown.without_secrets());
            *step = Arc::new(step.ended(step.outcome, Some(shown)));
        }
    }
}

impl History {
    /// Adds what was done last.
    pub fn push(&mut self, step: Arc<Step>) {
        self.taint = OnceLock::new();
        if let Some(shown) = &step.shown {
            self.external |= shown.external;
            self.sensitive |= shown.is_sensitive();
            self.suspect |= shown.is_suspect();
        }
        let shown = step.shown.as_ref();
        let ended = Ended {
            ran: step.outcome != Outcome::Refused,
            shown: shown.is_some_and(|shown| shown.is_sensitive()),
            replaced: shown.is_some_and(|shown| shown.replaced),
            created: shown.is_some_and(|shown| shown.created),
        };
        self.refused = self.refused.saturating_add(u32::from(!ended.ran));
        if ended.ran {
            let (touched, folders) = self.touched(&step.effects);
            for folder in folders {
                self.wander.enter(folder);
            }
            self.wander.push(touched);
        }
        let learned = self.trail.take(&step.acts, ended);
        let room = MAX_SEQUENCE.saturating_sub(self.sequence.len());
        self.sequence.extend(learned.into_iter().take(room));
        if self.steps.len() == MAX_STEPS {
            self.steps.pop_front();
        }
        self.steps.push_back(step);
    }

    /// What the steps did together.
    pub(crate) fn trail(&self) -> &Trail {
        &self.trail
    }

    /// The step with a number of the trail, if it is still known.
    pub(crate) fn numbered(&self, number: u32) -> Option<&Step> {
        let ago = usize::try_from(self.trail.steps().checked_sub(number)?).ok()?;
        let at = self.steps.len().checked_sub(ago)?;
        self.steps.get(at).map(Arc::as_ref)
    }

    /// What the steps did, neutral actions and repetitions left out: what trajectories are learned
    /// from. `None` if one of them was refused.
    pub fn clean_sequence(&self) -> Option<&[Action]> {
        (self.refused == 0).then_some(self.sequence.as_slice())
    }

    /// What the steps did, neutral actions and repetitions left out.
    pub fn sequence(&self) -> &[Action] {
        &self.sequence
    }

    /// The signs of the steps, each with the number of the step that showed it first.
    pub fn signs(&self) -> &[(Sign, u32)] {
        self.trail.signs()
    }

    /// The steps, oldest first.
    pub fn steps(&self) -> impl DoubleEndedIterator<Item = &Step> {
        self.steps.iter().map(Arc::as_ref)
    }

    /// What results have shown, oldest first, each with its step.
    pub(crate) fn shown(&self) -> impl DoubleEndedIterator<Item = (&Step, &Shown)> {
        self.steps()
            .filter_map(|step| Some((step, step.shown.as_deref()?)))
    }

    /// The secrets that results have shown, oldest first.
    pub(crate) fn secrets(&self) -> impl Iterator<Item = (&Step, &Shown, &Secret)> {
        self.shown().flat_map(|(step, shown)| {
            let secrets = shown.secrets.iter();
            secrets.map(move |secret| (step, shown, secret))
        })
    }

    /// The same, ready to be looked for: numbered in this order.
    pub(crate) fn taint(&self) -> &Table {
        self.taint
            .get_or_init(|| Table::new(self.secrets().map(|(_, _, secret)| secret)))
    }

    /// Whether a result holds what others wrote.
    pub(crate) fn has_external(&self) -> bool {
        self.external
    }

    /// Whether a result holds what must not get around.
    pub(crate) fn has_sensitive(&self) -> bool {
        self.sensitive
    }

    /// Whether a result may hold what must not get around.
    pub(crate) fn is_suspect(&self) -> bool {
        self.suspect
    }

    /// Adds what the user said.
    pub(crate) fn hear(&mut self, said: Arc<UserText>) {
        self.user.push(said);
    }

    /// Whether the user has named something.
    pub(crate) fn user_named(&self, name: u32) -> bool {
        self.user.iter().any(|said| said.names.have(name))
    }

    /// What the user said, as far as it is kept, the latest first; `None` if nothing is known of it.
    pub fn user_said(&self) -> Option<impl Iterator<Item = &str>> {
        let said = self.user.iter().rev().map(|said| said.text.as_ref());
        (!self.user.is_empty()).then_some(said)
    }

    /// Whether the user has answered by a tool: that is not among the messages.
    pub(crate) fn has_answer(&self) -> bool {
        self.steps().any(|step| inserted::is_answer(&step.tool))
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
