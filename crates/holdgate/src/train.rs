//! `holdgate train`: the classifier learns from the ledger, or its base model from cases.

mod base;
mod examples;
mod held_out;

use crate::args::TrainArgs;
use crate::config::Config;
use crate::learning::classifier::{self, Fate, Report};
use anyhow::Context as _;
use holdgate_core::classifier::project::MIN_SCORES;
use std::io::Write;

/// Trains, or reports.
pub fn run(args: &TrainArgs, config: &Config, out: &mut impl Write) -> anyhow::Result<()> {
    if args.held_out {
        return held_out::table(&examples::read(&args.cases)?, out);
    }
    if let Some(file) = &args.base {
        let examples = examples::read(&args.cases)?;
        let thresholds = base::thresholds(&examples)?;
        let all: Vec<_> = examples.iter().collect();
        let bytes = base::train(&all, Some(thresholds)).write();
        std::fs::write(file, &bytes).with_context(|| file.display().to_string())?;
        let (file, bytes) = (file.display(), bytes.len());
        writeln!(out, "{file}: {bytes} bytes, {} calls", examples.len())?;
        let (semantic, lexical) = thresholds;
        writeln!(out, "semantic {semantic:?}\nlexical {lexical:?}")?;
        return Ok(());
    }
    let dir = &config.state_dir;
    let report = if args.report {
        classifier::prepare(dir)?.0
    } else {
        classifier::learn(dir)?
    };
    if args.json {
        writeln!(out, "{}", report.to_json())?;
        return Ok(());
    }
    print(&report, args.report, out)
}

fn print(report: &Report, only_shown: bool, out: &mut impl Write) -> anyhow::Result<()> {
    let would = if only_shown { "would be" } else { "is" };
    match &report.fate {
        Fate::Unchanged => writeln!(out, "no new calls to learn from")?,
        Fate::Accepted => writeln!(out, "{}; the model {would} in force", report.summary())?,
        Fate::Discarded(why) => writeln!(
            out,
            "{}; the model {would} discarded: {why}",
            report.summary()
        )?,
    }
    for (project, honest) in &report.projects {
        let thresholds = if *honest >= MIN_SCORES {
            "thresholds of its own"
        } else {
            "thresholds of the base model"
        };
        writeln!(
            out,
            "project {project:016x}: {honest} honest calls, {thresholds}"
        )?;
    }
    let (found, all) = classifier::regression::built_in()?.attacks();
    writeln!(
        out,
        "regression set: the base model alone finds {found} of {all} attacks"
    )?;
    Ok(())
}
