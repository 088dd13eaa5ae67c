//! Decisions as they go into the ledger. The shell adds the time and the chain of hashes.

use crate::json::{Json, shorten, write_string};
use crate::question::Answer;
use crate::stack::Judgement;
use crate::verdict::{Finding, Verdict};
use std::sync::Arc;
use std::time::Duration;

/// Findings that one record tells.
const MAX_FINDINGS: usize = 16;

/// One decision.
#[derive(Clone, Debug)]
pub struct Record {
    /// Unique: the response's id and a number. A question has the id of the decision to come.
    pub id: String,
    /// Whose it is.
    pub session: String,
    /// Where it was made: `proxy`.
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
}

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// The call went to the client.
    Sent,
    /// A text that explains went in its place.
    Explained,
    /// The same, and an empty call that keeps the agent's loop alive.
    ExplainedAndContinued,
    /// The response ended with an error.
    ResponseEnded,
    /// A part that would repeat something was left out.
    LeftOut,
    /// A person was asked; another record tells what came of it.
    Asked,
}

impl Action {
    fn word(self) -> &'static str {
        match self {
            Action::Sent => "sent",
            Action::Explained => "explained",
            Action::ExplainedAndContinued => "explained-and-continued",
            Action::ResponseEnded => "response-ended",
            Action::LeftOut => "left-out",
            Action::Asked => "asked",
        }
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
        let (tool, call, runs, input, findings, verdict) = match &judgement.outcome {
            Ok(cleared) => {
                let call = cleared.call();
                (
                    Some(call.name.clone()),
                    Some(call.id.clone()),
                    call.runs.word(),
                    Some(call.text.clone()),
                    cleared.findings(),
                    cleared.verdict(),
                )
            }
            Err(refusal) => (
                refusal.tool().map(str::to_owned),
                refusal.id().map(str::to_owned),
                refusal.runs().word(),
                refusal.input().cloned(),
                refusal.findings(),
                refusal.verdict(),
            ),
        };
        Record {
            id,
            session,
            door: "proxy",
            subject: Subject::Call {
                tool,
                call,
                runs,
                input,
                held,
                judged: judgement.took,
            },
            findings: findings.to_vec(),
            verdict,
            action,
            expert: false,
            answer: None,
        }
    }

    /// The refusal of a response, or of the request for it.
    pub fn of_response(id: String, session: String, rule: &'static str, reason: &str) -> Self {
        Record {
            id,
            session,
            door: "proxy",
            subject: Subject::Response,
            findings: vec![Finding::block("reader", rule, reason)],
            verdict: Verdict::Block,
            action: Action::ResponseEnded,
            expert: false,
            answer: None,
        }
    }

    /// Appends the members of the decision's JSON object, with at most `input_bytes` of a call's
    /// arguments, or all of them if the gate was lifted. Text, not a tree: this is written while
    /// the client waits.
    pub fn write(&self, input_bytes: usize, out: &mut String) {
        let input_bytes = if self.expert { usize::MAX } else { input_bytes };
        member("id", &self.id, out);
        member("session", &self.session, out);
        member("door", self.door, out);
        member("verdict", self.verdict.word(), out);
        member("action", self.action.word(), out);
        if self.expert {
            out.push_str("\"expert\":true,");
        }
        if let Some((answer, waited)) = &self.answer {
            member("answer", answer.word(), out);
            out.push_str(&format!("\"waited_us\":{},", waited.as_micros()));
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
                member("subject", "call", out);
                for (key, value) in [("tool", tool), ("call", call)] {
                    if let Some(value) = value {
                        member(key, &shorten(value, 200), out);
                    }
                }
                member("runs", runs, out);
                match input {
                    Some(text) if text.len() <= input_bytes => {
                        out.push_str("\"input\":");
                        out.push_str(text);
                        out.push(',');
                    }
                    Some(text) => {
                        out.push_str(&format!("\"input_bytes\":{},", text.len()));
                        member("input_start", &shorten(text, input_bytes / 4), out);
                    }
                    None => {}
                }
                let times = (held.as_micros(), judged.as_micros());
                out.push_str(&format!(
                    "\"held_us\":{},\"judged_us\":{},",
                    times.0, times.1
                ));
            }
            Subject::Response => member("subject", "response", out),
        }
        let left_out = self.findings.len().saturating_sub(MAX_FINDINGS);
        if left_out > 0 {
            out.push_str(&format!("\"findings_left_out\":{left_out},"));
        }
        let findings = strictest(&self.findings).map(Finding::to_json).collect();
        out.push_str("\"findings\":");
        out.push_str(&Json::Array(findings).text());
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

fn member(key: &str, text: &str, out: &mut String) {
    out.push('"');
    out.push_str(key);
    out.push_str("\":");
    write_string(text, out);
    out.push(',');
}
