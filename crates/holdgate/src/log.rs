//! What the operator is told on standard error, with secrets masked.

use anstyle::{AnsiColor, Style};
use holdgate_core::mask::Masked;
use std::io::Write as _;

const WARNING: Style = AnsiColor::Yellow.on_default().bold();

/// Something that the operator should know.
pub fn warn(message: &str) {
    // Where nobody hears, nothing is to be said.
    let _ = writeln!(
        anstream::stderr(),
        "{WARNING}holdgate:{WARNING:#} {}",
        Masked::of(message)
    );
}

/// Something that the operator asked for.
pub fn info(message: &str) {
    let _ = writeln!(anstream::stderr(), "{}", Masked::of(message));
}
