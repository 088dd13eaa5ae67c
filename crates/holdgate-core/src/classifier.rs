//! The classifier: does a call look like what was blocked before? (Inspired by "TS-Guard".)
//!
//! A call is split into [units](unit::Unit), and three heads look at each; the highest unit counts.
//! The semantic head adds up weights of facts from the effects, none of them negative, so padding
//! never lowers a score. The lexical head reads the words. The third asks whether the shape of the
//! unit is new. Weights come from a [base model](base::Base) and, above it, from what a
//! [project](project::Learned) has seen, which can raise a score and never lower it.

pub mod base;
mod codec;
mod facts;
mod grams;
mod hash;
pub mod learn;
pub mod lesson;
pub mod project;
pub mod shape;
pub mod unit;

pub use codec::BadModel;
pub use facts::{Novelty, Risks};

use base::Base;
use holdgate_effects::effect::Effect;
use project::Learned;
use shape::{Seen, Shape};
use std::sync::Arc;
use unit::{Looked, Unit};

/// A base model, and what a project has learned.
#[derive(Clone, Debug)]
pub struct Classifier {
    base: Arc<Base>,
    learned: Option<Arc<Learned>>,
}

/// The scores of a call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scores {
    /// By what the unit does.
    pub semantic: Head,
    /// By its words.
    pub lexical: Head,
    /// The newest unit that is a risk, compared with all honest work that is known.
    pub new: Option<New>,
}

/// The score of one head.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Head {
    /// The highest of all units.
    pub score: f32,
    /// Which unit.
    pub unit: usize,
}

impl Default for Head {
    fn default() -> Self {
        Head {
            score: f32::MIN,
            unit: 0,
        }
    }
}

impl Head {
    fn add(&mut self, score: f32, unit: usize) {
        if score > self.score {
            *self = Head { score, unit };
        }
    }
}

/// A unit that was never seen, anywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct New {
    /// What is new.
    pub novelty: Novelty,
    /// What makes it a risk.
    pub risks: Risks,
    /// Which unit.
    pub unit: usize,
}

impl Classifier {
    /// The base model, and what the project has learned.
    pub fn new(base: Arc<Base>, learned: Option<Arc<Learned>>) -> Classifier {
        Classifier { base, learned }
    }

    /// The base model.
    pub fn base(&self) -> &Arc<Base> {
        &self.base
    }

    /// What the project has learned.
    pub fn learned(&self) -> Option<&Learned> {
        self.learned.as_deref()
    }

    /// The shape of a unit.
    pub fn shape(&self, unit: &Unit<'_>) -> Shape {
        Shape::of(unit, |marker| self.base.seen.has(marker))
    }

    /// What is new about a shape, compared with all honest work that the base model knows.
    pub fn novelty(&self, shape: &Shape) -> Novelty {
        Novelty::of(shape, |hash| self.base.seen.has(hash))
    }

    /// Whether a shape was allowed in this project.
    fn is_allowed(&self, shape: &Shape) -> bool {
        let learned = self.learned.as_deref();
        learned.is_some_and(|learned| learned.has_seen(shape.whole))
    }

    /// Scores what a call does.
    pub fn score(&self, effects: &[Effect]) -> Scores {
        self.score_units(&Looked::at(effects, self.base.clone()))
    }

    /// Scores units that were compared with the base model.
    pub fn score_units(&self, looked: &Looked<'_>) -> Scores {
        let mut scores = Scores::default();
        let units = looked.units.iter().zip(&looked.looks);
        for (number, (unit, look)) in units.enumerate() {
            let novelty = look.novelty;
            // A project cannot take a fact away.
            scores.semantic.add(self.semantic(&look.facts), number);
            scores.lexical.add(self.lexical(unit.text()), number);
            if novelty.any() && !self.is_allowed(&look.shape) {
                let risks = Risks::of(unit);
                let new = New {
                    novelty,
                    risks,
                    unit: number,
                };
                if scores.new.is_none_or(|old| new.weight() > old.weight()) {
                    scores.new = Some(new);
                }
            }
        }
        scores
    }

    /// The score of a unit with these facts.
    pub fn semantic(&self, facts: &[u16]) -> f32 {
        let weights = &self.base.facts;
        let learned = self.learned.as_deref();
        let weight = |fact: &u16| {
            let weight = weights.get(usize::from(*fact)).copied().unwrap_or_default();
            weight * (1.0 + learned.map_or(0.0, |learned| learned.raise(*fact)))
        };
        self.base.facts_bias + facts.iter().map(weight).sum::<f32>()
    }

    /// The score of a text.
    pub fn lexical(&self, text: &str) -> f32 {
        let mut most = f32::MIN;
        for window in grams::windows(text) {
            let (mut sum, mut squares, mut learned) = (0.0_f32, 0.0_f32, 0.0_f32);
            let table = &self.base.grams;
            let delta = self.learned.as_deref();
            grams::features(window, |feature| {
                let [weight, square] = table.get(feature).copied().unwrap_or_default();
                sum += weight;
                squares += square;
                if let Some(delta) = delta {
                    learned += delta.gram(feature) * square.sqrt();
                }
            });
            // What a project has learned can only raise a score.
            let score = (sum + learned.max(0.0)) / squares.sqrt().max(f32::MIN_POSITIVE);
            most = most.max(score + self.base.grams_bias);
        }
        most
    }
}

impl New {
    /// A sub-command that nobody was ever seen to use, with an address outside; or a flag of that
    /// kind, where data is sent to a known host outside. No honest call of a repository that was held
    /// out is like this.
    pub fn is_alarming(&self) -> bool {
        self.novelty.subcommand && self.risks.host || self.novelty.flag && self.risks.sends
    }

    /// Whether a reviewer wants to know: something new that reaches something sensitive, addresses a
    /// host outside and does more than read, or carries what nobody knows.
    pub fn is_notable(&self) -> bool {
        let (novelty, risks) = (self.novelty, self.risks);
        let is_new = novelty.program || novelty.subcommand || novelty.place;
        is_new && (risks.sensitive || risks.opaque || risks.host && (risks.suspect || risks.acts))
    }

    /// How much there is to it: more that is new, with more risks.
    fn weight(&self) -> (bool, bool, usize) {
        let count = self.novelty.words().count() * (1 + self.risks.words().count());
        (self.is_alarming(), self.is_notable(), count)
    }
}

/// The facts about a unit that is new in this way.
pub fn facts(unit: &Unit<'_>, novelty: Novelty) -> Vec<u16> {
    facts::facts(unit, novelty)
}

/// Whether a program's first operand is a sub-command, by how honest work uses it: what is used
/// often and takes few different words does.
pub fn subcommand_markers<'u>(units: impl Iterator<Item = &'u Unit<'u>>) -> Seen {
    use std::collections::{BTreeMap, BTreeSet};
    let mut uses: BTreeMap<&str, (usize, BTreeSet<&str>)> = BTreeMap::new();
    for unit in units {
        if let Some(word) = shape::first_word(unit) {
            let entry = uses.entry(shape::program(unit)).or_default();
            entry.0 += 1;
            entry.1.insert(word);
        }
    }
    let has = |(program, (uses, words)): (&&str, &(usize, BTreeSet<&str>))| {
        (*uses >= 6 && words.len() * 3 <= *uses).then(|| shape::marker(program))
    };
    Seen::of(uses.iter().filter_map(has))
}

#[cfg(test)]
mod tests;
