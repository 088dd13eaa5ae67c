//! An agent in tmux has windows outside of its tree, and still neither answers nor lifts the gate.

use crate::asking::{ALWAYS, Asking, client, question};
use crate::person::Shown;
use crate::setup::{eventually, ledger};
use crate::terminal::{HOLDGATE, clean};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// A tmux server of the agent's user, whose windows are outside of every agent's tree.
struct Tmux(TempDir);

impl Tmux {
    fn start() -> Tmux {
        let tmux = Tmux(tempfile::tempdir().unwrap());
        let size = ["-x", "200", "-y", "50"];
        tmux.run(&[&["new-session", "-d", "-s", "agent"], &size[..]].concat());
        tmux
    }

    fn run(&self, arguments: &[&str]) -> String {
        let output = clean(&mut Command::new("tmux"))
            .args(["-f", "/dev/null", "-S"])
            .arg(self.0.path().join("socket"))
            .args(arguments)
            .stdin(Stdio::null())
            .output()
            .expect("this test needs tmux");
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Opens a window for this command, as an agent in a pane would. It stays after its end.
    fn window(&self, name: &str, command: &[&str]) {
        let command = format!("{}; echo ended; sleep 60", command.join(" "));
        self.run(&["new-window", "-n", name, &command]);
    }

    async fn types(&self, window: &str, after: &str, line: &str) {
        eventually(after, || self.screen(window).contains(after)).await;
        self.run(&["send-keys", "-t", window, line, "Enter"]);
    }

    fn screen(&self, window: &str) -> String {
        self.run(&["capture-pane", "-p", "-J", "-t", window])
    }

    /// Answers a question and lifts the gate from windows, with this code or PIN, which is wrong.
    async fn attack(&self, state: &str, id: &str, asked: &str, secret: &str, said: &str) {
        let state = ["--state-dir", state];
        let answer = [&[HOLDGATE, "approve", id], &state[..]].concat();
        self.window("answer", &answer);
        let lift = [&[HOLDGATE, "expert", "--for", "1m"], &state[..]].concat();
        self.window("lift", &lift);
        self.types("lift", "to continue:", "lift the gate").await;
        for window in ["answer", "lift"] {
            self.types(window, asked, secret).await;
            let screen = self.ended(window).await;
            assert!(screen.contains(said), "{screen}");
        }
    }

    async fn ended(&self, window: &str) -> String {
        eventually("a window's end", || self.screen(window).contains("ended")).await;
        self.screen(window)
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        self.run(&["kill-server"]);
    }
}

#[tokio::test]
async fn an_agent_in_tmux_neither_answers_nor_lifts_the_gate() {
    let mut proxy = Shown::start().await;
    let client = client(proxy.port, "");
    let id = question(proxy.dir.path()).await;
    let tmux = Tmux::start();

    let asked = "with the question:";
    tmux.attack(proxy.state(), &id, asked, "AAAAAA", "wrong code")
        .await;
    let records = ledger(proxy.dir.path());
    assert!(!records.contains("\"answer\"") && !records.contains("expert-mode"));
    assert_eq!(records.matches("\"wrong-code\"").count(), 2, "{records}");
    // The person still decides, once the question has stood there long enough to be read.
    let denied = || ledger(proxy.dir.path()).contains("\"answer\":\"deny\"");
    while !denied() {
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        proxy.terminal.press("n");
    }
    let got = client.got().await;
    assert!(got.contains("said no"), "{got}");
}

#[tokio::test]
async fn an_agent_in_tmux_does_not_know_the_pin() {
    let asking = Asking::with_pin(&[ALWAYS]).await;
    let client = client(asking.port, "");
    let id = asking.question().await;
    let tmux = Tmux::start();
    tmux.attack(asking.state(), &id, "PIN:", "123456", "wrong PIN")
        .await;
    let records = ledger(asking.dir.path());
    assert!(!records.contains("\"answer\"") && !records.contains("expert-mode"));
    assert_eq!(records.matches("\"wrong-pin\"").count(), 2, "{records}");
    drop(client);
}
