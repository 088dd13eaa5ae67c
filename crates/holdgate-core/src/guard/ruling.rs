//! Judges the calls of one response and numbers its incidents.

use super::job::Away;
use super::sink::Sink;
use super::{Job, JobDone, OnBlock, Output, ResponseContext, Unjudged};
use crate::answer::Answer;
use crate::call::{Executor, Fault, HeldCall};
use crate::event::Violation;
use crate::exception::allowances;
use crate::history::{History, Outcome, Step};
use crate::incident::{Action, Record};
use crate::notice::{self, Tell};
use crate::question::Question;
use crate::session;
use crate::stack::{Judgement, Refusal};
use crate::text_actions;
use crate::verdict::Verdict;
use holdgate_effects::json::{Json, shorten};
use std::collections::HashSet;
use std::time::Duration;

/// Calls before a question that are shown with it.
const STEPS_SHOWN: usize = 5;
/// Refusals in a row after which an agent may still continue on its own.
const CONTINUES_IN_A_ROW: u32 = 3;

/// The rulings of one response.
#[derive(Debug)]
pub(super) struct Ruling {
    pub(super) judge: ResponseContext,
    /// Whether the shell does the judging.
    pub(super) apart: bool,
    /// The call that it judges now.
    away: Option<Away>,
    ids: HashSet<String>,
    calls: usize,
    jobs: usize,
    incidents: u32,
}

impl Ruling {
    pub(super) fn new(judge: ResponseContext) -> Self {
        Ruling {
            judge,
            apart: false,
            away: None,
            ids: HashSet::new(),
            calls: 0,
            jobs: 0,
            incidents: 0,
        }
    }

    /// Counts a call that begins, and checks its id.
    pub(super) fn admit(&mut self, held: &mut HeldCall) -> Result<(), Violation> {
        self.calls += 1;
        if self.calls > self.judge.settings.max_calls {
            return Err(Violation::TOO_MANY_CALLS);
        }
        if let Some(id) = &held.id
            && !self.ids.insert(id.clone())
        {
            held.fail(Fault::SameId(shorten(id, 80)));
        }
        Ok(())
    }

    /// How long a call waits before it is judged, because the agent makes very many.
    pub(super) fn slow_down(&self, held: &HeldCall, now: Duration) -> Duration {
        if held.runs != Executor::AtClient || self.judge.expert {
            return Duration::ZERO;
        }
        let session = session::lock(&self.judge.session);
        let counts = session.counts(None, &self.judge.request.root, now);
        let probing = session.delay(now);
        drop(session);
        self.judge.stack.slow_down(&counts).max(probing)
    }

    /// Judges a call that waits at this place since `since`, or hands that to the shell: then it
    /// [is away](Self::verdict_due).
    pub(super) fn judge(
        &mut self,
        held: HeldCall,
        place: (usize, Duration),
        now: Duration,
        sink: &mut Sink<'_>,
    ) -> Option<(usize, Judged)> {
        self.jobs += 1;
        let job = Job::new(self.jobs, held, &self.judge, now);
        let away = Away::new(&job, place);
        if self.apart {
            self.away = Some(away);
            sink.push(Output::Judge(Box::new(job)));
            return None;
        }
        Some(self.rule(away, job.run().judgement, now, sink))
    }

    /// Takes a verdict of the shell's, if it is the one that is awaited. Without one, the call that is
    /// away is refused.
    pub(super) fn judged(
        &mut self,
        done: Result<JobDone, Unjudged>,
        now: Duration,
        sink: &mut Sink<'_>,
    ) -> Option<(usize, Judged)> {
        let (away, judgement) = match done {
            Ok(done) => {
                let away = self.away.take_if(|away| away.number == done.number);
                (away?, done.judgement)
            }
            Err(why) => (self.away.take()?, Err(why)),
        };
        Some(self.rule(away, judgement, now, sink))
    }

    /// Until when a verdict is awaited, if a call is away.
    pub(super) fn verdict_due(&self) -> Option<Duration> {
        self.away.as_ref().map(|away| away.deadline)
    }

    /// No verdict is awaited any more.
    pub(super) fn let_go(&mut self) {
        self.away = None;
    }

    /// Takes the judgement on a call: a person is asked, or it is recorded.
    fn rule(
        &mut self,
        away: Away,
        judgement: Result<Box<Judgement>, Unjudged>,
        now: Duration,
        sink: &mut Sink<'_>,
    ) -> (usize, Judged) {
        let (at, since) = away.place;
        let judgement = away.judgement(judgement, &self.judge.session, now);
        let mut judged = Judged {
            judgement,
            incident: self.next_incident(),
            inert_call: None,
            notice_apart: false,
            tell: self.judge.settings.tell,
            since,
            question: None,
            answer: None,
        };
        match self.question(&judged, now) {
            Some(question) => {
                judged.question = Some((now, question.deadline));
                sink.push(Output::Ask(Box::new(question)));
            }
            None => self.record(&mut judged, now, sink),
        }
        (at, judged)
    }

    /// The question that a person has to answer before the call can go on.
    fn question(&self, judged: &Judged, now: Duration) -> Option<Question> {
        let patience = self.judge.settings.ask?;
        let refusal = judged.judgement.outcome.as_ref().err()?;
        if refusal.verdict() != Verdict::Ask {
            return None;
        }
        Some(Question {
            agent: self.judge.agent.clone(),
            folder: self.judge.request.working_dir.clone(),
            before: before(&self.judge.history),
            record: self.record_of(judged, Action::Asked, now),
            deadline: now.saturating_add(patience),
            allowances: allowances(refusal.findings(), &judged.judgement.effects),
        })
    }

    /// Carries out what was answered.
    pub(super) fn answer(
        &mut self,
        judged: &mut Judged,
        answer: Answer,
        now: Duration,
        sink: &mut Sink<'_>,
    ) {
        let Some((asked, _)) = judged.question.take() else {
            return;
        };
        judged.answer = Some((answer, now.saturating_sub(asked)));
        if let Err(refusal) = &judged.judgement.outcome
            && let Some(approval) = answer.approval()
            && let Some(cleared) = refusal.approved(&approval)
        {
            let (call, findings) = (cleared.call(), cleared.findings());
            let agent = (self.judge.request.root.as_str(), now);
            session::lock(&self.judge.session).approve(call, findings, &approval, agent);
            judged.judgement.outcome = Ok(cleared);
        }
        self.record(judged, now, sink);
    }

    /// The call is decided.
    fn record(&mut self, judged: &mut Judged, now: Duration, sink: &mut Sink<'_>) {
        let action = match &judged.judgement.outcome {
            Ok(_) => Action::Sent,
            Err(refusal) => {
                let id = refusal.id().unwrap_or_default();
                session::lock(&self.judge.session).forget_traces(id);
                judged.inert_call = self.inert_call(refusal, &judged.incident);
                match judged.inert_call {
                    Some(_) => Action::ExplainedAndContinued,
                    None => Action::Explained,
                }
            }
        };
        let mut record = self.record_of(judged, action, now);
        if let Some(refused) = &mut record.refused {
            refused.told = judged.notice().map(|(notice, _)| notice);
        }
        sink.record(record);
    }

    fn record_of(&self, judged: &Judged, action: Action, now: Duration) -> Record {
        let mut record = Record::of_call(
            judged.incident.clone(),
            self.judge.session_id.clone(),
            &judged.judgement,
            action,
            now.saturating_sub(judged.since),
        );
        record.answer = judged.answer;
        let session = session::lock(&self.judge.session);
        record.project.clone_from(&session.world.project);
        drop(session);
        if let Some(refused) = &mut record.refused {
            refused.project.clone_from(&record.project);
        }
        record.expert = self.judge.expert;
        record
    }

    /// The id for a call that cannot run, if one may be sent: the tool must be one that refuses
    /// to run without arguments.
    fn inert_call(&self, refusal: &Refusal, incident: &str) -> Option<String> {
        let tool = refusal.tool()?;
        let in_a_row = session::lock(&self.judge.session).refusals_in_a_row();
        let may = self.judge.settings.on_block == OnBlock::Continue
            && *refusal.runs() == Executor::AtClient
            && !text_actions::is_text(refusal.envelope())
            && refusal.verdict() < Verdict::Kill
            && in_a_row <= CONTINUES_IN_A_ROW
            && self.judge.request.tools_with_required.contains(tool);
        may.then(|| notice::call_id(incident))
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

/// The last calls of a conversation, oldest first.
fn before(history: &History) -> Vec<String> {
    let line = |step: &Step| {
        let did = step.effects.first().map(|effect| &*effect.evidence);
        let did = did.filter(|did| *did != step.tool).unwrap_or_default();
        let end = match step.outcome {
            Outcome::Done => "",
            Outcome::Failed => " (failed)",
            Outcome::Refused => " (refused)",
        };
        format!("{}  {}{end}", step.tool, shorten(did, 200))
    };
    let mut lines: Vec<String> = history.steps().rev().take(STEPS_SHOWN).map(line).collect();
    lines.reverse();
    lines
}

/// A judgement and what is needed to write it.
#[derive(Debug)]
pub(super) struct Judged {
    pub(super) judgement: Judgement,
    /// The number that the refusal's text names.
    pub(super) incident: String,
    /// The id of the call that keeps the agent going, if one is sent.
    pub(super) inert_call: Option<String>,
    /// Whether the explanation is written elsewhere.
    pub(super) notice_apart: bool,
    /// How much the explanation tells.
    tell: Tell,
    /// When the call began.
    since: Duration,
    /// While a person is asked: since when, and until when.
    pub(super) question: Option<(Duration, Duration)>,
    /// What was answered, and after how long.
    pub(super) answer: Option<(Answer, Duration)>,
}

impl Judged {
    /// The explanation, if the call is refused, and the protocol's own object around the call.
    pub(super) fn notice(&self) -> Option<(String, &Json<'static>)> {
        let refusal = self.judgement.outcome.as_ref().err()?;
        let answer = self.answer.map(|(answer, _)| answer);
        let notice = refusal.notice(&self.incident, answer, self.tell);
        Some((notice, refusal.envelope()))
    }
}
