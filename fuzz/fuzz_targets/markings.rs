//! Any text can be examined for markings, and what is found is a part of it.
#![no_main]

use holdgate_core::spillage;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    for path in [None, Some("tests/notes.rs")] {
        for spill in spillage::examine(text, path) {
            assert!(text.get(spill.range).is_some());
        }
    }
});
