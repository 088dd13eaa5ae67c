//! The built command.

use crate::setup::{REQUEST, ledger, model, post};
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

fn holdgate(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_holdgate"));
    command.args(args).env_clear().env("HOME", "/nonexistent");
    command
}

fn run(args: &[&str]) -> Output {
    holdgate(args).output().unwrap()
}

#[track_caller]
fn check(args: &[&str], code: i32, out: &str, err: &str) {
    let output = run(args);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert_eq!(output.status.code(), Some(code), "{output:?}");
    assert!(text(&output.stdout).contains(out), "{output:?}");
    assert!(text(&output.stderr).contains(err), "{output:?}");
}

/// A proxy in a process of its own, and where it listens.
pub(crate) struct Running(Child, pub(crate) String);

impl Running {
    fn start(upstream: &str, state: &Path) -> Running {
        Self::start_with(upstream, state, &[])
    }

    pub(crate) fn start_with(
        upstream: &str,
        state: &Path,
        environment: &[(&str, &Path)],
    ) -> Running {
        let mut child = holdgate(&[
            "proxy",
            "--listen",
            "127.0.0.1:0",
            "--upstream",
            upstream,
            "--state-dir",
        ])
        .arg(state)
        .envs(environment.iter().copied())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
        let mut first = String::new();
        BufReader::new(child.stderr.as_mut().unwrap())
            .read_line(&mut first)
            .unwrap();
        let url = first
            .trim()
            .strip_prefix("listening on ")
            .expect("the first line tells where")
            .to_owned();
        Running(child, url)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn the_demo_shows_a_call_cleared_and_one_refused() {
    let output = run(&["demo"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success());
    for part in [
        "cleared  Bash {\"command\":\"ls -la\"",
        "refused  Bash",
        "Rule: unreadable-call",
        "2 decisions",
    ] {
        assert!(text.contains(part), "{part} is not in:\n{text}");
    }
    assert!(
        !text.contains('\u{1b}'),
        "no colour where there is no terminal"
    );
}

#[test]
fn config_check_says_what_is_wrong_and_where() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("holdgate.toml");
    let file = path.to_str().unwrap();
    std::fs::write(&path, "[guard]\nhold_all = true\n").unwrap();
    check(&["config", "check", "--config", file], 0, ": ok", "");
    std::fs::write(&path, "[guard]\nhold_al = true\n").unwrap();
    check(
        &["config", "check", "--config", file],
        1,
        "",
        ":2:1: unknown field `hold_al`, did you mean `hold_all`?",
    );
    check(
        &["proxy", "--config", file],
        2,
        "",
        "did you mean `hold_all`?",
    );
    check(
        &["config", "check", "--config", "/nonexistent/x.toml"],
        1,
        "",
        "/nonexistent/x.toml",
    );
    check(&["config", "check"], 0, "the defaults are in force", "");
}

#[test]
fn wrong_use_is_exit_code_2() {
    check(&["prox"], 2, "", "proxy");
    check(
        &["incidents", "--verdict", "maybe"],
        2,
        "",
        "`maybe` is no verdict",
    );
    check(
        &["incidents", "--since", "soon"],
        2,
        "",
        "`soon` is no time",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_ledger_survives_kill_9() {
    let (model, dir) = (model(), tempfile::tempdir().unwrap());
    let upstream = format!("http://{}", model.address());
    let state = dir.path().to_str().unwrap();
    for round in 0..5 {
        let mut running = Running::start(&upstream, dir.path());
        let url = format!("{}/x/ten_calls@{round}/v1/messages", running.1);
        let streams: Vec<_> = (0..4)
            .map(|_| {
                tokio::spawn({
                    let url = url.clone();
                    async move { post(&url, REQUEST).await }
                })
            })
            .collect();
        crate::setup::eventually("a decision is written", || {
            ledger(dir.path()).lines().count() > round * 5
        })
        .await;
        running.0.kill().unwrap();
        for stream in streams {
            let _ = stream.await;
        }
    }
    // Whatever the kills left, the next start makes it whole.
    drop(Running::start(&upstream, dir.path()));
    check(
        &["ledger", "verify", "--state-dir", state],
        0,
        "the ledger is whole",
        "",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn incidents_can_be_filtered_and_followed() {
    let (model, dir) = (model(), tempfile::tempdir().unwrap());
    let state = dir.path().to_str().unwrap();
    check(&["incidents", "--state-dir", state], 0, "no incidents", "");
    let running = Running::start(&format!("http://{}", model.address()), dir.path());
    let mut follow = holdgate(&["incidents", "--follow", "--json", "--state-dir", state])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    post(&format!("{}/s/one/x/tool/v1/messages", running.1), REQUEST).await;
    post(
        &format!("{}/s/two/x/dupkeys/v1/messages", running.1),
        REQUEST,
    )
    .await;

    let mut line = String::new();
    BufReader::new(follow.stdout.as_mut().unwrap())
        .read_line(&mut line)
        .unwrap();
    follow.kill().unwrap();
    follow.wait().unwrap();
    assert!(
        line.contains("unreadable-call"),
        "only what was not plainly allowed: {line}"
    );

    check(
        &["incidents", "--state-dir", state],
        0,
        "unreadable-call (reader): the call cannot be judged",
        "",
    );
    check(
        &["incidents", "--state-dir", state, "--session", "one"],
        0,
        "no incidents",
        "",
    );
    check(
        &[
            "incidents",
            "--state-dir",
            state,
            "--session",
            "one",
            "--verdict",
            "allow",
            "--json",
        ],
        0,
        "\"tool\":\"Bash\"",
        "",
    );
    check(
        &["incidents", "--state-dir", state, "--rule", "call-rate"],
        0,
        "no incidents",
        "",
    );
    check(
        &["incidents", "--state-dir", state, "--since", "1h"],
        0,
        "unreadable-call",
        "",
    );
    check(
        &[
            "incidents",
            "--state-dir",
            state,
            "--since",
            "2999-01-01T00:00:00Z",
        ],
        0,
        "no incidents",
        "",
    );

    let path = dir.path().join("ledger.jsonl");
    let text = std::fs::read_to_string(&path)
        .unwrap()
        .replace("\"verdict\":\"block\"", "\"verdict\":\"allow\"");
    std::fs::write(&path, text).unwrap();
    check(
        &["ledger", "verify", "--state-dir", state],
        1,
        "",
        "ledger.jsonl:2: record 2 was changed",
    );
}
