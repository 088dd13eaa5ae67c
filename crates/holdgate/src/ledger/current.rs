//! The file that is written to, and how a record becomes a line of it. Whoever calls holds the
//! lock.

use super::files::{CURRENT, last_line, newest_rotated, private, surplus};
use super::seal::{KeyFile, Seed};
use super::{GENESIS, hash};
use crate::config::LedgerSettings;
use holdgate_core::Members;
use holdgate_effects::json::{Json, LoneSurrogates};
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The action of the record that ends an epoch: all records of the epoch are there if it is.
pub(super) const ENDED: &str = "seal-ended";
/// The action of the record that reports missing records before it.
pub(super) const MISSING: &str = "records-missing";
/// The member that says up to which record old ones were deleted.
pub(super) const DELETED_TO: &str = "deleted_to";

#[derive(Debug)]
pub(super) struct Current {
    file: File,
    inode: u64,
    len: u64,
    /// The number and hash of the last record.
    seq: u64,
    hash: String,
    /// The key of the next record; a new epoch begins if there is none.
    key: Option<KeyFile>,
}

/// Something about the ledger itself that has to be in it.
#[derive(Debug)]
pub(super) enum Note {
    /// A line was torn; this many bytes are now in this file.
    Torn { bytes: u64, kept_in: PathBuf },
    /// The key says that there were more records.
    Missing { from: u64, to: u64 },
    /// The last record was sealed, and there is no key for the next one.
    KeyGone,
    /// What a running process has written is not there any more.
    RolledBack { known: u64 },
}

impl Note {
    fn action(&self) -> &'static str {
        match self {
            Note::Torn { .. } => "torn-line-repaired",
            Note::Missing { .. } => MISSING,
            Note::KeyGone => "seal-key-missing",
            Note::RolledBack { .. } => "rollback-found",
        }
    }

    fn reason(&self) -> String {
        match self {
            Note::Torn { bytes, kept_in } => format!(
                "the ledger ended with an incomplete line; its {bytes} bytes were moved to {}",
                kept_in.display()
            ),
            Note::Missing { from, to } => format!(
                "records {from} to {to} are missing at the end of the ledger: they were \
                 removed, or lost when the machine stopped"
            ),
            Note::KeyGone => "the key of the ledger is missing or cannot be used, so a new \
                              sealed epoch starts; see `holdgate ledger seal`"
                .to_owned(),
            Note::RolledBack { known } => format!(
                "records of the ledger up to {known} were removed or changed while it was in use"
            ),
        }
    }
}

impl Current {
    /// Opens the file and finds its last record and the key of the next.
    pub(super) fn open(dir: &Path) -> io::Result<(Current, Vec<Note>)> {
        let path = dir.join(CURRENT);
        let mut file = private(&path, |o| o.create(true).truncate(false).append(true))?;
        let mut notes = Vec::new();
        let metadata = file.metadata()?;
        let (len, tail) = last_line(&mut file, metadata.len())?;
        if len < metadata.len() {
            let kept_in = set_aside(&mut file, len, dir)?;
            let bytes = metadata.len() - len;
            notes.push(Note::Torn { bytes, kept_in });
        }
        let last = match tail {
            Some(line) => Some(line),
            None => newest_rotated(dir)?,
        };
        let last = match last {
            None => Last::default(),
            Some(line) => Last::read(&line).ok_or_else(|| {
                let text = format!(
                    "{}: the last line is not a record; run `holdgate ledger verify`, then \
                     move the file away",
                    path.display()
                );
                io::Error::new(io::ErrorKind::InvalidData, text)
            })?,
        };
        let mut current = Current {
            file,
            inode: metadata.ino(),
            len,
            seq: last.seq,
            hash: last.hash,
            key: KeyFile::open(dir)?,
        };
        let fits = match &mut current.key {
            Some(key) if key.sealing.next > last.seq + 1 => {
                let (from, to) = (last.seq + 1, key.sealing.next - 1);
                notes.push(Note::Missing { from, to });
                current.seq = to;
                true
            }
            Some(key) => key.advance_to(last.seq + 1)?,
            None => !last.sealed,
        };
        if !fits {
            notes.push(Note::KeyGone);
            current.key = None;
        }
        Ok((current, notes))
    }

    /// Reads what another process has written since. If records that we know of are gone, the
    /// chain goes on from them, so that `verify` finds the gap.
    pub(super) fn catch_up(&mut self, dir: &Path) -> io::Result<Vec<Note>> {
        let (mut latest, mut notes) = Current::open(dir)?;
        let rolled_back =
            latest.seq < self.seq || (latest.seq == self.seq && latest.hash != self.hash);
        if rolled_back {
            notes.retain(|note| !matches!(note, Note::Missing { .. }));
            notes.push(Note::RolledBack { known: self.seq });
            latest.seq = self.seq;
            latest.hash.clone_from(&self.hash);
            if let (Some(latest), Some(own)) = (&mut latest.key, &self.key) {
                latest.go_on_from(&own.sealing)?;
            }
        }
        *self = latest;
        Ok(notes)
    }

    /// Whether nobody else has written or rotated since.
    pub(super) fn is_latest(&self, dir: &Path) -> bool {
        std::fs::symlink_metadata(dir.join(CURRENT))
            .is_ok_and(|m| m.ino() == self.inode && m.len() == self.len)
            && self.key.as_ref().is_none_or(|key| key.is_in(dir))
    }

    /// Writes a record with these members. It is there as a whole, and its key is gone, or nothing
    /// has changed.
    pub(super) fn write(&mut self, dir: &Path, members: &Members, sync: bool) -> io::Result<()> {
        let seq = self.seq + 1;
        let key = match &mut self.key {
            Some(key) => key,
            // A seed that nobody has: the seals cannot be checked, but they cannot be made either.
            None => self.key.insert(KeyFile::begin(dir, seq)?.0),
        };
        let time = humantime::format_rfc3339_micros(SystemTime::now());
        let (members, prev, epoch) = (members.as_str(), &self.hash, key.sealing.first);
        let body = format!(
            "{{\"seq\":{seq},\"time\":\"{time}\",{members},\"prev\":\"{prev}\",\"epoch\":{epoch}}}"
        );
        let sealed = with(&body, "seal", &key.sealing.key.seal(&body));
        let hash = hash(&sealed);
        let line = with(&sealed, "hash", &hash) + "\n";
        let written = self.file.write_all(line.as_bytes()).and_then(|()| {
            if sync {
                // Before the key: a key without its record would look like one that was taken out.
                self.file.sync_data()?;
            }
            key.advance()
        });
        if let Err(error) = written {
            // Half a line must not stay: the next record would be glued to it.
            let _ = self.file.set_len(self.len);
            return Err(error);
        }
        self.len += line.len() as u64;
        self.seq = seq;
        self.hash = hash;
        Ok(())
    }

    /// Writes records about the ledger itself.
    pub(super) fn note(&mut self, dir: &Path, notes: &[Note]) -> io::Result<()> {
        for note in notes {
            let reason = note.reason();
            crate::log::warn(&reason);
            self.write(dir, &about("audit", note.action(), &reason), false)?;
        }
        Ok(())
    }

    /// Ends the epoch and begins the next one, whose seed is known.
    pub(super) fn begin_epoch(&mut self, dir: &Path) -> io::Result<Seed> {
        if self.key.is_some() {
            let reason = "the operator has begun a new epoch, from the next record on";
            self.write(dir, &about("audit", ENDED, reason), false)?;
        }
        let (key, seed) = KeyFile::begin(dir, self.seq + 1)?;
        self.key = Some(key);
        let reason = "records are sealed from here on, and the operator has the seed";
        self.write(dir, &about("audit", "seal-began", reason), true)?;
        Ok(seed)
    }

    /// Begins a new file if this one is large, and deletes the oldest ones.
    pub(super) fn make_room(&mut self, dir: &Path, settings: LedgerSettings) -> io::Result<()> {
        if self.len < settings.max_bytes {
            return Ok(());
        }
        let kept = dir.join(format!("ledger-{:012}.jsonl", self.seq));
        std::fs::rename(dir.join(CURRENT), kept)?;
        let notes;
        (*self, notes) = Current::open(dir)?;
        self.note(dir, &notes)?;
        if settings.keep_bytes == 0 {
            return Ok(());
        }
        let room = settings.keep_bytes.saturating_sub(settings.max_bytes);
        let (gone, up_to) = surplus(dir, room)?;
        if gone.is_empty() {
            return Ok(());
        }
        let reason = format!("records up to {up_to} were deleted because of ledger.keep_bytes");
        let mut members = about("allow", "old-records-deleted", &reason);
        members.number(DELETED_TO, up_to);
        // Record first, then act: a gap that no record reports is suspicious.
        self.write(dir, &members, settings.sync)?;
        for path in gone {
            std::fs::remove_file(path)?;
        }
        Ok(())
    }
}

/// The members of a record about the ledger itself.
fn about(verdict: &'static str, action: &'static str, reason: &str) -> Members {
    let mut members = Members::default();
    members.word("subject", "ledger");
    members.word("verdict", verdict);
    members.word("action", action);
    members.text("reason", reason);
    members
}

/// Moves what comes after `len` into a file of its own.
fn set_aside(file: &mut File, len: u64, dir: &Path) -> io::Result<PathBuf> {
    let stamp = humantime::format_rfc3339_seconds(SystemTime::now());
    let kept_in = dir.join(format!("ledger-torn-{stamp}.txt"));
    let mut torn = Vec::new();
    file.seek(SeekFrom::Start(len))?;
    file.read_to_end(&mut torn)?;
    private(&kept_in, |o| o.create(true).truncate(true))?.write_all(&torn)?;
    file.set_len(len)?;
    Ok(kept_in)
}

/// What matters of the last record.
struct Last {
    seq: u64,
    hash: String,
    sealed: bool,
}

impl Default for Last {
    fn default() -> Last {
        Last {
            seq: 0,
            hash: GENESIS.to_owned(),
            sealed: false,
        }
    }
}

impl Last {
    fn read(line: &str) -> Option<Last> {
        let json = Json::read(line.as_bytes(), 128, LoneSurrogates::Refuse).ok()?;
        // A number that cannot be counted on from is not one of ours.
        let seq = json.get("seq")?.as_u64().filter(|seq| *seq < 1 << 62)?;
        let hash = json.get("hash")?.as_str()?.to_owned();
        let sealed = json.get("seal").is_some();
        Some(Last { seq, hash, sealed })
    }
}

/// The object with one more member.
fn with(body: &str, key: &str, value: &str) -> String {
    let open = body.strip_suffix('}').unwrap_or(body);
    format!("{open},\"{key}\":\"{value}\"}}")
}
