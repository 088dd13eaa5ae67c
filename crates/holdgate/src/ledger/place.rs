//! Whether the state folder is the user's alone, as OpenSSH looks at `~/.ssh`: nobody else may be able
//! to replace what is in it.

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::Path;

const WRITABLE_BY_OTHERS: u32 = 0o022;
const STICKY: u32 = 0o1000;

/// Makes the folder if it is not there, and looks at it and at those above it.
pub(super) fn prepare(dir: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true).mode(0o700).create(dir)?;
    // A link of somebody else may lead elsewhere tomorrow.
    for part in std::path::absolute(dir)?.ancestors() {
        let link = std::fs::symlink_metadata(part)?;
        if link.is_symlink() && !is_trusted(&link) {
            return Err(refused(part, &owned_by(&link)));
        }
    }
    for (above, part) in std::fs::canonicalize(dir)?.ancestors().enumerate() {
        let found = std::fs::metadata(part)?;
        if !found.is_dir() {
            return Err(refused(part, "is not a folder"));
        }
        if !is_trusted(&found) {
            return Err(refused(part, &owned_by(&found)));
        }
        // In a sticky folder such as /tmp, nobody can replace what belongs to others.
        let sticky = above > 0 && found.mode() & STICKY != 0;
        if is_writable_by_others(&found) && !sticky {
            let what = format!(
                "is writable by others (mode {:04o}); run `chmod go-w {}`",
                found.mode() & 0o7777,
                part.display()
            );
            return Err(refused(part, &what));
        }
    }
    Ok(())
}

/// Looks at what kind of file an open one is.
pub(super) fn check_kind(path: &Path, found: &Metadata) -> io::Result<()> {
    if found.is_file() {
        return Ok(());
    }
    Err(refused(path, "is not a regular file"))
}

/// Looks at who can write to an open file.
pub(super) fn check_owner(path: &Path, found: &Metadata) -> io::Result<()> {
    if !is_trusted(found) {
        return Err(refused(path, &owned_by(found)));
    }
    if is_writable_by_others(found) {
        let what = format!("is writable by others; run `chmod 600 {}`", path.display());
        return Err(refused(path, &what));
    }
    Ok(())
}

fn is_trusted(found: &Metadata) -> bool {
    [0, user()].contains(&found.uid())
}

/// A group of the user's own number is the user's own: many systems give each user one.
fn is_writable_by_others(found: &Metadata) -> bool {
    let own_group = found.gid() == user() && found.mode() & 0o002 == 0;
    found.mode() & WRITABLE_BY_OTHERS != 0 && !own_group
}

fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

fn owned_by(found: &Metadata) -> String {
    format!(
        "belongs to user {}, who could replace the ledger",
        found.uid()
    )
}

fn refused(path: &Path, what: &str) -> io::Error {
    let text = format!(
        "{} {what}; the ledger needs a folder that only you can write to: choose one with --state-dir or HOLDGATE_STATE_DIR",
        path.display()
    );
    io::Error::new(io::ErrorKind::PermissionDenied, text)
}
