//! Trains the base model.

use super::examples::Example;
use holdgate_core::Verdict;
use holdgate_core::classifier::base::{Base, Parts, Thresholds};
use holdgate_core::classifier::learn::{
    Ftrl, Rarity, SemanticLearner, probability, weigh, windows,
};
use holdgate_core::classifier::shape::{Seen, Shape};
use holdgate_core::classifier::unit::{Unit, units};
use holdgate_core::classifier::{self, Classifier, Novelty, Scores};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

/// How often all examples are learned from.
const SEMANTIC_ROUNDS: usize = 12;
const LEXICAL_ROUNDS: usize = 4;
/// The weight of all attacks together, against that of all honest work.
const ATTACKS: f64 = 0.5;
/// How far a threshold stands above the highest score of honest calls that were held out.
const MARGIN: f32 = 0.25;
/// Hashed features.
const FEATURES: usize = 1 << 16;

/// An example in the form in which it is learned from.
struct Lesson<'e> {
    is_attack: bool,
    facts: Vec<Vec<u16>>,
    texts: Vec<&'e str>,
}

/// Which shapes are honest, and in how many sources they were seen.
struct Shapes {
    markers: Seen,
    /// The source of a shape, or `None` if there are several.
    sources: BTreeMap<u32, Option<usize>>,
}

impl Shapes {
    fn of(
        examples: &[&Example],
        units: &[Vec<Unit<'_>>],
        numbers: &BTreeMap<&str, usize>,
    ) -> Shapes {
        let honest = || {
            let both = examples.iter().zip(units);
            both.filter(|(example, _)| is_honest(example))
        };
        let markers = classifier::subcommand_markers(honest().flat_map(|(_, units)| units));
        let mut sources = BTreeMap::new();
        for (example, units) in honest() {
            let source = numbers.get(example.source.as_str()).copied();
            for unit in units {
                let shape = Shape::of(unit, |marker| markers.has(marker));
                for hash in shape.parts() {
                    let known = sources.entry(hash).or_insert(source);
                    if *known != source {
                        *known = None;
                    }
                }
            }
        }
        Shapes { markers, sources }
    }

    /// What is new about a unit that comes from `source`: what only that source has seen is new, as
    /// it will be for sources to come.
    fn novelty(&self, unit: &Unit<'_>, source: Option<usize>) -> Novelty {
        let shape = Shape::of(unit, |marker| self.markers.has(marker));
        Novelty::of(&shape, |hash| {
            self.sources
                .get(&hash)
                .is_some_and(|known| known.is_none() || *known != source)
        })
    }
}

/// What the other layers let pass, and nobody calls an attack.
fn is_honest(example: &Example) -> bool {
    !example.is_attack && example.verdict.lets_pass()
}

/// Trains a model on these examples. The order of files and cases decides, nothing else: the same
/// examples give the same bytes.
pub(super) fn train(examples: &[&Example], thresholds: Option<(Thresholds, Thresholds)>) -> Parts {
    // What the other layers refuse although it is honest teaches nothing but their mistakes.
    let examples: Vec<&Example> = examples
        .iter()
        .copied()
        .filter(|example| example.is_attack || is_honest(example))
        .collect();
    let names: BTreeSet<&str> = examples.iter().map(|e| e.source.as_str()).collect();
    let numbers: BTreeMap<&str, usize> = names.into_iter().zip(0..).collect();
    let units: Vec<Vec<Unit<'_>>> = examples.iter().map(|e| units(&e.effects)).collect();
    let shapes = Shapes::of(&examples, &units, &numbers);
    let lesson = |(example, units): (&&Example, &Vec<Unit<'_>>)| Lesson {
        is_attack: example.is_attack,
        facts: units
            .iter()
            .map(|unit| {
                let source = numbers.get(example.source.as_str()).copied();
                let source = source.filter(|_| !example.is_attack);
                classifier::facts(unit, shapes.novelty(unit, source))
            })
            .collect(),
        texts: Vec::new(),
    };
    let mut lessons: Vec<Lesson<'_>> = examples.iter().zip(&units).map(lesson).collect();
    for (lesson, example) in lessons.iter_mut().zip(&examples) {
        lesson.texts = classifier::unit::units(&example.effects)
            .iter()
            .map(Unit::text)
            .collect();
    }
    let order = order(lessons.len());
    let weight = attack_weight(&lessons);
    let (facts, facts_bias) = semantic(&lessons, &order, weight);
    let (grams, grams_bias, idf) = lexical(&lessons, &order, weight);
    let (semantic, lexical) = thresholds.unwrap_or((Thresholds::NEVER, Thresholds::NEVER));
    let seen = shapes.sources.keys().copied();
    Parts {
        facts,
        facts_bias,
        grams,
        idf,
        grams_bias,
        seen: Seen::of(seen.chain(shapes.markers.hashes().iter().copied())),
        semantic,
        lexical,
    }
}

/// Thresholds from honest calls of sources that the model has not seen. Of calls of repositories one
/// in two hundred may be recorded, and none asked about that passes today; of all others, one in a
/// thousand. Nothing honest comes near to being blocked, whatever the other layers say about it.
pub(super) fn thresholds(examples: &[Example]) -> anyhow::Result<(Thresholds, Thresholds)> {
    let sources: BTreeSet<&str> = examples.iter().map(|e| e.source.as_str()).collect();
    // Per head: of repositories, and of others.
    let mut scores = [[Vec::new(), Vec::new()], [Vec::new(), Vec::new()]];
    let mut highest = [f32::MIN; 2];
    for fold in 0..2 {
        let mut number = 0;
        let held_out: BTreeSet<&str> = sources
            .iter()
            .copied()
            .filter(|source| {
                let is_honest = |e: &Example| e.source == **source && !e.is_attack;
                number += usize::from(examples.iter().any(is_honest));
                number % 2 == fold && examples.iter().any(is_honest)
            })
            .collect();
        // Attacks stay: without them, the model would be another.
        let seen = |e: &&Example| e.is_attack || !held_out.contains(e.source.as_str());
        let parts = train(&examples.iter().filter(seen).collect::<Vec<_>>(), None);
        let model = Classifier::new(Arc::new(ready(&parts)?), None);
        for example in examples.iter().filter(|e| !e.is_attack) {
            if !held_out.contains(example.source.as_str()) {
                continue;
            }
            let found = model.score(&example.effects);
            for (most, score) in highest.iter_mut().zip(of_heads(&found)) {
                *most = score.max(*most);
            }
            if !is_honest(example) {
                continue;
            }
            let kind = usize::from(!example.source.contains('/'));
            for (head, score) in scores.iter_mut().zip(of_heads(&found)) {
                if let Some(list) = head.get_mut(kind) {
                    list.push(score);
                }
            }
        }
    }
    let limits = |[mut real, mut other]: [Vec<f32>; 2], highest: f32| {
        let near = |scores: &mut Vec<f32>, one_in: usize| {
            scores.sort_unstable_by(|a, b| b.total_cmp(a));
            scores
                .get(scores.len() / one_in)
                .copied()
                .unwrap_or(f32::MIN)
        };
        let audit = near(&mut real, 200);
        let ask = near(&mut real, usize::MAX)
            .max(near(&mut other, 1000))
            .max(audit)
            + MARGIN;
        let block = highest.max(ask) + 4.0 * MARGIN;
        Thresholds { audit, ask, block }
    };
    let ([semantic, lexical], [most_semantic, most_lexical]) = (scores, highest);
    let semantic = limits(semantic, most_semantic);
    let lexical = limits(lexical, most_lexical);
    Ok((semantic, lexical))
}

/// The scores of both heads that have a threshold.
fn of_heads(scores: &Scores) -> [f32; 2] {
    [scores.semantic.score, scores.lexical.score]
}

/// The model as it is after it was written and read.
pub(super) fn ready(parts: &Parts) -> anyhow::Result<Base> {
    Ok(Base::read(&parts.write())?)
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "counts of examples stay far below 2^24"
)]
fn attack_weight(lessons: &[Lesson<'_>]) -> f32 {
    let attacks = lessons.iter().filter(|lesson| lesson.is_attack).count();
    let honest = lessons.len() - attacks;
    (ATTACKS * honest as f64 / attacks.max(1) as f64) as f32
}

/// A fixed shuffle.
fn order(length: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..length).collect();
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    for at in (1..length).rev() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let other = usize::try_from(state % (at as u64 + 1)).unwrap_or_default();
        order.swap(at, other);
    }
    order
}

fn semantic(lessons: &[Lesson<'_>], order: &[usize], weight: f32) -> (Vec<f32>, f32) {
    let mut learner = SemanticLearner::default();
    let mut known = HashSet::new();
    for round in 0..SEMANTIC_ROUNDS {
        for lesson in order.iter().filter_map(|at| lessons.get(*at)) {
            let weight = if lesson.is_attack { weight } else { 1.0 };
            let units = lesson.facts.iter().map(Vec::as_slice);
            learner.learn(units, lesson.is_attack, weight);
            if round == 0 && lesson.is_attack {
                known.extend(lesson.facts.iter().flatten().copied());
            }
        }
    }
    learner.finish(|fact| u16::try_from(fact).is_ok_and(|fact| known.contains(&fact)))
}

fn lexical(lessons: &[Lesson<'_>], order: &[usize], weight: f32) -> (Vec<f32>, f32, Vec<f32>) {
    let mut rarity = Rarity::default();
    for text in lessons.iter().flat_map(|lesson| &lesson.texts) {
        rarity.count(text);
    }
    let idf = rarity.idf();
    let mut ftrl = Ftrl::new(FEATURES);
    let mut bias = -2.0_f32;
    for _ in 0..LEXICAL_ROUNDS {
        for lesson in order.iter().filter_map(|at| lessons.get(*at)) {
            let weight = if lesson.is_attack { weight } else { 1.0 };
            let parts = lesson.texts.iter().flat_map(|text| windows(text));
            let scored = parts.take(64).map(|window| {
                let features = weigh(window, &idf);
                let score: f32 = features.iter().map(|(f, v)| ftrl.weight(*f) * v).sum();
                (score, features)
            });
            let Some((score, features)) = scored.max_by(|a, b| a.0.total_cmp(&b.0)) else {
                continue;
            };
            let goal = f32::from(u8::from(lesson.is_attack));
            let slope = (probability(score + bias) - goal) * weight;
            ftrl.learn(&features, slope);
            bias = (bias - 0.002 * slope).clamp(-6.0, 0.0);
        }
    }
    let weights = (0..FEATURES).map(|feature| ftrl.weight(feature)).collect();
    (weights, bias, idf)
}

/// Whether the other layers let an attack pass.
pub(super) fn is_missed(example: &Example) -> bool {
    example.is_attack && example.verdict <= Verdict::Audit
}
