//! The trajectory layer: is the sequence of calls an attack? (Inspired by `TrajAD`.)
//!
//! The automaton of the trail blocks the call that completes an attack, and counters ask. How
//! surprising a call is after the ones before it is recorded, and asked about once the project's
//! own sessions tell what is surprising there.

use super::spillage::{texts, without};
use crate::call::ToolCall;
use crate::history::{History, Step};
use crate::mask::Masked;
use crate::stack::{Context, Layer, OutOfFuel};
use crate::taint::Search;
use crate::trajectory::{
    Act, Action, Case, Combination, Families, Family, How, Model, SharedModels, Sign, base,
    leads_out,
};
use crate::verdict::{Finding, LayerName, Verdict};
use holdgate_effects::effect::Effect;
use holdgate_effects::fuel::Fuel;
use holdgate_effects::json::shorten;
use holdgate_effects::tag::Tag;
use holdgate_effects::worded;
use std::sync::Arc;

/// Surprise in bits above which a call is recorded. At most 0.5 % of the sessions of projects that
/// nothing was learned from lie above it; `docs/evaluation.md` says how it was found.
const SURPRISING: f64 = 15.5;
/// Bytes of an earlier call that a reason repeats.
const MAX_QUOTED: usize = 80;

worded! {
    /// What the layer may do.
    pub enum TrajectoryMode as "mode" {
        Off = "off": "It does nothing.",
        Audit = "audit": "Its findings are only recorded.",
        On = "on": "It blocks and asks.",
    }
}

/// The layer.
#[derive(Clone, Debug)]
pub struct Trajectory {
    mode: TrajectoryMode,
    families: Families,
    models: Arc<SharedModels>,
}

impl Default for Trajectory {
    fn default() -> Self {
        Trajectory::new(TrajectoryMode::On, Arc::default())
    }
}

impl Trajectory {
    /// A layer with what was learned of projects.
    pub fn new(mode: TrajectoryMode, models: Arc<SharedModels>) -> Self {
        Trajectory {
            mode,
            families: Families::ALL,
            models,
        }
    }

    /// The same without the automaton's rules for a family of attacks: what do the others find?
    #[must_use]
    pub fn without(mut self, family: Family) -> Self {
        self.families = self.families.without(family);
        self
    }

    fn surprise(&self, acts: &[Act], context: &Context<'_>) -> Option<Finding> {
        let history = context.history;
        let own = context.project.and_then(|project| self.models.get(project));
        let learned = own.as_deref().map(Model::ppm);
        let (bits, action) = history.trail().surprise(acts, base(), learned)?;
        let threshold = own.and_then(|model| model.threshold());
        let (limit, verdict) = match threshold {
            Some(limit) => (limit.max(SURPRISING), Verdict::Ask),
            None => (SURPRISING, Verdict::Audit),
        };
        if bits <= limit {
            return None;
        }
        let before = history.sequence().last();
        let after = before.map_or("at the beginning".to_owned(), |action| {
            format!("after `{action}`")
        });
        let reason =
            format!("`{action}` {after} is surprising: {bits:.1} bits, where {limit:.1} are usual");
        let finding = Finding::audit(LayerName::Trajectory, "unusual-sequence", reason);
        Some(Finding { verdict, ..finding })
    }
}

impl Layer for Trajectory {
    fn name(&self) -> LayerName {
        LayerName::Trajectory
    }

    fn judge(
        &self,
        call: &ToolCall,
        effects: &[Effect],
        context: &Context<'_>,
        fuel: &Fuel,
    ) -> Result<Vec<Finding>, OutOfFuel> {
        if self.mode == TrajectoryMode::Off {
            return Ok(Vec::new());
        }
        fuel.spend(1)?;
        let acts = Act::all(effects);
        let history = context.history;
        let tool = |effect: &Effect| effect.is(Tag::Tool) && effect.program.starts_with("mcp__");
        // What a tool does that nothing is known of may lead anywhere.
        let out = || effects.iter().any(leads_out) || effects.iter().all(tool);
        let sends = history.is_suspect() && out();
        if acts.is_empty() && !sends {
            return Ok(Vec::new());
        }
        let cases = history.trail().cases(&acts, self.families);
        let mut findings: Vec<Finding> = cases.iter().map(|case| finding(case, history)).collect();
        if cases.is_empty() && sends && self.families.has(Family::SecretFlow) {
            findings.extend(value_leaves(call, effects, context));
        }
        // A rule that names the attack says more.
        if findings.is_empty() {
            let combination = history.trail().combination(&acts, history.has_external());
            findings.extend(combination.map(|found| combined(found, history)));
        }
        findings.extend(self.surprise(&acts, context));
        findings.extend(lost(&acts, history));
        if self.mode == TrajectoryMode::Audit || context.expert {
            for finding in &mut findings {
                finding.verdict = finding.verdict.min(Verdict::Audit);
            }
        }
        Ok(findings)
    }
}

fn finding(case: &Case, history: &History) -> Finding {
    let number = case.first + 1;
    let (began, ends) = (case.began, case.ends);
    let reason = match history.numbered(case.first) {
        Some(step) => format!(
            "call {number} ({}) {began}, and this call {ends}",
            step.tool
        ),
        None if case.first == history.trail().steps() => format!("it {began}, and {ends}"),
        None => format!("call {number} {began}, and this call {ends}"),
    };
    let verdict = if case.blocks {
        Verdict::Block
    } else {
        Verdict::Ask
    };
    let finding = Finding::block(LayerName::Trajectory, case.rule, reason).instead(case.instead);
    Finding {
        verdict,
        evidence: history.numbered(case.first).and_then(quoted),
        ..finding
    }
}

/// A value that an earlier result has shown goes out, and not as the credential of the request.
fn value_leaves(call: &ToolCall, effects: &[Effect], context: &Context<'_>) -> Option<Finding> {
    let mut search = Search::new(context.history.taint());
    for text in texts(call, effects, context) {
        search.look(&without(&text, |_| true));
    }
    search.found().next()?;
    let reason = "an earlier call showed a secret, and this call sends it to others";
    let finding = Finding::block(LayerName::Trajectory, "shown-secret-leaves", reason)
        .instead("leave secrets where they are");
    Some(Finding {
        verdict: Verdict::Ask,
        ..finding
    })
}

/// What no rule names.
fn combined(found: Combination, history: &History) -> Finding {
    let now = said(found.now);
    let earlier = found.before.and_then(|(_, step)| history.numbered(step));
    let reason = match (found.before, earlier) {
        (Some((sign, step)), Some(call)) => format!(
            "call {} ({}): {}; this call: {now}; honest sessions hardly do both",
            step + 1,
            call.tool,
            said(sign),
        ),
        (Some((sign, step)), None) => format!(
            "call {}: {}; this call: {now}; honest sessions hardly do both",
            step + 1,
            said(sign),
        ),
        (None, _) => format!("{now}, which honest sessions hardly ever do between other work"),
    };
    let finding = Finding::block(LayerName::Trajectory, "unusual-combination", reason)
        .instead("tell the user what you want to do, and why");
    Finding {
        verdict: Verdict::Ask,
        evidence: earlier.and_then(quoted),
        ..finding
    }
}

/// A sign in words.
fn said(sign: Sign) -> String {
    let with = match sign.how {
        How::Plain | How::Again => "",
        How::Written => " (with a file that the conversation wrote)",
        How::Fetched => " (with a fetched file)",
        How::Decoded => " (with a decoded file)",
        How::Secret => " (with a file that holds a secret)",
        How::Widened => " (with a file whose permissions were widened)",
        How::Packed => " (with a file that was packed)",
        How::Harmful => " (with what was written and would do harm)",
    };
    let meaning = Action::meaning(sign.action)
        .trim_end_matches('.')
        .to_lowercase();
    format!("{meaning}{with}")
}

/// Files that there is no room for any more, when one is run.
fn lost(acts: &[Act], history: &History) -> Option<Finding> {
    let lost = history.trail().has_lost() && acts.iter().any(Act::runs_file);
    lost.then(|| {
        let reason = "more files were fetched, decoded or copied from secrets than are remembered, \
                      so nobody knows whether the file that runs is one of them";
        Finding::audit(LayerName::Trajectory, "files-forgotten", reason)
    })
}

/// What an earlier step did, as it was written.
fn quoted(step: &Step) -> Option<Masked> {
    let evidence = step.effects.iter().map(|effect| effect.evidence.as_ref());
    let evidence: &str = evidence.into_iter().find(|text: &&str| !text.is_empty())?;
    Some(Masked::of(&shorten(evidence, MAX_QUOTED)))
}
