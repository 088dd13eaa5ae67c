//! Questions at the terminal that runs the proxy.

use super::Asks;
use super::desk::{self, Ended, Event, Interrupt, Manner, TOO_SOON};
use super::own_terminal::{OwnTerminal, in_foreground, read_keys};
use crate::config::Operator;
use crate::threads::{runtime, spawn};
use rustix::process::{Signal, getpid, kill_process};
use std::io::IsTerminal as _;
use std::sync::{Arc, mpsc};

/// Asks here, if this process has a terminal to itself.
pub(crate) fn start(asks: &Arc<Asks>) -> std::io::Result<()> {
    let here = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    if asks.operator == Operator::Never || !here || !in_foreground() {
        return Ok(());
    }
    let (events, received) = mpsc::channel();
    let typed = events.clone();
    spawn("typed", move || read_keys(&typed))?;
    let watched = asks.clone();
    let watch = move || {
        let Ok(runtime) = runtime() else {
            return;
        };
        let mut changes = watched.changes();
        loop {
            let open = watched
                .open_here()
                .iter()
                .map(|shown| (**shown).clone())
                .collect();
            let gone = events.send(Event::Open(open)).is_err();
            if gone || runtime.block_on(changes.changed()).is_err() {
                return;
            }
        }
    };
    spawn("questions", watch)?;
    let asks = asks.clone();
    let attended = asks.show_here();
    let ask = move || {
        let manner = Manner {
            too_soon: TOO_SOON,
            codes: false,
            interrupt: Interrupt::Quit,
        };
        let mut terminal = OwnTerminal::default();
        let answer = |id: &str, given, _: Option<&str>| asks.answer(id, given);
        // A terminal that cannot be written to ends it, as does one that is closed.
        let ended = desk::run(&received, manner, &mut terminal, answer);
        drop(attended);
        if ended.is_ok_and(|ended| ended == Ended::Quit) {
            // As the key would have done without a question.
            let _ = kill_process(getpid(), Signal::INT);
        }
    };
    spawn("desk", ask)?;
    Ok(())
}
