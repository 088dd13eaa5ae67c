//! Any text can stand before a call.
#![no_main]

use holdgate_core::divergence;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    divergence::examine(text, &[], Some(text));
});
