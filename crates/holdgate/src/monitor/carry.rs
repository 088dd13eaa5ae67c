//! One stream of an agent: each piece is looked at, then passed on.

use super::decide::Found;
use super::{Output, Shared};
use holdgate_core::watch::{Example, Hit, OutputWatch, Severity};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::fs::File;
use std::io::{self, ErrorKind, Read as _, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

/// Bytes that are carried at once.
const CHUNK: usize = 64 << 10;
/// After so long without output, an unfinished line is looked at as it is.
const SILENCE: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 300_000_000,
};
/// An agent that says nothing for so long has nothing to say yet.
const QUIET: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 100_000_000,
};
const NO_TIME: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 0,
};

/// Carries one stream to its end.
pub(super) fn carry(output: Output, shared: &Shared, asked: &SyncSender<Found>) {
    let Output {
        name,
        mut from,
        mut to,
    } = output;
    let mut watching = Watching::new(shared, name, asked);
    let mut chunk = vec![0; CHUNK];
    let mut cold = shared.settings.patterns.iter().flat_map(|p| &p.examples);
    let mut is_cold = true;
    let mut unfinished = false;
    // It was counted when it began.
    let mut busy = Some(Busy(&shared.busy));
    loop {
        if unfinished && is_silent(&from, &SILENCE) {
            watching.look(OutputWatch::pause);
            unfinished = false;
            continue;
        }
        drop(busy.take());
        is_cold = is_cold && warm_up(shared, &from, &mut cold);
        let read = from.read(&mut chunk);
        busy = Some(Busy::begin(&shared.busy));
        let read = match read {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            // The other end of a terminal is closed.
            Err(_) => break,
        };
        let bytes = chunk.get(..read).unwrap_or_default();
        watching.look(|watch, hits| watch.feed(bytes, hits));
        unfinished = !bytes.ends_with(b"\n");
        // If nobody reads any more, neither do we: the agent notices as it would without us.
        if pass_on(bytes, &mut to).is_err() {
            return;
        }
    }
    watching.look(OutputWatch::finish);
}

/// A stream counts among those with output until this is dropped.
struct Busy<'a>(&'a AtomicUsize);

impl Busy<'_> {
    fn begin(busy: &AtomicUsize) -> Busy<'_> {
        busy.fetch_add(1, Ordering::AcqRel);
        Busy(busy)
    }
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// The watch over a stream, and where its hits go.
struct Watching<'a> {
    watch: OutputWatch,
    shared: &'a Shared,
    stream: &'static str,
    asked: &'a SyncSender<Found>,
}

impl<'a> Watching<'a> {
    fn new(shared: &'a Shared, stream: &'static str, asked: &'a SyncSender<Found>) -> Watching<'a> {
        Watching {
            watch: watch(shared),
            shared,
            stream,
            asked,
        }
    }

    /// Runs the watch, and handles its hits.
    fn look(&mut self, look: impl FnOnce(&mut OutputWatch, &mut Vec<Hit>)) {
        if !self.shared.watching.load(Ordering::Acquire) {
            return;
        }
        let since = Instant::now();
        let mut hits = Vec::new();
        let looked = catch_unwind(AssertUnwindSafe(|| look(&mut self.watch, &mut hits)));
        if looked.is_err() {
            self.watch = watch(self.shared);
            hits = vec![unwatched()];
        }
        if self.watch.has_acted() {
            self.shared.acted.store(true, Ordering::Release);
        }
        if !hits.is_empty() {
            self.shared.found(hits, self.stream, since, self.asked);
        }
    }
}

fn watch(shared: &Shared) -> OutputWatch {
    let settings = &shared.settings;
    OutputWatch::new(settings.patterns.clone(), settings.commands.clone())
}

/// Output that the watch could not take: it is as suspicious as can be.
fn unwatched() -> Hit {
    Hit {
        pattern: "watch-failure".into(),
        family: "holdgate".into(),
        severity: Severity::High,
        certain: false,
        call: false,
        quoted: false,
        because: "this output could not be examined because of an error in Holdgate".to_owned(),
        evidence: String::new(),
        context: String::new(),
    }
}

/// What is looked for is made ready on first use. That is done with these examples, as long as the agent is
/// silent, and not when something has been found. Returns whether some are left.
fn warm_up<'p>(shared: &Shared, from: &File, cold: &mut impl Iterator<Item = &'p Example>) -> bool {
    // An agent that is about to say something need not wait for it.
    let mut silence = &QUIET;
    while is_silent(from, silence) {
        silence = &NO_TIME;
        let Some(example) = cold.next() else {
            return false;
        };
        let mut nobody = Vec::new();
        let looked = catch_unwind(AssertUnwindSafe(|| {
            let mut watch = watch(shared);
            watch.feed(example.text.as_bytes(), &mut nobody);
            watch.finish(&mut nobody);
        }));
        if looked.is_err() {
            return false;
        }
    }
    true
}

/// Whether there is no output for so long.
fn is_silent(from: &File, time: &Timespec) -> bool {
    let mut waiting = [PollFd::new(from, PollFlags::IN)];
    // The next read reports an error here.
    matches!(poll(&mut waiting, Some(time)), Ok(0))
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
