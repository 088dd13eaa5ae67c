//! Divergence: do the model's own words refuse what its call does?

use crate::call::ToolCall;
use crate::divergence;
use crate::stack::{Context, Layer, OutOfFuel};
use crate::verdict::{Finding, LayerName, Verdict};
use holdgate_effects::effect::Effect;
use holdgate_effects::fuel::Fuel;

/// The layer that compares a call to the text before it.
#[derive(Clone, Copy, Debug)]
pub struct Divergence;

impl Layer for Divergence {
    fn name(&self) -> LayerName {
        LayerName::Divergence
    }

    fn judge(
        &self,
        _: &ToolCall,
        effects: &[Effect],
        context: &Context<'_>,
        fuel: &Fuel,
    ) -> Result<Vec<Finding>, OutOfFuel> {
        if context.said.is_empty() {
            return Ok(Vec::new());
        }
        fuel.spend(1)?;
        // Nothing says yet what the user said.
        let mut findings = divergence::examine(context.said, effects, None);
        if context.expert {
            // The operator has taken over, whatever the model thinks of it.
            for finding in &mut findings {
                finding.verdict = finding.verdict.min(Verdict::Audit);
            }
        }
        Ok(findings)
    }
}
