//! `holdgate ledger`, the state folder and a disk that takes no more, with the built command.

use crate::cli::{Running, fed, holdgate};
use crate::client::{calls, summary};
use crate::setup::{REQUEST, has, ledger, model, post};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::process::{Command, Output};

fn run(state: &Path, args: &[&str]) -> Output {
    holdgate(args)
        .arg("--state-dir")
        .arg(state)
        .output()
        .unwrap()
}

#[track_caller]
fn check(output: &Output, code: i32, text: &str) {
    let all = [output.stdout.as_slice(), &output.stderr].concat();
    assert!(String::from_utf8_lossy(&all).contains(text), "{output:?}");
    assert_eq!(output.status.code(), Some(code), "{output:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_seed_proves_what_was_written_since() {
    let (model, dir) = (model(), tempfile::tempdir().unwrap());
    let state = dir.path().join("state");
    let running = Running::start_with(&format!("http://{}", model.address()), &state, &[]);
    let url = |n: u32| format!("{}/x/ten_calls@{n}/v1/messages", running.1);
    post(&url(1), REQUEST).await;
    let unsealed = run(&state, &["ledger", "verify"]);
    check(&unsealed, 0, "not checked against a seed");

    // While the proxy runs.
    let file = dir.path().join("seed");
    let seed_file = file.to_str().unwrap();
    let inside = state.join("seed");
    let seal = |file: &Path| {
        let file = file.to_str().unwrap();
        run(&state, &["ledger", "seal", "--seed-file", file])
    };
    check(&seal(&inside), 1, "is in the state folder");
    check(&seal(&file), 0, "the seed is in");
    assert_eq!(file.metadata().unwrap().mode() & 0o777, 0o600);
    check(&seal(&file), 1, "already exists and is not overwritten");
    post(&url(2), REQUEST).await;
    let verify = || run(&state, &["ledger", "verify", "--seed", seed_file]);
    check(&verify(), 0, "are unchanged");

    let written = ledger(&state);
    drop(running);
    let last = written.trim_end().rfind('\n').unwrap() + 1;
    std::fs::write(state.join("ledger.jsonl"), &written[..last]).unwrap();
    check(&verify(), 1, "missing at the end");
    check(&run(&state, &["ledger", "verify"]), 1, "missing at the end");
    std::fs::write(state.join("ledger.jsonl"), &written).unwrap();

    // Printed once, and read from standard input.
    let printed = run(&state, &["ledger", "seal"]);
    check(&printed, 0, "shown only once");
    let mut from_input = holdgate(&["ledger", "verify", "--seed", "-", "--json", "--state-dir"]);
    let verified = fed(from_input.arg(&state), &printed.stdout);
    check(&verified, 0, "\"state\":\"checked\"");
    check(&verify(), 0, "the epoch of this seed ends there");
}

#[test]
fn a_state_folder_that_others_can_write_to_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    let args = [
        "proxy",
        "--listen",
        "127.0.0.1:0",
        "--upstream",
        "http://127.0.0.1:9",
    ];
    check(&run(dir.path(), &args), 1, "run `chmod go-w");
}

/// At the limit on file sizes the system sends SIGXFSZ, which ends a process that does not expect it.
#[tokio::test(flavor = "multi_thread")]
async fn at_the_file_size_limit_calls_are_refused_and_the_proxy_lives() {
    let (model, dir) = (model(), tempfile::tempdir().unwrap());
    let limited = "ulimit -f 4; exec \"$@\"";
    let mut command = Command::new("sh");
    command
        .args(["-c", limited, "sh", env!("CARGO_BIN_EXE_holdgate")])
        .env_clear()
        .env("HOLDGATE_GUARD_JUDGE_TIMEOUT", "20s");
    let upstream = format!("http://{}", model.address());
    let mut running = Running::spawn(&mut command, &upstream, dir.path());
    let url = running.1.clone();
    let mut said = Vec::new();
    for n in 0..30 {
        let answer = post(&format!("{url}/x/tool@{n}/v1/messages"), REQUEST).await;
        said.extend(summary(&answer.body).last().cloned());
        let last = said.last().map_or("", String::as_str);
        if last.contains("cannot be recorded") {
            assert!(calls(&answer.body).is_empty(), "{answer:?}");
            break;
        }
    }
    let last = said.last().unwrap();
    has(last, "cannot be recorded");
    assert!(running.0.try_wait().unwrap().is_none(), "it lives");
    let health = post(&format!("{url}/x/text/v1/messages"), REQUEST).await;
    assert!(health.status.is_success(), "{health:?}");
    drop(running);
    assert!(ledger(dir.path()).ends_with('\n'), "no half line is left");
    let verified = run(dir.path(), &["ledger", "verify"]);
    check(&verified, 0, "the ledger is intact");
}
