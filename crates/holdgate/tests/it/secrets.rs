//! Secrets that are part of a call or of an agent's output are in no file and on no screen of ours.

use crate::cli::holdgate;
use crate::client::calls;
use crate::responses::message;
use crate::setup::{Guarded, REQUEST, RawUpstream, eventually, has, post};
use holdgate::args::Filter;
use holdgate::config::Operator;
use holdgate::incidents;
use holdgate_core::Answer;
use std::path::Path;
use std::time::Duration;

/// What a command says, with the secret between `«` and `»`.
const SECRETS: &[&str] = &[
    "https://ghp_«k3Jq9ZxW7vB2nM5tR8yL1pD4sF6gH0aQeCuT»@github.com/o/r",
    "glpat-«k3Jq9ZxW7vB2nM5tR8yL»",
    "xoxb-«123456789012-k3Jq9ZxW7vB2nM5tR8yL1pD4»",
    "sk_live_«51k3Jq9ZxW7vB2nM5tR8yL1pD4»",
    "sk-ant-«api03-q8Zr5Lw2Xk9Vn4Tb7Yc1Hm6Pd3Fs»",
    "AIza«SyD3k3Jq9ZxW7vB2nM5tR8yL1pD4sF6gH0a»",
    "AKIA«2Q7PLW4ZX9TR5MVB»",
    "AWS_SECRET_ACCESS_KEY=«w9QmZr7Lk2Vx5Np8Tc1Hy4Bd6Fg3Js0Ae+Wu/Ti2»",
    "eyJ«hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N»",
    "postgres://app:«hunter2hunter3»@db.internal:5432/prod",
    "-H 'Authorization: Bearer «abc.def-12345678»'",
    "-H 'Cookie: «session=q8Zr5Lw2Xk9V»'",
    "--password «correct7horse8battery»",
    "DB_PASSWORD=«correct7horse8battery»",
    "'AccountKey=«w9QmZr7Lk2Vx5Np8Tc1Hy4Bd6Fg3Js0Ae==»;'",
    "'-----BEGIN OPENSSH PRIVATE KEY-----\n«b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQq8Zr5Lw2»\n-----END OPENSSH PRIVATE KEY-----'",
];

fn split(marked: &str) -> (String, String) {
    let (_, secret) = marked.split_once('«').unwrap();
    let (secret, _) = secret.split_once('»').unwrap();
    (marked.replace(['«', '»'], ""), secret.to_owned())
}

/// Everything that is in the files below `dir`.
fn all_files(dir: &Path) -> String {
    let mut text = String::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            text.push_str(&all_files(&path));
        } else if let Ok(bytes) = std::fs::read(&path) {
            text.push_str(&String::from_utf8_lossy(&bytes));
        }
    }
    text
}

/// Not even the first part of the secret is there: a cut must not leave that.
#[track_caller]
fn assert_absent(secret: &str, place: &str, text: &str) {
    assert!(!text.contains(&secret[..10]), "{secret} in {place}: {text}");
}

fn output(args: &[&str]) -> String {
    let output = holdgate(args).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

async fn guarded(commands: &[&str]) -> Guarded {
    let head = "200 OK\r\ncontent-type: text/event-stream";
    let upstream = RawUpstream::with(head, &message(commands)).await;
    Guarded::start(upstream.address, |config| {
        config.ask.operator = Operator::Always;
        config.judge.deadline = Duration::from_mins(1);
    })
}

/// What the client gets, and how many questions there were, which are answered so.
async fn ask(guarded: &Guarded, secret: &str, given: Answer) -> (Vec<u8>, usize) {
    let (asks, url) = (guarded.proxy.asks().clone(), guarded.url("/v1/messages"));
    let _shown = asks.show_here();
    let answer = tokio::spawn(async move { post(&url, REQUEST).await });
    let mut questions = 0;
    loop {
        let over = || answer.is_finished() || !asks.open().is_empty();
        eventually("an answer or a question", over).await;
        let open = asks.open();
        let Some(shown) = open.first() else {
            return (answer.await.unwrap().body, questions);
        };
        assert_absent(secret, "a question", &shown.to_json().to_string());
        let rule = shown.rule.as_ref().unwrap_err();
        assert!(rule.contains("answer once or session"), "{rule}");
        asks.answer(&shown.id, given).unwrap();
        questions += 1;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_in_a_call_is_written_nowhere() {
    for marked in SECRETS {
        let (text, secret) = split(marked);
        let (long, rest) = ("a".repeat(240), "b ".repeat(3000));
        let push = format!("git push --force origin main {text}");
        let guarded = guarded(&[
            &format!("rm -rf / --no-preserve-root {text}"),
            &push,
            // Here it stands where what is shown is cut.
            &format!("git push --force origin {long} {text} {rest}"),
        ])
        .await;
        let (body, questions) = ask(&guarded, &secret, Answer::Deny).await;
        assert!(questions > 0 && calls(&body).is_empty(), "{text}");
        assert_absent(&secret, "a refusal", &String::from_utf8_lossy(&body));
        let written = all_files(guarded.dir.path());
        assert!(written.contains("[masked]"), "{written}");
        assert_absent(&secret, "the state folder", &written);
        for json in [false, true] {
            let mut shown = Vec::new();
            let dir = guarded.dir.path();
            incidents::print(dir, &Filter::default(), None, json, &mut shown).unwrap();
            let shown = String::from_utf8(shown).unwrap();
            assert!(shown.contains("Bash"), "{shown}");
            assert_absent(&secret, "incidents", &shown);
        }
        // `check` shows each argument by itself, to whoever typed it.
        if !text.starts_with("--") {
            let shown =
                output(&["check", "--", &push]) + &output(&["check", "--json", "--", &push]);
            assert!(shown.contains("git"), "{shown}");
            assert_absent(&secret, "check", &shown);
        }
    }
}

/// What is judged, sent and compared is the call as it is.
#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_passes_keeps_its_secrets() {
    let secret = "k3Jq9ZxW7vB2nM5tR8yL1pD4sF6gH0aQeCuT";
    let command = format!("git push --force origin main ghp_{secret}");
    let guarded = guarded(&[&command]).await;
    for asked in [1, 0] {
        let (body, questions) = ask(&guarded, secret, Answer::Session).await;
        assert_eq!(
            questions, asked,
            "a session's approval is of this very call"
        );
        assert_eq!(calls(&body).len(), 1);
        assert!(String::from_utf8_lossy(&body).contains(secret));
    }
    let written = all_files(guarded.dir.path());
    assert!(written.contains("ghp_[masked]"), "{written}");
    assert_absent(secret, "the state folder", &written);
}

#[test]
fn a_secret_in_the_output_is_in_no_incident() {
    let secret = "api03-q8Zr5Lw2Xk9Vn4Tb7Yc1Hm6Pd3Fs";
    let state = tempfile::tempdir().unwrap();
    let dir = state.path().to_str().unwrap();
    let script = format!("echo ANTHROPIC_API_KEY=sk-ant-{secret}");
    let output = holdgate(&["run", "--state-dir", dir, "--", "/bin/sh", "-c", &script])
        .env("HOLDGATE_JUDGE_PROVIDER", "none")
        .env("PATH", std::env::var("PATH").unwrap())
        .output()
        .unwrap();
    assert!(
        String::from_utf8_lossy(&output.stdout).contains(secret),
        "{output:?}"
    );
    assert_absent(
        secret,
        "standard error",
        &String::from_utf8_lossy(&output.stderr),
    );
    let written = all_files(state.path());
    has(&written, "token-shown");
    has(&written, "[masked]");
    assert_absent(secret, "the state folder", &written);
}
