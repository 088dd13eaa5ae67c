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
//! `spec.rs` is a file as written; `compile.rs` and `condition.rs` make it ready, as `rule.rs` and
//! `when.rs`; `examples.rs` tries the examples; `report.rs` says what is wrong and where.

mod built_in;
mod compile;
mod condition;
mod examples;
mod report;
mod rule;
mod spec;
mod when;

use crate::action::Knowledge;
use crate::action::effect::Effect;
use crate::fuel::{Fuel, OutOfFuel};
use crate::verdict::{Finding, Verdict};
use condition::Trust;
pub use examples::{Tried, try_examples};
pub use report::{RuleError, RuleErrors, nearest};
pub use rule::{Example, Expect, Rule, Stage};
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};
use when::{Kinds, Met};

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

/// Rules, ready to match in one profile.
#[derive(Debug, Default)]
pub struct RuleSet {
    profile: Profile,
    rules: Arc<Vec<Rule>>,
}

impl RuleSet {
    /// The rules that are built in. Their examples were tried when Holdgate was built.
    pub fn built_in(profile: Profile) -> Result<Arc<RuleSet>, RuleErrors> {
        static RULES: LazyLock<Result<Arc<Vec<Rule>>, RuleErrors>> =
            LazyLock::new(|| read_all(built_in()).map(Arc::new));
        let rules = RULES.clone()?;
        Ok(Arc::new(RuleSet { profile, rules }))
    }

    /// The rules of these files alone: names and texts. Their examples are not tried.
    pub fn read(profile: Profile, files: &[(&str, &str)]) -> Result<Arc<RuleSet>, RuleErrors> {
        let rules = Arc::new(read_all(files.iter().map(|file| (*file, Trust::None)))?);
        Ok(Arc::new(RuleSet { profile, rules }))
    }

    /// The built-in rules and those of these files. Their examples are not tried.
    pub fn joined(profile: Profile, files: &[(&str, &str)]) -> Result<Arc<RuleSet>, RuleErrors> {
        let own = files.iter().map(|file| (*file, Trust::None));
        let rules = Arc::new(read_all(built_in().chain(own))?);
        Ok(Arc::new(RuleSet { profile, rules }))
    }

    /// The built-in rules and those of these files, whose examples must hold.
    pub fn load(
        profile: Profile,
        files: &[(&str, &str)],
        know: &Knowledge,
    ) -> Result<Arc<RuleSet>, RuleErrors> {
        let set = RuleSet::joined(profile, files)?;
        let own = |rule: &Rule| files.iter().any(|(name, _)| *name == rule.source.name);
        let tried = try_examples(&set, know, own);
        let errors: Vec<RuleError> = tried.into_iter().filter_map(|t| t.error).collect();
        if errors.is_empty() {
            Ok(set)
        } else {
            Err(RuleErrors(errors))
        }
    }

    /// The rules, in the order in which they were written.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// The profile that the rules are for.
    pub fn profile(&self) -> Profile {
        self.profile
    }

    /// The same rules in another profile.
    #[must_use]
    pub fn in_profile(&self, profile: Profile) -> RuleSet {
        RuleSet {
            profile,
            rules: self.rules.clone(),
        }
    }

    /// The rule with this name.
    pub fn rule(&self, id: &str) -> Option<&Rule> {
        self.rules.iter().find(|rule| rule.id == id)
    }

    /// What the rules say about a call with these effects: at most one finding of each rule.
    pub fn findings(&self, effects: &[Effect], fuel: &Fuel) -> Result<Vec<Finding>, OutOfFuel> {
        let present = Kinds::of(effects.iter().map(|effect| effect.kind));
        let mut findings = Vec::new();
        for rule in self.rules.iter() {
            if !rule.needs.meets(present) {
                continue;
            }
            let verdict = rule.verdict(self.profile);
            if verdict == Verdict::Allow {
                continue;
            }
            fuel.spend(1 + effects.len() as u64 / 16)?;
            if let Met::Yes(effect) = rule.when.met(effects, fuel)? {
                findings.push(rule.finding(verdict, effect));
            }
        }
        Ok(findings)
    }
}

type File<'a> = (&'a str, &'a str);

fn built_in<'a>() -> impl Iterator<Item = (File<'a>, Trust)> {
    let files = built_in::FILES.iter();
    files.map(|file| (*file, Trust::BuiltIn))
}

/// The rules of all files, no name twice.
fn read_all<'a>(files: impl Iterator<Item = (File<'a>, Trust)>) -> Result<Vec<Rule>, RuleErrors> {
    let (mut rules, mut errors) = (Vec::new(), Vec::new());
    for ((name, text), trust) in files {
        match compile::read(name, text, trust) {
            Ok(read) => rules.extend(read),
            Err(wrong) => errors.extend(wrong),
        }
    }
    let mut first: HashMap<&str, &Rule> = HashMap::new();
    for rule in &rules {
        if let Some(other) = first.insert(&rule.id, rule) {
            let what = format!(
                "there is a rule `{}` already, in {}: choose another name",
                rule.id,
                other.place()
            );
            errors.push(RuleError::new(&rule.source, rule.at, what));
        }
    }
    if errors.is_empty() {
        Ok(rules)
    } else {
        Err(RuleErrors(errors))
    }
}

#[cfg(test)]
mod tests;
