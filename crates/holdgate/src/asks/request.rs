//! What the other end of the socket asks for, and the proof that a person is there.

use super::code::WrongCode;
use super::pin::NotAccepted;
use super::socket::{NAME, Shared};
use super::{About, Asks, Attended, Shown, Ticket};
use crate::expert;
use holdgate_core::{Answer, Finding, LayerName};
use holdgate_effects::json::Json;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// The error if neither a terminal nor a PIN can distinguish a person from a program.
const NO_PIN: &str = "no terminal shows the question and no PIN is set: run `holdgate pin`, \
                      then restart the proxy";
/// How long a terminal shows that somebody wants to lift the gate.
const EXPERT_PATIENCE: Duration = Duration::from_mins(2);

/// The other end of a connection.
pub(super) struct Peer {
    pid: u32,
    /// It has given the PIN.
    knows_pin: bool,
    pub(super) watching: Option<(watch::Receiver<u64>, Attended)>,
    /// It wants to lift the gate, and the proxy's terminal shows that.
    pub(super) lifting: Option<Lifting>,
}

impl Peer {
    pub(super) fn new(pid: u32) -> Peer {
        Peer {
            pid,
            knows_pin: false,
            watching: None,
            lifting: None,
        }
    }

    /// Carries out the request and returns the result; `None` if that comes later. `check` is
    /// whether the peer may do that.
    pub(super) fn request(
        &mut self,
        json: &Json<'_>,
        shared: &Shared,
        check: impl Fn() -> Result<(), String>,
    ) -> Option<Json<'static>> {
        let text = |key: &str| json.get(key).and_then(Json::as_str).unwrap_or_default();
        let proof = json.get("proof").and_then(Json::as_str);
        let done = match text("do") {
            "list" => Ok(open(shared)),
            // Where the codes are shown, each answer needs one.
            "watch" if shared.asks.is_shown_here() => Ok(self.watch(shared)),
            "watch" => {
                let proved = self.prove(None, proof, shared);
                proved.map(|()| self.watch(shared))
            }
            // Once more: who was in the foreground may no longer be.
            "answer" => check().map_err(error).and_then(|()| {
                let answer =
                    Answer::from_word(text("answer")).filter(|answer| answer.is_of_person());
                let answer = answer
                    .ok_or_else(|| error("an answer is once, session, rule or deny".into()))?;
                self.prove(Some(text("id")), proof, shared)?;
                shared.asks.answer(text("id"), answer).map_err(error)?;
                Ok(Json::object([("done", answer.word().into())]))
            }),
            _ if json.get("expert").is_some() => {
                let said = check()
                    .map_err(error)
                    .and_then(|()| self.expert(json, proof, shared));
                return said.unwrap_or_else(Some);
            }
            _ => Err(error("write list, watch, answer or expert".into())),
        };
        Some(done.unwrap_or_else(|said| said))
    }

    fn watch(&mut self, shared: &Shared) -> Json<'static> {
        let mut changes = shared.asks.changes();
        changes.mark_unchanged();
        self.watching = Some((changes, shared.asks.attend()));
        open(shared)
    }

    /// Whether a person who may decide about this question is there; if not, what is to be said.
    fn prove(
        &mut self,
        question: Option<&str>,
        proof: Option<&str>,
        shared: &Shared,
    ) -> Result<(), Json<'static>> {
        let pid = self.pid;
        let record = |rule: &'static str, what: String| {
            let reason = format!("process {pid} sent {what} to {NAME}");
            let finding = Finding::audit(LayerName::Operator, rule, reason);
            let recorded = (shared.operator.record)(&finding);
            recorded.map_err(|e| error(format!("the ledger cannot be written: {e}")))
        };
        if let (Some(question), true) = (question, shared.asks.is_shown_here()) {
            let typed = proof.ok_or_else(|| need("code"))?;
            return match shared.asks.check_code(question, typed) {
                Ok(()) => Ok(()),
                Err(WrongCode::Refused(why)) => Err(error(why)),
                Err(WrongCode::Wrong { left }) => {
                    record(
                        "wrong-code",
                        format!("a wrong code for question {question}"),
                    )?;
                    Err(error(match left {
                        0 => "wrong code; the question can now only be answered where it is shown"
                            .into(),
                        left => format!("wrong code; attempts left: {left}"),
                    }))
                }
            };
        }
        if self.knows_pin {
            return Ok(());
        }
        let pin = shared.operator.pin.as_ref();
        let pin = pin.ok_or_else(|| error(NO_PIN.into()))?;
        let typed = proof.ok_or_else(|| need("pin"))?;
        match pin.check(typed) {
            Ok(()) => {
                record("pin", "the PIN".into())?;
                self.knows_pin = true;
                Ok(())
            }
            Err(NotAccepted::Refused(why)) => Err(error(why)),
            Err(NotAccepted::Wrong(count)) => {
                record("wrong-pin", format!("a wrong PIN ({count} in a row)"))?;
                Err(error("wrong PIN".into()))
            }
        }
    }

    /// Expert mode: to switch it on takes a proof. Where that is a question, what becomes of it is
    /// told when it is answered, here or at its terminal.
    fn expert(
        &mut self,
        json: &Json<'_>,
        proof: Option<&str>,
        shared: &Shared,
    ) -> Result<Option<Json<'static>>, Json<'static>> {
        let seconds = json.get("expert").and_then(Json::as_u64).unwrap_or(0);
        if !(1..=expert::MAX.as_secs()).contains(&seconds) {
            return Ok(Some((shared.operator.expert)(json)));
        }
        if !shared.asks.is_shown_here() {
            self.prove(None, proof, shared)?;
            return Ok(Some((shared.operator.expert)(json)));
        }
        let Some(typed) = proof else {
            self.lifting = None;
            let time = Duration::from_secs(seconds);
            let ticket = shared.asks.ask_for_expert(self.pid, time, EXPERT_PATIENCE);
            self.lifting = Some(Lifting {
                ticket: ticket.map_err(error)?,
                wanted: json.clone().into_owned(),
                until: tokio::time::Instant::now() + EXPERT_PATIENCE,
            });
            return Err(need("code"));
        };
        let lifting = self.lifting.as_ref();
        let lifting = lifting.ok_or_else(|| error("no terminal shows this question".into()))?;
        let id = lifting.ticket.id().to_owned();
        let proved = self.prove(Some(&id), Some(typed), shared);
        let answered = proved.and_then(|()| shared.asks.answer(&id, Answer::Once).map_err(error));
        let still_open = || shared.asks.open().iter().any(|shown| shown.id == id);
        match answered {
            Err(said) if still_open() => Err(said),
            _ => Ok(None),
        }
    }

    /// The question whether to lift the gate was answered.
    pub(super) fn lift(&mut self, answer: Answer, shared: &Shared) -> Json<'static> {
        match self.lifting.take() {
            Some(lifting) if answer.approval().is_some() => {
                (shared.operator.expert)(&lifting.wanted)
            }
            _ => error(format!("the gate was not lifted ({})", answer.word())),
        }
    }
}

/// A wish to lift the gate, while it is a question.
pub(super) struct Lifting {
    pub(super) ticket: Ticket,
    /// The message that was shown.
    wanted: Json<'static>,
    pub(super) until: tokio::time::Instant,
}

pub(super) fn error(why: String) -> Json<'static> {
    Json::object([("error", why.into())])
}

fn need(what: &'static str) -> Json<'static> {
    Json::object([("need", what.into())])
}

pub(super) fn open(shared: &Shared) -> Json<'static> {
    let open = shared.asks.open();
    let shown_here = shared.asks.is_shown_here();
    let proof = if shown_here { "code" } else { "pin" };
    Json::object([
        (
            "open",
            Json::Array(open.iter().map(|shown| shown.to_json()).collect()),
        ),
        ("proof", proof.into()),
    ])
}

impl Shown {
    /// That somebody at another terminal wants to lift the gate.
    fn of_expert(id: String, process: u32, time: Duration, left: Duration) -> Shown {
        let time = humantime::format_duration(time);
        let reason = format!(
            "process {process} at another terminal wants to lift the gate: for {time}, the \
             gate would not block any call of any agent of this proxy"
        );
        let finding = ["expert-mode".into(), "expert".into(), reason];
        let typed = format!("holdgate expert --for {time}");
        let mut shown = Shown::other(
            About::Expert,
            (id, "-".into()),
            ("holdgate expert".into(), typed),
            finding,
            Instant::now() + left,
        );
        shown.rule = Err("expert mode is not a call".into());
        shown
    }
}

impl Asks {
    /// Asks at this process's terminal whether the gate may be lifted.
    pub(crate) fn ask_for_expert(
        self: &Arc<Self>,
        process: u32,
        time: Duration,
        left: Duration,
    ) -> Result<Ticket, String> {
        const ID: &str = "expert";
        if self.open().iter().any(|shown| shown.id == ID) {
            return Err("another terminal is already asking to lift the gate".into());
        }
        let shown = Shown::of_expert(ID.into(), process, time, left);
        self.open_question(shown)
            .ok_or_else(|| "too many questions are open".into())
    }
}
