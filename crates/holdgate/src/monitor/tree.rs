//! All that an agent has started, wherever it went: frozen, thawed or killed as a whole.
//!
//! Below a process that takes in orphans (a subreaper), nothing gets away by forking twice or by a
//! session of its own: its parent is then that process. What was once seen in the tree stays in it,
//! and so do the groups and sessions that are led from within.

use super::cgroup::Cgroup;
use super::process::{self, Process, Seen, clear_children, is_dead, own_pid};
use rustix::process::{Pid, Signal, WaitOptions, waitpid};
use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

/// How long freezing and killing may take.
const FREEZE_PATIENCE: Duration = Duration::from_secs(1);
const KILL_PATIENCE: Duration = Duration::from_secs(5);
/// Between two looks.
const PAUSE: Duration = Duration::from_micros(200);
/// How long orphans may go on coming in one round.
const ORPHAN_PATIENCE: Duration = Duration::from_secs(1);
/// Tells a keeper to end all, and itself.
pub const END: Signal = Signal::USR1;
/// After so many rounds of killing, what is left forks faster than it dies: it is stopped first.
const STUBBORN_AFTER: u32 = 8;

/// Which of our own children are orphans of the tree.
#[derive(Clone, Debug)]
pub enum Orphans {
    /// All: this process starts nothing else.
    All,
    /// None as long as the root is there, which takes them in; then all but those that were ours
    /// before.
    AfterRoot(HashSet<Process>),
    /// Those that were started with this `NAME=VALUE` in their environment.
    Marked(String),
}

/// A tree of processes.
#[derive(Debug)]
pub struct Tree {
    root: Process,
    /// Whether the root is ours: then it is neither stopped nor killed.
    spare_root: bool,
    orphans: Orphans,
    cgroup: Option<Cgroup>,
    /// Who was seen in it and may still be there.
    known: HashMap<i32, u64>,
    /// Whom we have stopped, parents first.
    stopped: Vec<Process>,
    frozen: bool,
}

/// How freezing went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frozen {
    /// How many processes there are.
    pub processes: usize,
    /// Whether every one was seen to stand still.
    pub verified: bool,
}

/// How killing went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Killed {
    /// How many processes were killed.
    pub processes: usize,
    /// Who is still there: stuck in the kernel, or of another user.
    pub left: Vec<Process>,
    /// From the call to the first signal.
    pub first: Duration,
}

impl Tree {
    /// The process and all below it.
    pub fn of(root: Process, orphans: Orphans) -> Tree {
        Tree {
            root,
            spare_root: false,
            orphans,
            cgroup: None,
            known: HashMap::new(),
            stopped: Vec::new(),
            frozen: false,
        }
    }

    /// All below the process, which is ours.
    pub fn below(root: Process, orphans: Orphans) -> Tree {
        Tree {
            spare_root: true,
            ..Tree::of(root, orphans)
        }
    }

    /// The same, whose processes are in a control group of their own.
    #[must_use]
    pub fn in_cgroup(mut self, cgroup: Option<Cgroup>) -> Tree {
        self.cgroup = cgroup;
        self
    }

    /// Who is in it now, parents before their children.
    pub fn members(&mut self) -> Vec<Process> {
        let seen = self.look();
        let alive = seen.iter().filter(|seen| !is_dead(seen.state));
        alive.map(|seen| seen.process).collect()
    }

    /// The first process below one that is ours: the agent itself.
    pub fn first(&self) -> Option<Process> {
        if self.spare_root {
            self.root.children_now().into_iter().next()
        } else {
            Some(self.root)
        }
    }

    /// Stops the whole tree, and looks until all of it stands still and nothing new has come.
    pub fn freeze(&mut self) -> Frozen {
        let begin = Instant::now();
        self.frozen = true;
        let by_group = self.cgroup.as_ref().is_some_and(Cgroup::freeze);
        let mut before: Option<HashSet<Process>> = None;
        loop {
            let members = self.members();
            let held: HashSet<i32> = match &self.cgroup {
                Some(cgroup) if by_group => cgroup.pids().into_iter().collect(),
                _ => HashSet::new(),
            };
            let mut moving = false;
            for &member in members.iter().filter(|m| !held.contains(&m.pid)) {
                if !member.is_stopped() {
                    moving = true;
                    if member.send(Signal::STOP) && !self.stopped.contains(&member) {
                        self.stopped.push(member);
                    }
                }
            }
            let processes = members.len();
            let now: HashSet<Process> = members.into_iter().collect();
            // What stood still in the last round could not fork since: nobody new means nobody.
            let verified = !moving && before.as_ref() == Some(&now);
            if verified || begin.elapsed() > FREEZE_PATIENCE {
                return Frozen {
                    processes,
                    verified,
                };
            }
            before = (!moving).then_some(now);
            if moving {
                std::thread::sleep(PAUSE);
            }
        }
    }

    /// Whether we hold it still.
    pub fn is_frozen(&self) -> bool {
        self.frozen
    }

    /// Lets go on what [`freeze`](Self::freeze) has stopped, and nothing else: what the agent had
    /// stopped itself stays so.
    pub fn thaw(&mut self) {
        self.frozen = false;
        if let Some(cgroup) = &self.cgroup {
            cgroup.thaw();
        }
        // Children first: a shell that goes on must not find its job stopped.
        for process in std::mem::take(&mut self.stopped).into_iter().rev() {
            process.send(Signal::CONT);
        }
    }

    /// Kills the whole tree, and looks until nobody is left.
    pub fn kill(&mut self) -> Killed {
        let begin = Instant::now();
        let mut hit = HashSet::new();
        if let Some(cgroup) = &self.cgroup {
            hit.extend(cgroup.own_pids());
            cgroup.kill();
        }
        self.kill_at_once(&mut hit);
        let first = begin.elapsed();
        let mut clear = 0;
        let mut left = Vec::new();
        for round in 0.. {
            let seen = self.look();
            reap(&seen, self.root.pid);
            let alive = |process: &Process| process.is_alive();
            left = seen.iter().map(|seen| seen.process).filter(alive).collect();
            let cleared = left.is_empty() && self.is_kept_clear();
            clear = if cleared { clear + 1 } else { 0 };
            if clear == 2 {
                break;
            }
            if begin.elapsed() > KILL_PATIENCE {
                left.extend((!cleared).then_some(self.root));
                break;
            }
            if round > STUBBORN_AFTER {
                for process in &left {
                    process.send(Signal::STOP);
                }
            }
            let killed = left.iter().filter(|process| process.send(Signal::KILL));
            hit.extend(killed.map(|process| process.pid));
            if !cleared {
                std::thread::sleep(PAUSE);
            }
        }
        self.stopped.clear();
        self.frozen = false;
        Killed {
            processes: hit.len(),
            left,
            first,
        }
    }

    /// The process of ours between us and the agent, if there is one, has made sure that nobody is
    /// left: it sees what `/proc` does not show in time. It is told to, and ends when it has.
    fn is_kept_clear(&self) -> bool {
        if !self.spare_root || self.root.pid == own_pid() {
            return true;
        }
        if self.root.is_alive() {
            self.root.send(END);
            self.root.send(Signal::CONT);
            return false;
        }
        match &self.orphans {
            // The root is waited for by its owner.
            Orphans::AfterRoot(before) => {
                let mut others = before.clone();
                others.insert(self.root);
                clear_children(&others, ORPHAN_PATIENCE)
            }
            Orphans::All | Orphans::Marked(_) => true,
        }
    }

    /// What can be found quickly, before all of `/proc` is looked at.
    fn kill_at_once(&self, hit: &mut HashSet<i32>) {
        let mut done = HashSet::new();
        let mut next = if self.spare_root {
            self.root.children_now()
        } else {
            vec![self.root]
        };
        while let Some(process) = next.pop() {
            // A stopped parent forks no more while its children are looked up.
            if process.pid != own_pid() && done.insert(process) && process.send(Signal::STOP) {
                next.extend(process.children_now());
                process.send(Signal::KILL);
                hit.insert(process.pid);
            }
        }
    }

    /// Looks at all processes for those of the tree; parents come before their children.
    fn look(&mut self) -> Vec<Seen> {
        let all = process::all().unwrap_or_default();
        let by_pid: HashMap<i32, &Seen> = all.iter().map(|s| (s.process.pid, s)).collect();
        let never = above(&by_pid);
        let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
        for seen in &all {
            children
                .entry(seen.parent)
                .or_default()
                .push(seen.process.pid);
        }
        let mut next = Vec::new();
        if by_pid
            .get(&self.root.pid)
            .is_some_and(|s| s.process == self.root)
        {
            next.push(self.root.pid);
        }
        let root_is_gone = !self.root.is_alive();
        let ours = children.get(&own_pid()).into_iter().flatten();
        next.extend(ours.filter(|pid| self.is_orphan(**pid, root_is_gone, &by_pid)));
        self.known.retain(|pid, started| {
            by_pid
                .get(pid)
                .is_some_and(|seen| seen.process.started == *started)
        });
        next.extend(self.known.keys());
        next.extend(self.cgroup.iter().flat_map(Cgroup::pids));

        let mut found = HashSet::new();
        while !next.is_empty() {
            while let Some(pid) = next.pop() {
                if (pid == self.root.pid || !never.contains(&pid)) && found.insert(pid) {
                    next.extend(children.get(&pid).into_iter().flatten());
                }
            }
            // Groups and sessions that are led from within. Those of the root, if it is ours, are
            // not the agent's.
            let leads = |pid: &i32| found.contains(pid) && self.takes(*pid);
            let led = all.iter().filter(|s| leads(&s.group) || leads(&s.session));
            let led = led
                .map(|s| s.process.pid)
                .filter(|pid| !never.contains(pid));
            next = led.filter(|pid| !found.contains(pid)).collect();
        }
        found.retain(|pid| self.takes(*pid));
        let inside = |pid: i32| by_pid.get(&pid).filter(|_| found.contains(&pid));
        let has_parent = |seen: &Seen| found.contains(&seen.parent);
        let mut order: Vec<Seen> = found
            .iter()
            .filter_map(|pid| Some(**by_pid.get(pid)?))
            .collect();
        order.retain(|seen| !has_parent(seen));
        let mut at = 0;
        while let Some(seen) = order.get(at) {
            let below = children.get(&seen.process.pid).into_iter().flatten();
            let below: Vec<Seen> = below.filter_map(|pid| inside(*pid)).map(|s| **s).collect();
            order.extend(below);
            at += 1;
        }
        let known = order.iter().map(|s| (s.process.pid, s.process.started));
        self.known.extend(known);
        order
    }

    /// Whether a process that was found is the agent's.
    fn takes(&self, pid: i32) -> bool {
        pid != own_pid() && !(self.spare_root && pid == self.root.pid)
    }

    fn is_orphan(&self, pid: i32, root_is_gone: bool, by_pid: &HashMap<i32, &Seen>) -> bool {
        let Some(seen) = by_pid.get(&pid) else {
            return false;
        };
        match &self.orphans {
            Orphans::All => true,
            Orphans::AfterRoot(before) => root_is_gone && !before.contains(&seen.process),
            Orphans::Marked(entry) => seen.process.has_variable(entry),
        }
    }
}

/// This process and its ancestors, which are never signalled.
fn above(by_pid: &HashMap<i32, &Seen>) -> HashSet<i32> {
    let mut line = HashSet::from([own_pid()]);
    let mut next = own_pid();
    while let Some(seen) = by_pid.get(&next) {
        next = seen.parent;
        if !line.insert(next) {
            break;
        }
    }
    line
}

/// Takes the zombies off the table that came to us as orphans. The root is waited for by its owner.
fn reap(seen: &[Seen], root: i32) {
    let ours = |seen: &&Seen| seen.parent == own_pid() && is_dead(seen.state);
    for seen in seen.iter().filter(ours).filter(|s| s.process.pid != root) {
        let _ = waitpid(Pid::from_raw(seen.process.pid), WaitOptions::NOHANG);
    }
}
