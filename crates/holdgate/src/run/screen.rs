//! The user's screen: the agent's, and ours while a question is on it.
//!
//! Terminals can keep a screen and show another one. An agent that draws on the other one already has
//! to draw anew afterwards.

use memchr::memchr;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

const ESCAPE: u8 = 0x1b;
/// Modes that show the other screen.
const OTHER_SCREEN: [u16; 3] = [47, 1047, 1049];
/// Modes in which a terminal sends what nobody typed: the mouse, focus, marks around what is pasted.
const REPORTS: [u16; 6] = [1000, 1002, 1003, 1004, 1006, 2004];
const CURSOR: u16 = 25;
/// Numbers of one sequence; more is no use to anybody.
const MAX_PARAMETERS: usize = 64;

/// The screen at standard output.
#[derive(Debug)]
pub(super) struct Screen {
    state: Mutex<State>,
    /// Told when it is the agent's again.
    free: Condvar,
}

#[derive(Debug)]
struct State {
    out: File,
    ours: bool,
    modes: Modes,
}

impl Screen {
    /// The agent's, to begin with.
    pub(super) fn new() -> io::Result<Arc<Screen>> {
        let out = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdout(), 3)?;
        Ok(Arc::new(Screen {
            state: Mutex::new(State {
                out: out.into(),
                ours: false,
                modes: Modes::default(),
            }),
            free: Condvar::new(),
        }))
    }

    /// Whether what is on it is ours, and what is typed, too.
    pub(super) fn is_ours(&self) -> bool {
        self.lock().ours
    }

    /// Takes it; what the agent writes waits.
    pub(super) fn take(&self) {
        let mut state = self.lock();
        if state.ours {
            return;
        }
        state.ours = true;
        let mut text = String::from("\x1b[?2026l");
        for mode in state.modes.reports() {
            text.push_str(&format!("\x1b[?{mode}l"));
        }
        if !state.modes.on_other_screen() {
            text.push_str("\x1b[?1049h");
        }
        // Plain keys, a cursor, no colour, nothing on it.
        text.push_str("\x1b[>0u\x1b[?25h\x1b[0m\x1b[2J\x1b[H");
        state.put(&text);
    }

    /// Gives it back as it was. Whether the agent has to draw it anew.
    pub(super) fn give_back(&self) -> bool {
        let mut state = self.lock();
        if !state.ours {
            return false;
        }
        state.ours = false;
        let lost = state.modes.on_other_screen();
        let mut text = String::from("\x1b[2J\x1b[H\x1b[<u");
        if !lost {
            text.push_str("\x1b[?1049l");
        }
        for mode in state.modes.reports() {
            text.push_str(&format!("\x1b[?{mode}h"));
        }
        if state.modes.off.contains(&CURSOR) {
            text.push_str("\x1b[?25l");
        }
        state.put(&text);
        self.free.notify_all();
        lost
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn put(&mut self, text: &str) {
        // A terminal that is gone needs nothing.
        let _ = self.out.write_all(text.as_bytes());
    }
}

/// What the agent writes: waits while the screen is ours.
#[derive(Debug)]
pub(super) struct AgentsScreen(pub(super) Arc<Screen>);

impl Write for AgentsScreen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut state = self.0.lock();
        while state.ours {
            let waited = self.0.free.wait(state);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
        let written = state.out.write(bytes)?;
        let seen = bytes.get(..written).unwrap_or_default();
        state.modes.see(seen);
        Ok(written)
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
        let mut state = self.0.lock();
        if state.ours {
            return state.out.write(bytes);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What the agent has switched on and off.
#[derive(Debug, Default)]
struct Modes {
    on: BTreeSet<u16>,
    off: BTreeSet<u16>,
    reading: Reading,
}

/// Where in a sequence `ESC [ ? … h` the bytes are.
#[derive(Debug, Default)]
enum Reading {
    #[default]
    Text,
    Escape,
    Bracket,
    Parameters(Vec<u8>),
}

impl Modes {
    fn reports(&self) -> Vec<u16> {
        let on = |mode: &u16| self.on.contains(mode);
        REPORTS.into_iter().filter(on).collect()
    }

    fn on_other_screen(&self) -> bool {
        OTHER_SCREEN.iter().any(|mode| self.on.contains(mode))
    }

    fn see(&mut self, mut bytes: &[u8]) {
        while let Some((&byte, rest)) = bytes.split_first() {
            if matches!(self.reading, Reading::Text) {
                let Some(at) = memchr(ESCAPE, bytes) else {
                    return;
                };
                self.reading = Reading::Escape;
                bytes = bytes.get(at + 1..).unwrap_or_default();
                continue;
            }
            bytes = rest;
            self.reading = match (std::mem::take(&mut self.reading), byte) {
                (_, ESCAPE) => Reading::Escape,
                (Reading::Escape, b'[') => Reading::Bracket,
                (Reading::Bracket, b'?') => Reading::Parameters(Vec::new()),
                (Reading::Parameters(mut list), b'0'..=b'9' | b';')
                    if list.len() < MAX_PARAMETERS =>
                {
                    list.push(byte);
                    Reading::Parameters(list)
                }
                (Reading::Parameters(list), b'h' | b'l') => {
                    self.switch(&list, byte == b'h');
                    Reading::Text
                }
                (
                    Reading::Text | Reading::Escape | Reading::Bracket | Reading::Parameters(_),
                    _,
                ) => Reading::Text,
            };
        }
    }

    fn switch(&mut self, list: &[u8], on: bool) {
        let known =
            |mode: &u16| *mode == CURSOR || OTHER_SCREEN.contains(mode) || REPORTS.contains(mode);
        let list = String::from_utf8_lossy(list);
        for mode in list.split(';').filter_map(|n| n.parse().ok()).filter(known) {
            let (to, from) = if on {
                (&mut self.on, &mut self.off)
            } else {
                (&mut self.off, &mut self.on)
            };
            from.remove(&mode);
            to.insert(mode);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_switched_on_is_known_however_it_was_cut() {
        let check = |text: &str, other: bool, reports: &[u16], hidden: bool| {
            for size in 1..=text.len() {
                let mut modes = Modes::default();
                for piece in text.as_bytes().chunks(size) {
                    modes.see(piece);
                }
                let found = (modes.on_other_screen(), modes.reports());
                assert_eq!(found, (other, reports.to_vec()), "{text:?} by {size}");
                assert_eq!(modes.off.contains(&CURSOR), hidden, "{text:?} by {size}");
            }
        };
        check("plain \x1b[1mbold\x1b[0m", false, &[], false);
        check("\x1b[?1049h\x1b[?25l\x1b[?2004hx", true, &[2004], true);
        check(
            "\x1b[?1049;1006;1000hx\x1b[?1049lx",
            false,
            &[1000, 1006],
            false,
        );
        check("\x1b\x1b[?47h\x1b[?\x1b[?25l\x1b[?25h", true, &[], false);
        check("\x1b[?1049$p\x1b[?12x47h", false, &[], false);
    }
}
