//! Every night the classifier learns from the ledger, on a thread of its own.
//!
//! When it last did is kept in a file, so that a proxy that was not there at that hour catches up
//! when it starts. The model takes effect when `reload.rs` finds the new file.

use super::App;
use crate::config::ClassifierMode;
use crate::learning::classifier::{self, Fate, Report};
use crate::ledger::private;
use std::io::Write as _;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// When the classifier last learned, or tried to.
const LAST: &str = "classifier.last";
/// How often the time is looked at.
const EVERY: Duration = Duration::from_secs(20);
const HOUR: u64 = 3600;
const DAY: u64 = 24 * HOUR;

/// Learns whenever it is time, until the other end of `stop` is gone.
pub(super) fn watch(app: &App, stop: &Receiver<()>) {
    // Whoever starts comes first.
    let every = EVERY.min(app.config.rules.check_every * 40);
    while stop.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
        let settings = app.in_force().config.classifier;
        if settings.mode == ClassifierMode::Off || !settings.nightly {
            continue;
        }
        let dir = &app.config.state_dir;
        let now = seconds((app.calendar)());
        match last(dir) {
            Some(last) if now < due(last, settings.hour) => continue,
            Some(_) => tell(app, classifier::learn(dir)),
            // The first night is still to come.
            None => {}
        }
        if let Err(error) = note(dir, now) {
            crate::log::warn(&format!("cannot write {LAST}: {error}"));
        }
    }
}

/// The next time that the clock shows `hour` after `last`, in seconds since 1970.
fn due(last: u64, hour: usize) -> u64 {
    let today = last / DAY * DAY + hour as u64 * HOUR;
    if today > last { today } else { today + DAY }
}

fn tell(app: &App, learned: anyhow::Result<Report>) {
    let (action, reason) = match learned {
        Ok(report) => match &report.fate {
            Fate::Unchanged => return,
            Fate::Accepted => ("learned", report.summary()),
            Fate::Discarded(why) => ("discarded", format!("the new model is not used: {why}")),
        },
        Err(error) => (
            "not-learned",
            format!("the classifier cannot learn: {error:#}"),
        ),
    };
    crate::log::info(&reason);
    app.note_model(action, &reason);
}

fn last(dir: &Path) -> Option<u64> {
    let text = std::fs::read_to_string(dir.join(LAST)).ok()?;
    text.trim().parse().ok()
}

fn note(dir: &Path, now: u64) -> std::io::Result<()> {
    let mut file = private(&dir.join(LAST), |o| {
        o.create(true).truncate(true).write(true)
    })?;
    file.write_all(now.to_string().as_bytes())
}

fn seconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH)
        .map_or(0, |time| time.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_due_once_a_day_at_the_hour() {
        let noon = 12 * HOUR;
        assert_eq!(due(noon, 3), DAY + 3 * HOUR);
        assert_eq!(due(noon, 13), 13 * HOUR);
        assert_eq!(due(3 * HOUR, 3), DAY + 3 * HOUR, "not twice in one night");
        assert_eq!(due(10 * DAY + 1, 0), 11 * DAY);
    }
}
