//! One stream of an agent: each piece is looked at, then passed on.

use super::{Found, Output, Shared};
use std::io::{self, ErrorKind, Write};
use std::sync::atomic::Ordering;
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

/// Bytes that are carried at once.
const CHUNK: usize = 64 << 10;

/// Carries one stream to its end.
pub(super) fn carry(mut output: Output, shared: &Shared, asked: &SyncSender<Found>) {
    let mut watch = (shared.settings.watches)();
    let mut chunk = vec![0; CHUNK];
    let mut hits = Vec::new();
    loop {
        let read = match output.from.read(&mut chunk) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            // The other end of a terminal is closed.
            Err(_) => break,
        };
        let bytes = chunk.get(..read).unwrap_or_default();
        if shared.watching.load(Ordering::Acquire) {
            let since = Instant::now();
            watch.feed(bytes, &mut hits);
            if !hits.is_empty() {
                shared.found(std::mem::take(&mut hits), output.name, since, asked);
            }
        }
        // If nobody reads any more, neither do we: the agent is told as it would be without us.
        if pass_on(bytes, &mut output.to).is_err() {
            return;
        }
    }
    if shared.watching.load(Ordering::Acquire) {
        watch.finish(&mut hits);
        if !hits.is_empty() {
            shared.found(hits, output.name, Instant::now(), asked);
        }
    }
}

fn pass_on(mut bytes: &[u8], to: &mut Box<dyn Write + Send>) -> io::Result<()> {
    while !bytes.is_empty() {
        match to.write(bytes) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            // Others may have made the user's end so.
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                std::thread::sleep(Duration::from_millis(1));
            }
            Err(error) => return Err(error),
        }
    }
    to.flush()
}
