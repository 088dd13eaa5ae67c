//! A hook answers in time, whatever its client does: a client runs the call if its hook takes too long.

use crate::setup::has;
use std::io::Read as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

#[test]
fn an_input_that_does_not_end_is_refused_in_time() {
    let state = tempfile::tempdir().unwrap();
    let start = Instant::now();
    let mut hook = Command::new(env!("CARGO_BIN_EXE_holdgate"))
        .args([
            "hook",
            "claude-code",
            "--set",
            "HOME=/home/dev",
            "--state-dir",
        ])
        .arg(state.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // It stays open.
    let _input = hook.stdin.take().unwrap();
    let ended = loop {
        if let Some(status) = hook.try_wait().unwrap() {
            break Some(status);
        }
        if start.elapsed() > Duration::from_secs(45) {
            hook.kill().unwrap();
            break None;
        }
        std::thread::sleep(Duration::from_millis(100));
    };
    assert_eq!(ended.and_then(|status| status.code()), Some(2));
    let mut said = String::new();
    let errors = hook.stderr.take().unwrap();
    errors.take(1 << 10).read_to_string(&mut said).unwrap();
    has(&said, "there was no verdict in time");
}
