//! What gets through of the mutants of blocked commands.

use super::Figures;
use super::tables::{full, interval, per_cent, table};
use crate::eval::redteam::{Class, sum, through};
use crate::eval::tally::Counts;

/// What gets through of the mutants of blocked commands.
pub(super) fn by_class(figures: &Figures<'_>) -> String {
    let row = |class: String, name: String, counts: Counts| {
        let rate = through(counts);
        vec![
            class,
            name,
            counts.all().to_string(),
            counts.blocked.to_string(),
            counts.asked.to_string(),
            rate.hits.to_string(),
            per_cent(rate),
            interval(rate),
        ]
    };
    let mut rows = Vec::new();
    for class in Class::ALL {
        let of_class = figures
            .redteam
            .iter()
            .filter(|tested| tested.class == class);
        let mut all = Counts::default();
        for tested in of_class {
            all.add(tested.counts);
            rows.push(row(
                class.to_string(),
                tested.name.to_owned(),
                tested.counts,
            ));
        }
        rows.push(row(class.to_string(), "**all**".to_owned(), all));
    }
    let all = sum(&figures.redteam);
    rows.push(row("**all**".to_owned(), String::new(), all));
    let headings = [
        "<class",
        "<mutator",
        "mutants",
        "blocked",
        "asked",
        "through",
        "through %",
        "95 % interval",
    ];
    let mut text = format!(
        "`holdgate redteam corpus/*.jsonl` with its defaults: {} get through.\n\n{}",
        full(through(all)),
        table(&headings, &rows)
    );
    let open = figures
        .redteam
        .iter()
        .filter(|tested| !tested.through.is_empty());
    let rows: Vec<_> = open
        .map(|tested| {
            let ids: Vec<_> = tested
                .through
                .iter()
                .map(|mutant| format!("`{}`", mutant.of))
                .collect();
            vec![
                tested.class.to_string(),
                tested.name.to_owned(),
                ids.join(", "),
            ]
        })
        .collect();
    if !rows.is_empty() {
        text.push_str("\nWhat gets through, by the case that it was made from:\n\n");
        text.push_str(&table(&["<class", "<mutator", "<cases"], &rows));
    }
    text
}
