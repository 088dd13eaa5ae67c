//! The ledger's files, and how they end.

use super::place;
use rustix::fs::OFlags;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

pub(super) const CURRENT: &str = "ledger.jsonl";

/// The files of the ledger, oldest first.
pub fn files(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut rotated = Vec::new();
    if !dir.exists() {
        return Ok(rotated);
    }
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        if last_number(&path).is_some() {
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

/// All records of the ledger as they are written, oldest first. A record that is being written now
/// is left out.
pub(crate) fn records(dir: &Path) -> io::Result<impl Iterator<Item = io::Result<String>>> {
    let files: Result<Vec<File>, _> = files(dir)?.iter().map(|path| readable(path)).collect();
    let lines = files?.into_iter().flat_map(|file| {
        let mut file = BufReader::new(file);
        std::iter::from_fn(move || {
            let mut line = String::new();
            let read = file.read_line(&mut line);
            let whole = read.map(|_| line.ends_with('\n').then_some(line));
            whole.transpose()
        })
    });
    Ok(lines)
}

/// The last whole records of the newest file, at most so many bytes of them.
pub(crate) fn tail(dir: &Path, bytes: u64) -> io::Result<String> {
    let mut file = match readable(&dir.join(CURRENT)) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(String::new()),
        Err(error) => return Err(error),
    };
    let from = file.metadata()?.len().saturating_sub(bytes);
    file.seek(SeekFrom::Start(from))?;
    let mut text = Vec::new();
    file.take(bytes).read_to_end(&mut text)?;
    let text = String::from_utf8_lossy(&text);
    let whole = text.rfind('\n').map_or(0, |end| end + 1);
    let first = match from {
        0 => 0,
        _ => text.find('\n').map_or(whole, |end| end + 1),
    };
    Ok(text.get(first..whole).unwrap_or_default().to_owned())
}

pub(super) fn newest_rotated(dir: &Path) -> io::Result<Option<String>> {
    let mut files = files(dir)?;
    files.retain(|path| !path.ends_with(CURRENT));
    let Some(path) = files.pop() else {
        return Ok(None);
    };
    let mut file = readable(&path)?;
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

/// Opens a file that is for the user only. Links are not followed, and nothing but a regular file
/// is taken.
pub(crate) fn private(
    path: &Path,
    how: impl FnOnce(&mut OpenOptions) -> &mut OpenOptions,
) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).mode(0o600);
    let file = open(path, how(&mut options))?;
    place::check_owner(path, &file.metadata()?)?;
    Ok(file)
}

/// Opens a file of the ledger to read it. It may belong to another user: the person who checks a
/// ledger need not be the one who writes it.
pub(crate) fn readable(path: &Path) -> io::Result<File> {
    open(path, OpenOptions::new().read(true))
}

fn open(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    // Without NONBLOCK, opening a pipe would wait for somebody at its other end.
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let file = options.custom_flags(flags).open(path).map_err(|error| {
        let is_link = std::fs::symlink_metadata(path).is_ok_and(|m| m.is_symlink());
        if is_link {
            let text = format!(
                "{} is a symbolic link, which is not followed",
                path.display()
            );
            return io::Error::new(error.kind(), text);
        }
        error
    })?;
    place::check_kind(path, &file.metadata()?)?;
    Ok(file)
}

/// The rotated files that go, oldest first, so that all of them together have at most `room` bytes,
/// and the number of the last record in them.
pub(super) fn surplus(dir: &Path, room: u64) -> io::Result<(Vec<PathBuf>, u64)> {
    let mut rotated = Vec::new();
    for path in files(dir)? {
        if let Some(last) = last_number(&path) {
            let bytes = std::fs::symlink_metadata(&path)?.len();
            rotated.push((path, last, bytes));
        }
    }
    let mut total: u64 = rotated.iter().map(|(_, _, bytes)| bytes).sum();
    let (mut gone, mut up_to) = (Vec::new(), 0);
    for (path, last, bytes) in rotated {
        if total <= room {
            break;
        }
        total -= bytes;
        up_to = last;
        gone.push(path);
    }
    Ok((gone, up_to))
}

/// The number of the last record in a rotated file, which its name says.
fn last_number(path: &Path) -> Option<u64> {
    let name = path.file_name()?.to_str()?;
    let number = name.strip_prefix("ledger-")?.strip_suffix(".jsonl")?;
    let digits = number.bytes().all(|b| b.is_ascii_digit());
    number.parse().ok().filter(|_| digits)
}
