//! The command line.

mod check;
mod eval;
mod hook;
mod incidents;
mod rules;
mod train;

pub use check::{CheckArgs, RuleFor};
pub use eval::{BenchArgs, EvalArgs, RedteamArgs, StackArgs};
pub use hook::{DoctorArgs, HookAgent, HookArgs, SetupArgs, UninstallArgs};
pub use incidents::{Filter, IncidentArgs, WhyArgs};
pub use rules::{DiffArgs, RuleFiles, RulesCommand};
pub use train::TrainArgs;

use crate::config::Flags;
use crate::expert;
use clap::{Parser, Subcommand};
use holdgate_core::rules::Profile;
use holdgate_core::{Answer, Dialect, TextActions};
use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// A usage error that is only found at run time: exit code 2.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct WrongUse(pub String);

/// A safety layer around AI coding agents: text streams through, tool calls are judged first.
#[derive(Debug, Parser)]
#[command(name = "holdgate", version = VERSION, about)]
pub struct Args {
    /// The command; without one, Holdgate says what to do next.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// The version and, in release archives, the commit that it was built from.
const VERSION: &str = match option_env!("HOLDGATE_VERSION") {
    Some(version) => version,
    None => env!("CARGO_PKG_VERSION"),
};

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Show how it works, without a key and without a network.
    Demo,
    /// Run an agent under guard: judge its calls and watch its output.
    Run(RunArgs),
    /// Start the proxy between a client and the model's API.
    Proxy(ProxyArgs),
    /// Judge one command, tool call or result, and explain the verdict. Exit code 0 if it passes, 1
    /// if not.
    Check(CheckArgs),
    /// Answer open questions. Works only at a terminal, and not from within an agent.
    Approve(ApproveArgs),
    /// Show, check and compare rules.
    #[command(subcommand)]
    Rules(RulesCommand),
    /// Show incidents from the ledger: what was refused, asked about or noted.
    Incidents(IncidentArgs),
    /// Explain one decision, and write an exception if the call was right.
    Why(WhyArgs),
    /// Lift the gate for some time, from a terminal: calls pass and are recorded in full.
    Expert(ExpertArgs),
    /// Set the PIN for answering questions that no terminal shows. Works only at a terminal.
    Pin(PinArgs),
    /// Verify or seal the ledger.
    #[command(subcommand)]
    Ledger(LedgerCommand),
    /// Check the settings.
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Measure how many attacks are blocked, and how much honest work, on cases from files.
    Eval(EvalArgs),
    /// Change blocked commands in many ways that keep what they do, and show which get through.
    Redteam(RedteamArgs),
    /// Measure on this machine how long verdicts take, and what guarding a stream and watching output cost.
    Bench(BenchArgs),
    /// Let the classifier learn from the ledger. A new model is used only if it passes all checks.
    Train(TrainArgs),
    /// Make a canary: a key that opens nothing, whose use is certain to be an attack.
    Canary {
        /// Plant it in this new file.
        file: Option<PathBuf>,
    },
    /// Judge what an agent's hook hands over on standard input, and answer in its format.
    Hook(HookArgs),
    /// Put Holdgate's hook into the settings of the installed agents.
    Setup(SetupArgs),
    /// Take out of the agents' settings what `setup` has put there.
    Uninstall(UninstallArgs),
    /// Check that everything works, and that a denied call is really denied.
    Doctor(DoctorArgs),
    /// Print completions for a shell.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Write the manual pages of all commands to a folder.
    Man {
        /// The folder, which must exist.
        dir: PathBuf,
    },
    /// Serve the scripted model that `demo` and the tests use.
    #[command(hide = true)]
    Script(ScriptArgs),
    /// Run between `run` and the agent, so that no process outlives them.
    #[command(hide = true)]
    Keep(KeepArgs),
}

/// Where settings come from.
#[derive(Clone, Debug, clap::Args)]
pub struct Place {
    /// The settings file [default: ~/.config/holdgate/holdgate.toml].
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The folder of the ledger [default: ~/.local/state/holdgate].
    #[arg(long, value_name = "DIR")]
    pub state_dir: Option<PathBuf>,
}

impl Place {
    /// As flags, which override the file and the environment.
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
    /// The address to listen on [default: 127.0.0.1:8787].
    #[arg(long, value_name = "ADDRESS", value_parser = parse_address)]
    pub listen: Option<SocketAddr>,
    /// The API to forward requests to [default: the one that the path belongs to].
    #[arg(long, value_name = "URL")]
    pub upstream: Option<String>,
    /// What the upstream speaks.
    #[command(flatten)]
    pub bridge: BridgeArgs,
    /// Judge text that a client acts from, too: aider or off [default: off].
    #[arg(long, value_name = "CLIENT", value_parser = TextActions::read)]
    pub text_actions: Option<TextActions>,
    /// Where settings come from.
    #[command(flatten)]
    pub place: Place,
}

/// What the upstream speaks, if it is not what the client speaks.
#[derive(Clone, Debug, clap::Args)]
pub struct BridgeArgs {
    /// The protocol of the upstream, such as `chat` [default: what the client speaks].
    #[arg(long, value_name = "PROTOCOL")]
    pub upstream_speaks: Option<String>,
    /// How the model behind it writes tool calls: auto, native, hermes or qwen-xml [default: auto].
    #[arg(long, value_name = "DIALECT", value_parser = Dialect::read)]
    pub tool_dialect: Option<Dialect>,
}

/// `holdgate run`
#[derive(Debug, clap::Args)]
pub struct RunArgs {
    /// A file with the agent's goal, acceptance criteria and scope, as YAML front matter or as
    /// headings in Markdown.
    #[arg(long, value_name = "FILE")]
    pub work_order: Option<PathBuf>,
    /// The agent's goal, if there is no work order.
    #[arg(long, value_name = "TEXT")]
    pub goal: Option<String>,
    /// The API to forward requests to [default: the one that the path belongs to].
    #[arg(long, value_name = "URL")]
    pub upstream: Option<String>,
    /// What the upstream speaks.
    #[command(flatten)]
    pub bridge: BridgeArgs,
    /// Judge text that a client acts from, too: aider or off [default: off].
    #[arg(long, value_name = "CLIENT", value_parser = TextActions::read)]
    pub text_actions: Option<TextActions>,
    /// Where settings come from.
    #[command(flatten)]
    pub place: Place,
    /// The agent's command and its arguments.
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
    /// The agent's command and its arguments.
    #[arg(last = true, required = true)]
    pub command: Vec<OsString>,
}

/// `holdgate approve`
#[derive(Debug, clap::Args)]
pub struct ApproveArgs {
    /// The question to answer, once [default: show open questions, then wait for new ones].
    pub id: Option<String>,
    /// What to answer.
    #[command(flatten)]
    answer: AnswerFlags,
    /// Only list open questions.
    #[arg(long, conflicts_with = "id")]
    pub list: bool,
    /// Only list open questions, as JSON.
    #[arg(long, conflicts_with = "id")]
    pub json: bool,
    /// Where settings come from.
    #[command(flatten)]
    pub place: Place,
}

/// What to answer, if it is not for this once.
#[derive(Debug, clap::Args)]
struct AnswerFlags {
    /// Allow the same call for the rest of the session.
    #[arg(long, requires = "id", conflicts_with_all = ["rule", "deny"])]
    session: bool,
    /// Allow exactly this call from now on: show a rule, and write it after you confirm.
    #[arg(long, requires = "id", conflicts_with = "deny")]
    rule: bool,
    /// Deny the call.
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

/// `holdgate expert`: without a flag, whether it is on.
#[derive(Debug, clap::Args)]
pub struct ExpertArgs {
    /// Switch it on for this time: `10m`, at most `1h`.
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
        .ok_or_else(|| {
            format!(
                "`{text}` is not a duration between one second and one hour, \
                                write `10m`"
            )
        })
}

/// `holdgate pin`: sets it, or changes it.
#[derive(Debug, clap::Args)]
pub struct PinArgs {
    /// Remove the PIN. Calls whose question no terminal shows are then refused.
    #[arg(long)]
    pub remove: bool,
    /// Where settings come from.
    #[command(flatten)]
    pub place: Place,
}

/// `holdgate ledger`
#[derive(Debug, Subcommand)]
pub enum LedgerCommand {
    /// Check that no record was changed, removed or inserted.
    Verify {
        /// Check the seals with the seed in this file; `-` reads it from standard input.
        #[arg(long, value_name = "FILE")]
        seed: Option<PathBuf>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
        /// Where settings come from.
        #[command(flatten)]
        place: Place,
    },
    /// Start a sealed epoch and print its seed, once. With the seed, `verify` proves that no record
    /// was changed since.
    Seal {
        /// Write the seed to this new file instead. It must be outside of the state folder.
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
    /// Check the settings and report errors.
    Check {
        /// Where settings come from.
        #[command(flatten)]
        place: Place,
    },
}

fn parse_address(text: &str) -> Result<SocketAddr, String> {
    let wrong = || format!("`{text}` is not a valid address, write it as `127.0.0.1:8787`");
    text.parse().map_err(|_| wrong())
}

fn parse_profile(word: &str) -> Result<Profile, String> {
    Profile::from_word(word).ok_or_else(|| {
        format!(
            "`{word}` is not a valid profile, write workstation, container \
                                or strict"
        )
    })
}

/// `holdgate script`
#[derive(Debug, clap::Args)]
pub struct ScriptArgs {
    /// The address to listen on.
    #[arg(long, default_value = "127.0.0.1:0")]
    pub listen: SocketAddr,
    /// Write every request to this folder.
    #[arg(long, value_name = "DIR")]
    pub record: Option<PathBuf>,
    /// Write the streams of all scenarios to this folder instead, as seeds for the fuzzer.
    #[arg(long, value_name = "DIR")]
    pub dump: Option<PathBuf>,
    /// Guard responses from standard input instead, one JSON object per line, and print the result.
    #[arg(long)]
    pub guard: bool,
    /// How long a slow call takes to stream its input.
    #[arg(long, default_value_t = 4.0)]
    pub slow_seconds: f64,
}
