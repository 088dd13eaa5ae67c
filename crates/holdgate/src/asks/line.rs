//! The other end of `approve.sock`: one JSON object a line, both ways.

use super::socket;
use super::typed::Tty;
use crate::args::WrongUse;
use crate::listening::connect;
use anyhow::{Context as _, bail};
use holdgate_effects::json::{Json, LoneSurrogates};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;

/// Bytes of what a proxy says at once: its questions.
const MAX_LINE: u64 = 4 << 20;

/// A connection to a proxy.
#[derive(Debug)]
pub(crate) struct Line {
    read: BufReader<UnixStream>,
    write: UnixStream,
}

impl Line {
    /// To the proxy with this state directory.
    pub(crate) fn to(state_dir: &Path) -> anyhow::Result<Line> {
        let path = state_dir.join(socket::NAME);
        let write = connect(&path).map_err(|error| {
            WrongUse(format!(
                "cannot connect to a proxy at {}: {error}; is one running with this state folder?",
                path.display()
            ))
        })?;
        let read = BufReader::new(write.try_clone()?);
        Ok(Line { read, write })
    }

    /// Another hand on the writing end.
    pub(crate) fn writer(&self) -> std::io::Result<UnixStream> {
        self.write.try_clone()
    }

    /// Sends a message. A proxy that refuses may have hung up already; what it said is still to be
    /// read.
    pub(crate) fn send(&mut self, message: &Json<'_>) {
        let _ = self.write.write_all(format!("{message}\n").as_bytes());
    }

    /// What the proxy says next; `None` if it has hung up.
    pub(crate) fn hear(&mut self) -> anyhow::Result<Option<Json<'static>>> {
        let mut line = String::new();
        if (&mut self.read).take(MAX_LINE).read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let json = Json::read(line.as_bytes(), 16, LoneSurrogates::Refuse);
        let json = json.context("the proxy's response cannot be read")?;
        Ok(Some(json.into_owned()))
    }

    /// Sends a message and gives the answer. If the proxy wants to see that a person is here, the
    /// person is asked for the code or the PIN.
    pub(crate) fn request(&mut self, message: &Json<'_>) -> anyhow::Result<Json<'static>> {
        self.send(message);
        let mut answer = self.hear_some()?;
        if let Some(need) = answer.get("need").and_then(Json::as_str) {
            let mut message = message.clone().into_owned();
            message.set("proof", typed(need)?.into());
            self.send(&message);
            answer = self.hear_some()?;
        }
        Ok(answer)
    }

    /// What the proxy says next; an error that it says, or its end, is one.
    pub(crate) fn hear_some(&mut self) -> anyhow::Result<Json<'static>> {
        let Some(answer) = self.hear()? else {
            bail!("the proxy closed the connection");
        };
        match answer.get("error").and_then(Json::as_str) {
            Some(error) => bail!("{}", holdgate_effects::json::shorten(error, 400)),
            None => Ok(answer),
        }
    }
}

/// What the proxy needs, typed by a person.
pub(crate) fn typed(need: &str) -> anyhow::Result<String> {
    let mut tty = Tty::open()?;
    match need {
        "code" => tty.ask("The code that is shown with the question: "),
        "pin" => tty.ask_hidden("PIN: "),
        _ => bail!("the proxy requires something that this version does not support"),
    }
}
