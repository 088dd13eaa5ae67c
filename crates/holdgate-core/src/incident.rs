//! Decisions as they go into the ledger. The shell adds the time, the chain of hashes and the seal.

use crate::answer::Answer;
use crate::classifier::lesson::Lesson;
use crate::exception::{Allowance, NoAllowance, allowances};
use crate::mask::Masked;
use crate::stack::Judgement;
use crate::verdict::{Finding, LayerName, Verdict};
use holdgate_effects::effect::Effect;
use holdgate_effects::json::{Json, write_string};
use holdgate_effects::worded;
use std::sync::Arc;
use std::time::Duration;

/// Findings in one record.
const MAX_FINDINGS: usize = 16;
/// Effects in one record.
const MAX_EFFECTS: usize = 16;

/// One decision.
#[derive(Clone, Debug)]
pub struct Record {
    /// Unique: the response's id and a number. A question has the id of the decision to come.
    pub id: String,
    /// The session that it belongs to.
    pub session: String,
    /// Where it was made: `proxy` or `hook`.
    pub door: &'static str,
    /// What it is about.
    pub subject: Subject,
    /// All that was found.
    pub findings: Vec<Finding>,
    /// The strictest of them.
    pub verdict: Verdict,
    /// What was done.
    pub action: Action,
    /// Whether the operator had lifted the gate.
    pub expert: bool,
    /// What was answered, if a person had to decide, and after how long.
    pub answer: Option<(Answer, Duration)>,
    /// What the classifier can learn from it, and whether its texts hold a secret that was shown.
    pub lesson: Option<(Lesson, bool)>,
    /// More about a call that did not pass.
    pub refused: Option<Box<Refused>>,
    /// The project in which a call was judged. It is not written.
    pub project: Option<String>,
}

/// What `holdgate why` shows about a call that did not pass.
#[derive(Clone, Debug)]
pub struct Refused {
    /// The project that the agent works on.
    pub project: Option<String>,
    /// What the model was told instead.
    pub told: Option<String>,
    /// What the call would have done.
    effects: Vec<Json<'static>>,
    /// What a rule would have to allow, or why none can.
    exception: Result<Vec<Allowance>, NoAllowance>,
}

impl Refused {
    /// What the call would have done, as records have it.
    pub fn effects(&self) -> &[Json<'static>] {
        &self.effects
    }

    fn of(judgement: &Judgement) -> Option<Box<Refused>> {
        let refusal = judgement.outcome.as_ref().err()?;
        // A secret that was shown need not look like one, and part of a call is a secret only by
        // what stands around it, so masking would not find either.
        let has_secret = refusal
            .input()
            .is_some_and(|input| Masked::changes_json(input));
        let (shown, exception) = if judgement.carries_secret || has_secret {
            let rule = refusal.findings().first().map(|f| f.rule.to_string());
            (0, Err(NoAllowance::Secret(rule.unwrap_or_default())))
        } else {
            let exception = allowances(refusal.findings(), &judgement.effects);
            (MAX_EFFECTS, exception)
        };
        let effects = judgement.effects.iter().take(shown);
        Some(Box::new(Refused {
            project: None,
            told: None,
            effects: effects.map(Effect::to_json).collect(),
            exception,
        }))
    }

    fn write(&self, out: &mut Members) {
        for (key, text) in [("project", &self.project), ("told", &self.told)] {
            if let Some(text) = text {
                out.text(key, text);
            }
        }
        let effects = Json::Array(self.effects.clone());
        out.raw("effects", &Masked::json(effects));
        match &self.exception {
            Ok(allowances) => {
                let all = allowances.iter().map(Allowance::to_json).collect();
                out.raw("exception", &Masked::json(Json::Array(all)));
            }
            Err(why) => out.text("no_exception", &why.to_string()),
        }
    }
}

/// What a decision is about.
#[derive(Clone, Debug)]
pub enum Subject {
    /// A tool call.
    Call {
        /// The tool's name, if it could be read.
        tool: Option<String>,
        /// The call's id, if it could be read.
        call: Option<String>,
        /// Who carries it out.
        runs: &'static str,
        /// Its arguments, if they could be read.
        input: Option<Arc<String>>,
        /// How long the client waited for the verdict after the call began.
        held: Duration,
        /// How long judging took.
        judged: Duration,
    },
    /// A response as a whole.
    Response,
    /// What a tool returned, in a request.
    Result {
        /// The tool's name, if it is known.
        tool: Option<String>,
        /// The call's id, if it is known.
        call: Option<String>,
    },
}

worded! {
    /// What was done.
    pub enum Action as "action" {
        Sent = "sent": "The call went to the client.",
        Explained = "explained": "A text that explains went in its place.",
        ExplainedAndContinued = "explained-and-continued":
            "The same, and an empty call that keeps the agent's loop alive.",
        ResponseEnded = "response-ended": "The response ended with an error.",
        LeftOut = "left-out": "A part that would repeat something was left out.",
        Asked = "asked": "A person was asked; another record has the answer.",
        Marked = "marked": "A result went to the model between markers that call it data.",
        Forwarded = "forwarded": "A request went to the model as it came.",
        LeftToClient = "left-to-client": "The client was told to ask its user.",
    }
}

impl Record {
    /// The decision on a call.
    pub fn of_call(
        id: String,
        session: String,
        judgement: &Judgement,
        action: Action,
        held: Duration,
    ) -> Self {
        let (tool, call, runs, input) = match &judgement.outcome {
            Ok(cleared) => {
                let call = cleared.call();
                let text = Some(call.text.clone());
                (Some(&*call.name), Some(&*call.id), &call.runs, text)
            }
            Err(refusal) => {
                let input = refusal.input().cloned();
                (refusal.tool(), refusal.id(), refusal.runs(), input)
            }
        };
        Record {
            id,
            session,
            door: "proxy",
            subject: Subject::Call {
                tool: tool.map(str::to_owned),
                call: call.map(str::to_owned),
                runs: runs.word(),
                input: input.map(|input| {
                    if judgement.carries_secret {
                        Arc::new(Masked::json_runs(&input).into_string())
                    } else {
                        input
                    }
                }),
                held,
                judged: judgement.took,
            },
            findings: judgement.findings().to_vec(),
            verdict: judgement.verdict(),
            action,
            expert: false,
            answer: None,
            lesson: judgement
                .lesson
                .clone()
                .map(|lesson| (lesson, judgement.carries_secret)),
            refused: Refused::of(judgement),
            project: None,
        }
    }

    /// The refusal of a response, or of the request for it.
    pub fn of_response(id: String, session: String, rule: &'static str, reason: &str) -> Self {
        Record {
            id,
            session,
            door: "proxy",
            subject: Subject::Response,
            findings: vec![Finding::block(LayerName::Reader, rule, reason)],
            verdict: Verdict::Block,
            action: Action::ResponseEnded,
            expert: false,
            answer: None,
            lesson: None,
            refused: None,
            project: None,
        }
    }

    /// What was done about a tool's result, which passes in any case.
    pub fn of_result(
        id: String,
        session: String,
        (tool, call): (Option<String>, Option<String>),
        findings: Vec<Finding>,
        action: Action,
    ) -> Self {
        Record {
            id,
            session,
            door: "proxy",
            subject: Subject::Result { tool, call },
            findings,
            verdict: Verdict::Audit,
            action,
            expert: false,
            answer: None,
            lesson: None,
            refused: None,
            project: None,
        }
    }

    /// The members of the decision's JSON object, with at most `input_bytes` of a call's arguments,
    /// or all of them if the gate was lifted. Text, not a tree: this is written while the client
    /// waits.
    pub fn members(&self, input_bytes: usize) -> Members {
        let input_bytes = if self.expert { usize::MAX } else { input_bytes };
        let mut out = Members::default();
        out.text("id", &self.id);
        out.text("session", &self.session);
        out.word("door", self.door);
        out.word("verdict", self.verdict.word());
        out.word("action", self.action.word());
        if self.expert {
            out.raw("expert", "true");
        }
        if let Some((answer, waited)) = &self.answer {
            out.word("answer", answer.word());
            out.micros("waited_us", *waited);
        }
        match &self.subject {
            Subject::Call {
                tool,
                call,
                runs,
                input,
                held,
                judged,
            } => {
                out.word("subject", "call");
                out.names(tool.as_deref(), call.as_deref());
                out.word("runs", runs);
                match input {
                    Some(text) if text.len() <= input_bytes => {
                        out.raw("input", &Masked::json_text(text));
                    }
                    Some(text) => {
                        out.raw("input_bytes", &text.len().to_string());
                        out.masked("input_start", &Masked::start(text, input_bytes / 4));
                    }
                    None => {}
                }
                out.micros("held_us", *held);
                out.micros("judged_us", *judged);
            }
            Subject::Response => out.word("subject", "response"),
            Subject::Result { tool, call } => {
                out.word("subject", "result");
                out.names(tool.as_deref(), call.as_deref());
            }
        }
        if let Some((lesson, hides)) = self
            .lesson
            .as_ref()
            .filter(|_| self.action != Action::Asked)
        {
            out.raw("lesson", &lesson.to_json(*hides).text());
        }
        if let Some(refused) = &self.refused {
            refused.write(&mut out);
        }
        let left_out = self.findings.len().saturating_sub(MAX_FINDINGS);
        if left_out > 0 {
            out.number(
                "findings_left_out",
                u64::try_from(left_out).unwrap_or(u64::MAX),
            );
        }
        out.findings(strictest(&self.findings));
        out
    }
}

/// The findings that are written: all or, of very many, the strictest. They keep their order.
fn strictest(findings: &[Finding]) -> impl Iterator<Item = &Finding> {
    let mut order: Vec<(usize, &Finding)> = findings.iter().enumerate().collect();
    if order.len() > MAX_FINDINGS {
        order.sort_by_key(|(_, finding)| std::cmp::Reverse(finding.verdict));
        order.truncate(MAX_FINDINGS);
        order.sort_by_key(|(at, _)| *at);
    }
    order.into_iter().map(|(_, finding)| finding)
}

/// The members of a record. All text in it is masked: a ledger takes nothing else.
#[derive(Clone, Debug, Default)]
pub struct Members(String);

impl Members {
    /// Those of a JSON object. Anything else has none.
    pub fn of(json: Json<'_>) -> Members {
        let text = Masked::json(json).into_string();
        let inside = text.strip_prefix('{').and_then(|t| t.strip_suffix('}'));
        Members(inside.unwrap_or_default().to_owned())
    }

    /// Adds a word of our own.
    pub fn word(&mut self, key: &'static str, word: &'static str) {
        self.key(key);
        write_string(word, &mut self.0);
    }

    /// Adds a text of anybody.
    pub fn text(&mut self, key: &'static str, text: &str) {
        self.masked(key, &Masked::of(text));
    }

    /// Adds a text that is masked already.
    pub fn masked(&mut self, key: &'static str, text: &Masked) {
        self.key(key);
        write_string(text, &mut self.0);
    }

    /// Adds a number.
    pub fn number(&mut self, key: &'static str, number: u64) {
        self.raw(key, &number.to_string());
    }

    /// Adds findings.
    pub fn findings<'f>(&mut self, findings: impl IntoIterator<Item = &'f Finding>) {
        let findings = findings.into_iter().map(Finding::to_json).collect();
        self.raw("findings", &Json::Array(findings).text());
    }

    /// The text between the braces.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Adds the names of a tool and a call, if they are known.
    fn names(&mut self, tool: Option<&str>, call: Option<&str>) {
        for (key, value) in [("tool", tool), ("call", call)] {
            if let Some(value) = value {
                self.masked(key, &Masked::start(value, 200));
            }
        }
    }

    fn micros(&mut self, key: &'static str, time: Duration) {
        self.raw(key, &time.as_micros().to_string());
    }

    fn raw(&mut self, key: &'static str, json: &str) {
        self.key(key);
        self.0.push_str(json);
    }

    fn key(&mut self, key: &'static str) {
        if !self.0.is_empty() {
            self.0.push(',');
        }
        self.0.push('"');
        self.0.push_str(key);
        self.0.push_str("\":");
    }
}
