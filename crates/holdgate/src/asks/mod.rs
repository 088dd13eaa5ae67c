//! Questions that wait for a person, and who may answer them.
//!
//! [`Asks`] keeps the open questions. They are answered at the terminal that shows them
//! (`terminal`) or with `holdgate approve` over a Unix socket ([`socket`]), never over the network.
//! Peers of the socket are looked at closely ([`peer`]), and they must know what only a person can
//! know: the question's code (`code`), or the PIN ([`pin`]) where no terminal shows the question.

pub(crate) mod allow;
pub mod approve;
mod card;
pub(crate) mod code;
pub(crate) mod desk;
pub mod expert;
mod fit;
pub(crate) mod line;
pub(crate) mod once;
pub(crate) mod own_terminal;
pub mod peer;
pub mod pin;
mod request;
pub(crate) mod shown;
pub mod socket;
pub(crate) mod terminal;
#[cfg(test)]
mod tests;
mod text;
pub(crate) mod typed;

use crate::config::Operator;
use crate::threads::lock;
use allow::RulesFile;
use code::{Code, Tries};
use holdgate_core::{Answer, Question};
use holdgate_effects::json::shorten;
pub use own_terminal::restore as restore_terminal;
pub use shown::{About, Shown};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::{oneshot, watch};

/// Questions that may be open at once: more than anybody can overlook.
pub const MAX_OPEN: usize = 64;

/// The questions that are open.
#[derive(Debug)]
pub struct Asks {
    operator: Operator,
    /// Where rules go that a person writes by an answer.
    rules_file: Option<RulesFile>,
    open: Mutex<Vec<Open>>,
    /// Who asks, and in which folder, where all questions come from one agent.
    agent: OnceLock<(String, Option<String>)>,
    /// Counts the changes.
    changes: watch::Sender<u64>,
    operators: AtomicUsize,
    /// Terminals of this process that show questions.
    screens: AtomicUsize,
    /// Whether a PIN answers at the socket.
    takes_pin: AtomicBool,
    /// Wrong codes in a row, whatever the question.
    wrong_codes: Mutex<Tries>,
}

#[derive(Debug)]
struct Open {
    shown: Arc<Shown>,
    code: Option<Code>,
    wrong: u8,
    answer: oneshot::Sender<Answer>,
}

impl Asks {
    /// No question is open yet.
    pub fn new(operator: Operator, rules_file: Option<RulesFile>) -> Arc<Asks> {
        Arc::new(Asks {
            operator,
            rules_file,
            open: Mutex::default(),
            agent: OnceLock::new(),
            changes: watch::Sender::new(0),
            operators: AtomicUsize::new(0),
            screens: AtomicUsize::new(0),
            takes_pin: AtomicBool::new(false),
            wrong_codes: Mutex::default(),
        })
    }

    /// Whether somebody is there to answer.
    pub fn is_attended(&self) -> bool {
        match self.operator {
            Operator::Auto => self.operators.load(Ordering::Acquire) > 0,
            Operator::Always => {
                self.operators.load(Ordering::Acquire) > 0 || self.takes_pin.load(Ordering::Acquire)
            }
            Operator::Never => false,
        }
    }

    /// Why nobody was asked.
    pub fn absent(&self) -> Answer {
        let can_answer = self.is_shown_here() || self.takes_pin.load(Ordering::Acquire);
        if can_answer || self.operator == Operator::Never {
            Answer::Nobody
        } else {
            Answer::NoPin
        }
    }

    /// Whether a terminal of this process shows the questions, with their codes.
    pub(crate) fn is_shown_here(&self) -> bool {
        self.screens.load(Ordering::Acquire) > 0
    }

    /// From now on, anyone who knows the PIN can answer.
    pub(crate) fn take_pin(&self) {
        self.takes_pin.store(true, Ordering::Release);
    }

    /// Somebody looks at the questions elsewhere, until the guard is dropped.
    pub fn attend(self: &Arc<Self>) -> Attended {
        self.operators.fetch_add(1, Ordering::AcqRel);
        Attended {
            asks: self.clone(),
            here: false,
        }
    }

    /// A terminal of this process shows the questions, until the guard is dropped.
    pub fn show_here(self: &Arc<Self>) -> Attended {
        self.screens.fetch_add(1, Ordering::AcqRel);
        let mut attended = self.attend();
        attended.here = true;
        attended
    }

    /// Asks; `left` is the time for it. `None` if nobody is there, or too much is asked already.
    pub fn ask(self: &Arc<Self>, question: &Question, left: Duration) -> Option<Ticket> {
        self.put(Shown::of(question, left))
    }

    /// Asks what is shown. `None` if nobody is there, or too much is asked already.
    pub fn put(self: &Arc<Self>, shown: Shown) -> Option<Ticket> {
        if !self.is_attended() {
            return None;
        }
        self.open_question(shown)
    }

    /// From now on, all questions come from this agent, which was started in this folder.
    pub(crate) fn come_from(&self, agent: &str, folder: Option<&str>) {
        // The first name stays.
        let folder = folder.map(str::to_owned);
        let _ = self.agent.set((agent.to_owned(), folder));
    }

    fn open_question(self: &Arc<Self>, mut shown: Shown) -> Option<Ticket> {
        let agent = self.agent.get().filter(|_| shown.about != About::Expert);
        if let Some((agent, folder)) = agent {
            shown.agent = Some(agent.clone());
            shown.folder = shown.folder.or_else(|| folder.clone());
        }
        let (answer, answered) = oneshot::channel();
        let shown = Arc::new(shown);
        let mut open = self.lock();
        if open.len() >= MAX_OPEN {
            return None;
        }
        let id = shown.id.clone();
        open.push(Open {
            shown,
            code: Code::new(),
            wrong: 0,
            answer,
        });
        drop(open);
        self.changed();
        Some(Ticket {
            asks: self.clone(),
            id,
            answered,
        })
    }

    /// The open questions, oldest first.
    pub fn open(&self) -> Vec<Arc<Shown>> {
        self.lock().iter().map(|open| open.shown.clone()).collect()
    }

    /// Tells of changes.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Answers a question, once: a second answer is an error.
    pub fn answer(&self, id: &str, answer: Answer) -> Result<(), String> {
        let closed = || closed(id);
        if answer == Answer::Rule {
            let open = self.open();
            let shown = open
                .iter()
                .find(|shown| shown.id == id)
                .ok_or_else(closed)?;
            let yaml = shown.rule.as_ref().map_err(Clone::clone)?;
            let file = self.rules_file.as_ref();
            let file =
                file.ok_or("there is no folder for rules: neither HOME nor --config is set")?;
            file.append(yaml, &shown.limits())?;
        }
        let mut open = self.lock();
        let at = open.iter().position(|open| open.shown.id == id);
        let found = open.remove(at.ok_or_else(closed)?);
        drop(open);
        self.changed();
        found.answer.send(answer).map_err(|_| closed())
    }

    fn changed(&self) {
        self.changes
            .send_modify(|count| *count = count.wrapping_add(1));
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Open>> {
        lock(&self.open)
    }
}

fn closed(id: &str) -> String {
    format!(
        "there is no open question `{}`; it may have been answered",
        shorten(id, 80)
    )
}

/// Somebody looks at the questions for as long as this lives.
#[derive(Debug)]
pub struct Attended {
    asks: Arc<Asks>,
    here: bool,
}

impl Drop for Attended {
    fn drop(&mut self) {
        self.asks.operators.fetch_sub(1, Ordering::AcqRel);
        if self.here {
            self.asks.screens.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

/// A question that was asked: the answer, once there is one. Dropping it withdraws the question.
#[derive(Debug)]
pub struct Ticket {
    asks: Arc<Asks>,
    id: String,
    answered: oneshot::Receiver<Answer>,
}

impl Ticket {
    /// The question.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// Closes the question. From here on nobody can answer; who was faster is heard.
    pub fn close(&mut self) -> Option<Answer> {
        self.asks.lock().retain(|open| open.shown.id != self.id);
        self.asks.changed();
        self.answered.try_recv().ok()
    }
}

impl Future for Ticket {
    type Output = Answer;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Answer> {
        let answered = Pin::new(&mut self.answered).poll(context);
        answered.map(|answer| answer.unwrap_or(Answer::Withdrawn))
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.close();
    }
}
