//! Messages for the operator on standard error, with secrets masked.
//!
//! While an agent runs, messages wait: for the screen of a question, or for the end.

use crate::threads::lock;
use anstyle::{AnsiColor, Style};
use holdgate_core::Masked;
use std::io::Write as _;
use std::sync::Mutex;

const WARNING: Style = AnsiColor::Yellow.on_default().bold();
/// Messages that wait.
const MAX_HELD: usize = 200;

/// Messages that wait; `None` if none has to.
static HELD: Mutex<Option<Held>> = Mutex::new(None);

#[derive(Debug, Default)]
struct Held {
    messages: Vec<(Kind, String)>,
    dropped: u64,
    /// The agent draws on the terminal where messages would go.
    drawn_on: bool,
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

/// A warning that waits only where an agent draws on the terminal.
pub(crate) fn warn_now(message: &str) {
    let drawn_on = lock(&HELD).as_ref().is_some_and(|held| held.drawn_on);
    if drawn_on {
        warn(message);
    } else {
        write(Kind::Warning, &Masked::of(message));
    }
}

/// Messages wait from now on, until the result is dropped.
pub(crate) fn hold(drawn_on: bool) -> Holding {
    *lock(&HELD) = Some(Held {
        drawn_on,
        ..Held::default()
    });
    Holding
}

/// Takes the messages that wait, to be shown where the operator looks.
pub(crate) fn take() -> Vec<String> {
    let mut held = lock(&HELD);
    let Some(held) = held.as_mut() else {
        return Vec::new();
    };
    let drawn_on = held.drawn_on;
    let taken = std::mem::replace(
        held,
        Held {
            drawn_on,
            ..Held::default()
        },
    );
    taken.texts().map(|(_, text)| text).collect()
}

/// Messages wait for as long as this lives, and are then written.
#[derive(Debug)]
pub(crate) struct Holding;

impl Drop for Holding {
    fn drop(&mut self) {
        let taken = lock(&HELD).take().unwrap_or_default();
        for (kind, text) in taken.texts() {
            write(kind, &text);
        }
    }
}

impl Held {
    fn texts(self) -> impl Iterator<Item = (Kind, String)> {
        let more = (self.dropped > 0).then(|| {
            let text = format!("{} more messages are not shown", self.dropped);
            (Kind::Warning, text)
        });
        self.messages.into_iter().chain(more)
    }
}

fn say(kind: Kind, message: &str) {
    let message = Masked::of(message);
    if let Some(held) = lock(&HELD).as_mut() {
        if held.messages.len() < MAX_HELD {
            held.messages.push((kind, message.into_string()));
        } else {
            held.dropped += 1;
        }
        return;
    }
    write(kind, &message);
}

fn write(kind: Kind, message: &str) {
    let mut out = anstream::stderr();
    // Where nobody hears, nothing is to be said.
    let _ = match kind {
        Kind::Warning => writeln!(out, "{WARNING}holdgate:{WARNING:#} {message}"),
        Kind::Info => writeln!(out, "{message}"),
    };
}
