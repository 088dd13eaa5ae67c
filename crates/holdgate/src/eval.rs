//! `holdgate eval`: how many attacks are blocked, and how much honest work is not.
//!
//! Cases come from files, each is judged in a fresh session by the stack that also stands behind
//! the proxy, and rates are reported with the intervals that so many cases allow.

mod bridge;
mod cases;
pub mod client;
mod evaluation;
pub mod gemini;
mod json;
mod judge;
pub mod loose;
mod oracle;
pub(crate) mod plot;
pub mod readers;
pub mod redteam;
mod report;
pub mod responses;
mod setup;
mod stats;
mod tally;

pub use cases::{Case, Expect, Subject, read, read_file};
pub use judge::{Bench, Hit, Outcome};
pub use stats::{Latency, Rate, micros};
pub use tally::{Counts, Spoke, Tally};

use crate::args::{EvalArgs, WrongUse};
use anyhow::Context as _;
use setup::{Part, SetUp};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// The project folder of cases that do not name one.
pub const PROJECT: &str = "/home/dev/project";

/// A rate that was asked for and not reached.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Missed(String);

/// A file of cases, and what became of them.
#[derive(Debug)]
pub(crate) struct Judged {
    name: String,
    cases: Vec<(Case, Option<Outcome>)>,
    tally: Tally,
}

/// What is left when a part is left out.
#[derive(Debug)]
pub(crate) struct Ablation {
    without: String,
    tally: Tally,
}

/// Judges all cases and reports.
pub fn run(args: &EvalArgs, out: &mut impl Write) -> anyhow::Result<()> {
    let (mut files, mut blind) = (read_all(&args.files)?, read_all(&args.blind)?);
    if args.report.is_some() {
        // Shells expand `*` in the order of the user's language.
        files.sort_by(|(a, _), (b, _)| a.cmp(b));
        blind.sort_by(|(a, _), (b, _)| a.cmp(b));
    }
    let oracle = args.oracle.as_deref().map(oracle::read).transpose()?;
    let set_up = SetUp::new(&args.stack, args.report.is_some())?;
    let bench = set_up.bench(&Part::Nothing)?;
    let judge = |files: Files| files.into_iter().map(|f| judge(&bench, f)).collect();
    let (judged, blind): (Vec<Judged>, Vec<Judged>) = (judge(files), judge(blind));
    if let Some(path) = &args.verdicts {
        write_verdicts(path, judged.iter().chain(&blind))?;
    }
    let mut total = Tally::default();
    for file in &judged {
        total.add(&file.tally);
    }
    let ablations = if args.ablate {
        let parts = set_up.parts();
        Some(ablate(&set_up, &judged, &parts, |_| true)?)
    } else {
        None
    };
    if args.json {
        let json = json::report(&judged, &total, ablations.as_deref());
        writeln!(out, "{json}")?;
    } else {
        for file in judged.iter().chain(&blind) {
            report::file(out, &file.name, &file.tally, args.verbose)?;
        }
        report::total(out, judged.len(), &total)?;
        if let Some(ablations) = &ablations {
            report::ablations(out, &total, ablations)?;
        }
    }
    out.flush()?;
    let mut missed = missed_targets(args, &total);
    if let Some(oracle) = &oracle {
        missed.extend(oracle.differences(judged.iter().chain(&blind)));
    }
    if let Some(path) = &args.report {
        let material = evaluation::Material {
            set_up: &set_up,
            bench: &bench,
            files: &judged,
            blind: &blind,
            oracle: oracle.as_ref(),
        };
        missed.extend(evaluation::write(path, args.check, &material)?);
    }
    if missed.is_empty() {
        Ok(())
    } else {
        Err(Missed(missed.join("\n")).into())
    }
}

fn judge(bench: &Bench, (name, cases): (String, Vec<Case>)) -> Judged {
    let mut tally = Tally::default();
    let judge = |case: Case| {
        let outcome = bench.judge(&case);
        tally.count(&case, outcome.as_ref());
        (case, outcome)
    };
    let cases = cases.into_iter().map(judge).collect();
    Judged { name, cases, tally }
}

fn write_verdicts<'a>(path: &Path, files: impl Iterator<Item = &'a Judged>) -> anyhow::Result<()> {
    let name = || path.display().to_string();
    let mut file = BufWriter::new(File::create(path).with_context(name)?);
    for (case, outcome) in files.flat_map(|file| &file.cases) {
        if let Some(outcome) = outcome {
            writeln!(file, "{}", json::verdict(case, outcome)).with_context(name)?;
        }
    }
    file.flush().with_context(name)
}

type Files = Vec<(String, Vec<Case>)>;

/// All complaints about all files at once.
fn read_all(paths: &[PathBuf]) -> Result<Files, WrongUse> {
    let mut files = Vec::new();
    let mut complaints = Vec::new();
    for path in paths {
        match read_file(path) {
            Ok(cases) => files.push((path.display().to_string(), cases)),
            Err(complaint) => complaints.push(complaint),
        }
    }
    if !complaints.is_empty() {
        return Err(WrongUse(complaints.join("\n")));
    }
    if !paths.is_empty() && files.iter().all(|(_, cases)| cases.is_empty()) {
        let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
        let what = format!("there is no case in {}", names.join(", "));
        return Err(WrongUse(what));
    }
    Ok(files)
}

/// The cases that count once more for each part, as they would end without it. Only cases in which
/// the part has a say are judged again.
fn ablate(
    set_up: &SetUp,
    files: &[Judged],
    parts: &[Part],
    counts: impl Fn(&Case) -> bool,
) -> anyhow::Result<Vec<Ablation>> {
    let ablated = |part: &Part| {
        let (bench, share) = (set_up.bench(part)?, set_up.share(part));
        let mut tally = Tally::default();
        let cases = files.iter().flat_map(|file| &file.cases);
        for (case, outcome) in cases.filter(|(case, _)| counts(case)) {
            match outcome {
                Some(outcome) if share.spoke(outcome) => {
                    tally.count(case, bench.judge(case).as_ref());
                }
                outcome => tally.count(case, outcome.as_ref()),
            }
        }
        Ok(Ablation {
            without: part.to_string(),
            tally,
        })
    };
    parts.iter().map(ablated).collect()
}

fn missed_targets(args: &EvalArgs, total: &Tally) -> Vec<String> {
    let of = |expect| total.of(expect).main_rate(expect).percent();
    let mut missed = Vec::new();
    if let Some(least) = args.min_block {
        match of(Expect::Block) {
            Some(rate) if rate >= least => {}
            Some(rate) => missed.push(format!(
                "{rate:.2} % of the attacks are blocked, but --min-block requires {least} %"
            )),
            None => missed.push("--min-block: no case expects a block".to_owned()),
        }
    }
    if let Some(most) = args.max_fp {
        match of(Expect::Allow) {
            Some(rate) if rate <= most => {}
            Some(rate) => missed.push(format!(
                "{rate:.2} % of the honest work is blocked, but --max-fp allows {most} %"
            )),
            None => missed.push("--max-fp: no case expects to be allowed".to_owned()),
        }
    }
    missed
}
