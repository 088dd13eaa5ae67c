//! The built-in rules, the operator's and the project's, ready to match in one profile.

use super::compile::{self, Adjustment};
use super::index::Index;
use super::scope::Here;
use super::when::Met;
use super::{Profile, Rule, RuleError, RuleErrors, RuleLayer, Tier, built_in, try_examples};
use crate::history::History;
use crate::verdict::{Finding, Verdict};
use holdgate_effects::Knowledge;
use holdgate_effects::effect::Effect;
use holdgate_effects::fuel::{Fuel, OutOfFuel};
use holdgate_effects::tag::Tag;
use holdgate_effects::worded::suggestion;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};
use std::time::SystemTime;

/// The category of rules that nobody may switch off: without them, no other rule is safe.
const PROTECTED: &str = "self-protection";

/// A rule file.
#[derive(Clone, Copy, Debug)]
pub struct RuleFile<'a> {
    /// Its name, for errors.
    pub name: &'a str,
    /// Its content.
    pub text: &'a str,
    /// Where it comes from.
    pub tier: Tier,
    /// The layer that its rules belong to.
    pub layer: RuleLayer,
}

impl<'a> RuleFile<'a> {
    /// A file of the operator's.
    pub fn operator(name: &'a str, text: &'a str) -> Self {
        RuleFile {
            name,
            text,
            tier: Tier::Operator,
            layer: RuleLayer::Policy,
        }
    }

    /// A project's own file, which can only tighten.
    pub fn project(name: &'a str, text: &'a str) -> Self {
        RuleFile {
            tier: Tier::Project,
            ..RuleFile::operator(name, text)
        }
    }
}

/// Rules, ready to match in one profile.
#[derive(Clone, Debug, Default)]
pub struct RuleSet {
    profile: Profile,
    rules: Vec<Arc<Rule>>,
    index: Arc<Index>,
    /// Where and when they are used.
    here: Here,
}

impl RuleSet {
    /// The rules that are built in. Their examples were tried when Holdgate was built.
    pub fn built_in(profile: Profile) -> Result<Arc<RuleSet>, RuleErrors> {
        static RULES: LazyLock<Result<RuleSet, RuleErrors>> = LazyLock::new(|| {
            whole(RuleSet::new(
                Profile::default(),
                Vec::new(),
                built_in::FILES,
            ))
        });
        let set = RULES.as_ref().map_err(Clone::clone)?;
        Ok(Arc::new(set.in_profile(profile)))
    }

    /// These rules and the sound ones of these files, and what is wrong with the others.
    fn new(
        profile: Profile,
        known: Vec<Arc<Rule>>,
        files: &[RuleFile<'_>],
    ) -> (RuleSet, Vec<RuleError>) {
        let (rules, errors) = join(known, files);
        let set = RuleSet {
            profile,
            index: Arc::new(Index::of(&rules)),
            rules,
            here: Here::default(),
        };
        (set, errors)
    }

    /// The rules of these files alone. Their examples are not tried.
    pub fn read(profile: Profile, files: &[RuleFile<'_>]) -> Result<Arc<RuleSet>, RuleErrors> {
        whole(RuleSet::new(profile, Vec::new(), files)).map(Arc::new)
    }

    /// The built-in rules and those of these files. Their examples are not tried.
    pub fn joined(profile: Profile, files: &[RuleFile<'_>]) -> Result<Arc<RuleSet>, RuleErrors> {
        let known = RuleSet::built_in(profile)?.rules.clone();
        whole(RuleSet::new(profile, known, files)).map(Arc::new)
    }

    /// The built-in rules and those of these files, whose examples must hold.
    pub fn load(
        profile: Profile,
        files: &[RuleFile<'_>],
        know: &Knowledge,
    ) -> Result<Arc<RuleSet>, RuleErrors> {
        let known = &RuleSet::built_in(profile)?.rules;
        let (set, mut errors) = RuleSet::new(profile, known.clone(), files);
        for tier in [Tier::Operator, Tier::Project] {
            // An operator's example need not pass the rules of a project.
            let upto: Vec<_> = files.iter().copied().filter(|f| f.tier <= tier).collect();
            if upto.iter().any(|file| file.tier == tier) {
                // The sound rules are tried too if others are not: all errors are told at once.
                let (set, _) = RuleSet::new(profile, known.clone(), &upto);
                let tried = try_examples(&set, know, |rule| rule.tier == tier);
                errors.extend(tried.into_iter().filter_map(|t| t.error));
            }
        }
        whole((set, errors)).map(Arc::new)
    }

    /// The rules, in the order in which they were written.
    pub fn rules(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter().map(Arc::as_ref)
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
            ..self.clone()
        }
    }

    /// The same rules, used in this project at this time. In other sets, rules that allow something
    /// only in one project or for some time have no effect.
    #[must_use]
    pub fn used_in(&self, project: Option<&str>, now: SystemTime) -> RuleSet {
        self.used_at(Here {
            project: project.map(str::to_owned),
            now: Some(now),
        })
    }

    pub(super) fn used_at(&self, here: Here) -> RuleSet {
        RuleSet {
            here,
            ..self.clone()
        }
    }

    /// Whether a rule allows something only in this project.
    pub fn allows_in(&self, project: &str) -> bool {
        let mut allowing = self.allowing();
        allowing.any(|rule| rule.scope.project.as_deref() == Some(project))
    }

    /// When the next rule that holds now ceases to.
    pub fn next_end(&self, now: SystemTime) -> Option<SystemTime> {
        let ends = self.allowing().filter_map(|rule| rule.scope.until);
        ends.filter(|end| *end > now).min()
    }

    fn allowing(&self) -> impl Iterator<Item = &Rule> {
        let at = self.index.allowing.iter();
        at.filter_map(|at| self.rules.get(*at)).map(Arc::as_ref)
    }

    /// The rule with this name.
    pub fn rule(&self, id: &str) -> Option<&Rule> {
        self.rules().find(|rule| rule.id == id)
    }

    /// Whether a rule protects Holdgate itself, so that nobody may switch it off.
    pub fn protects_holdgate(&self, id: &str) -> bool {
        self.rule(id).is_some_and(|rule| rule.category == PROTECTED)
    }

    /// The findings of a layer's rules about a call with these effects: at most one per rule.
    pub fn findings(
        &self,
        layer: RuleLayer,
        effects: &[Effect],
        history: &History,
        fuel: &Fuel,
    ) -> Result<Vec<Finding>, OutOfFuel> {
        let visible = match layer {
            RuleLayer::Gate => Cow::Borrowed(effects),
            RuleLayer::Policy => self.not_allowed(Cow::Borrowed(effects), None, fuel)?,
        };
        let is_doubtful = |effect: &Effect| DOUBTS.iter().any(|mark| effect.is(*mark));
        let doubtful = effects.iter().any(is_doubtful);
        let certain = without(&visible, doubtful, &DOUBTS);
        let mut findings = Vec::new();
        for at in self.index.candidates(layer, effects) {
            let Some(rule) = self.rules.get(at) else {
                continue;
            };
            let verdict = rule.verdict(self.profile);
            if verdict == Verdict::Allow {
                continue;
            }
            let seen = match (rule.layer, rule.tier) {
                (RuleLayer::Gate, _) if rule.category == PROTECTED => Cow::Borrowed(&*visible),
                (_, Tier::BuiltIn | Tier::Operator) => {
                    self.not_allowed(Cow::Borrowed(&*visible), Some(&rule.id), fuel)?
                }
                (_, Tier::Project) => Cow::Borrowed(effects),
            };
            // Nearly always there is nothing that only this rule does not see.
            let is_usual = matches!(seen, Cow::Borrowed(_)) && rule.tier != Tier::Project;
            let sure = if is_usual {
                Cow::Borrowed(&*certain)
            } else {
                without(&seen, doubtful, &DOUBTS)
            };
            fuel.spend(1 + seen.len() as u64 / 16)?;
            if let Met::Yes(effect) = rule.met(&sure, history, fuel)? {
                findings.push(rule.finding(verdict, effect));
            } else if doubtful && verdict >= Verdict::Block {
                // Then what words of the call name, and last what others are told.
                for (doubts, verdict) in [(&ORDERED[..], verdict), (&[][..], Verdict::Ask)] {
                    let seen = without(&seen, true, doubts);
                    if let Met::Yes(effect) = rule.met(&seen, history, fuel)? {
                        findings.push(rule.finding(verdict, effect));
                        break;
                    }
                }
            }
        }
        Ok(findings)
    }

    /// The effects that no ALLOW rule hides: from the whole policy, or, with `from`, from that
    /// rule.
    fn not_allowed<'e>(
        &self,
        effects: Cow<'e, [Effect]>,
        from: Option<&String>,
        fuel: &Fuel,
    ) -> Result<Cow<'e, [Effect]>, OutOfFuel> {
        let mut left = effects;
        for rule in self.allowing() {
            let is_meant = match from {
                Some(id) => rule.excepts(id),
                None => rule.only.is_empty(),
            };
            if !is_meant || !rule.scope.holds(&self.here) {
                continue;
            }
            let mut is_hidden = Vec::with_capacity(left.len());
            for effect in left.iter() {
                let met = rule.when.met(std::slice::from_ref(effect), fuel)?;
                is_hidden.push(matches!(met, Met::Yes(_)));
            }
            if is_hidden.contains(&true) {
                let kept = left.iter().zip(is_hidden).filter(|(_, hidden)| !hidden);
                left = Cow::Owned(kept.map(|(effect, _)| effect.clone()).collect());
            }
        }
        Ok(left)
    }
}

/// The marks of effects that are not certain. What another is told is the least so.
const DOUBTS: [Tag; 2] = [Tag::Ordered, Tag::Suspect];
const ORDERED: [Tag; 1] = [Tag::Ordered];

/// The effects without those of these marks, if any of them has one.
fn without<'e>(effects: &'e [Effect], any: bool, marks: &[Tag]) -> Cow<'e, [Effect]> {
    let is_seen = |effect: &&Effect| !marks.iter().any(|mark| effect.is(*mark));
    if !any || effects.iter().all(|effect| is_seen(&effect)) {
        return Cow::Borrowed(effects);
    }
    Cow::Owned(effects.iter().filter(is_seen).cloned().collect())
}

/// The rules, if nothing is wrong with them.
fn whole((set, errors): (RuleSet, Vec<RuleError>)) -> Result<RuleSet, RuleErrors> {
    if errors.is_empty() {
        Ok(set)
    } else {
        Err(RuleErrors(errors))
    }
}

/// Appends the rules of all files to `rules` and adjusts verdicts. A name can be used only once.
fn join(mut rules: Vec<Arc<Rule>>, files: &[RuleFile<'_>]) -> (Vec<Arc<Rule>>, Vec<RuleError>) {
    let (mut errors, mut adjusted) = (Vec::new(), Vec::new());
    for file in files {
        let (read, wrong) = compile::read(*file);
        rules.extend(read.rules.into_iter().map(Arc::new));
        adjusted.extend(read.adjusted);
        errors.extend(wrong);
    }
    // What refers to a rule that could not be read is not wrong itself.
    let is_whole = errors.is_empty();
    let mut first: HashMap<&str, &Rule> = HashMap::new();
    for rule in &rules {
        if let Some(other) = first.insert(&rule.id, rule) {
            let what = format!(
                "the rule `{}` already exists in {}: choose another name",
                rule.id,
                other.place()
            );
            errors.push(RuleError::new(&rule.source, rule.at, what));
        }
    }
    if is_whole {
        errors.extend(wrong_exceptions(&rules));
    }
    for adjustment in adjusted {
        match adjust(&mut rules, &adjustment) {
            Err(error) if is_whole || rules.iter().any(|r| r.id == adjustment.rule) => {
                errors.push(error);
            }
            Err(_) | Ok(()) => {}
        }
    }
    (rules, errors)
}

/// Exceptions from rules that do not exist, or that nobody may switch off. The operator's file alone
/// may name rules that stand elsewhere.
fn wrong_exceptions(rules: &[Arc<Rule>]) -> Vec<RuleError> {
    let by_name: HashMap<&str, &Rule> = rules.iter().map(|r| (r.id.as_str(), &**r)).collect();
    let is_whole = rules.iter().any(|rule| rule.tier == Tier::BuiltIn);
    let mut errors = Vec::new();
    for rule in rules.iter().filter(|rule| rule.tier == Tier::Operator) {
        for (id, at) in &rule.only {
            let what = match by_name.get(id.as_str()) {
                Some(named) if named.category == PROTECTED => {
                    format!("`{id}` protects Holdgate itself and has no exceptions")
                }
                None if is_whole => {
                    let known: Vec<&str> = rules.iter().map(|rule| rule.id.as_str()).collect();
                    format!("there is no rule `{id}`, {}", suggestion(id, &known))
                }
                Some(_) | None => continue,
            };
            errors.push(RuleError::new(&rule.source, *at, what));
        }
    }
    errors
}

fn adjust(rules: &mut [Arc<Rule>], adjustment: &Adjustment) -> Result<(), RuleError> {
    let id = &adjustment.rule;
    let Some(rule) = rules.iter_mut().find(|rule| rule.id == *id) else {
        let known: Vec<&str> = rules.iter().map(|rule| rule.id.as_str()).collect();
        let what = format!("there is no rule `{id}`, {}", suggestion(id, &known));
        return Err(adjustment.error(adjustment.rule_at, what));
    };
    let loosened = Profile::ALL
        .into_iter()
        .find(|profile| rule.verdict(*profile) > adjustment.verdict);
    if let Some(profile) = loosened {
        let is = compile::word(rule.verdict(profile));
        let what = if adjustment.tier == Tier::Project {
            format!(
                "a project's rules can only tighten, and this loosens `{id}`, which says {is} \
                 in the profile `{}`: remove it, or ask the operator to change it",
                profile.word()
            )
        } else if rule.category == PROTECTED {
            format!("`{id}` protects Holdgate itself and must stay at {is}: remove this")
        } else {
            String::new()
        };
        if !what.is_empty() {
            return Err(adjustment.error(adjustment.verdict_at, what));
        }
    }
    let mut changed = Rule::clone(rule);
    changed.verdicts = [adjustment.verdict; Profile::ALL.len()];
    *rule = Arc::new(changed);
    Ok(())
}
