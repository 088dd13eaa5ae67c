//! One rule.

use super::report::{Mark, Source};
use super::when::{Call, Kinds};
use super::{Profile, compile};
use crate::action::effect::Effect;
use crate::action::value::HOLE;
use crate::json::{Json, shorten};
use crate::verdict::{Finding, Verdict};
use std::borrow::Cow;
use std::sync::Arc;

/// The layer that the rules speak for.
const LAYER: &str = "gate";
/// Characters of evidence that a finding shows.
const MAX_EVIDENCE: usize = 300;

/// How far a rule has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// It does what it says.
    Stable,
    /// It only audits.
    Trial,
}

impl Stage {
    /// The word for it in rules.
    pub fn word(self) -> &'static str {
        match self {
            Stage::Stable => "stable",
            Stage::Trial => "trial",
        }
    }
}

/// One rule, ready to match.
#[derive(Debug)]
pub struct Rule {
    /// Its name, which reads well after "allow".
    pub id: String,
    /// The family that it belongs to.
    pub category: String,
    /// Why it is there, as a phrase.
    pub because: String,
    /// A safer way, as a phrase.
    pub instead: Option<String>,
    /// Where it stands in OWASP's list for agents.
    pub owasp: Vec<String>,
    /// How far it has come.
    pub stage: Stage,
    /// What it was tried on.
    pub examples: Vec<Example>,
    pub(super) verdicts: compile::Verdicts,
    /// The profile that the examples are tried in.
    pub(super) tried_in: Profile,
    pub(super) when: Call,
    pub(super) needs: Kinds,
    pub(super) source: Arc<Source>,
    pub(super) at: Mark,
    pub(super) when_at: Mark,
    pub(super) instead_at: Option<Mark>,
}

/// What must become of an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// The rule fires, and the call gets at least its verdict.
    Fire,
    /// The rule does not fire, and the call passes.
    Allow,
}

/// A call that a rule is tried on.
#[derive(Debug)]
pub struct Example {
    /// What must become of it.
    pub expect: Expect,
    /// The tool.
    pub tool: String,
    /// Its arguments.
    pub input: Json<'static>,
    pub(super) at: Mark,
}

impl Example {
    /// The command, or the tool and its input.
    pub fn text(&self) -> String {
        match self.input.get("command").and_then(Json::as_str) {
            Some(command) if self.tool == "Bash" => command.to_owned(),
            _ => format!("{} {}", self.tool, self.input),
        }
    }
}

impl Rule {
    /// What it does in a profile: as written, or an audit while it is on trial.
    pub fn verdict(&self, profile: Profile) -> Verdict {
        let verdict = self.verdicts.in_profile(profile);
        match self.stage {
            Stage::Stable => verdict,
            Stage::Trial => verdict.min(Verdict::Audit),
        }
    }

    /// The word for what it does in a profile: `DENY`, `ASK`, `AUDIT` or `ALLOW`.
    pub fn word(&self, profile: Profile) -> &'static str {
        compile::word(self.verdicts.in_profile(profile))
    }

    /// The file and line where it stands.
    pub fn place(&self) -> String {
        format!("{}:{}", self.source.name, self.at.line)
    }

    /// Its condition as written.
    pub fn condition(&self) -> String {
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
        let below = below.take_while(|line| line.trim().is_empty() || indent(line) > own);
        let all = lines.get(first).into_iter().chain(below);
        let cut = |line: &&str| line.get(own.min(line.len())..).unwrap_or(line).to_owned();
        all.map(cut)
            .collect::<Vec<_>>()
            .join("\n")
            .trim_end()
            .to_owned()
    }

    /// What it says about a call that it fires on.
    pub(super) fn finding(&self, verdict: Verdict, effect: Option<&Effect>) -> Finding {
        let evidence = effect.map(|effect| shorten(&shown(effect), MAX_EVIDENCE));
        Finding {
            layer: LAYER,
            rule: self.id.clone().into(),
            verdict,
            reason: self.because.clone(),
            evidence: evidence.filter(|text| !text.is_empty()),
            instead: self.instead.clone().map(Into::into),
        }
    }
}

/// The part of the call that says so. A tool's name alone says little: its path says more.
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
