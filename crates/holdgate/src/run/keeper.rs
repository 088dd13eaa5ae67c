//! The keeper: a process of ours between `holdgate run` and the agent. It takes in the agent's
//! orphans, and if `holdgate run` dies, whatever kills it, it kills all that the agent has started.
//!
//! Running code between fork and exec would need `unsafe`. So the agent's place is taken by this
//! program once more, which makes itself ready (session, terminal, process group, control group)
//! and then becomes the agent.

use super::signals::{next, unless_ignored};
use crate::args::KeepArgs;
use crate::monitor::cgroup::Cgroup;
use crate::monitor::process::{Process, clear_children};
use crate::monitor::tree::{END, Orphans, Tree};
use crate::threads::runtime;
use anyhow::Context as _;
use rustix::process::{
    Pid, Signal, WaitOptions, WaitStatus, getpgrp, getpid, getppid, set_child_subreaper,
    set_parent_process_death_signal, setpgid, setsid, wait,
};
use rustix::termios::{tcgetpgrp, tcsetpgrp};
use std::collections::HashSet;
use std::fs::File;
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};
use tokio::signal::unix::{SignalKind, signal};

/// This program, also if its file was replaced meanwhile.
const OURSELVES: &str = "/proc/self/exe";
/// What the agent leaves behind may end by itself for so long.
const GRACE: Duration = Duration::from_secs(2);
/// How long killing all may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long the agent waits for its terminal.
const FOREGROUND_PATIENCE: Duration = Duration::from_secs(2);
/// As shells say it.
pub(super) const NOT_FOUND: u8 = 127;
pub(super) const NOT_RUN: u8 = 126;
const KILLED: u8 = 128 + 9;

/// `holdgate keep`, which only `holdgate run` starts.
pub fn run(args: &KeepArgs) -> anyhow::Result<ExitCode> {
    if args.start {
        return start(args);
    }
    set_child_subreaper(Some(getpid())).context("cannot adopt orphaned processes")?;
    // To the death of the thread that started us, which is the main thread of `holdgate run`.
    set_parent_process_death_signal(Some(Signal::TERM))?;
    if parent() != Some(args.parent) {
        return Ok(ExitCode::from(KILLED));
    }
    let terminal = if let Some(path) = &args.terminal {
        // The agent's session has a keeper in it, so that the agent can be suspended: the system
        // suspends no group that nobody of its session could continue. The first terminal that the
        // leader of a session opens is the session's.
        setsid().context("cannot start a session")?;
        Some(open(path)?)
    } else {
        // Out of the foreground: what the user types is for the agent, not for its keeper.
        setpgid(None, None)?;
        None
    };
    let runtime = runtime()?;
    runtime.block_on(keep(args, terminal.as_ref()))
}

fn open(terminal: &Path) -> anyhow::Result<File> {
    let opened = File::options().read(true).write(true).open(terminal);
    opened.with_context(|| terminal.display().to_string())
}

async fn keep(args: &KeepArgs, terminal: Option<&File>) -> anyhow::Result<ExitCode> {
    let mut ended = signal(SignalKind::child())?;
    let mut end_all = signal(SignalKind::from_raw(END.as_raw()))?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hangup = unless_ignored(SignalKind::hangup())?;
    let mut interrupt = unless_ignored(SignalKind::interrupt())?;
    let mut quit = unless_ignored(SignalKind::quit())?;
    let own = Process::own().context("/proc is not available")?;
    let cgroup = args.cgroup.as_deref().map(Cgroup::at);
    let mut tree = Tree::below(own, Orphans::All).in_cgroup(cgroup);
    let agent = starter(args).spawn().context("cannot start")?.id();
    let agent = i32::try_from(agent).ok().and_then(Pid::from_raw);
    if let (Some(terminal), Some(agent)) = (terminal, agent) {
        // Into the foreground, for which it waits.
        tcsetpgrp(terminal, agent).context("the agent's terminal")?;
    }
    loop {
        tokio::select! {
            _ = ended.recv() => {}
            // These are for the agent; `holdgate run` handles them.
            Some(()) = next(interrupt.as_mut()) => continue,
            Some(()) = next(quit.as_mut()) => continue,
            Some(()) = next(hangup.as_mut()) => if parent() == Some(args.parent) { continue },
            // The system says so when `holdgate run` has died, others to all processes that they
            // see.
            _ = terminate.recv() => if parent() == Some(args.parent) { continue },
            _ = end_all.recv() => {
                end(args);
                return Ok(ExitCode::from(KILLED));
            }
        }
        if parent() != Some(args.parent) {
            end(args);
            return Ok(ExitCode::from(KILLED));
        }
        // Several ends may come as one signal.
        while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
            if Some(pid) == agent {
                clear(&mut tree).await;
                end(args);
                return Ok(ExitCode::from(code(status)));
            }
        }
    }
}

/// Asks what the agent has left behind to end.
async fn clear(tree: &mut Tree) {
    let left = tree.members();
    for process in &left {
        // One that stands still may be meant to: it is killed when it does not end in time.
        process.send(Signal::TERM);
    }
    let begin = Instant::now();
    while !tree.members().is_empty() && begin.elapsed() < GRACE {
        tokio::time::sleep(Duration::from_millis(5)).await;
        while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {}
    }
}

fn end(args: &KeepArgs) {
    let cgroup = args.cgroup.as_deref().map(Cgroup::at);
    if let Some(cgroup) = &cgroup {
        cgroup.kill();
    }
    if !clear_children(&HashSet::new(), PATIENCE) {
        crate::log::warn("some processes of the agent could not be killed");
    }
    if let Some(cgroup) = &cgroup {
        cgroup.remove();
    }
}

fn parent() -> Option<i32> {
    getppid().map(|pid| pid.as_raw_nonzero().get())
}

/// This program in the agent's place.
fn starter(args: &KeepArgs) -> Command {
    let mut command = Command::new(OURSELVES);
    command
        .arg0("holdgate")
        .args(["keep", "--start", "--parent", &args.parent.to_string()]);
    if let Some(terminal) = &args.terminal {
        command.arg("--terminal").arg(terminal);
        command.stdin(Stdio::null());
        // A group of its own from its very beginning.
        command.process_group(0);
    }
    if args.apart {
        command.arg("--apart");
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
    // If even the keeper is killed, the agent itself goes at once, and `holdgate run` kills the
    // rest.
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
        let terminal = open(path)?;
        wait_for_foreground(&terminal);
        command.stdin(open(path)?);
        command.stdout(open(path)?);
        if !args.apart {
            command.stderr(terminal);
        }
    } else if let Some(group) = args.group {
        setpgid(None, Pid::from_raw(group)).context("cannot join the process group")?;
    }
    let error = command.exec();
    let message = format!("{}: {error}", program.display());
    match args.terminal.as_deref().map(open) {
        // The user's own terminal passes on keys as they are, and moves down without moving left.
        Some(Ok(mut terminal)) => {
            // A terminal that is gone shows nothing.
            let _ = writeln!(terminal, "holdgate: {message}");
        }
        Some(Err(_)) | None => crate::log::warn(&message),
    }
    let not_found = error.kind() == std::io::ErrorKind::NotFound;
    Ok(ExitCode::from(if not_found { NOT_FOUND } else { NOT_RUN }))
}

/// A program that reads from its terminal too soon would be stopped.
fn wait_for_foreground(terminal: &File) {
    let begin = Instant::now();
    let own = Some(getpgrp());
    while tcgetpgrp(terminal).ok() != own && begin.elapsed() < FOREGROUND_PATIENCE {
        std::thread::sleep(Duration::from_micros(200));
    }
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
