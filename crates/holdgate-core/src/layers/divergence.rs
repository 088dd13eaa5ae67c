//! Divergence: do the model's own words refuse what its call does?

use crate::call::ToolCall;
use crate::divergence;
use crate::history::History;
use crate::stack::{Context, Layer, OutOfFuel};
use crate::verdict::{Finding, LayerName, Verdict};
use holdgate_effects::effect::Effect;
use holdgate_effects::fuel::Fuel;

/// Messages of the user that are read, the latest first.
const LATELY: usize = 12;

/// What the user said lately, if all of it is known.
fn user_said(history: &History) -> Option<String> {
    if history.has_answer() {
        return None;
    }
    let said: Vec<&str> = history.user_said()?.take(LATELY).collect();
    Some(said.join("\n"))
}

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
        let user = user_said(context.history);
        let mut findings = divergence::examine(context.said, effects, user.as_deref());
        if context.expert {
            // The operator has taken over, whatever the model thinks of it.
            for finding in &mut findings {
                finding.verdict = finding.verdict.min(Verdict::Audit);
            }
        }
        Ok(findings)
    }
}
