//! The judge's settings, which depend on one another.

use super::{ConfigError, JudgeFile};
use crate::judge::{JudgeSettings, Provider};
use std::time::Duration;

/// The agent stands still for so long at most.
const LONGEST_TIMEOUT: Duration = Duration::from_mins(1);

impl JudgeFile {
    /// Fills in the defaults.
    pub(super) fn settle(self) -> Result<JudgeSettings, ConfigError> {
        if self.api_key.is_some() {
            return Err(ConfigError(
                "judge.api_key: do not put a key into the settings; put it into an environment \
                 variable and name that in `api_key_env`"
                    .into(),
            ));
        }
        let chosen = self.provider.is_some()
            || self.model.is_some()
            || self.base_url.is_some()
            || self.api_key_env.is_some();
        let provider = self.provider.map_or(Provider::Gemini, |p| p.0);
        let model = self.model.map(|name| name.0);
        let model = model.or_else(|| provider.usual_model().map(str::to_owned));
        let model = model.ok_or_else(|| {
            ConfigError(
                "judge.model: an OpenAI-compatible server has no default model, name one".into(),
            )
        })?;
        let usual = JudgeSettings::new(provider, &model);
        let timeout = self.timeout.map_or(usual.timeout, |s| s.0);
        if timeout > LONGEST_TIMEOUT {
            return Err(ConfigError(
                "judge.timeout: out of range, write at most a minute".into(),
            ));
        }
        let api_key_env = self.api_key_env.unwrap_or(usual.api_key_env);
        let capital = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
        if api_key_env.is_empty() || !api_key_env.chars().all(capital) {
            // What stands there is not shown: it may be the key.
            return Err(ConfigError(
                "judge.api_key_env: write the name of a variable in capitals, as in \
                 `GEMINI_API_KEY`; do not put the key itself into the file"
                    .into(),
            ));
        }
        Ok(JudgeSettings {
            chosen,
            provider,
            model,
            base_url: self.base_url.map(|url| url.0),
            api_key_env,
            timeout,
            budget_per_hour: self.budget_per_hour.map_or(usual.budget_per_hour, |c| c.0),
            freeze: self.freeze.unwrap_or(usual.freeze),
            cache: self.cache.map_or(usual.cache, |c| c.0),
            cache_for: self.cache_for.map_or(usual.cache_for, |s| s.0),
            breaker_failures: self
                .breaker_failures
                .map_or(usual.breaker_failures, |c| c.0),
            breaker_pause: self.breaker_pause.map_or(usual.breaker_pause, |s| s.0),
        })
    }
}
