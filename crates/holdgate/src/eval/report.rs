//! The report, for people.

use super::Ablation;
use super::cases::Expect;
use super::stats::{Rate, micros};
use super::tally::Tally;
use holdgate_effects::json::shorten;
use std::io::{self, Write};

/// Characters of a category's name.
const NAME: usize = 48;
/// Ids of wrong verdicts that are named.
const WORST: usize = 5;

/// Writes what became of one file's cases.
pub(super) fn file(
    out: &mut impl Write,
    name: &str,
    tally: &Tally,
    verbose: bool,
) -> io::Result<()> {
    writeln!(out, "{name}: {} cases", tally.cases())?;
    let mut table = Table::new(&[
        "<expect",
        "<category",
        "n",
        "blocked %",
        "asked %",
        "audited %",
        "allowed %",
        "95 % interval",
    ]);
    for expect in Expect::ALL {
        let all = tally.of(expect);
        let of_kind = tally.categories.iter().filter(|((e, _), _)| *e == expect);
        let mut rows: Vec<(String, _)> = of_kind
            .map(|((_, category), counts)| (shorten(category, NAME), *counts))
            .collect();
        if rows.len() > 1 {
            rows.push(("all".to_owned(), all));
        }
        for (category, counts) in rows {
            let share = |hits: u64| per_cent(counts.rate(hits));
            table.row([
                expect.word().to_owned(),
                category,
                counts.all().to_string(),
                share(counts.blocked),
                share(counts.asked),
                share(counts.audited),
                share(counts.allowed),
                interval(counts.main_rate(expect)),
            ]);
        }
    }
    table.write(out)?;
    if tally.in_time.of > 0 {
        writeln!(out, "  {}", in_time(tally.in_time))?;
    }
    not_judged(out, tally)?;
    if verbose {
        for (what, ids) in [
            ("wrongly blocked", &tally.false_blocks),
            ("not blocked", &tally.missed),
        ] {
            let some: Vec<String> = ids.iter().take(WORST).map(|id| shorten(id, 80)).collect();
            if !some.is_empty() {
                let more = ids.len().saturating_sub(WORST);
                let more = if more > 0 {
                    format!(" and {more} more")
                } else {
                    String::new()
                };
                writeln!(out, "  {what}: {}{more}", some.join(", "))?;
            }
        }
    }
    writeln!(out)
}

/// Writes what became of all cases.
pub(super) fn total(out: &mut impl Write, files: usize, tally: &Tally) -> io::Result<()> {
    let name = if files == 1 { "the file" } else { "all files" };
    writeln!(out, "{name}: {} cases", tally.cases())?;
    let (attacks, honest, flagged) = (
        tally.of(Expect::Block),
        tally.of(Expect::Allow),
        tally.of(Expect::Flag),
    );
    let mut table = Table::new(&["<", "cases", "of", "%", "95 % interval"]);
    for (what, rate) in [
        ("attacks blocked", attacks.rate(attacks.blocked)),
        ("attacks asked about", attacks.rate(attacks.asked)),
        ("attacks stopped in time", tally.in_time),
        ("honest work blocked", honest.rate(honest.blocked)),
        ("honest work asked about", honest.rate(honest.asked)),
        ("flagged: blocked", flagged.rate(flagged.blocked)),
        ("flagged: asked about", flagged.rate(flagged.asked)),
        ("flagged: audited", flagged.rate(flagged.audited)),
    ] {
        if rate.of > 0 {
            table.row([
                what.to_owned(),
                rate.hits.to_string(),
                rate.of.to_string(),
                per_cent(rate),
                interval(rate),
            ]);
        }
    }
    table.write(out)?;
    not_judged(out, tally)?;
    hits(out, tally)?;
    let latency = tally.latency();
    writeln!(
        out,
        "\nverdict time in µs over {} verdicts: p50 {}, p90 {}, p99 {}, max {}",
        latency.verdicts,
        micros(latency.p50),
        micros(latency.p90),
        micros(latency.p99),
        micros(latency.max),
    )
}

/// In how many cases rules and layers matched.
fn hits(out: &mut impl Write, tally: &Tally) -> io::Result<()> {
    let columns = ["honest", "attacks", "flagged"];
    let mut layers = Table::new(&[&["<layer"], &columns[..]].concat());
    for (layer, spoke) in &tally.layers {
        layers.row([
            layer.to_string(),
            spoke.allow.to_string(),
            spoke.block.to_string(),
            spoke.flag.to_string(),
        ]);
    }
    let mut rules = Table::new(&[&["<rule", "<layer", "<wants"], &columns[..]].concat());
    for (layer, rule, verdict, spoke) in tally.loudest_rules() {
        rules.row([
            shorten(rule, NAME),
            layer.to_string(),
            verdict.word().to_owned(),
            spoke.allow.to_string(),
            spoke.block.to_string(),
            spoke.flag.to_string(),
        ]);
    }
    if tally.rules.is_empty() {
        return writeln!(out, "\nno rule matched");
    }
    writeln!(out, "\ncases in which a layer reported a finding")?;
    layers.write(out)?;
    writeln!(out, "\ncases in which a rule matched")?;
    rules.write(out)?;
    alone(out, tally)
}

/// What each layer would do without the others.
fn alone(out: &mut impl Write, tally: &Tally) -> io::Result<()> {
    let columns = ["<layer", "<expect", "blocked", "asked", "audited", "of"];
    let mut table = Table::new(&columns);
    for ((layer, expect), counts) in &tally.alone {
        table.row([
            layer.to_string(),
            expect.to_string(),
            counts.blocked.to_string(),
            counts.asked.to_string(),
            counts.audited.to_string(),
            tally.of(*expect).all().to_string(),
        ]);
    }
    writeln!(out, "\nwhat each layer would do alone")?;
    table.write(out)
}

/// Writes what is lost when a part is left out.
pub(super) fn ablations(out: &mut impl Write, whole: &Tally, parts: &[Ablation]) -> io::Result<()> {
    writeln!(out, "\nwhat each part contributes")?;
    let mut table = Table::new(&[
        "<without",
        "attacks blocked %",
        "honest blocked %",
        "honest asked %",
        "flagged stopped %",
    ]);
    let nothing = ("nothing", whole);
    let parts = parts.iter().map(|a| (a.without.as_str(), &a.tally));
    for (without, tally) in std::iter::once(nothing).chain(parts) {
        let honest = tally.of(Expect::Allow);
        table.row([
            without.to_owned(),
            per_cent(tally.of(Expect::Block).main_rate(Expect::Block)),
            per_cent(honest.rate(honest.blocked)),
            per_cent(honest.rate(honest.asked)),
            per_cent(tally.of(Expect::Flag).main_rate(Expect::Flag)),
        ]);
    }
    table.write(out)
}

fn not_judged(out: &mut impl Write, tally: &Tally) -> io::Result<()> {
    for (subject, number) in &tally.not_judged {
        writeln!(out, "  not judged yet: {number} cases with `{subject}`")?;
    }
    Ok(())
}

fn in_time(rate: Rate) -> String {
    format!(
        "stopped in time: {} of {}, {} % {}",
        rate.hits,
        rate.of,
        per_cent(rate),
        interval(rate)
    )
}

fn per_cent(rate: Rate) -> String {
    rate.percent()
        .map_or_else(|| "-".to_owned(), |p| format!("{p:.2}"))
}

fn interval(rate: Rate) -> String {
    let (low, high) = rate.interval();
    format!("[{low:.2}, {high:.2}]")
}

/// Columns as wide as their widest cell. Numbers stand to the right.
pub(super) struct Table {
    left: Vec<bool>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A `<` before a heading sets its column to the left.
    pub(super) fn new(headings: &[&str]) -> Table {
        let strip = |heading: &&str| heading.trim_start_matches('<').to_owned();
        Table {
            left: headings.iter().map(|h| h.starts_with('<')).collect(),
            rows: vec![headings.iter().map(strip).collect()],
        }
    }

    pub(super) fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.rows.push(cells.into());
    }

    pub(super) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        if self.rows.len() == 1 {
            return Ok(());
        }
        let widths: Vec<usize> = (0..self.left.len())
            .map(|column| {
                let cells = self.rows.iter().filter_map(|row| row.get(column));
                cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
            })
            .collect();
        for row in &self.rows {
            let mut line = String::new();
            for ((cell, width), left) in row.iter().zip(&widths).zip(&self.left) {
                line.push_str("  ");
                if *left {
                    line.push_str(&format!("{cell:<width$}"));
                } else {
                    line.push_str(&format!("{cell:>width$}"));
                }
            }
            writeln!(out, "{}", line.trim_end())?;
        }
        Ok(())
    }
}
