//! Rules: data that says which effects are allowed, asked about or denied.

use crate::action::effect::Effect;
use crate::fuel::{Fuel, OutOfFuel};
use crate::verdict::Finding;
use std::sync::Arc;

/// What kind of machine the agent works on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Profile {
    /// A developer's own.
    #[default]
    Workstation,
    /// One that can be thrown away.
    Container,
    /// Any, with nobody to ask and much to lose.
    Strict,
}

impl Profile {
    /// All profiles.
    pub const ALL: [Profile; 3] = [Profile::Workstation, Profile::Container, Profile::Strict];

    /// The word for it in rules, settings and on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Profile::Workstation => "workstation",
            Profile::Container => "container",
            Profile::Strict => "strict",
        }
    }

    /// The profile that `word` stands for.
    pub fn from_word(word: &str) -> Option<Self> {
        Profile::ALL.into_iter().find(|p| p.word() == word)
    }
}

/// Rules that cannot be used.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{0}")]
pub struct RuleErrors(String);

/// Rules, ready to match.
#[derive(Debug, Default)]
pub struct RuleSet {}

impl RuleSet {
    /// The rules that are built in.
    pub fn built_in(_profile: Profile) -> Result<Arc<RuleSet>, RuleErrors> {
        Ok(Arc::default())
    }

    /// What the rules say about a call with these effects.
    pub fn findings(&self, _effects: &[Effect], _fuel: &Fuel) -> Result<Vec<Finding>, OutOfFuel> {
        Ok(Vec::new())
    }
}
