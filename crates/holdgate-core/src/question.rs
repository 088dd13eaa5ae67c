//! A call that a person has to decide about.

use crate::incident::Record;
use crate::mask::has_secret;
use crate::verdict::{Finding, LayerName, Verdict};
use holdgate_effects::effect::Effect;
use holdgate_effects::path::{PathClass, Place};
use holdgate_effects::value::HOLE;
use std::time::Duration;

/// A call that waits for a person.
#[derive(Clone, Debug)]
pub struct Question {
    /// The question as it is recorded, once it is asked: its id is that of the incident.
    pub record: Record,
    /// When the call is refused if nobody has answered.
    pub deadline: Duration,
    /// What a rule would have to allow so that the same is not asked again, or why none can.
    pub allowances: Result<Vec<Allowance>, NoAllowance>,
}

/// Bytes of what an effect is about that a written rule can hold.
const MAX_TEXT: usize = 1_000;

/// What a rule would have to allow: all that this part of the call does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// The rule that asks.
    pub rule: String,
    /// Who does it.
    pub program: String,
    /// The part of the call that says so, whole.
    pub evidence: String,
    /// What it does: kinds as rules write them, each with its text.
    pub effects: Vec<(&'static str, Option<String>)>,
    /// The path that it is about, if the evidence is a tool's name alone.
    pub path: Option<String>,
}

/// Why no rule can allow exactly this call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoAllowance {
    /// Only the policy's own rules have exceptions.
    #[error(
        "`{rule}` belongs to the layer `{layer}`, which has no exceptions; answer once or session"
    )]
    Layer {
        /// The rule that asks.
        rule: String,
        /// Its layer.
        layer: LayerName,
    },
    /// What it asks about cannot be written down.
    #[error(
        "the call that `{0}` asks about has unknown parts, so no rule could be narrow enough; \
         answer once or session"
    )]
    Unknown(String),
    /// The rule would hold a secret.
    #[error(
        "the call that `{0}` asks about contains a secret, which must not be written to a \
         rule; answer once or session"
    )]
    Secret(String),
}

/// What rules would have to allow so that none of `findings` asks again.
pub(crate) fn allowances(
    findings: &[Finding],
    effects: &[Effect],
) -> Result<Vec<Allowance>, NoAllowance> {
    let asking = findings.iter().filter(|f| f.verdict == Verdict::Ask);
    asking.map(|finding| allowance(finding, effects)).collect()
}

fn allowance(finding: &Finding, effects: &[Effect]) -> Result<Allowance, NoAllowance> {
    let rule = finding.rule.to_string();
    if finding.layer != LayerName::Policy {
        let layer = finding.layer;
        return Err(NoAllowance::Layer { rule, layer });
    }
    let Some(effect) = &finding.effect else {
        return Err(NoAllowance::Unknown(rule));
    };
    let path = effect.path.as_ref().map(|path| path.text.clone());
    let path = path.filter(|_| effect.evidence == effect.program);
    let known = |text: &str| !text.is_empty() && !text.contains([HOLE, '…']);
    let resolved = |place: &Place| !place.is(PathClass::Unresolved);
    if !known(&effect.evidence)
        || path.as_deref().is_some_and(|path| !known(path))
        || !effect.path.as_ref().is_none_or(resolved)
    {
        return Err(NoAllowance::Unknown(rule));
    }
    // All that this part of the call does, to the letter: what it reads from elsewhere, say.
    let part = effects.iter().filter(|e| {
        e.evidence == effect.evidence && e.program == effect.program && e.path == effect.path
    });
    let mut done = Vec::new();
    for effect in part {
        let text = effect.text.as_deref();
        if text.is_some_and(|text| text.len() > MAX_TEXT || !known(text)) {
            return Err(NoAllowance::Unknown(rule));
        }
        done.push((effect.kind.word(), text.map(str::to_owned)));
    }
    let texts = done.iter().filter_map(|(_, text)| text.as_deref());
    let texts = texts.chain(path.as_deref()).chain([&*effect.evidence]);
    if texts.into_iter().any(has_secret) {
        return Err(NoAllowance::Secret(rule));
    }
    Ok(Allowance {
        effects: done,
        rule,
        program: effect.program.to_string(),
        evidence: effect.evidence.to_string(),
        path,
    })
}
