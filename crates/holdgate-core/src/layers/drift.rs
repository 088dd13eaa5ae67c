//! The drift layer: records when the agent leaves what the user's words and the project name.

use crate::call::ToolCall;
use crate::drift::DRIFTING;
use crate::stack::{Context, Layer, OutOfFuel};
use crate::verdict::{Finding, LayerName};
use holdgate_effects::effect::Effect;
use holdgate_effects::fuel::Fuel;

/// The layer.
#[derive(Clone, Copy, Debug)]
pub struct GoalDrift;

impl Layer for GoalDrift {
    fn name(&self) -> LayerName {
        LayerName::Drift
    }

    fn judge(
        &self,
        _: &ToolCall,
        effects: &[Effect],
        context: &Context<'_>,
        fuel: &Fuel,
    ) -> Result<Vec<Finding>, OutOfFuel> {
        fuel.spend(1)?;
        let (history, rate) = (context.history, context.recent_calls);
        let drift = history.drift_with(effects, rate);
        // Once, when it begins: not at every call until it ends.
        if drift.score() < DRIFTING || history.drift(rate).score() >= DRIFTING {
            return Ok(Vec::new());
        }
        let reason = format!(
            "the agent drifts away from its task, {:.2} of 1: {:.0} % of what it touched lately is \
             neither the project's nor named by the user, reading and writing have shifted by {:.0} \
             %, {rate} calls came in the last minute, and {:.0} % of the folders are new",
            drift.score(),
            100.0 * drift.scope,
            100.0 * drift.balance,
            100.0 * drift.diversity,
        );
        Ok(vec![Finding::audit(LayerName::Drift, "goal-drift", reason)])
    }
}
