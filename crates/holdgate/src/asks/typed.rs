//! What a person types at `/dev/tty`, whatever standard input is.

use super::peer::Processes;
use crate::args::WrongUse;
use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, tcgetattr, tcsetattr};
use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};

const MAX_LINE: usize = 4096;
const CTRL_C: u8 = 3;

/// This process's terminal.
#[derive(Debug)]
pub(crate) struct Tty(File);

impl Tty {
    /// Opens it, or says that a person is needed.
    pub(crate) fn open() -> anyhow::Result<Tty> {
        let tty = OpenOptions::new().read(true).write(true).open("/dev/tty");
        let what = "this command needs a terminal";
        Ok(Tty(tty.map_err(|_| WrongUse(what.to_owned()))?))
    }

    /// Opens it if a person uses it, and not a program that an agent has started; `what` says what
    /// only a person may do.
    pub(crate) fn of_person(what: &str) -> anyhow::Result<Tty> {
        let tty = Tty::open()?;
        // No proxy is asked, so there is no port; an agent is known by all else.
        let uid = rustix::process::geteuid().as_raw();
        let checked = Processes::default().check(std::process::id(), uid, uid, 0);
        checked
            .map_err(|why| WrongUse(format!("only a person at a terminal can {what}: {why}")))?;
        Ok(tty)
    }

    /// Asks for a line.
    pub(crate) fn ask(&mut self, question: &str) -> anyhow::Result<String> {
        write!(self.0, "{question}")?;
        self.0.flush()?;
        // A terminal gives one line at a time.
        let mut line = vec![0; MAX_LINE];
        let read = self.0.read(&mut line)?;
        line.truncate(read);
        if line.is_empty() || line.contains(&CTRL_C) {
            anyhow::bail!("cancelled");
        }
        let line = String::from_utf8_lossy(&line);
        Ok(line.trim_end_matches(['\n', '\r']).to_owned())
    }

    /// Asks for a line that is not shown while it is typed.
    pub(crate) fn ask_hidden(&mut self, question: &str) -> anyhow::Result<String> {
        let before = tcgetattr(&self.0)?;
        let mut hidden = before.clone();
        // Ctrl-C ends the line instead of the process, which would leave the terminal without echo.
        hidden
            .local_modes
            .remove(LocalModes::ECHO | LocalModes::ISIG);
        hidden.special_codes[SpecialCodeIndex::VEOL] = CTRL_C;
        // What was typed before the question is not an answer.
        tcsetattr(&self.0, OptionalActions::Flush, &hidden)?;
        let asked = self.ask(question);
        tcsetattr(&self.0, OptionalActions::Now, &before)?;
        writeln!(self.0)?;
        asked
    }
}
