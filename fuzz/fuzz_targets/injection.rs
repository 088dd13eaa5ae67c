//! Any text is examined, and what is reported lies in it.
#![no_main]

use holdgate_core::injection::examine;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Some(range) = examine(text).and_then(|suspicion| suspicion.range) {
        assert!(text.get(range).is_some());
    }
});
