//! The policy: what does the operator want, also over time? (Inspired by the "Safety DSL".)
//!
//! It has rules like the gate's. They can also require an earlier call, forbid a call after another
//! one, need a person's approval, or make an exception from another rule of the policy.

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
