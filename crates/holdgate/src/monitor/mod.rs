//! The monitor: an agent's output passes through, is watched, and what is suspicious is asked about
//! while the agent stands still.
//!
//! One thread carries each stream, so that the byte that completes a certain pattern and the kill
//! are in the same hands; one more asks about the rest, one hit after the other. The agent goes on
//! when no question is open.

mod carry;
pub mod cgroup;
mod decide;
pub mod incident;
mod person;
pub mod process;
pub mod tree;

use crate::asks::Asks;
use crate::judge::{Judge, WorkContext};
use crate::ledger::Ledger;
use crate::threads::{lock, runtime, spawn};
use holdgate_core::watch::{Commands, Patterns};
use incident::{Done, Incident};
use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tree::Tree;

/// Questions that may wait; a stream that has more waits itself.
const MAX_WAITING: usize = 64;
/// How long the judge is asked after the agent's end.
const ASKED_AFTER_END: Duration = Duration::from_secs(3);

/// How to monitor.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Whether the tree stands still while a question is open.
    pub freeze: bool,
    /// The session in whose name incidents are recorded.
    pub session: String,
    /// Where they go.
    pub ledger: Arc<Ledger>,
    /// What is suspicious,
    pub patterns: Arc<Patterns>,
    /// also as a command.
    pub commands: Commands,
    /// Who is asked.
    pub judge: Arc<Judge>,
    /// The person who is asked if the judge gives no verdict, and for how long.
    pub person: Option<(Arc<Asks>, Duration)>,
    /// Requests of the agent that came through the proxy.
    pub requests: Arc<AtomicU64>,
}

/// A running agent: its processes, and what it writes.
#[derive(Debug)]
pub struct Agent {
    /// All that it has started.
    pub tree: Tree,
    /// Its streams.
    pub outputs: Vec<Output>,
}

/// A stream of output and where it goes.
pub struct Output {
    /// `stdout`, `stderr`, `terminal`.
    pub name: &'static str,
    /// The agent's end.
    pub from: File,
    /// The user's end.
    pub to: Box<dyn Write + Send>,
}

impl std::fmt::Debug for Output {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Output")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// Watches one agent.
#[derive(Debug)]
pub struct StreamMonitor {
    shared: Arc<Shared>,
    carriers: Vec<JoinHandle<()>>,
}

/// Kills the agent.
#[derive(Debug)]
pub struct Killer(Arc<Shared>);

impl Killer {
    /// Now; nothing is asked any more.
    pub fn kill(&self) {
        self.0.lock().kill();
    }
}

#[derive(Debug)]
struct Shared {
    settings: Settings,
    work: WorkContext,
    /// The agent has used a tool.
    acted: AtomicBool,
    watching: AtomicBool,
    /// Streams that have output which is not passed on yet.
    busy: AtomicUsize,
    state: Mutex<State>,
    /// Told when the last open question is decided.
    settled: Condvar,
    number: AtomicU64,
}

#[derive(Debug)]
struct State {
    tree: Tree,
    /// Hits that are not decided yet. The tree goes on when there is none.
    open: usize,
    killed: bool,
    ended: Option<Instant>,
    /// Patterns that a person does not want to be asked about again.
    let_go: HashSet<Arc<str>>,
    incidents: Vec<Incident>,
    count: u64,
}

impl StreamMonitor {
    /// Carries and watches the agent's output from now on.
    pub fn attach(
        agent: Agent,
        work: WorkContext,
        settings: Settings,
    ) -> io::Result<StreamMonitor> {
        let shared = Arc::new(Shared {
            settings,
            work,
            acted: AtomicBool::new(false),
            watching: AtomicBool::new(true),
            busy: AtomicUsize::new(agent.outputs.len()),
            state: Mutex::new(State {
                tree: agent.tree,
                open: 0,
                killed: false,
                ended: None,
                let_go: HashSet::new(),
                incidents: Vec::new(),
                count: 0,
            }),
            settled: Condvar::new(),
            number: AtomicU64::new(0),
        });
        let (found, asked) = sync_channel(MAX_WAITING);
        let deciding = shared.clone();
        let runtime = runtime()?;
        spawn("decider", move || {
            decide::decide(&deciding, &asked, &runtime);
        })?;
        let mut carriers = Vec::new();
        for output in agent.outputs {
            let (shared, found) = (shared.clone(), found.clone());
            let name = output.name;
            carriers.push(spawn(name, move || carry::carry(output, &shared, &found))?);
        }
        Ok(StreamMonitor { shared, carriers })
    }

    /// Whether all output that the agent has made has been passed on.
    pub fn is_quiet(&self) -> bool {
        self.shared.busy.load(Ordering::Acquire) == 0
    }

    /// Watches no more, once what was found is decided. Output passes on as before.
    pub fn detach(&self) {
        self.shared.watching.store(false, Ordering::Release);
        let mut state = self.shared.lock();
        while state.open > 0 {
            let waited = self.shared.settled.wait(state);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// What was found so far, and what came of it.
    pub fn incidents(&self) -> Vec<Incident> {
        self.shared.lock().incidents.clone()
    }

    /// How many incidents there were.
    pub fn count(&self) -> u64 {
        self.shared.lock().count
    }

    /// The agent's processes.
    pub fn with_tree<T>(&self, act: impl FnOnce(&mut Tree) -> T) -> T {
        act(&mut self.shared.lock().tree)
    }

    /// Kills the agent; nothing is asked any more.
    pub fn kill(&self) {
        self.shared.lock().kill();
    }

    /// Kills the agent from another thread.
    pub fn killer(&self) -> Killer {
        Killer(self.shared.clone())
    }

    /// Whether output has shown that the agent used a tool.
    pub fn has_acted(&self) -> bool {
        self.shared.acted.load(Ordering::Acquire)
    }

    /// Whether the agent was killed.
    pub fn has_killed(&self) -> bool {
        self.shared.lock().killed
    }

    /// The agent has ended. Waits until all output has passed, and what was found is decided; that
    /// the judge is asked about only for a while.
    pub fn finish(&mut self) {
        self.shared.lock().ended = Some(Instant::now());
        for carrier in self.carriers.drain(..) {
            // One that panicked has already dropped its stream.
            let _ = carrier.join();
        }
        self.detach();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

impl State {
    /// Whether the agent was killed, and whether it ended too long ago to ask about it.
    fn over(&self) -> (bool, bool) {
        let late = |ended: Instant| ended.elapsed() > ASKED_AFTER_END;
        (self.killed, self.ended.is_some_and(late))
    }

    /// Kills the tree, and also returns when the first round was done.
    fn kill(&mut self) -> (Done, Instant) {
        self.killed = true;
        let begin = Instant::now();
        let killed = self.tree.kill();
        let left = killed.left.iter().map(|process| process.pid).collect();
        let processes = killed.processes;
        (Done::Killed { processes, left }, begin + killed.first)
    }
}
