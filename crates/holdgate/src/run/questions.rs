//! Questions about calls while an agent runs: on the user's screen, if the agent is at a terminal,
//! and otherwise from another terminal.

use super::screen::{GivenBack, OurScreen, Screen};
use super::terminal::{Terminal, forget_keys};
use crate::asks::code::Code;
use crate::asks::desk::{self, Event, Interrupt, Manner, Surface, TOO_SOON};
use crate::asks::own_terminal::size_of_terminal;
use crate::asks::{About, Asks, Attended, Shown};
use crate::log;
use crate::proxy::Proxy;
use crate::threads::spawn;
use holdgate_core::Answer;
use std::collections::HashSet;
use std::io::{self, IsTerminal as _, Write as _};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// How long after an answer an Enter belongs to it.
const AFTER_ANSWER: Duration = Duration::from_millis(500);

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
    pub(super) fn show(&mut self, terminal: Option<&Terminal>) {
        let open = self.asks.open_here();
        if let (Some(desk), Some(terminal)) = (&self.desk, terminal) {
            self.late = !desk.show(&open, terminal);
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

    /// The terminal has another size.
    pub(super) fn resized(&self) {
        if let Some(desk) = &self.desk {
            // The desk goes when the terminal does.
            let _ = desk.events.send(Event::Resized);
        }
    }

    /// A signal at a question.
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
                    match shown.about {
                        About::Output => "the agent",
                        About::Call | About::Expert => "a call",
                    },
                    shown.id,
                    code.unwrap_or_default(),
                    left.as_secs()
                ));
            }
        }
    }
}

impl Desk {
    /// Takes what was typed if it is for a question, and not for the agent.
    pub(super) fn takes(&self, typed: &[u8]) -> bool {
        if self.screen.is_ours() {
            // A desk that is gone asks nothing.
            let _ = self.events.send(Event::Keys(typed.to_vec()));
            return true;
        }
        // Who ends an answer with Enter does not mean the agent.
        let ends_answer = |byte: &u8| matches!(byte, b'\r' | b'\n');
        typed.iter().all(ends_answer) && self.screen.was_ours_within(AFTER_ANSWER)
    }

    fn start(asks: &Arc<Asks>, screen: &Arc<Screen>) -> io::Result<Desk> {
        let (events, received) = channel();
        let (asks, out) = (asks.clone(), OurScreen(screen.clone()));
        let ask = move || {
            let manner = Manner {
                too_soon: TOO_SOON,
                codes: false,
                interrupt: Interrupt::Deny,
            };
            let mut out = out;
            let answer = |id: &str, given, _: Option<&str>| asks.answer(id, given);
            // A terminal that cannot be written to ends it.
            let _ = desk::run(&received, manner, &mut out, answer);
        };
        spawn("desk", ask)?;
        Ok(Desk {
            screen: screen.clone(),
            events,
        })
    }

    /// Whether it could be done; a terminal may take nothing at the moment.
    fn show(&self, open: &[Arc<Shown>], terminal: &Terminal) -> bool {
        let was_ours = self.screen.is_ours();
        if !open.is_empty() && !self.screen.take() {
            return false;
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
            if given == GivenBack::Lost {
                terminal.have_drawn();
            }
        }
        true
    }
}

impl Surface for OurScreen {
    fn take(&mut self) -> bool {
        // Taken before the desk hears of a question.
        true
    }

    fn give_back(&mut self) {}

    fn size(&self) -> (usize, usize) {
        size_of_terminal()
    }

    fn draw(&mut self, text: &str) -> io::Result<()> {
        self.write_all(text.as_bytes())
    }

    fn leave(&mut self, _: &str) -> io::Result<()> {
        // The agent's screen is as it was.
        Ok(())
    }
}
