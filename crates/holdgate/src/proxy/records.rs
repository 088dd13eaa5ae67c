//! A thread that writes decisions into the ledger, so that those that carry streams never wait for
//! the disk, for another process that writes, or for secrets to be masked.

use crate::hook::passed::Passed;
use crate::ledger::Ledger;
use holdgate_core::{Finding, LayerName, Record};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll};
use tokio::sync::oneshot;

/// Decisions that may wait to be written, one a response: the next one cannot be recorded.
const MAX_WAITING: usize = 4096;

/// Where decisions are given to be written, in the order in which they come.
#[derive(Debug)]
pub(super) struct Records {
    queue: SyncSender<Task>,
    /// The calls that go to clients, whose hooks may ask about them.
    pub(super) passed: Arc<Passed>,
}

#[derive(Debug)]
enum Task {
    Write(Box<Record>, oneshot::Sender<io::Result<()>>),
    /// Says when all before it are written.
    Flush(mpsc::Sender<()>),
}

/// A decision that is being written. Nothing that it is about may leave before this is ready.
#[derive(Debug)]
pub(super) struct Writing(oneshot::Receiver<io::Result<()>>);

impl Future for Writing {
    type Output = io::Result<()>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let written = Pin::new(&mut self.0).poll(context);
        written.map(|done| done.unwrap_or_else(|_| Err(io::Error::other("writing it failed"))))
    }
}

impl Records {
    /// Starts the thread, which ends when this is dropped.
    pub(super) fn start(ledger: Arc<Ledger>) -> io::Result<Records> {
        let (queue, tasks) = sync_channel(MAX_WAITING);
        let passed = Arc::<Passed>::default();
        let note = passed.clone();
        super::spawn("records".to_owned(), move || work(&ledger, &note, &tasks))?;
        Ok(Records { queue, passed })
    }

    /// Has a decision written. It is also written if nobody waits for that.
    pub(super) fn write(&self, record: impl Into<Box<Record>>) -> Writing {
        let (sender, writing) = oneshot::channel();
        let task = Task::Write(record.into(), sender);
        // Without room, or without the thread, the sender is dropped, and the waiting task notices.
        if self.queue.try_send(task).is_err() {
            crate::log::warn("a decision cannot be recorded: too many are waiting to be written");
        }
        Writing(writing)
    }

    /// Returns when all that was given to be written is written.
    pub(super) fn flush(&self) {
        let (sender, flushed) = mpsc::channel();
        if self.queue.send(Task::Flush(sender)).is_ok() {
            // An error means that the thread has ended, so there is nothing to wait for.
            let _ = flushed.recv();
        }
    }
}

/// Tells the operator at once about what no honest work does.
fn alert(record: &Record) {
    let certain =
        |finding: &&Finding| finding.layer == LayerName::Canaries || finding.rule == "probing";
    for finding in record.findings.iter().filter(certain) {
        crate::log::warn_now(&format!(
            "session {}: {} ({}, incident {})",
            record.session, finding.reason, finding.rule, record.id
        ));
    }
}

fn work(ledger: &Ledger, passed: &Passed, tasks: &Receiver<Task>) {
    while let Ok(task) = tasks.recv() {
        match task {
            Task::Flush(flushed) => drop(flushed),
            Task::Write(record, sender) => {
                let written = catch_unwind(AssertUnwindSafe(|| {
                    ledger.append(&record)?;
                    passed.note(&record);
                    alert(&record);
                    Ok(())
                }))
                .unwrap_or_else(|_| Err(io::Error::other("an internal error")));
                if let Err(error) = &written {
                    crate::log::warn(&format!("cannot write the ledger: {error}"));
                }
                // Nobody waits when the client has gone away.
                let _ = sender.send(written);
            }
        }
    }
}
