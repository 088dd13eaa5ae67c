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
//! `spec.rs` is a file as written, `compile.rs` and `condition.rs` make it ready, `when.rs` matches,
//! `examples.rs` tries the examples, `report.rs` says what is wrong and where.

mod built_in;
mod compile;
mod condition;
mod examples;
mod report;
mod spec;
mod when;

use crate::action::Knowledge;
use crate::action::effect::Effect;
use crate::fuel::{Fuel, OutOfFuel};
use crate::json::{Json, shorten};
use crate::verdict::{Finding, Verdict};
pub use examples::{Tried, try_examples};
use report::{Mark, Source};
pub use report::{RuleError, RuleErrors, nearest};
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};
use when::{Call, Kinds, Met};

/// The layer that the rules speak for.
const LAYER: &str = "gate";
/// Characters of evidence that a finding shows.
const MAX_EVIDENCE: usize = 300;

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

/// How far a rule has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// It does what it says.
    Stable,
    /// It only audits.
    Trial,
}

impl Stage {
    /// The word for it in rules.
    pub fn word(self) -> &'static str {
        match self {
            Stage::Stable => "stable",
            Stage::Trial => "trial",
        }
    }
}

/// One rule, ready to match.
#[derive(Debug)]
pub struct Rule {
    /// Its name, which reads well after "allow".
    pub id: String,
    /// The family that it belongs to.
    pub category: String,
    /// Why it is there, as a phrase.
    pub because: String,
    /// A safer way, as a phrase.
    pub instead: Option<String>,
    /// Where it stands in OWASP's list for agents.
    pub owasp: Vec<String>,
    /// How far it has come.
    pub stage: Stage,
    /// What it was tried on.
    pub examples: Vec<Example>,
    verdicts: compile::Verdicts,
    /// The profile that the examples are tried in.
    tried_in: Profile,
    when: Call,
    needs: Kinds,
    source: Arc<Source>,
    at: Mark,
    when_at: Mark,
    instead_at: Option<Mark>,
}

/// What must become of an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// The rule fires, and the call gets at least its verdict.
    Fire,
    /// The rule does not fire, and the call passes.
    Allow,
}

/// A call that a rule is tried on.
#[derive(Debug)]
pub struct Example {
    /// What must become of it.
    pub expect: Expect,
    /// The tool.
    pub tool: String,
    /// Its arguments.
    pub input: Json<'static>,
    at: Mark,
}

impl Example {
    /// The command, or the tool and its input.
    pub fn text(&self) -> String {
        match self.input.get("command").and_then(Json::as_str) {
            Some(command) if self.tool == "Bash" => command.to_owned(),
            _ => format!("{} {}", self.tool, self.input),
        }
    }
}

impl Rule {
    /// What it does in a profile: as written, or an audit while it is on trial.
    pub fn verdict(&self, profile: Profile) -> Verdict {
        let verdict = self.verdicts.in_profile(profile);
        match self.stage {
            Stage::Stable => verdict,
            Stage::Trial => verdict.min(Verdict::Audit),
        }
    }

    /// The word for what it does in a profile: `DENY`, `ASK`, `AUDIT` or `ALLOW`.
    pub fn word(&self, profile: Profile) -> &'static str {
        compile::word(self.verdicts.in_profile(profile))
    }

    /// The file and line where it stands.
    pub fn place(&self) -> String {
        format!("{}:{}", self.source.name, self.at.line)
    }

    /// Its condition as written.
    pub fn condition(&self) -> String {
        let lines: Vec<&str> = self.source.text.lines().collect();
        let starts = |n: &usize| {
            let line = lines.get(*n).map_or("", |line| line.trim_start());
            line.trim_start_matches("- ").starts_with("when:")
        };
        let Some(first) = (0..self.when_at.line).rev().find(starts) else {
            return String::new();
        };
        let indent = |line: &str| line.len() - line.trim_start_matches([' ', '-']).len();
        let own = lines.get(first).map_or(0, |line| indent(line));
        let below = lines.iter().skip(first + 1);
        let below = below.take_while(|line| line.trim().is_empty() || indent(line) > own);
        let all = lines.get(first).into_iter().chain(below);
        let cut = |line: &&str| line.get(own.min(line.len())..).unwrap_or(line).to_owned();
        all.map(cut)
            .collect::<Vec<_>>()
            .join("\n")
            .trim_end()
            .to_owned()
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
            LazyLock::new(|| read_all(built_in::FILES.iter().copied()).map(Arc::new));
        let rules = RULES.clone()?;
        Ok(Arc::new(RuleSet { profile, rules }))
    }

    /// The rules of these files alone: names and texts. Their examples are not tried.
    pub fn read(profile: Profile, files: &[(&str, &str)]) -> Result<Arc<RuleSet>, RuleErrors> {
        let rules = Arc::new(read_all(files.iter().copied())?);
        Ok(Arc::new(RuleSet { profile, rules }))
    }

    /// The built-in rules and those of these files. Their examples are not tried.
    pub fn joined(profile: Profile, files: &[(&str, &str)]) -> Result<Arc<RuleSet>, RuleErrors> {
        let all = built_in::FILES.iter().chain(files).copied();
        let rules = Arc::new(read_all(all)?);
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

impl Rule {
    fn finding(&self, verdict: Verdict, effect: Option<&Effect>) -> Finding {
        let evidence = effect.map(|effect| shorten(&effect.evidence, MAX_EVIDENCE));
        Finding {
            layer: LAYER,
            rule: self.id.clone().into(),
            verdict,
            reason: self.because.clone(),
            evidence: evidence.filter(|text| !text.is_empty()),
            instead: self.instead.clone().map(Into::into),
        }
    }
}

/// The rules of all files, no name twice.
fn read_all<'a>(files: impl Iterator<Item = (&'a str, &'a str)>) -> Result<Vec<Rule>, RuleErrors> {
    let (mut rules, mut errors) = (Vec::new(), Vec::new());
    for (name, text) in files {
        match compile::read(name, text) {
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
