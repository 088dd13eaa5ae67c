//! Processes as `/proc` shows them. A process is its number and when it began, so that a number
//! that was given anew is never taken for the one that had it before.

use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, kill_process, pidfd_open, pidfd_send_signal, wait,
    waitpid,
};
use std::collections::HashSet;
use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// So many looks in a row that find nobody are taken for the truth, where others are spared.
const EMPTY_LOOKS: u32 = 20;

/// A process, also after its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Process {
    /// Its number.
    pub pid: i32,
    /// When it began, in ticks since the machine did.
    pub started: u64,
}

/// What `stat` says about a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) process: Process,
    pub(super) parent: i32,
    pub(super) group: i32,
    pub(super) session: i32,
    pub(super) state: char,
}

impl Process {
    /// The process that has this number now.
    pub fn of(pid: i32) -> Option<Process> {
        Some(look(pid)?.process)
    }

    /// The process that this is.
    pub fn own() -> Option<Process> {
        Process::of(own_pid())
    }

    /// Whether it is there and does, or could do, something: a zombie does not.
    pub fn is_alive(self) -> bool {
        self.is_same() && self.threads().iter().any(|&state| !is_dead(state))
    }

    /// Whether all its threads are stopped or dead, or it is gone.
    pub fn is_stopped(self) -> bool {
        let stopped = |&state: &char| matches!(state, 'T' | 't') || is_dead(state);
        !self.is_same() || self.threads().iter().all(stopped)
    }

    /// Sends it a signal, if it is still there. Whether it was.
    pub fn send(self, signal: Signal) -> bool {
        let Some(pid) = Pid::from_raw(self.pid) else {
            return false;
        };
        match pidfd_open(pid, PidfdFlags::empty()) {
            // Whoever has the number now keeps it while the descriptor is open, so what is looked
            // at is what is hit.
            Ok(descriptor) => self.is_same() && pidfd_send_signal(descriptor, signal).is_ok(),
            Err(rustix::io::Errno::SRCH) => false,
            Err(_) => self.is_same() && kill_process(pid, signal).is_ok(),
        }
    }

    fn is_same(self) -> bool {
        Process::of(self.pid) == Some(self)
    }

    /// The states of its threads. A process whose first thread has ended may have others.
    fn threads(self) -> Vec<char> {
        let folder = PathBuf::from(format!("/proc/{}/task", self.pid));
        let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        let state = |entry: std::fs::DirEntry| {
            let text = std::fs::read(entry.path().join("stat")).ok()?;
            Some(parse(&String::from_utf8_lossy(&text))?.state)
        };
        entries.filter_map(state).collect()
    }

    /// Its children, as far as they can be had quickly.
    pub fn children_now(self) -> Vec<Process> {
        let pids = child_pids(self.pid).into_iter();
        pids.filter_map(Process::of).collect()
    }

    /// Whether it was started with this variable in its environment.
    pub(super) fn has_variable(self, entry: &str) -> bool {
        let environment = std::fs::read(format!("/proc/{}/environ", self.pid));
        environment.is_ok_and(|text| text.split(|&b| b == 0).any(|e| e == entry.as_bytes()))
    }
}

/// Kills and takes off the table all children of this process but these, and whatever comes to it
/// as they die, until there is none; or until patience is at its end. Whether there is none.
///
/// This process must take in orphans. A process that only forks and exits is gone before `/proc`
/// has been read through, but it is always the child of somebody here. The numbers of our own
/// children are not given anew before they are off the table.
pub(crate) fn clear_children(but: &HashSet<Process>, patience: Duration) -> bool {
    let spared: HashSet<i32> = but.iter().map(|process| process.pid).collect();
    let begin = Instant::now();
    let mut empty = 0;
    while begin.elapsed() < patience {
        let children = child_pids(own_pid());
        let children = children.iter().filter(|pid| !spared.contains(pid));
        let mut found = false;
        for pid in children.filter_map(|pid| Pid::from_raw(*pid)) {
            found = true;
            let _ = kill_process(pid, Signal::KILL);
            let _ = waitpid(Some(pid), WaitOptions::NOHANG);
        }
        if spared.is_empty() {
            // The system knows exactly.
            match wait(WaitOptions::NOHANG) {
                Err(rustix::io::Errno::CHILD) => return true,
                Ok(_) | Err(_) => continue,
            }
        }
        empty = if found { 0 } else { empty + 1 };
        if empty == EMPTY_LOOKS {
            return true;
        }
    }
    false
}

/// The children of a process, by a list that may lack some while they come and go, but that costs
/// little.
fn child_pids(pid: i32) -> Vec<i32> {
    let folder = PathBuf::from(format!("/proc/{pid}/task"));
    let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
    let lists =
        entries.filter_map(|entry| std::fs::read_to_string(entry.path().join("children")).ok());
    let pids = |list: String| -> Vec<i32> {
        let words = list.split_ascii_whitespace();
        words.filter_map(|pid| pid.parse().ok()).collect()
    };
    lists.flat_map(pids).collect()
}

/// Whether somebody could continue this process if it were stopped: a shell of the same session, in
/// another group. The system suspends nobody else either.
pub(crate) fn can_be_continued() -> bool {
    let Some(own) = look(own_pid()) else {
        return false;
    };
    let mut next = own.parent;
    while let Some(above) = look(next) {
        if above.group != own.group {
            return above.session == own.session;
        }
        next = above.parent;
    }
    false
}

/// The number of the process that this is.
pub(super) fn own_pid() -> i32 {
    rustix::process::getpid().as_raw_nonzero().get()
}

/// What is known of the process that has this number now.
pub(super) fn look(pid: i32) -> Option<Seen> {
    let text = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    parse(&String::from_utf8_lossy(&text))
}

/// All processes that can be seen.
pub(super) fn all() -> io::Result<Vec<Seen>> {
    let entries = std::fs::read_dir("/proc")?;
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    // One that ends meanwhile is gone.
    Ok(pids.filter_map(look).collect())
}

pub(super) fn is_dead(state: char) -> bool {
    matches!(state, 'Z' | 'X' | 'x')
}

/// The name in brackets may hold anything, also brackets.
fn parse(text: &str) -> Option<Seen> {
    let (head, rest) = text.rsplit_once(')')?;
    let pid = head.split_once(' ')?.0.parse().ok()?;
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?.chars().next()?;
    let parent = fields.next()?.parse().ok()?;
    let group = fields.next()?.parse().ok()?;
    let session = fields.next()?.parse().ok()?;
    let started = fields.nth(15)?.parse().ok()?;
    Some(Seen {
        process: Process { pid, started },
        parent,
        group,
        session,
        state,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_forge_the_rest() {
        let text = "42 (x) R 1 1 1) S 7 8 9 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 777 1 2";
        let seen = parse(text).unwrap();
        assert_eq!((seen.process.pid, seen.process.started), (42, 777));
        assert_eq!((seen.parent, seen.group, seen.session), (7, 8, 9));
        assert_eq!(seen.state, 'S');
    }

    #[test]
    fn a_number_that_was_given_anew_is_another_process() {
        let own = Process::own().unwrap();
        assert!(own.is_alive() && !own.is_stopped());
        let earlier = Process {
            started: own.started.wrapping_sub(1),
            ..own
        };
        assert!(!earlier.is_alive());
        // It would end this test.
        assert!(!earlier.send(Signal::KILL));
    }
}
