//! What the operator is told on standard error.

use anstyle::{AnsiColor, Style};
use std::io::Write as _;

const WARNING: Style = AnsiColor::Yellow.on_default().bold();

/// Something that the operator should know.
pub fn warn(message: &str) {
    // Where nobody hears, nothing is to be said.
    let _ = writeln!(
        anstream::stderr(),
        "{WARNING}holdgate:{WARNING:#} {message}"
    );
}

/// Something that the operator asked for.
pub fn info(message: &str) {
    let _ = writeln!(anstream::stderr(), "{message}");
}
