//! The operator's PIN: what stands for a person where no terminal shows the question.
//!
//! The file `pin` in the settings folder has a salted slow hash, `pin-tries` beside it the wrong
//! tries in a row. Both are the user's own and nobody else's, or there is no PIN. A proxy reads the
//! PIN when it starts: one that appears while an agent works does not count.

use super::code::{Tries, paused};
use crate::threads::lock;
use anyhow::{Context as _, bail};
use argon2::password_hash::{PasswordHash, PasswordHasher as _, PasswordVerifier as _, SaltString};
use argon2::{Algorithm, Argon2, Params, Version};
use rustix::fs::OFlags;
use std::fs::{File, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

/// Characters of a PIN: fewer are found by trying.
pub(crate) const MIN_CHARACTERS: usize = 6;
/// Bytes of a PIN, and of the files.
const MAX_BYTES: usize = 256;
const MAX_FILE: u64 = 1024;
/// The most memory that the file may make hashing use, in KiB.
const MAX_MEMORY: u32 = 1 << 18;

/// A PIN that is set.
#[derive(Debug)]
pub struct Pin {
    path: PathBuf,
    hash: String,
    /// What this process has seen, so that removing the file forgives nothing.
    tries: Mutex<Tries>,
}

/// Why a PIN was not accepted.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NotAccepted {
    /// It is another; so many wrong ones came in a row.
    Wrong(u32),
    /// It was not looked at.
    Refused(String),
}

impl Pin {
    /// The PIN in this file; `None` if none is set.
    pub fn load(path: &Path) -> anyhow::Result<Option<Pin>> {
        let place = || path.display().to_string();
        let file = OpenOptions::new()
            .read(true)
            .custom_flags(NO_LINK)
            .open(path);
        let file = match file {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            file => file.with_context(place)?,
        };
        is_ours(&file).with_context(place)?;
        let folder = path.parent().unwrap_or(Path::new("."));
        let about = std::fs::metadata(folder).with_context(place)?;
        let (owner, mode) = (about.uid(), about.mode());
        if owner != own_uid() && owner != 0 || mode & 0o022 != 0 {
            bail!("{}: other users can write to this folder", folder.display());
        }
        let mut hash = String::new();
        file.take(MAX_FILE)
            .read_to_string(&mut hash)
            .with_context(place)?;
        hash.truncate(hash.trim_end().len());
        parse(&hash).with_context(place)?;
        Ok(Some(Pin {
            path: path.to_owned(),
            hash,
            tries: Mutex::default(),
        }))
    }

    /// Writes a new PIN.
    pub(crate) fn store(path: &Path, typed: &str) -> anyhow::Result<()> {
        let mut salt = [0; 16];
        getrandom::fill(&mut salt).context("the system provides no random numbers")?;
        let salt = SaltString::encode_b64(&salt).map_err(|e| anyhow::anyhow!("{e}"))?;
        let hasher = Argon2::new(Algorithm::Argon2id, Version::V0x13, Params::DEFAULT);
        let hash = hasher.hash_password(typed.as_bytes(), &salt);
        let hash = hash.map_err(|e| anyhow::anyhow!("{e}"))?.to_string();
        let folder = path.parent().unwrap_or(Path::new("."));
        let mut make = std::fs::DirBuilder::new();
        make.recursive(true).mode(0o700).create(folder)?;
        // Written beside its place: a PIN is whole, or as it was.
        let new = path.with_extension(format!("new-{}", std::process::id()));
        let _ = std::fs::remove_file(&new);
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&new)?;
        file.write_all(format!("{hash}\n").as_bytes())?;
        file.sync_all()?;
        std::fs::rename(&new, path)?;
        match std::fs::remove_file(tries_file(path)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// Whether `typed` is the PIN. A wrong one is counted before it is looked at, on disk, so that
    /// neither ending the process nor starting another gives more tries.
    pub(crate) fn check(&self, typed: &str) -> Result<(), NotAccepted> {
        let refused = |error: &dyn std::fmt::Display| {
            NotAccepted::Refused(format!("cannot count the PIN attempts: {error}"))
        };
        let mut seen = lock(&self.tries);
        let mut counter = Counter::open(&tries_file(&self.path)).map_err(|e| refused(&e))?;
        let mut tries = counter.read().map_err(|e| refused(&e))?.stricter(*seen);
        let now = SystemTime::now();
        if let Some(left) = tries.pause(now) {
            return Err(NotAccepted::Refused(paused(left)));
        }
        tries.fail(now);
        counter.write(tries).map_err(|e| refused(&e))?;
        *seen = tries;
        let fits = typed.len() <= MAX_BYTES;
        let hash = parse(&self.hash).map_err(|e| refused(&e))?;
        let same = Argon2::default().verify_password(typed.as_bytes(), &hash);
        if !fits || same.is_err() {
            return Err(NotAccepted::Wrong(tries.wrong));
        }
        *seen = Tries::default();
        counter.write(*seen).map_err(|e| refused(&e))
    }
}

/// What a new PIN must be.
pub(crate) fn is_usable(typed: &str) -> Result<(), String> {
    if typed.chars().count() < MIN_CHARACTERS || typed.len() > MAX_BYTES {
        return Err(format!(
            "a PIN must have {MIN_CHARACTERS} to {MAX_BYTES} characters of any kind"
        ));
    }
    Ok(())
}

fn parse(hash: &str) -> anyhow::Result<PasswordHash<'_>> {
    let parsed =
        PasswordHash::new(hash).map_err(|e| anyhow::anyhow!("not a valid PIN hash: {e}"))?;
    let params =
        Params::try_from(&parsed).map_err(|e| anyhow::anyhow!("not a valid PIN hash: {e}"))?;
    if params.m_cost() > MAX_MEMORY {
        bail!("not a valid PIN hash: it needs too much memory");
    }
    Ok(parsed)
}

fn tries_file(path: &Path) -> PathBuf {
    path.with_file_name("pin-tries")
}

/// Links are not followed, and what is not a file is not waited for.
const NO_LINK: i32 = OFlags::NOFOLLOW
    .union(OFlags::NONBLOCK)
    .bits()
    .cast_signed();

fn own_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

fn is_ours(file: &File) -> anyhow::Result<()> {
    let about = file.metadata()?;
    if !about.is_file() || about.uid() != own_uid() {
        bail!("the file does not belong to this user");
    }
    if about.mode() & 0o077 != 0 {
        bail!(
            "other users can read or write the file; run `chmod 600` on it, or set the PIN again"
        );
    }
    Ok(())
}

/// The file with the count, locked for as long as this lives.
struct Counter(File);

impl Counter {
    fn open(path: &Path) -> anyhow::Result<Counter> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .custom_flags(NO_LINK)
            .open(path)?;
        is_ours(&file)?;
        file.lock()?;
        Ok(Counter(file))
    }

    /// What does not read as a count is many wrong tries.
    fn read(&mut self) -> anyhow::Result<Tries> {
        let mut text = String::new();
        self.0.seek(SeekFrom::Start(0))?;
        (&self.0).take(MAX_FILE).read_to_string(&mut text)?;
        let mut words = text.split_ascii_whitespace().map(str::parse::<u64>);
        let tries = match (words.next(), words.next()) {
            (None, None) => Tries::default(),
            (Some(Ok(wrong)), Some(Ok(until))) => Tries {
                wrong: u32::try_from(wrong).unwrap_or(u32::MAX),
                until: SystemTime::UNIX_EPOCH
                    .checked_add(Duration::from_secs(until))
                    .filter(|_| until > 0),
            },
            _ => Tries {
                wrong: Tries::FREE,
                until: None,
            },
        };
        Ok(tries)
    }

    fn write(&mut self, tries: Tries) -> anyhow::Result<()> {
        let until = tries.until.and_then(|until| {
            let since = until.duration_since(SystemTime::UNIX_EPOCH).ok()?;
            Some(since.as_secs().saturating_add(1))
        });
        let text = format!("{} {}\n", tries.wrong, until.unwrap_or(0));
        self.0.seek(SeekFrom::Start(0))?;
        self.0.write_all(text.as_bytes())?;
        self.0.set_len(text.len() as u64)?;
        self.0.sync_data()?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    fn stored() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("settings/pin");
        Pin::store(&path, "correct horse").unwrap();
        (dir, path)
    }

    #[test]
    fn a_pin_is_kept_as_a_salted_hash() {
        let (_dir, path) = stored();
        let hash = std::fs::read_to_string(&path).unwrap();
        assert!(hash.starts_with("$argon2id$") && !hash.contains("horse"));
        let mode = std::fs::metadata(&path).unwrap().mode();
        assert_eq!(mode & 0o777, 0o600);
        Pin::store(&path, "correct horse").unwrap();
        assert_ne!(
            hash,
            std::fs::read_to_string(&path).unwrap(),
            "another salt"
        );
        let pin = Pin::load(&path).unwrap().unwrap();
        assert_eq!(pin.check("correct horse"), Ok(()));
        assert_eq!(pin.check("correct hors"), Err(NotAccepted::Wrong(1)));
        assert_eq!(pin.check(""), Err(NotAccepted::Wrong(2)));
        assert_eq!(pin.check("correct horse"), Ok(()));
        assert_eq!(
            pin.check("x"),
            Err(NotAccepted::Wrong(1)),
            "the count starts again"
        );
    }

    #[test]
    fn wrong_tries_are_limited_also_across_restarts() {
        let (_dir, path) = stored();
        let load = || Pin::load(&path).unwrap().unwrap();
        for wrong in 1..=Tries::FREE {
            assert_eq!(load().check("wrong one"), Err(NotAccepted::Wrong(wrong)));
        }
        let paused = |pin: &Pin| matches!(pin.check("correct horse"), Err(NotAccepted::Refused(why)) if why.contains("too many wrong attempts"));
        let pin = load();
        assert!(paused(&pin), "the right one does not count either");
        // Without the file, what this process has seen still counts.
        let one = load();
        std::fs::remove_file(tries_file(&path)).unwrap();
        for _ in 0..Tries::FREE {
            assert!(one.check("wrong one").is_err());
        }
        std::fs::remove_file(tries_file(&path)).unwrap();
        assert!(paused(&one));
        // A count that cannot be read is not zero.
        std::fs::write(tries_file(&path), "x").unwrap();
        let private = std::fs::Permissions::from_mode(0o600);
        std::fs::set_permissions(tries_file(&path), private).unwrap();
        let pin = load();
        assert!(matches!(pin.check("wrong one"), Err(NotAccepted::Wrong(6))));
        assert!(paused(&pin));
    }

    #[test]
    fn a_file_that_others_can_reach_is_not_a_pin() {
        let (dir, path) = stored();
        let mode = |path: &Path, mode| {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        mode(&path, 0o640);
        assert!(Pin::load(&path).is_err());
        mode(&path, 0o600);
        mode(path.parent().unwrap(), 0o777);
        assert!(Pin::load(&path).is_err());
        mode(path.parent().unwrap(), 0o700);
        assert!(Pin::load(&path).unwrap().is_some());
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert!(Pin::load(&link).is_err());
        std::fs::write(&path, "123456\n").unwrap();
        assert!(Pin::load(&path).is_err());
        assert!(Pin::load(&dir.path().join("none")).unwrap().is_none());
    }
}
