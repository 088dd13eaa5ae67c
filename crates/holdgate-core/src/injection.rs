//! Orders in what tools return: text that speaks to the agent instead of the user.

use crate::mask::Masked;
use crate::verdict::{Finding, LayerName};

/// Why a text is suspected of giving orders.
#[derive(Clone, Debug)]
pub struct Suspicion {
    /// What was found, as the name of a rule.
    pub rule: &'static str,
    /// The reason, as a clause.
    pub reason: String,
    /// The part that matched, as a reader would understand it.
    pub evidence: Masked,
}

impl Suspicion {
    /// The same as a finding.
    pub fn finding(&self) -> Finding {
        let mut finding = Finding::audit(LayerName::Injection, self.rule, self.reason.clone());
        finding.evidence = Some(self.evidence.clone());
        finding
    }
}

/// Whether what a tool returned gives orders to the agent.
pub fn examine(_text: &str) -> Option<Suspicion> {
    None
}
