//! What the operator is told on standard error.

use anstyle::{AnsiColor, Style};

const WARNING: Style = AnsiColor::Yellow.on_default().bold();

/// Something that the operator should know.
pub fn warn(message: &str) {
    anstream::eprintln!("{WARNING}holdgate:{WARNING:#} {message}");
}

/// Something that the operator asked for.
pub fn info(message: &str) {
    anstream::eprintln!("{message}");
}
