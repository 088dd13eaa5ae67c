//! `holdgate why`: a refusal explained, and a narrow exception written by a person.

use crate::asking::{Asking, client};
use crate::setup::ledger;
use crate::terminal::{HOLDGATE, Terminal, detached};

const CALL: &str = "rm -rf /home/somebody/old";
const NEIGHBOUR: &str = "rm -rf /home/somebody/older";

fn said(asking: &Asking, arguments: &[&str]) -> (bool, String) {
    let arguments = [arguments, &["--state-dir", asking.state()]].concat();
    let output = detached(HOLDGATE).args(&arguments).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(text).unwrap())
}

/// The incident that a refusal names.
fn incident(got: &str) -> String {
    let (_, after) = got.split_once("(incident ").unwrap();
    after.split_once(')').unwrap().0.to_owned()
}

async fn apply(asking: &Asking, arguments: &[&str], typed: &str) -> (bool, String) {
    let home = asking.state();
    let arguments = [&["why", "--state-dir", home, "--apply"], arguments].concat();
    let mut terminal = Terminal::run(HOLDGATE, &arguments, &[("HOME", home)]);
    terminal.types("[y/N]", typed).await;
    terminal.ends().await
}

#[tokio::test]
async fn an_exception_lets_the_same_call_pass_and_not_its_neighbour() {
    let asking = Asking::running(&[CALL, NEIGHBOUR]).await;
    let got = client(asking.port, "").got().await;
    assert!(!got.contains("\"tool_use\""), "{got}");
    let id = incident(&got);

    let (ok, text) = said(&asking, &["why", &id]);
    for part in [
        CALL,
        "recursive-delete-outside-project (gate)",
        "What it would do",
        "delete ",
        "What the model was told",
        "[holdgate] The call to `Bash` was blocked",
        "--everywhere",
    ] {
        assert!(ok && text.contains(part), "{part}: {text}");
    }
    let (ok, same) = said(&asking, &["incidents", &id]);
    assert!(ok && text.starts_with(&same), "{same}");

    let (ok, text) = said(&asking, &["why", &id, "--apply"]);
    assert!(!ok && text.contains("needs a terminal"), "{text}");
    let (ok, screen) = apply(&asking, &[&id], "n").await;
    assert!(!ok && screen.contains("nothing was written"), "{screen}");
    let (ok, screen) = apply(&asking, &[&id, "--for", "1h"], "y").await;
    assert!(ok && screen.contains("written to"), "{screen}");
    for part in [
        "project: ",
        "until: ",
        "only: [recursive-delete-outside-project]",
    ] {
        assert!(screen.contains(part), "{screen}");
    }
    assert!(ledger(asking.dir.path()).contains("\"exception\""));

    let mut got = String::new();
    for _ in 0..100 {
        got = client(asking.port, "").got().await;
        if got.contains("\"tool_use\"") {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    assert_eq!(got.matches("\"type\":\"tool_use\"").count(), 1, "{got}");
    assert!(got.contains("did not run"), "its neighbour: {got}");
}

#[tokio::test]
async fn a_call_that_is_allowed_once_passes_once() {
    let asking = Asking::running(&[CALL]).await;
    let passes = async || {
        let got = client(asking.port, "").got().await;
        (got.contains("\"tool_use\""), got)
    };
    let (passed, got) = passes().await;
    assert!(!passed, "{got}");
    let id = incident(&got);
    let (ok, screen) = apply(&asking, &[&id, "--once"], "n").await;
    assert!(!ok && screen.contains("nothing was changed"), "{screen}");
    assert!(!passes().await.0);
    let (ok, screen) = apply(&asking, &[&id, "--once"], "y").await;
    assert!(ok && screen.contains("passes the next time"), "{screen}");
    let (passed, got) = passes().await;
    assert!(passed, "{got}");
    assert!(!passes().await.0, "only once");
    let records = ledger(asking.dir.path());
    assert_eq!(records.matches("\"allowed-once\"").count(), 1, "{records}");
    assert!(records.contains("may pass one time"), "{records}");
}

#[tokio::test]
async fn what_has_no_exception_is_said() {
    let stops = "kill $(pidof holdgate)";
    let asking = Asking::running(&[stops]).await;
    let id = incident(&client(asking.port, "").got().await);
    let (ok, text) = said(&asking, &["why", &id]);
    assert!(ok && text.contains("No exception can be written"), "{text}");

    let near = format!("{}x", id.strip_suffix(|_| true).unwrap());
    let (ok, text) = said(&asking, &["why", &near]);
    let hint = format!("did you mean `{id}`?");
    assert!(!ok && text.contains(&hint), "{text}");
    let (ok, text) = said(&asking, &["incidents", "--door", "proxi"]);
    assert!(!ok && text.contains("did you mean `proxy`?"), "{text}");
    let (ok, text) = said(&asking, &["incidents", "--rule", "force-pushed-elsewhere"]);
    assert!(ok && text.contains("no incidents"), "{text}");
    let (ok, text) = said(&asking, &["incidents", "-n", "1", "--json"]);
    assert!(ok && text.lines().count() == 1, "{text}");
}
