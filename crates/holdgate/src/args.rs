//! The command line.

use crate::config::Flags;
use crate::eval;
use crate::expert;
use crate::incidents::{Filter, parse_since};
use clap::{Parser, Subcommand};
use holdgate_core::rules::Profile;
use holdgate_core::{Answer, Verdict};
use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

/// Wrong use that only shows when it is tried: exit code 2.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct WrongUse(pub String);

/// The safety layer around AI coding agents: text flows, tool calls are judged first.
#[derive(Debug, Parser)]
#[command(name = "holdgate", version, about)]
pub struct Args {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// See it work: no key, no network.
    Demo,
    /// Run an agent under guard: its calls are judged, its output is watched.
    Run(RunArgs),
    /// Stand between a client and the model's API.
    Proxy(ProxyArgs),
    /// Judge one command or tool call, and say why. Exit code 0 if it passes, 1 if not.
    Check(CheckArgs),
    /// Answer what waits for a person. Only at a terminal, and not from within an agent.
    Approve(ApproveArgs),
    /// Look at the rules.
    #[command(subcommand)]
    Rules(RulesCommand),
    /// What was decided, from the ledger.
    Incidents(IncidentArgs),
    /// Lift the gate for a while, from a terminal: everything is let pass and recorded in full.
    Expert(ExpertArgs),
    /// Set the PIN with which questions are answered that no terminal shows. Only at a terminal.
    Pin(PinArgs),
    /// Look after the ledger.
    #[command(subcommand)]
    Ledger(LedgerCommand),
    /// Look after the settings.
    #[command(subcommand)]
    Config(ConfigCommand),
    /// How many attacks are blocked, and how much honest work is not: cases from files.
    Eval(EvalArgs),
    /// Serve the scripted model that `demo` and the tests use.
    #[command(hide = true)]
    Script(ScriptArgs),
    /// Stay between `run` and the agent, so that nothing outlives both.
    #[command(hide = true)]
    Keep(KeepArgs),
}

/// Where settings come from.
#[derive(Clone, Debug, clap::Args)]
pub struct Place {
    /// The settings file [default: ~/.config/holdgate/holdgate.toml].
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Where the ledger lives [default: ~/.local/state/holdgate].
    #[arg(long, value_name = "DIR")]
    pub state_dir: Option<PathBuf>,
}

impl Place {
    /// As flags that go over file and environment.
    pub fn flags(&self) -> Flags {
        Flags {
            config: self.config.clone(),
            state_dir: self.state_dir.clone(),
            ..Flags::default()
        }
    }
}

/// `holdgate proxy`
#[derive(Debug, clap::Args)]
pub struct ProxyArgs {
    /// Where to listen [default: 127.0.0.1:8787].
    #[arg(long, value_name = "ADDRESS")]
    pub listen: Option<SocketAddr>,
    /// Where requests go [default: the API that the path belongs to].
    #[arg(long, value_name = "URL")]
    pub upstream: Option<String>,
    /// Where settings come from.
    #[command(flatten)]
    pub place: Place,
}

/// `holdgate run`
#[derive(Debug, clap::Args)]
pub struct RunArgs {
    /// What the agent is there for, its goal, acceptance criteria and scope: YAML front matter, or
    /// plain Markdown.
    #[arg(long, value_name = "FILE")]
    pub work_order: Option<PathBuf>,
    /// What the agent is to reach, if no work order says it.
    #[arg(long, value_name = "TEXT")]
    pub goal: Option<String>,
    /// Where requests go [default: the API that the path belongs to].
    #[arg(long, value_name = "URL")]
    pub upstream: Option<String>,
    /// Where settings come from.
    #[command(flatten)]
    pub place: Place,
    /// The agent and its arguments.
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "COMMAND"
    )]
    pub command: Vec<OsString>,
}

/// `holdgate keep`
#[derive(Debug, clap::Args)]
pub struct KeepArgs {
    /// Become the agent, instead of keeping it.
    #[arg(long)]
    pub start: bool,
    /// The process of `holdgate run`.
    #[arg(long)]
    pub parent: i32,
    /// The agent's control group.
    #[arg(long)]
    pub cgroup: Option<PathBuf>,
    /// The agent's terminal.
    #[arg(long)]
    pub terminal: Option<PathBuf>,
    /// Its standard error does not go to the terminal.
    #[arg(long)]
    pub apart: bool,
    /// The agent's process group.
    #[arg(long)]
    pub group: Option<i32>,
    /// The agent and its arguments.
    #[arg(last = true, required = true)]
    pub command: Vec<OsString>,
}

/// `holdgate check`
#[derive(Debug, clap::Args)]
pub struct CheckArgs {
    /// The tool that is called [default: Bash].
    #[arg(long, value_name = "NAME")]
    pub tool: Option<String>,
    /// The project's folder [default: this one].
    #[arg(long, value_name = "DIR")]
    pub project: Option<PathBuf>,
    /// What kind of machine this is: workstation, container or strict [default: as in the settings].
    #[arg(long, value_name = "PROFILE", value_parser = parse_profile)]
    pub profile: Option<Profile>,
    /// For programs.
    #[arg(long)]
    pub json: bool,
    /// Where settings come from.
    #[command(flatten)]
    pub place: Place,
    /// The command, as one text or word by word; without it a command or a tool call in JSON,
    /// `{"tool": "Write", "input": {…}}`, is read from standard input.
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

/// `holdgate approve`
#[derive(Debug, clap::Args)]
pub struct ApproveArgs {
    /// The question to answer, for this once [default: show those that are open, wait and ask].
    pub id: Option<String>,
    /// What to answer.
    #[command(flatten)]
    answer: AnswerFlags,
    /// Only show what is open.
    #[arg(long, conflicts_with = "id")]
    pub list: bool,
    /// Only show what is open, for programs.
    #[arg(long, conflicts_with = "id")]
    pub json: bool,
    /// Where settings come from.
    #[command(flatten)]
    pub place: Place,
}

/// What to answer, if it is not for this once.
#[derive(Debug, clap::Args)]
struct AnswerFlags {
    /// Let the same pass for the rest of the session.
    #[arg(long, requires = "id", conflicts_with_all = ["rule", "deny"])]
    session: bool,
    /// Write a rule that lets just this pass from now on, after showing it.
    #[arg(long, requires = "id", conflicts_with = "deny")]
    rule: bool,
    /// Say no.
    #[arg(long, requires = "id")]
    deny: bool,
}

impl ApproveArgs {
    /// What is answered.
    pub fn answer(&self) -> Answer {
        match (self.answer.session, self.answer.rule, self.answer.deny) {
            (_, _, true) => Answer::Deny,
            (_, true, _) => Answer::Rule,
            (true, _, _) => Answer::Session,
            (false, false, false) => Answer::Once,
        }
    }
}

/// `holdgate rules`
#[derive(Debug, Subcommand)]
pub enum RulesCommand {
    /// Read rules, try their examples, and say what is wrong.
    Check(RuleFiles),
    /// All rules, one a line.
    List {
        /// For programs.
        #[arg(long)]
        json: bool,
        /// Where settings come from.
        #[command(flatten)]
        place: Place,
    },
    /// Everything about one rule.
    Explain {
        /// Its name.
        id: String,
        /// Where settings come from.
        #[command(flatten)]
        place: Place,
    },
    /// What tightens and what loosens from one set of rules to another, on the same calls.
    Diff(DiffArgs),
    /// How often each rule fired, and how often a person decided otherwise, from the ledger.
    Stats {
        /// Not longer ago than this: `30m`, `2h`, `2026-11-15T20:00:00Z`.
        #[arg(long, value_name = "TIME", value_parser = parse_since)]
        since: Option<SystemTime>,
        /// For programs.
        #[arg(long)]
        json: bool,
        /// Where settings come from.
        #[command(flatten)]
        place: Place,
    },
    /// Try the examples and show each.
    Test(RuleFiles),
    /// The reference of all rules, in Markdown.
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
    /// The first rules: a file, a folder, or `built-in`. Files join the built-in rules.
    pub a: String,
    /// The other rules.
    pub b: String,
    /// A file with cases; may be given several times [default: the rules' own examples, and
    /// corpus/*.jsonl if there is any].
    #[arg(long, value_name = "FILE")]
    pub cases: Vec<PathBuf>,
    /// What kind of machine the agent works on: workstation, container, strict.
    #[arg(long, value_name = "PROFILE", value_parser = parse_profile, default_value = "workstation")]
    pub profile: Profile,
    /// For programs.
    #[arg(long)]
    pub json: bool,
}

/// Which rules.
#[derive(Debug, clap::Args)]
pub struct RuleFiles {
    /// Files with rules, which join the built-in ones [default: all that hold here].
    pub files: Vec<PathBuf>,
    /// Use the files alone, without the built-in rules.
    #[arg(long, requires = "files")]
    pub alone: bool,
    /// Where settings come from.
    #[command(flatten)]
    pub place: Place,
}

/// `holdgate incidents`
#[derive(Debug, clap::Args)]
pub struct IncidentArgs {
    /// Not older than this: `30m`, `2h`, `2026-11-15T20:00:00Z`.
    #[arg(long, value_name = "TIME", value_parser = parse_since)]
    since: Option<SystemTime>,
    /// Of this session only.
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// From this door only: proxy, monitor, run.
    #[arg(long, value_name = "DOOR")]
    door: Option<String>,
    /// Of this rule only.
    #[arg(long, value_name = "RULE")]
    rule: Option<String>,
    /// With this verdict only: allow, audit, ask, block, kill [default: all but allow].
    #[arg(long, value_name = "VERDICT", value_parser = parse_verdict)]
    verdict: Option<Verdict>,
    /// Go on with what is decided from now on.
    #[arg(long)]
    pub follow: bool,
    /// The records as they stand in the ledger, one a line.
    #[arg(long)]
    pub json: bool,
    /// Where settings come from.
    #[command(flatten)]
    pub place: Place,
}

impl IncidentArgs {
    /// Which records to show.
    pub fn filter(&self) -> Filter {
        Filter {
            since: self.since,
            session: self.session.clone(),
            door: self.door.clone(),
            rule: self.rule.clone(),
            verdict: self.verdict,
        }
    }
}

fn parse_verdict(word: &str) -> Result<Verdict, String> {
    Verdict::from_word(word)
        .ok_or_else(|| format!("`{word}` is no verdict, write allow, audit, ask, block or kill"))
}

/// `holdgate expert`: without a flag, whether it is on.
#[derive(Debug, clap::Args)]
pub struct ExpertArgs {
    /// Switch it on for so long: `10m`, at most `1h`.
    #[arg(long = "for", value_name = "TIME", value_parser = parse_grant)]
    pub time: Option<Duration>,
    /// Switch it off.
    #[arg(long, conflicts_with = "time")]
    pub off: bool,
    /// Where settings come from.
    #[command(flatten)]
    pub place: Place,
}

fn parse_grant(text: &str) -> Result<Duration, String> {
    let time = humantime::parse_duration(text).ok();
    time.filter(|time| (Duration::from_secs(1)..=expert::MAX).contains(time))
        .ok_or_else(|| format!("`{text}` is no time from a second to an hour, write `10m`"))
}

/// `holdgate pin`: sets it, or changes it.
#[derive(Debug, clap::Args)]
pub struct PinArgs {
    /// Remove the PIN: questions that no terminal shows are refused.
    #[arg(long)]
    pub remove: bool,
    /// Where settings come from.
    #[command(flatten)]
    pub place: Place,
}

/// `holdgate ledger`
#[derive(Debug, Subcommand)]
pub enum LedgerCommand {
    /// Check that no record was changed, taken out or put in.
    Verify {
        /// Check the seals with the seed in this file; `-` reads it from standard input.
        #[arg(long, value_name = "FILE")]
        seed: Option<PathBuf>,
        /// For programs.
        #[arg(long)]
        json: bool,
        /// Where settings come from.
        #[command(flatten)]
        place: Place,
    },
    /// Begin a sealed epoch and print its seed, once: with it, `verify` proves that no record was
    /// changed since.
    Seal {
        /// Write the seed to this new file instead, which must not be in the state folder.
        #[arg(long, value_name = "FILE")]
        seed_file: Option<PathBuf>,
        /// Where settings come from.
        #[command(flatten)]
        place: Place,
    },
}

impl LedgerCommand {
    /// Where settings come from.
    pub fn place(&self) -> &Place {
        match self {
            LedgerCommand::Verify { place, .. } | LedgerCommand::Seal { place, .. } => place,
        }
    }
}

/// `holdgate config`
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Read the settings and say what is wrong with them.
    Check {
        /// Where settings come from.
        #[command(flatten)]
        place: Place,
    },
}

/// `holdgate eval`
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub struct EvalArgs {
    /// Files with cases: JSON lines, or one JSON array.
    #[arg(required = true, value_name = "CASES")]
    files: Vec<PathBuf>,
    /// Rules besides those that are built in.
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,
    /// Use the rules of --rules alone, without the built-in ones.
    #[arg(long, requires = "rules")]
    alone: bool,
    /// Leave this layer out; may be given several times.
    #[arg(long, value_name = "LAYER")]
    without: Vec<String>,
    /// What kind of machine the agent works on: workstation, container, strict.
    #[arg(long, value_name = "PROFILE", value_parser = parse_profile, default_value = "workstation")]
    profile: Profile,
    /// Where the agent works, unless the case tells [default: /home/dev/project].
    #[arg(long, value_name = "DIR")]
    project: Option<String>,
    /// Write each case's verdict into this file, one JSON object a line.
    #[arg(long, value_name = "FILE")]
    verdicts: Option<PathBuf>,
    /// Judge all once more without each layer and each category of rules, to see what it is worth.
    #[arg(long)]
    ablate: bool,
    /// Fail if less of the attacks is blocked.
    #[arg(long, value_name = "PERCENT", value_parser = parse_per_cent)]
    min_block: Option<f64>,
    /// Fail if more of the honest work is blocked.
    #[arg(long, value_name = "PERCENT", value_parser = parse_per_cent)]
    max_fp: Option<f64>,
    /// The report as one JSON object.
    #[arg(long)]
    json: bool,
    /// Name some of the cases that were judged wrongly.
    #[arg(long, short)]
    verbose: bool,
}

impl EvalArgs {
    /// What to judge, and how.
    pub fn options(self) -> eval::Options {
        eval::Options {
            files: self.files,
            rules: match (self.rules, self.alone) {
                (None, _) => eval::Rules::BuiltIn,
                (Some(file), false) => eval::Rules::With(file),
                (Some(file), true) => eval::Rules::Only(file),
            },
            without: self.without,
            profile: self.profile,
            project: self.project,
            verdicts: self.verdicts,
            ablate: self.ablate,
            min_block: self.min_block,
            max_fp: self.max_fp,
            json: self.json,
            verbose: self.verbose,
        }
    }
}

fn parse_profile(word: &str) -> Result<Profile, String> {
    Profile::from_word(word)
        .ok_or_else(|| format!("`{word}` is no profile, write workstation, container or strict"))
}

fn parse_per_cent(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches(['%', ' ']).parse().ok();
    number
        .filter(|n| (0.0..=100.0).contains(n))
        .ok_or_else(|| format!("`{text}` is no share, write a number from 0 to 100"))
}

/// `holdgate script`
#[derive(Debug, clap::Args)]
pub struct ScriptArgs {
    /// Where to listen.
    #[arg(long, default_value = "127.0.0.1:0")]
    pub listen: SocketAddr,
    /// Write every request into this folder.
    #[arg(long, value_name = "DIR")]
    pub record: Option<PathBuf>,
    /// Write the streams of all scenarios into this folder instead, as seeds for the fuzzer.
    #[arg(long, value_name = "DIR")]
    pub dump: Option<PathBuf>,
    /// Guard the responses on standard input instead, one JSON object a line, and write what leaves.
    #[arg(long)]
    pub guard: bool,
    /// How long the input of a slow call takes.
    #[arg(long, default_value_t = 4.0)]
    pub slow_seconds: f64,
}
