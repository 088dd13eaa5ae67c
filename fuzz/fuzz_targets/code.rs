//! Any text can be code, given to an interpreter or written to a file that will run.
#![no_main]

mod understand;

use libfuzzer_sys::fuzz_target;

const FILES: [&str; 16] = [
    "a.py",
    "a.js",
    "a.pl",
    "a.rb",
    "a.php",
    "a.lua",
    "a.sh",
    "a.go",
    "a.ps1",
    "Makefile",
    "Dockerfile",
    "package.json",
    ".github/workflows/ci.yml",
    "a.ipynb",
    "/etc/cron.d/a",
    "a.service",
];
const INTERPRETERS: [&str; 9] = [
    "python3", "node", "perl", "ruby", "php", "lua", "awk -f -", "sed -f -", "pwsh",
];

fuzz_target!(|input: (u8, &str)| {
    let (pick, text) = input;
    let pick = usize::from(pick);
    let file = FILES[pick % FILES.len()];
    understand::call("Write", &[("file_path", file), ("content", text)]);
    let program = INTERPRETERS[pick % INTERPRETERS.len()];
    let command = format!("{program} <<'END_OF_CODE'\n{text}\nEND_OF_CODE");
    understand::call("Bash", &[("command", &command)]);
});
