//! The ledger: every decision is one line, chained by hashes, sealed, written before its bytes leave.
//!
//! Several processes may share a state directory: each append takes a lock and looks whether
//! another has written since. A line that a crash tore is set aside when the file is next opened.

pub mod blocked;
pub mod command;
mod current;
mod files;
mod place;
mod seal;
mod verify;

pub use files::files;
pub(crate) use files::{private, readable, records, tail};
pub use seal::Seed;
pub use verify::{Seals, Verified, verify, verify_sealed};

use crate::config::LedgerSettings;
use crate::threads::{lock, runtime};
use current::Current;
use holdgate_core::{Action, Finding, Members, Record, Subject, Verdict};
use sha2::{Digest, Sha256};
use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};

/// The hash before the first record.
const GENESIS: &str = "0000000000000000000000000000000000000000000000000000000000000000";
/// How long to wait for another process that writes.
const LOCK_PATIENCE: Duration = Duration::from_secs(2);

/// An open ledger.
#[derive(Debug)]
pub struct Ledger {
    dir: PathBuf,
    settings: LedgerSettings,
    lock: File,
    current: Mutex<Current>,
    tally: Mutex<Tally>,
}

/// Decisions about calls, counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Calls that were decided about.
    pub calls: u64,
    /// Those that were refused.
    pub refused: u64,
    /// Decisions that `holdgate incidents` shows: all that are not plain `allow`.
    pub incidents: u64,
    /// The longest time that judging one took.
    pub slowest: Duration,
    /// The worst that was refused; of several, the first.
    pub worst: Option<Worst>,
}

/// A refused call, in a few words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Worst {
    verdict: Verdict,
    /// The incident.
    pub id: String,
    /// The rule that refused it.
    pub rule: String,
    /// Why, as a clause.
    pub reason: String,
}

impl Tally {
    fn count(&mut self, record: &Record) {
        // A question is not the decision.
        if record.action == Action::Asked {
            return;
        }
        self.incidents += u64::from(record.verdict != Verdict::Allow);
        if let Subject::Call { judged, .. } = &record.subject {
            self.calls += 1;
            self.slowest = self.slowest.max(*judged);
            if record.action != Action::Sent {
                self.refused += 1;
                self.note_worst(record);
            }
        }
    }

    fn note_worst(&mut self, record: &Record) {
        let strictest = record.findings.iter().rev().max_by_key(|f| f.verdict);
        let known = self.worst.as_ref().map(|worst| worst.verdict);
        if let Some(finding) = strictest.filter(|f| known.is_none_or(|known| known < f.verdict)) {
            self.worst = Some(Worst {
                verdict: finding.verdict,
                id: record.id.clone(),
                rule: finding.rule.to_string(),
                reason: finding.reason.clone(),
            });
        }
    }
}

impl Ledger {
    /// Opens or makes the ledger in `dir`, and repairs its end if a crash tore it. Others must not be
    /// able to write to `dir`.
    pub fn open(dir: &Path, settings: LedgerSettings) -> io::Result<Ledger> {
        place::prepare(dir)?;
        outlive_file_size_limit()?;
        // The directory itself is the lock: nobody can delete it from under us.
        let lock = File::open(dir)?;
        let guard = take_lock(&lock)?;
        let (mut current, notes) = Current::open(dir)?;
        current.note(dir, &notes)?;
        drop(guard);
        Ok(Ledger {
            dir: dir.to_owned(),
            settings,
            lock,
            current: Mutex::new(current),
            tally: Mutex::default(),
        })
    }

    /// Writes one decision. When this returns, the line survives the death of the process.
    pub fn append(&self, record: &Record) -> io::Result<()> {
        let members = record.members(self.settings.input_bytes);
        if record.expert {
            crate::expert::warn_of(record);
        }
        self.write(&members)?;
        // The decision is recorded already; a copy that is missing changes nothing about it.
        let guard = lock(&self.current);
        if let Err(error) = blocked::write(&self.dir, record, self.settings.input_bytes) {
            crate::log::warn(&format!("cannot write {}: {error}", blocked::FILE));
        }
        drop(guard);
        let mut tally = lock(&self.tally);
        tally.count(record);
        Ok(())
    }

    /// Writes what happened to Holdgate itself, such as rules that could not be loaded.
    pub fn append_event(&self, subject: &str, action: &str, finding: &Finding) -> io::Result<()> {
        let mut members = Members::default();
        members.text("subject", subject);
        members.word("verdict", finding.verdict.word());
        members.text("action", action);
        members.findings(std::slice::from_ref(finding));
        self.write(&members)
    }

    /// Writes a record with these members.
    pub(crate) fn append_members(&self, members: &Members) -> io::Result<()> {
        self.write(members)
    }

    /// What was decided about calls since this was opened.
    pub fn tally(&self) -> Tally {
        lock(&self.tally).clone()
    }

    /// Begins an epoch. With its seed, all its records can be checked; nobody else has the seed.
    pub fn seal(&self) -> io::Result<Seed> {
        let mut current = lock(&self.current);
        let _guard = take_lock(&self.lock)?;
        self.catch_up(&mut current)?;
        current.begin_epoch(&self.dir)
    }

    fn write(&self, members: &Members) -> io::Result<()> {
        let mut current = lock(&self.current);
        let _guard = take_lock(&self.lock)?;
        self.catch_up(&mut current)?;
        current.make_room(&self.dir, self.settings)?;
        current.write(&self.dir, members, self.settings.sync)
    }

    /// Nothing is written while this is kept.
    #[cfg(test)]
    pub(crate) fn pause(&self) -> impl Drop + '_ {
        lock(&self.current)
    }

    fn catch_up(&self, current: &mut Current) -> io::Result<()> {
        if current.is_latest(&self.dir) {
            return Ok(());
        }
        let notes = current.catch_up(&self.dir)?;
        current.note(&self.dir, &notes)
    }
}

/// At a limit on the size of files, the system ends a process by SIGXFSZ unless it handles that. With
/// a handler, the write fails, and the decision is refused as one that cannot be recorded.
fn outlive_file_size_limit() -> io::Result<()> {
    let number = rustix::process::Signal::XFSZ.as_raw();
    let runtime = runtime()?;
    // The handler stays for as long as the process lives.
    let handled = {
        let _context = runtime.enter();
        signal(SignalKind::from_raw(number)).map(drop)
    };
    runtime.shutdown_background();
    handled
}

/// Releases the lock when it goes.
struct LockGuard<'f>(&'f File);

impl Drop for LockGuard<'_> {
    fn drop(&mut self) {
        // Closing the file releases it too.
        let _ = self.0.unlock();
    }
}

fn take_lock(file: &File) -> io::Result<LockGuard<'_>> {
    let step = Duration::from_millis(1);
    let mut waited = Duration::ZERO;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(LockGuard(file)),
            Err(TryLockError::WouldBlock) if waited < LOCK_PATIENCE => {
                std::thread::sleep(step);
                waited += step;
            }
            Err(error) => return Err(error.into()),
        }
    }
}

fn hash(body: &str) -> String {
    hex(&Sha256::digest(body))
}

/// Bytes as hex digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(u32::from(value), 16).unwrap_or('?');
    bytes
        .iter()
        .flat_map(|b| [digit(b >> 4), digit(b & 15)])
        .collect()
}

/// A key that is written as hex digits.
pub(crate) fn key_of(text: &str) -> Option<[u8; 32]> {
    let mut key = [0; 32];
    if text.len() != 64 {
        return None;
    }
    for (at, byte) in key.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    Some(key)
}

#[cfg(test)]
mod sealing_tests;
#[cfg(test)]
mod tests;
