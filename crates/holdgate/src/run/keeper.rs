//! The keeper: a process of ours between `holdgate run` and the agent. It takes in the agent's
//! orphans, and if `holdgate run` dies, whatever kills it, it kills all that the agent has started.
//!
//! Running code between fork and exec would need `unsafe`. So the agent's place is taken by this
//! program once more, which makes itself ready (session, terminal, process group, control group) and
//! then becomes the agent.

use crate::args::KeepArgs;
use crate::monitor::cgroup::Cgroup;
use crate::monitor::process::Process;
use crate::monitor::tree::{Orphans, Tree};
use anyhow::Context as _;
use rustix::process::{
    Pid, Signal, WaitOptions, WaitStatus, getpid, getppid, set_child_subreaper,
    set_parent_process_death_signal, setpgid, setsid, wait,
};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};
use tokio::signal::unix::{SignalKind, signal};

/// This program, also if its file was replaced meanwhile.
const OURSELVES: &str = "/proc/self/exe";
/// What the agent leaves behind may end by itself for so long.
const GRACE: Duration = Duration::from_secs(2);
/// As shells say it.
const NOT_FOUND: u8 = 127;
const NOT_RUN: u8 = 126;
const KILLED: u8 = 128 + 9;

/// `holdgate keep`, which only `holdgate run` starts.
pub fn run(args: &KeepArgs) -> anyhow::Result<ExitCode> {
    if args.start {
        return start(args);
    }
    set_child_subreaper(Some(getpid())).context("cannot take in orphans")?;
    // To the death of the thread that started us, which is the main thread of `holdgate run`.
    set_parent_process_death_signal(Some(Signal::TERM))?;
    if parent() != Some(args.parent) {
        return Ok(ExitCode::from(KILLED));
    }
    // Out of the foreground: what the user types is for the agent, not for its keeper.
    setpgid(None, None)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(keep(args))
}

async fn keep(args: &KeepArgs) -> anyhow::Result<ExitCode> {
    let mut ended = signal(SignalKind::child())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hangup = signal(SignalKind::hangup())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut quit = signal(SignalKind::quit())?;
    let own = Process::own().context("/proc is not there")?;
    let cgroup = args.cgroup.as_deref().map(Cgroup::at);
    let mut tree = Tree::below(own, Orphans::All).in_cgroup(cgroup);
    let agent = starter(args).spawn().context("cannot start")?.id();
    let agent = i32::try_from(agent).ok().and_then(Pid::from_raw);
    loop {
        tokio::select! {
            _ = ended.recv() => {}
            // These are for the agent; `holdgate run` sees to it.
            _ = interrupt.recv() => continue,
            _ = quit.recv() => continue,
            _ = hangup.recv() => {
                if parent() == Some(args.parent) { continue }
                end(&mut tree, args);
                return Ok(ExitCode::from(KILLED));
            }
            _ = terminate.recv() => {
                end(&mut tree, args);
                return Ok(ExitCode::from(KILLED));
            }
        }
        // Several ends may come as one signal.
        while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
            if Some(pid) == agent {
                clear(&mut tree).await;
                end(&mut tree, args);
                return Ok(ExitCode::from(code(status)));
            }
        }
    }
}

/// Asks what the agent has left behind to end.
async fn clear(tree: &mut Tree) {
    let left = tree.members();
    for process in &left {
        process.send(Signal::TERM);
        process.send(Signal::CONT);
    }
    let begin = Instant::now();
    while !tree.members().is_empty() && begin.elapsed() < GRACE {
        tokio::time::sleep(Duration::from_millis(5)).await;
        while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {}
    }
}

fn end(tree: &mut Tree, args: &KeepArgs) {
    tree.kill();
    while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {}
    if let Some(dir) = &args.cgroup {
        Cgroup::at(dir).remove();
    }
}

fn parent() -> Option<i32> {
    getppid().map(|pid| pid.as_raw_nonzero().get())
}

/// This program in the agent's place.
fn starter(args: &KeepArgs) -> Command {
    let mut command = Command::new(OURSELVES);
    command.args(["keep", "--start", "--parent", &args.parent.to_string()]);
    if let Some(terminal) = &args.terminal {
        command.arg("--terminal").arg(terminal);
        command.stdin(Stdio::null());
    }
    if let Some(group) = args.group {
        command.args(["--group", &group.to_string()]);
    }
    if let Some(cgroup) = &args.cgroup {
        command.arg("--cgroup").arg(cgroup);
    }
    command.arg("--").args(&args.command);
    command
}

/// Makes ready, and becomes the agent.
fn start(args: &KeepArgs) -> anyhow::Result<ExitCode> {
    // If even the keeper is killed, the agent itself goes at once, and `holdgate run` kills the rest.
    set_parent_process_death_signal(Some(Signal::KILL))?;
    if let Some(dir) = &args.cgroup {
        Cgroup::at(dir)
            .join()
            .with_context(|| format!("cannot enter {}", dir.display()))?;
    }
    let (program, arguments) = args.command.split_first().context("no command")?;
    let mut command = Command::new(program);
    command.args(arguments);
    if let Some(path) = &args.terminal {
        setsid().context("cannot begin a session")?;
        // The first terminal that the leader of a session opens is the session's.
        let open = || std::fs::File::options().read(true).write(true).open(path);
        let place = || format!("{}", path.display());
        command.stdin(open().with_context(place)?);
        command.stdout(open().with_context(place)?);
        command.stderr(open().with_context(place)?);
    } else if let Some(group) = args.group {
        setpgid(None, Pid::from_raw(group)).context("cannot join the process group")?;
    }
    let error = command.exec();
    crate::log::warn(&format!("{}: {error}", program.display()));
    let not_found = error.kind() == std::io::ErrorKind::NotFound;
    Ok(ExitCode::from(if not_found { NOT_FOUND } else { NOT_RUN }))
}

/// The exit code for an end: by a signal it is 128 and the signal's number.
fn code(status: WaitStatus) -> u8 {
    let code = match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => code,
        (None, Some(signal)) => 128 + signal,
        (None, None) => 1,
    };
    u8::try_from(code).unwrap_or(u8::MAX)
}
