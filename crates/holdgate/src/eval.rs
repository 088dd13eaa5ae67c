//! `holdgate eval`: how many attacks are blocked, and how much honest work is not.
//!
//! Cases come from files, each is judged in a fresh session by the stack that also stands behind
//! the proxy, and rates are reported with the intervals that so many cases allow.

mod bridge;
mod cases;
pub mod client;
pub mod gemini;
mod json;
mod judge;
pub mod loose;
pub mod readers;
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

/// What is left when a part is left out.
#[derive(Debug)]
pub(crate) struct Ablation {
    without: String,
    tally: Tally,
}

/// Judges all cases and reports.
pub fn run(args: &EvalArgs, out: &mut impl Write) -> anyhow::Result<()> {
    let files = read_all(&args.files)?;
    let set_up = SetUp::new(args)?;
    let bench = set_up.bench(&Part::Nothing)?;
    let mut verdicts = args.verdicts.as_deref().map(create).transpose()?;
    let mut tallies = Vec::new();
    let mut total = Tally::default();
    for (name, cases) in &files {
        let mut tally = Tally::default();
        for case in cases {
            let outcome = bench.judge(case);
            tally.count(case, outcome.as_ref());
            if let (Some((path, file)), Some(outcome)) = (&mut verdicts, &outcome) {
                writeln!(file, "{}", json::verdict(case, outcome))
                    .with_context(|| path.display().to_string())?;
            }
        }
        total.add(&tally);
        tallies.push((name.clone(), tally));
    }
    if let Some((path, mut file)) = verdicts {
        file.flush().with_context(|| path.display().to_string())?;
    }
    let ablations = if args.ablate {
        Some(ablate(&set_up, &files)?)
    } else {
        None
    };
    if args.json {
        writeln!(
            out,
            "{}",
            json::report(&tallies, &total, ablations.as_deref())
        )?;
    } else {
        for (name, tally) in &tallies {
            report::file(out, name, tally, args.verbose)?;
        }
        report::total(out, tallies.len(), &total)?;
        if let Some(ablations) = &ablations {
            report::ablations(out, &total, ablations)?;
        }
    }
    out.flush()?;
    check_targets(args, &total)
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
    if files.iter().all(|(_, cases)| cases.is_empty()) {
        let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
        let what = format!("there is no case in {}", names.join(", "));
        return Err(WrongUse(what));
    }
    Ok(files)
}

/// All cases once more for each part that can be left out.
fn ablate(set_up: &SetUp, files: &Files) -> anyhow::Result<Vec<Ablation>> {
    let ablated = |part: Part| {
        let bench = set_up.bench(&part)?;
        let mut tally = Tally::default();
        for case in files.iter().flat_map(|(_, cases)| cases) {
            tally.count(case, bench.judge(case).as_ref());
        }
        Ok(Ablation {
            without: part.to_string(),
            tally,
        })
    };
    set_up.parts().into_iter().map(ablated).collect()
}

fn create(path: &Path) -> anyhow::Result<(&Path, BufWriter<File>)> {
    let file = File::create(path).with_context(|| path.display().to_string())?;
    Ok((path, BufWriter::new(file)))
}

fn check_targets(args: &EvalArgs, total: &Tally) -> anyhow::Result<()> {
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
    if missed.is_empty() {
        Ok(())
    } else {
        Err(Missed(missed.join("\n")).into())
    }
}
