//! The way from a hook to a resident engine: a socket in the state folder.
//!
//! The hook sends a line of JSON, `{"agent":"codex","project":"/home/me/x"}`, then what the client
//! has handed over, to its end. The engine answers with one JSON object: `{"code":0,"out":"…","err":"…"}`.

use super::engine::Handed;
use super::reply::Reply;
use crate::args::HookAgent;
use crate::listening::{HOOKS, connect};
use holdgate_effects::json::{Json, LoneSurrogates};
use std::io::{self, Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// How long a hook waits for the engine. Clients wait longer, and then run the call.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);
/// Bytes of an answer.
const MAX_REPLY: u64 = 1 << 20;
/// Ancestors among which the process of a run is looked for.
const MAX_ANCESTORS: usize = 64;

/// The socket of the run with this process.
pub(crate) fn name_of_run(pid: u32) -> String {
    format!("run-{pid}-{HOOKS}")
}

/// Asks the engine of the run that the agent belongs to, else that of a proxy. `None` if there is
/// none. The tree of processes says which run it is; the agent cannot choose another one.
pub(crate) fn ask(state_dir: &Path, handed: &Handed<'_>) -> Option<io::Result<Reply>> {
    let of_runs = ancestors().map(name_of_run);
    let names = of_runs.chain([HOOKS.to_owned()]);
    let mut found = names.filter_map(|name| connect(&state_dir.join(name)).ok());
    let stream = found.find(is_ours)?;
    Some(exchange(stream, handed))
}

fn exchange(mut stream: UnixStream, handed: &Handed<'_>) -> io::Result<Reply> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut header = Json::object([("agent", handed.agent.word().into())]);
    if let Some(project) = handed.project {
        header.set("project", project.to_owned().into());
    }
    stream.write_all(format!("{header}\n").as_bytes())?;
    stream.write_all(handed.bytes)?;
    stream.shutdown(Shutdown::Write)?;
    let mut bytes = Vec::new();
    stream.take(MAX_REPLY).read_to_end(&mut bytes)?;
    let broken = || io::Error::new(io::ErrorKind::InvalidData, "its answer is not whole");
    Reply::read(&bytes).ok_or_else(broken)
}

/// What a hook has sent: the header, and what follows it.
pub(crate) fn read_header(bytes: &[u8]) -> Option<(HookAgent, Option<String>, &[u8])> {
    let end = memchr::memchr(b'\n', bytes)?;
    let (header, rest) = bytes.split_at(end);
    let header = Json::read(header, 4, LoneSurrogates::Refuse).ok()?;
    let agent = HookAgent::from_word(header.get_str("agent")?)?;
    let project = header.get_str("project").map(str::to_owned);
    Some((agent, project, rest.get(1..)?))
}

/// Whether the other end belongs to this user, or to the system.
pub(crate) fn is_ours(stream: &UnixStream) -> bool {
    let own = rustix::process::geteuid();
    rustix::net::sockopt::socket_peercred(stream)
        .is_ok_and(|peer| peer.uid == own || peer.uid.is_root())
}

/// The processes above this one, the nearest first.
fn ancestors() -> impl Iterator<Item = u32> {
    let own = Some(std::process::id());
    std::iter::successors(own, |pid| parent(*pid).filter(|pid| *pid > 1))
        .skip(1)
        .take(MAX_ANCESTORS)
}

fn parent(pid: u32) -> Option<u32> {
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    // The name of the program may contain anything.
    let (_, after) = stat.rsplit_once(") ")?;
    after.split(' ').nth(1)?.parse().ok()
}
