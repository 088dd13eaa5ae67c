//! What each layer and each class of rules contributes.

use super::Figures;
use super::tables::{blocked, interval, per_cent, stopped, table};
use crate::eval::Ablation;
use crate::eval::cases::Expect;
use crate::eval::stats::Rate;
use crate::eval::tally::Tally;
use holdgate_core::{LayerName, Verdict};

/// What each layer would do alone, and how often it is the only one to block.
pub(super) fn layers(figures: &Figures<'_>) -> String {
    let tally = &figures.total;
    let mut rows = Vec::new();
    for layer in tally.layers.keys() {
        let of = |expect| {
            tally
                .alone
                .get(&(*layer, expect))
                .copied()
                .unwrap_or_default()
        };
        let (attacks, honest) = (of(Expect::Block), of(Expect::Allow));
        rows.push(vec![
            layer.to_string(),
            attacks.blocked.to_string(),
            attacks.asked.to_string(),
            attacks.audited.to_string(),
            only(figures, *layer).to_string(),
            honest.blocked.to_string(),
            honest.asked.to_string(),
            honest.audited.to_string(),
        ]);
    }
    let headings = [
        "<layer",
        "attacks blocked",
        "asked",
        "recorded",
        "blocked by no other layer",
        "honest work blocked",
        "asked",
        "recorded",
    ];
    format!(
        "Of {} attacks and {} honest cases. The injection filter marks results, and records that it did.\n\n{}",
        tally.of(Expect::Block).all(),
        tally.of(Expect::Allow).all(),
        table(&headings, &rows)
    )
}

/// Attacks that this layer blocks, and no other.
fn only(figures: &Figures<'_>, layer: LayerName) -> usize {
    let cases = figures.material.files.iter().flat_map(|file| &file.cases);
    let alone = cases.filter(|(case, outcome)| {
        let hits = outcome.iter().flat_map(|outcome| &outcome.hits);
        let mut blocks = hits
            .filter(|hit| hit.verdict >= Verdict::Block)
            .map(|hit| hit.layer)
            .peekable();
        case.expect == Expect::Block && blocks.peek().is_some() && blocks.all(|by| by == layer)
    });
    alone.count()
}

/// Leave-one-out, by layer and by class of rules.
pub(super) fn ablation(figures: &Figures<'_>) -> String {
    let (attacks, honest) = (
        figures.calls.of(Expect::Block),
        figures.calls.of(Expect::Allow),
    );
    let mut text = format!(
        "Over the {} attacks and {} honest cases that are calls, sessions or messages. Results, output and texts have \
         judges of their own, which no row leaves out. F1 counts blocked honest work as false positives.\n\n",
        attacks.all(),
        honest.all()
    );
    let full = [("all parts".to_owned(), &figures.calls)];
    let rows = full.into_iter().chain(
        figures
            .by_layer
            .iter()
            .chain(&figures.by_rules)
            .map(|ablation| (format!("without {}", ablation.without), &ablation.tally)),
    );
    let rows: Vec<_> = rows.map(|(name, tally)| ablated(name, tally)).collect();
    text.push_str(&table(&ABLATED, &rows));
    text
}

pub(super) const ABLATED: [&str; 6] = [
    "<",
    "attacks blocked %",
    "95 % interval",
    "F1",
    "missed",
    "honest work asked about",
];

/// A row for [`ABLATED`].
pub(super) fn ablated(name: String, tally: &Tally) -> Vec<String> {
    let rate = blocked(tally, Expect::Block);
    vec![
        name,
        per_cent(rate),
        interval(rate),
        format!("{:.4}", f1(tally)),
        (rate.of - rate.hits).to_string(),
        tally.of(Expect::Allow).asked.to_string(),
    ]
}

#[allow(
    clippy::cast_precision_loss,
    reason = "counts of cases stay far below 2^52"
)]
fn f1(tally: &Tally) -> f64 {
    let (attacks, honest) = (tally.of(Expect::Block), tally.of(Expect::Allow));
    let errors = (attacks.all() - attacks.blocked) + honest.blocked;
    let twice = 2 * attacks.blocked;
    if twice + errors == 0 {
        return 0.0;
    }
    twice as f64 / (twice + errors) as f64
}

/// What is still blocked without a part, for the plot.
pub(super) fn ablation_rates(figures: &Figures<'_>) -> Vec<(String, Rate)> {
    let rate = |ablation: &Ablation| {
        let name = format!("without {}", ablation.without);
        (name, blocked(&ablation.tally, Expect::Block))
    };
    let all = (
        "all parts".to_owned(),
        blocked(&figures.calls, Expect::Block),
    );
    let parts = figures.by_layer.iter().chain(&figures.by_rules);
    std::iter::once(all).chain(parts.map(rate)).collect()
}

/// One layer after the other.
pub(super) fn stages(figures: &Figures<'_>) -> String {
    let row = |stage: &Ablation| {
        let (attacks, honest) = (stage.tally.of(Expect::Block), stage.tally.of(Expect::Allow));
        let flagged = stage.tally.of(Expect::Flag);
        let caught = attacks.rate(attacks.blocked);
        vec![
            stage.without.trim_start_matches("layer ").to_owned(),
            per_cent(caught),
            interval(caught),
            per_cent(stopped(attacks)),
            honest.blocked.to_string(),
            honest.asked.to_string(),
            per_cent(stopped(flagged)),
        ]
    };
    let rows: Vec<_> = figures.stages.iter().map(row).collect();
    let headings = [
        "<layers",
        "attacks blocked %",
        "95 % interval",
        "blocked or asked %",
        "honest work blocked",
        "asked",
        "cases between them, stopped %",
    ];
    table(&headings, &rows)
}
