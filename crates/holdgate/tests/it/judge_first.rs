//! With `ask.judge = "first"`, the judge is asked about a call before a person is.

use crate::asking::{ALWAYS, Asking, client};
use crate::judge_server::{JudgeServer, Reply};
use crate::setup::ledger;
use std::time::Duration;

const FIRST: (&str, &str) = ("HOLDGATE_ASK_JUDGE", "first");
const KEY: (&str, &str) = ("HOLDGATE_JUDGE_API_KEY", "k-of-the-judge");
const TIMEOUT: (&str, &str) = ("HOLDGATE_JUDGE_TIMEOUT", "1s");
const BASE: &str = "HOLDGATE_JUDGE_BASE_URL";

#[tokio::test]
async fn only_what_the_judge_finds_safe_passes_without_a_person() {
    for (reply, passes) in [
        (Reply::verdict("SAFE"), true),
        (Reply::verdict("WARN"), false),
        (Reply::verdict("KILL"), false),
        (Reply::gemini("it is SAFE"), false),
        (Reply::new(500, "{}"), false),
        (Reply::verdict("SAFE").after(Duration::from_secs(3)), false),
    ] {
        let what = format!("{reply:?}");
        let judge = JudgeServer::start([reply]).await;
        let url = judge.url();
        let asking = Asking::start(&[FIRST, KEY, TIMEOUT, (BASE, &url)]).await;
        let got = client(asking.port, "").got().await;
        assert_eq!(got.contains("\"tool_use\""), passes, "{what}: {got}");
        let records = ledger(asking.dir.path());
        let answer = records.contains("\"answer\":\"judge\"");
        assert_eq!(answer, passes, "{what}: {records}");
        let absent = got.contains("nobody can be asked here");
        assert_eq!(absent, !passes, "{what}: {got}");
        let question = judge.asked()[0].gemini_question();
        assert!(question.contains("git push"), "{question}");
    }
}

#[tokio::test]
async fn a_person_decides_about_the_rest() {
    let judge = JudgeServer::start([Reply::verdict("KILL")]).await;
    let url = judge.url();
    let asking = Asking::with_pin(&[FIRST, KEY, ALWAYS, (BASE, &url)]).await;
    let client = client(asking.port, "");
    let id = asking.question().await;
    let (ok, screen) = asking.answer(&[&id]).await;
    assert!(ok, "{screen}");
    let got = client.got().await;
    assert!(got.contains("\"tool_use\""), "{got}");
    assert!(ledger(asking.dir.path()).contains("\"answer\":\"once\""));
}

#[tokio::test]
async fn the_judge_is_not_asked_without_the_setting_or_about_what_the_gate_refuses() {
    for (settings, command) in [
        (vec![KEY], "git push --force origin main"),
        (vec![FIRST, KEY], "rm -rf ~"),
        (vec![FIRST, KEY], "tmux send-keys -t main y Enter"),
    ] {
        let judge = JudgeServer::start([Reply::verdict("SAFE")]).await;
        let url = judge.url();
        let settings = [&settings[..], &[(BASE, url.as_str())]].concat();
        let asking = Asking::running_with(&[command], &settings).await;
        let got = client(asking.port, "").got().await;
        assert!(!got.contains("\"tool_use\""), "{command}: {got}");
        assert!(judge.asked().is_empty(), "{command}");
    }
}
