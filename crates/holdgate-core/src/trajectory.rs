//! The trajectory of a conversation: what its calls do together. (Inspired by `TrajAD`.)
//!
//! Each call becomes a few abstract [`Action`]s with the paths that they are about. A `Trail`
//! follows them: an automaton that knows which file holds what, counters, and the end of the
//! security-relevant sequence, which a [`Model`] finds more or less surprising. Its size is bounded,
//! and a call costs the same however long the conversation is.

mod act;
mod action;
mod base;
mod case;
mod files;
mod kinds;
mod model;
mod ppm;
mod programs;
mod project;
mod shared;
mod sign;
mod trail;
mod walk;

pub(crate) use act::Act;
pub use action::Action;
pub use base::base;
pub use case::Family;
pub(crate) use case::{Case, Families};
pub(crate) use kinds::leads_out;
pub use model::{Broken, MAX_BYTES, Model};
pub use ppm::{Gram, Ppm};
pub use project::{Surprise, project, surprise};
pub use shared::SharedModels;
pub(crate) use sign::Combination;
pub use sign::{How, Sign};
pub(crate) use trail::{Ended, Trail};

/// What each effect of a call is, for tools that measure: `None` for what is no action.
pub fn actions(effects: &[holdgate_effects::effect::Effect]) -> Vec<Option<Action>> {
    effects.iter().map(act::action_of).collect()
}

#[cfg(test)]
mod tests;
