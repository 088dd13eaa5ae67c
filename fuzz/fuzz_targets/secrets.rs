//! Any text can be searched for secrets: what is found lies in it, apart and in order.
#![no_main]

use holdgate_core::spillage::{examine, secrets};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    for path in [None, Some(".env"), Some("tests/a.pem")] {
        let mut end = 0;
        for secret in secrets::values(text, path) {
            assert!(secret.range.start >= end && !secret.range.is_empty());
            assert!(text.get(secret.range.clone()).is_some());
            end = secret.range.end;
        }
        let _ = examine(text, path);
    }
});
