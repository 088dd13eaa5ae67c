//! Threads that judge calls, so that those that carry streams never wait for a verdict.

use crate::threads::{lock, spawn};
use holdgate_core::{Job, JobDone, Unjudged, divergence};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use tokio::sync::oneshot;

/// Calls that may wait for a thread, one a response: the next one is refused.
const MAX_WAITING: usize = 1024;

/// What judges the calls of all responses, in the order in which they come. A response has one call
/// judged at a time, so none can keep the others waiting for long.
#[derive(Debug)]
pub(super) struct Judges {
    queue: SyncSender<Task>,
}

type Task = (Box<Job>, oneshot::Sender<JobDone>);

/// A verdict that is awaited.
pub(super) type Awaited = oneshot::Receiver<JobDone>;

impl Judges {
    /// Starts `threads`, which end when this is dropped.
    pub(super) fn start(threads: usize) -> std::io::Result<Judges> {
        let (queue, tasks) = sync_channel(MAX_WAITING);
        let tasks = Arc::new(Mutex::new(tasks));
        for number in 0..threads {
            let tasks = tasks.clone();
            spawn(format!("judge-{number}"), move || work(&tasks))?;
        }
        Ok(Judges { queue })
    }

    /// Has a call judged; if there is no room for it, it is not.
    pub(super) fn judge(&self, job: Box<Job>) -> Result<Awaited, JobDone> {
        let (sender, awaited) = oneshot::channel();
        match self.queue.try_send((job, sender)) {
            Ok(()) => Ok(awaited),
            Err(refused) => {
                let (job, _) = match refused {
                    std::sync::mpsc::TrySendError::Full(task)
                    | std::sync::mpsc::TrySendError::Disconnected(task) => task,
                };
                Err(job.give_up(Unjudged::Crowded))
            }
        }
    }
}

fn work(tasks: &Mutex<Receiver<Task>>) {
    loop {
        let next = lock(tasks).recv();
        let Ok((job, sender)) = next else {
            return;
        };
        // Nobody waits for it when the client has gone away.
        if !sender.is_closed() {
            // Done before, as a rule. If not, the time that it takes is not the call's.
            divergence::prepare();
            let _ = sender.send(job.run());
        }
    }
}
