//! The ledger: every decision is one line, chained by hashes, written before its bytes leave.
//!
//! Several processes may share a state directory: each append takes a lock and looks whether
//! another has written since. A line that a crash tore is set aside when the file is next opened.

use crate::config::LedgerSettings;
use holdgate_core::incident::{Action, Record, Subject};
use holdgate_core::json::{Json, LoneSurrogates, write_string};
use holdgate_core::verdict::Finding;
use sha2::{Digest, Sha256};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

const CURRENT: &str = "ledger.jsonl";
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
        let mut members = String::with_capacity(1024);
        record.write(self.settings.input_bytes, &mut members);
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
        let mut members = format!(
            "\"subject\":\"{subject}\",\"verdict\":\"{}\",\"action\":\"{action}\",\"findings\":",
            finding.verdict.word()
        );
        members.push_str(&Json::Array(vec![finding.to_json()]).text());
        self.write(&members)
    }

    /// Writes a record with these members.
    pub(crate) fn append_members(&self, members: &str) -> io::Result<()> {
        self.write(members)
    }

    /// What was decided about calls since this was opened.
    pub fn tally(&self) -> Tally {
        *self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, members: &str) -> io::Result<()> {
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
    fn write(&mut self, members: &str) -> io::Result<()> {
        let seq = self.seq + 1;
        let time = humantime::format_rfc3339_micros(SystemTime::now());
        let prev = &self.hash;
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
        let mut members = format!(
            "\"subject\":\"ledger\",\"verdict\":\"audit\",\"action\":\"{action}\",\"reason\":"
        );
        write_string(reason, &mut members);
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

/// Files only for the user.
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).mode(0o600);
    options
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

/// The last whole line, and where it ends.
fn last_line(file: &mut File, len: u64) -> io::Result<(u64, Option<String>)> {
    let mut tail = Vec::new();
    let mut from = len;
    loop {
        // Grows by doubling, so that a long line costs no more than twice its length.
        let step = (tail.len() as u64).max(64 << 10).min(from);
        from -= step;
        let mut piece = vec![0; usize::try_from(step).unwrap_or_default()];
        file.seek(SeekFrom::Start(from))?;
        file.read_exact(&mut piece)?;
        piece.extend_from_slice(&tail);
        tail = piece;
        let Some(end) = tail.iter().rposition(|&b| b == b'\n') else {
            if from == 0 {
                return Ok((0, None));
            }
            continue;
        };
        let line = tail.get(..end).unwrap_or_default();
        let start = line.iter().rposition(|&b| b == b'\n');
        if start.is_none() && from > 0 {
            continue;
        }
        let line = line.get(start.map_or(0, |s| s + 1)..).unwrap_or_default();
        let whole = from + end as u64 + 1;
        return Ok((whole, Some(String::from_utf8_lossy(line).into_owned())));
    }
}

fn newest_rotated(dir: &Path) -> io::Result<Option<String>> {
    let mut files = files(dir)?;
    files.retain(|path| !path.ends_with(CURRENT));
    let Some(path) = files.pop() else {
        return Ok(None);
    };
    let mut file = File::open(path)?;
    let len = file.metadata()?.len();
    Ok(last_line(&mut file, len)?.1)
}

/// The files of the ledger, oldest first.
pub fn files(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut rotated = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        let name = path
            .file_name()
            .and_then(|n| n.to_str())
            .unwrap_or_default();
        let number = name
            .strip_prefix("ledger-")
            .and_then(|n| n.strip_suffix(".jsonl"));
        if number.is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit())) {
            rotated.push(path);
        }
    }
    rotated.sort();
    let current = dir.join(CURRENT);
    if current.exists() {
        rotated.push(current);
    }
    Ok(rotated)
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

/// What a check of the whole ledger found.
#[derive(Debug)]
pub struct Verified {
    /// Records.
    pub records: u64,
    /// Files.
    pub files: usize,
    /// The numbers of the first and last record.
    pub range: Option<(u64, u64)>,
    /// The last hash.
    pub hash: String,
}

/// Checks every line of the ledger in `dir`; the error says where it breaks.
pub fn verify(dir: &Path) -> anyhow::Result<Verified> {
    use anyhow::{Context as _, bail};
    let files = files(dir).with_context(|| format!("{}", dir.display()))?;
    let mut verified = Verified {
        records: 0,
        files: files.len(),
        range: None,
        hash: GENESIS.to_owned(),
    };
    for path in &files {
        let mut reader = BufReader::new(File::open(path)?);
        let mut line = String::new();
        for number in 1.. {
            line.clear();
            if reader.read_line(&mut line)? == 0 {
                break;
            }
            let at = format!("{}:{number}", path.display());
            let Some(text) = line.strip_suffix('\n') else {
                bail!("{at}: the last line is torn; it is repaired when holdgate next writes");
            };
            let json = Json::read(text.as_bytes(), 128, LoneSurrogates::Refuse)
                .with_context(|| format!("{at}: not a record"))?;
            let field = |key: &str| json.get(key).and_then(Json::as_str).unwrap_or_default();
            let seq = json.get("seq").and_then(Json::as_u64).unwrap_or_default();
            let body = text.strip_suffix(&format!(",\"hash\":\"{}\"}}", field("hash")));
            let Some(body) = body.map(|body| format!("{body}}}")) else {
                bail!("{at}: record {seq} has no hash at its end");
            };
            if hash(&body) != field("hash") {
                bail!("{at}: record {seq} was changed");
            }
            match verified.range {
                // Older files may have been archived elsewhere: the chain starts where it starts.
                None if seq == 1 && field("prev") != GENESIS => {
                    bail!("{at}: record 1 does not begin the chain");
                }
                None => verified.range = Some((seq, seq)),
                Some((first, last)) => {
                    if field("prev") != verified.hash || seq != last + 1 {
                        bail!("{at}: record {seq} does not follow record {last}");
                    }
                    verified.range = Some((first, seq));
                }
            }
            field("hash").clone_into(&mut verified.hash);
            verified.records += 1;
        }
    }
    Ok(verified)
}

#[cfg(test)]
mod tests;
