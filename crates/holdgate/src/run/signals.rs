//! Signals that somebody wants ignored, as `nohup` does: they stay so, also for the agent.

use std::io;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Listens to a signal, unless it is ignored: listening would end that.
pub(super) fn unless_ignored(kind: SignalKind) -> io::Result<Option<Signal>> {
    let number = u32::try_from(kind.as_raw_value()).unwrap_or_default();
    let ignored = ignored() >> number.saturating_sub(1) & 1 == 1;
    if ignored {
        Ok(None)
    } else {
        signal(kind).map(Some)
    }
}

/// The next one; never, if nobody listens.
pub(super) async fn next(signal: Option<&mut Signal>) -> Option<()> {
    match signal {
        Some(signal) => signal.recv().await,
        None => std::future::pending().await,
    }
}

/// One bit for each signal.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let bits = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let bits = bits.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok());
    bits.unwrap_or_default()
}
