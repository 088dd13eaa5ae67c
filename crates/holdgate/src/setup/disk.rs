//! Settings files on disk: read whole, and replaced whole.

use anyhow::Context as _;
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// Bytes of a settings file.
const MAX_BYTES: u64 = 16 << 20;

/// The text of a file, if it is there.
pub(crate) fn read(path: &Path) -> anyhow::Result<Option<String>> {
    let shown = || path.display().to_string();
    match fs::metadata(path) {
        Ok(found) if found.len() > MAX_BYTES => anyhow::bail!("{} is too large", shown()),
        Ok(_) => fs::read_to_string(path).map(Some).with_context(shown),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(shown),
    }
}

/// Writes a file beside its place and puts it there at once. A link stays one.
pub(crate) fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    let shown = || format!("cannot write {}", path.display());
    let path = &fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let dir = path.parent().with_context(shown)?;
    let mut builder = fs::DirBuilder::new();
    builder
        .recursive(true)
        .mode(0o700)
        .create(dir)
        .with_context(shown)?;
    let mode = fs::metadata(path).map_or(0o600, |found| found.permissions().mode());
    let name = path.file_name().with_context(shown)?.to_string_lossy();
    let new = dir.join(format!(".{name}.holdgate-{}", std::process::id()));
    let _ = fs::remove_file(&new);
    let written = || {
        let mut options = OpenOptions::new();
        let mut file = options
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&new)?;
        file.write_all(text.as_bytes())?;
        file.set_permissions(fs::Permissions::from_mode(mode & 0o7777))?;
        file.sync_all()?;
        fs::rename(&new, path)
    };
    written()
        .inspect_err(|_| drop(fs::remove_file(&new)))
        .with_context(shown)
}

/// Removes a file, and those of the folders that are empty then.
pub(crate) fn remove(path: &Path, made: &[PathBuf]) -> anyhow::Result<()> {
    fs::remove_file(path).with_context(|| format!("cannot remove {}", path.display()))?;
    for dir in made.iter().rev() {
        if fs::remove_dir(dir).is_err() {
            // Somebody else has put something there.
            break;
        }
    }
    Ok(())
}
