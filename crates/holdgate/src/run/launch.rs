//! Starting the agent, by way of its keeper, with streams of ours in place of the user's.

use super::environment::{self, Base};
use super::screen::{AgentsScreen, Screen};
use super::terminal::Terminal;
use crate::args::RunArgs;
use crate::monitor::Output;
use crate::monitor::cgroup::Cgroup;
use anyhow::Context as _;
use rustix::process::{Pid, getpgrp, getpid};
use std::fs::File;
use std::io::{self, IsTerminal as _};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

/// A terminal of the agent's own, and the screen that shows it.
pub(super) type Shown<'a> = Option<(&'a Terminal, &'a Arc<Screen>)>;

/// Starts the keeper, which starts the agent. The agent sees none of the variables `private`.
///
/// To be called from the main thread: the keeper goes by its death.
pub(super) fn launch(
    args: &RunArgs,
    base: &Base,
    private: &[String],
    cgroup: Option<&Cgroup>,
    shown: Shown<'_>,
) -> anyhow::Result<(Child, Vec<Output>)> {
    let mut command = Command::new("/proc/self/exe");
    let number = |pid: Pid| pid.as_raw_nonzero().get().to_string();
    command
        .arg0("holdgate")
        .args(["keep", "--parent", &number(getpid())]);
    if let Some(cgroup) = cgroup {
        command.arg("--cgroup").arg(cgroup.dir());
    }
    if let Some((terminal, _)) = shown {
        command.arg("--terminal").arg(terminal.path());
    } else {
        command.args(["--group", &number(getpgrp())]);
    }
    let streams = Streams::of(shown);
    let joined = streams.prepare(&mut command)?;
    let set = |name: &str| std::env::var(name).ok();
    let start = environment::start(base, &args.command, &set)?;
    command.envs(start.variables);
    for variable in private {
        command.env_remove(variable);
    }
    command.arg("--").args(start.words);
    let mut keeper = command.spawn().context("cannot start")?;
    // Its ends of pipes go with it, or there would be no end to read.
    drop(command);
    let outputs = streams.outputs(&mut keeper, joined)?;
    Ok((keeper, outputs))
}

/// Where the agent's output goes.
enum Streams<'a> {
    /// To its terminal.
    Terminal(&'a Terminal, &'a Arc<Screen>),
    /// To its terminal, and errors elsewhere.
    TerminalAndErrors(&'a Terminal, &'a Arc<Screen>),
    /// To two places.
    Apart,
    /// Both to one place, where their order counts.
    Joined,
}

impl<'a> Streams<'a> {
    fn of(shown: Shown<'a>) -> Streams<'a> {
        match shown {
            Some((terminal, screen)) if io::stderr().is_terminal() => {
                Streams::Terminal(terminal, screen)
            }
            Some((terminal, screen)) => Streams::TerminalAndErrors(terminal, screen),
            None if is_one_file() => Streams::Joined,
            None => Streams::Apart,
        }
    }

    /// Gives the keeper its streams. Without a terminal, standard input is the agent's own.
    fn prepare(&self, command: &mut Command) -> io::Result<Option<io::PipeReader>> {
        match self {
            Streams::Terminal(..) => {
                command.stdin(Stdio::null()).stdout(Stdio::null());
            }
            Streams::TerminalAndErrors(..) => {
                command.arg("--apart");
                command.stdin(Stdio::null()).stdout(Stdio::null());
                command.stderr(Stdio::piped());
            }
            Streams::Apart => {
                command.stdout(Stdio::piped()).stderr(Stdio::piped());
            }
            Streams::Joined => {
                let (reader, writer) = io::pipe()?;
                command.stdout(writer.try_clone()?).stderr(writer);
                return Ok(Some(reader));
            }
        }
        Ok(None)
    }

    fn outputs(
        &self,
        keeper: &mut Child,
        joined: Option<io::PipeReader>,
    ) -> anyhow::Result<Vec<Output>> {
        let stream = |name, from: OwnedFd, to| {
            anyhow::Ok(Output {
                name,
                from: File::from(from),
                to: Box::new(duplicate(to)?),
            })
        };
        let terminal = |terminal: &Terminal, screen: &Arc<Screen>| {
            anyhow::Ok(Output {
                name: "terminal",
                from: terminal.master()?,
                to: Box::new(AgentsScreen(screen.clone())),
            })
        };
        let mut outputs = Vec::new();
        if let Streams::Terminal(of, screen) | Streams::TerminalAndErrors(of, screen) = self {
            outputs.push(terminal(of, screen)?);
        }
        if let Some(both) = joined {
            outputs.push(stream("stdout", both.into(), rustix::stdio::stdout())?);
        }
        if let Some(stdout) = keeper.stdout.take() {
            outputs.push(stream("stdout", stdout.into(), rustix::stdio::stdout())?);
        }
        if let Some(stderr) = keeper.stderr.take() {
            outputs.push(stream("stderr", stderr.into(), rustix::stdio::stderr())?);
        }
        Ok(outputs)
    }
}

fn duplicate(stream: BorrowedFd<'_>) -> io::Result<File> {
    Ok(File::from(rustix::io::fcntl_dupfd_cloexec(stream, 3)?))
}

/// Whether standard output and standard error are the same.
fn is_one_file() -> bool {
    let file = |stream| {
        let data = duplicate(stream).and_then(|file| file.metadata());
        data.map(|data| (data.dev(), data.ino())).ok()
    };
    let output = file(rustix::stdio::stdout());
    output.is_some() && output == file(rustix::stdio::stderr())
}
