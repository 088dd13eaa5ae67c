//! Any text can be a patch.
#![no_main]

mod understand;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    understand::call("apply_patch", &[("input", text)]);
    let command = format!("git apply <<'END_OF_PATCH'\n{text}\nEND_OF_PATCH");
    understand::call("Bash", &[("command", &command)]);
});
