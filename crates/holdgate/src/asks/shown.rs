//! A question as a person sees it, and as it goes over the socket.

use super::allow::{self, Limits};
use super::code::Code;
use holdgate_core::{Masked, Question, Subject};
use holdgate_effects::json::Json;
use std::time::{Duration, Instant};

/// Characters of a call's arguments that are shown.
const INPUT_SHOWN: usize = 2000;

/// A question as a person sees it.
#[derive(Clone, Debug)]
pub struct Shown {
    /// The incident.
    pub id: String,
    /// Whose call it is.
    pub session: String,
    /// The tool.
    pub tool: String,
    /// The beginning of the arguments.
    pub input: String,
    /// Rule, layer, reason and what matched, of each finding.
    pub findings: Vec<[String; 4]>,
    /// The rule that would let the same pass from now on, or why there is none.
    pub rule: Result<String, String>,
    /// It is about output, for which no call waits: a no ends the agent.
    pub output: bool,
    /// When it is too late.
    pub deadline: Instant,
    /// What answers it elsewhere; only where the question is shown by its own process.
    pub(crate) code: Option<Code>,
}

impl Shown {
    pub(super) fn of(question: &Question, left: Duration) -> Shown {
        let record = &question.record;
        let (tool, input) = match &record.subject {
            Subject::Call { tool, input, .. } => (tool.as_deref(), input.as_deref()),
            // Nobody is asked about results.
            Subject::Response | Subject::Result { .. } => (None, None),
        };
        let text = |text: &str| Masked::start(text, 400).into_string();
        let findings = record.findings.iter();
        let findings = findings.filter(|f| !f.verdict.lets_pass()).map(|f| {
            let evidence = f.evidence.as_deref().unwrap_or_default();
            [
                text(&f.rule),
                text(f.layer.word()),
                text(&f.reason),
                text(evidence),
            ]
        });
        Shown {
            id: record.id.clone(),
            session: text(&record.session),
            tool: text(tool.unwrap_or("?")),
            input: input.map_or(String::new(), |input| {
                Masked::json_start(input, INPUT_SHOWN).into_string()
            }),
            findings: findings.collect(),
            rule: match &question.allowances {
                Ok(allowances) => Ok(allow::rules(&record.id, allowances, &Limits::default())),
                Err(reason) => Err(format!("{reason}; answer once or session")),
            },
            output: false,
            deadline: Instant::now() + left,
            code: None,
        }
    }

    /// For `holdgate approve`, without the code.
    pub fn to_json(&self) -> Json<'static> {
        let finding = |[rule, layer, reason, evidence]: &[String; 4]| {
            Json::object([
                ("rule", rule.clone().into()),
                ("layer", layer.clone().into()),
                ("reason", reason.clone().into()),
                ("evidence", evidence.clone().into()),
            ])
        };
        let left = self.deadline.saturating_duration_since(Instant::now());
        let mut json = Json::object([
            ("id", self.id.clone().into()),
            ("session", self.session.clone().into()),
            ("tool", self.tool.clone().into()),
            ("input", self.input.clone().into()),
            (
                "findings",
                Json::Array(self.findings.iter().map(finding).collect()),
            ),
            ("seconds_left", left.as_secs().into()),
            ("output", Json::Bool(self.output)),
        ]);
        match &self.rule {
            Ok(yaml) => json.set("allow", yaml.clone().into()),
            Err(reason) => json.set("no_rule", reason.clone().into()),
        }
        json
    }

    /// Back from [`to_json`](Self::to_json).
    pub fn from_json(json: &Json<'_>) -> Shown {
        let text = |json: &Json<'_>, key: &str| {
            json.get(key)
                .and_then(Json::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        let findings = json.get("findings").and_then(Json::as_array);
        let finding =
            |json: &Json<'_>| ["rule", "layer", "reason", "evidence"].map(|key| text(json, key));
        let seconds = json.get("seconds_left").and_then(Json::as_u64);
        Shown {
            id: text(json, "id"),
            session: text(json, "session"),
            tool: text(json, "tool"),
            input: text(json, "input"),
            findings: findings.unwrap_or_default().iter().map(finding).collect(),
            rule: match json.get("allow") {
                Some(_) => Ok(text(json, "allow")),
                None => Err(text(json, "no_rule")),
            },
            output: json.get("output") == Some(&Json::Bool(true)),
            deadline: Instant::now() + Duration::from_secs(seconds.unwrap_or(0).min(1 << 25)),
            code: None,
        }
    }
}
