//! What happens while the agent runs: signals, window sizes, suspending, questions, its end.

use super::questions::Questions;
use super::signals::{next, unless_ignored};
use super::terminal::{Raw, Terminal, carry_keys, in_foreground};
use crate::log;
use crate::monitor::StreamMonitor;
use crate::monitor::process::{Process, can_be_continued};
use crate::threads::{runtime, spawn};
use rustix::process::{Pid, Signal, getpid, kill_process, kill_process_group};
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, ExitStatus};
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};

/// How long the agent may take to end after it was told to.
const GRACE: Duration = Duration::from_secs(5);
/// How often the agent is looked at: whether it has suspended itself, or its keeper.
const LOOK: Duration = Duration::from_millis(200);
const SUSPEND: i32 = 20;
const CONTINUE: i32 = 18;

/// Until the keeper, and with it the agent, has ended. Gives the exit code.
pub(super) fn to_the_end(
    keeper: &mut Child,
    monitor: &StreamMonitor,
    questions: Questions,
    terminal: Option<(&Terminal, &Raw)>,
) -> anyhow::Result<u8> {
    let (stop, stopped) = io::pipe().map(|(stopped, stop)| (stop, stopped))?;
    if let (Some((terminal, _)), Some(desk)) = (terminal, questions.desk()) {
        let to = terminal.master()?;
        spawn("keys", move || carry_keys(to, &stopped, &desk))?;
    }
    let runtime = runtime()?;
    let status = runtime.block_on(steer(keeper, monitor, questions, terminal));
    drop(stop);
    let status = status?;
    if let Some(signal) = status.signal() {
        log::warn("the agent's keeper was killed; killing all processes that the agent started");
        return Ok(u8::try_from(128 + signal).unwrap_or(u8::MAX));
    }
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.unwrap_or(1))
}

async fn steer(
    keeper: &mut Child,
    monitor: &StreamMonitor,
    mut questions: Questions,
    terminal: Option<(&Terminal, &Raw)>,
) -> anyhow::Result<ExitStatus> {
    let mut ended = signal(SignalKind::child())?;
    let mut terminate = unless_ignored(SignalKind::terminate())?;
    let mut hangup = unless_ignored(SignalKind::hangup())?;
    let mut interrupt = unless_ignored(SignalKind::interrupt())?;
    let mut quit = unless_ignored(SignalKind::quit())?;
    let mut resized = signal(SignalKind::window_change())?;
    let mut continued = signal(SignalKind::from_raw(CONTINUE))?;
    // Without a terminal of its own, the agent is suspended together with us.
    let mut suspend = match terminal {
        Some(_) => Some(signal(SignalKind::from_raw(SUSPEND))?),
        None => None,
    };
    let mut look = interval(LOOK);
    look.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut ending = Ending(None);
    loop {
        if let Some(status) = keeper.try_wait()? {
            return Ok(status);
        }
        tokio::select! {
            _ = ended.recv() => {}
            Some(()) = next(terminate.as_mut()) => ending.begin(monitor, Signal::TERM),
            Some(()) = next(hangup.as_mut()) => ending.begin(monitor, Signal::HUP),
            Some(()) = next(interrupt.as_mut()) => if questions.on_screen() {
                questions.deny_all();
            } else if terminal.is_some() || !in_foreground() {
                pass_on(monitor, Signal::INT);
            },
            Some(()) = next(quit.as_mut()) => if questions.on_screen() {
                questions.deny_all();
            } else if terminal.is_some() || !in_foreground() {
                pass_on(monitor, Signal::QUIT);
            },
            () = ending.over() => ending.kill(monitor),
            _ = resized.recv() => if let Some((terminal, _)) = terminal {
                terminal.resize();
                questions.resized();
            },
            _ = continued.recv() => if let Some((terminal, raw)) = terminal {
                // The system says so, too, when the terminal is closed.
                let _ = raw.again();
                terminal.resize();
            },
            // Not with a question on the screen: somebody waits for the answer.
            Some(()) = next(suspend.as_mut()) => if let Some((_, raw)) = terminal
                && !questions.on_screen()
            {
                stop_ourselves(raw, monitor);
            },
            _ = look.tick() => {
                wake(keeper);
                if questions.are_late() {
                    questions.show(terminal.map(|(terminal, _)| terminal));
                }
                if let Some((_, raw)) = terminal
                    && !questions.on_screen()
                    && has_suspended_itself(monitor)
                {
                    stop_ourselves(raw, monitor);
                }
            },
            () = questions.changed() => questions.show(terminal.map(|(terminal, _)| terminal)),
        }
    }
}

/// The agent was told to end, and by when.
struct Ending(Option<Instant>);

impl Ending {
    /// Tells it, the first time; the second time it is killed.
    fn begin(&mut self, monitor: &StreamMonitor, signal: Signal) {
        let told = monitor.with_tree(|tree| {
            // What stands still cannot end, and must not go on either.
            !tree.is_frozen() && tree.first().is_some_and(|agent| agent.send(signal))
        });
        // Both the system and the shell report a hangup.
        if signal == Signal::HUP && self.0.is_some() {
            return;
        }
        if !told || self.0.is_some() {
            return self.kill(monitor);
        }
        monitor.with_tree(|tree| tree.first().map(|agent| agent.send(Signal::CONT)));
        self.0 = Some(Instant::now() + GRACE);
    }

    fn kill(&mut self, monitor: &StreamMonitor) {
        monitor.kill();
        // Who belongs to another user stays; it is not tried again at once.
        self.0 = Some(Instant::now() + GRACE);
    }

    async fn over(&mut self) {
        match self.0 {
            Some(by) => sleep_until(by).await,
            None => std::future::pending().await,
        }
    }
}

/// Ctrl-C and the like. A key at the terminal that we share with the agent has reached it already.
fn pass_on(monitor: &StreamMonitor, signal: Signal) {
    monitor.with_tree(|tree| tree.first().map(|agent| agent.send(signal)));
}

/// From now on signals end this process: the agent has ended.
pub(super) fn exit_on_signals() -> io::Result<()> {
    let runtime = runtime()?;
    let wait = async move {
        let mut terminate = unless_ignored(SignalKind::terminate())?;
        let mut hangup = unless_ignored(SignalKind::hangup())?;
        let mut interrupt = unless_ignored(SignalKind::interrupt())?;
        let mut quit = unless_ignored(SignalKind::quit())?;
        let kind = tokio::select! {
            Some(()) = next(terminate.as_mut()) => SignalKind::terminate(),
            Some(()) = next(hangup.as_mut()) => SignalKind::hangup(),
            Some(()) = next(interrupt.as_mut()) => SignalKind::interrupt(),
            Some(()) = next(quit.as_mut()) => SignalKind::quit(),
        };
        io::Result::Ok(kind.as_raw_value())
    };
    spawn("signals", move || {
        if let Ok(signal) = runtime.block_on(wait) {
            std::process::exit(128 + signal);
        }
    })?;
    Ok(())
}

/// Whether it stands still, and all that it has printed stands on the screen.
fn has_suspended_itself(monitor: &StreamMonitor) -> bool {
    // What has ended stands still, too.
    let suspended = |agent: Process| agent.is_stopped() && agent.is_alive();
    monitor.with_tree(|tree| !tree.is_frozen() && tree.first().is_some_and(suspended))
        && monitor.is_quiet()
}

/// The keeper must never be stopped: it would miss the agent's exit.
fn wake(keeper: &Child) {
    let keeper = i32::try_from(keeper.id()).ok().and_then(Process::of);
    if let Some(keeper) = keeper.filter(|keeper| keeper.is_alive() && keeper.is_stopped()) {
        keeper.send(Signal::CONT);
    }
}

/// Gives the terminal back to the shell, as the agent would have. When the shell lets us go on, so
/// does the agent.
fn stop_ourselves(raw: &Raw, monitor: &StreamMonitor) {
    // Where no shell could continue us, the agent would not have been suspended without us either.
    if can_be_continued() {
        raw.leave();
        let _ = kill_process(getpid(), Signal::STOP);
        let _ = raw.again();
    }
    // What stands still because of a question to the judge goes on when that is decided.
    let agent = monitor.with_tree(|tree| tree.first().filter(|_| !tree.is_frozen()));
    if let Some(agent) = agent.and_then(|agent| Pid::from_raw(agent.pid)) {
        let _ = kill_process_group(agent, Signal::CONT);
    }
}
