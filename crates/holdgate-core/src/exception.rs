//! What a rule would have to allow so that a call that was asked about or refused passes.

use crate::mask::has_secret;
use crate::verdict::{Finding, LayerName};
use holdgate_effects::effect::{Effect, Kind};
use holdgate_effects::json::Json;
use holdgate_effects::path::{PathClass, Place};
use holdgate_effects::value::HOLE;

/// Bytes of what an effect is about that a written rule can hold.
const MAX_TEXT: usize = 1_000;

/// What a rule would have to allow: all that this part of the call does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// The rule that asks or refuses.
    pub rule: String,
    /// Who does it.
    pub program: String,
    /// The part of the call that says so, whole.
    pub evidence: String,
    /// What it does: kinds as rules write them, each with its text.
    pub effects: Vec<(&'static str, Option<String>)>,
    /// The path that it is about, if the gate refuses it or the evidence is a tool's name alone.
    pub path: Option<String>,
}

/// Why no rule can allow exactly this call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoAllowance {
    /// Only rules have exceptions.
    #[error("`{rule}` belongs to the layer `{layer}`, which has no exceptions")]
    Layer {
        /// The rule that asks or refuses.
        rule: String,
        /// Its layer.
        layer: LayerName,
    },
    /// It is not about what the call does, but about how often, when, or after what.
    #[error("`{0}` does not depend on this call alone, so no rule can allow just this call")]
    NotOfCall(String),
    /// What it is about cannot be written down.
    #[error("the call that `{0}` is about has unknown parts, so no rule could be narrow enough")]
    Unknown(String),
    /// The rule would hold a secret.
    #[error("the call that `{0}` is about contains a secret, which must not be written to a rule")]
    Secret(String),
}

/// What rules would have to allow so that none of `findings` asks or refuses again.
pub(crate) fn allowances(
    findings: &[Finding],
    effects: &[Effect],
) -> Result<Vec<Allowance>, NoAllowance> {
    let against = findings.iter().filter(|f| !f.verdict.lets_pass());
    against.map(|finding| allowance(finding, effects)).collect()
}

fn allowance(finding: &Finding, effects: &[Effect]) -> Result<Allowance, NoAllowance> {
    let rule = finding.rule.to_string();
    if !matches!(finding.layer, LayerName::Gate | LayerName::Policy) {
        let layer = finding.layer;
        return Err(NoAllowance::Layer { rule, layer });
    }
    let Some(effect) = &finding.effect else {
        return Err(NoAllowance::NotOfCall(rule));
    };
    let path = effect.path.as_ref().map(|path| path.text.clone());
    // The gate's exceptions are as narrow as can be: the same words elsewhere are another call.
    let is_narrow = finding.layer == LayerName::Gate || effect.evidence == effect.program;
    let path = path.filter(|_| is_narrow);
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

impl Allowance {
    /// As a record keeps it.
    pub(crate) fn to_json(&self) -> Json<'static> {
        let effect = |(kind, text): &(&'static str, Option<String>)| {
            let mut json = Json::object([("effect", (*kind).into())]);
            if let Some(text) = text {
                json.set("text", text.clone().into());
            }
            json
        };
        let mut json = Json::object([
            ("rule", self.rule.clone().into()),
            ("program", self.program.clone().into()),
            ("evidence", self.evidence.clone().into()),
            (
                "effects",
                Json::Array(self.effects.iter().map(effect).collect()),
            ),
        ]);
        if let Some(path) = &self.path {
            json.set("path", path.clone().into());
        }
        json
    }

    /// Back from a record; `None` if a part is missing or not known.
    pub fn from_json(json: &Json<'_>) -> Option<Allowance> {
        let text = |json: &Json<'_>, key: &str| Some(json.get_str(key)?.to_owned());
        let effect = |json: &Json<'_>| {
            let kind = Kind::from_word(json.get_str("effect")?)?;
            Some((kind.word(), text(json, "text")))
        };
        let effects = json.get("effects").and_then(Json::as_array)?;
        Some(Allowance {
            rule: text(json, "rule")?,
            program: text(json, "program")?,
            evidence: text(json, "evidence")?,
            effects: effects.iter().map(effect).collect::<Option<Vec<_>>>()?,
            path: text(json, "path"),
        })
    }
}
