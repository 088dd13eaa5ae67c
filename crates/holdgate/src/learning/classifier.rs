//! The classifier learns from the ledger: labelled calls go in, a model comes out, and it is used
//! only if it passes every check.
//!
//! Learning is deterministic and incremental: it continues after the last record that it has read.
//! A crash at any point leaves the previous model.

pub mod labels;
pub mod models;
pub mod regression;

use crate::ledger;
use holdgate_core::classifier::Classifier;
use holdgate_core::classifier::base::Base;
use holdgate_core::classifier::lesson::Part;
use holdgate_core::classifier::project::Memories;
use holdgate_effects::json::{Json, LoneSurrogates};
use labels::{Labelled, Labels, Sources};
use models::Models;
use std::fs::{File, TryLockError};
use std::io::{BufRead as _, BufReader};
use std::path::Path;

/// Held so that only one process learns at a time.
const LOCK: &str = "classifier.lock";
/// Lines that are longer are not records.
const MAX_LINE: usize = 1 << 20;
/// Attacks and honest calls among the held-out ones without which no figure is taken.
const MIN_HELD_OUT: usize = 10;
/// How much worse than the previous model a new one may do on held-out calls: chance makes as much.
const TOLERANCE: f64 = 0.02;

/// What came of learning.
#[derive(Clone, Debug)]
pub struct Report {
    /// Where the labels come from.
    pub sources: Sources,
    /// Calls with a label.
    pub labelled: usize,
    /// The last record that was read.
    pub read_to: u64,
    /// On the newest fifth of them, which were held out.
    pub held_out: Option<HeldOut>,
    /// Projects with a memory, each with the honest calls that its thresholds come from.
    pub projects: Vec<(u64, usize)>,
    /// What became of the model.
    pub fate: Fate,
}

/// What became of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// There was nothing new to learn from.
    Unchanged,
    /// It is in force, or would be.
    Accepted,
    /// It is not used, for this reason.
    Discarded(String),
}

/// How two models do on calls that neither has learned from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeldOut {
    /// Attacks among them.
    pub attacks: usize,
    /// Honest calls among them.
    pub honest: usize,
    /// How often an attack scores higher than an honest call, by the previous model.
    pub before: f64,
    /// The same by the new one.
    pub after: f64,
}

/// Learns from what the ledger in `dir` has recorded since, and puts the model in place if it passes.
pub fn learn(dir: &Path) -> anyhow::Result<Report> {
    std::fs::create_dir_all(dir)?;
    let lock = ledger::private(&dir.join(LOCK), |o| o.create(true).write(true))?;
    take_lock(&lock)?;
    let (report, memories) = prepare(dir)?;
    if report.fate == Fate::Accepted {
        models::write(dir, &memories)?;
    }
    Ok(report)
}

/// The same, without changing anything.
pub fn prepare(dir: &Path) -> anyhow::Result<(Report, Memories)> {
    let before = models::read(dir).unwrap_or_else(|error| {
        crate::log::warn(&format!("learning starts anew: {error:#}"));
        None
    });
    let before = before.unwrap_or_default();
    let labels = read(dir, before.read_to)?;
    let read_to = labels.read_to.max(before.read_to);
    let (calls, sources) = labels.finish();
    Ok(train(&before, &calls, sources, read_to))
}

/// Trains a model on labelled calls, and checks it.
pub fn train(
    before: &Memories,
    calls: &[Labelled],
    sources: Sources,
    read_to: u64,
) -> (Report, Memories) {
    let base = Classifier::new(Base::built_in(), None);
    let held_out = held_out(before, calls, &base);
    let mut after = before.clone();
    for call in calls {
        teach(&mut after, call, &base);
    }
    after.read_to = read_to;
    let fate = if calls.is_empty() {
        Fate::Unchanged
    } else {
        check(&after, held_out).map_or_else(Fate::Discarded, |()| Fate::Accepted)
    };
    let projects = after.projects.iter();
    let report = Report {
        sources,
        labelled: calls.len(),
        read_to,
        held_out,
        projects: projects
            .map(|(project, m)| (*project, m.honest()))
            .collect(),
        fate,
    };
    (report, after)
}

/// One call changes the memory of its project.
fn teach(memories: &mut Memories, call: &Labelled, base: &Classifier) {
    let memory = memories.of(call.lesson.project, call.seq);
    // A call counts by its highest unit.
    let parts = call.lesson.units.iter();
    let score = |part: &Part| base.semantic(&part.facts);
    if let Some(part) = parts.max_by(|a, b| score(a).total_cmp(&score(b))) {
        memory.learn(part, base.base(), call.is_attack, call.weight);
    }
    if !call.is_attack {
        // Thresholds come from the scores of the base model: nothing that was learned moves them.
        memory.allow(&call.lesson.units, scores(base, call));
    }
}

/// The semantic and the lexical score of a call.
fn scores(classifier: &Classifier, call: &Labelled) -> (f32, f32) {
    let mut scores = (f32::MIN, f32::MIN);
    for part in &call.lesson.units {
        scores.0 = scores.0.max(classifier.semantic(&part.facts));
        scores.1 = scores.1.max(classifier.lexical(&part.text));
    }
    scores
}

/// Whether a model passes the checks that need no new calls; otherwise why not.
pub fn is_acceptable(memories: &Memories) -> Result<(), String> {
    check(memories, None)
}

/// Whether a model may be used; otherwise why not.
fn check(after: &Memories, held_out: Option<HeldOut>) -> Result<(), String> {
    let written = Memories::read(&after.write()).map_err(|error| error.to_string())?;
    if written != *after {
        return Err("it is not the same after it was written and read".to_owned());
    }
    if let Some(HeldOut { before, after, .. }) = held_out
        && after + TOLERANCE < before
    {
        return Err(format!(
            "on held-out calls it does worse than the previous model: {after:.3} after {before:.3}"
        ));
    }
    let models = Models::of(after);
    let set = regression::built_in().map_err(|error| error.to_string())?;
    models.learned().try_for_each(|learned| set.check(learned))
}

/// Trains on the older calls and compares both models on the newest fifth.
fn held_out(before: &Memories, calls: &[Labelled], base: &Classifier) -> Option<HeldOut> {
    let (older, newest) = calls.split_at_checked(calls.len() - calls.len() / 5)?;
    let attacks = newest.iter().filter(|call| call.is_attack).count();
    let honest = newest.len() - attacks;
    if attacks < MIN_HELD_OUT || honest < MIN_HELD_OUT {
        return None;
    }
    let mut after = before.clone();
    for call in older {
        teach(&mut after, call, base);
    }
    let auroc = |memories: &Memories| {
        let models = Models::of(memories);
        let scored = newest.iter().map(|call| {
            let (semantic, lexical) = scores(&models.of_project(call.lesson.project), call);
            (call.is_attack, semantic + lexical)
        });
        auroc(&scored.collect::<Vec<_>>())
    };
    Some(HeldOut {
        attacks,
        honest,
        before: auroc(before),
        after: auroc(&after),
    })
}

/// How often an attack scores higher than an honest call; a tie counts half.
#[expect(
    clippy::cast_precision_loss,
    reason = "counts of calls stay far below 2^52"
)]
pub fn auroc(scored: &[(bool, f32)]) -> f64 {
    let mut honest: Vec<f32> = scored.iter().filter(|s| !s.0).map(|s| s.1).collect();
    honest.sort_unstable_by(f32::total_cmp);
    let mut above = 0.0;
    let mut pairs = 0.0;
    for (_, score) in scored.iter().filter(|s| s.0) {
        let below = honest.partition_point(|other| other < score);
        let up_to = honest.partition_point(|other| other <= score);
        above += f64::midpoint(below as f64, up_to as f64);
        pairs += honest.len() as f64;
    }
    if pairs > 0.0 { above / pairs } else { 0.5 }
}

/// The labels of all records after `read_to`.
fn read(dir: &Path, read_to: u64) -> anyhow::Result<Labels> {
    let mut labels = Labels::default();
    for path in ledger::files(dir)? {
        let mut reader = BufReader::new(ledger::readable(&path)?);
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line)? > 0 {
            // The last line may still be written.
            if line.ends_with(b"\n")
                && line.len() <= MAX_LINE
                && let Ok(record) = Json::read(&line, 128, LoneSurrogates::Refuse)
                && labels::number(record.get("seq")).is_some_and(|seq| seq > read_to)
            {
                labels.take(&record);
            }
            line.clear();
        }
    }
    Ok(labels)
}

fn take_lock(file: &File) -> anyhow::Result<()> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => anyhow::bail!("another process is learning already"),
        Err(TryLockError::Error(error)) => Err(error.into()),
    }
}

impl Report {
    /// What was learned, in a line.
    pub fn summary(&self) -> String {
        let Sources {
            blocked,
            denied,
            killed,
            approved,
            uneventful,
            capped,
        } = self.sources;
        let held_out = self.held_out.map_or_else(String::new, |h| {
            format!(
                "; on {} held-out attacks and {} honest calls: AUROC {:.3}, before {:.3}",
                h.attacks, h.honest, h.after, h.before
            )
        });
        format!(
            "the classifier has learned from {} calls ({blocked} blocked, {denied} denied, {killed} \
             before a kill, {approved} approved, {uneventful} uneventful; {capped} left out){held_out}",
            self.labelled
        )
    }

    /// The same for programs.
    pub fn to_json(&self) -> serde_json::Value {
        let Sources {
            blocked,
            denied,
            killed,
            approved,
            uneventful,
            capped,
        } = self.sources;
        let (fate, reason) = match &self.fate {
            Fate::Unchanged => ("unchanged", None),
            Fate::Accepted => ("accepted", None),
            Fate::Discarded(why) => ("discarded", Some(why)),
        };
        let held_out = self.held_out.map(|h| {
            serde_json::json!({
                "attacks": h.attacks, "honest": h.honest,
                "auroc": h.after, "auroc_before": h.before,
            })
        });
        let projects = self.projects.iter().map(|(project, honest)| {
            serde_json::json!({"project": format!("{project:016x}"), "honest": honest})
        });
        serde_json::json!({
            "fate": fate,
            "reason": reason,
            "labelled": self.labelled,
            "labels": {
                "blocked": blocked, "denied": denied, "killed": killed,
                "approved": approved, "uneventful": uneventful, "left_out": capped,
            },
            "held_out": held_out,
            "projects": projects.collect::<Vec<_>>(),
            "read_to": self.read_to,
        })
    }
}
