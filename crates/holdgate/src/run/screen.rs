//! The user's screen: the agent's, and ours while a question is on it.
//!
//! Terminals can keep a screen and show another one. Of an agent that draws on the other one already, we
//! keep a copy; if that is not exact, the agent has to redraw it afterwards.

use super::copy::Copy;
use super::modes::{CURSOR, Modes};
use crate::asks::own_terminal::size_of_terminal;
use crate::threads::lock;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::fs::File;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, TryLockError};
use std::time::{Duration, Instant};

/// How long a question waits for the end of a sequence.
const MAX_AMID: Duration = Duration::from_secs(1);
/// A wait that nobody ends ends so.
const LOOK_AGAIN: Duration = Duration::from_millis(200);

/// Bytes of the agent's output that wait while the screen is ours; the output is still watched.
const MAX_WAITING: usize = 1 << 20;

/// The screen at standard output.
#[derive(Debug)]
pub(super) struct Screen {
    /// Set while `out` is locked, read at any time: nobody waits to know whose it is.
    ours: AtomicBool,
    /// What the agent wrote meanwhile.
    waiting: Mutex<Vec<u8>>,
    /// When it was given back last.
    given_back: Mutex<Option<Instant>>,
    /// Told when there is room for more.
    room: Condvar,
    /// May be locked for long: a terminal that nobody reads takes nothing.
    out: Mutex<Out>,
}

#[derive(Debug)]
struct Out {
    file: File,
    modes: Modes,
    /// What is on the other screen, while the agent draws there.
    copy: Option<Copy>,
    /// Since when we wait for the end of a sequence.
    amid: Option<Instant>,
}

/// What became of giving the screen back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GivenBack {
    /// It is the agent's, as it was.
    Whole,
    /// It belongs to the agent, which has to redraw it.
    Lost,
    /// The terminal takes nothing at the moment.
    NotYet,
}

impl Screen {
    /// The agent's, to begin with.
    pub(super) fn new() -> io::Result<Arc<Screen>> {
        let out = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdout(), 3)?;
        Ok(Screen::on(out.into()))
    }

    fn on(file: File) -> Arc<Screen> {
        Arc::new(Screen {
            ours: AtomicBool::new(false),
            waiting: Mutex::default(),
            given_back: Mutex::default(),
            room: Condvar::new(),
            out: Mutex::new(Out {
                file,
                modes: Modes::default(),
                copy: None,
                amid: None,
            }),
        })
    }

    /// Whether what is on it is ours, and what is typed, too.
    pub(super) fn is_ours(&self) -> bool {
        self.ours.load(Ordering::Acquire)
    }

    /// Whether it was given back no longer ago.
    pub(super) fn was_ours_within(&self, time: Duration) -> bool {
        lock(&self.given_back).is_some_and(|at| at.elapsed() < time)
    }

    /// Takes it; what the agent writes waits. Whether it could be had at once.
    pub(super) fn take(&self) -> bool {
        if self.is_ours() {
            return true;
        }
        let Some(mut out) = self.ready() else {
            return false;
        };
        // In the middle of a sequence, ours would end it, and the rest of it would become text.
        if out.modes.is_amid() {
            let since = *out.amid.get_or_insert_with(Instant::now);
            if since.elapsed() < MAX_AMID {
                return false;
            }
        }
        out.amid = None;
        self.ours.store(true, Ordering::Release);
        let mut text = String::from("\x1b[?2026l");
        for mode in out.modes.reports() {
            text.push_str(&format!("\x1b[?{mode}l"));
        }
        if !out.modes.on_other_screen() {
            text.push_str("\x1b[?1049h");
        }
        // Plain keys, a cursor, no colour, nothing on it.
        text.push_str("\x1b[>0u\x1b[?25h\x1b[0m\x1b(B\x1b[2J\x1b[H");
        out.put(&text);
        true
    }

    /// Gives it back as it was, if the terminal takes that at once.
    pub(super) fn give_back(self: &Arc<Self>) -> GivenBack {
        if !self.is_ours() {
            return GivenBack::Whole;
        }
        let Some(mut out) = self.ready() else {
            return GivenBack::NotYet;
        };
        let other = out.modes.on_other_screen();
        let drawn = out.copy.as_ref().and_then(Copy::drawn);
        let lost = other && drawn.is_none();
        let mut text = String::from("\x1b[2J\x1b[H\x1b[<u");
        if !other {
            text.push_str("\x1b[?1049l");
        }
        if let Some(drawn) = drawn.filter(|_| other) {
            text.push_str(&String::from_utf8_lossy(&drawn));
        }
        for mode in out.modes.reports() {
            text.push_str(&format!("\x1b[?{mode}h"));
        }
        if out.modes.off.contains(&CURSOR) {
            text.push_str("\x1b[?25l");
        }
        out.put(&text);
        *lock(&self.given_back) = Some(Instant::now());
        self.ours.store(false, Ordering::Release);
        drop(out);
        self.room.notify_all();
        // The agent may write nothing more by itself.
        let screen = self.clone();
        std::thread::spawn(move || {
            let mut out = lock(&screen.out);
            if !screen.is_ours() {
                out.catch_up(&screen.waiting);
            }
        });
        if lost {
            GivenBack::Lost
        } else {
            GivenBack::Whole
        }
    }

    /// The terminal, if it can be written to without waiting.
    fn ready(&self) -> Option<MutexGuard<'_, Out>> {
        let out = match self.out.try_lock() {
            Ok(out) => out,
            Err(TryLockError::Poisoned(out)) => out.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        let mut writing = [PollFd::new(&out.file, PollFlags::OUT)];
        let now = Timespec::default();
        let ready = poll(&mut writing, Some(&now)).is_ok_and(|ready| ready > 0);
        ready.then_some(out)
    }
}

impl Out {
    fn put(&mut self, text: &str) {
        // A terminal that is gone needs nothing.
        let _ = self.file.write_all(text.as_bytes());
    }

    /// The agent has written this.
    fn saw(&mut self, bytes: &[u8]) {
        self.modes.see(bytes);
        if self.modes.on_other_screen() {
            let size = size_of_terminal();
            let copy = self.copy.get_or_insert_with(|| Copy::new(size));
            copy.see(bytes, size);
        } else {
            self.copy = None;
        }
    }

    /// Shows what has waited.
    fn catch_up(&mut self, waiting: &Mutex<Vec<u8>>) {
        let waited = std::mem::take(&mut *lock(waiting));
        self.saw(&waited);
        let mut rest = waited.as_slice();
        while !rest.is_empty() {
            match self.file.write(rest) {
                Ok(written @ 1..) => rest = rest.get(written..).unwrap_or_default(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    std::thread::sleep(Duration::from_millis(1));
                }
                // A terminal that is gone shows nothing.
                Ok(_) | Err(_) => return,
            }
        }
    }
}

/// What the agent writes: waits while the screen is ours.
#[derive(Debug)]
pub(super) struct AgentsScreen(pub(super) Arc<Screen>);

impl Write for AgentsScreen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let screen = &*self.0;
        loop {
            let mut waiting = lock(&screen.waiting);
            if screen.is_ours() {
                let room = MAX_WAITING.saturating_sub(waiting.len());
                if room > 0 {
                    let taken = bytes.get(..room.min(bytes.len())).unwrap_or(bytes);
                    waiting.extend_from_slice(taken);
                    return Ok(taken.len());
                }
                let waited = screen.room.wait_timeout(waiting, LOOK_AGAIN);
                drop(waited);
                continue;
            }
            drop(waiting);
            let mut out = lock(&screen.out);
            if screen.is_ours() {
                continue;
            }
            out.catch_up(&screen.waiting);
            let written = out.file.write(bytes)?;
            let seen = bytes.get(..written).unwrap_or_default();
            out.saw(seen);
            return Ok(written);
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What we write: lost when the screen is not ours any more.
#[derive(Debug)]
pub(super) struct OurScreen(pub(super) Arc<Screen>);

impl Write for OurScreen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut out = lock(&self.0.out);
        if self.0.is_ours() {
            // Every line begins at the left, whatever the terminal's modes are at the moment.
            let mut lines = bytes.split(|byte| *byte == b'\n');
            let mut text = lines.next().unwrap_or_default().to_vec();
            for line in lines {
                text.extend_from_slice(b"\r\n");
                text.extend_from_slice(line);
            }
            out.file.write_all(&text)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_lines_begin_at_the_left_whatever_the_modes_are() {
        let (mut reader, writer) = io::pipe().unwrap();
        let screen = Screen::on(File::from(std::os::fd::OwnedFd::from(writer)));
        let mut ours = OurScreen(screen.clone());
        ours.write_all(b"lost\n").unwrap();
        assert!(screen.take());
        ours.write_all(b"a\nb\n\nc").unwrap();
        drop((ours, screen));
        let mut text = String::new();
        io::Read::read_to_string(&mut reader, &mut text).unwrap();
        assert!(text.ends_with("\x1b[Ha\r\nb\r\n\r\nc"), "{text:?}");
    }
}
