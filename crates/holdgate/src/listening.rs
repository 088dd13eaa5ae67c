//! A Unix socket in the state folder, for this user alone.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;
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

/// Bytes of a socket's path that every system takes.
const MAX_PATH: usize = 100;

/// Connects to the socket at `path`, however long that is.
pub(crate) fn connect(path: &Path) -> io::Result<UnixStream> {
    by_short_path(path, |path| UnixStream::connect(path))
}

/// Does something with a socket's path. The system takes no long ones, but the folder may be named
/// by a handle.
fn by_short_path<T>(path: &Path, act: impl Fn(&Path) -> io::Result<T>) -> io::Result<T> {
    let parts = path.parent().zip(path.file_name());
    let Some((dir, name)) = parts.filter(|_| path.as_os_str().len() > MAX_PATH) else {
        return act(path);
    };
    let dir = File::open(dir)?;
    let handle = format!("/proc/self/fd/{}", dir.as_raw_fd());
    act(&Path::new(&handle).join(name))
}

/// Listens at `name` in `dir`, unless somebody else does.
pub(crate) fn listen(dir: &Path, name: &str) -> io::Result<(UnixListener, Bound)> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let path = dir.join(name);
    if connect(&path).is_ok() {
        return Err(io::Error::new(
            io::ErrorKind::AddrInUse,
            "another proxy with the same state folder already listens there",
        ));
    }
    // Made beside its place, so that it is never there with other rights than it should have.
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let new = dir.join(format!(".socket-{}-{number}", std::process::id()));
    let _ = std::fs::remove_file(&new);
    let listener = by_short_path(&new, |new| UnixListener::bind(new))?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_may_be_in_a_folder_of_any_depth() -> io::Result<()> {
        let root = tempfile::tempdir()?;
        for depth in [1, 5, 20] {
            let dir = root.path().join("a-folder-in-a-folder/".repeat(depth));
            std::fs::create_dir_all(&dir)?;
            let (listener, bound) = listen(&dir, HOOKS)?;
            let _client = connect(&dir.join(HOOKS))?;
            listener.accept()?;
            assert!(listen(&dir, HOOKS).is_err());
            drop(bound);
            assert!(connect(&dir.join(HOOKS)).is_err());
        }
        Ok(())
    }
}
