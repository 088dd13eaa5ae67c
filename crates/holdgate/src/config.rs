//! Settings: the file as written, the environment and flags over it, and what comes of them.

mod bridge;
mod explain;
mod judge;
mod live;
mod ready;
mod sections;
mod spillage;
mod values;

pub use bridge::BridgeSettings;
use explain::{explain_at, reason};
use holdgate_core::{CallLimits, JudgeLimits};
pub use judge::{JUDGE_KEY, JudgeSettings, Provider};
pub use ready::{AskJudge, ClassifierMode, Config, Flags, Operator, OtherUpstreams, Unreadable};
pub use sections::{
    AskSettings, InjectionSettings, LedgerSettings, ProxySettings, RulesSettings, SessionSettings,
    TrajectorySettings,
};
use sections::{ConfigFile, SECTIONS};
pub use spillage::{LabelledFolder, SpillageSettings};
use std::path::{Path, PathBuf};
use std::time::Duration;
pub(crate) use values::upstream_url;

/// Rules of this machine, for all its users.
const MACHINE_RULES: &str = "/etc/holdgate/rules";
/// The port that the proxy listens on.
pub(crate) const DEFAULT_PORT: u16 = 8787;
/// How environment variables that are settings begin.
pub(crate) const VARIABLES: &str = "HOLDGATE_";
/// Lets `X-Expert-Mode` count, if it is `1`.
pub(crate) const EXPERT_VARIABLE: &str = "SAFETY_EXPERT_MODE";
/// Marks what belongs to a run.
pub(crate) const RUN_VARIABLE: &str = "HOLDGATE_RUN";
/// The bounds on a judgement, unless the settings say otherwise.
pub const LIMITS: JudgeLimits = JudgeLimits {
    call: CallLimits {
        max_bytes: 16 << 20,
        max_depth: 64,
    },
    fuel: 64_000,
    deadline: Duration::from_millis(250),
};
/// Variables that are not settings of the file.
const OTHER_VARIABLES: &[&str] = &[
    "HOLDGATE_CONFIG",
    "HOLDGATE_STATE_DIR",
    RUN_VARIABLE,
    JUDGE_KEY,
];

/// Settings that cannot be used: where, what, and the way out.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ConfigError(String);

impl Config {
    /// The defaults, whatever this machine's settings are.
    pub fn defaults(state_dir: impl Into<PathBuf>) -> Result<Config, ConfigError> {
        let flags = Flags {
            state_dir: Some(state_dir.into()),
            ..Flags::default()
        };
        Config::load(&flags, [])
    }

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
        let read = match (&file, &text) {
            (Some(path), Some(text)) => explain::read(&path.display().to_string(), text),
            (_, _) => Ok(ConfigFile::default()),
        };
        let (mut written, mut errors) = match read {
            Ok(written) => (written, Vec::new()),
            Err(errors) => (ConfigFile::default(), errors),
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
                match read_variable(key, value) {
                    Ok(read) => written.overlay(read),
                    Err(error) => errors.push(error),
                }
            } else {
                ignored.push(key.clone());
            }
        }
        if !errors.is_empty() {
            return Err(ConfigError(errors.join("\n\n")));
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
        let spillage = written.take_spillage().settle().map_err(|unknown| {
            let text = text.as_deref().unwrap_or_default();
            let stands_there = text.get(unknown.span.clone());
            let place = file.as_deref().map(|path| path.display().to_string());
            ConfigError(match (place, stands_there) {
                (Some(place), Some(there)) if there.contains(&unknown.label) => {
                    explain_at(&place, text, unknown.span, &unknown.reason)
                }
                _ => format!("spillage.projects: {}", unknown.reason),
            })
        })?;
        let named = written.named_openai();
        let mut config = written.settle(state_dir)?;
        config.spillage = spillage;
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
            config.other_upstreams = None;
        }
        if let Some(speaks) = &flags.speaks {
            let speaks = bridge::read_speaks(speaks);
            let speaks = speaks.map_err(|e| ConfigError(format!("--upstream-speaks: {e}")))?;
            config.bridge.speaks = Some(speaks);
        }
        if let Some(actions) = flags.text_actions {
            (config.proxy.text_actions, config.guard.text_actions) = (actions, actions);
        }
        if let Some(dialect) = flags.dialect {
            config.bridge.dialect = dialect;
        }
        config.go_over_bridge(named, flags.upstream.is_some())?;
        Ok(config)
    }
}

fn read_text(path: &Path) -> Result<String, ConfigError> {
    let wrong = |e| {
        ConfigError(format!(
            "cannot read the settings in {}: {e}",
            path.display()
        ))
    };
    std::fs::read_to_string(path).map_err(wrong)
}

/// `HOLDGATE_GUARD_ON_BLOCK=continue` stands for `[guard]` `on_block = "continue"`.
fn read_variable(key: &str, value: &str) -> Result<ConfigFile, String> {
    let name = key.strip_prefix(VARIABLES).unwrap_or(key).to_lowercase();
    let (section, field) = name.split_once('_').unwrap_or((&name, ""));
    // A value that is not TOML by itself, such as `10s`, is a string.
    let quoted = toml::Value::from(value).to_string();
    let plain = toml::from_str::<toml::Table>(&format!("v = {value}")).is_ok();
    let value = if plain { value } else { &quoted };
    let text = format!("{section}.{field} = {value}");
    toml::from_str(&text).map_err(|e| format!("environment variable {key}: {}", reason(&e)))
}

#[cfg(test)]
mod tests;
