//! The user's terminal and the agent's: what is typed goes from one to the other as it is, and what
//! the user's terminal was like before is put back on every way out.

use super::questions::Desk;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, ptsname, unlockpt};
use rustix::stdio::stdin;
use rustix::termios::{
    OptionalActions, QueueSelector, Termios, tcflush, tcgetattr, tcgetpgrp, tcgetwinsize,
    tcsetattr, tcsetwinsize,
};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A terminal for the agent, like the user's.
#[derive(Debug)]
pub struct Terminal {
    master: File,
    /// Held until the agent has ended, so that the terminal is never without a user before.
    slave: Option<OwnedFd>,
    path: PathBuf,
}

impl Terminal {
    /// Opens one with the modes and the size of standard input.
    pub fn open() -> io::Result<Terminal> {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let master = openpt(flags)?;
        grantpt(&master)?;
        unlockpt(&master)?;
        let slave = ioctl_tiocgptpeer(&master, flags)?;
        tcsetattr(&slave, OptionalActions::Now, &tcgetattr(stdin())?)?;
        let path = ptsname(&master, Vec::new())?;
        let terminal = Terminal {
            master: File::from(master),
            slave: Some(slave),
            path: PathBuf::from(OsStr::from_bytes(path.as_bytes())),
        };
        terminal.resize();
        Ok(terminal)
    }

    /// Where the agent opens it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Our end of it.
    pub fn master(&self) -> io::Result<File> {
        self.master.try_clone()
    }

    /// Gives it the size of the user's; the agent is told by the system.
    pub fn resize(&self) {
        if let Ok(size) = tcgetwinsize(stdin()) {
            // A terminal that is gone has no size.
            let _ = tcsetwinsize(&self.master, size);
        }
    }

    /// Makes the agent redraw its screen, as after a change of the size.
    pub fn have_drawn(&self) {
        let (Ok(size), Ok(master)) = (tcgetwinsize(stdin()), self.master.try_clone()) else {
            return;
        };
        let mut other = size;
        // A line less: what is drawn on a line that is not there would scroll the screen.
        other.ws_row = other.ws_row.saturating_sub(1).max(1);
        let _ = tcsetwinsize(&master, other);
        std::thread::spawn(move || {
            // Programs that draw screens wait until the size has stayed the same for a while.
            std::thread::sleep(REDRAWN_AFTER);
            let _ = tcsetwinsize(&master, size);
        });
    }

    /// The agent has ended: once what it wrote is read, there is no more.
    pub fn close(&mut self) {
        self.slave = None;
    }
}

/// How long another size is set, so that an agent redraws its screen.
const REDRAWN_AFTER: Duration = Duration::from_millis(400);

/// Drops what was typed and not read.
pub(super) fn forget_keys() {
    // A terminal that is gone has nothing.
    let _ = tcflush(stdin(), QueueSelector::IFlush);
}

/// What programs that draw screens switch on and, when killed, do not switch off: the other screen,
/// a hidden cursor, reports of the mouse, of focus and of pasting, other keyboards, colours.
const CALM: &[u8] = b"\x1b[?1047l\x1b[?25h\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1004l\x1b[?1006l\
\x1b[?2004l\x1b[?2026l\x1b[<u\x1b[>4m\x1b[0m\r\n";

/// Puts the user's screen back in order after a program that could not do it itself.
pub fn calm_screen() {
    // A terminal that is gone needs nothing.
    let _ = io::stdout()
        .write_all(CALM)
        .and_then(|()| io::stdout().flush());
}

/// The user's terminal, passing on every key as it is typed. Back to before when dropped.
#[derive(Debug)]
pub struct Raw {
    before: Termios,
}

impl Raw {
    /// From now on.
    pub fn enter() -> io::Result<Raw> {
        let raw = Raw {
            before: tcgetattr(stdin())?,
        };
        raw.again()?;
        Ok(raw)
    }

    /// Once more, after [`leave`](Self::leave).
    pub fn again(&self) -> io::Result<()> {
        let mut modes = self.before.clone();
        modes.make_raw();
        Ok(tcsetattr(stdin(), OptionalActions::Now, &modes)?)
    }

    /// As it was before.
    pub fn leave(&self) {
        // A terminal that is gone needs nothing.
        let _ = tcsetattr(stdin(), OptionalActions::Now, &self.before);
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        self.leave();
    }
}

/// Whether this process is in the foreground of a terminal, so that keys such as Ctrl-C reach the
/// agent without us.
pub fn in_foreground() -> bool {
    let group = File::open("/dev/tty")
        .ok()
        .and_then(|tty| tcgetpgrp(&tty).ok());
    group == Some(rustix::process::getpgrp())
}

/// Carries what is typed to the agent, or while the screen is ours, to the question on it; until
/// the other end of `stop` is closed. What is typed after that stays for the next reader.
pub(super) fn carry_keys(mut to: File, stop: &io::PipeReader, desk: &Desk) {
    let Ok(keys) = rustix::io::fcntl_dupfd_cloexec(stdin(), 3) else {
        return;
    };
    let mut keys = File::from(keys);
    let mut buffer = [0; 4096];
    loop {
        let mut waiting = [
            PollFd::new(&keys, PollFlags::IN),
            PollFd::new(stop, PollFlags::IN),
        ];
        match poll(&mut waiting, None) {
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => continue,
            Err(_) => return,
        }
        let [typed, stopped] = waiting.map(|fd| !fd.revents().is_empty());
        if stopped {
            return;
        }
        if typed {
            let read = match keys.read(&mut buffer) {
                Ok(read @ 1..) => buffer.get(..read).unwrap_or_default(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                // Closed; the signal that comes with it ends the agent.
                Ok(_) | Err(_) => return,
            };
            if !desk.takes(read) && to.write_all(read).is_err() {
                return;
            }
        }
    }
}
