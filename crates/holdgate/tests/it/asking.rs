//! A proxy that has a question, and the client that waits for the answer.

use crate::responses::{PUSH, message};
use crate::setup::{REQUEST, RawUpstream, eventually, ledger};
use crate::terminal::{HOLDGATE, Terminal, detached};
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, Stdio};
use tempfile::TempDir;

/// A proxy in a process of its own and without a terminal, before an upstream that wants to force a
/// push.
pub(crate) struct Asking {
    proxy: Option<Child>,
    pub(crate) dir: TempDir,
    pub(crate) port: u16,
}

impl Asking {
    pub(crate) async fn start(settings: &[(&str, &str)]) -> Asking {
        Asking::start_in(tempfile::tempdir().unwrap(), settings, &[PUSH]).await
    }

    /// Before an upstream that wants to run these commands instead.
    pub(crate) async fn running(commands: &[&str]) -> Asking {
        Asking::start_in(tempfile::tempdir().unwrap(), &[], commands).await
    }

    /// The same with these settings.
    pub(crate) async fn running_with(commands: &[&str], settings: &[(&str, &str)]) -> Asking {
        Asking::start_in(tempfile::tempdir().unwrap(), settings, commands).await
    }

    /// With a PIN that is set.
    pub(crate) async fn with_pin(settings: &[(&str, &str)]) -> Asking {
        let dir = tempfile::tempdir().unwrap();
        set_pin(dir.path()).await;
        Asking::start_in(dir, settings, &[PUSH]).await
    }

    async fn start_in(dir: TempDir, settings: &[(&str, &str)], commands: &[&str]) -> Asking {
        let upstream = upstream_of(commands).await;
        let mut proxy = detached(HOLDGATE)
            .args(proxy_arguments(dir.path(), &upstream))
            .env("HOME", dir.path())
            .envs(settings.iter().copied())
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(proxy.stderr.take().unwrap()).lines();
        let port = lines.find_map(|line| port_in(&line.unwrap())).unwrap();
        std::thread::spawn(move || lines.for_each(drop));
        Asking {
            proxy: Some(proxy),
            dir,
            port,
        }
    }

    pub(crate) fn state(&self) -> &str {
        self.dir.path().to_str().unwrap()
    }

    /// `holdgate approve` at a terminal, where the PIN is typed.
    pub(crate) async fn answer(&self, arguments: &[&str]) -> (bool, String) {
        let mut terminal = self.approve(arguments);
        terminal.types("PIN: ", PIN).await;
        terminal.ends().await
    }

    /// `holdgate approve` at a terminal.
    pub(crate) fn approve(&self, arguments: &[&str]) -> Terminal {
        let arguments = [&["approve", "--state-dir", self.state()], arguments].concat();
        Terminal::run(HOLDGATE, &arguments, &[])
    }

    /// The question that is open.
    pub(crate) async fn question(&self) -> String {
        question(self.dir.path()).await
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        if let Some(mut proxy) = self.proxy.take() {
            let _ = proxy.kill();
            let _ = proxy.wait();
        }
    }
}

pub(crate) const PIN: &str = "correct horse";

/// Sets the PIN of whoever has this home.
async fn set_pin(home: &Path) {
    let home = home.to_str().unwrap();
    let arguments = ["pin", "--state-dir", home];
    let mut terminal = Terminal::run(HOLDGATE, &arguments, &[("HOME", home)]);
    terminal.types("New PIN: ", PIN).await;
    terminal.types("PIN again: ", PIN).await;
    let (ok, screen) = terminal.ends().await;
    assert!(ok && screen.contains("the PIN is set"), "{screen}");
    assert!(!screen.contains(PIN), "{screen}");
}

pub(crate) async fn upstream() -> String {
    upstream_of(&[PUSH]).await
}

async fn upstream_of(commands: &[&str]) -> String {
    let head = "200 OK\r\ncontent-type: text/event-stream";
    let upstream = RawUpstream::with(head, &message(commands)).await;
    format!("http://{}", upstream.address)
}

pub(crate) fn proxy_arguments(dir: &Path, upstream: &str) -> Vec<String> {
    let dir = dir.to_str().unwrap();
    let arguments = ["proxy", "--listen", "127.0.0.1:0", "--state-dir", dir];
    let mut arguments = arguments.map(str::to_owned).to_vec();
    arguments.extend(["--upstream".to_owned(), upstream.to_owned()]);
    arguments
}

pub(crate) fn port_in(text: &str) -> Option<u16> {
    let (_, after) = text.split_once("listening on http://127.0.0.1:")?;
    let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

pub(crate) async fn question(dir: &Path) -> String {
    let asked = || {
        let ledger = ledger(dir);
        let record = ledger
            .lines()
            .find(|line| line.contains("\"asked\""))?
            .to_owned();
        let record: serde_json::Value = serde_json::from_str(&record).unwrap();
        record["id"].as_str().map(str::to_owned)
    };
    eventually("a question", || asked().is_some()).await;
    asked().unwrap()
}

/// A client in a process of its own, since whoever it starts may not answer. `then` is what it
/// does while it waits.
pub(crate) fn client(port: u16, then: &str) -> Client {
    let length = REQUEST.len();
    let script = format!(
        "exec 3<>/dev/tcp/127.0.0.1/{port}\n\
         printf 'POST /v1/messages HTTP/1.1\\r\\nhost: localhost\\r\\nconnection: close\\r\\ncontent-type: application/json\\r\\ncontent-length: {length}\\r\\n\\r\\n%s' \"$BODY\" >&3\n\
         {then}\nexec cat <&3"
    );
    let child = detached("bash")
        .args(["-c", &script])
        .env("BODY", REQUEST)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    Client(child)
}

pub(crate) struct Client(pub(crate) Child);

impl Client {
    /// All that it got.
    pub(crate) async fn got(mut self) -> String {
        let mut stdout = self.0.stdout.take().unwrap();
        let read = move || {
            let mut text = String::new();
            stdout.read_to_string(&mut text).unwrap();
            text
        };
        let text = tokio::task::spawn_blocking(read).await.unwrap();
        self.0.wait().unwrap();
        text
    }
}

pub(crate) const ALWAYS: (&str, &str) = ("HOLDGATE_ASK_OPERATOR", "always");
