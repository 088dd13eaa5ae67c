//! Questions at the terminal that runs the proxy.

use super::Asks;
use super::desk::{self, Event};
use crate::config::Operator;
use crate::threads::{runtime, spawn};
use std::io::IsTerminal as _;
use std::sync::{Arc, mpsc};

/// Asks here, if this process has a terminal to itself.
pub(crate) fn start(asks: &Arc<Asks>) -> std::io::Result<()> {
    let here = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    if asks.operator == Operator::Never || !here || !desk::in_foreground() {
        return Ok(());
    }
    let (events, received) = mpsc::channel();
    let typed = events.clone();
    spawn("typed", move || desk::read_lines(&typed))?;
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
        let mut out = anstream::stderr();
        // A terminal that cannot be written to ends it, as does one that is closed.
        let _ = desk::at_terminal(&received, &mut out, |id, answer| asks.answer(id, answer));
        drop(attended);
    };
    spawn("desk", ask)?;
    Ok(())
}
