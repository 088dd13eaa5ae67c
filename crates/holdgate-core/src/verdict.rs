//! What is said about a call: verdicts and the findings behind them.

use crate::mask::Masked;
use holdgate_effects::json::Json;
use std::borrow::Cow;

/// What shall become of a call. Ordered: the strictest finding wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// It goes on.
    Allow,
    /// It goes on and is marked for a reviewer.
    Audit,
    /// A person decides. With nobody there to ask, it is refused.
    Ask,
    /// It is refused.
    Block,
    /// It is refused, and the agent is stopped.
    Kill,
}

impl Verdict {
    /// The word for it in records and on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Allow => "allow",
            Verdict::Audit => "audit",
            Verdict::Ask => "ask",
            Verdict::Block => "block",
            Verdict::Kill => "kill",
        }
    }

    /// The verdict that `word` stands for.
    pub fn from_word(word: &str) -> Option<Self> {
        [
            Verdict::Allow,
            Verdict::Audit,
            Verdict::Ask,
            Verdict::Block,
            Verdict::Kill,
        ]
        .into_iter()
        .find(|v| v.word() == word)
    }

    /// Whether a call with this verdict may reach the client.
    pub fn lets_pass(self) -> bool {
        match self {
            Verdict::Allow | Verdict::Audit => true,
            Verdict::Ask | Verdict::Block | Verdict::Kill => false,
        }
    }
}

/// One thing that a layer has to say about a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The layer that says it.
    pub layer: &'static str,
    /// The rule's name.
    pub rule: Cow<'static, str>,
    /// What the rule wants.
    pub verdict: Verdict,
    /// Why, as a sentence without its full stop.
    pub reason: String,
    /// The part that matched, with secrets masked.
    pub evidence: Option<Masked>,
    /// A safer way.
    pub instead: Option<Cow<'static, str>>,
}

impl Finding {
    /// A finding that blocks.
    pub fn block(layer: &'static str, rule: &'static str, reason: impl Into<String>) -> Self {
        Finding {
            layer,
            rule: rule.into(),
            verdict: Verdict::Block,
            reason: reason.into(),
            evidence: None,
            instead: None,
        }
    }

    /// The same, with a safer way.
    #[must_use]
    pub fn instead(mut self, instead: &'static str) -> Self {
        self.instead = Some(instead.into());
        self
    }

    /// The finding as it stands in a record.
    pub fn to_json(&self) -> Json<'static> {
        let mut json = Json::object([
            ("layer", self.layer.into()),
            ("rule", self.rule.to_string().into()),
            ("verdict", self.verdict.word().into()),
            ("reason", Masked::of(&self.reason).into_string().into()),
        ]);
        if let Some(evidence) = &self.evidence {
            json.set("evidence", evidence.to_string().into());
        }
        if let Some(instead) = &self.instead {
            json.set("instead", instead.to_string().into());
        }
        json
    }
}
