//! A control group of the agent's own, where one can be made: freezing and killing it is one write,
//! and a process cannot leave it by forking.

use super::process::own_pid;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Groups within it that are looked at.
const MAX_GROUPS: usize = 256;
/// How long the kernel may take to freeze it.
const FREEZE_PATIENCE: Duration = Duration::from_millis(500);

/// A group that holds the agent's tree and nothing else.
#[derive(Debug)]
pub struct Cgroup {
    dir: PathBuf,
    /// Whether it goes with this value.
    owned: bool,
}

impl Cgroup {
    /// Makes a group below the one that this process is in; `None` where that cannot be.
    pub fn make(name: &str) -> Option<Cgroup> {
        let own = std::fs::read_to_string("/proc/self/cgroup").ok()?;
        let own = own.lines().find_map(|line| line.strip_prefix("0::/"))?;
        let dir = mount()?.join(own).join(name);
        std::fs::create_dir(&dir).ok()?;
        let group = Cgroup { dir, owned: true };
        // Older kernels can freeze or kill less: then there is no use for it.
        let able = ["cgroup.procs", "cgroup.freeze", "cgroup.kill"];
        able.iter()
            .all(|file| writable(&group.dir.join(file)))
            .then_some(group)
    }

    /// Puts this process where it is already. The kernel takes milliseconds for this if nobody has done
    /// so for a while, and then very little: an agent that enters its group need not wait for it.
    pub fn rouse() {
        let own = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let own = own.lines().find_map(|line| line.strip_prefix("0::/"));
        if let Some((mount, own)) = mount().zip(own) {
            let dir = mount.join(own);
            // Where that is not allowed, there is no group to enter either.
            let _ = Cgroup::at(&dir).join();
        }
    }

    /// A group that another process has made.
    pub fn at(dir: &Path) -> Cgroup {
        Cgroup {
            dir: dir.to_owned(),
            owned: false,
        }
    }

    /// Where it is.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Puts this process into it, and with it all that it starts.
    pub fn join(&self) -> io::Result<()> {
        self.write("cgroup.procs", &own_pid().to_string())
    }

    /// Who is in it, and in groups that were made below it.
    pub(super) fn pids(&self) -> Vec<i32> {
        self.all().iter().flat_map(|dir| pids_in(dir)).collect()
    }

    /// Who is in it itself, which is quicker to tell.
    pub(super) fn own_pids(&self) -> Vec<i32> {
        pids_in(&self.dir)
    }

    /// It and all groups below it, which come after those that they are in.
    fn all(&self) -> Vec<PathBuf> {
        let mut all = vec![self.dir.clone()];
        let mut at = 0;
        while let (Some(dir), true) = (all.get(at), all.len() < MAX_GROUPS) {
            let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
            let below = entries.filter(|entry| entry.file_type().is_ok_and(|t| t.is_dir()));
            let below: Vec<PathBuf> = below.map(|entry| entry.path()).collect();
            all.extend(below);
            at += 1;
        }
        all
    }

    /// Stops all that is in it. Whether all of it stands still.
    pub(super) fn freeze(&self) -> bool {
        if self.write("cgroup.freeze", "1").is_err() {
            return false;
        }
        let begin = Instant::now();
        loop {
            let events = std::fs::read_to_string(self.dir.join("cgroup.events"));
            if events.is_ok_and(|text| text.lines().any(|line| line == "frozen 1")) {
                return true;
            }
            if begin.elapsed() > FREEZE_PATIENCE {
                return false;
            }
            std::thread::sleep(Duration::from_micros(100));
        }
    }

    pub(super) fn thaw(&self) {
        // A group that is gone has nothing that stands still.
        let _ = self.write("cgroup.freeze", "0");
    }

    pub(crate) fn kill(&self) {
        // Whoever is left after it is found in `/proc`.
        let _ = self.write("cgroup.kill", "1");
    }

    /// Removes it, which the kernel allows once all that was in it is gone.
    pub fn remove(&self) {
        for dir in self.all().iter().rev() {
            let _ = std::fs::remove_dir(dir);
        }
    }

    fn write(&self, file: &str, text: &str) -> io::Result<()> {
        std::fs::write(self.dir.join(file), text)
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        if self.owned {
            self.remove();
        }
    }
}

fn pids_in(dir: &Path) -> Vec<i32> {
    let text = std::fs::read_to_string(dir.join("cgroup.procs")).unwrap_or_default();
    text.lines().filter_map(|line| line.parse().ok()).collect()
}

/// Where control groups of the second version are.
fn mount() -> Option<PathBuf> {
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").ok()?;
    mounts.lines().find_map(|line| {
        let (place, kind) = line.split_once(" - ")?;
        let is_second = kind.split_ascii_whitespace().next() == Some("cgroup2");
        let path = place.split_ascii_whitespace().nth(4)?;
        is_second.then(|| PathBuf::from(path))
    })
}

fn writable(path: &Path) -> bool {
    std::fs::OpenOptions::new().write(true).open(path).is_ok()
}
