//! Settings, ready to use.

use super::live::Origin;
use crate::asks::AskSettings;
use crate::judge::JudgeSettings;
use holdgate_core::rules::Profile;
use holdgate_core::{GuardSettings, JudgeLimits, RateLimits};
use hyper::Uri;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// Ready settings.
#[derive(Clone, Debug)]
pub struct Config {
    /// The file that they come from, if there is one.
    pub file: Option<PathBuf>,
    /// Variables that look like settings and are none. Other systems make some, so they are no
    /// error.
    pub ignored: Vec<String>,
    /// Where ledger and models live.
    pub state_dir: PathBuf,
    /// Where settings live: the file that was named, else the usual folder.
    pub config_place: Option<PathBuf>,
    /// Where the operator's PIN is kept: in the usual folder, whatever file was named.
    pub pin_file: Option<PathBuf>,
    /// The user's home.
    pub home: Option<String>,
    /// The door.
    pub proxy: ProxySettings,
    /// Where requests go.
    pub upstream: Uri,
    /// How responses are guarded.
    pub guard: GuardSettings,
    /// The clients that go on after a call that fails, by the start of their `User-Agent`.
    pub continue_clients: Vec<String>,
    /// The bounds on a judgement.
    pub judge: JudgeLimits,
    /// The gate's limits.
    pub rates: RateLimits,
    /// Whom to ask, and for how long.
    pub ask: AskSettings,
    /// What kind of machine the agent works on.
    pub profile: Profile,
    /// Where the operator's rules are, and how often they are looked at.
    pub rules: RulesSettings,
    /// Whether a request may lift the gate by its header.
    pub expert_header: bool,
    /// The project's folder, if it is not to be taken from the requests.
    pub project: Option<PathBuf>,
    /// How many sessions are remembered.
    pub max_sessions: usize,
    /// How long an idle one is.
    pub max_session_idle: Duration,
    /// The ledger.
    pub ledger: LedgerSettings,
    /// The model that is asked about an agent's output.
    pub output_judge: JudgeSettings,
    /// What all this was read from, to read it again.
    pub(super) origin: Origin,
}

/// The operator's rules.
#[derive(Clone, Debug)]
pub struct RulesSettings {
    /// The folders, the one whose rules come first before the others.
    pub dirs: Vec<PathBuf>,
    /// Whether projects may have rules of their own.
    pub project_files: bool,
    /// How often rules and settings are looked at for changes.
    pub check_every: Duration,
}

/// The door's own settings.
#[derive(Clone, Debug)]
pub struct ProxySettings {
    /// Where to listen.
    pub listen: SocketAddr,
    /// Threads that carry connections.
    pub workers: usize,
    /// Names besides those of loopback under which it is reached.
    pub hosts: Vec<String>,
    /// Bytes that requests, streams, connections and sessions keep together.
    pub memory_budget: usize,
    /// Connections at once.
    pub max_connections: usize,
    /// The same from one address.
    pub max_connections_per_peer: usize,
    /// Bytes of a request.
    pub max_request_bytes: usize,
    /// Bytes of a response that is not streamed.
    pub max_response_bytes: usize,
    /// To reach the upstream.
    pub connect_timeout: Duration,
    /// Until its answer begins.
    pub response_timeout: Duration,
    /// Between two pieces of its answer.
    pub idle_timeout: Duration,
    /// For a client to send or take a piece.
    pub client_timeout: Duration,
    /// For open streams, after a signal to stop.
    pub shutdown_grace: Duration,
}

/// The ledger's settings.
#[derive(Clone, Copy, Debug)]
pub struct LedgerSettings {
    /// Bytes of a file before the next one begins.
    pub max_bytes: u64,
    /// Bytes of all files together before the oldest are deleted; 0 keeps them all.
    pub keep_bytes: u64,
    /// Bytes of a call's arguments that are kept.
    pub input_bytes: usize,
    /// Wait for the disk at every record.
    pub sync: bool,
}

/// What the command line says; it goes over file and environment.
#[derive(Clone, Debug, Default)]
pub struct Flags {
    /// `--config`
    pub config: Option<PathBuf>,
    /// `--state-dir`
    pub state_dir: Option<PathBuf>,
    /// `--listen`
    pub listen: Option<SocketAddr>,
    /// `--upstream`
    pub upstream: Option<String>,
}
