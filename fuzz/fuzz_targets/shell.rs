//! Any text can be a command.
#![no_main]

mod understand;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| understand::call("Bash", &[("command", text)]));
