//! The judge of output, who is asked about a call before a person is, if the settings want that. Only
//! what it finds safe passes; about everything else the person decides.

use super::App;
use crate::config::{AskJudge, Config};
use crate::judge::{Judge, Ruling, Verdict, WorkContext};
use holdgate_core::rules::{Profile, RuleSet};
use holdgate_core::watch::{Hit, Severity};
use holdgate_core::{Finding, LayerName, Masked, Question, Subject};
use std::pin::Pin;
use std::sync::{Arc, OnceLock};

/// Rules about terminals, which may be those where a person answers.
const TERMINALS: [&str; 2] = ["other-terminal", "new-terminal"];
/// Characters of a call that the judge reads whole.
const MAX_CALL: usize = 4_000;

/// The judge, and what the agent is there for.
#[derive(Debug)]
pub(super) struct JudgeFirst {
    judge: Judge,
    pub(super) work: OnceLock<WorkContext>,
}

/// Whether the judge finds a call safe, once it has answered.
pub(super) type Opinion = Pin<Box<dyn Future<Output = bool> + Send>>;

impl JudgeFirst {
    /// `None` if the settings do not want it.
    pub(super) fn new(config: &Config) -> anyhow::Result<Option<JudgeFirst>> {
        match config.ask.judge {
            AskJudge::Off => Ok(None),
            AskJudge::First => Ok(Some(JudgeFirst {
                judge: Judge::new(config.output_judge.clone())?,
                work: OnceLock::new(),
            })),
        }
    }
}

/// Asks the judge, unless only a person may decide.
pub(super) fn ask(app: &Arc<App>, question: &Question) -> Option<Opinion> {
    app.judge_first.as_ref()?;
    let hit = hit(question)?;
    let app = app.clone();
    Some(Box::pin(async move {
        let Some(first) = &app.judge_first else {
            return false;
        };
        let none = WorkContext::default();
        let work = first.work.get().unwrap_or(&none);
        let ruling = first.judge.ask(&hit, work).await;
        matches!(
            ruling,
            Ruling::Said {
                verdict: Verdict::Safe,
                ..
            }
        )
    }))
}

/// The call as the judge reads it. What the gate finds and what concerns Holdgate itself is for a
/// person alone, and so is a call that the judge could not read whole.
fn hit(question: &Question) -> Option<Hit> {
    let record = &question.record;
    let against = record.findings.iter().filter(|f| !f.verdict.lets_pass());
    let against: Vec<_> = against.collect();
    let first = against.first()?;
    let rules = RuleSet::built_in(Profile::default()).ok()?;
    let for_person = |finding: &&Finding| {
        finding.layer == LayerName::Gate
            || rules.protects_holdgate(&finding.rule)
            || TERMINALS.contains(&&*finding.rule)
    };
    if against.iter().any(for_person) {
        return None;
    }
    let Subject::Call {
        tool: Some(tool),
        input: Some(input),
        ..
    } = &record.subject
    else {
        return None;
    };
    let evidence = Masked::of(&format!("{tool} {input}"));
    let is_hidden = Masked::changes_json(input);
    if is_hidden || evidence.chars().count() > MAX_CALL {
        return None;
    }
    let reasons: Vec<&str> = against.iter().map(|f| f.reason.as_str()).collect();
    Some(Hit {
        pattern: first.rule.as_ref().into(),
        family: "call".into(),
        severity: Severity::High,
        certain: false,
        call: true,
        quoted: false,
        because: format!(
            "the agent wants to make this call, and {}",
            reasons.join("; ")
        ),
        evidence: evidence.into_string(),
        context: Masked::of(&question.before.join("\n")).into_string(),
    })
}
