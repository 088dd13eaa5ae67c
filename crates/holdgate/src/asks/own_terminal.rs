//! This process's terminal while a question is on it: the other screen, and keys as they are
//! pressed. Standard input and standard error are one terminal.

use super::desk::{Event, Surface};
use crate::log;
use crate::threads::lock;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetwinsize, tcsetattr,
};
use std::io::{self, Read as _, Write as _};
use std::sync::Mutex;
use std::sync::mpsc::Sender;
use std::time::Duration;

/// The terminal's modes as they were, while it is ours.
static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);

/// The terminal of standard input and standard error.
#[derive(Debug, Default)]
pub(super) struct OwnTerminal {
    /// Messages of others wait while a question is shown.
    held: Option<log::Holding>,
}

impl Surface for OwnTerminal {
    fn take(&mut self) -> bool {
        // From the background, the system would stop the process for it.
        if !in_foreground() {
            return false;
        }
        let Ok(before) = tcgetattr(io::stdin()) else {
            return false;
        };
        let mut modes = before.clone();
        modes
            .local_modes
            .remove(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG);
        modes.special_codes[SpecialCodeIndex::VMIN] = 1;
        modes.special_codes[SpecialCodeIndex::VTIME] = 0;
        // What was typed before the question is not an answer.
        if tcsetattr(io::stdin(), OptionalActions::Flush, &modes).is_err() {
            return false;
        }
        *lock(&BEFORE) = Some(before);
        self.held = Some(log::hold(true));
        self.draw("\x1b[?1049h\x1b[2J\x1b[H").is_ok()
    }

    fn give_back(&mut self) {
        restore();
        self.held = None;
    }

    fn size(&self) -> (usize, usize) {
        size_of_terminal()
    }

    fn draw(&mut self, text: &str) -> io::Result<()> {
        let mut out = io::stderr().lock();
        out.write_all(text.as_bytes())?;
        out.flush()
    }

    fn leave(&mut self, line: &str) -> io::Result<()> {
        writeln!(io::stderr(), "{line}")
    }
}

/// Gives the terminal back, if it is ours; also on the way out of the process.
pub fn restore() {
    if let Some(before) = lock(&BEFORE).take() {
        // A terminal that is gone needs nothing.
        let _ = io::stderr().write_all(b"\x1b[0m\x1b[2J\x1b[H\x1b[?1049l");
        let _ = tcsetattr(io::stdin(), OptionalActions::Flush, &before);
    }
}

/// Columns and rows of the terminal of standard input.
pub(crate) fn size_of_terminal() -> (usize, usize) {
    let size = tcgetwinsize(io::stdin()).ok();
    let size = size.filter(|size| size.ws_col > 0 && size.ws_row > 0);
    size.map_or((80, 24), |size| (size.ws_col.into(), size.ws_row.into()))
}

/// Sends keys as they are pressed. Reads only while this process is in the foreground: in the
/// background, the system would stop the process for it.
pub(super) fn read_keys(events: &Sender<Event>) {
    let stdin = io::stdin();
    let patience = Timespec {
        tv_sec: 1,
        tv_nsec: 0,
    };
    let mut buffer = [0; 1024];
    loop {
        let mut fds = [PollFd::new(&stdin, PollFlags::IN)];
        let typed = poll(&mut fds, Some(&patience)).is_ok_and(|ready| ready > 0);
        if !in_foreground() {
            std::thread::sleep(Duration::from_secs(1));
            continue;
        }
        if !typed {
            continue;
        }
        let read = stdin.lock().read(&mut buffer);
        let Ok(read @ 1..) = read else {
            let _ = events.send(Event::End);
            return;
        };
        let keys = buffer.get(..read).unwrap_or_default().to_vec();
        if events.send(Event::Keys(keys)).is_err() {
            return;
        }
    }
}

/// Whether this process may read what is typed at its terminal.
pub(super) fn in_foreground() -> bool {
    let group = rustix::termios::tcgetpgrp(io::stdin());
    group.is_ok_and(|group| group == rustix::process::getpgrp())
}
