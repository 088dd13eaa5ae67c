//! The gate: is this call dangerous in itself? (Inspired by the "Action Gate".)
//!
//! So far its rate limits, which stop agents that run in circles.

use crate::hold::{Runs, ToolCall};
use crate::stack::{Context, Layer, OutOfFuel};
use crate::verdict::Finding;

const NAME: &str = "gate";

/// The gate's settings. A limit of 0 is no limit.
#[derive(Clone, Copy, Debug)]
pub struct Gate {
    /// Calls that may be cleared in a minute, per session.
    pub calls_per_minute: usize,
    /// How often the same call may come in a row.
    pub identical_in_a_row: u32,
}

impl Layer for Gate {
    fn name(&self) -> &'static str {
        NAME
    }

    fn judge(&self, call: &ToolCall, context: &Context<'_>) -> Result<Vec<Finding>, OutOfFuel> {
        context.fuel.spend(1)?;
        let mut findings = Vec::new();
        if call.runs == Runs::AtProvider {
            return Ok(findings);
        }
        let calls = context.session.calls_in_last_minute(context.now);
        if self.calls_per_minute > 0 && calls >= self.calls_per_minute {
            let finding = Finding::block(
                NAME,
                "call-rate",
                format!(
                    "the session has made {calls} tool calls within a minute, and the limit is {}",
                    self.calls_per_minute
                ),
            );
            findings.push(finding.instead("wait a while, then go on in fewer and larger steps"));
        }
        let times = context.session.times_in_a_row(call);
        if self.identical_in_a_row > 0 && times > self.identical_in_a_row {
            let finding = Finding::block(
                NAME,
                "repeated-call",
                format!(
                    "the same call has come {times} times in a row, and the limit is {}",
                    self.identical_in_a_row
                ),
            );
            findings.push(finding.instead(
                "look at what the earlier calls returned and change the approach, or tell the \
                 user what is stuck",
            ));
        }
        Ok(findings)
    }
}
