//! Settings: the file as written, the environment and flags over it, and what comes of them.

mod explain;
mod judge;
mod live;
mod ready;
mod values;

use crate::asks::{AskSettings, Operator};
use explain::{explain, reason};
use holdgate_core::rules::Profile;
use holdgate_core::{CallLimits, GuardSettings, JudgeLimits, OnBlock, RateLimits};
use hyper::Uri;
pub use ready::{Config, Flags, LedgerSettings, ProxySettings, RulesSettings};
use serde::Deserialize;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;
pub(crate) use values::upstream_url;
use values::{
    Address, Count, Folder, ModelName, OnBlockWord, OperatorWord, ProfileWord, ProviderWord, Span,
    UpstreamUrl,
};

/// The sections of the file, which begin the names of variables.
const SECTIONS: &[&str] = &[
    "proxy", "upstream", "guard", "gate", "rules", "ask", "project", "sessions", "ledger", "judge",
];
/// Rules of this machine, for all its users.
const MACHINE_RULES: &str = "/etc/holdgate/rules";
/// The port that the proxy listens on.
pub(crate) const DEFAULT_PORT: u16 = 8787;
/// How environment variables that are settings begin.
pub(crate) const VARIABLES: &str = "HOLDGATE_";
/// Lets `X-Expert-Mode` count, if it is `1`.
pub(crate) const EXPERT_VARIABLE: &str = "SAFETY_EXPERT_MODE";
/// Clients that were seen to check a call against its schema before they run it, and to report the
/// error to the model: Claude Code and opencode.
const CONTINUE_CLIENTS: &[&str] = &["claude-cli/", "opencode/"];
/// Variables that are not settings of the file.
const OTHER_VARIABLES: &[&str] = &[
    "HOLDGATE_CONFIG",
    "HOLDGATE_STATE_DIR",
    "HOLDGATE_RUN",
    crate::judge::OWN_KEY,
];

/// A section of the file: every setting optional, unknown ones errors.
macro_rules! section {
    ($name:ident { $($field:ident: $type:ty),* $(,)? }) => {
        #[derive(Debug, Default, Deserialize)]
        #[serde(deny_unknown_fields, expecting = "a section of settings")]
        struct $name {
            $($field: Option<$type>,)*
        }

        impl $name {
            /// Takes from `over` what it sets.
            fn overlay(&mut self, over: $name) {
                $(if over.$field.is_some() { self.$field = over.$field; })*
            }
        }
    };
}

section!(ProxyFile {
    listen: Address,
    workers: Count<1, 256>,
    hosts: Vec<String>,
    memory_budget: Count<{ 8 << 20 }, { usize::MAX >> 1 }>,
    max_connections: Count<1, 1_000_000>,
    max_connections_per_peer: Count<1, 1_000_000>,
    max_request_bytes: usize,
    max_response_bytes: usize,
    connect_timeout: Span,
    response_timeout: Span,
    idle_timeout: Span,
    client_timeout: Span,
    shutdown_grace: Span,
});
section!(UpstreamFile {
    anthropic: UpstreamUrl
});
section!(GuardFile {
    on_block: OnBlockWord,
    continue_clients: Vec<String>,
    hold_all: bool,
    keep_alive: Span,
    inert_blocks: Vec<String>,
    judge_timeout: Span,
    max_call_bytes: usize,
    // Reading is recursive, so the depth has a ceiling.
    max_call_depth: Count<1, 120>,
    max_event_bytes: usize,
    max_held_bytes: usize,
    max_calls: usize,
});
section!(GateFile {
    profile: ProfileWord,
    calls_per_minute: Count<0, 4096>,
    identical_in_a_row: u32,
});
section!(RulesFile {
    dirs: Vec<Folder>,
    project_files: bool,
    check_every: Span,
});
section!(AskFile {
    operator: OperatorWord,
    timeout: Span,
});
section!(ProjectFile { dir: Folder });
section!(SessionsFile {
    max: Count<1, 1_000_000>,
    max_idle: Span,
});
section!(LedgerFile {
    max_bytes: u64,
    keep_bytes: u64,
    input_bytes: usize,
    sync: bool,
});
section!(JudgeFile {
    provider: ProviderWord,
    model: ModelName,
    base_url: UpstreamUrl,
    api_key_env: String,
    // Known so that its value is not repeated in an error.
    api_key: toml::Value,
    timeout: Span,
    budget_per_hour: Count<0, 100_000>,
    freeze: bool,
    cache: Count<0, 10_000>,
    cache_for: Span,
    breaker_failures: Count<1, 1_000>,
    breaker_pause: Span,
});

/// `holdgate.toml` as written.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ConfigFile {
    proxy: ProxyFile,
    upstream: UpstreamFile,
    guard: GuardFile,
    gate: GateFile,
    rules: RulesFile,
    ask: AskFile,
    project: ProjectFile,
    sessions: SessionsFile,
    ledger: LedgerFile,
    judge: JudgeFile,
}

impl ConfigFile {
    fn overlay(&mut self, over: ConfigFile) {
        self.proxy.overlay(over.proxy);
        self.upstream.overlay(over.upstream);
        self.guard.overlay(over.guard);
        self.gate.overlay(over.gate);
        self.rules.overlay(over.rules);
        self.ask.overlay(over.ask);
        self.project.overlay(over.project);
        self.sessions.overlay(over.sessions);
        self.ledger.overlay(over.ledger);
        self.judge.overlay(over.judge);
    }
}

/// Settings that cannot be used: where, what, and the way out.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ConfigError(String);

impl Config {
    /// Reads file, environment (given as pairs) and flags.
    pub fn load(
        flags: &Flags,
        environment: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Config, ConfigError> {
        let environment: Vec<_> = environment.into_iter().collect();
        let variable = |name: &str| {
            let found = environment.iter().find(|(key, _)| key == name);
            found
                .map(|(_, value)| value.clone())
                .filter(|v| !v.is_empty())
        };
        let home = |xdg: &str, below: &str| {
            let base = variable(xdg).map(PathBuf::from);
            base.or_else(|| Some(Path::new(&variable("HOME")?).join(below)))
                .map(|base| base.join("holdgate"))
        };
        let named = flags
            .config
            .clone()
            .or_else(|| variable("HOLDGATE_CONFIG").map(PathBuf::from));
        let usual = home("XDG_CONFIG_HOME", ".config").map(|dir| dir.join("holdgate.toml"));
        // A file that was named may stand in a project, whose other files are not ours.
        let usual_dir = usual.as_deref().and_then(Path::parent).map(Path::to_owned);
        let config_place = named.clone().or_else(|| usual_dir.clone());
        let file = named.or_else(|| usual.filter(|path| path.exists()));

        let text = file.as_deref().map(read_text).transpose()?;
        let mut written = match (&file, &text) {
            (Some(path), Some(text)) => read_file(path, text)?,
            (_, _) => ConfigFile::default(),
        };
        let mut ignored = Vec::new();
        for (key, value) in &environment {
            let Some(name) = key.strip_prefix(VARIABLES) else {
                continue;
            };
            if OTHER_VARIABLES.contains(&key.as_str()) {
                continue;
            }
            let section = name.split('_').next().unwrap_or_default().to_lowercase();
            if SECTIONS.contains(&section.as_str()) && name.contains('_') {
                written.overlay(read_variable(key, value)?);
            } else {
                ignored.push(key.clone());
            }
        }
        let state_dir = flags
            .state_dir
            .clone()
            .or_else(|| variable("HOLDGATE_STATE_DIR").map(PathBuf::from))
            .or_else(|| home("XDG_STATE_HOME", ".local/state"))
            .ok_or_else(|| {
                ConfigError(
                    "there is no folder for the ledger: set HOLDGATE_STATE_DIR or HOME".into(),
                )
            })?;
        let mut config = settle(written, state_dir)?;
        config.file = file;
        config.config_place = config_place;
        config.pin_file = usual_dir.as_deref().map(|dir| dir.join("pin"));
        config.home = variable("HOME");
        config.ignored = ignored;
        config.expert_header = variable(EXPERT_VARIABLE).as_deref() == Some("1");
        if config.rules.dirs.is_empty() {
            let own = usual_dir.map(|dir| dir.join("rules"));
            config.rules.dirs = [Some(MACHINE_RULES.into()), own]
                .into_iter()
                .flatten()
                .collect();
        }
        config.origin = live::Origin::new(flags, &environment, text);
        if let Some(listen) = flags.listen {
            config.proxy.listen = listen;
        }
        if let Some(upstream) = &flags.upstream {
            config.upstream =
                upstream_url(upstream).map_err(|e| ConfigError(format!("--upstream: {e}")))?;
        }
        Ok(config)
    }
}

/// Fills in the defaults.
fn settle(file: ConfigFile, state_dir: PathBuf) -> Result<Config, ConfigError> {
    let span = |span: Option<Span>, default: Duration| span.map_or(default, |s| s.0);
    let secs = Duration::from_secs;
    let cores = || std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let ConfigFile {
        proxy,
        upstream,
        guard,
        gate,
        rules,
        ask,
        project,
        sessions,
        ledger,
        judge,
    } = file;
    let ask = AskSettings {
        operator: ask.operator.map_or(Operator::Auto, |w| w.0),
        timeout: span(ask.timeout, secs(120)),
    };
    let max_connections = proxy.max_connections.map_or(2048, |c| c.0);
    Ok(Config {
        ask,
        file: None,
        ignored: Vec::new(),
        state_dir,
        config_place: None,
        pin_file: None,
        home: None,
        proxy: ProxySettings {
            listen: proxy
                .listen
                .map_or_else(|| SocketAddr::from(([127, 0, 0, 1], DEFAULT_PORT)), |a| a.0),
            workers: proxy.workers.map_or_else(|| cores().min(4), |c| c.0),
            hosts: proxy.hosts.unwrap_or_default(),
            memory_budget: proxy.memory_budget.map_or(1 << 30, |c| c.0),
            max_connections,
            // Whoever comes from elsewhere finds some left.
            max_connections_per_peer: proxy
                .max_connections_per_peer
                .map_or(max_connections.div_ceil(2), |c| c.0),
            max_request_bytes: proxy.max_request_bytes.unwrap_or(64 << 20),
            max_response_bytes: proxy.max_response_bytes.unwrap_or(64 << 20),
            connect_timeout: span(proxy.connect_timeout, secs(10)),
            response_timeout: span(proxy.response_timeout, secs(600)),
            idle_timeout: span(proxy.idle_timeout, secs(300)),
            client_timeout: span(proxy.client_timeout, secs(120)),
            shutdown_grace: span(proxy.shutdown_grace, secs(300)),
        },
        upstream: upstream
            .anthropic
            .map_or_else(|| Uri::from_static("https://api.anthropic.com"), |u| u.0),
        continue_clients: guard.continue_clients.unwrap_or_else(|| {
            let known = CONTINUE_CLIENTS.iter().copied();
            known.map(str::to_owned).collect()
        }),
        guard: GuardSettings {
            on_block: guard.on_block.map_or(OnBlock::Continue, |w| w.0),
            hold_all: guard.hold_all.unwrap_or(false),
            keep_alive: span(guard.keep_alive, secs(10)),
            ask: (ask.operator != Operator::Never).then_some(ask.timeout),
            inert_blocks: guard.inert_blocks.unwrap_or_default().into(),
            max_event_bytes: guard.max_event_bytes.unwrap_or(8 << 20),
            max_held_bytes: guard.max_held_bytes.unwrap_or(64 << 20),
            max_calls: guard.max_calls.unwrap_or(256),
        },
        judge: JudgeLimits {
            call: CallLimits {
                max_bytes: guard.max_call_bytes.unwrap_or(16 << 20),
                max_depth: guard.max_call_depth.map_or(64, |d| d.0),
            },
            fuel: crate::judging::LIMITS.fuel,
            deadline: span(guard.judge_timeout, Duration::from_millis(250)),
        },
        rates: RateLimits {
            calls_per_minute: gate.calls_per_minute.map_or(60, |c| c.0),
            identical_in_a_row: gate.identical_in_a_row.unwrap_or(5),
        },
        profile: gate.profile.map_or(Profile::default(), |p| p.0),
        rules: RulesSettings {
            dirs: rules
                .dirs
                .unwrap_or_default()
                .into_iter()
                .map(|dir| dir.0)
                .collect(),
            project_files: rules.project_files.unwrap_or(true),
            check_every: span(rules.check_every, Duration::from_millis(500)),
        },
        expert_header: false,
        project: project.dir.map(|dir| dir.0),
        max_sessions: sessions.max.map_or(10_000, |c| c.0),
        max_session_idle: span(sessions.max_idle, secs(24 * 3600)),
        ledger: LedgerSettings {
            max_bytes: ledger.max_bytes.unwrap_or(64 << 20),
            keep_bytes: ledger.keep_bytes.unwrap_or(1 << 30),
            input_bytes: ledger.input_bytes.unwrap_or(4096),
            sync: ledger.sync.unwrap_or(false),
        },
        output_judge: judge.settle()?,
        origin: live::Origin::default(),
    })
}

fn read_text(path: &Path) -> Result<String, ConfigError> {
    std::fs::read_to_string(path).map_err(|e| ConfigError(format!("{}: {e}", path.display())))
}

fn read_file(path: &Path, text: &str) -> Result<ConfigFile, ConfigError> {
    toml::from_str(text).map_err(|e| ConfigError(explain(&path.display().to_string(), text, &e)))
}

/// `HOLDGATE_GUARD_ON_BLOCK=continue` stands for `[guard]` `on_block = "continue"`.
fn read_variable(key: &str, value: &str) -> Result<ConfigFile, ConfigError> {
    let name = key.strip_prefix(VARIABLES).unwrap_or(key).to_lowercase();
    let (section, field) = name.split_once('_').unwrap_or((&name, ""));
    // A value that is not TOML by itself, such as `10s`, is a string.
    let quoted = toml::Value::from(value).to_string();
    let plain = toml::from_str::<toml::Table>(&format!("v = {value}")).is_ok();
    let value = if plain { value } else { &quoted };
    let text = format!("{section}.{field} = {value}");
    toml::from_str(&text)
        .map_err(|e| ConfigError(format!("environment variable {key}: {}", reason(&e))))
}

#[cfg(test)]
mod tests;
