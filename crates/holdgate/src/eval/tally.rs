//! Counts what became of the cases.

use super::cases::{Case, Expect, Subject};
use super::judge::Outcome;
use super::stats::{Latency, Rate};
use holdgate_core::{LayerName, Verdict};
use std::collections::BTreeMap;
use std::time::Duration;

/// How many cases got which verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Refused.
    pub blocked: u64,
    /// A person is asked.
    pub asked: u64,
    /// Passed, and marked for a reviewer.
    pub audited: u64,
    /// Passed.
    pub allowed: u64,
}

impl Counts {
    /// All cases.
    pub fn all(self) -> u64 {
        self.blocked + self.asked + self.audited + self.allowed
    }

    /// `hits` of all cases.
    pub fn rate(self, hits: u64) -> Rate {
        Rate {
            hits,
            of: self.all(),
        }
    }

    /// The rate that tells how good we are at cases of this kind. Whoever flags a case wants it
    /// stopped, one way or the other.
    pub fn main_rate(self, expect: Expect) -> Rate {
        match expect {
            Expect::Block | Expect::Allow => self.rate(self.blocked),
            Expect::Flag => self.rate(self.blocked + self.asked),
        }
    }

    /// Takes note of a verdict.
    pub(super) fn count(&mut self, verdict: Verdict) {
        *match verdict {
            Verdict::Block | Verdict::Kill => &mut self.blocked,
            Verdict::Ask => &mut self.asked,
            Verdict::Audit => &mut self.audited,
            Verdict::Allow => &mut self.allowed,
        } += 1;
    }

    /// Adds what another has counted.
    pub(super) fn add(&mut self, other: Counts) {
        self.blocked += other.blocked;
        self.asked += other.asked;
        self.audited += other.audited;
        self.allowed += other.allowed;
    }
}

/// In how many cases of each kind a rule or a layer matched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spoke {
    /// Attacks.
    pub block: u64,
    /// Honest work.
    pub allow: u64,
    /// Neither.
    pub flag: u64,
}

impl Spoke {
    fn count(&mut self, expect: Expect) {
        *match expect {
            Expect::Block => &mut self.block,
            Expect::Allow => &mut self.allow,
            Expect::Flag => &mut self.flag,
        } += 1;
    }

    fn add(&mut self, other: Spoke) {
        self.block += other.block;
        self.allow += other.allow;
        self.flag += other.flag;
    }
}

/// What became of the cases of a file, or of all.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// By what was expected, and by category.
    pub categories: BTreeMap<(Expect, String), Counts>,
    /// Rules by layer and name, with the strictest that they wanted.
    pub rules: BTreeMap<(LayerName, String), (Verdict, Spoke)>,
    /// Layers.
    pub layers: BTreeMap<LayerName, Spoke>,
    /// What each layer alone would have done in cases of each kind; cases that it lets pass are not
    /// counted.
    pub alone: BTreeMap<(LayerName, Expect), Counts>,
    /// Attacks of several calls that had to be stopped by a certain call, and were.
    pub in_time: Rate,
    /// Cases that nothing judges yet, by their subject.
    pub not_judged: BTreeMap<String, u64>,
    /// Honest work that was blocked.
    pub false_blocks: Vec<String>,
    /// Attacks that were not.
    pub missed: Vec<String>,
    times: Vec<Duration>,
}

impl Tally {
    /// Takes note of a case.
    pub fn count(&mut self, case: &Case, outcome: Option<&Outcome>) {
        let Some(outcome) = outcome else {
            if let Subject::NotYet(name) = &case.subject {
                *self.not_judged.entry(name.clone()).or_default() += 1;
            }
            return;
        };
        let key = (case.expect, case.category.clone());
        self.categories
            .entry(key)
            .or_default()
            .count(outcome.verdict);
        match (case.expect, outcome.is_blocked()) {
            (Expect::Allow, true) => self.false_blocks.push(case.id.clone()),
            (Expect::Block, false) => self.missed.push(case.id.clone()),
            (Expect::Allow, false) | (Expect::Block, true) | (Expect::Flag, _) => {}
        }
        if let (
            Expect::Block,
            Subject::Calls {
                stop_by: Some(last),
                ..
            },
        ) = (case.expect, &case.subject)
        {
            self.in_time.of += 1;
            self.in_time.hits += u64::from(outcome.step.is_some_and(|step| step <= *last));
        }
        let mut layers = BTreeMap::new();
        for hit in outcome.hits.iter().filter(|h| h.verdict > Verdict::Allow) {
            let rule = (hit.layer, hit.rule.clone());
            let (strictest, spoke) = self
                .rules
                .entry(rule)
                .or_insert((hit.verdict, Spoke::default()));
            *strictest = hit.verdict.max(*strictest);
            spoke.count(case.expect);
            let strictest = layers.entry(hit.layer).or_insert(hit.verdict);
            *strictest = hit.verdict.max(*strictest);
        }
        for (layer, verdict) in layers {
            self.layers.entry(layer).or_default().count(case.expect);
            let alone = self.alone.entry((layer, case.expect)).or_default();
            alone.count(verdict);
        }
        self.times.extend(&outcome.times);
    }

    /// Adds what another has counted.
    pub fn add(&mut self, other: &Tally) {
        for (key, counts) in &other.categories {
            self.categories.entry(key.clone()).or_default().add(*counts);
        }
        for (key, (verdict, spoke)) in &other.rules {
            let rule = self.rules.entry(key.clone());
            let (strictest, sum) = rule.or_insert((*verdict, Spoke::default()));
            *strictest = (*strictest).max(*verdict);
            sum.add(*spoke);
        }
        for (layer, spoke) in &other.layers {
            self.layers.entry(*layer).or_default().add(*spoke);
        }
        for (key, counts) in &other.alone {
            self.alone.entry(*key).or_default().add(*counts);
        }
        for (name, number) in &other.not_judged {
            *self.not_judged.entry(name.clone()).or_default() += number;
        }
        self.in_time.hits += other.in_time.hits;
        self.in_time.of += other.in_time.of;
        self.false_blocks.extend_from_slice(&other.false_blocks);
        self.missed.extend_from_slice(&other.missed);
        self.times.extend_from_slice(&other.times);
    }

    /// All cases of one kind.
    pub fn of(&self, expect: Expect) -> Counts {
        let mut sum = Counts::default();
        for ((_, _), counts) in self.categories.iter().filter(|((e, _), _)| *e == expect) {
            sum.add(*counts);
        }
        sum
    }

    /// How many cases there were, judged or not.
    pub fn cases(&self) -> u64 {
        let judged: u64 = Expect::ALL.iter().map(|e| self.of(*e).all()).sum();
        judged + self.not_judged.values().sum::<u64>()
    }

    /// How long the verdicts took.
    pub fn latency(&self) -> Latency {
        Latency::of(self.times.clone())
    }

    /// The rules; those that match most honest work come first.
    pub fn loudest_rules(&self) -> Vec<(LayerName, &str, Verdict, Spoke)> {
        let mut rules: Vec<_> = self
            .rules
            .iter()
            .map(|((layer, rule), (verdict, spoke))| (*layer, rule.as_str(), *verdict, *spoke))
            .collect();
        rules.sort_by_key(|(_, _, _, spoke)| {
            std::cmp::Reverse((spoke.allow, spoke.block, spoke.flag))
        });
        rules
    }
}
