//! The trajectory layer alone, on sequences.

use super::tables::{full, table};
use super::{Figures, stem};
use crate::eval::Judged;
use crate::eval::cases::Expect;
use crate::eval::setup::{Part, SetUp};
use crate::eval::stats::Rate;
use holdgate_core::{LayerName, Verdict};

/// What the trajectory layer alone does with a set of sequences.
pub(super) struct Sequences {
    set: String,
    attacks: [Rate; 3],
    normal: [Rate; 3],
}

/// Each threshold is a verdict: what is at least recorded, at least asked about, blocked.
const THRESHOLDS: [Verdict; 3] = [Verdict::Block, Verdict::Ask, Verdict::Audit];

/// Judges the sequences of the trajectory sets by their layer alone.
pub(super) fn judge(set_up: &SetUp, files: &[Judged]) -> anyhow::Result<Vec<Sequences>> {
    let mut others = set_up.layers();
    others.retain(|layer| *layer != LayerName::Trajectory);
    let bench = set_up.bench(&Part::Layers("others".to_owned(), others))?;
    let mut sets: Vec<Sequences> = Vec::new();
    for file in files
        .iter()
        .filter(|file| stem(file).starts_with("trajectories"))
    {
        for (case, _) in &file.cases {
            // The set is named by the category, or by the file.
            let file = stem(file).trim_start_matches("trajectories-");
            let name = case.category.split_once('-').map_or(file, |(set, _)| set);
            let verdict = bench
                .judge(case)
                .map_or(Verdict::Allow, |outcome| outcome.verdict);
            let index = sets
                .iter()
                .position(|set| set.set == name)
                .unwrap_or_else(|| {
                    let nothing = [Rate::default(); 3];
                    let set = name.to_owned();
                    sets.push(Sequences {
                        set,
                        attacks: nothing,
                        normal: nothing,
                    });
                    sets.len() - 1
                });
            let Some(set) = sets.get_mut(index) else {
                continue;
            };
            let rates = match case.expect {
                Expect::Block => &mut set.attacks,
                Expect::Allow => &mut set.normal,
                Expect::Flag => continue,
            };
            for (rate, least) in rates.iter_mut().zip(THRESHOLDS) {
                rate.of += 1;
                rate.hits += u64::from(verdict >= least);
            }
        }
    }
    Ok(sets)
}

/// The trajectory layer alone, at each of its thresholds.
pub(super) fn thresholds(figures: &Figures<'_>) -> String {
    let mut rows = Vec::new();
    for set in &figures.sequences {
        for ((least, attacks), normal) in THRESHOLDS.iter().zip(set.attacks).zip(set.normal) {
            rows.push(vec![
                set.set.clone(),
                match least {
                    Verdict::Block | Verdict::Kill => "blocked",
                    Verdict::Ask => "blocked or asked about",
                    Verdict::Audit | Verdict::Allow => "blocked, asked about or recorded",
                }
                .to_owned(),
                full(attacks),
                full(normal),
            ]);
        }
    }
    table(
        &["<set", "<threshold", "<attacks", "<normal sequences"],
        &rows,
    )
}
