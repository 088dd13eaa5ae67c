//! The policy: what does the operator want, also over time? (Inspired by the "Safety DSL".)
//!
//! Rules as in the gate, and besides: what must have been done before, what is forbidden after
//! something was done, what a person must agree to, and what is allowed though another rule of the
//! policy speaks against it.

use crate::call::ToolCall;
use crate::rules::{RuleLayer, RuleSet};
use crate::stack::{Context, Layer, OutOfFuel};
use crate::verdict::{Finding, LayerName};
use holdgate_effects::effect::Effect;
use holdgate_effects::fuel::Fuel;
use std::sync::Arc;

/// The policy.
#[derive(Clone, Debug)]
pub struct Policy {
    rules: Arc<RuleSet>,
}

impl Policy {
    /// A policy of these rules.
    pub fn new(rules: Arc<RuleSet>) -> Self {
        Policy { rules }
    }
}

impl Layer for Policy {
    fn name(&self) -> LayerName {
        LayerName::Policy
    }

    fn judge(
        &self,
        _: &ToolCall,
        effects: &[Effect],
        context: &Context<'_>,
        fuel: &Fuel,
    ) -> Result<Vec<Finding>, OutOfFuel> {
        self.rules
            .findings(RuleLayer::Policy, effects, context.history, fuel)
    }
}
