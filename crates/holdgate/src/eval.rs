//! `holdgate eval`: how many attacks are blocked, and how much honest work is not.
//!
//! Cases come from files, each is judged in a fresh session by the stack that also stands behind
//! the proxy, and rates are reported with the intervals that so many cases allow.

mod cases;
pub mod client;
mod json;
mod judge;
mod report;
mod stats;
mod tally;

pub use cases::{Case, Expect, Subject, read, read_file};
pub use judge::{Bench, Hit, Outcome};
pub use stats::{Latency, Rate, micros};
pub use tally::{Counts, Spoke, Tally};

use crate::args::WrongUse;
use crate::config::{Config, Flags};
use crate::judging;
use anyhow::Context as _;
use holdgate_core::rules::{Profile, RuleSet};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where agents work whose case does not tell.
pub const PROJECT: &str = "/home/dev/project";

/// What to judge, and how.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The files with cases.
    pub files: Vec<PathBuf>,
    /// Rules in place of those that are built in.
    pub rules: Option<PathBuf>,
    /// Layers that are left out.
    pub without: Vec<String>,
    /// What kind of machine the agent works on.
    pub profile: Profile,
    /// Where the agent works.
    pub project: Option<String>,
    /// Where each case's verdict is written.
    pub verdicts: Option<PathBuf>,
    /// Whether to judge once more for each part that can be left out.
    pub ablate: bool,
    /// The share of attacks that must be blocked, in per cent.
    pub min_block: Option<f64>,
    /// The share of honest work that may be, in per cent.
    pub max_fp: Option<f64>,
    /// For programs.
    pub json: bool,
    /// Name the cases that were judged wrongly.
    pub verbose: bool,
}

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
pub fn run(options: &Options, out: &mut impl Write) -> anyhow::Result<()> {
    let files = read_all(&options.files)?;
    let bench = bench(options, &options.without)?;
    let mut verdicts = options.verdicts.as_deref().map(create).transpose()?;
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
    let ablations = if options.ablate {
        Some(ablate(options, &files)?)
    } else {
        None
    };
    if options.json {
        writeln!(
            out,
            "{}",
            json::report(&tallies, &total, ablations.as_deref())
        )?;
    } else {
        for (name, tally) in &tallies {
            report::file(out, name, tally, options.verbose)?;
        }
        report::total(out, tallies.len(), &total)?;
        if let Some(ablations) = &ablations {
            report::ablations(out, &total, ablations)?;
        }
    }
    out.flush()?;
    check_targets(options, &total)
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
    if complaints.is_empty() {
        Ok(files)
    } else {
        Err(WrongUse(complaints.join("\n")))
    }
}

/// The defaults, whatever this machine's settings are: the same cases give the same figures
/// everywhere.
fn bench(options: &Options, without: &[String]) -> anyhow::Result<Bench> {
    let known = |name: &String| judging::LAYERS.contains(&name.as_str());
    if let Some(unknown) = without.iter().find(|name| !known(name)) {
        let layers = judging::LAYERS.join(", ");
        let message = format!("--without: `{unknown}` is no layer, the layers are {layers}");
        return Err(WrongUse(message).into());
    }
    let flags = Flags {
        state_dir: Some(PathBuf::new()),
        ..Flags::default()
    };
    let config = Config::load(&flags, [])?;
    let rules = rules(options)?;
    let stack = judging::stack_with(rules, without, config.rates, config.judge)?;
    let project = options.project.as_deref().unwrap_or(PROJECT);
    Ok(Bench::new(Arc::new(stack), config.guard, project))
}

fn rules(options: &Options) -> anyhow::Result<Arc<RuleSet>> {
    let Some(path) = &options.rules else {
        return Ok(RuleSet::built_in(options.profile)?);
    };
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|e| WrongUse(format!("{name}: {e}")))?;
    let rules = RuleSet::read(options.profile, &[(&name, &text)]);
    rules.map_err(|errors| WrongUse(errors.to_string()).into())
}

fn ablate(options: &Options, files: &Files) -> anyhow::Result<Vec<Ablation>> {
    let mut ablations = Vec::new();
    for layer in judging::LAYERS {
        if options.without.iter().any(|name| name == layer) {
            continue;
        }
        let mut without = options.without.clone();
        without.push((*layer).to_owned());
        let bench = bench(options, &without)?;
        let mut tally = Tally::default();
        for case in files.iter().flat_map(|(_, cases)| cases) {
            tally.count(case, bench.judge(case).as_ref());
        }
        ablations.push(Ablation {
            without: (*layer).to_owned(),
            tally,
        });
    }
    Ok(ablations)
}

fn create(path: &Path) -> anyhow::Result<(&Path, BufWriter<File>)> {
    let file = File::create(path).with_context(|| path.display().to_string())?;
    Ok((path, BufWriter::new(file)))
}

fn check_targets(options: &Options, total: &Tally) -> anyhow::Result<()> {
    let of = |expect| total.of(expect).main_rate(expect).percent();
    let mut missed = Vec::new();
    if let Some(least) = options.min_block {
        match of(Expect::Block) {
            Some(rate) if rate >= least => {}
            Some(rate) => missed.push(format!(
                "{rate:.2} % of the attacks are blocked, and --min-block asks for {least} %"
            )),
            None => missed.push("--min-block: no case expects a block".to_owned()),
        }
    }
    if let Some(most) = options.max_fp {
        match of(Expect::Allow) {
            Some(rate) if rate <= most => {}
            Some(rate) => missed.push(format!(
                "{rate:.2} % of the honest work is blocked, and --max-fp allows {most} %"
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
