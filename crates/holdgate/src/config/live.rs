//! Settings that change while Holdgate runs: those that say how calls are judged.

use super::{Config, ConfigError, EXPERT_VARIABLE, Flags};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// The sections whose settings take effect at once.
const LIVE: [&str; 7] = [
    "guard",
    "gate",
    "classifier",
    "injection",
    "spillage",
    "trajectory",
    "canaries",
];
/// The variables that settings are read from, besides those that begin with `HOLDGATE_`.
const VARIABLES: [&str; 4] = ["HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", EXPERT_VARIABLE];

/// What settings were read from.
#[derive(Clone, Debug, Default)]
pub(super) struct Origin {
    flags: Flags,
    environment: Vec<(String, String)>,
    /// The file's text.
    text: String,
}

impl Origin {
    /// Keeps of the environment only what settings are read from: the rest holds keys.
    pub(super) fn new(
        flags: &Flags,
        environment: &[(String, String)],
        text: Option<String>,
    ) -> Self {
        let own = |(key, _): &&(String, String)| {
            key.starts_with(super::VARIABLES) || VARIABLES.contains(&key.as_str())
        };
        Origin {
            flags: flags.clone(),
            environment: environment.iter().filter(own).cloned().collect(),
            text: text.unwrap_or_default(),
        }
    }
}

impl Config {
    /// Reads the same file, environment and flags once more.
    pub fn reload(&self) -> Result<Config, ConfigError> {
        Config::load(&self.origin.flags, self.origin.environment.iter().cloned())
    }

    /// The same, unless the file that these come from is gone, or holds nothing: that would undo all
    /// that it said, and looks like an accident, or worse.
    pub fn reload_unless_gone(&self) -> Result<Config, ConfigError> {
        let new = self.reload()?;
        let said = |config: &Config| !config.origin.text.trim().is_empty();
        match &self.file {
            Some(file) if said(self) && !said(&new) => Err(ConfigError(format!(
                "{} is missing or empty; restart to continue without its settings",
                file.display()
            ))),
            Some(_) | None => Ok(new),
        }
    }

    /// The settings file, whether it is there or not.
    pub fn settings_file(&self) -> Option<PathBuf> {
        let usual = || Some(self.config_place.as_deref()?.join("holdgate.toml"));
        self.file.clone().or_else(usual)
    }

    /// Whether the settings file of `other` says something else.
    pub fn is_written_otherwise(&self, other: &Config) -> bool {
        self.file != other.file || self.origin.text != other.origin.text
    }

    /// These settings, with those of `new` that take effect at once.
    #[must_use]
    pub fn with_live(&self, new: &Config) -> Config {
        Config {
            guard: new.guard.clone(),
            continue_clients: new.continue_clients.clone(),
            judge: new.judge,
            rates: new.rates,
            profile: new.profile,
            classifier: new.classifier,
            injection: new.injection,
            spillage: new.spillage.clone(),
            trajectory: new.trajectory,
            canaries: new.canaries.clone(),
            origin: new.origin.clone(),
            file: new.file.clone(),
            ..self.clone()
        }
    }

    /// The settings in which the file of `new` differs and that need a restart: `proxy.listen`.
    pub fn waiting_for_restart(&self, new: &Config) -> Vec<String> {
        let table = |text: &str| text.parse::<toml::Table>().unwrap_or_default();
        let (old, new) = (table(&self.origin.text), table(&new.origin.text));
        let sections: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
        let mut waiting = Vec::new();
        for section in sections {
            if LIVE.contains(&section.as_str()) {
                continue;
            }
            let keys = |table: &toml::Table| {
                let section = table.get(section).and_then(toml::Value::as_table);
                section.cloned().unwrap_or_default()
            };
            let (old, new) = (keys(&old), keys(&new));
            let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
            let changed = names
                .into_iter()
                .filter(|key| old.get(*key) != new.get(*key));
            waiting.extend(changed.map(|key| format!("{section}.{key}")));
        }
        waiting
    }
}
