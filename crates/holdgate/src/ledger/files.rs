//! The ledger's files, and how they end.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

pub(super) const CURRENT: &str = "ledger.jsonl";

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

pub(super) fn newest_rotated(dir: &Path) -> io::Result<Option<String>> {
    let mut files = files(dir)?;
    files.retain(|path| !path.ends_with(CURRENT));
    let Some(path) = files.pop() else {
        return Ok(None);
    };
    let mut file = File::open(path)?;
    let len = file.metadata()?.len();
    Ok(last_line(&mut file, len)?.1)
}

/// The last whole line, and where it ends.
pub(super) fn last_line(file: &mut File, len: u64) -> io::Result<(u64, Option<String>)> {
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

/// Files only for the user.
pub(super) fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).mode(0o600);
    options
}
