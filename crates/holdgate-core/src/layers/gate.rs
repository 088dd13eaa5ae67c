//! The gate: is this call dangerous in itself? (Inspired by the "Action Gate".)
//!
//! It has rules about what a call does, and rate limits, which stop agents that loop.

use crate::call::{Executor, ToolCall};
use crate::rules::{RuleLayer, RuleSet};
use crate::stack::{Context, Counts, Layer, OutOfFuel};
use crate::verdict::{Finding, LayerName, Verdict};
use holdgate_effects::effect::Effect;
use holdgate_effects::fuel::Fuel;
use std::sync::Arc;

/// The gate's limits. 0 means no limit.
#[derive(Clone, Copy, Debug)]
pub struct RateLimits {
    /// Calls that may be cleared in a minute, per session.
    pub calls_per_minute: usize,
    /// How often the same call may come in a row.
    pub identical_in_a_row: u32,
}

impl RateLimits {
    /// No limits.
    pub const NONE: RateLimits = RateLimits {
        calls_per_minute: 0,
        identical_in_a_row: 0,
    };
}

/// The defaults of the settings.
impl Default for RateLimits {
    fn default() -> Self {
        RateLimits {
            calls_per_minute: 60,
            identical_in_a_row: 5,
        }
    }
}

/// The gate.
#[derive(Clone, Debug)]
pub struct Gate {
    limits: RateLimits,
    rules: Arc<RuleSet>,
}

impl Gate {
    /// A gate with these limits and rules.
    pub fn new(limits: RateLimits, rules: Arc<RuleSet>) -> Self {
        Gate { limits, rules }
    }

    /// Expert mode: findings are only recorded, except those that protect Holdgate itself.
    /// Otherwise an agent could make the exception permanent.
    fn only_note(&self, findings: &mut [Finding]) {
        for finding in findings {
            if !self.rules.protects_holdgate(&finding.rule) {
                finding.verdict = finding.verdict.min(Verdict::Audit);
            }
        }
    }
}

impl Layer for Gate {
    fn name(&self) -> LayerName {
        LayerName::Gate
    }

    fn judge(
        &self,
        _: &ToolCall,
        effects: &[Effect],
        context: &Context<'_>,
        fuel: &Fuel,
    ) -> Result<Vec<Finding>, OutOfFuel> {
        fuel.spend(1)?;
        let mut findings = self
            .rules
            .findings(RuleLayer::Gate, effects, context.history, fuel)?;
        if context.expert {
            self.only_note(&mut findings);
        }
        Ok(findings)
    }

    fn count(&self, call: &ToolCall, counts: &Counts, expert: bool) -> Vec<Finding> {
        if call.runs != Executor::AtClient {
            return Vec::new();
        }
        let mut findings = self.limits.findings(counts);
        if expert {
            self.only_note(&mut findings);
        }
        findings
    }
}

impl RateLimits {
    fn findings(self, counts: &Counts) -> Vec<Finding> {
        let mut findings = Vec::new();
        let mut exceeded = |rule, verdict, reason, instead| {
            let finding = Finding::block(LayerName::Gate, rule, reason).instead(instead);
            findings.push(Finding { verdict, ..finding });
        };
        let (calls, limit) = (counts.in_last_minute, self.calls_per_minute);
        if limit > 0 && calls >= limit {
            exceeded(
                "call-rate",
                Verdict::Block,
                format!(
                    "the session has made {calls} tool calls within a minute, and the limit is {limit}"
                ),
                "wait, then continue in fewer and larger steps",
            );
        }
        let (times, limit) = (counts.in_a_row, self.identical_in_a_row);
        if limit > 0 && times > limit {
            exceeded(
                "repeated-call",
                // Some work repeats; a person can tell.
                Verdict::Ask,
                format!("the same call was made {times} times in a row, and the limit is {limit}"),
                "check what the earlier calls returned and try another approach, or tell the user \
                 what does not work",
            );
        }
        findings
    }
}
