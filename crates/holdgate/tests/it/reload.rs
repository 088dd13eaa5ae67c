//! Rules and settings that change under a running proxy.

use crate::client::calls;
use crate::setup::{Guarded, REQUEST, eventually, has, model, post};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tokio::time::sleep;

const STREAMS: usize = 50;
const EDITS: u64 = 200;
const OFTEN: Duration = Duration::from_millis(5);

/// A rule about what the scenario `tool` writes. Its name and verdict tell which edit it is.
fn rule(edit: u64) -> String {
    let (verdict, key) = if edit.is_multiple_of(2) {
        ("DENY", "deny")
    } else {
        ("AUDIT", "audit")
    };
    format!(
        "- id: marker-{edit}\n  do: {verdict}\n  category: own\n  \
         when: {{ effect: write, path: {{ glob: '**/marker.txt' }} }}\n  because: it is ours\n  \
         examples: {{ {key}: [touch marker.txt], allow: [touch other.txt] }}\n"
    )
}

fn is_broken(edit: u64) -> bool {
    edit % 4 == 3
}

/// The rule file after an edit.
fn file(edit: u64) -> String {
    if is_broken(edit) {
        rule(edit).replace("because", &format!("becuase-{edit}"))
    } else {
        rule(edit)
    }
}

/// The records of a session.
fn records(ledger: &str, session: &str) -> Vec<Value> {
    // Not all of it is parsed: many streams ask often.
    let name = format!("\"session\":\"{session}\"");
    let lines = ledger.lines().filter(|line| line.contains(&name));
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The edit whose rules judged the only call of a session.
fn judged_by(record: &Value) -> u64 {
    let findings = record["findings"].as_array().unwrap();
    let ours: Vec<u64> = findings
        .iter()
        .filter_map(|f| f["rule"].as_str()?.strip_prefix("marker-")?.parse().ok())
        .collect();
    assert_eq!(ours.len(), 1, "rules of one set, and of one only: {record}");
    ours[0]
}

/// Streams one response after the other until told to stop; returns how many.
async fn stream(
    number: usize,
    guarded: Arc<Guarded>,
    written: Arc<AtomicU64>,
    seen: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
) -> usize {
    let mut streams = 0;
    while !stop.load(Ordering::Acquire) {
        let session = format!("s{number}-{streams}");
        let at_least = seen.load(Ordering::Acquire);
        let url = guarded.url(&format!("/s/{session}/x/tool@{session}/v1/messages"));
        let answer = post(&url, REQUEST).await;
        assert!(answer.status.is_success() && !answer.broken, "{answer:?}");
        let text = answer.text();
        assert!(
            text.contains("event: message_stop"),
            "a stream was dropped: {text}"
        );
        let at_most = written.load(Ordering::Acquire);
        let records = records(&guarded.ledger(), &session);
        assert_eq!(records.len(), 1, "{records:?}");
        let edit = judged_by(&records[0]);
        assert!(!is_broken(edit), "edit {edit} cannot be in force");
        assert!(
            (at_least..=at_most).contains(&edit),
            "judged by {edit}, though {at_least} to {at_most} were in force"
        );
        let passed = !calls(&answer.body).is_empty();
        assert_eq!(passed, edit % 2 == 1, "edit {edit}: {text}");
        seen.fetch_max(edit, Ordering::AcqRel);
        streams += 1;
    }
    streams
}

#[tokio::test(flavor = "multi_thread")]
async fn rules_change_under_fifty_streams() {
    let model = model();
    let rules = tempfile::tempdir().unwrap();
    let path = rules.path().join("own.yaml");
    std::fs::write(&path, file(0)).unwrap();
    let guarded = Arc::new(Guarded::start(model.address(), |config| {
        config.rules.dirs = vec![rules.path().to_owned()];
        config.rules.check_every = OFTEN;
        // A busy machine must not decide what comes out.
        config.judge.deadline = Duration::from_mins(1);
    }));
    let (written, seen) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let stop = Arc::new(AtomicBool::new(false));
    let streams: Vec<_> = (0..STREAMS)
        .map(|number| {
            let (guarded, stop) = (guarded.clone(), stop.clone());
            tokio::spawn(stream(number, guarded, written.clone(), seen.clone(), stop))
        })
        .collect();
    for edit in 1..=EDITS {
        written.store(edit, Ordering::Release);
        let before = guarded.proxy.reloads();
        std::fs::write(&path, file(edit)).unwrap();
        for _ in 0..20 {
            sleep(OFTEN).await;
            if guarded.proxy.reloads() != before {
                break;
            }
        }
    }
    let last = format!("\"rule\":\"marker-{EDITS}\"");
    eventually("the last edit is in force", || {
        guarded.ledger().contains(&last)
    })
    .await;
    stop.store(true, Ordering::Release);
    let mut judged = 0;
    for stream in streams {
        judged += stream.await.expect("no stream goes wrong");
    }
    assert!(judged >= STREAMS, "{judged}");
    let (loaded, failed) = guarded.proxy.reloads();
    assert!(
        loaded >= 10 && failed >= 3,
        "{loaded} loaded, {failed} failed"
    );
    holdgate::ledger::verify(guarded.dir.path()).unwrap();
}

/// Writes a file in the way in which many editors do: beside it, then over it.
fn replace(path: &Path, text: &str) {
    let new = path.with_extension("new");
    std::fs::write(&new, text).unwrap();
    std::fs::rename(new, path).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bad_edit_keeps_what_was_and_says_so() {
    let model = model();
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("rules");
    std::fs::create_dir(&folder).unwrap();
    let path = folder.join("own.yaml");
    let guarded = Guarded::start(model.address(), |config| {
        config.rules.dirs = vec![folder.clone()];
        config.rules.check_every = OFTEN;
    });
    let told = |part: &str| {
        let ledger = guarded.ledger();
        ledger.lines().rev().any(|line| line.contains(part))
    };
    replace(&path, &file(2));
    eventually("the new file is in force", || told("own.yaml\"")).await;
    replace(&path, &file(3));
    let slip = "own.yaml:5:3: unknown field `becuase-3`, did you mean `because`?";
    eventually("the slip is told", || told(slip)).await;
    let events: Vec<Value> = guarded
        .ledger()
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    let event = events.last().unwrap();
    assert_eq!(event["subject"], "rules");
    assert_eq!(event["action"], "not-loaded");
    assert_eq!(event["verdict"], "audit");
    assert_eq!(event["findings"][0]["rule"], "rules-not-loaded");
    let shown = event["findings"][0]["evidence"].as_str().unwrap();
    assert!(shown.contains("\n  |   ^^^^^^^^^"), "{shown}");
    let answer = guarded.post("/s/bad/x/tool/v1/messages").await;
    has(&answer.text(), "Rule: marker-2");
    assert_eq!(guarded.proxy.reloads(), (1, 1));
    // The same text again is no change, but the end of the trouble.
    replace(&path, &file(2));
    eventually("the recovery is told", || guarded.proxy.reloads() == (2, 1)).await;
    // All rules at once do not go away by themselves.
    std::fs::rename(&folder, dir.path().join("elsewhere")).unwrap();
    eventually("the loss is told", || told("rules is missing")).await;
    let answer = guarded.post("/s/gone/x/tool@gone/v1/messages").await;
    assert!(answer.text().contains("Rule: marker-2"));
    std::fs::rename(dir.path().join("elsewhere"), &folder).unwrap();
    eventually("they are back", || guarded.proxy.reloads() == (3, 2)).await;
    std::fs::remove_file(&path).unwrap();
    eventually("the rules are gone", || {
        told("only the built-in rules are in force")
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_change_too() {
    let model = model();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("holdgate.toml");
    let text = |limit: u32, workers: u32| {
        format!(
            "[rules]\ndirs = [\"/nonexistent\"]\ncheck_every = \"5ms\"\n[proxy]\nworkers = {workers}\n\
             [gate]\ncalls_per_minute = {limit}\n"
        )
    };
    std::fs::write(&path, text(60, 1)).unwrap();
    let guarded = Guarded::start_with(model.address(), Some(&path), |_| {});
    let passes = async |run: &str| {
        let url = guarded.url(&format!("/s/one/x/tool@{run}/v1/messages"));
        !calls(&post(&url, REQUEST).await.body).is_empty()
    };
    assert!(passes("1").await);
    replace(&path, &text(1, 2));
    let waits = "except these, which need a restart: proxy.workers";
    eventually("the new settings are in force", || {
        guarded.ledger().contains(waits)
    })
    .await;
    assert!(!passes("2").await, "one call a minute was made already");
    replace(&path, "[gate]\ncalls_per_minute = \"many\"\n");
    eventually("the slip is told", || {
        guarded.ledger().contains("settings-not-loaded")
    })
    .await;
    assert!(!passes("3").await);
    replace(&path, &text(60, 1));
    eventually("the recovery is told", || guarded.proxy.reloads() == (2, 1)).await;
    assert!(passes("4").await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_project_has_rules_of_its_own() {
    let model = model();
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let (home, project) = (root.join("home"), root.join("project"));
    for folder in [&home, &project] {
        std::fs::create_dir(folder).unwrap();
    }
    let path = project.join(".holdgate.yaml");
    std::fs::write(&path, file(2)).unwrap();
    let guarded = Guarded::start(model.address(), |config| {
        config.rules.dirs = Vec::new();
        config.rules.check_every = OFTEN;
        config.home = home.to_str().map(str::to_owned);
        config.project = Some(project.clone());
    });
    let passes = async |run: &str| {
        let url = guarded.url(&format!("/s/{run}/x/tool@{run}/v1/messages"));
        !calls(&post(&url, REQUEST).await.body).is_empty()
    };
    assert!(!passes("1").await);
    replace(&path, &file(3));
    eventually("the slip is told", || {
        guarded.ledger().contains("rules-not-loaded")
    })
    .await;
    assert!(!passes("2").await, "the previous rules stay");
    replace(&path, &file(5));
    eventually("the new rules are told", || {
        guarded.proxy.reloads() == (2, 1)
    })
    .await;
    assert!(passes("3").await);
}
