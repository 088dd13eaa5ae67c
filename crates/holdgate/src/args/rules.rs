//! `holdgate rules`

use super::incidents::parse_since;
use super::{Place, parse_profile};
use clap::Subcommand;
use holdgate_core::rules::Profile;
use std::path::PathBuf;
use std::time::SystemTime;

/// `holdgate rules`
#[derive(Debug, Subcommand)]
pub enum RulesCommand {
    /// Check rules and their examples, and report errors.
    Check(RuleFiles),
    /// List all rules, one per line.
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
        /// Where settings come from.
        #[command(flatten)]
        place: Place,
    },
    /// Show everything about one rule.
    Explain {
        /// The name of the rule.
        id: String,
        /// Where settings come from.
        #[command(flatten)]
        place: Place,
    },
    /// Compare two sets of rules on the same calls: which verdicts become stricter or looser.
    Diff(DiffArgs),
    /// Show how often each rule matched, and how often a person overrode it, from the ledger.
    Stats {
        /// Only records since this time: `30m`, `2h`, `2026-11-15T20:00:00Z`.
        #[arg(long, value_name = "TIME", value_parser = parse_since)]
        since: Option<SystemTime>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
        /// Where settings come from.
        #[command(flatten)]
        place: Place,
    },
    /// Try the examples and show each one.
    Test(RuleFiles),
    /// Print the reference of all rules, in Markdown.
    Docs,
    /// Print all words that rules can use, with their meanings, in Markdown.
    Words,
}

impl RulesCommand {
    /// Where its settings come from, if it needs any.
    pub fn place(&self) -> Option<&Place> {
        match self {
            RulesCommand::Check(files) | RulesCommand::Test(files) => Some(&files.place),
            RulesCommand::List { place, .. }
            | RulesCommand::Explain { place, .. }
            | RulesCommand::Stats { place, .. } => Some(place),
            RulesCommand::Diff(_) | RulesCommand::Docs | RulesCommand::Words => None,
        }
    }
}

/// `holdgate rules diff`
#[derive(Debug, clap::Args)]
pub struct DiffArgs {
    /// The first set: a file, a folder, or `built-in`. Files are added to the built-in rules.
    pub a: String,
    /// The second set.
    pub b: String,
    /// A file with cases; can be repeated [default: the rules' own examples, and
    /// corpus/*.jsonl if it exists].
    #[arg(long, value_name = "FILE")]
    pub cases: Vec<PathBuf>,
    /// The kind of machine that the agent works on: workstation, container or strict.
    #[arg(long, value_name = "PROFILE", value_parser = parse_profile, default_value = "workstation")]
    pub profile: Profile,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// Which rules.
#[derive(Debug, clap::Args)]
pub struct RuleFiles {
    /// Rule files, in addition to the built-in rules [default: all that apply here].
    pub files: Vec<PathBuf>,
    /// Use only these files, without the built-in rules.
    #[arg(long, requires = "files")]
    pub alone: bool,
    /// Where settings come from.
    #[command(flatten)]
    pub place: Place,
}
