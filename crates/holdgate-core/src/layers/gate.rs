//! The gate: is this call dangerous in itself? (Inspired by the "Action Gate".)
//!
//! It has rules about what a call does, and rate limits, which slow down and stop agents that loop.

use crate::call::{Executor, ToolCall};
use crate::rules::{RuleLayer, RuleSet};
use crate::stack::{Context, Counts, Layer, OutOfFuel};
use crate::verdict::{Finding, LayerName, Verdict};
use holdgate_effects::effect::Effect;
use holdgate_effects::fuel::Fuel;
use std::sync::Arc;
use std::time::Duration;

/// How many times the calls of one agent all agents of a session may make.
const AGENTS: usize = 5;
/// How long a call waits at most that is nearly one too many.
const MAX_WAIT: Duration = Duration::from_secs(4);

/// The gate's limits. 0 means no limit.
#[derive(Clone, Copy, Debug)]
pub struct RateLimits {
    /// Calls that may be cleared in a minute, per agent: one conversation of a session. All agents of
    /// a session together may make `AGENTS` times as many.
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

    fn slow_down(&self, counts: &Counts) -> Duration {
        let [(own, limit), (all, of_all)] = self.limits.of(counts);
        wait(own, limit).max(wait(all, of_all))
    }
}

/// How long the next call waits: from three quarters of the limit on, longer with each.
fn wait(calls: usize, limit: usize) -> Duration {
    let range = limit / 4;
    let over = (calls + 1).saturating_sub(limit - range).min(range);
    let (over, range) = (u32::try_from(over), u32::try_from(range));
    match (over, range) {
        (Ok(over @ 1..), Ok(range @ 1..)) => MAX_WAIT * over / range,
        _ => Duration::ZERO,
    }
}

impl RateLimits {
    /// The calls of the last minute with their limits: of the agent, and of all of the session.
    fn of(self, counts: &Counts) -> [(usize, usize); 2] {
        let limit = self.calls_per_minute;
        [
            (counts.of_agent, limit),
            (counts.of_session, limit.saturating_mul(AGENTS)),
        ]
    }

    fn findings(self, counts: &Counts) -> Vec<Finding> {
        let mut findings = Vec::new();
        let mut exceeded = |rule, verdict, reason, instead| {
            let finding = Finding::block(LayerName::Gate, rule, reason).instead(instead);
            findings.push(Finding { verdict, ..finding });
        };
        let whose = ["the agent has", "the agents of this session have"];
        let mut over = whose.into_iter().zip(self.of(counts));
        if let Some((who, (calls, limit))) =
            over.find(|(_, (calls, limit))| *limit > 0 && calls >= limit)
        {
            exceeded(
                "call-rate",
                Verdict::Block,
                format!("{who} made {calls} tool calls within a minute, and the limit is {limit}"),
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
