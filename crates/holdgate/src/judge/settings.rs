//! Which model is asked, and what that may cost.

use hyper::Uri;
use std::time::Duration;

/// The variable for a key of the judge's own.
pub const OWN_KEY: &str = "HOLDGATE_JUDGE_API_KEY";

/// The API that the judge uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provider {
    /// Gemini's `generateContent`.
    Gemini,
    /// Anthropic's Messages.
    Anthropic,
    /// Chat completions, by `OpenAI` or a compatible server.
    OpenAi,
    /// Nobody is asked: the severity decides.
    Nobody,
}

impl Provider {
    /// The provider that a setting names.
    pub fn from_word(word: &str) -> Option<Provider> {
        match word {
            "gemini" => Some(Provider::Gemini),
            "anthropic" => Some(Provider::Anthropic),
            "openai" => Some(Provider::OpenAi),
            "none" => Some(Provider::Nobody),
            _ => None,
        }
    }

    /// Where its API is.
    pub fn usual_base_url(self) -> Uri {
        Uri::from_static(match self {
            Provider::Gemini => "https://generativelanguage.googleapis.com",
            Provider::Anthropic => "https://api.anthropic.com",
            Provider::OpenAi | Provider::Nobody => "https://api.openai.com/v1",
        })
    }

    /// A small and fast model of it. Compatible servers have models of their own.
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
    /// The API that it uses.
    pub provider: Provider,
    /// The model's name.
    pub model: String,
    /// Where the API is, if not at the provider's own address.
    pub base_url: Option<Uri>,
    /// The variable that holds the key.
    pub api_key_env: String,
    /// For a ruling, with all waiting and asking again.
    pub timeout: Duration,
    /// Requests within an hour; 0 means no limit.
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
        let private = [OWN_KEY].into_iter().chain(named);
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
