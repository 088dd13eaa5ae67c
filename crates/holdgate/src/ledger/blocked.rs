//! `blocked-actions.jsonl`: refused calls once more, in a file of their own. The ledger is deleted
//! piece by piece as it grows; what was refused is kept for longer, to learn from.

use super::files::private;
use holdgate_core::{Action, Record, Subject, Verdict};
use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;
use std::time::SystemTime;

/// The file, and the one before it.
pub const FILE: &str = "blocked-actions.jsonl";
const PREVIOUS: &str = "blocked-actions.1.jsonl";
/// Bytes of a file before the next one begins.
const MAX_BYTES: u64 = 16 << 20;

/// Writes a refused call. Whoever calls holds the ledger's lock.
pub(super) fn write(dir: &Path, record: &Record, input_bytes: usize) -> io::Result<()> {
    if !is_refused(record) {
        return Ok(());
    }
    let path = dir.join(FILE);
    let open = || private(&path, |o| o.create(true).append(true));
    let mut file: File = open()?;
    if file.metadata()?.len() >= MAX_BYTES {
        std::fs::rename(&path, dir.join(PREVIOUS))?;
        file = open()?;
    }
    let time = humantime::format_rfc3339_micros(SystemTime::now());
    let members = record.members(input_bytes);
    let line = format!("{{\"time\":\"{time}\",{}}}\n", members.as_str());
    file.write_all(line.as_bytes())
}

/// Whether a call did not go to the client because of its verdict.
fn is_refused(record: &Record) -> bool {
    matches!(record.subject, Subject::Call { .. })
        && record.verdict >= Verdict::Ask
        && !matches!(record.action, Action::Sent | Action::Asked)
}
