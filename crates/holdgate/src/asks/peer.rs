//! Who may answer: a person at a terminal, not a program that the agent started.
//!
//! A peer of the socket must be this very program, of this user, in the foreground of a terminal,
//! and neither below a client of the proxy nor in an agent's environment. What cannot be looked at
//! is refused. It all rests on `/proc`, so elsewhere than on Linux everybody is refused.

use std::collections::HashSet;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Ancestors that are looked at.
const MAX_ANCESTORS: usize = 256;
/// Variables by which agents mark what they start.
const AGENT_MARKS: &[&str] = &[
    // The keeper of a run has it, and all that an agent starts stays below its keeper.
    crate::config::RUN_VARIABLE,
    "CLAUDECODE",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_SSE_PORT",
    "CODEX_SANDBOX",
    "CODEX_SANDBOX_NETWORK_DISABLED",
    "GEMINI_CLI",
    "CURSOR_AGENT",
    "OPENCODE",
    "AI_AGENT",
];
/// Variables that lead an agent's requests somewhere.
const ADDRESSES: &[&str] = &["_BASE_URL", "_API_BASE", "_API_URL", "_PROXY"];
/// Variables that put other code into a program.
const FOREIGN_CODE: &[&str] = &["LD_PRELOAD", "LD_AUDIT"];

/// A table of processes: `/proc`.
#[derive(Clone, Debug)]
pub struct Processes {
    root: PathBuf,
}

impl Default for Processes {
    fn default() -> Self {
        Processes {
            root: "/proc".into(),
        }
    }
}

/// What `stat` says about a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stat {
    parent: u32,
    group: i32,
    session: u32,
    terminal: i32,
    foreground: i32,
}

impl Processes {
    /// A table elsewhere than in `/proc`.
    pub fn at(root: &Path) -> Self {
        Processes {
            root: root.to_owned(),
        }
    }

    /// Whether the process `pid` of the user `uid` may answer for a proxy that runs as `own_uid`
    /// and listens on `port`, 0 if there is none; if not, why.
    pub fn check(&self, pid: u32, uid: u32, own_uid: u32, port: u16) -> Result<(), String> {
        if !cfg!(target_os = "linux") {
            return Err(
                "the other process can only be checked on Linux, so nobody can answer here".into(),
            );
        }
        if uid != own_uid {
            return Err("it belongs to another user".into());
        }
        let exe = |pid: &str| {
            let found = std::fs::metadata(self.root.join(pid).join("exe"));
            found.map(|m| (m.dev(), m.ino())).ok()
        };
        let own = exe("self").ok_or("it cannot be compared with this program")?;
        if exe(&pid.to_string()) != Some(own) {
            return Err("it is not the same program as the proxy".into());
        }
        let stat = self.stat(pid)?;
        if stat.terminal == 0 || stat.foreground <= 0 {
            return Err("it has no terminal".into());
        }
        if stat.foreground != stat.group {
            return Err("it is not in the foreground of its terminal".into());
        }
        let clients = self.sockets_to(port)?;
        let mut hidden_above = false;
        let mut below_leader = true;
        let peer = pid;
        for pid in self.line(peer, stat.session)? {
            match (
                self.environment(pid, port, pid == peer),
                self.sockets_of(pid),
            ) {
                (Ok(mark), Ok(sockets)) => {
                    if let Some(mark) = mark {
                        return Err(format!("process {pid} has {mark} set, as an agent does"));
                    }
                    if !sockets.is_disjoint(&clients) {
                        return Err(format!(
                            "its ancestor process {pid} is a client of the proxy"
                        ));
                    }
                }
                _ if below_leader => return Err(format!("process {pid} cannot be inspected")),
                // What runs a terminal may belong to the system.
                _ => hidden_above = true,
            }
            below_leader &= pid != stat.session;
        }
        if hidden_above && !clients.is_subset(&self.all_sockets()?) {
            return Err("the client process of the proxy cannot be determined".into());
        }
        Ok(())
    }

    /// The process and those that started it, which must lead to the leader of its session.
    fn line(&self, pid: u32, leader: u32) -> Result<Vec<u32>, String> {
        let mut line = vec![pid];
        let mut next = pid;
        while line.len() < MAX_ANCESTORS {
            next = self.stat(next)?.parent;
            if next == 0 {
                break;
            }
            line.push(next);
        }
        if next != 0 {
            return Err("it has too many ancestor processes".into());
        }
        if !line.contains(&leader) {
            return Err("it was not started by the shell of its terminal".into());
        }
        Ok(line)
    }

    fn stat(&self, pid: u32) -> Result<Stat, String> {
        let unknown = || format!("process {pid} cannot be inspected");
        let path = self.root.join(pid.to_string()).join("stat");
        let text = std::fs::read(path).map_err(|_| unknown())?;
        parse_stat(&String::from_utf8_lossy(&text)).ok_or_else(unknown)
    }

    /// The variable that marks an agent's process, if there is one.
    fn environment(&self, pid: u32, port: u16, own: bool) -> std::io::Result<Option<String>> {
        let text = std::fs::read(self.root.join(pid.to_string()).join("environ"))?;
        let to_proxy = format!(":{port}");
        let leads_here = |value: &str| {
            let mut rest = value.split(&to_proxy).skip(1);
            port != 0 && rest.any(|after| !after.starts_with(|c: char| c.is_ascii_digit()))
        };
        for entry in text.split(|&b| b == 0) {
            let entry = String::from_utf8_lossy(entry);
            let Some((name, value)) = entry.split_once('=') else {
                continue;
            };
            let upper = name.to_ascii_uppercase();
            let leads = ADDRESSES.iter().any(|end| upper.ends_with(end)) && leads_here(value);
            let foreign = own && FOREIGN_CODE.contains(&name);
            if leads || foreign || AGENT_MARKS.contains(&name) {
                return Ok(Some(name.to_owned()));
            }
        }
        Ok(None)
    }

    /// The sockets that are connected to `port`.
    fn sockets_to(&self, port: u16) -> Result<HashSet<u64>, String> {
        let mut found = HashSet::new();
        // The remote port of a listening socket is 0, too.
        for name in ["tcp", "tcp6"].iter().filter(|_| port != 0) {
            match std::fs::read_to_string(self.root.join("self/net").join(name)) {
                Ok(table) => found.extend(table.lines().filter_map(|line| connected(line, port))),
                Err(error) if *name == "tcp6" && error.kind() == std::io::ErrorKind::NotFound => {}
                Err(_) => return Err("the proxy's clients cannot be inspected".into()),
            }
        }
        Ok(found)
    }

    fn sockets_of(&self, pid: u32) -> std::io::Result<HashSet<u64>> {
        let mut found = HashSet::new();
        for entry in std::fs::read_dir(self.root.join(pid.to_string()).join("fd"))? {
            // One that is closed meanwhile is gone.
            if let Ok(target) = std::fs::read_link(entry?.path()) {
                let inode = target.to_str().and_then(|t| t.strip_prefix("socket:["));
                found.extend(inode.and_then(|t| t.strip_suffix(']')?.parse::<u64>().ok()));
            }
        }
        Ok(found)
    }

    /// The sockets of all processes that can be looked at.
    fn all_sockets(&self) -> Result<HashSet<u64>, String> {
        let entries = std::fs::read_dir(&self.root)
            .map_err(|_| "the processes cannot be inspected".to_owned())?;
        let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        Ok(pids
            .filter_map(|pid| self.sockets_of(pid).ok())
            .flatten()
            .collect())
    }
}

/// The name in brackets may hold anything, also brackets.
fn parse_stat(text: &str) -> Option<Stat> {
    let (_, rest) = text.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace().skip(1);
    let mut next = || fields.next();
    Some(Stat {
        parent: next()?.parse().ok()?,
        group: next()?.parse().ok()?,
        session: next()?.parse().ok()?,
        terminal: next()?.parse().ok()?,
        foreground: next()?.parse().ok()?,
    })
}

/// The socket of a line of `/proc/net/tcp`, if its other end is `port`.
fn connected(line: &str, port: u16) -> Option<u64> {
    let mut fields = line.split_ascii_whitespace();
    let (_, remote) = fields.nth(2)?.rsplit_once(':')?;
    let inode = fields.nth(6)?.parse().ok()?;
    let same = u16::from_str_radix(remote, 16).ok()? == port;
    (same && inode != 0).then_some(inode)
}

#[cfg(test)]
mod tests;
