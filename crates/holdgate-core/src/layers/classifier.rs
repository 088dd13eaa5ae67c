//! The classifier: does this call look like what was blocked before? (Inspired by "TS-Guard".)
//!
//! Only the semantic head can block, and only by thresholds that come from the project's own calls.
//! The others can record a call, or have a person asked. Where the gate is lifted, all only record.

use crate::call::ToolCall;
use crate::classifier::base::{Base, Thresholds};
use crate::classifier::project::Learned;
use crate::classifier::unit::{Looked, Unit};
use crate::classifier::{Classifier, New};
use crate::mask::Masked;
use crate::stack::{Context, Layer, OutOfFuel};
use crate::verdict::{Finding, LayerName, Verdict};
use holdgate_effects::effect::Effect;
use holdgate_effects::fuel::Fuel;
use std::sync::Arc;

/// Characters of a command that a finding shows.
const SHOWN: usize = 400;
/// Bytes that one unit of fuel scores.
const BYTES_PER_FUEL: usize = 4;

/// The layer.
#[derive(Clone, Debug)]
pub struct Classification {
    classifier: Classifier,
    /// The strictest verdict that it gives.
    most: Verdict,
}

/// The base model alone.
impl Default for Classification {
    fn default() -> Self {
        Classification::new(Classifier::new(Base::built_in(), None), Verdict::Block)
    }
}

impl Classification {
    /// A layer with this model, whose verdicts are at most `most`.
    pub fn new(classifier: Classifier, most: Verdict) -> Self {
        Classification { classifier, most }
    }

    /// Its findings about a call with these effects.
    pub fn findings(&self, effects: &[Effect]) -> Vec<Finding> {
        self.of_units(&self.looked(effects), self.most)
    }

    fn looked<'e>(&self, effects: &'e [Effect]) -> Looked<'e> {
        Looked::at(effects, self.classifier.base().clone())
    }

    /// The findings about units, with verdicts of at most `most`.
    fn of_units(&self, looked: &Looked<'_>, most: Verdict) -> Vec<Finding> {
        let scores = self.classifier.score_units(looked);
        let units = &looked.units;
        let base = self.classifier.base();
        let own = self.classifier.learned().and_then(Learned::thresholds);
        let (semantic, lexical) = own.unwrap_or((base.semantic, base.lexical));
        // What is usual elsewhere is too little to refuse a call.
        let most_semantic = own.map_or(Verdict::Ask, |_| Verdict::Block);
        let mut findings = Vec::new();
        let head = scores.semantic;
        if let Some(verdict) = reached(head.score, semantic) {
            let reason = "what it does resembles calls that were blocked";
            let reason = format!("{reason} (score {:.1})", head.score);
            let verdict = verdict.min(most_semantic).min(most);
            findings.push(finding(
                "risky-facts",
                verdict,
                reason,
                units.get(head.unit),
            ));
        }
        let head = scores.lexical;
        if let Some(verdict) = reached(head.score, lexical) {
            let reason = "its words resemble those of calls that were blocked";
            let reason = format!("{reason} (score {:.1})", head.score);
            let verdict = verdict.min(Verdict::Ask).min(most);
            findings.push(finding(
                "risky-words",
                verdict,
                reason,
                units.get(head.unit),
            ));
        }
        if let Some(new) = scores.new
            && let Some(verdict) = risk_of(new, own.is_some())
        {
            let list = |words: Vec<&str>| words.join(", ");
            let reason = format!(
                "it was never seen in honest work (new: {}), and it reaches {}",
                list(new.novelty.words().collect()),
                list(new.risks.words().collect())
            );
            let verdict = verdict.min(most);
            findings.push(finding(
                "unseen-action",
                verdict,
                reason,
                units.get(new.unit),
            ));
        }
        findings
    }
}

fn finding(
    rule: &'static str,
    verdict: Verdict,
    reason: String,
    unit: Option<&Unit<'_>>,
) -> Finding {
    Finding {
        verdict,
        evidence: unit.map(|unit| Masked::start(unit.text(), SHOWN)),
        effect: unit.and_then(|unit| Some(Arc::new((*unit.effects.first()?).clone()))),
        ..Finding::audit(LayerName::Classifier, rule, reason)
    }
}

impl Layer for Classification {
    fn name(&self) -> LayerName {
        LayerName::Classifier
    }

    fn judge(
        &self,
        _: &ToolCall,
        effects: &[Effect],
        context: &Context<'_>,
        fuel: &Fuel,
    ) -> Result<Vec<Finding>, OutOfFuel> {
        let own;
        let looked = match context.looked {
            Some(looked) if looked.is_by(self.classifier.base()) => looked,
            Some(_) | None => {
                own = self.looked(effects);
                &own
            }
        };
        let units = &looked.units;
        let bytes: usize = units.iter().map(|unit| unit.text().len().min(4096)).sum();
        fuel.spend(1 + (bytes / BYTES_PER_FUEL) as u64)?;
        let most = if context.expert {
            // What the gate blocks scores high. If that were asked about, lifting the gate would lift
            // nothing.
            Verdict::Audit
        } else {
            self.most
        };
        Ok(self.of_units(looked, most))
    }
}

/// What follows from a score.
fn reached(score: f32, thresholds: Thresholds) -> Option<Verdict> {
    if score >= thresholds.block {
        Some(Verdict::Block)
    } else if score >= thresholds.ask {
        Some(Verdict::Ask)
    } else if score >= thresholds.audit {
        Some(Verdict::Audit)
    } else {
        None
    }
}

/// What follows from something new. What is new and no risk is ordinary work. Only a project that
/// knows its own calls can ask about one.
fn risk_of(new: New, knows_project: bool) -> Option<Verdict> {
    if new.is_alarming() {
        let ask = knows_project.then_some(Verdict::Ask);
        Some(ask.unwrap_or(Verdict::Audit))
    } else {
        new.is_notable().then_some(Verdict::Audit)
    }
}
