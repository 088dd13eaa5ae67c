//! `holdgate train`

use super::Place;
use std::path::PathBuf;

/// `holdgate train`: without a flag, learns from the ledger.
#[derive(Debug, clap::Args)]
pub struct TrainArgs {
    /// Only show what the classifier has learned, and how it does on the latest calls of the ledger.
    #[arg(long)]
    pub report: bool,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// Train the base model on these cases instead, and write it to this file.
    #[arg(
        long,
        value_name = "FILE",
        requires = "cases",
        conflicts_with = "report"
    )]
    pub base: Option<PathBuf>,
    /// Measure how well the base model does on sources that it has not seen: train on these cases
    /// without a source, test on it, for each source in turn.
    #[arg(long, requires = "cases", conflicts_with_all = ["report", "base"])]
    pub held_out: bool,
    /// Files with cases, for --base and --held-out.
    #[arg(value_name = "CASES")]
    pub cases: Vec<PathBuf>,
    /// Where settings come from.
    #[command(flatten)]
    pub place: Place,
}
