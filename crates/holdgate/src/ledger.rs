//! The ledger: every decision is one line, chained by hashes, written before its bytes leave.
//!
//! Several processes may share a state directory: each append takes a lock and looks whether
//! another has written since. A line that a crash tore is set aside when the file is next opened.

mod files;
mod verify;

pub use files::files;
pub use verify::{Verified, verify};

use crate::config::LedgerSettings;
use files::{CURRENT, last_line, newest_rotated, private};
use holdgate_core::incident::{Action, Members, Record, Subject};
use holdgate_core::json::{Json, LoneSurrogates};
use holdgate_core::verdict::Finding;
use sha2::{Digest, Sha256};
use std::fs::{File, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

/// The hash before the first record.
const GENESIS: &str = "0000000000000000000000000000000000000000000000000000000000000000";
/// How long to wait for another process that writes.
const LOCK_PATIENCE: Duration = Duration::from_millis(250);

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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Calls that were decided about.
    pub calls: u64,
    /// Those that were refused.
    pub refused: u64,
    /// The longest time that judging one took.
    pub slowest: Duration,
}

impl Tally {
    fn count(&mut self, record: &Record) {
        // A question is not the decision.
        if let (Subject::Call { judged, .. }, true) =
            (&record.subject, record.action != Action::Asked)
        {
            self.calls += 1;
            self.refused += u64::from(record.action != Action::Sent);
            self.slowest = self.slowest.max(*judged);
        }
    }
}

#[derive(Debug)]
struct Current {
    file: File,
    inode: u64,
    len: u64,
    /// The number and hash of the last record.
    seq: u64,
    hash: String,
}

/// A line that was torn, and where it went.
#[derive(Debug)]
struct Repair {
    bytes: u64,
    kept_in: PathBuf,
}

impl Ledger {
    /// Opens or makes the ledger in `dir`, and repairs its end if a crash tore it.
    pub fn open(dir: &Path, settings: LedgerSettings) -> io::Result<Ledger> {
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(dir)?;
        // The directory itself is the lock: nobody can delete it from under us.
        let lock = File::open(dir)?;
        let guard = take_lock(&lock)?;
        let (mut current, repair) = Current::open(dir)?;
        if let Some(repair) = repair {
            current.note_repair(&repair)?;
        }
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
        let mut tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
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
        *self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, members: &Members) -> io::Result<()> {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        let _guard = take_lock(&self.lock)?;
        if !current.is_latest(&self.dir) {
            current.catch_up(&self.dir)?;
        }
        if current.len >= self.settings.max_bytes {
            current.rotate(&self.dir)?;
        }
        current.write(members)?;
        if self.settings.sync {
            current.file.sync_data()?;
        }
        Ok(())
    }
}

impl Current {
    /// Opens the file and finds its last record. The caller holds the lock.
    fn open(dir: &Path) -> io::Result<(Current, Option<Repair>)> {
        let path = dir.join(CURRENT);
        let mut file = private()
            .create(true)
            .truncate(false)
            .append(true)
            .open(&path)?;
        let metadata = file.metadata()?;
        let (len, tail) = last_line(&mut file, metadata.len())?;
        let mut repair = None;
        if len < metadata.len() {
            let stamp = humantime::format_rfc3339_seconds(SystemTime::now());
            let kept_in = dir.join(format!("ledger-torn-{stamp}.txt"));
            let mut torn = Vec::new();
            file.seek(SeekFrom::Start(len))?;
            file.read_to_end(&mut torn)?;
            private()
                .create(true)
                .truncate(true)
                .open(&kept_in)?
                .write_all(&torn)?;
            file.set_len(len)?;
            let bytes = metadata.len() - len;
            repair = Some(Repair { bytes, kept_in });
        }
        let last = match tail {
            Some(line) => Some(line),
            None => newest_rotated(dir)?,
        };
        let (seq, hash) = match last {
            None => (0, GENESIS.to_owned()),
            Some(line) => seq_and_hash(&line).ok_or_else(|| {
                let text = format!(
                    "{}: the last line is no record; see `holdgate ledger verify`, then move the file away",
                    path.display()
                );
                io::Error::new(io::ErrorKind::InvalidData, text)
            })?,
        };
        let current = Current {
            file,
            inode: metadata.ino(),
            len,
            seq,
            hash,
        };
        Ok((current, repair))
    }

    /// Writes a record with these members.
    fn write(&mut self, members: &Members) -> io::Result<()> {
        let seq = self.seq + 1;
        let time = humantime::format_rfc3339_micros(SystemTime::now());
        let prev = &self.hash;
        let members = members.as_str();
        let body = format!("{{\"seq\":{seq},\"time\":\"{time}\",{members},\"prev\":\"{prev}\"}}");
        let hash = hash(&body);
        let line = seal(&body, &hash) + "\n";
        if let Err(error) = self.file.write_all(line.as_bytes()) {
            // Half a line must not stay: the next record would be glued to it.
            let _ = self.file.set_len(self.len);
            return Err(error);
        }
        self.len += line.len() as u64;
        self.seq = seq;
        self.hash = hash;
        Ok(())
    }

    /// A record about the ledger itself.
    fn note(&mut self, action: &'static str, reason: &str) -> io::Result<()> {
        crate::log::warn(reason);
        let mut members = Members::default();
        members.word("subject", "ledger");
        members.word("verdict", "audit");
        members.word("action", action);
        members.text("reason", reason);
        self.write(&members)
    }

    fn note_repair(&mut self, repair: &Repair) -> io::Result<()> {
        let reason = format!(
            "the ledger ended in the middle of a line; its {} bytes are now in {}",
            repair.bytes,
            repair.kept_in.display()
        );
        self.note("torn-line-repaired", &reason)
    }

    /// Reads what another process has written since. If records that we know of are gone, the
    /// chain goes on from them, so that `verify` finds the gap.
    fn catch_up(&mut self, dir: &Path) -> io::Result<()> {
        let (mut latest, repair) = Current::open(dir)?;
        let rolled_back =
            latest.seq < self.seq || (latest.seq == self.seq && latest.hash != self.hash);
        if rolled_back {
            latest.seq = self.seq;
            latest.hash.clone_from(&self.hash);
        }
        let known = std::mem::replace(self, latest).seq;
        if rolled_back {
            let reason = format!(
                "the ledger's records up to {known} were taken out or changed while it was in use"
            );
            self.note("rollback-found", &reason)?;
        }
        if let Some(repair) = repair {
            self.note_repair(&repair)?;
        }
        Ok(())
    }

    /// Whether nobody else has written or rotated since.
    fn is_latest(&self, dir: &Path) -> bool {
        std::fs::metadata(dir.join(CURRENT))
            .is_ok_and(|m| m.ino() == self.inode && m.len() == self.len)
    }

    fn rotate(&mut self, dir: &Path) -> io::Result<()> {
        let kept = dir.join(format!("ledger-{:012}.jsonl", self.seq));
        std::fs::rename(dir.join(CURRENT), kept)?;
        (*self, _) = Current::open(dir)?;
        Ok(())
    }
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

fn seq_and_hash(line: &str) -> Option<(u64, String)> {
    let json = Json::read(line.as_bytes(), 128, LoneSurrogates::Refuse).ok()?;
    let hash = json.get("hash")?.as_str()?.to_owned();
    Some((json.get("seq")?.as_u64()?, hash))
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

fn seal(body: &str, hash: &str) -> String {
    let open = body.strip_suffix('}').unwrap_or(body);
    format!("{open},\"hash\":\"{hash}\"}}")
}

#[cfg(test)]
mod tests;
