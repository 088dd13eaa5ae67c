//! Labelled projects that change while the proxy runs.

use super::App;
use crate::labelled::Reader;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// How often the files of labelled projects are looked at.
const EVERY: Duration = Duration::from_secs(10);

/// Reads the projects until the other end of `stop` is gone: at once, when the settings change, and
/// from time to time.
pub(super) fn watch(app: &App, stop: &Receiver<()>) {
    let mut reader = None;
    let mut seen = None;
    loop {
        let in_force = app.in_force();
        let settings = &in_force.config.spillage;
        let is_due = |(then, at): &(_, Instant)| then != settings || at.elapsed() >= EVERY;
        // Most have no labelled projects, and pay nothing.
        let is_needed = !settings.projects.is_empty() || reader.is_some();
        if is_needed && seen.as_ref().is_none_or(is_due) {
            let reader = reader.get_or_insert_with(Reader::new);
            if let Some(read) = reader.read(settings) {
                in_force.beside.labelled.set(read);
            }
            seen = Some((settings.clone(), Instant::now()));
        }
        if stop.recv_timeout(app.config.rules.check_every) != Err(RecvTimeoutError::Timeout) {
            return;
        }
    }
}
