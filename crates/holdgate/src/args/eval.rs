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
    /// Write the verdict of each case to this file, one JSON object per line.
    #[arg(long, value_name = "FILE")]
    pub verdicts: Option<PathBuf>,
    /// Judge all cases again without each layer and each category of rules.
    #[arg(long)]
    pub ablate: bool,
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

fn parse_per_cent(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches(['%', ' ']).parse().ok();
    number
        .filter(|n| (0.0..=100.0).contains(n))
        .ok_or_else(|| format!("`{text}` is not a percentage, write a number from 0 to 100"))
}
