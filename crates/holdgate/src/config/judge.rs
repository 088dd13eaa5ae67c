//! The judge of output: which model is asked, and what that may cost.

use super::ConfigError;
use super::sections::JudgeFile;
use holdgate_effects::worded;
use hyper::Uri;
use std::time::Duration;

/// The variable for a key of the judge's own.
pub const JUDGE_KEY: &str = "HOLDGATE_JUDGE_API_KEY";
/// The agent stands still for so long at most.
const LONGEST_TIMEOUT: Duration = Duration::from_mins(1);

worded! {
    /// Whose API the judge speaks.
    pub enum Provider as "provider" {
        Gemini = "gemini": "Gemini's `generateContent`.",
        Anthropic = "anthropic": "Anthropic's Messages.",
        OpenAi = "openai": "Chat completions, by `OpenAI` or any server that speaks as it does.",
        Nobody = "none": "Nobody is asked: the severity decides.",
    }
}

impl Provider {
    /// Where its API is.
    pub fn usual_base_url(self) -> Uri {
        Uri::from_static(match self {
            Provider::Gemini => "https://generativelanguage.googleapis.com",
            Provider::Anthropic => "https://api.anthropic.com",
            Provider::OpenAi | Provider::Nobody => "https://api.openai.com/v1",
        })
    }

    /// A small and quick model of it. Servers that speak as `OpenAI` have models of their own.
    pub fn usual_model(self) -> Option<&'static str> {
        match self {
            Provider::Gemini => Some("gemini-3.5-flash-lite"),
            Provider::Anthropic => Some("claude-haiku-4-5"),
            Provider::OpenAi => None,
            Provider::Nobody => Some("none"),
        }
    }

    /// The variable in which its key usually stands.
    pub fn usual_key_variable(self) -> &'static str {
        match self {
            Provider::Gemini => "GEMINI_API_KEY",
            Provider::Anthropic => "ANTHROPIC_API_KEY",
            Provider::OpenAi | Provider::Nobody => "OPENAI_API_KEY",
        }
    }
}

/// The judge's settings.
#[derive(Clone, Debug)]
pub struct JudgeSettings {
    /// Whether somebody has chosen it. Otherwise only a key of its own makes it a judge: a key that
    /// is there for something else must not send output anywhere.
    pub chosen: bool,
    /// Whose API it speaks.
    pub provider: Provider,
    /// The model's name.
    pub model: String,
    /// Where the API is, if not at the provider's own address.
    pub base_url: Option<Uri>,
    /// The variable that holds the key.
    pub api_key_env: String,
    /// For a ruling, with all waiting and asking again.
    pub timeout: Duration,
    /// Requests within an hour; 0 is no limit.
    pub budget_per_hour: usize,
    /// Whether the agent stands still while the judge thinks.
    pub freeze: bool,
    /// Rulings that are remembered; 0 is none.
    pub cache: usize,
    /// For how long they are.
    pub cache_for: Duration,
    /// After so many failures in a row it is left alone,
    pub breaker_failures: usize,
    /// for so long.
    pub breaker_pause: Duration,
}

impl JudgeSettings {
    /// The variables with keys that are for the judge alone. One of the usual names may be the
    /// agent's own as well.
    pub fn private_variables(&self) -> Vec<String> {
        let providers = [Provider::Gemini, Provider::Anthropic, Provider::OpenAi];
        let usual = providers.map(Provider::usual_key_variable);
        let named = Some(self.api_key_env.as_str()).filter(|name| !usual.contains(name));
        let private = [JUDGE_KEY].into_iter().chain(named);
        private.map(str::to_owned).collect()
    }

    /// The usual settings for a provider and a model of it.
    pub fn new(provider: Provider, model: &str) -> JudgeSettings {
        JudgeSettings {
            chosen: true,
            provider,
            model: model.to_owned(),
            base_url: None,
            api_key_env: provider.usual_key_variable().to_owned(),
            timeout: Duration::from_secs(5),
            budget_per_hour: 120,
            freeze: true,
            cache: 256,
            cache_for: Duration::from_mins(10),
            breaker_failures: 3,
            breaker_pause: Duration::from_secs(30),
        }
    }
}

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
