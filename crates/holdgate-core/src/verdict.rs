//! Verdicts on calls, and the findings behind them.

use crate::mask::Masked;
use holdgate_effects::effect::Effect;
use holdgate_effects::json::Json;
use std::borrow::Cow;
use std::sync::Arc;

/// The decision about a call. Ordered: the strictest finding wins.
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

/// The source of a finding about a call or an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LayerName {
    /// The operator, who has lifted the gate for a while.
    Expert,
    /// The layer that finds what is dangerous in itself.
    Gate,
    /// The monitor of what an agent prints.
    Monitor,
    /// The operator, who has answered or set a PIN.
    Operator,
    /// The layer that finds what the operator does not want.
    Policy,
    /// The reader of requests, responses and calls.
    Reader,
    /// The code that reloads rules and settings.
    Rules,
    /// `holdgate run`.
    Run,
    /// The stack, which runs the layers within limits.
    Stack,
    /// The patterns for what an agent prints.
    Watch,
}

impl LayerName {
    /// The word for it in records and on the command line.
    pub fn word(self) -> &'static str {
        match self {
            LayerName::Expert => "expert",
            LayerName::Gate => "gate",
            LayerName::Monitor => "monitor",
            LayerName::Operator => "operator",
            LayerName::Policy => "policy",
            LayerName::Reader => "reader",
            LayerName::Rules => "rules",
            LayerName::Run => "run",
            LayerName::Stack => "stack",
            LayerName::Watch => "watch",
        }
    }
}

impl std::fmt::Display for LayerName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.word())
    }
}

/// What a layer reports about a call.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The layer that reports it.
    pub layer: LayerName,
    /// The rule's name.
    pub rule: Cow<'static, str>,
    /// What the rule wants.
    pub verdict: Verdict,
    /// The reason, as a clause without a full stop.
    pub reason: String,
    /// The part that matched, with secrets masked.
    pub evidence: Option<Masked>,
    /// A safer way.
    pub instead: Option<Cow<'static, str>>,
    /// The effect that it is about, if it is about one.
    pub effect: Option<Arc<Effect>>,
}

impl Finding {
    /// A finding that blocks.
    pub fn block(
        layer: LayerName,
        rule: impl Into<Cow<'static, str>>,
        reason: impl Into<String>,
    ) -> Self {
        Finding {
            layer,
            rule: rule.into(),
            verdict: Verdict::Block,
            reason: reason.into(),
            evidence: None,
            instead: None,
            effect: None,
        }
    }

    /// A finding that is only recorded.
    pub fn audit(
        layer: LayerName,
        rule: impl Into<Cow<'static, str>>,
        reason: impl Into<String>,
    ) -> Self {
        Finding {
            verdict: Verdict::Audit,
            ..Finding::block(layer, rule, reason)
        }
    }

    /// The same, with a safer way.
    #[must_use]
    pub fn instead(mut self, instead: &'static str) -> Self {
        self.instead = Some(instead.into());
        self
    }

    /// The finding as written to a record.
    pub fn to_json(&self) -> Json<'static> {
        let mut json = Json::object([
            ("layer", self.layer.word().into()),
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
