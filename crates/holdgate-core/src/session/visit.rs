//! Access to a session that several responses share.

use super::Session;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Access to a session for a moment at a time. Between two visits, others may use a shared session.
pub trait Visit {
    /// Calls `look` with the session.
    fn visit<T>(&mut self, look: impl FnOnce(&mut Session) -> T) -> T;
}

impl Visit for &mut Session {
    fn visit<T>(&mut self, look: impl FnOnce(&mut Session) -> T) -> T {
        look(self)
    }
}

impl Visit for &SharedSession {
    fn visit<T>(&mut self, look: impl FnOnce(&mut Session) -> T) -> T {
        look(&mut lock(self))
    }
}

/// A session that several responses share.
pub type SharedSession = Arc<Mutex<Session>>;

/// Locks a session. Judging catches panics, so a poisoned lock means at most an incomplete note.
pub fn lock(session: &Mutex<Session>) -> MutexGuard<'_, Session> {
    session.lock().unwrap_or_else(PoisonError::into_inner)
}
