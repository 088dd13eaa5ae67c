//! Whole sequences: for learning, and for judging a session afterwards.

use super::action::Action;
use super::ppm::{Ending, Ppm};

/// The most surprising step of a sequence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Surprise {
    /// How surprising, in bits.
    pub bits: f64,
    /// Where in the sequence.
    pub at: usize,
}

/// The sequence without neutral actions and repetitions.
pub fn project(actions: &[Action]) -> Vec<Action> {
    let mut ending = Ending::default();
    let kept = |action: &&Action| !action.is_neutral() && ending.push(**action);
    actions.iter().filter(kept).copied().collect()
}

/// The most surprising step of a sequence; `None` if it has only neutral ones.
pub fn surprise(sequence: &[Action], base: &Ppm, own: Option<&Ppm>) -> Option<Surprise> {
    let mut ending = Ending::default();
    let mut most: Option<Surprise> = None;
    for (at, action) in sequence
        .iter()
        .enumerate()
        .filter(|(_, action)| !action.is_neutral())
    {
        if let Some(bits) = ending.surprise(*action, base, own)
            && most.is_none_or(|known| bits > known.bits)
        {
            most = Some(Surprise { bits, at });
        }
        ending.push(*action);
    }
    most
}
