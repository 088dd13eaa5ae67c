//! Rules: data that says which effects are allowed, asked about or denied.
//!
//! A rule's `when` is a condition over the effects of one call:
//!
//! - A map is about **one effect**: all its keys hold for the same one. `any` in it holds if that
//!   effect meets one of the list, `not` if that effect does not meet it.
//! - `all: [A, B]` is about the **call**: some effect meets A and some effect, the same or another,
//!   meets B. In such a list, `{not: C}` means that no effect of the call meets C. `all` is
//!   the only key of its map, at the top, in another `all`, or in an `any` that is the only key, too.
//!
//! So `{effect: read, not: {path: {in: temp}}}` is "reads something that is not in temp", and
//! `all: [{effect: read}, {not: {path: {in: temp}}}]` is "reads something, and touches nothing in
//! temp".
//!
//! A rule can also depend on earlier calls: with `after` it applies only after something was done,
//! and REQUIRE needs something to be done `before`; see `timing.rs`. ALLOW hides the effects that
//! it matches from the policy's other rules, or from the rules that it names, also of the gate, but
//! never from the project's rules. `scope.rs` limits it to a project or a time.
//!
//! `spec.rs` is a file as written. `compile.rs` and `condition.rs` turn it into the types of
//! `rule.rs` and `when.rs`; `set.rs` is the set of all rules; `examples.rs` tries the examples;
//! `draft.rs` writes conditions;
//! `report.rs` reports errors with their position, `faults.rs` finds all of them in a file whose form
//! is wrong.

mod built_in;
mod compile;
mod condition;
pub mod draft;
mod examples;
mod faults;
mod file;
mod index;
mod lazy;
mod reach;
mod report;
mod rule;
mod scope;
mod set;
mod sets;
mod sign;
mod spec;
mod timing;
mod when;

pub use examples::{Tried, try_examples};
pub(crate) use file::{Entry, FileSpec};
pub(crate) use lazy::LazyRegex;
pub(crate) use report::{Mark, Report, Source};
pub use report::{RuleError, RuleErrors};
pub use rule::{Example, Expect, Rule, RuleLayer, Stage, Tier};
pub use set::{RuleFile, RuleSet};

use holdgate_effects::worded;

worded! {
    /// What kind of machine the agent works on.
    #[derive(Default)]
    pub enum Profile as "profile" {
        #[default]
        Workstation = "workstation": "A developer's own machine.",
        Container = "container": "A disposable machine.",
        Strict = "strict": "A machine where nobody can be asked, or where much is at stake.",
    }
}

#[cfg(test)]
mod policy_tests;
#[cfg(test)]
mod tests;
