//! Seals that cannot be made afterwards. Each record has a key of its own; the next one is derived
//! from it, and it is erased. Whoever gets hold of the files has the key of the next record, from
//! which no earlier one can be computed, so that earlier records cannot be sealed again.

use super::files::{private, readable};
use super::{hex, key_of};
use hmac::{Hmac, Mac as _};
use sha2::Sha256;
use std::fmt;
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::Path;
use std::str::FromStr;

/// The file with the key of the next record.
pub(super) const KEY_FILE: &str = "ledger.key";
/// More bytes than it has.
const KEY_FILE_BYTES: usize = 256;
/// A crash leaves the key one step behind. More steps than these are not taken: somebody has
/// changed the files.
const MAX_STEPS: u64 = 100_000;

/// The key of one record.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Key([u8; 32]);

impl Key {
    fn random() -> io::Result<Key> {
        let mut key = [0; 32];
        getrandom::fill(&mut key).map_err(io::Error::from)?;
        Ok(Key(key))
    }

    /// The key of the record that follows.
    pub(super) fn next(&self) -> Key {
        Key(self.mac(b"holdgate: the key of the next record"))
    }

    /// The seal of a record. A record is a JSON object and so never the text of `next`.
    pub(super) fn seal(&self, body: &str) -> String {
        hex(&self.mac(body.as_bytes()))
    }

    fn mac(&self, text: &[u8]) -> [u8; 32] {
        // HMAC takes keys of any length; should it not, no seal is valid.
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&self.0) else {
            return [0; 32];
        };
        mac.update(text);
        mac.finalize().into_bytes().into()
    }

    fn read(text: &str) -> Option<Key> {
        key_of(text).map(Key)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

/// The first key of an epoch, from which all its seals can be checked. Only the operator has it.
#[derive(Clone, Debug)]
pub struct Seed {
    /// The number of the epoch's first record.
    pub first: u64,
    pub(super) key: Key,
}

impl fmt::Display for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "holdgate-seed:{}:{}", self.first, hex(&self.key.0))
    }
}

impl FromStr for Seed {
    type Err = String;

    fn from_str(text: &str) -> Result<Seed, String> {
        let seed = || {
            let text = text.trim().strip_prefix("holdgate-seed:")?;
            let (first, key) = text.split_once(':')?;
            let (first, key) = (first.parse().ok()?, Key::read(key)?);
            Some(Seed { first, key })
        };
        seed()
            .ok_or_else(|| "not a seed in the format that `holdgate ledger seal` prints".to_owned())
    }
}

/// Where the sealing is: the epoch, the next record and its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sealing {
    /// The number of the epoch's first record.
    pub(super) first: u64,
    /// The number of the record that the key is for.
    pub(super) next: u64,
    pub(super) key: Key,
}

impl Sealing {
    fn advance(&mut self) {
        self.key = self.key.next();
        self.next += 1;
    }

    /// Always of the same length: it is written over the one before.
    fn text(&self) -> String {
        let key = hex(&self.key.0);
        format!("holdgate-key:{:020}:{:020}:{key}\n", self.first, self.next)
    }

    fn read(text: &str) -> Option<Sealing> {
        let text = text.strip_prefix("holdgate-key:")?.strip_suffix('\n')?;
        let (first, rest) = text.split_once(':')?;
        let (next, key) = rest.split_once(':')?;
        let (first, next) = (first.parse().ok()?, next.parse().ok()?);
        let key = Key::read(key)?;
        (first <= next && next < 1 << 62).then_some(Sealing { first, next, key })
    }
}

/// The open key file.
#[derive(Debug)]
pub(super) struct KeyFile {
    file: File,
    inode: u64,
    pub(super) sealing: Sealing,
}

impl KeyFile {
    /// Opens it; `None` if there is none that can be used.
    pub(super) fn open(dir: &Path) -> io::Result<Option<KeyFile>> {
        let file = match private(&dir.join(KEY_FILE), |options| options) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened?,
        };
        let inode = file.metadata()?.ino();
        let sealing = content(&file)?;
        Ok(sealing.map(|sealing| KeyFile {
            file,
            inode,
            sealing,
        }))
    }

    /// The state of the sealing, for readers.
    pub(super) fn read(dir: &Path) -> io::Result<Option<Sealing>> {
        let file = match readable(&dir.join(KEY_FILE)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened?,
        };
        content(&file)
    }

    /// Begins an epoch with the record `first`.
    pub(super) fn begin(dir: &Path, first: u64) -> io::Result<(KeyFile, Seed)> {
        let key = Key::random()?;
        let file = private(&dir.join(KEY_FILE), |o| o.create(true).truncate(false))?;
        let seed = Seed {
            first,
            key: key.clone(),
        };
        let sealing = Sealing {
            first,
            next: first,
            key,
        };
        let inode = file.metadata()?.ino();
        let mut begun = KeyFile {
            file,
            inode,
            sealing: sealing.clone(),
        };
        begun.write(sealing)?;
        begun.file.set_len(begun.sealing.text().len() as u64)?;
        Ok((begun, seed))
    }

    /// Whether it still is the one in the folder.
    pub(super) fn is_in(&self, dir: &Path) -> bool {
        let there = std::fs::symlink_metadata(dir.join(KEY_FILE));
        there.is_ok_and(|m| m.ino() == self.inode)
    }

    /// A record was written: its key is overwritten with the next one.
    pub(super) fn advance(&mut self) -> io::Result<()> {
        let mut next = self.sealing.clone();
        next.advance();
        self.write(next)
    }

    /// Catches up with records that were written while the key was not advanced: a crash came
    /// between. `false` if they are too many.
    pub(super) fn advance_to(&mut self, next: u64) -> io::Result<bool> {
        if next.saturating_sub(self.sealing.next) > MAX_STEPS {
            return Ok(false);
        }
        while self.sealing.next < next {
            self.advance()?;
        }
        Ok(true)
    }

    /// Goes on from a later key than the file's: somebody has put an old one back.
    pub(super) fn go_on_from(&mut self, later: &Sealing) -> io::Result<()> {
        if later.first == self.sealing.first && later.next > self.sealing.next {
            self.write(later.clone())?;
        }
        Ok(())
    }

    fn write(&mut self, sealing: Sealing) -> io::Result<()> {
        self.file.write_all_at(sealing.text().as_bytes(), 0)?;
        self.sealing = sealing;
        Ok(())
    }
}

fn content(file: &File) -> io::Result<Option<Sealing>> {
    let mut text = vec![0; KEY_FILE_BYTES];
    let read = file.read_at(&mut text, 0)?;
    text.truncate(read);
    Ok(str::from_utf8(&text).ok().and_then(Sealing::read))
}
