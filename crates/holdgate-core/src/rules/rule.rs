//! One rule.

use super::report::{Mark, Source};
use super::scope::Scope;
use super::timing::Timing;
use super::when::{Call, Met};
use super::{Profile, compile};
use crate::history::History;
use crate::mask::Masked;
use crate::verdict::{Finding, LayerName, Verdict};
use holdgate_effects::effect::Effect;
use holdgate_effects::fuel::{Fuel, OutOfFuel};
use holdgate_effects::json::Json;
use holdgate_effects::value::HOLE;
use holdgate_effects::worded;
use std::borrow::Cow;
use std::sync::Arc;

/// Characters of evidence that a finding shows.
const MAX_EVIDENCE: usize = 300;

/// The layer that a rule belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleLayer {
    /// What is dangerous in itself.
    Gate,
    /// What the operator wants, also over time.
    Policy,
}

impl RuleLayer {
    /// The layer's name.
    pub fn name(self) -> LayerName {
        match self {
            RuleLayer::Gate => LayerName::Gate,
            RuleLayer::Policy => LayerName::Policy,
        }
    }
}

worded! {
    /// Where a rule comes from. A later tier may only change what an earlier one permits.
    pub enum Tier as "tier" {
        BuiltIn = "built-in": "Built into Holdgate.",
        Operator = "operator": "From the operator.",
        Project = "project": "From the project; it can only tighten.",
    }
}

worded! {
    /// How far a rule has come.
    pub enum Stage as "stage" {
        Stable = "stable": "It does what it says.",
        Trial = "trial": "It only audits.",
    }
}

/// One rule, ready to match.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Its name, which reads well after "allow".
    pub id: String,
    /// The family that it belongs to.
    pub category: String,
    /// The reason for it, as a clause.
    pub because: String,
    /// A safer way, as a clause.
    pub instead: Option<String>,
    /// Its ids in OWASP's list for agents.
    pub owasp: Vec<String>,
    /// How far it has come.
    pub stage: Stage,
    /// The layer that it belongs to.
    pub layer: RuleLayer,
    /// Where it comes from.
    pub tier: Tier,
    /// Its examples.
    pub examples: Arc<[Example]>,
    pub(super) requires: bool,
    /// It hides effects from other rules.
    pub(super) allows: bool,
    /// From which rules; from all of the policy, if none is named.
    pub(super) only: Vec<(String, Mark)>,
    /// Where and until when it does so.
    pub(super) scope: Scope,
    pub(super) timing: Option<Arc<Timing>>,
    pub(super) verdicts: compile::Verdicts,
    /// The profile that the examples are tried in.
    pub(super) tried_in: Profile,
    pub(super) when: Arc<Call>,
    pub(super) source: Arc<Source>,
    pub(super) at: Mark,
    pub(super) when_at: Mark,
    pub(super) instead_at: Option<Mark>,
}

/// The expected result of an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// The rule matches, and the call gets at least its verdict.
    Match,
    /// The rule does not match, and the call passes.
    Allow,
    /// The rule allows, and does not match.
    Untouched,
}

/// A call of an example.
#[derive(Clone, Debug)]
pub struct ExampleCall {
    /// The tool.
    pub tool: String,
    /// Its arguments.
    pub input: Json<'static>,
    /// What the tool returned, if the example says so.
    pub(super) result: Option<String>,
}

impl ExampleCall {
    pub(super) fn command(command: &str) -> Self {
        ExampleCall {
            tool: "Bash".to_owned(),
            input: Json::object([("command", command.to_owned().into())]),
            result: None,
        }
    }

    /// The command, or the tool and its input.
    fn text(&self) -> String {
        match self.input.get_str("command") {
            Some(command) if self.tool == "Bash" => command.to_owned(),
            _ => format!("{} {}", self.tool, self.input),
        }
    }
}

/// A call that a rule is tried on.
#[derive(Debug)]
pub struct Example {
    /// The expected result.
    pub expect: Expect,
    /// The call.
    pub call: ExampleCall,
    /// What was done before.
    pub(super) first: Vec<ExampleCall>,
    /// Files that exist.
    pub(super) files: Vec<String>,
    /// The repository around them.
    pub(super) repository: Option<ExampleRepository>,
    pub(super) at: Mark,
}

/// The repository in which an example is tried.
#[derive(Clone, Debug)]
pub(super) struct ExampleRepository {
    /// The branch that is checked out.
    pub(super) branch: String,
    /// The names and addresses of its remotes.
    pub(super) remotes: Vec<(String, String)>,
}

impl Example {
    /// The command, or the tool and its input, after what was done before.
    pub fn text(&self) -> String {
        let calls = self.first.iter().chain([&self.call]);
        let calls: Vec<String> = calls.map(ExampleCall::text).collect();
        calls.join(" → ")
    }
}

impl Rule {
    /// What it does in a profile: as written, or an audit while it is on trial.
    pub fn verdict(&self, profile: Profile) -> Verdict {
        let verdict = compile::in_profile(self.verdicts, profile);
        match self.stage {
            Stage::Stable => verdict,
            Stage::Trial => verdict.min(Verdict::Audit),
        }
    }

    /// The word for what it does in a profile: `DENY`, `ASK`, `AUDIT`, `ALLOW` or `REQUIRE`.
    pub fn word(&self, profile: Profile) -> &'static str {
        let verdict = compile::in_profile(self.verdicts, profile);
        if self.requires && !verdict.lets_pass() {
            compile::REQUIRE
        } else {
            compile::word(verdict)
        }
    }

    /// Whether it matches a call with these effects.
    pub(super) fn met<'e>(
        &self,
        effects: &'e [Effect],
        history: &History,
        fuel: &Fuel,
    ) -> Result<Met<'e>, OutOfFuel> {
        match &self.timing {
            None => self.when.met(effects, fuel),
            Some(timing) => timing.met(&self.when, effects, history, fuel),
        }
    }

    /// Whether it makes an exception from this rule, which it names.
    pub(super) fn excepts(&self, id: &str) -> bool {
        self.only.iter().any(|(rule, _)| rule == id)
    }

    /// The file and line of its definition.
    pub fn place(&self) -> String {
        format!("{}:{}", self.source.name, self.at.line)
    }

    /// Its condition as written, including the conditions on earlier calls.
    pub fn condition(&self) -> String {
        const KEYS: [&str; 9] = [
            "when:",
            "before:",
            "since:",
            "after:",
            "within:",
            "refused:",
            "same:",
            "earlier_call:",
            "approval:",
        ];
        let lines: Vec<&str> = self.source.text.lines().collect();
        let starts = |n: &usize| {
            let line = lines.get(*n).map_or("", |line| line.trim_start());
            line.trim_start_matches("- ").starts_with("when:")
        };
        let Some(first) = (0..self.when_at.line).rev().find(starts) else {
            return String::new();
        };
        let indent = |line: &str| line.len() - line.trim_start_matches([' ', '-']).len();
        let own = lines.get(first).map_or(0, |line| indent(line));
        let below = lines.iter().skip(first + 1);
        let is_part = |line: &&&str| {
            let key = line.trim_start();
            line.trim().is_empty()
                || indent(line) > own
                || KEYS
                    .iter()
                    .any(|k| indent(line) == own && key.starts_with(k))
        };
        let below = below.take_while(is_part);
        let all = lines.get(first).into_iter().chain(below);
        let cut = |line: &&str| line.get(own.min(line.len())..).unwrap_or(line).to_owned();
        all.map(cut)
            .collect::<Vec<_>>()
            .join("\n")
            .trim_end()
            .to_owned()
    }

    /// The finding about a call that it matches.
    pub(super) fn finding(&self, verdict: Verdict, effect: Option<&Effect>) -> Finding {
        let evidence = effect.map(|effect| Masked::start(&shown(effect), MAX_EVIDENCE));
        let mut reason = self.because.clone();
        if effect.is_some_and(|effect| self.when.is_branch_in_doubt(effect)) {
            reason.push_str(" (which branch it is about is not known, so it may be this one)");
        }
        Finding {
            layer: self.layer.name(),
            rule: self.id.clone().into(),
            verdict,
            reason,
            evidence: evidence.filter(|text| !text.is_empty()),
            instead: self.instead.clone().map(Into::into),
            effect: effect.cloned().map(Arc::new),
        }
    }
}

/// The evidence to show. A tool's name alone says little, so its path is added.
fn shown(effect: &Effect) -> Cow<'_, str> {
    match &effect.path {
        Some(path) if effect.evidence == effect.program => Cow::Owned(format!(
            "{} {}",
            effect.evidence,
            path.text.replace(HOLE, "…")
        )),
        _ => Cow::Borrowed(&effect.evidence),
    }
}
