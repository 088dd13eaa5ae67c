//! Questions about calls while an agent runs: on the user's screen, if the agent is at a terminal,
//! and otherwise from another terminal.

use super::screen::{GivenBack, OurScreen, Screen};
use super::terminal::{Raw, Terminal, forget_keys};
use crate::asks::code::Code;
use crate::asks::desk::{self, Event};
use crate::asks::{Asks, Attended, Shown};
use crate::log;
use crate::proxy::Proxy;
use crate::threads::spawn;
use holdgate_core::Answer;
use std::collections::HashSet;
use std::io::{self, IsTerminal as _};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::time::Instant;
use tokio::sync::watch;

/// Follows the open questions.
pub(super) struct Questions {
    asks: Arc<Asks>,
    changes: watch::Receiver<u64>,
    attended: Option<Attended>,
    /// Those that were announced.
    told: HashSet<String>,
    /// What is on the screen is not what is open.
    late: bool,
    desk: Option<Desk>,
}

/// The user's screen, when the agent has a terminal of its own.
#[derive(Clone)]
pub(super) struct Desk {
    screen: Arc<Screen>,
    events: Sender<Event>,
}

impl Questions {
    /// Somebody is at the terminal where questions appear or are announced.
    pub(super) fn attend(proxy: &Proxy, screen: Option<&Arc<Screen>>) -> io::Result<Questions> {
        let asks = proxy.asks().clone();
        let desk = screen
            .map(|screen| Desk::start(&asks, screen))
            .transpose()?;
        let told_of = proxy.takes_answers() && io::stderr().is_terminal();
        Ok(Questions {
            changes: asks.changes(),
            attended: (desk.is_some() || told_of).then(|| asks.show_here()),
            told: HashSet::new(),
            late: false,
            desk,
            asks,
        })
    }

    /// Where typed lines go while the screen is ours, with the screen.
    pub(super) fn desk(&self) -> Option<Desk> {
        self.desk.clone()
    }

    pub(super) async fn changed(&mut self) {
        if self.attended.is_none() || self.changes.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Shows what is open now.
    pub(super) fn show(&mut self, terminal: Option<(&Terminal, &Raw)>) {
        let open = self.asks.open_here();
        if let (Some(desk), Some((terminal, raw))) = (&self.desk, terminal) {
            self.late = !desk.show(&open, terminal, raw);
        } else {
            self.tell(&open);
        }
    }

    /// Whether showing them has to be tried again.
    pub(super) fn are_late(&self) -> bool {
        self.late
    }

    /// Whether one is on the screen, so that keys are ours.
    pub(super) fn on_screen(&self) -> bool {
        self.desk.as_ref().is_some_and(|desk| desk.screen.is_ours())
    }

    /// Ctrl-C at a question.
    pub(super) fn deny_all(&self) {
        for shown in self.asks.open() {
            // One that was answered meanwhile is.
            let _ = self.asks.answer(&shown.id, Answer::Deny);
        }
    }

    fn tell(&mut self, open: &[Arc<Shown>]) {
        self.told
            .retain(|id| open.iter().any(|shown| shown.id == *id));
        for shown in open {
            if self.told.insert(shown.id.clone()) {
                let rule = shown.findings.first();
                let rule = rule.map_or("", |[rule, ..]| rule.as_str());
                let left = shown.deadline.saturating_duration_since(Instant::now());
                let code = shown.code.as_ref().map(Code::show);
                log::warn_now(&format!(
                    "{} waits for your answer ({rule}): `holdgate approve {}` at another terminal, with the code {}, within {} s",
                    if shown.output { "the agent" } else { "a call" },
                    shown.id,
                    code.unwrap_or_default(),
                    left.as_secs()
                ));
            }
        }
    }
}

impl Desk {
    /// Whether what is typed is for a question.
    pub(super) fn is_open(&self) -> bool {
        self.screen.is_ours()
    }

    /// Takes what was typed if it is for a question, and not for the agent.
    pub(super) fn takes(&self, typed: &[u8]) -> bool {
        let ours = self.screen.is_ours();
        if ours {
            // A terminal gives one line at a time.
            for line in String::from_utf8_lossy(typed).lines() {
                // A desk that is gone asks nothing.
                let _ = self.events.send(Event::Line(line.to_owned()));
            }
        }
        ours
    }

    fn start(asks: &Arc<Asks>, screen: &Arc<Screen>) -> io::Result<Desk> {
        let (events, received) = channel();
        let (asks, out) = (asks.clone(), OurScreen(screen.clone()));
        let ask = move || {
            let mut out = out;
            // A terminal that cannot be written to ends it.
            let _ = desk::at_terminal(&received, &mut out, |id, answer| asks.answer(id, answer));
        };
        spawn("desk", ask)?;
        Ok(Desk {
            screen: screen.clone(),
            events,
        })
    }

    /// Whether it could be done; a terminal may take nothing at the moment.
    fn show(&self, open: &[Arc<Shown>], terminal: &Terminal, raw: &Raw) -> bool {
        let was_ours = self.screen.is_ours();
        if !open.is_empty() && !self.screen.take() {
            return false;
        }
        if !open.is_empty() {
            // Also if the screen is still ours after the last question: it could not be given back.
            raw.leave();
        }
        if !open.is_empty() && !was_ours {
            // What was typed before is not an answer.
            forget_keys();
            for message in log::take() {
                // The desk goes when the terminal does.
                let _ = self.events.send(Event::Say(message));
            }
        }
        let shown = open.iter().map(|shown| (**shown).clone()).collect();
        // The desk goes when the terminal does.
        let _ = self.events.send(Event::Open(shown));
        if open.is_empty() && was_ours {
            let given = self.screen.give_back();
            if given == GivenBack::NotYet {
                return false;
            }
            // Half an answer is not for the agent.
            forget_keys();
            // A terminal that is gone has no modes.
            let _ = raw.again();
            if given == GivenBack::Lost {
                terminal.have_drawn();
            }
        }
        true
    }
}
