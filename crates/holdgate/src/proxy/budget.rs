//! One budget for the memory of all requests, streams, connections and sessions together.
//!
//! Whoever is about to keep bytes reserves them first, and gives them back by dropping its
//! [`Share`]. At the budget, sessions that nobody uses are forgotten, those that were idle longest
//! first; if that is not enough, what is new is refused.

use super::App;
use super::connections::Busy;
use crate::threads::lock;
use holdgate_core::{Record, Room, Sessions, SharedSession};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What a request takes besides its body: its head, its task, the buffers of the connection to the
/// upstream.
pub(super) const REQUEST_BYTES: usize = 128 << 10;
/// What a value of JSON takes when it is read, at the most: its place in a list that grows by
/// doubling, and an allocation of its own.
const VALUE_BYTES: usize = 96;
/// How much is freed at once, so that sessions are looked through only now and then.
const FREED_AT_ONCE: usize = 64;

/// The bytes that are kept.
#[derive(Debug)]
pub(crate) struct Budget {
    max: usize,
    used: AtomicUsize,
    most: AtomicUsize,
}

/// There is no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Full;

impl Budget {
    /// A budget that keeps the process within `memory` beyond what it takes at rest. A third of it
    /// is shared out: measured under attack, the process grows by up to three times as much,
    /// because what one thread frees, another cannot use again at once.
    pub(super) fn of(memory: usize) -> Arc<Budget> {
        Budget::new(memory / 3)
    }

    fn new(max: usize) -> Arc<Budget> {
        Arc::new(Budget {
            max,
            used: AtomicUsize::new(0),
            most: AtomicUsize::new(0),
        })
    }

    /// Bytes that are reserved now, and the most that ever were.
    pub(super) fn used(&self) -> (usize, usize) {
        let read = |count: &AtomicUsize| count.load(Ordering::Relaxed);
        (read(&self.used), read(&self.most))
    }

    fn add(&self, bytes: usize) -> Result<(), Full> {
        let grown = |used: usize| used.checked_add(bytes).filter(|sum| *sum <= self.max);
        let (done, read) = (Ordering::Relaxed, Ordering::Relaxed);
        let before = self
            .used
            .fetch_update(done, read, grown)
            .map_err(|_| Full)?;
        self.most.fetch_max(before + bytes, Ordering::Relaxed);
        Ok(())
    }
}

/// Reserved bytes, given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Share {
    budget: Arc<Budget>,
    bytes: usize,
}

impl Share {
    pub(super) fn none(budget: &Arc<Budget>) -> Share {
        Share {
            budget: budget.clone(),
            bytes: 0,
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Reserves `bytes` in all, if there is room.
    fn set(&mut self, bytes: usize) -> Result<(), Full> {
        match bytes.checked_sub(self.bytes) {
            Some(0) => return Ok(()),
            Some(more) => self.budget.add(more)?,
            None => {
                let less = self.bytes - bytes;
                self.budget.used.fetch_sub(less, Ordering::Relaxed);
            }
        }
        self.bytes = bytes;
        Ok(())
    }

    /// Reserves `bytes` in all, room or not: they are kept already.
    fn force(&mut self, bytes: usize) {
        if self.set(bytes).is_err() {
            let more = bytes.saturating_sub(self.bytes);
            let before = self.budget.used.fetch_add(more, Ordering::Relaxed);
            self.budget.most.fetch_max(before + more, Ordering::Relaxed);
            self.bytes = bytes;
        }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.budget.used.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// The sessions that are known, and what is reserved for them.
#[derive(Debug)]
pub(super) struct Remembered {
    sessions: Sessions,
    share: Share,
}

impl Remembered {
    pub(super) fn new(sessions: Sessions, budget: &Arc<Budget>) -> Mutex<Remembered> {
        Mutex::new(Remembered {
            sessions,
            share: Share::none(budget),
        })
    }
}

impl App {
    /// The session `id`, made if there is none.
    pub(super) fn known_session(&self, id: &str) -> SharedSession {
        let mut known = lock(&self.remembered);
        let session = known.sessions.get(id, self.now());
        let bytes = known.sessions.bytes();
        known.share.force(bytes);
        session
    }

    /// Reserves `bytes` for `share` in all. Idle sessions make room.
    pub(super) fn reserve(&self, share: &mut Share, bytes: usize) -> Result<(), Full> {
        if share.set(bytes).is_ok() {
            return Ok(());
        }
        let missing = bytes.saturating_sub(share.bytes);
        self.forget_idle(missing.max(self.budget.max / FREED_AT_ONCE));
        share.set(bytes)
    }

    /// A share of so many bytes.
    pub(super) fn share(&self, bytes: usize) -> Result<Share, Full> {
        let mut share = Share::none(&self.budget);
        self.reserve(&mut share, bytes)?;
        Ok(share)
    }

    fn forget_idle(&self, bytes: usize) {
        let mut known = lock(&self.remembered);
        let forgotten = known.sessions.forget_idle(bytes);
        drop(known);
        // Their memory is free before it counts as free.
        drop(forgotten);
        let mut known = lock(&self.remembered);
        let bytes = known.sessions.bytes();
        known.share.force(bytes);
    }

    /// Notes what a session takes now, of which `share` was reserved while it grew. A session that
    /// finds no room is forgotten as soon as nobody uses it.
    fn weigh(&self, id: &str, bytes: usize, share: Share) -> Result<(), Full> {
        let mut known = lock(&self.remembered);
        known.sessions.weigh(id, bytes);
        drop(share);
        let all = known.sessions.bytes();
        if known.share.set(all).is_ok() {
            return Ok(());
        }
        let missing = all.saturating_sub(known.share.bytes);
        let forgotten = known.sessions.forget_idle(missing);
        let all = known.sessions.bytes();
        let fits = known.share.set(all);
        if fits.is_err() {
            known.sessions.forget(id);
            let all = known.sessions.bytes();
            known.share.force(all);
        }
        drop(known);
        drop(forgotten);
        fits
    }
}

/// What a conversation takes while it is read.
#[derive(Debug)]
pub(super) struct Growth<'a> {
    app: &'a App,
    share: RefCell<Share>,
    is_full: Cell<bool>,
}

impl<'a> Growth<'a> {
    pub(super) fn new(app: &'a App) -> Self {
        Growth {
            app,
            share: RefCell::new(Share::none(&app.budget)),
            is_full: Cell::new(false),
        }
    }

    /// The session `id` has been read and takes `bytes` now.
    pub(super) fn end(self, id: &str, bytes: usize) -> Result<(), Full> {
        self.app.weigh(id, bytes, self.share.into_inner())?;
        if self.is_full.get() {
            return Err(Full);
        }
        Ok(())
    }
}

impl Room for Growth<'_> {
    fn take(&self, bytes: usize) -> bool {
        let mut share = self.share.borrow_mut();
        let sum = share.bytes + bytes;
        let taken = !self.is_full.get() && self.app.reserve(&mut share, sum).is_ok();
        self.is_full.set(!taken);
        taken
    }
}

/// What a guarded stream takes.
#[derive(Debug)]
pub(crate) struct StreamLoad {
    share: Share,
    /// Values that may be among what is kept.
    values: usize,
    _busy: Busy,
}

impl StreamLoad {
    pub(super) fn new(share: Share, busy: Busy) -> Self {
        StreamLoad {
            share,
            values: 0,
            _busy: busy,
        }
    }

    pub(super) fn share(&mut self) -> &mut Share {
        &mut self.share
    }

    /// Whether there is room for a chunk beside the `kept` bytes, and for reading all of it.
    pub(crate) fn takes(&mut self, app: &App, chunk: &[u8], kept: usize) -> bool {
        // Commas and the like also hide behind escapes, and a text may be JSON once more.
        let is_mark = |b: &&u8| matches!(**b, b',' | b':' | b'[' | b'{' | b'\\');
        self.values += chunk.iter().filter(is_mark).count();
        let read = self.values * VALUE_BYTES;
        let bytes = 2 * (kept + chunk.len()) + read;
        app.reserve(&mut self.share, bytes.max(REQUEST_BYTES))
            .is_ok()
    }

    /// Notes that `kept` bytes are held and `ready` ones wait for the client.
    pub(crate) fn keeps(&mut self, kept: usize, ready: usize) {
        self.values = self.values.min(kept);
        let bytes = 2 * kept + ready + self.values * VALUE_BYTES;
        self.share.force(bytes.max(REQUEST_BYTES));
    }
}

/// What it takes to read `json`: it stands for itself and for the values in it.
pub(super) fn to_read(json: &[u8]) -> usize {
    let mut values = 1;
    let mut rest = json.iter();
    while let Some(byte) = rest.next() {
        match byte {
            b',' | b':' | b'[' | b'{' => values += 1,
            b'"' => loop {
                let text = rest.as_slice();
                let Some(at) = memchr::memchr2(b'"', b'\\', text) else {
                    return json.len() + values * VALUE_BYTES;
                };
                let ends = text.get(at) == Some(&b'"');
                // An escape and what it stands before.
                let after = if ends { at + 1 } else { at + 2 };
                rest = text.get(after..).unwrap_or_default().iter();
                if ends {
                    break;
                }
            },
            _ => {}
        }
    }
    json.len() + values * VALUE_BYTES
}

/// Tells how often something happened, by rule, and at most once in a while: a flood must not fill
/// the ledger.
#[derive(Debug, Default)]
pub(super) struct Seldom(Mutex<HashMap<&'static str, (Duration, u64)>>);

/// How often it is reported.
const SELDOM: Duration = Duration::from_secs(10);

impl Seldom {
    /// How often it has happened since the last report, if it is time for another one.
    fn note(&self, rule: &'static str, now: Duration) -> Option<u64> {
        let mut told = lock(&self.0);
        match told.get_mut(rule) {
            Some((last, since)) if now.saturating_sub(*last) < SELDOM => {
                *since += 1;
                None
            }
            before => {
                let since = before.map_or(0, |(_, since)| *since);
                told.insert(rule, (now, 0));
                Some(since + 1)
            }
        }
    }
}

impl App {
    /// Records a refusal of which there may be a flood.
    pub(super) fn record_seldom(&self, rule: &'static str, message: &str) {
        let Some(times) = self.seldom.note(rule, self.now()) else {
            return;
        };
        let message = match times {
            1 => message.to_owned(),
            times => format!("{message} ({times} times since it was last recorded)"),
        };
        let id = format!("{}-0", self.response_id());
        let record = Record::of_response(id, "none".to_owned(), rule, &message);
        crate::log::warn(&message);
        drop(self.records.write(record));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_and_come_back() {
        let budget = Budget::new(100);
        let mut one = Share::none(&budget);
        let mut other = Share::none(&budget);
        assert_eq!(one.set(60), Ok(()));
        assert_eq!(other.set(60), Err(Full));
        assert_eq!(other.set(40), Ok(()));
        assert_eq!(one.set(61), Err(Full));
        assert_eq!(one.set(10), Ok(()));
        assert_eq!(budget.used(), (50, 100));
        other.force(95);
        assert_eq!(budget.used(), (105, 105));
        drop((one, other));
        assert_eq!(budget.used(), (0, 105));
    }

    #[test]
    fn values_are_counted_outside_of_texts() {
        let values = |json: &str| (to_read(json.as_bytes()) - json.len()) / VALUE_BYTES;
        assert_eq!(values("1"), 1);
        assert_eq!(values("[1,1,1]"), 4);
        assert_eq!(values(r#"{"a,b":"[,\",{","c":1}"#), 5);
        assert_eq!(values(r#"[",,,"#), 2);
        assert_eq!(values(r#"["\"#), 2);
    }

    #[test]
    fn a_flood_is_told_seldom_and_counted() {
        let seldom = Seldom::default();
        let at = Duration::from_secs;
        assert_eq!(seldom.note("a", at(1)), Some(1));
        assert_eq!(seldom.note("a", at(2)), None);
        assert_eq!(seldom.note("b", at(2)), Some(1));
        assert_eq!(seldom.note("a", at(9)), None);
        assert_eq!(seldom.note("a", at(12)), Some(3));
    }
}
