//! Judges the calls of one response and numbers its incidents.

use super::sink::Sink;
use super::{Judge, OnBlock};
use crate::event::Violation;
use crate::hold::{Fault, HeldCall, Runs};
use crate::incident::{Action, Record};
use crate::json::shorten;
use crate::session;
use crate::stack::{Judgement, Occasion, Refusal};
use crate::verdict::Verdict;
use std::collections::HashSet;
use std::time::Duration;

/// Refusals in a row that an agent may answer on its own before a person has to look.
const CONTINUES_IN_A_ROW: u32 = 3;

/// The rulings of one response.
#[derive(Debug)]
pub(super) struct Ruling {
    pub(super) judge: Judge,
    ids: HashSet<String>,
    calls: usize,
    incidents: u32,
}

impl Ruling {
    pub(super) fn new(judge: Judge) -> Self {
        Ruling {
            judge,
            ids: HashSet::new(),
            calls: 0,
            incidents: 0,
        }
    }

    /// Takes note of a call that begins.
    pub(super) fn admit(&mut self, held: &mut HeldCall) -> Result<(), Violation> {
        self.calls += 1;
        if self.calls > self.judge.settings.max_calls {
            return Err("more tool calls in one response than its limit allows".into());
        }
        if let Some(id) = &held.id
            && !self.ids.insert(id.clone())
        {
            held.fail(Fault::SameId(shorten(id, 80)));
        }
        Ok(())
    }

    pub(super) fn judge(
        &mut self,
        held: HeldCall,
        since: Duration,
        now: Duration,
        sink: &mut Sink<'_>,
    ) -> Judged {
        let mut session = session::lock(&self.judge.session);
        let occasion = Occasion {
            session: &mut session,
            history: &self.judge.history,
            expert: self.judge.expert,
            now,
        };
        let judgement = self.judge.stack.judge(held, occasion);
        let in_a_row = session.refusals_in_a_row();
        drop(session);
        let incident = self.next_incident();
        let inert_call = match &judgement.outcome {
            Ok(_) => None,
            Err(refusal) => self.inert_call(refusal, in_a_row, &incident),
        };
        let action = match (&judgement.outcome, &inert_call) {
            (Ok(_), _) => Action::Sent,
            (Err(_), Some(_)) => Action::ExplainedAndContinued,
            (Err(_), None) => Action::Explained,
        };
        let held = now.saturating_sub(since);
        let session = self.judge.session_id.clone();
        let mut record = Record::of_call(incident.clone(), session, &judgement, action, held);
        record.expert = self.judge.expert;
        sink.record(record);
        Judged {
            judgement,
            incident,
            inert_call,
        }
    }

    /// The id for a call that cannot run, if one may be sent: the tool must be one that refuses
    /// to run without arguments.
    fn inert_call(&self, refusal: &Refusal, in_a_row: u32, incident: &str) -> Option<String> {
        let tool = refusal.tool()?;
        let may = self.judge.settings.on_block == OnBlock::Continue
            && *refusal.runs() == Runs::AtClient
            && refusal.verdict() < Verdict::Kill
            && in_a_row <= CONTINUES_IN_A_ROW
            && self.judge.request.tools_with_required.contains(tool);
        may.then(|| format!("toolu_holdgate_{}", incident.replace('-', "_")))
    }

    pub(super) fn stream_record(&mut self, rule: &'static str, reason: &str) -> Record {
        let id = self.next_incident();
        Record::of_response(id, self.judge.session_id.clone(), rule, reason)
    }

    fn next_incident(&mut self) -> String {
        self.incidents += 1;
        format!("{}-{}", self.judge.response_id, self.incidents)
    }
}

/// A judgement and what is needed to write it.
#[derive(Debug)]
pub(super) struct Judged {
    pub(super) judgement: Judgement,
    /// The number that the refusal's text names.
    pub(super) incident: String,
    /// The id of the call that keeps the agent going, if one is sent.
    pub(super) inert_call: Option<String>,
}

impl Judged {
    /// The part of a refusal that explains it, to be written apart.
    pub(super) fn only_notice(&self) -> Option<Judged> {
        let refusal = self.judgement.outcome.as_ref().err()?;
        Some(Judged {
            judgement: Judgement {
                outcome: Err(refusal.clone()),
                effects: Vec::new(),
                took: self.judgement.took,
            },
            incident: self.incident.clone(),
            inert_call: None,
        })
    }
}
