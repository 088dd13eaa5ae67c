//! Rules: data that says which effects are allowed, asked about or denied.
//!
//! A rule's `when` is a condition over the effects of one call:
//!
//! - A map speaks of **one effect**: all its keys hold for the same one. `any` in it holds if that
//!   effect meets one of the list, `not` if that effect does not meet it.
//! - `all: [A, B]` speaks of the **call**: some effect meets A and some effect, the same or another,
//!   meets B. In such a list, `{not: C}` means that no effect of the call meets C. `all` stands
//!   alone in its map, at the top, in another `all`, or in an `any` that stands alone there.
//!
//! So `{effect: read, not: {path: {in: temp}}}` is "reads something that is not in temp", and
//! `all: [{effect: read}, {not: {path: {in: temp}}}]` is "reads something, and touches nothing in
//! temp".
//!
//! A rule may look back on the conversation, too: `after` what was done it speaks, what must be done
//! `before` a REQUIRE asks for; `timing.rs` does that. ALLOW takes the effects that it speaks of out
//! of the sight of the policy's other rules, but never out of the gate's or the project's.
//!
//! `spec.rs` is a file as written; `compile.rs` and `condition.rs` make it ready, as `rule.rs` and
//! `when.rs`; `set.rs` holds them together; `examples.rs` tries the examples; `report.rs` says what is wrong and where.

mod built_in;
mod compile;
mod condition;
mod examples;
mod file;
mod index;
mod reach;
mod report;
mod rule;
mod set;
mod spec;
mod timing;
mod when;

pub(crate) use condition::is_name;
pub use examples::{Tried, try_examples};
pub(crate) use file::{Entry, FileSpec};
pub(crate) use report::{Mark, Source};
pub use report::{RuleError, RuleErrors};
pub use rule::{Example, Expect, Rule, RuleLayer, Stage, Tier};
pub use set::{RuleFile, RuleSet};

/// What kind of machine the agent works on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Profile {
    /// A developer's own.
    #[default]
    Workstation,
    /// One that can be thrown away.
    Container,
    /// One where nobody is asked and much is at stake.
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

#[cfg(test)]
mod policy_tests;
#[cfg(test)]
mod tests;
