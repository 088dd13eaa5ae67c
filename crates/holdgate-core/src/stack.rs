//! All layers judge every call; the strictest finding wins.
//!
//! Writing a call to a client needs a [`Cleared`]. [`Stack::judge`] creates it, and so does a
//! [`Refusal`] that was only asked about, given the [`Approval`](crate::answer::Approval) of an
//! answer.

use crate::call::{CallLimits, Executor, HeldCall, ToolCall};
use crate::classifier::base::Base;
use crate::classifier::lesson::Lesson;
use crate::classifier::unit::Looked;
use crate::history::History;
use crate::mask::Masked;
use crate::provenance;
pub use crate::session::Counts;
use crate::session::{self, Moment, Visit};
use crate::taint::Search;
use crate::verdict::{Finding, LayerName, Verdict};
use holdgate_effects::effect::Effect;
use holdgate_effects::fuel::Fuel;
pub use holdgate_effects::fuel::{Clock, OutOfFuel};
use holdgate_effects::traces::Traces;
use holdgate_effects::{self, Knowledge, Understood};
pub use outcome::{Cleared, Refusal};
use outcome::{strictest, unreadable};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

/// The rule that refuses a call which needs too much work.
const TOO_COSTLY: &str = "judging-too-costly";
/// If a session repeatedly sends such calls, the fuel for each of its calls is divided by this. The
/// rest is still more than nearly all calls need.
const STRAINED: u64 = 16;

mod outcome;

/// A judge of calls.
pub trait Layer: Send + Sync {
    /// Its name.
    fn name(&self) -> LayerName;
    /// Its findings about `call`, which has these `effects`.
    fn judge(
        &self,
        call: &ToolCall,
        effects: &[Effect],
        context: &Context<'_>,
        fuel: &Fuel,
    ) -> Result<Vec<Finding>, OutOfFuel>;
    /// Its findings by the number of calls alone. This is called before the call is interpreted,
    /// and again after all layers have judged, with the session locked: it has to be fast.
    fn count(&self, _call: &ToolCall, _counts: &Counts, _expert: bool) -> Vec<Finding> {
        Vec::new()
    }
    /// How long the next call of a client waits before it is judged, by the number of calls alone.
    fn slow_down(&self, _counts: &Counts) -> Duration {
        Duration::ZERO
    }
}

/// Calls that a person has allowed ahead of time, each for one time.
pub trait Tickets: std::fmt::Debug + Send + Sync {
    /// Takes the ticket of this call, if there is one that covers all these rules: it is not given out
    /// again. The finding tells of it.
    fn take(&self, call: &ToolCall, rules: &[&str], project: Option<&str>) -> Option<Finding>;
}

/// When a call comes, and after what.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The finished calls of the conversation.
    pub history: &'a History,
    /// Whether the operator has lifted the gate for this request.
    pub expert: bool,
    /// The time.
    pub now: Duration,
    /// What earlier calls have left, as far as it is known.
    pub traces: Option<&'a Traces>,
    /// What the model said in the same message before the call, as much of its end as is kept.
    pub said: &'a str,
    /// The project that the agent works in, if it is known.
    pub project: Option<&'a str>,
    /// How many calls of the session were cleared in the last minute.
    pub recent_calls: usize,
    /// Calls that a person has allowed once.
    pub tickets: Option<&'a dyn Tickets>,
    /// Which of the session's agents makes the call: the root of its conversation.
    pub agent: &'a str,
    /// The parts of the call, if they were looked at already.
    pub looked: Option<&'a Looked<'a>>,
}

impl<'a> Context<'a> {
    /// The context of a call without expert mode.
    pub fn new(history: &'a History, now: Duration) -> Self {
        Context {
            history,
            expert: false,
            now,
            traces: None,
            said: "",
            project: None,
            recent_calls: 0,
            tickets: None,
            agent: "",
            looked: None,
        }
    }
}

/// The bounds on one judgement.
#[derive(Clone, Copy, Debug)]
pub struct JudgeLimits {
    /// The call's size and depth.
    pub call: CallLimits,
    /// Units of work per layer.
    pub fuel: u64,
    /// Wall time: the backstop behind fuel.
    pub deadline: Duration,
}

/// The layers, ready to judge.
pub struct Stack {
    layers: Vec<Box<dyn Layer>>,
    know: Arc<Knowledge>,
    clock: Arc<dyn Clock>,
    limits: JudgeLimits,
}

/// The result of judging a call.
#[derive(Debug)]
pub struct Judgement {
    /// The decision.
    pub outcome: Result<Cleared, Refusal>,
    /// What the call does, as far as it could be read.
    pub effects: Vec<Effect>,
    /// What the classifier can learn from it.
    pub lesson: Option<Lesson>,
    /// Whether a secret is in it that an earlier call has shown: it is not written down.
    pub carries_secret: bool,
    /// Time spent judging.
    pub took: Duration,
}

impl Judgement {
    /// The verdict on the call.
    pub fn verdict(&self) -> Verdict {
        match &self.outcome {
            Ok(cleared) => cleared.verdict(),
            Err(refusal) => refusal.verdict(),
        }
    }

    /// The findings of all layers.
    pub fn findings(&self) -> &[Finding] {
        match &self.outcome {
            Ok(cleared) => cleared.findings(),
            Err(refusal) => refusal.findings(),
        }
    }

    /// A refusal of a call that was not interpreted.
    pub(crate) fn refused(refusal: Refusal, took: Duration) -> Self {
        Judgement {
            outcome: Err(refusal),
            effects: Vec::new(),
            lesson: None,
            carries_secret: false,
            took,
        }
    }
}

impl Stack {
    /// A stack of `layers`.
    pub fn new(
        layers: Vec<Box<dyn Layer>>,
        know: Arc<Knowledge>,
        clock: Arc<dyn Clock>,
        limits: JudgeLimits,
    ) -> Self {
        Stack {
            layers,
            know,
            clock,
            limits,
        }
    }

    /// The bounds on a call.
    pub fn call_limits(&self) -> CallLimits {
        self.limits.call
    }

    /// The longest that one judgement takes.
    pub fn deadline(&self) -> Duration {
        self.limits.deadline
    }

    /// Reads and judges a call, and notes it in the session. A shared session is locked only for
    /// moments: at the start, and to note the result.
    pub fn judge(
        &self,
        held: HeldCall,
        mut session: impl Visit,
        context: &Context<'_>,
    ) -> Judgement {
        let start = self.clock.now();
        let took = || self.clock.now().saturating_sub(start);
        let call = match held.read(self.limits.call) {
            Ok(call) => call,
            Err(fault) => {
                session.visit(|session| session.note(None, false, context.agent, context.now));
                let refusal = Refusal::unread(held.name, held.id, held.runs, unreadable(&fault));
                return Judgement::refused(refusal.with_envelope(held.envelope), took());
            }
        };
        let (moment, too_many) = session.visit(|session| {
            let counts = session.counts(None, context.agent, context.now);
            let said = self.counted(&call, &counts, context);
            if strictest(&said) >= Verdict::Block {
                session.note(None, false, context.agent, context.now);
                return (None, said);
            }
            session.settle(context.history, context.now);
            (Some(session.moment(context.now)), Vec::new())
        });
        let Some(moment) = moment else {
            // A call above the rate is not interpreted, to save the work.
            return Judgement::refused(Refusal::of(call, too_many), took());
        };
        // Reading is linear in a bounded input; the deadline is for what comes after it.
        let deadline = self.clock.now() + self.limits.deadline;
        let (understood, mut findings) = self.understand(&call, &moment, deadline);
        let costly = findings.iter().any(|finding| finding.rule == TOO_COSTLY);
        let Understood {
            mut effects,
            folders,
            traces,
        } = understood;
        provenance::mark(&mut effects, context.history);
        let looked = Looked::at(&effects, Base::built_in());
        let context = &Context {
            looked: Some(&looked),
            traces: Some(&moment.world.pending),
            project: moment.world.project.as_deref(),
            recent_calls: moment.recent_calls,
            ..*context
        };
        self.ask_all(&call, &effects, context, deadline, &mut findings);
        let carries_secret = carries_secret(&call, context.history);
        if carries_secret {
            for finding in &mut findings {
                finding.reason = Masked::runs(&finding.reason).into_string();
                // The evidence of spillage is the step that showed it.
                if finding.layer != LayerName::Spillage {
                    finding.evidence = finding.evidence.as_deref().map(Masked::runs);
                }
            }
        }
        session.visit(|session| {
            for finding in &mut findings {
                if finding.verdict == Verdict::Ask
                    && session.has_approved(&call, finding, &effects, &moment)
                {
                    finding.verdict = Verdict::Audit;
                }
            }
        });
        use_ticket(&call, &mut findings, context);
        let print = session::fingerprint(&call, &effects);
        let results = session::results(context.history, &call.id);
        session.visit(|session| {
            if costly {
                session.note_costly(context.now);
            }
            let counts = session.counts(print, context.agent, context.now);
            findings.extend(self.counted(&call, &counts, context));
            let verdict = strictest(&findings);
            session.note(print, verdict.lets_pass(), context.agent, context.now);
            if verdict >= Verdict::Block {
                let probing = session.note_refused(&call, &findings, context.now);
                findings.extend(probing);
            }
            if verdict <= Verdict::Ask {
                // A person may still let it pass.
                session.note_folders(folders);
                if call.runs == Executor::AtClient {
                    session.note_traces(&call.id, results, traces, context.now);
                }
            }
        });
        let outcome = if strictest(&findings).lets_pass() {
            Ok(Cleared { call, findings })
        } else {
            Err(Refusal::of(call, findings))
        };
        let project = moment.world.project.as_deref();
        Judgement {
            outcome,
            lesson: Some(Lesson::from(looked, project)),
            effects,
            carries_secret,
            took: took(),
        }
    }

    /// How long the next call of a client waits before it is judged: an agent that is nearly too
    /// fast is slowed down, so that it need not be stopped.
    pub(crate) fn slow_down(&self, counts: &Counts) -> Duration {
        let waits = self.layers.iter().map(|layer| layer.slow_down(counts));
        waits.max().unwrap_or_default()
    }

    /// The findings of all layers by the counts alone.
    fn counted(&self, call: &ToolCall, counts: &Counts, context: &Context<'_>) -> Vec<Finding> {
        let layers = self.layers.iter();
        layers
            .flat_map(|layer| layer.count(call, counts, context.expert))
            .collect()
    }

    /// The findings of all layers. Every layer runs, also after a block: the ledger needs all
    /// findings.
    fn ask_all(
        &self,
        call: &ToolCall,
        effects: &[Effect],
        context: &Context<'_>,
        deadline: Duration,
        findings: &mut Vec<Finding>,
    ) {
        if call.runs == Executor::AtProvider {
            lower(findings);
        }
        for layer in &self.layers {
            let from = findings.len();
            let fuel = Fuel::until(self.limits.fuel, self.clock.clone(), deadline);
            findings.extend(ask(layer.as_ref(), call, effects, context, &fuel));
            let new = findings.get_mut(from..).unwrap_or_default();
            let has_run = call.runs == Executor::AtProvider && layer.name() != LayerName::Policy;
            if has_run {
                // The call has already run; only the operator's policy can still withhold it.
                lower(new);
            }
            if fuel.is_late() {
                break;
            }
        }
        let late = self.clock.now().saturating_sub(deadline);
        if !late.is_zero() {
            let took = (self.limits.deadline + late).as_millis();
            let reason = format!("judging took {took} ms");
            findings.push(Finding::block(LayerName::Stack, "judging-too-slow", reason));
        }
    }

    /// What the call does, or a finding that says why that is not known.
    fn understand(
        &self,
        call: &ToolCall,
        moment: &Moment,
        deadline: Duration,
    ) -> (Understood, Vec<Finding>) {
        let units = if moment.strained {
            self.limits.fuel / STRAINED
        } else {
            self.limits.fuel
        };
        let fuel = Fuel::until(units, self.clock.clone(), deadline);
        let read = || {
            holdgate_effects::understand_all(call.invocation(), &moment.world, &self.know, &fuel)
        };
        match catch_unwind(AssertUnwindSafe(read)) {
            Ok(Ok(understood)) => (understood, Vec::new()),
            // `ask_all` reports that judging was too slow.
            Ok(Err(OutOfFuel)) if fuel.is_late() => (Understood::default(), Vec::new()),
            Ok(Err(OutOfFuel)) => {
                let reason = "the call needs more work to understand than one call may take";
                let finding = Finding::block(LayerName::Reader, TOO_COSTLY, reason);
                let instead = "split it into several smaller calls";
                (Understood::default(), vec![finding.instead(instead)])
            }
            Err(_) => {
                let reason = "the reader failed on this call";
                (
                    Understood::default(),
                    vec![Finding::block(LayerName::Reader, "reader-failure", reason)],
                )
            }
        }
    }
}

/// Lets a refused call pass if a person has allowed it once: all that is against it must be rules.
fn use_ticket(call: &ToolCall, findings: &mut Vec<Finding>, context: &Context<'_>) {
    let against = findings.iter().filter(|f| !f.verdict.lets_pass());
    let against: Vec<&Finding> = against.collect();
    let is_rule = |finding: &&Finding| {
        finding.verdict < Verdict::Kill
            && matches!(finding.layer, LayerName::Gate | LayerName::Policy)
    };
    let Some(tickets) = context.tickets.filter(|_| !against.is_empty()) else {
        return;
    };
    let rules: Vec<&str> = against.iter().map(|finding| &*finding.rule).collect();
    if !against.iter().all(is_rule) {
        return;
    }
    if let Some(used) = tickets.take(call, &rules, context.project) {
        lower(findings);
        findings.push(used);
    }
}

fn ask(
    layer: &dyn Layer,
    call: &ToolCall,
    effects: &[Effect],
    context: &Context<'_>,
    fuel: &Fuel,
) -> Vec<Finding> {
    // A layer changes nothing, so a panic leaves no partial state.
    match catch_unwind(AssertUnwindSafe(|| {
        layer.judge(call, effects, context, fuel)
    })) {
        Ok(Ok(findings)) => findings,
        Ok(Err(OutOfFuel)) => vec![Finding::block(
            layer.name(),
            TOO_COSTLY,
            "judging the call takes more work than the limit allows",
        )],
        Err(_) => vec![Finding::block(
            layer.name(),
            "layer-failure",
            "the layer failed while judging this call",
        )],
    }
}

fn carries_secret(call: &ToolCall, history: &History) -> bool {
    if !history.is_suspect() {
        return false;
    }
    let mut search = Search::new(history.taint());
    search.look(&call.text);
    search.found().next().is_some()
}

/// A call that has already run can only be recorded.
fn lower(findings: &mut [Finding]) {
    for finding in findings {
        finding.verdict = finding.verdict.min(Verdict::Audit);
    }
}

impl std::fmt::Debug for Stack {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<_> = self.layers.iter().map(|l| l.name().word()).collect();
        f.debug_struct("Stack")
            .field("layers", &names)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
