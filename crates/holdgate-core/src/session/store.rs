//! The store of sessions.

use super::SharedSession;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// What a session takes in memory that has done nothing yet, with its place in the store.
const NEW_BYTES: usize = 1024;

/// The sessions that are known, bounded in number and age.
#[derive(Debug)]
pub struct Sessions {
    known: HashMap<String, Known>,
    max: usize,
    max_idle: Duration,
    /// Bytes that all of them take.
    bytes: usize,
}

#[derive(Debug)]
struct Known {
    seen: Duration,
    session: SharedSession,
    bytes: usize,
}

impl Sessions {
    /// Room for `max` sessions; one that was idle for `max_idle` starts again.
    pub fn new(max: usize, max_idle: Duration) -> Self {
        Sessions {
            known: HashMap::new(),
            max: max.max(1),
            max_idle,
            bytes: 0,
        }
    }

    /// The session `id`, created if there is none.
    pub fn get(&mut self, id: &str, now: Duration) -> SharedSession {
        let expired = now.saturating_sub(self.max_idle);
        if let Some(known) = self.known.get_mut(id)
            && (known.seen > expired || expired.is_zero())
        {
            known.seen = now;
            return known.session.clone();
        }
        self.forget(id);
        if self.known.len() >= self.max {
            self.make_room(expired);
        }
        let session = SharedSession::default();
        let known = Known {
            seen: now,
            session: session.clone(),
            bytes: NEW_BYTES,
        };
        self.known.insert(id.to_owned(), known);
        self.bytes += NEW_BYTES;
        session
    }

    /// How many sessions are known.
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Whether none is known.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// About how many bytes all sessions take in memory, as far as they were weighed.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Notes what a session takes now.
    pub fn weigh(&mut self, id: &str, bytes: usize) {
        if let Some(known) = self.known.get_mut(id) {
            let bytes = bytes + NEW_BYTES;
            self.bytes = (self.bytes + bytes).saturating_sub(known.bytes);
            known.bytes = bytes;
        }
    }

    /// Takes the session `id` out of the store.
    pub fn forget(&mut self, id: &str) -> Option<SharedSession> {
        let known = self.known.remove(id)?;
        self.bytes = self.bytes.saturating_sub(known.bytes);
        Some(known.session)
    }

    /// Takes out sessions that nobody uses, those that were idle longest first, until they free
    /// `bytes`, or none is left. The caller drops them: that takes a while.
    pub fn forget_idle(&mut self, bytes: usize) -> Vec<SharedSession> {
        let known = self.known.iter();
        let idle = known.filter(|(_, known)| Arc::strong_count(&known.session) == 1);
        let mut idle: Vec<(Duration, String)> =
            idle.map(|(id, known)| (known.seen, id.clone())).collect();
        idle.sort_unstable();
        let enough = self.bytes.saturating_sub(bytes);
        let mut forgotten = Vec::new();
        for (_, id) in idle {
            if self.bytes <= enough {
                break;
            }
            forgotten.extend(self.forget(&id));
        }
        forgotten
    }

    /// Forgets what has expired and, if that is not enough, the eighth that was idle longest:
    /// a sweep over all, but only once in many insertions.
    fn make_room(&mut self, expired: Duration) {
        self.known
            .retain(|_, known| known.seen > expired || expired.is_zero());
        if self.known.len() >= self.max {
            let mut ages: Vec<Duration> = self.known.values().map(|known| known.seen).collect();
            let keep_from = self.known.len() / 8;
            let (_, limit, _) = ages.select_nth_unstable(keep_from);
            let limit = *limit;
            self.known.retain(|_, known| known.seen > limit);
        }
        self.bytes = self.known.values().map(|known| known.bytes).sum();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_are_bounded_and_the_busy_ones_stay() {
        let mut sessions = Sessions::new(16, Duration::from_mins(10));
        let busy = sessions.get("busy", Duration::ZERO);
        for i in 1..1000u64 {
            sessions.get(&format!("s{i}"), Duration::from_secs(i));
            let again = sessions.get("busy", Duration::from_secs(i));
            assert!(Arc::ptr_eq(&again, &busy));
            assert!(sessions.len() <= 16);
        }
    }

    #[test]
    fn an_idle_session_begins_anew() {
        let mut sessions = Sessions::new(16, Duration::from_mins(1));
        let old = sessions.get("a", Duration::from_secs(1));
        let new = sessions.get("a", Duration::from_secs(100));
        assert!(!Arc::ptr_eq(&old, &new));
    }
}
