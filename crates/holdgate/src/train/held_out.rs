//! How well the base model does on sources that it has not seen.

use super::base::{is_missed, ready, thresholds, train};
use super::examples::Example;
use crate::eval::Rate;
use holdgate_core::Classification;
use holdgate_core::Verdict;
use holdgate_core::classifier::base::Thresholds;
use holdgate_core::classifier::{Classifier, Scores};
use std::collections::BTreeSet;
use std::io::Write;
use std::sync::Arc;

/// The share of honest calls that may score higher than a threshold, as one in so many.
const ONE_IN: usize = 100;

/// Prints, for each source of attacks, how well a model that has seen neither it nor the honest
/// calls that it is compared with tells them apart.
pub(super) fn table(examples: &[Example], out: &mut impl Write) -> anyhow::Result<()> {
    let attacks: BTreeSet<&str> = sources(examples, true).collect();
    let folds = folds(examples);
    let limits = thresholds(examples)?;
    writeln!(
        out,
        "source held out           attacks | semantic AUROC, found at 1 % false positives | lexical \
         AUROC, the same           | missed by the other layers: asked or blocked, audited"
    )?;
    let mut honest = Honest::default();
    let mut sum = (0, 0, 0);
    for source in attacks {
        let test: Vec<&Example> = of_source(examples, source)
            .filter(|e| e.is_attack)
            .collect();
        let mut heads = [Head::new(test.len()), Head::new(test.len())];
        let mut added = vec![Verdict::Kill; test.len()];
        for fold in &folds {
            let seen = |e: &&Example| e.source != source && !fold.contains(e.source.as_str());
            let seen: Vec<&Example> = examples.iter().filter(seen).collect();
            let model = Classifier::new(Arc::new(ready(&train(&seen, Some(limits)))?), None);
            let scores: Vec<Scores> = test.iter().map(|e| model.score(&e.effects)).collect();
            let other = |e: &&Example| !e.is_attack && fold.contains(e.source.as_str());
            let others: Vec<&Example> = examples.iter().filter(other).collect();
            let compare: Vec<Scores> = others.iter().map(|e| model.score(&e.effects)).collect();
            for (head, of) in heads.iter_mut().zip([semantic, lexical]) {
                head.add(&scores, &compare, of);
            }
            let layer = Classification::new(model, Verdict::Block);
            for (least, example) in added.iter_mut().zip(&test) {
                *least = (*least).min(verdict(&layer, example));
            }
            honest.add(&layer, &others);
        }
        let missed = test
            .iter()
            .zip(&added)
            .filter(|(example, _)| is_missed(example));
        let (mut all, mut asked, mut audited) = (0, 0, 0);
        for (_, verdict) in missed {
            all += 1;
            asked += usize::from(*verdict >= Verdict::Ask);
            audited += usize::from(*verdict == Verdict::Audit);
        }
        sum = (sum.0 + all, sum.1 + asked, sum.2 + audited);
        let [semantic, lexical] = &heads;
        let count = test.len();
        writeln!(
            out,
            "{source:<25} {count:>7} | {semantic} | {lexical} | {all:>3}: {asked}, {audited}"
        )?;
    }
    writeln!(
        out,
        "of {} attacks that the other layers let pass, {} would be asked about or blocked, and {} \
         recorded, by models that have not seen their source",
        sum.0, sum.1, sum.2
    )?;
    writeln!(
        out,
        "honest calls of repositories that were held out and pass the other layers: {honest}"
    )?;
    print(out, limits)
}

fn print(out: &mut impl Write, limits: (Thresholds, Thresholds)) -> anyhow::Result<()> {
    for (name, limits) in [("semantic", limits.0), ("lexical", limits.1)] {
        let Thresholds { audit, ask, block } = limits;
        writeln!(
            out,
            "{name}: audit {audit:.2}, ask {ask:.2}, block {block:.2}"
        )?;
    }
    Ok(())
}

/// What the layer alone says.
fn verdict(layer: &Classification, example: &Example) -> Verdict {
    let findings = layer.findings(&example.effects);
    let verdicts = findings.iter().map(|finding| finding.verdict);
    verdicts.max().unwrap_or(Verdict::Allow)
}

fn semantic(scores: &Scores) -> f32 {
    scores.semantic.score
}

fn lexical(scores: &Scores) -> f32 {
    scores.lexical.score
}

fn sources(examples: &[Example], is_attack: bool) -> impl Iterator<Item = &str> {
    let of = examples.iter().filter(move |e| e.is_attack == is_attack);
    of.map(|e| e.source.as_str())
}

fn of_source<'e>(examples: &'e [Example], source: &str) -> impl Iterator<Item = &'e Example> {
    examples.iter().filter(move |e| e.source == source)
}

/// The honest sources that name a repository, in two halves: each is compared with a model that
/// has not seen it.
fn folds(examples: &[Example]) -> [BTreeSet<&str>; 2] {
    let real: BTreeSet<&str> = sources(examples, false)
        .filter(|s| s.contains('/'))
        .collect();
    let real = if real.is_empty() {
        sources(examples, false).collect()
    } else {
        real
    };
    let mut folds = [BTreeSet::new(), BTreeSet::new()];
    for (at, source) in real.into_iter().enumerate() {
        if let Some(fold) = folds.get_mut(at % 2) {
            fold.insert(source);
        }
    }
    folds
}

/// What honest calls would have to bear, over all models.
#[derive(Default)]
struct Honest {
    asked: Rate,
    audited: Rate,
}

impl Honest {
    fn add(&mut self, layer: &Classification, examples: &[&Example]) {
        for example in examples.iter().filter(|e| e.verdict.lets_pass()) {
            let verdict = verdict(layer, example);
            self.asked.of += 1;
            self.audited.of += 1;
            self.asked.hits += u64::from(verdict >= Verdict::Ask);
            self.audited.hits += u64::from(verdict == Verdict::Audit);
        }
    }
}

impl std::fmt::Display for Honest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (asked, audited) = (self.asked, self.audited);
        write!(
            f,
            "{} asked about and {} recorded of {} (each call once per source above)",
            asked.hits, audited.hits, asked.of
        )
    }
}

/// One head on one source.
struct Head {
    /// Sums over pairs of an attack and an honest call.
    above: f64,
    pairs: f64,
    /// Attacks that every model has found.
    found: Vec<bool>,
}

impl Head {
    fn new(attacks: usize) -> Head {
        Head {
            above: 0.0,
            pairs: 0.0,
            found: vec![true; attacks],
        }
    }

    fn add(&mut self, attacks: &[Scores], honest: &[Scores], of: fn(&Scores) -> f32) {
        let mut order: Vec<f32> = honest.iter().map(of).collect();
        order.sort_unstable_by(f32::total_cmp);
        let threshold = order.iter().rev().nth(honest.len() / ONE_IN).copied();
        for (found, score) in self.found.iter_mut().zip(attacks.iter().map(of)) {
            let below = order.partition_point(|other| *other < score);
            let up_to = order.partition_point(|other| *other <= score);
            self.above += f64::midpoint(count(below), count(up_to));
            self.pairs += count(order.len());
            *found &= threshold.is_some_and(|threshold| score > threshold);
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
fn count(number: usize) -> f64 {
    number as f64
}

impl std::fmt::Display for Head {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let hits = self.found.iter().filter(|found| **found).count();
        let found = Rate {
            hits: hits as u64,
            of: self.found.len() as u64,
        };
        let (low, high) = found.interval();
        let auroc = self.above / self.pairs.max(1.0);
        let share = found.percent().unwrap_or_default();
        write!(
            f,
            "{auroc:.3}  {hits:>4} = {share:>5.1} % [{low:>5.1}, {high:>5.1}]"
        )
    }
}
