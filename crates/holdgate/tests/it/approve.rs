//! `holdgate approve` and the proxy's own terminal: real processes, a real terminal, a real client.

use crate::responses::{PUSH, message};
use crate::setup::{REQUEST, RawUpstream, eventually, has, ledger, post};
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use tempfile::TempDir;

pub(crate) const HOLDGATE: &str = env!("CARGO_BIN_EXE_holdgate");

/// A process at a terminal of its own, and what stands there.
pub(crate) struct Terminal {
    pub(crate) child: Child,
    pub(crate) keys: File,
    screen: Arc<Mutex<String>>,
    reader: std::thread::JoinHandle<()>,
}

impl Terminal {
    pub(crate) fn run(program: &str, arguments: &[&str], environment: &[(&str, &str)]) -> Terminal {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY;
        let slave = File::from(ioctl_tiocgptpeer(&master, flags).unwrap());
        // A session of its own, whose terminal this is, as a shell in a window has.
        let child = clean(&mut Command::new("setsid"))
            // Who runs these tests may have signals ignored; a window has not.
            .args(["--ctty", "--wait", "env", "--default-signal", program])
            .args(arguments)
            .envs(environment.iter().copied())
            .stdin(slave.try_clone().unwrap())
            .stdout(slave.try_clone().unwrap())
            .stderr(slave)
            .spawn()
            .unwrap();
        let mut master = File::from(master);
        let screen = Arc::new(Mutex::new(String::new()));
        let (keys, shown) = (master.try_clone().unwrap(), screen.clone());
        let reader = std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(read @ 1..) = master.read(&mut buffer) {
                let text = String::from_utf8_lossy(&buffer[..read]);
                shown.lock().unwrap().push_str(&text);
            }
        });
        Terminal {
            child,
            keys,
            screen,
            reader,
        }
    }

    pub(crate) fn screen(&self) -> String {
        self.screen.lock().unwrap().clone()
    }

    pub(crate) async fn shows(&self, text: &str) {
        eventually(text, || self.screen().contains(text)).await;
    }

    /// Types a line once something stands there.
    pub(crate) async fn types(&mut self, after: &str, line: &str) {
        self.shows(after).await;
        self.press(&format!("{line}\n"));
    }

    pub(crate) fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    pub(crate) async fn ends(&mut self) -> (bool, String) {
        let mut status = None;
        eventually("the end of a command", || {
            status = self.child.try_wait().unwrap();
            status.is_some()
        })
        .await;
        // All that it wrote has come when nobody has the terminal any more. What it has left behind
        // may keep it.
        for _ in 0..100 {
            if self.reader.is_finished() {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        (status.is_some_and(|s| s.success()), self.screen())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whoever runs these tests may be an agent.
pub(crate) fn clean(command: &mut Command) -> &mut Command {
    let path = std::env::var("PATH").unwrap_or_default();
    // A debug build on a busy machine must not be too slow to ask.
    let slow = ("HOLDGATE_GUARD_JUDGE_TIMEOUT", "20s");
    command
        .env_clear()
        .env("PATH", path)
        .env("TERM", "dumb")
        .env(slow.0, slow.1)
}

/// The same, without a terminal, whether or not these tests run at one.
pub(crate) fn detached(program: &str) -> Command {
    let mut command = Command::new("setsid");
    clean(&mut command).arg(program);
    command
}

/// A proxy in a process of its own and without a terminal, before an upstream that wants to force a
/// push.
pub(crate) struct Asking {
    proxy: Option<Child>,
    pub(crate) dir: TempDir,
    pub(crate) port: u16,
}

impl Asking {
    pub(crate) async fn start(settings: &[(&str, &str)]) -> Asking {
        Asking::start_in(tempfile::tempdir().unwrap(), settings).await
    }

    /// With a PIN that is set.
    pub(crate) async fn with_pin(settings: &[(&str, &str)]) -> Asking {
        let dir = tempfile::tempdir().unwrap();
        set_pin(dir.path()).await;
        Asking::start_in(dir, settings).await
    }

    async fn start_in(dir: TempDir, settings: &[(&str, &str)]) -> Asking {
        let upstream = upstream().await;
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
    async fn answer(&self, arguments: &[&str]) -> (bool, String) {
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
    let head = "200 OK\r\ncontent-type: text/event-stream";
    let upstream = RawUpstream::with(head, &message(&[PUSH])).await;
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

pub(crate) struct Client(Child);

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

#[tokio::test]
async fn a_terminal_answers_a_question() {
    for (flag, sent, said) in [("", true, "once"), ("--deny", false, "deny")] {
        let asking = Asking::with_pin(&[ALWAYS]).await;
        let client = client(asking.port, "");
        let id = asking.question().await;

        let (ok, screen) = asking.approve(&["--list"]).ends().await;
        assert!(
            ok && screen.contains(&id) && screen.contains("history-rewrite"),
            "{screen}"
        );
        let (ok, screen) = asking.approve(&["no-such-id"]).ends().await;
        assert!(!ok && screen.contains(&id), "{screen}");
        let flags: Vec<&str> = [flag].into_iter().filter(|f| !f.is_empty()).collect();
        let arguments = [&[id.as_str()], &*flags].concat();
        let (ok, screen) = asking.answer(&arguments).await;
        assert!(ok && screen.contains(&format!("{id}: {said}")), "{screen}");

        let got = client.got().await;
        assert_eq!(got.contains("\"tool_use\""), sent, "{got}");
        assert_eq!(got.contains("said no"), !sent, "{got}");
        assert!(got.contains("message_stop"), "{got}");
        let ledger = ledger(asking.dir.path());
        has(&ledger, &format!("\"answer\":\"{said}\""));
        let (ok, screen) = asking.approve(&[&id]).ends().await;
        assert!(!ok && screen.contains("no question is open"), "{screen}");
    }
}

#[tokio::test]
async fn nobody_answers() {
    let patience = ("HOLDGATE_ASK_TIMEOUT", "1s");
    let asking = Asking::with_pin(&[ALWAYS, patience]).await;
    let got = client(asking.port, "").got().await;
    assert!(got.contains("nobody answered in time"), "{got}");
    let records = ledger(asking.dir.path());
    assert!(records.contains("\"answer\":\"timeout\""), "{records}");

    // And where nobody is there, nobody waits.
    for (pin, settings) in [(false, vec![]), (false, vec![ALWAYS]), (true, vec![])] {
        let asking = if pin {
            Asking::with_pin(&settings).await
        } else {
            Asking::start(&settings).await
        };
        let got = client(asking.port, "").got().await;
        assert!(got.contains("nobody can be asked here"), "{got}");
        assert_eq!(got.contains("no PIN is set (`holdgate pin`"), !pin, "{got}");
        assert!(!ledger(asking.dir.path()).contains("\"asked\""));
    }
}

#[tokio::test]
async fn who_waits_for_questions_is_asked_and_can_write_a_rule() {
    let asking = Asking::with_pin(&[]).await;
    let mut desk = asking.approve(&[]);
    desk.types("PIN: ", PIN).await;
    desk.shows("waiting for questions").await;
    let client = client(asking.port, "");
    desk.shows("[d]eny?").await;
    tokio::time::sleep(std::time::Duration::from_millis(600)).await;
    desk.press("r\n");
    desk.shows("write this rule?").await;
    assert!(desk.screen().contains("do: ALLOW"), "{}", desk.screen());
    let file = asking
        .dir
        .path()
        .join(".config/holdgate/rules/approved.yaml");
    assert!(!file.exists(), "it is shown first");
    desk.press("y\n");
    eventually("the rule", || {
        file.exists() || desk.screen().contains("would not")
    })
    .await;
    assert!(file.exists(), "{}", desk.screen());
    let got = client.got().await;
    assert!(got.contains("\"tool_use\""), "{got}");
    assert!(ledger(asking.dir.path()).contains("\"answer\":\"rule\""));

    // Nobody is there any more, and nobody needs to be once the rule is in force.
    drop(desk);
    let mut passes = false;
    for _ in 0..100 {
        passes = self::client(asking.port, "")
            .got()
            .await
            .contains("\"tool_use\"");
        if passes {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    assert!(
        passes,
        "the rule is not in force: {}",
        ledger(asking.dir.path())
    );
}

#[tokio::test]
async fn a_terminal_lifts_the_gate_for_a_while() {
    let asking = Asking::with_pin(&[]).await;
    let expert = |flags: &[&str]| {
        let arguments = [&["expert", "--state-dir", asking.state()], flags].concat();
        Terminal::run(HOLDGATE, &arguments, &[])
    };
    let (ok, screen) = expert(&[]).ends().await;
    assert!(ok && screen.contains("expert mode is off"), "{screen}");
    for wrong in ["y", "", "lift the gat"] {
        let mut terminal = expert(&["--for", "1m"]);
        terminal.types("to continue:", wrong).await;
        let (ok, screen) = terminal.ends().await;
        assert!(!ok && screen.contains("nothing was changed"), "{screen}");
    }
    let mut terminal = expert(&["--for", "1m"]);
    terminal.shows("For 1m,").await;
    terminal.types("to continue:", "lift the gate").await;
    terminal.types("PIN: ", PIN).await;
    let (ok, screen) = terminal.ends().await;
    assert!(ok && screen.contains("expert mode is on"), "{screen}");
    let (ok, screen) = expert(&["--off"]).ends().await;
    assert!(ok && screen.contains("expert mode is off"), "{screen}");
    assert!(ledger(asking.dir.path()).contains("expert-mode"));

    let arguments = ["expert", "--off", "--state-dir", asking.state()];
    let without_terminal = detached(HOLDGATE)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(!without_terminal.status.success(), "{without_terminal:?}");
    let agent = Terminal::run(HOLDGATE, &arguments, &[("CLAUDECODE", "1")])
        .ends()
        .await;
    assert!(
        !agent.0 && agent.1.contains("you cannot answer here"),
        "{agent:?}"
    );
}

#[tokio::test]
async fn the_terminal_of_the_proxy_is_asked() {
    let (dir, upstream) = (tempfile::tempdir().unwrap(), upstream().await);
    let arguments = proxy_arguments(dir.path(), &upstream);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut proxy = Terminal::run(HOLDGATE, &arguments, &[]);
    proxy.shows("upstream http://").await;
    let client = client(port_in(&proxy.screen()).unwrap(), "");
    proxy.shows("[d]eny?").await;
    tokio::time::sleep(std::time::Duration::from_millis(600)).await;
    proxy.press("o\n");
    let got = client.got().await;
    assert!(got.contains("\"tool_use\""), "{got}");
    assert!(ledger(dir.path()).contains("\"answer\":\"once\""));
}

#[tokio::test]
async fn a_client_that_hangs_up_withdraws_its_question() {
    let asking = Asking::with_pin(&[ALWAYS]).await;
    let mut client = client(asking.port, "");
    let id = asking.question().await;
    client.0.kill().unwrap();
    client.0.wait().unwrap();
    eventually("the withdrawal", || {
        ledger(asking.dir.path()).contains("\"answer\":\"withdrawn\"")
    })
    .await;
    let (ok, screen) = asking.approve(&[&id]).ends().await;
    assert!(!ok && screen.contains("no question is open"), "{screen}");
}

#[tokio::test]
async fn nothing_within_the_agents_reach_can_answer() {
    let asking = Asking::with_pin(&[ALWAYS]).await;
    let answer = format!("{HOLDGATE} approve --state-dir {}", asking.state());
    // Below the client: without a terminal, with one of its own, and in the background.
    let log = asking.dir.path().join("tried");
    let ids = r#"$(grep -o '"id":"[^"]*"' LEDGER | head -1 | cut -d'"' -f4)"#;
    let records = asking.dir.path().join("ledger.jsonl");
    let ids = ids.replace("LEDGER", records.to_str().unwrap());
    let wait = format!(
        "until grep -q asked {}; do sleep 0.05; done",
        records.display()
    );
    let then = format!(
        "{wait}\n({answer} {ids}; script -qec \"{answer} {ids}\" /dev/null) > {} 2>&1 3>&-",
        log.display()
    );
    let client = client(asking.port, &then);
    let id = asking.question().await;
    let tried = || std::fs::read_to_string(&log).unwrap_or_default();
    eventually("two refusals", || {
        tried().matches("you cannot answer").count() == 2
    })
    .await;
    assert!(tried().contains("it has no terminal"), "{}", tried());
    assert!(tried().contains("is a client of the proxy"), "{}", tried());

    // Another program at a terminal, and one in an agent's environment.
    let copy: PathBuf = asking.dir.path().join("copy");
    std::fs::copy(HOLDGATE, &copy).unwrap();
    let arguments = ["approve", "--state-dir", asking.state(), &id];
    let agent = ("CLAUDECODE", "1");
    let base = format!("http://localhost:{}", asking.port);
    let base = ("ANTHROPIC_BASE_URL", base.as_str());
    for (program, environment, why) in [
        (copy.to_str().unwrap(), vec![], "not the same program"),
        (HOLDGATE, vec![agent], "has CLAUDECODE set"),
        (HOLDGATE, vec![base], "has ANTHROPIC_BASE_URL set"),
    ] {
        let (ok, screen) = Terminal::run(program, &arguments, &environment)
            .ends()
            .await;
        assert!(!ok && screen.contains(why), "{screen}");
    }

    // The proxy's own port has no such path.
    for path in [
        "/approve",
        "/approve.sock",
        "/v1/approve",
        "/holdgate/approve",
    ] {
        let url = format!("http://127.0.0.1:{}{path}", asking.port);
        let body = format!("{{\"do\":\"answer\",\"id\":\"{id}\",\"answer\":\"once\"}}");
        let _ = post(&url, &body).await;
    }
    assert!(!ledger(asking.dir.path()).contains("\"answer\""));
    drop(client);
}

#[test]
fn the_socket_is_private_and_goes_with_its_proxy() {
    use holdgate::asks::{Asks, socket};
    use holdgate::config::Operator;
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(socket::NAME);
    // What a crash left behind is replaced; what another proxy uses is not.
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    let start = || {
        let operator = socket::Operator {
            expert: Box::new(|_| holdgate_effects::json::Json::Null),
            record: Box::new(|_| Ok(())),
            pin: None,
        };
        socket::Server::start(dir.path(), Asks::new(Operator::Auto, None), operator, 1)
    };
    let server = start().unwrap();
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert!(start().is_err());
    drop(server);
    assert!(!path.exists());
}
