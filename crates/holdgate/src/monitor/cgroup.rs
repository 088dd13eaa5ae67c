//! A control group of the agent's own, where one can be made: freezing and killing it is one write,
//! and a process cannot leave it by forking.

use super::process::own_pid;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

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

    /// Who is in it.
    pub(super) fn pids(&self) -> Vec<i32> {
        let text = std::fs::read_to_string(self.dir.join("cgroup.procs")).unwrap_or_default();
        text.lines().filter_map(|line| line.parse().ok()).collect()
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

    pub(super) fn kill(&self) {
        // Whoever is left after it is found in `/proc`.
        let _ = self.write("cgroup.kill", "1");
    }

    /// Removes it, which the kernel allows once all that was in it is gone.
    pub fn remove(&self) {
        let _ = std::fs::remove_dir(&self.dir);
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
