//! A Unix socket in the state folder, for this user alone.

use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// The socket on which a proxy judges for hooks; that of a run ends with this name.
pub(crate) const HOOKS: &str = "holdgate-hook.sock";

/// Where a socket is. Dropping it takes the socket away, unless another one stands there now.
#[derive(Debug)]
pub(crate) struct Bound {
    pub(crate) path: PathBuf,
    inode: u64,
}

/// Listens at `name` in `dir`, unless somebody else does.
pub(crate) fn listen(dir: &Path, name: &str) -> io::Result<(UnixListener, Bound)> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let path = dir.join(name);
    if UnixStream::connect(&path).is_ok() {
        return Err(io::Error::new(
            io::ErrorKind::AddrInUse,
            "another proxy with the same state folder already listens there",
        ));
    }
    // Made beside its place, so that it is never there with other rights than it should have.
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let new = dir.join(format!(".socket-{}-{number}", std::process::id()));
    let _ = std::fs::remove_file(&new);
    let listener = UnixListener::bind(&new)?;
    std::fs::set_permissions(&new, std::fs::Permissions::from_mode(0o600))?;
    std::fs::rename(&new, &path)?;
    let inode = std::fs::symlink_metadata(&path)?.ino();
    Ok((listener, Bound { path, inode }))
}

impl Drop for Bound {
    fn drop(&mut self) {
        let ours = std::fs::symlink_metadata(&self.path).is_ok_and(|m| m.ino() == self.inode);
        if ours {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}
