//! What the operator is told on standard error.
//!
//! While an agent has the terminal, messages wait: for the screen of a question, or for the end.

use anstyle::{AnsiColor, Style};
use std::io::Write as _;
use std::sync::{Mutex, MutexGuard, PoisonError};

const WARNING: Style = AnsiColor::Yellow.on_default().bold();
/// Messages that wait.
const MAX_HELD: usize = 200;

/// Messages that wait; `None` if none has to.
static HELD: Mutex<Option<Held>> = Mutex::new(None);

#[derive(Debug, Default)]
struct Held {
    messages: Vec<(Kind, String)>,
    dropped: u64,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Warning,
    Info,
}

/// Something that the operator should know.
pub fn warn(message: &str) {
    say(Kind::Warning, message);
}

/// Something that the operator asked for.
pub fn info(message: &str) {
    say(Kind::Info, message);
}

/// Messages wait from now on, until the result is dropped.
pub(crate) fn hold() -> Holding {
    *held() = Some(Held::default());
    Holding
}

/// Takes the messages that wait, to be shown where the operator looks.
pub(crate) fn take() -> Vec<String> {
    let taken = held().as_mut().map(std::mem::take).unwrap_or_default();
    taken.texts().map(|(_, text)| text).collect()
}

/// Messages wait for as long as this lives, and are then written.
#[derive(Debug)]
pub(crate) struct Holding;

impl Drop for Holding {
    fn drop(&mut self) {
        let taken = held().take().unwrap_or_default();
        for (kind, text) in taken.texts() {
            write(kind, &text);
        }
    }
}

impl Held {
    fn texts(self) -> impl Iterator<Item = (Kind, String)> {
        let more = (self.dropped > 0).then(|| {
            let text = format!("and {} more messages, which are not shown", self.dropped);
            (Kind::Warning, text)
        });
        self.messages.into_iter().chain(more)
    }
}

fn say(kind: Kind, message: &str) {
    if let Some(held) = held().as_mut() {
        if held.messages.len() < MAX_HELD {
            held.messages.push((kind, message.to_owned()));
        } else {
            held.dropped += 1;
        }
        return;
    }
    write(kind, message);
}

fn write(kind: Kind, message: &str) {
    let mut out = anstream::stderr();
    // Where nobody hears, nothing is to be said.
    let _ = match kind {
        Kind::Warning => writeln!(out, "{WARNING}holdgate:{WARNING:#} {message}"),
        Kind::Info => writeln!(out, "{message}"),
    };
}

fn held() -> MutexGuard<'static, Option<Held>> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}
