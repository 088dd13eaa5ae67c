//! `holdgate hook`, `setup`, `uninstall` and `doctor`.

use super::Place;
use crate::config::Flags;
use clap::ValueEnum;

/// An agent that has hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum HookAgent {
    /// Claude Code.
    ClaudeCode,
    /// Codex.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// Cursor.
    Cursor,
    /// opencode.
    Opencode,
}

impl HookAgent {
    /// All of them.
    pub const ALL: [HookAgent; 5] = [
        HookAgent::ClaudeCode,
        HookAgent::Codex,
        HookAgent::Gemini,
        HookAgent::Cursor,
        HookAgent::Opencode,
    ];

    /// Its word on the command line.
    pub fn word(self) -> &'static str {
        match self {
            HookAgent::ClaudeCode => "claude-code",
            HookAgent::Codex => "codex",
            HookAgent::Gemini => "gemini",
            HookAgent::Cursor => "cursor",
            HookAgent::Opencode => "opencode",
        }
    }

    /// What people call it.
    pub fn name(self) -> &'static str {
        match self {
            HookAgent::ClaudeCode => "Claude Code",
            HookAgent::Codex => "Codex",
            HookAgent::Gemini => "Gemini CLI",
            HookAgent::Cursor => "Cursor",
            HookAgent::Opencode => "opencode",
        }
    }

    /// The agent with this word.
    pub fn from_word(word: &str) -> Option<HookAgent> {
        HookAgent::ALL
            .into_iter()
            .find(|agent| agent.word() == word)
    }
}

/// `holdgate hook`
#[derive(Debug, clap::Args)]
pub struct HookArgs {
    /// The agent whose hook this is.
    #[arg(value_enum)]
    pub agent: HookAgent,
    /// An environment variable as it counts here; may be given several times [default: only HOME
    /// counts]. A repository can set variables for an agent's hooks, so none is taken from there.
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = parse_variable)]
    pub variables: Vec<(String, String)>,
    /// Where settings come from.
    #[command(flatten)]
    pub place: Place,
}

impl HookArgs {
    /// The settings' flags, and the variables that count.
    pub fn sources(&self) -> (Flags, Vec<(String, String)>) {
        let mut variables = self.variables.clone();
        if variables.is_empty() {
            variables.extend(std::env::var("HOME").map(|home| ("HOME".to_owned(), home)));
        }
        (self.place.flags(), variables)
    }
}

fn parse_variable(text: &str) -> Result<(String, String), String> {
    let (name, value) = text
        .split_once('=')
        .ok_or_else(|| format!("`{text}` is not of the form NAME=VALUE"))?;
    Ok((name.to_owned(), value.to_owned()))
}

/// `holdgate setup`
#[derive(Debug, clap::Args)]
pub struct SetupArgs {
    /// Only this agent, also if it is not found [default: all that are installed].
    #[arg(long, value_enum, value_name = "AGENT")]
    pub agent: Option<HookAgent>,
    /// Show what would be changed, and change nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Also send the agent's requests through the proxy at the configured address.
    #[arg(long)]
    pub proxy: bool,
    /// Where settings come from.
    #[command(flatten)]
    pub place: Place,
}

/// `holdgate uninstall`
#[derive(Debug, clap::Args)]
pub struct UninstallArgs {
    /// Only this agent [default: all].
    #[arg(long, value_enum, value_name = "AGENT")]
    pub agent: Option<HookAgent>,
    /// Show what would be changed, and change nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Where settings come from.
    #[command(flatten)]
    pub place: Place,
}

/// `holdgate doctor`
#[derive(Debug, clap::Args)]
pub struct DoctorArgs {
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// Where settings come from.
    #[command(flatten)]
    pub place: Place,
}
