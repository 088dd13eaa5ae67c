//! The tables of the evaluation.

use super::{Figures, is_call, oracle, stem, tally};
use crate::eval::Judged;
use crate::eval::cases::Expect;
use crate::eval::stats::Rate;
use crate::eval::tally::{Counts, Tally};
use holdgate_effects::json::shorten;
use std::collections::BTreeMap;

/// The order of severities.
const SEVERITIES: [&str; 4] = ["critical", "high", "medium", "low"];

/// A Markdown table. A `<` before a heading sets its column to the left.
pub(super) fn table(headings: &[&str], rows: &[Vec<String>]) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let names = headings
        .iter()
        .map(|h| h.trim_start_matches('<').to_owned());
    let marks = headings
        .iter()
        .map(|h| if h.starts_with('<') { "---" } else { "--:" });
    let mut text = line(names.collect()) + &format!("|{}|\n", marks.collect::<Vec<_>>().join("|"));
    for row in rows {
        let escaped = row.iter().map(|cell| cell.replace('|', "\\|"));
        text.push_str(&line(escaped.collect()));
    }
    text
}

/// `97.98`, or a dash if there is nothing.
pub(super) fn per_cent(rate: Rate) -> String {
    rate.percent().map_or_else(dash, |p| format!("{p:.2}"))
}

/// `[97.38, 98.47]`, or a dash if there is nothing.
pub(super) fn interval(rate: Rate) -> String {
    if rate.of == 0 {
        return dash();
    }
    let (low, high) = rate.interval();
    format!("[{low:.2}, {high:.2}]")
}

/// `12 of 12, 100.00 % [73.54, 100.00]`
pub(super) fn full(rate: Rate) -> String {
    if rate.of == 0 {
        return dash();
    }
    format!(
        "{} of {}, {} % {}",
        rate.hits,
        rate.of,
        per_cent(rate),
        interval(rate)
    )
}

pub(super) fn dash() -> String {
    "–".to_owned()
}

pub(super) fn blocked(tally: &Tally, expect: Expect) -> Rate {
    let counts = tally.of(expect);
    counts.rate(counts.blocked)
}

pub(super) fn stopped(counts: Counts) -> Rate {
    counts.rate(counts.blocked + counts.asked)
}

/// The rates over all cases, and those of the blind ones.
pub(super) fn summary(figures: &Figures<'_>) -> String {
    let blind = tally(figures.material.blind, |_, _| true);
    let mut rows = Vec::new();
    for (set, tally) in [("", &figures.total), ("blind: ", &blind)] {
        let (attacks, honest, flagged) = (
            tally.of(Expect::Block),
            tally.of(Expect::Allow),
            tally.of(Expect::Flag),
        );
        for (what, rate) in [
            ("attacks blocked", attacks.rate(attacks.blocked)),
            ("attacks blocked or asked about", stopped(attacks)),
            ("attacks stopped in time", tally.in_time),
            ("honest work blocked", honest.rate(honest.blocked)),
            ("honest work asked about", honest.rate(honest.asked)),
            (
                "cases between them, blocked or asked about",
                stopped(flagged),
            ),
        ] {
            if rate.of > 0 {
                rows.push(vec![
                    format!("{set}{what}"),
                    rate.hits.to_string(),
                    rate.of.to_string(),
                    per_cent(rate),
                    interval(rate),
                ]);
            }
        }
    }
    table(&["<", "cases", "of", "%", "95 % interval"], &rows)
}

/// One row for each file.
pub(super) fn files(figures: &Figures<'_>) -> String {
    let row = |name: String, tally: &Tally| {
        let (attacks, honest) = (tally.of(Expect::Block), tally.of(Expect::Allow));
        let (caught, wrong) = (attacks.rate(attacks.blocked), honest.rate(honest.blocked));
        vec![
            name,
            attacks.all().to_string(),
            attacks.blocked.to_string(),
            attacks.asked.to_string(),
            per_cent(caught),
            interval(caught),
            honest.all().to_string(),
            honest.blocked.to_string(),
            honest.asked.to_string(),
            interval(wrong),
        ]
    };
    let files = figures.material.files.iter();
    let mut rows: Vec<_> = files
        .map(|file| row(stem(file).to_owned(), &file.tally))
        .collect();
    rows.push(row("**all**".to_owned(), &figures.total));
    let headings = [
        "<file",
        "attacks",
        "blocked",
        "asked",
        "blocked %",
        "95 % interval",
        "honest",
        "blocked",
        "asked",
        "95 % interval of blocked",
    ];
    table(&headings, &rows)
}

/// Attacks blocked, for the plot.
pub(super) fn attack_rates(figures: &Figures<'_>) -> Vec<(String, Rate)> {
    rates(figures, |tally| blocked(tally, Expect::Block))
}

/// Honest work that was not simply let through, for the plot.
pub(super) fn honest_rates(figures: &Figures<'_>) -> Vec<(String, Rate)> {
    rates(figures, |tally| stopped(tally.of(Expect::Allow)))
}

fn rates(figures: &Figures<'_>, rate: impl Fn(&Tally) -> Rate) -> Vec<(String, Rate)> {
    let blind = figures.material.blind.iter();
    let named = figures
        .material
        .files
        .iter()
        .map(|file| (stem(file).to_owned(), file));
    let named = named.chain(blind.map(|file| (format!("blind: {}", stem(file)), file)));
    let rates = named.map(|(name, file)| (name, rate(&file.tally)));
    let all = ("all but blind".to_owned(), rate(&figures.total));
    rates.chain([all]).filter(|(_, rate)| rate.of > 0).collect()
}

/// Cases with a severity, by class; the blind ones beside them.
pub(super) fn classes(figures: &Figures<'_>) -> String {
    let mut classes: BTreeMap<(usize, &str), [Counts; 2]> = BTreeMap::new();
    let mut severities: BTreeMap<usize, [Counts; 2]> = BTreeMap::new();
    for (set, files) in [figures.material.files, figures.material.blind]
        .into_iter()
        .enumerate()
    {
        for (case, outcome) in files.iter().flat_map(|file| &file.cases) {
            let severity = case.severity.as_deref();
            let rank = severity.and_then(|word| SEVERITIES.iter().position(|s| *s == word));
            let (Some(rank), Some(outcome), Expect::Block) = (rank, outcome, case.expect) else {
                continue;
            };
            let class = classes.entry((rank, &case.category)).or_default();
            let all = severities.entry(rank).or_default();
            for counts in [class, all]
                .into_iter()
                .filter_map(|sets| sets.get_mut(set))
            {
                counts.count(outcome.verdict);
            }
        }
    }
    let row = |severity: usize, class: String, [known, blind]: &[Counts; 2]| {
        let (rate, unknown) = (known.rate(known.blocked), blind.rate(blind.blocked));
        vec![
            SEVERITIES
                .get(severity)
                .copied()
                .unwrap_or_default()
                .to_owned(),
            class,
            rate.of.to_string(),
            rate.hits.to_string(),
            interval(rate),
            unknown.of.to_string(),
            unknown.hits.to_string(),
            interval(unknown),
        ]
    };
    let mut rows = Vec::new();
    for (rank, all) in &severities {
        let of_rank = classes.iter().filter(|((r, _), _)| r == rank);
        rows.extend(of_rank.map(|((_, class), counts)| row(*rank, (*class).to_owned(), counts)));
        rows.push(row(*rank, "**all**".to_owned(), all));
    }
    let headings = [
        "<severity",
        "<class",
        "n",
        "blocked",
        "95 % interval",
        "blind n",
        "blocked",
        "95 % interval",
    ];
    table(&headings, &rows)
}

/// The blind cases by file, and those that ended otherwise than expected.
pub(super) fn blind(figures: &Figures<'_>) -> String {
    let blind = figures.material.blind;
    if blind.is_empty() {
        return "No blind cases were given (`--blind`).".to_owned();
    }
    let mut text = String::new();
    let all = tally(blind, |_, _| true);
    let (attacks, honest) = (all.of(Expect::Block), all.of(Expect::Allow));
    for (what, rate) in [
        ("Attacks blocked", attacks.rate(attacks.blocked)),
        ("Honest work blocked", honest.rate(honest.blocked)),
        ("Honest work asked about", honest.rate(honest.asked)),
    ] {
        text.push_str(&format!("- {what}: {}.\n", full(rate)));
    }
    text.push('\n');
    text + &wrong(figures, blind)
}

/// Every case that ends otherwise than expected, with the accepted reason.
pub(super) fn misses(figures: &Figures<'_>) -> String {
    wrong(figures, figures.material.files)
}

fn wrong(figures: &Figures<'_>, files: &[Judged]) -> String {
    let mut rows = Vec::new();
    for (case, outcome) in files.iter().flat_map(|file| &file.cases) {
        let Some(outcome) = outcome
            .as_ref()
            .filter(|outcome| !oracle::as_expected(case, outcome))
        else {
            continue;
        };
        let reason = figures
            .material
            .oracle
            .and_then(|oracle| oracle.reason(&case.id));
        rows.push(vec![
            format!("`{}`", shorten(&case.id, 80)),
            case.expect.to_string(),
            oracle::word(outcome).to_owned(),
            reason.map_or_else(dash, str::to_owned),
        ]);
    }
    if rows.is_empty() {
        return "Every case ends as expected.".to_owned();
    }
    table(&["<case", "<expected", "<verdict", "<reason"], &rows)
}

/// Everything, by file and category.
pub(super) fn categories(figures: &Figures<'_>) -> String {
    let mut rows = Vec::new();
    for file in figures.material.files {
        for ((expect, category), counts) in &file.tally.categories {
            rows.push(vec![
                stem(file).to_owned(),
                expect.to_string(),
                category.clone(),
                counts.all().to_string(),
                counts.blocked.to_string(),
                counts.asked.to_string(),
                per_cent(counts.main_rate(*expect)),
                interval(counts.main_rate(*expect)),
            ]);
        }
    }
    let headings = [
        "<file",
        "<expected",
        "<category",
        "n",
        "blocked",
        "asked",
        "%",
        "95 % interval",
    ];
    format!(
        "The rate is that of blocked cases; for `flag`, of those that are blocked or asked about.\n\n<details><summary>{} rows</summary>\n\n{}\n</details>",
        rows.len(),
        table(&headings, &rows)
    )
}

/// The same for a few picked cases.
pub(super) fn picked(figures: &Figures<'_>, picks: impl Fn(&str, &str) -> bool) -> Tally {
    tally(figures.material.files, |file, case| {
        picks(file, &case.category)
    })
}

/// Calls, sessions and messages of these files.
pub(super) fn of_files(figures: &Figures<'_>, names: &[&str]) -> Tally {
    tally(figures.material.files, |file, _| names.contains(&file))
}

/// Honest calls of every file.
pub(super) fn honest_calls(figures: &Figures<'_>) -> Counts {
    tally(figures.material.files, |_, case| is_call(case)).of(Expect::Allow)
}
