//! How weights are learned: logistic regression, one example at a time, in a fixed order.
//!
//! A call counts by its highest unit, so an example teaches by that unit alone: the harmless commands
//! beside an attack are not called attacks.

use super::facts;
use super::grams::{self, BUCKETS};

/// Scores beyond this are certain enough.
const MAX_SCORE: f32 = 30.0;

/// How likely a score is.
pub fn probability(score: f32) -> f32 {
    1.0 / (1.0 + (-score.clamp(-MAX_SCORE, MAX_SCORE)).exp())
}

/// Weights of the semantic facts, all at least 0.
#[derive(Clone, Debug)]
pub struct SemanticLearner {
    weights: Vec<f32>,
    /// Sums of squared slopes: what was seen often moves less.
    moved: Vec<f32>,
    bias: f32,
    bias_moved: f32,
}

impl Default for SemanticLearner {
    fn default() -> Self {
        SemanticLearner {
            weights: vec![0.01; facts::SLOTS],
            moved: vec![1.0; facts::SLOTS],
            bias: -1.0,
            bias_moved: 1.0,
        }
    }
}

impl SemanticLearner {
    const RATE: f32 = 0.3;
    const DECAY: f32 = 2e-6;

    /// The score of a unit with these facts.
    pub fn score(&self, facts: &[u16]) -> f32 {
        let weight = |fact: &u16| self.weights.get(usize::from(*fact)).copied();
        self.bias + facts.iter().filter_map(weight).sum::<f32>()
    }

    /// Learns from one call.
    pub fn learn<'u>(
        &mut self,
        units: impl Iterator<Item = &'u [u16]>,
        is_attack: bool,
        weight: f32,
    ) {
        let scored = units.map(|facts| (self.score(facts), facts));
        let Some((score, facts)) = scored.max_by(|a, b| a.0.total_cmp(&b.0)) else {
            return;
        };
        let slope = (probability(score) - f32::from(u8::from(is_attack))) * weight;
        for fact in facts.iter().map(|fact| usize::from(*fact)) {
            let (Some(value), Some(moved)) = (self.weights.get_mut(fact), self.moved.get_mut(fact))
            else {
                continue;
            };
            *moved += slope * slope;
            let step = Self::RATE * (slope + Self::DECAY * *value) / moved.sqrt();
            *value = (*value - step).max(0.0);
        }
        self.bias_moved += slope * slope;
        self.bias -= Self::RATE * slope / self.bias_moved.sqrt();
    }

    /// The weights, and what is added to them. What was never seen is 0.
    pub fn finish(self, is_known: impl Fn(usize) -> bool) -> (Vec<f32>, f32) {
        let weights = self.weights.into_iter().enumerate();
        let known = |(fact, weight)| if is_known(fact) { weight } else { 0.0 };
        (weights.map(known).collect(), self.bias)
    }
}

/// Weights of hashed features, learned by FTRL-proximal: each stays 0 until there is evidence.
#[derive(Clone, Debug, PartialEq)]
pub struct Ftrl {
    z: Vec<f32>,
    n: Vec<f32>,
}

impl Ftrl {
    const ALPHA: f32 = 0.5;
    const BETA: f32 = 1.0;
    const L1: f32 = 0.4;
    const L2: f32 = 1.0;

    /// For this many features.
    pub fn new(size: usize) -> Ftrl {
        Ftrl {
            z: vec![0.0; size],
            n: vec![0.0; size],
        }
    }

    /// A feature's weight.
    pub fn weight(&self, feature: usize) -> f32 {
        let (z, n) = self.state(feature);
        if z.abs() <= Self::L1 {
            return 0.0;
        }
        let shrunk = z - z.signum() * Self::L1;
        -shrunk / ((Self::BETA + n.sqrt()) / Self::ALPHA + Self::L2)
    }

    /// What was learned about a feature.
    pub fn state(&self, feature: usize) -> (f32, f32) {
        let at = |list: &[f32]| list.get(feature).copied().unwrap_or_default();
        (at(&self.z), at(&self.n))
    }

    /// Sets what was learned about a feature.
    pub fn set(&mut self, feature: usize, (z, n): (f32, f32)) {
        if let (Some(own), Some(squares)) = (self.z.get_mut(feature), self.n.get_mut(feature)) {
            *own = z;
            *squares = n;
        }
    }

    /// Features that were ever seen.
    pub fn known(&self) -> impl Iterator<Item = usize> + '_ {
        let seen = |(feature, n): (usize, &f32)| (*n > 0.0).then_some(feature);
        self.n.iter().enumerate().filter_map(seen)
    }

    /// Moves the weights of these features by the slope of the loss.
    pub fn learn(&mut self, features: &[(usize, f32)], slope: f32) {
        for (feature, value) in features {
            let weight = self.weight(*feature);
            let (z, n) = self.state(*feature);
            let g = slope * value;
            let sigma = ((n + g * g).sqrt() - n.sqrt()) / Self::ALPHA;
            self.set(*feature, (z + g - sigma * weight, n + g * g));
        }
    }
}

/// How rare each feature is.
#[derive(Clone, Debug)]
pub struct Rarity {
    documents: u32,
    with: Vec<u32>,
    /// The last document in which a feature was counted.
    last: Vec<u32>,
}

impl Default for Rarity {
    fn default() -> Self {
        Rarity {
            documents: 0,
            with: vec![0; BUCKETS],
            last: vec![0; BUCKETS],
        }
    }
}

impl Rarity {
    /// Counts the features of a command.
    pub fn count(&mut self, text: &str) {
        self.documents += 1;
        for window in grams::windows(text) {
            grams::features(window, |feature| {
                if let Some(last) = self.last.get_mut(feature)
                    && *last != self.documents
                {
                    *last = self.documents;
                    if let Some(with) = self.with.get_mut(feature) {
                        *with += 1;
                    }
                }
            });
        }
    }

    /// The inverse document frequencies.
    pub fn idf(&self) -> Vec<f32> {
        let all = f64::from(self.documents + 1);
        let idf = |with: &u32| narrow((all / f64::from(with + 1)).ln());
        self.with.iter().map(idf).collect()
    }
}

/// The features of a window with their TF-IDF values, each once, in order.
pub fn weigh(window: &[u8], idf: &[f32]) -> Vec<(usize, f32)> {
    let mut found = Vec::new();
    let mut squares = 0.0_f32;
    grams::features(window, |feature| {
        let idf = idf.get(feature).copied().unwrap_or_default();
        squares += idf * idf;
        found.push((feature, idf));
    });
    let length = squares.sqrt().max(f32::MIN_POSITIVE);
    found.sort_unstable_by_key(|(feature, _)| *feature);
    let mut features: Vec<(usize, f32)> = Vec::with_capacity(found.len());
    for (feature, value) in found {
        match features.last_mut() {
            Some((last, sum)) if *last == feature => *sum += value / length,
            _ => features.push((feature, value / length)),
        }
    }
    features
}

/// The windows of a command.
pub fn windows(text: &str) -> impl Iterator<Item = &[u8]> {
    grams::windows(text)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "half of the digits are enough"
)]
fn narrow(number: f64) -> f32 {
    number as f32
}
