//! A model that is asked whether what an agent wrote fits its work order.
//!
//! The judge advises: it is asked only about what patterns found, its answer counts only if it is
//! exactly a verdict, and if it gives none, [`outcome()`] says what happens instead.

mod answer;
mod fault;
mod limits;
mod memory;
mod outcome;
mod prompt;
mod provider;
mod quote;

pub use outcome::{Outcome, outcome};

use crate::clock::SystemClock;
use crate::config::{JUDGE_KEY, JudgeSettings, Provider};
use crate::threads::lock;
use crate::upstream::{self, full};
use fault::Fault;
use holdgate_core::Clock;
use holdgate_core::watch::Hit;
use http_body_util::{BodyExt as _, Limited};
use hyper::header::{ACCEPT_ENCODING, CONTENT_TYPE, HeaderValue};
use hyper::{Method, Request, StatusCode, Uri};
use limits::Limits;
use memory::{Evidence, Memory};
use prompt::Prompt;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Bytes of an answer, which needs a few hundred.
const MAX_ANSWER: usize = 256 << 10;
/// The least pause before a question is asked again.
const LEAST_PAUSE: Duration = Duration::from_millis(20);
/// How often a question is asked when the service is busy.
const MAX_TRIES: usize = 3;

/// What the agent is there for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkContext {
    /// What it is to reach.
    pub goal: String,
    /// What must hold when the work is done.
    pub acceptance: Vec<String>,
    /// What the work may touch, and what it may not.
    pub scope: Vec<String>,
}

/// What the judge thinks of the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It does what the work order asks for.
    Safe,
    /// It does something unusual.
    Warn,
    /// It must be stopped.
    Kill,
}

/// What came of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ruling {
    /// The judge gave a verdict.
    Said {
        /// The verdict.
        verdict: Verdict,
        /// Its reason, one line without control characters.
        reason: String,
    },
    /// There is no ruling. This is not a denial: nobody has judged.
    Down {
        /// What is wrong with it, as a phrase.
        why: String,
    },
}

impl Ruling {
    /// The word for it in the ledger.
    pub fn word(&self) -> &'static str {
        match self {
            Ruling::Said { verdict, .. } => match verdict {
                Verdict::Safe => "safe",
                Verdict::Warn => "warn",
                Verdict::Kill => "kill",
            },
            Ruling::Down { .. } => "judge_down",
        }
    }
}

/// The judge, with its memory and its limits.
pub struct Judge {
    settings: JudgeSettings,
    client: upstream::Client,
    /// The URL and the header with the key, or why nobody can be asked.
    door: Result<Door, Fault>,
    /// The key itself, which no message may show.
    key: Option<String>,
    clock: Arc<dyn Clock>,
    limits: Mutex<Limits>,
    memory: Mutex<Memory>,
}

struct Door {
    url: Uri,
    key: Option<(&'static str, HeaderValue)>,
}

impl Judge {
    /// A judge whose key is in [`JUDGE_KEY`], or else, if somebody has chosen it, in the variable that
    /// the settings name.
    pub fn new(settings: JudgeSettings) -> anyhow::Result<Judge> {
        let named = settings.chosen.then_some(settings.api_key_env.as_str());
        let variables = [Some(JUDGE_KEY), named].into_iter().flatten();
        let set = |name: &str| {
            std::env::var(name)
                .ok()
                .filter(|key| !key.trim().is_empty())
        };
        let key = variables.map(set).find(Option::is_some).flatten();
        Judge::with(settings, key, Arc::new(SystemClock::default()))
    }

    /// The same with a key and a clock of the caller's.
    pub fn with(
        settings: JudgeSettings,
        key: Option<String>,
        clock: Arc<dyn Clock>,
    ) -> anyhow::Result<Judge> {
        let key = key
            .map(|key| key.trim().to_owned())
            .filter(|k| !k.is_empty());
        Ok(Judge {
            client: upstream::client(settings.timeout)?,
            door: Door::new(&settings, key.as_deref()),
            key,
            clock,
            limits: Mutex::new(Limits::new(&settings)),
            memory: Mutex::new(Memory::new(settings.cache, settings.cache_for)),
            settings,
        })
    }

    /// Why nobody can ever be asked, if that is not what the settings want.
    pub fn lacks(&self) -> Option<String> {
        match &self.door {
            Ok(_) | Err(Fault::Nobody | Fault::NotChosen) => None,
            Err(fault) => Some(fault.to_string()),
        }
    }

    /// Who is asked: the model, and the host that output is sent to. `None` if it is sent nowhere.
    pub fn address(&self) -> Option<String> {
        let door = self.door.as_ref().ok()?;
        let host = door.url.authority().map_or("?", |a| a.as_str());
        Some(format!("{} at {host}", self.settings.model))
    }

    /// Asks, unless the same was judged before. Takes no longer than the time-out.
    pub async fn ask(&self, hit: &Hit, work: &WorkContext) -> Ruling {
        let evidence = Evidence::of(hit, work);
        let known = lock(&self.memory).recall(&evidence, self.clock.now());
        if let Some((verdict, reason)) = known {
            return Ruling::Said { verdict, reason };
        }
        match self.ask_model(hit, work).await {
            Ok((verdict, reason)) => {
                let now = self.clock.now();
                lock(&self.memory).keep(&evidence, verdict, &reason, now);
                Ruling::Said { verdict, reason }
            }
            Err(fault) => Ruling::Down {
                why: fault.to_string(),
            },
        }
    }

    async fn ask_model(&self, hit: &Hit, work: &WorkContext) -> Result<(Verdict, String), Fault> {
        let door = self.door.as_ref().map_err(Fault::clone)?;
        let prompt = Prompt::new(hit, work, &boundary()?);
        let (provider, model) = (self.settings.provider, &self.settings.model);
        let body = provider::body(provider, model, &prompt);
        lock(&self.limits).admit(self.clock.now())?;
        let limit = self.settings.timeout;
        let answered = tokio::time::timeout(limit, self.until_answered(door, &body)).await;
        let answered = answered.unwrap_or(Err(Fault::TimedOut(limit)));
        lock(&self.limits).note(answered.as_ref().err(), self.clock.now());
        answered
    }

    /// Asks again where the server says when to, if that is in time.
    async fn until_answered(&self, door: &Door, body: &str) -> Result<(Verdict, String), Fault> {
        let begun = Instant::now();
        for _ in 1..MAX_TRIES {
            let fault = match self.request(door, body).await {
                Err(fault @ Fault::Busy { .. }) => fault,
                answered => return answered,
            };
            let left = self.settings.timeout.saturating_sub(begun.elapsed());
            match fault.retry_after() {
                Some(pause) if pause < left => {
                    tokio::time::sleep(pause.max(LEAST_PAUSE)).await;
                    lock(&self.limits).spend(self.clock.now())?;
                }
                Some(_) | None => return Err(fault),
            }
        }
        self.request(door, body).await
    }

    async fn request(&self, door: &Door, body: &str) -> Result<(Verdict, String), Fault> {
        let mut request = Request::new(full(body.to_owned()));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = door.url.clone();
        let headers = request.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        if self.settings.provider == Provider::Anthropic {
            headers.insert("anthropic-version", HeaderValue::from_static("2023-06-01"));
        }
        if let Some((name, value)) = &door.key {
            headers.insert(*name, value.clone());
        }
        let answer = self.client.request(request).await;
        let answer = answer.map_err(|e| Fault::Unreachable(upstream::causes(&e)))?;
        let (head, body) = answer.into_parts();
        let body = Limited::new(body, MAX_ANSWER).collect().await;
        let body = body.map_err(|error| {
            if error.is::<http_body_util::LengthLimitError>() {
                Fault::Oversize(MAX_ANSWER)
            } else {
                Fault::Unreachable(upstream::causes(error.as_ref()))
            }
        })?;
        let body = self.without_key(&String::from_utf8_lossy(&body.to_bytes()));
        let body = body.as_bytes();
        if head.status == StatusCode::OK {
            answer::read(self.settings.provider, body)
        } else {
            Err(Fault::from_answer(head.status, &head.headers, body))
        }
    }

    /// Some servers repeat the key in their answers.
    fn without_key(&self, message: &str) -> String {
        match &self.key {
            Some(key) => message.replace(key.as_str(), "***"),
            None => message.to_owned(),
        }
    }
}

impl fmt::Debug for Judge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Judge")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

impl Door {
    fn new(settings: &JudgeSettings, key: Option<&str>) -> Result<Door, Fault> {
        let provider = settings.provider;
        if provider == Provider::Nobody {
            return Err(Fault::Nobody);
        }
        if !settings.chosen && key.is_none() {
            return Err(Fault::NotChosen);
        }
        // A server of one's own may want none.
        if key.is_none() && settings.base_url.is_none() {
            return Err(Fault::NoKey(settings.api_key_env.clone()));
        }
        let base = settings.base_url.clone();
        let base = base.unwrap_or_else(|| provider.usual_base_url());
        let path = provider::path(provider, &settings.model);
        let url = upstream::url(&base, &path).map_err(|e| Fault::BadAddress(e.to_string()))?;
        let header = |key: &str| {
            let (name, value) = provider::key_header(provider, key);
            let value = HeaderValue::from_str(&value);
            let mut value = value.map_err(|_| Fault::BadKey)?;
            value.set_sensitive(true);
            Ok((name, value))
        };
        let key = key.map(header).transpose()?;
        Ok(Door { url, key })
    }
}

/// 128 bits that nobody can guess.
fn boundary() -> Result<String, Fault> {
    let mut bytes = [0; 16];
    let random = getrandom::fill(&mut bytes);
    random.map_err(|_| Fault::Unreachable("this machine provides no random numbers".to_owned()))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// A hit of a pattern of this family.
#[cfg(test)]
fn test_hit(family: &str, evidence: &str) -> Hit {
    Hit {
        pattern: "p".into(),
        family: family.into(),
        severity: holdgate_core::watch::Severity::High,
        certain: false,
        call: false,
        quoted: false,
        because: String::new(),
        evidence: evidence.to_owned(),
        context: String::new(),
    }
}
