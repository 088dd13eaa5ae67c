//! Verdicts on calls, and the findings behind them.

use crate::mask::Masked;
use holdgate_effects::effect::Effect;
use holdgate_effects::json::Json;
use holdgate_effects::worded;
use std::borrow::Cow;
use std::sync::Arc;

worded! {
    /// The decision about a call. Ordered: the strictest finding wins.
    pub enum Verdict as "verdict" {
        Allow = "allow": "The call passes.",
        Audit = "audit": "The call passes and is marked for a reviewer.",
        Ask = "ask": "A person decides. If nobody can be asked, the call is refused.",
        Block = "block": "The call is refused.",
        Kill = "kill": "The call is refused, and the agent is stopped.",
    }
}

impl Verdict {
    /// Whether a call with this verdict may reach the client.
    pub fn lets_pass(self) -> bool {
        match self {
            Verdict::Allow | Verdict::Audit => true,
            Verdict::Ask | Verdict::Block | Verdict::Kill => false,
        }
    }
}

worded! {
    /// The source of a finding about a call or an agent.
    pub enum LayerName as "layer" {
        Canaries = "canaries": "The layer that finds calls which touch files and values that no work needs.",
        Classifier = "classifier": "The layer that finds calls which resemble those that were blocked.",
        Divergence = "divergence": "The layer that finds calls which the model's own words refuse.",
        Drift = "drift": "The layer that records when an agent leaves its task.",
        Expert = "expert": "The operator, who has lifted the gate for a while.",
        Gate = "gate": "The layer that finds what is dangerous in itself.",
        Injection = "injection": "The filter for orders in what tools return.",
        Monitor = "monitor": "The monitor of what an agent prints.",
        Operator = "operator": "The operator, who has answered or set a PIN.",
        Policy = "policy": "The layer that finds what the operator does not want.",
        Reader = "reader": "The reader of requests, responses and calls.",
        Rules = "rules": "The code that reloads rules and settings.",
        Run = "run": "`holdgate run`.",
        Spillage = "spillage": "The layer that finds data which goes where it must not.",
        Stack = "stack": "The stack, which runs the layers within limits.",
        Trajectory = "trajectory": "The layer that finds calls which are harmful together.",
        Watch = "watch": "The patterns for what an agent prints.",
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
