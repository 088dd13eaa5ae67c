//! What one message of a conversation says about calls.

use crate::call::{CallLimits, Executor, HeldCall};
use crate::history::{Outcome, SecretRoom, Step, UserText};
use crate::notice::{self, Refused};
use crate::request::{self, Mention, Request};
use crate::shown::Shown;
use holdgate_effects::effect::{Effect, Kind, allocated};
use holdgate_effects::fuel::Fuel;
use holdgate_effects::json::{Json, JsonError, LoneSurrogates};
use holdgate_effects::path::World;
use holdgate_effects::tag::Tag;
use holdgate_effects::{self, Knowledge};
use std::fmt::Debug;
use std::hash::{BuildHasher as _, RandomState};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// What is needed to interpret the calls of a conversation.
#[derive(Clone, Copy, Debug)]
pub struct CallReader<'a> {
    /// What is known about tools and programs.
    pub know: &'a Knowledge,
    /// Where the agent works.
    pub world: &'a World,
    /// The bounds on one call.
    pub limits: CallLimits,
    /// Units of work per call.
    pub fuel: u64,
    /// What may be kept.
    pub room: &'a dyn Room,
}

/// Counts the bytes that are kept.
pub trait Room: Debug {
    /// Whether this many more bytes may be kept. If not, they are not read: the calls may have done
    /// anything, and older messages are left out. An implementation that returns `false` has to
    /// refuse the request.
    fn take(&self, bytes: usize) -> bool;
}

/// Room without a limit.
#[derive(Clone, Copy, Debug)]
pub struct Unbounded;

impl Room for Unbounded {
    fn take(&self, _: usize) -> bool {
        true
    }
}

/// Something that a message says.
#[derive(Clone, Debug)]
pub(super) enum Part {
    /// It was made. The step is what it becomes if it succeeds.
    Call(Arc<Step>),
    /// It came to an end.
    Result {
        /// The call, or the name of its tool.
        call: String,
        /// Whether it belongs to the first call of that tool without a result.
        in_order: bool,
        /// Whether the tool reported an error.
        failed: bool,
        /// What it has shown; `None` until its call is known.
        shown: Option<Arc<Shown>>,
    },
    /// It was refused.
    Refused(Arc<Step>),
    /// The user said something.
    User(Arc<UserText>),
}

impl Part {
    pub(super) fn step(&self) -> Option<&Arc<Step>> {
        match self {
            Part::Call(step) | Part::Refused(step) => Some(step),
            Part::Result { .. } | Part::User(_) => None,
        }
    }

    pub(super) fn shown(&self) -> Option<&Shown> {
        match self {
            Part::Result { shown, .. } => shown.as_deref(),
            Part::Call(_) | Part::Refused(_) | Part::User(_) => None,
        }
    }

    /// Whether there is room for the secrets that it has shown.
    pub(super) fn fits(&self, room: &mut SecretRoom) -> bool {
        match self {
            Part::Result {
                shown: Some(shown), ..
            } => room.take(shown),
            Part::Result { shown: None, .. } | Part::Call(_) | Part::Refused(_) | Part::User(_) => {
                true
            }
        }
    }

    /// The same without the secrets that it has shown.
    pub(super) fn without_secrets(&self) -> Part {
        let mut part = self.clone();
        if let Part::Result {
            shown: Some(shown), ..
        } = &mut part
        {
            *shown = Arc::new(shown.without_secrets());
        }
        part
    }
}

/// About how many bytes these take in memory, their steps left out, with their place in the map of
/// messages.
pub(super) fn bytes(parts: &[Part]) -> usize {
    let own = match parts.len() {
        0 => 0,
        parts => allocated(parts * size_of::<Part>() + 16),
    };
    let texts = parts.iter().map(|part| match part {
        Part::Result { call, shown, .. } => {
            let share = |shown: &Arc<Shown>| shown.bytes() / Arc::strong_count(shown);
            allocated(call.capacity()) + shown.as_ref().map_or(0, share)
        }
        Part::User(said) => said.bytes(),
        Part::Call(_) | Part::Refused(_) => 0,
    });
    64 + own + texts.sum::<usize>()
}

impl CallReader<'_> {
    /// What `message` says about calls, in order. Only `room` calls are understood; the others may
    /// have done anything.
    pub(super) fn parts(
        &self,
        request: &Request,
        message: &[u8],
        room: &mut usize,
        keys: &RandomState,
    ) -> Result<Vec<Part>, JsonError> {
        let message = Json::read(message, request::MAX_DEPTH, LoneSurrogates::Replace)?;
        let mut parts = Vec::new();
        for mention in request.mentions(&message) {
            parts.extend(match mention {
                Mention::Text(text) => notice::read(text).map(refused),
                Mention::Call {
                    id, tool, input, ..
                } if notice::is_our_call(id, input.as_deref()) => {
                    let (id, tool) = (id.to_owned(), tool.into_owned());
                    Some(refused(Refused { id, tool }))
                }
                Mention::Call {
                    id,
                    tool,
                    runs,
                    input,
                } => {
                    let digest = keys.hash_one((&tool, &input));
                    let held =
                        HeldCall::new(runs, Some(id.to_owned()), Some(tool.to_string()), input);
                    Some(self.call((id, &tool), &held, digest, room))
                }
                Mention::Result {
                    call,
                    in_order,
                    failed,
                    ..
                } => Some(Part::Result {
                    call: call.to_owned(),
                    in_order,
                    failed,
                    shown: None,
                }),
                Mention::User(text) => Some(Part::User(Arc::new(UserText::new(text)))),
            });
        }
        Ok(parts)
    }

    /// What the results in `message` have shown, in order, as results of these steps.
    pub(super) fn shown(
        &self,
        request: &Request,
        message: &[u8],
        steps: &[Option<Arc<Step>>],
    ) -> Result<Vec<Option<Arc<Shown>>>, JsonError> {
        let message = Json::read(message, request::MAX_DEPTH, LoneSurrogates::Replace)?;
        let mentions = request.mentions(&message).into_iter();
        let results = mentions.filter_map(|mention| match mention {
            Mention::Result { texts, .. } => Some(texts),
            Mention::Call { .. } | Mention::Text(_) | Mention::User(_) => None,
        });
        let look = |(texts, step): (Vec<&str>, &Option<Arc<Step>>)| {
            let shown = Arc::new(step.as_ref()?.look(&texts));
            self.room.take(shown.bytes()).then_some(shown)
        };
        Ok(results.zip(steps).map(look).collect())
    }

    fn call(
        &self,
        (id, tool): (&str, &str),
        held: &HeldCall,
        digest: u64,
        room: &mut usize,
    ) -> Part {
        let effects = match room.checked_sub(1) {
            // If nothing more can be kept, calls are no longer interpreted.
            Some(left) if self.room.take(0) => {
                *room = left;
                self.effects(held)
            }
            Some(_) | None => None,
        };
        let step = effects.map(|effects| Step::new(id, tool, Outcome::Done, effects));
        let mut step = step
            .filter(|step| self.room.take(step.bytes))
            .unwrap_or_else(|| Step::unknown(id, tool, Outcome::Done));
        step.local = held.runs == Executor::AtClient;
        step.digest = digest;
        Part::Call(Arc::new(step))
    }

    /// The step that a call was, or `None` if that is not known.
    pub(crate) fn step(&self, held: &HeldCall, outcome: Outcome) -> Option<Step> {
        let effects = match outcome {
            Outcome::Refused => Vec::new(),
            Outcome::Done | Outcome::Failed => self.effects(held)?,
        };
        let (id, tool) = (held.id.as_deref()?, held.name.as_deref()?);
        Some(Step::new(id, tool, outcome, effects))
    }

    /// What the call did, if that is known. The guard refuses calls that cannot be read, but the
    /// conversation may have started without the guard.
    fn effects(&self, held: &HeldCall) -> Option<Vec<Effect>> {
        let read = || {
            let call = held.read(self.limits).ok()?;
            let fuel = Fuel::new(self.fuel);
            let effects =
                holdgate_effects::understand(call.invocation(), self.world, self.know, &fuel)
                    .ok()?;
            effects.iter().all(is_readable).then_some(effects)
        };
        catch_unwind(AssertUnwindSafe(read)).ok().flatten()
    }
}

/// A command with a syntax error is still read in pieces. Anything else unreadable was not read.
fn is_readable(effect: &Effect) -> bool {
    effect.kind != Kind::Unreadable || effect.is(Tag::Syntax)
}

fn refused(Refused { id, tool }: Refused) -> Part {
    let step = Step::new(&id, &tool, Outcome::Refused, Vec::new());
    Part::Refused(Arc::new(step))
}
