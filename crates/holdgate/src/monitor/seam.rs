//! What the monitor needs of others: somebody who finds suspicious output, and somebody who says
//! what it means.

use std::future::Future;
use std::pin::Pin;

/// How bad it would be if a suspicion were right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// A nuisance.
    Low,
    /// Harm that can be undone.
    Medium,
    /// Harm that cannot.
    High,
}

impl Severity {
    /// The word for it in records.
    pub fn word(self) -> &'static str {
        match self {
            Severity::Low => "low",
            Severity::Medium => "medium",
            Severity::High => "high",
        }
    }
}

/// Something suspicious in an agent's output.
#[derive(Clone, Debug)]
pub struct Hit {
    /// The pattern that found it.
    pub pattern: String,
    /// The family of patterns.
    pub family: String,
    /// How bad it would be.
    pub severity: Severity,
    /// Whether there is nothing to ask: the agent is stopped for good.
    pub certain: bool,
    /// Why, as a phrase.
    pub because: String,
    /// What was found.
    pub evidence: String,
    /// The output up to it, plain.
    pub context: String,
}

/// Looks at one stream of output.
pub trait Watch: Send {
    /// Takes the next bytes, and tells what they complete.
    fn feed(&mut self, chunk: &[u8], hits: &mut Vec<Hit>);
    /// The stream has ended.
    fn finish(&mut self, _hits: &mut Vec<Hit>) {}
}

/// What the agent is there for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Context {
    /// What it is to reach.
    pub goal: String,
    /// By what one sees that it has.
    pub acceptance: Vec<String>,
    /// What belongs to it and what does not.
    pub scope: Vec<String>,
}

/// What is said about a hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opinion {
    /// Ordinary work.
    Safe,
    /// Unusual; it goes on and is recorded.
    Warn,
    /// It is to end now.
    Kill,
}

impl Opinion {
    /// The word for it in records.
    pub fn word(self) -> &'static str {
        match self {
            Opinion::Safe => "safe",
            Opinion::Warn => "warn",
            Opinion::Kill => "kill",
        }
    }
}

/// What came of asking.
#[derive(Clone, Debug)]
pub enum Ruling {
    /// An answer.
    Said {
        /// What.
        opinion: Opinion,
        /// Why.
        reason: String,
    },
    /// Nobody could be asked.
    Down {
        /// Why not.
        why: String,
    },
}

/// An answer to come.
pub type Asking<'a> = Pin<Box<dyn Future<Output = Ruling> + Send + 'a>>;

/// Says what a hit means.
pub trait Arbiter: Send + Sync {
    /// Asks about a hit.
    fn ask<'a>(&'a self, hit: &'a Hit, context: &'a Context) -> Asking<'a>;
}

/// Finds nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoWatch;

impl Watch for NoWatch {
    fn feed(&mut self, _chunk: &[u8], _hits: &mut Vec<Hit>) {}
}

/// Is never there.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoArbiter;

impl Arbiter for NoArbiter {
    fn ask<'a>(&'a self, _hit: &'a Hit, _context: &'a Context) -> Asking<'a> {
        let why = "no judge is set up".to_owned();
        Box::pin(std::future::ready(Ruling::Down { why }))
    }
}
