//! All layers judge every call; the strictest finding wins.
//!
//! [`Stack::judge`] is the only place that makes a [`Cleared`] or a [`Refusal`]: whatever writes a
//! call to a client needs a `Cleared`, so there is no second way out.

use crate::action::effect::Effect;
use crate::action::{self, Knowledge, Understood};
use crate::fuel::Fuel;
pub use crate::fuel::OutOfFuel;
use crate::history::History;
use crate::hold::{CallLimits, Fault, HeldCall, Runs, ToolCall};
use crate::session::Session;
use crate::verdict::{Finding, Verdict};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

/// One way of looking at a call.
pub trait Layer: Send + Sync {
    /// Its plain name.
    fn name(&self) -> &'static str;
    /// All that it has to say about `call`.
    fn judge(&self, call: &ToolCall, context: &Context<'_>) -> Result<Vec<Finding>, OutOfFuel>;
}

/// What a layer may know besides the call.
#[derive(Debug)]
pub struct Context<'a> {
    /// What the agent has done before.
    pub session: &'a Session,
    /// The finished calls of the conversation.
    pub history: &'a History,
    /// Whether the operator has lifted the gate for this request.
    pub expert: bool,
    /// The time.
    pub now: Duration,
    /// What the call does.
    pub effects: &'a [Effect],
    /// What the layer may still spend.
    pub fuel: Fuel,
}

/// Whose call it is, and when it comes.
#[derive(Debug)]
pub struct Occasion<'a> {
    /// What the agent has done before.
    pub session: &'a mut Session,
    /// The finished calls of the conversation.
    pub history: &'a History,
    /// Whether the operator has lifted the gate for this request.
    pub expert: bool,
    /// The time.
    pub now: Duration,
}

impl<'a> Occasion<'a> {
    /// An ordinary occasion.
    pub fn new(session: &'a mut Session, history: &'a History, now: Duration) -> Self {
        Occasion {
            session,
            history,
            expert: false,
            now,
        }
    }
}

/// Tells how long judging takes. The core has no clock of its own.
pub trait Clock: Send + Sync {
    /// Time since some fixed moment.
    fn now(&self) -> Duration;
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

/// A call that may reach the client.
#[derive(Clone, Debug)]
pub struct Cleared {
    call: ToolCall,
    findings: Vec<Finding>,
}

/// A call that must not, and why.
#[derive(Clone, Debug)]
pub struct Refusal {
    tool: Option<String>,
    id: Option<String>,
    runs: Runs,
    input: Option<Arc<String>>,
    /// The call, if a person may still let it pass.
    asked: Option<Box<ToolCall>>,
    findings: Vec<Finding>,
}

/// What came out, and how long it took.
#[derive(Debug)]
pub struct Judgement {
    /// The decision.
    pub outcome: Result<Cleared, Refusal>,
    /// What the call does, as far as it could be read.
    pub effects: Vec<Effect>,
    /// Time spent judging.
    pub took: Duration,
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

    /// Reads and judges a call, and notes it in the session.
    pub fn judge(&self, held: HeldCall, occasion: Occasion<'_>) -> Judgement {
        let (expert, now) = (occasion.expert, occasion.now);
        let (session, history) = (occasion.session, occasion.history);
        let start = self.clock.now();
        let read = held.read(self.limits.call);
        // Reading is linear in a bounded input; the deadline is for what comes after it.
        let asked = self.clock.now();
        let call = match read {
            Ok(call) => call,
            Err(fault) => {
                session.note(None, false, now);
                let outcome = Err(Refusal {
                    tool: held.name,
                    id: held.id,
                    runs: held.runs,
                    input: None,
                    asked: None,
                    findings: vec![unreadable(&fault)],
                });
                let took = self.clock.now().saturating_sub(start);
                return Judgement {
                    outcome,
                    effects: Vec::new(),
                    took,
                };
            }
        };
        let (Understood { effects, folders }, mut findings) = self.understand(&call, session);
        if call.runs == Runs::AtProvider {
            lower(&mut findings);
        }
        // Every layer runs, also after a block: the ledger needs all findings.
        for layer in &self.layers {
            let from = findings.len();
            let context = Context {
                session,
                history,
                expert,
                now,
                effects: &effects,
                fuel: Fuel::new(self.limits.fuel),
            };
            findings.extend(ask(layer.as_ref(), &call, &context));
            let new = findings.get_mut(from..).unwrap_or_default();
            let has_run = call.runs == Runs::AtProvider && layer.name() != "policy";
            if has_run {
                // What has run already, only the operator's policy can want to hide.
                lower(new);
            }
            let took = self.clock.now().saturating_sub(asked);
            if took > self.limits.deadline {
                findings.push(Finding::block(
                    "stack",
                    "judging-too-slow",
                    format!("judging took {} ms", took.as_millis()),
                ));
                break;
            }
        }
        for finding in &mut findings {
            if finding.verdict == Verdict::Ask && session.has_approved(&call, finding) {
                finding.verdict = Verdict::Audit;
            }
        }
        let verdict = strictest(&findings);
        session.note(Some((&call, &effects)), verdict.lets_pass(), now);
        if verdict <= Verdict::Ask {
            // A person may still let it pass.
            session.note_folders(folders);
        }
        let outcome = if verdict.lets_pass() {
            Ok(Cleared { call, findings })
        } else {
            Err(Refusal {
                tool: Some(call.name.clone()),
                id: Some(call.id.clone()),
                runs: call.runs.clone(),
                input: Some(call.text.clone()),
                asked: (verdict == Verdict::Ask).then(|| Box::new(call)),
                findings,
            })
        };
        let took = self.clock.now().saturating_sub(start);
        Judgement {
            outcome,
            effects,
            took,
        }
    }

    /// What the call does, or why that cannot be known.
    fn understand(&self, call: &ToolCall, session: &Session) -> (Understood, Vec<Finding>) {
        let fuel = Fuel::new(self.limits.fuel);
        let world = session.place();
        let read = || action::understand_all(call, &world, &self.know, &fuel);
        match catch_unwind(AssertUnwindSafe(read)) {
            Ok(Ok(understood)) => (understood, Vec::new()),
            Ok(Err(OutOfFuel)) => {
                let reason = "the call needs more work to understand than one call may take";
                let finding = Finding::block("reader", "judging-too-costly", reason);
                let instead = "do the same in several smaller calls";
                (Understood::default(), vec![finding.instead(instead)])
            }
            Err(_) => {
                let reason = "the reader failed on this call";
                (
                    Understood::default(),
                    vec![Finding::block("reader", "reader-failure", reason)],
                )
            }
        }
    }
}

fn ask(layer: &dyn Layer, call: &ToolCall, context: &Context<'_>) -> Vec<Finding> {
    // A layer only reads what it is given, so a panic leaves nothing half done.
    match catch_unwind(AssertUnwindSafe(|| layer.judge(call, context))) {
        Ok(Ok(findings)) => findings,
        Ok(Err(OutOfFuel)) => vec![Finding::block(
            layer.name(),
            "judging-too-costly",
            "the call needs more work to judge than one call may take",
        )],
        Err(_) => vec![Finding::block(
            layer.name(),
            "layer-failure",
            "the layer failed while it judged this call",
        )],
    }
}

fn unreadable(fault: &Fault) -> Finding {
    let (rule, instead) = match fault {
        Fault::UnknownKind(_) => (
            "unknown-block",
            "if this provider's block can cause no action, the operator can add it to \
             `guard.inert_blocks`",
        ),
        Fault::TooLarge(_) => ("oversized-call", "do the same in several smaller calls"),
        Fault::Json(_)
        | Fault::NotAnObject
        | Fault::TwoInputs
        | Fault::NoName
        | Fault::NoId
        | Fault::AmbiguousKey(_)
        | Fault::NestedCall
        | Fault::SameId(_) => (
            "unreadable-call",
            "send the call again as one valid JSON object with each key once",
        ),
    };
    Finding::block(
        "reader",
        rule,
        format!("the call cannot be judged: {fault}"),
    )
    .instead(instead)
}

/// What has run already can only be noted.
fn lower(findings: &mut [Finding]) {
    for finding in findings {
        finding.verdict = finding.verdict.min(Verdict::Audit);
    }
}

fn strictest(findings: &[Finding]) -> Verdict {
    findings
        .iter()
        .map(|f| f.verdict)
        .max()
        .unwrap_or(Verdict::Allow)
}

impl Cleared {
    /// The call, as it was judged.
    pub fn call(&self) -> &ToolCall {
        &self.call
    }

    /// What the layers said.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// `Allow` or `Audit`, also where a rule asked and a person let it pass.
    pub fn verdict(&self) -> Verdict {
        strictest(&self.findings).min(Verdict::Audit)
    }
}

impl Refusal {
    /// The tool's name, if it could be read.
    pub fn tool(&self) -> Option<&str> {
        self.tool.as_deref()
    }

    /// The call's id, if it could be read.
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// Who would have carried it out.
    pub fn runs(&self) -> &Runs {
        &self.runs
    }

    /// The arguments, if they could be read.
    pub fn input(&self) -> Option<&Arc<String>> {
        self.input.as_ref()
    }

    /// What the layers said.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// `Ask`, `Block` or `Kill`.
    pub fn verdict(&self) -> Verdict {
        strictest(&self.findings)
    }

    /// Lets the call pass, because a person has said so. Only what was asked about can be let pass:
    /// a call that some rule blocks comes back as it is.
    pub fn approve(mut self) -> Result<Cleared, Box<Refusal>> {
        let Some(call) = self.asked.take() else {
            return Err(Box::new(self));
        };
        Ok(Cleared {
            call: *call,
            findings: self.findings,
        })
    }
}

impl std::fmt::Debug for Stack {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<_> = self.layers.iter().map(|l| l.name()).collect();
        f.debug_struct("Stack")
            .field("layers", &names)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
