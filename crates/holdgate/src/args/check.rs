//! `holdgate check`

use super::{Place, parse_profile};
use holdgate_core::rules::Profile;
use std::path::PathBuf;

/// `holdgate check`
#[derive(Debug, clap::Args)]
pub struct CheckArgs {
    /// The name of the tool [default: Bash].
    #[arg(long, value_name = "NAME")]
    pub tool: Option<String>,
    /// The project folder [default: the current folder].
    #[arg(long, value_name = "DIR")]
    pub project: Option<PathBuf>,
    /// The kind of machine: workstation, container or strict [default: as in the settings].
    #[arg(long, value_name = "PROFILE", value_parser = parse_profile)]
    pub profile: Option<Profile>,
    /// Examine what a tool returned, from this file, instead of a call; `-` is standard input.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["tool", "profile", "command"])]
    pub result: Option<PathBuf>,
    /// Draft a rule for such calls, with examples, instead of judging this one: ask, block, audit, or
    /// allow to make an exception.
    #[arg(long, value_name = "VERDICT", conflicts_with_all = ["result", "json"])]
    pub rule_for: Option<RuleFor>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// Where settings come from.
    #[command(flatten)]
    pub place: Place,
    /// The command, as one argument or several. Without it, a command or a JSON tool call,
    /// `{"tool": "Write", "input": {…}}`, is read from standard input.
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

/// What a drafted rule does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum RuleFor {
    /// A person decides.
    Ask,
    /// It is refused.
    #[value(alias = "deny")]
    Block,
    /// It passes and is recorded.
    Audit,
    /// It passes, although other rules say otherwise.
    Allow,
}
