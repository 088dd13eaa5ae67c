//! A hit on its way: what is certain ends the agent, the rest is asked about, one after the other.

use super::Shared;
use super::incident::{Decided, Done, Incident, Timings};
use super::tree::Frozen;
use crate::judge::{Outcome, Ruling};
use holdgate_core::watch::{Hit, Severity};
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, SyncSender};
use std::time::{Instant, SystemTime};

/// Incidents that are kept in memory; the ledger has all.
const MAX_KEPT: usize = 4096;

/// A hit on its way to the judge.
pub(super) struct Found {
    /// The incident's, if a person has seen it.
    pub(super) id: Option<String>,
    pub(super) hit: Hit,
    pub(super) stream: &'static str,
    pub(super) at: SystemTime,
    pub(super) since: Instant,
    pub(super) timings: Timings,
}

impl Shared {
    /// Something was found: what is certain ends the agent here and now, the rest is asked about.
    pub(super) fn found(
        &self,
        hits: Vec<Hit>,
        stream: &'static str,
        since: Instant,
        asked: &SyncSender<Found>,
    ) {
        let at = SystemTime::now();
        let found = |hit, timings| Found {
            id: None,
            hit,
            stream,
            at,
            since,
            timings,
        };
        let (certain, doubtful): (Vec<_>, Vec<_>) = hits.into_iter().partition(|hit| hit.certain);
        let (low, doubtful): (Vec<_>, Vec<_>) = gravest(doubtful)
            .into_iter()
            .partition(|hit| hit.severity == Severity::Low);
        let guarded = self.settings.requests.load(Ordering::Relaxed) > 0;
        let (judged, doubtful): (Vec<_>, Vec<_>) =
            doubtful.into_iter().partition(|hit| hit.call && guarded);
        for (hits, decided) in [(low, Decided::Noted), (judged, Decided::AtTheDoor)] {
            for hit in hits {
                let found = found(hit, Timings::default());
                self.record(found, decided.clone(), Done::Noted);
            }
        }
        let mut state = self.lock();
        if state.killed {
            return;
        }
        if !certain.is_empty() {
            let (mut done, first) = state.kill();
            let acted = since.elapsed();
            let signalled = Some(first.saturating_duration_since(since));
            drop(state);
            for hit in certain {
                let timings = Timings {
                    signalled,
                    acted,
                    ..Timings::default()
                };
                self.record(found(hit, timings), Decided::ByPattern, done);
                done = Done::NOTHING_LEFT;
            }
            return;
        }
        if doubtful.is_empty() {
            return;
        }
        let mut timings = Timings::default();
        state.open += doubtful.len();
        if self.settings.freeze {
            let Frozen { verified, .. } = state.tree.freeze();
            timings.frozen = Some(since.elapsed());
            timings.verified = verified;
        }
        drop(state);
        for hit in doubtful {
            if asked.send(found(hit, timings)).is_err() {
                // Nobody decides any more, so nobody would let it go on either.
                self.lock().kill();
            }
        }
    }

    fn ask(&self, hit: &Hit, runtime: &tokio::runtime::Runtime) -> Ruling {
        let asking = || runtime.block_on(self.settings.judge.ask(hit, &self.work));
        // Whatever happens, the tree must not stand still for ever.
        catch_unwind(AssertUnwindSafe(asking)).unwrap_or_else(|_| Ruling::Down {
            why: "asking it failed because of an error in Holdgate".to_owned(),
        })
    }

    pub(super) fn next_id(&self) -> String {
        let number = self.number.fetch_add(1, Ordering::Relaxed) + 1;
        format!("{}-m{number}", self.settings.session)
    }

    fn record(&self, found: Found, decided: Decided, done: Done) {
        let incident = Incident {
            id: found.id.unwrap_or_else(|| self.next_id()),
            session: self.settings.session.clone(),
            at: found.at,
            stream: found.stream,
            hit: found.hit,
            decided,
            done,
            timings: found.timings,
        };
        if let Err(error) = self.settings.ledger.append_members(&incident.members()) {
            let id = &incident.id;
            crate::log::warn(&format!(
                "incident {id} could not be recorded in the ledger: {error}"
            ));
        }
        let mut state = self.lock();
        state.count += 1;
        if state.incidents.len() < MAX_KEPT {
            state.incidents.push(incident);
        }
    }
}

/// Asks about what was found, one after the other, until all streams have ended.
pub(super) fn decide(shared: &Shared, asked: &Receiver<Found>, runtime: &tokio::runtime::Runtime) {
    while let Ok(mut found) = asked.recv() {
        let (killed, late) = shared.lock().over();
        let (decided, done) = if killed {
            (Decided::TooLate, Done::NOTHING_LEFT)
        } else if late {
            (Decided::TooLate, Done::Noted)
        } else {
            let begin = Instant::now();
            let ruling = shared.ask(&found.hit, runtime);
            let (decided, outcome) = shared.decided(ruling, &mut found, runtime);
            found.timings.asked = begin.elapsed();
            let done = match outcome {
                Outcome::Thaw => Done::LetGo,
                // Who could not be asked could not let it go on either.
                Outcome::Warn | Outcome::Ask => Done::Warned,
                Outcome::Kill => {
                    let (done, first) = shared.lock().kill();
                    let since = first.saturating_duration_since(found.since);
                    found.timings.signalled = Some(since);
                    done
                }
            };
            (decided, done)
        };
        found.timings.acted = found.since.elapsed();
        shared.record(found, decided, done);
        let mut state = shared.lock();
        state.open -= 1;
        if state.open == 0 {
            if state.tree.is_frozen() && !state.killed {
                state.tree.thaw();
            }
            shared.settled.notify_all();
        }
    }
}

/// Of several hits of a family on the same text, the gravest: one question is enough.
fn gravest(mut hits: Vec<Hit>) -> Vec<Hit> {
    hits.sort_by_key(|hit| std::cmp::Reverse(hit.severity));
    let mut seen = HashSet::new();
    hits.retain(|hit| seen.insert((hit.family.clone(), hit.evidence.clone())));
    hits
}
