//! Judges one case: in a fresh session, with no facts from this machine's disk.

use super::cases::{Call, Case, Expect, StreamCase, Subject};
use super::{client, gemini, loose, responses};
use crate::judging;
use crate::proxy::answer::{Answer, error_answer};
use crate::upstream::remove_hop_by_hop;
use bytes::Bytes;
use holdgate_core::{
    Context, Finding, GuardSettings, HeldCall, History, LayerName, Output, Protocol,
    ResponseContext, Session, Stack, Step, StreamGuard, Subject as Recorded, Verdict,
    guard_message,
};
use holdgate_effects::json::Json;
use holdgate_effects::path::World;
use hyper::StatusCode;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Sizes of the pieces in which a stream is tried, if the case does not say.
const PIECES: [usize; 4] = [usize::MAX, 1, 7, 1000];
/// A large stream is not tried byte by byte.
const MAX_PIECES: usize = 64 << 10;

/// What judges the cases.
#[derive(Debug)]
pub struct Bench {
    stack: Arc<Stack>,
    guard: Arc<GuardSettings>,
    /// The project folder of cases that do not name one.
    world: Arc<World>,
}

/// What became of a case.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The strictest verdict.
    pub verdict: Verdict,
    /// The first call that was blocked.
    pub step: Option<usize>,
    /// The rules that matched, each once, the strictest first.
    pub hits: Vec<Hit>,
    /// How long each verdict took.
    pub times: Vec<Duration>,
}

/// A rule that matched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// Its layer.
    pub layer: LayerName,
    /// Its name.
    pub rule: String,
    /// What it wanted.
    pub verdict: Verdict,
}

impl Outcome {
    pub(super) fn empty() -> Outcome {
        Outcome {
            verdict: Verdict::Allow,
            step: None,
            hits: Vec::new(),
            times: Vec::new(),
        }
    }

    /// Whether the verdict refuses without asking.
    pub fn is_blocked(&self) -> bool {
        self.verdict >= Verdict::Block
    }

    /// Notes the records among `outputs`; the rest is what the client gets.
    pub(super) fn take(&mut self, outputs: Vec<Output>) -> Delivered {
        let mut body = Vec::new();
        for output in outputs {
            match output {
                Output::Send(bytes) => body.extend_from_slice(&bytes),
                Output::Record(record) => {
                    self.hear(&record.findings);
                    if let Recorded::Call { judged, .. } = &record.subject {
                        self.times.push(*judged);
                    }
                }
                // The guards here judge on their own.
                Output::Judge(_) => {}
                // Nobody is there: only the verdict counts.
                Output::Ask(question) => self.hear(&question.record.findings),
                Output::Abort => return Delivered::Nothing,
            }
        }
        Delivered::Answer(body)
    }

    fn hear(&mut self, findings: &[Finding]) {
        for finding in findings {
            let known = self
                .hits
                .iter_mut()
                .find(|hit| hit.layer == finding.layer && hit.rule == finding.rule);
            match known {
                Some(hit) => hit.verdict = hit.verdict.max(finding.verdict),
                None => self.hits.push(Hit {
                    layer: finding.layer,
                    rule: finding.rule.to_string(),
                    verdict: finding.verdict,
                }),
            }
        }
    }
}

impl Bench {
    /// A bench with this stack, for agents that work in `project`.
    pub fn new(stack: Arc<Stack>, guard: GuardSettings, project: &str) -> Bench {
        // A resident proxy has read all of it long before the first call.
        if let Ok(know) = crate::own::knowledge() {
            know.warm();
        }
        Bench {
            stack,
            guard: Arc::new(guard),
            world: Arc::new(World::lexical(project)),
        }
    }

    /// Judges a case; `None` if nothing judges its subject yet.
    pub fn judge(&self, case: &Case) -> Option<Outcome> {
        let outcome = self.judge_once(case)?;
        // The backstop of wall time also strikes when the machine is busy with something else,
        // and that is not the case's doing. What is really slow is slow again.
        if outcome.hits.iter().any(|h| h.rule == "judging-too-slow") {
            return self.judge_once(case);
        }
        Some(outcome)
    }

    fn judge_once(&self, case: &Case) -> Option<Outcome> {
        let world = match &case.cwd {
            Some(cwd) => Arc::new(World::lexical(cwd)),
            None => self.world.clone(),
        };
        let mut outcome = match &case.subject {
            Subject::Call(call) => self.judge_calls(std::slice::from_ref(call), world),
            Subject::Calls { calls, .. } => self.judge_calls(calls, world),
            Subject::Stream(stream) => self.judge_stream(stream, case.expect, &world),
            Subject::Message { text, call } => self.judge_message(text, call, world),
            Subject::ToolResult { text, .. } => texts::judge_result(text),
            Subject::Spillage { text, path } => texts::judge_spillage(text, path.as_deref()),
            Subject::Bridge(bridge) => self.judge_bridge(bridge, case.expect, &world),
            Subject::Output(pieces) => output::judge(pieces, world),
            Subject::NotYet(_) => return None,
        };
        outcome
            .hits
            .sort_by_key(|hit| std::cmp::Reverse(hit.verdict));
        Some(outcome)
    }

    /// Continues after a block, as an agent does after a refusal.
    fn judge_calls(&self, calls: &[Call], world: Arc<World>) -> Outcome {
        let mut session = session(world);
        let mut history = History::default();
        let mut outcome = Outcome::empty();
        for (step, call) in calls.iter().enumerate() {
            let context = Context::new(&history, call.at);
            let judgement = self.stack.judge(self.held(call), &mut session, &context);
            outcome.times.push(judgement.took);
            let verdict = judgement.verdict();
            outcome.hear(judgement.findings());
            outcome.verdict = outcome.verdict.max(verdict);
            let became = if verdict.lets_pass() {
                holdgate_core::Outcome::Done
            } else {
                holdgate_core::Outcome::Refused
            };
            let done = Step::new("call", &call.tool, became, judgement.effects);
            let done = match call.result.as_deref().filter(|_| verdict.lets_pass()) {
                Some(result) => done.showing(&[result]),
                None => done,
            };
            history.push(Arc::new(done));
            if outcome.is_blocked() {
                outcome.step.get_or_insert(step);
            }
        }
        outcome
    }

    /// A call beside a text of the same answer.
    fn judge_message(&self, text: &str, call: &Call, world: Arc<World>) -> Outcome {
        let history = History::default();
        let context = Context {
            said: text,
            ..Context::new(&history, call.at)
        };
        let judgement = self
            .stack
            .judge(self.held(call), &mut session(world), &context);
        let mut outcome = Outcome::empty();
        outcome.times.push(judgement.took);
        outcome.verdict = judgement.verdict();
        outcome.hear(judgement.findings());
        outcome
    }

    fn held(&self, call: &Call) -> HeldCall {
        let mut held = judging::call(&call.tool, &Json::Null);
        held.push_input(&call.input, self.stack.call_limits());
        held
    }

    /// Through the guard, as the proxy does it. An attack is blocked if no client can assemble it,
    /// honest work is allowed if it means the same behind the guard as before it.
    fn judge_stream(&self, case: &StreamCase, expect: Expect, world: &Arc<World>) -> Outcome {
        let mut outcome = Outcome::empty();
        let came_through: Vec<bool> = chunkings(case)
            .iter()
            .map(|sizes| {
                let delivered = self.deliver(case, sizes, world, &mut outcome);
                match (expect, delivered) {
                    (Expect::Allow, Delivered::Answer(body)) => {
                        means_the_same(case.protocol, &body, &case.body)
                    }
                    (
                        Expect::Block | Expect::Flag,
                        Delivered::Answer(body) | Delivered::Error(body),
                    ) => holds(case.protocol, &body, &case.marker),
                    // The client learns of the error, in whatever words.
                    (Expect::Allow, Delivered::Error(_)) => true,
                    (_, Delivered::Nothing) => false,
                }
            })
            .collect();
        // One way of cutting is enough for an attack; honest work must come through in all.
        let passes = match expect {
            Expect::Allow => came_through.iter().all(|came| *came),
            Expect::Block | Expect::Flag => came_through.iter().any(|came| *came),
        };
        outcome.verdict = if passes {
            Verdict::Allow
        } else {
            Verdict::Block
        };
        outcome
    }

    /// A response of this protocol in a fresh session.
    pub(super) fn context(
        &self,
        protocol: &'static dyn Protocol,
        world: &Arc<World>,
    ) -> ResponseContext {
        ResponseContext {
            session: Arc::new(Mutex::new(session(world.clone()))),
            ..ResponseContext::new(protocol, self.stack.clone(), self.guard.clone())
        }
    }

    fn deliver(
        &self,
        case: &StreamCase,
        sizes: &[usize],
        world: &Arc<World>,
        outcome: &mut Outcome,
    ) -> Delivered {
        let mut headers = headers(case);
        remove_hop_by_hop(&mut headers);
        let status = StatusCode::from_u16(case.status).unwrap_or(StatusCode::BAD_GATEWAY);
        let answer = match Answer::of(status, &headers, case.protocol.framing()) {
            Ok(answer) => answer,
            Err(unreadable) => {
                outcome.hear(&[Finding::block(
                    LayerName::Reader,
                    unreadable.rule,
                    unreadable.why,
                )]);
                return Delivered::Nothing;
            }
        };
        let judge = self.context(case.protocol, world);
        let mut outputs = Vec::new();
        match answer {
            Answer::Error => {
                let error = error_answer(status, &headers, Some(&case.body), case.protocol);
                Delivered::Error(error.body.to_vec())
            }
            Answer::Message => {
                let guarded = guard_message(judge, &case.body, Duration::ZERO, &mut outputs);
                outcome.take(outputs);
                match guarded {
                    Ok(body) => Delivered::Answer(body.to_vec()),
                    Err(_) => Delivered::Nothing,
                }
            }
            Answer::Events => {
                let mut guard = StreamGuard::new(judge, Duration::ZERO);
                let mut rest = Bytes::copy_from_slice(&case.body);
                for size in sizes {
                    let chunk = rest.split_to((*size).min(rest.len()));
                    guard.feed(chunk, Duration::ZERO, &mut outputs);
                }
                guard.feed(rest, Duration::ZERO, &mut outputs);
                guard.finish(Duration::ZERO, &mut outputs);
                outcome.take(outputs)
            }
        }
    }
}

mod output;
mod texts;

/// Whether a client of this protocol reads the same in `sent` as in `came`.
fn means_the_same(protocol: &dyn Protocol, sent: &[u8], came: &[u8]) -> bool {
    match protocol.name() {
        "chat" | "ollama" => loose::same(sent, came),
        "responses" => responses::meaning(sent) == responses::meaning(came),
        "gemini" => gemini::meaning(sent) == gemini::meaning(came),
        _ => client::meaning(sent) == client::meaning(came),
    }
}

/// Whether a client of this protocol finds a call with `marker` in `sent`.
fn holds(protocol: &dyn Protocol, sent: &[u8], marker: &str) -> bool {
    match protocol.name() {
        "chat" | "ollama" => loose::holds(sent, marker),
        "responses" => responses::holds(sent, marker),
        "gemini" => gemini::holds(sent, marker),
        _ => client::holds(sent, marker),
    }
}

/// What the client got.
pub(super) enum Delivered {
    Answer(Vec<u8>),
    /// The upstream's error, or a plain one of the same status.
    Error(Vec<u8>),
    /// An error of ours.
    Nothing,
}

fn session(world: Arc<World>) -> Session {
    let mut session = Session::default();
    session.world = world;
    session
}

/// The ways of cutting a stream into pieces that are tried.
fn chunkings(case: &StreamCase) -> Vec<Vec<usize>> {
    if let Some(sizes) = &case.chunking {
        return vec![sizes.clone()];
    }
    let length = case.body.len();
    let sizes = PIECES.iter().filter(|size| length / **size < MAX_PIECES);
    sizes
        .map(|size| vec![*size; length.div_ceil(*size)])
        .collect()
}

/// Headers that HTTP itself does not allow never reach the proxy.
fn headers(case: &StreamCase) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in &case.headers {
        let name = HeaderName::from_bytes(name.as_bytes());
        let value = HeaderValue::from_bytes(value.as_bytes());
        if let (Ok(name), Ok(value)) = (name, value) {
            headers.append(name, value);
        }
    }
    headers
}

#[cfg(test)]
mod tests;
