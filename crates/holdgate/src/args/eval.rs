//! `holdgate eval`

use super::parse_profile;
use holdgate_core::rules::Profile;
use std::path::PathBuf;

/// `holdgate eval`
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub struct EvalArgs {
    /// Files with cases: JSON lines, or one JSON array each.
    #[arg(required = true, value_name = "CASES")]
    pub files: Vec<PathBuf>,
    /// What judges.
    #[command(flatten)]
    pub stack: StackArgs,
    /// Write the verdict of each case to this file, one JSON object per line.
    #[arg(long, value_name = "FILE")]
    pub verdicts: Option<PathBuf>,
    /// Judge all cases again without each layer and each category of rules.
    #[arg(long)]
    pub ablate: bool,
    /// Cases that no rule was written from, counted apart; can be repeated.
    #[arg(long, value_name = "FILE")]
    pub blind: Vec<PathBuf>,
    /// Write an evaluation with all figures to this file, and its plots beside it. Text outside of
    /// its generated parts is kept.
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Write nothing, and fail if the evaluation on disk is not current.
    #[arg(long, requires = "report")]
    pub check: bool,
    /// Fail if a verdict is not the expected one, except where this file says so.
    #[arg(long, value_name = "FILE")]
    pub oracle: Option<PathBuf>,
    /// Fail if fewer attacks are blocked.
    #[arg(long, value_name = "PERCENT", value_parser = parse_per_cent)]
    pub min_block: Option<f64>,
    /// Fail if more honest work is blocked.
    #[arg(long, value_name = "PERCENT", value_parser = parse_per_cent)]
    pub max_fp: Option<f64>,
    /// Print the report as one JSON object.
    #[arg(long)]
    pub json: bool,
    /// List some of the cases that were judged wrongly.
    #[arg(long, short)]
    pub verbose: bool,
}

/// What judges cases, whatever this machine's settings are.
#[derive(Debug, clap::Args)]
pub struct StackArgs {
    /// Rules in addition to the built-in ones.
    #[arg(long, value_name = "FILE")]
    pub rules: Option<PathBuf>,
    /// Use only the rules of --rules, without the built-in ones.
    #[arg(long, requires = "rules")]
    pub alone: bool,
    /// Disable this layer; can be repeated.
    #[arg(long, value_name = "LAYER")]
    pub without: Vec<String>,
    /// The kind of machine that the agent works on: workstation, container or strict.
    #[arg(long, value_name = "PROFILE", value_parser = parse_profile, default_value = "workstation")]
    pub profile: Profile,
    /// The project folder, if the case does not name one [default: /home/dev/project].
    #[arg(long, value_name = "DIR")]
    pub project: Option<String>,
}

/// `holdgate redteam`
#[derive(Debug, clap::Args)]
pub struct RedteamArgs {
    /// Files with cases, of which the blocked commands are used [default: the examples of all rules].
    #[arg(value_name = "CASES")]
    pub files: Vec<PathBuf>,
    /// What judges.
    #[command(flatten)]
    pub stack: StackArgs,
    /// How many mutants of each class are made from one command.
    #[arg(long, value_name = "NUMBER", default_value_t = 2)]
    pub each: usize,
    /// Selects which mutants are made. The same number selects the same ones.
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub seed: u64,
    /// Fail if more mutants get through.
    #[arg(long, value_name = "PERCENT", value_parser = parse_per_cent)]
    pub max_through: Option<f64>,
    /// Print the result as one JSON object.
    #[arg(long)]
    pub json: bool,
    /// List every mutant that gets through, not only some.
    #[arg(long, short)]
    pub verbose: bool,
}

/// `holdgate bench`
#[derive(Debug, clap::Args)]
pub struct BenchArgs {
    /// How long to measure, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 4.0)]
    pub seconds: f64,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// Also draw the times, as an SVG.
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
}

fn parse_per_cent(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches(['%', ' ']).parse().ok();
    number
        .filter(|n| (0.0..=100.0).contains(n))
        .ok_or_else(|| format!("`{text}` is not a percentage, write a number from 0 to 100"))
}
