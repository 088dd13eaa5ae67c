//! Only a person answers: codes that one terminal shows, and the PIN where none does.

use crate::asking::{ALWAYS, Asking, PIN, client, port_in, proxy_arguments, question, upstream};
use crate::run::ASK_MODEL;
use crate::setup::{REQUEST, eventually, ledger, model};
use crate::terminal::{HOLDGATE, KEYS, Terminal, detached};
use std::path::Path;
use std::process::Stdio;
use tempfile::TempDir;

/// A proxy at a terminal of its own, where it shows its questions.
pub(crate) struct Shown {
    pub(crate) terminal: Terminal,
    pub(crate) dir: TempDir,
    pub(crate) port: u16,
}

impl Shown {
    pub(crate) async fn start() -> Shown {
        let (dir, upstream) = (tempfile::tempdir().unwrap(), upstream().await);
        let arguments = proxy_arguments(dir.path(), &upstream);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let terminal = Terminal::run(HOLDGATE, &arguments, &[]);
        terminal.shows("upstream http://").await;
        let port = port_in(&terminal.screen()).unwrap();
        Shown {
            terminal,
            dir,
            port,
        }
    }

    pub(crate) fn state(&self) -> &str {
        self.dir.path().to_str().unwrap()
    }

    /// The code that stands at the terminal, of the question that is the `nth` shown.
    pub(crate) async fn code(&self, nth: usize) -> String {
        let after = |screen: &str| {
            let after = screen.split("Code ").nth(nth)?;
            after.contains(KEYS).then(|| after.to_owned())
        };
        eventually("a code", || after(&self.terminal.screen()).is_some()).await;
        let screen = self.terminal.screen();
        let after = after(&screen).unwrap();
        // Other terminals make it bold.
        let letters = after.chars().filter(char::is_ascii_alphanumeric);
        let code: String = letters.take(6).collect();
        assert_eq!(code.len(), 6, "{screen}");
        code
    }

    /// Another terminal of the same user.
    pub(crate) fn elsewhere(&self, arguments: &[&str]) -> Terminal {
        let arguments = [arguments, &["--state-dir", self.state()]].concat();
        Terminal::run(HOLDGATE, &arguments, &[])
    }

    pub(crate) async fn answer(&self, id: &str, code: &str) -> (bool, String) {
        let mut terminal = self.elsewhere(&["approve", id]);
        terminal.types("with the question: ", code).await;
        terminal.ends().await
    }
}

#[tokio::test]
async fn an_answer_from_another_terminal_needs_the_code() {
    let proxy = Shown::start().await;
    let client = client(proxy.port, "");
    let id = question(proxy.dir.path()).await;
    let code = proxy.code(1).await;

    // Nobody finds it elsewhere.
    let (_, listed) = proxy.elsewhere(&["approve", "--json"]).ends().await;
    assert!(listed.contains(&id) && !listed.contains(&code), "{listed}");
    assert!(!ledger(proxy.dir.path()).contains(&code));

    let (ok, screen) = proxy.answer(&id, "AAAAAA").await;
    assert!(!ok && screen.contains("attempts left: 2"), "{screen}");
    let records = ledger(proxy.dir.path());
    assert!(records.contains("\"wrong-code\"") && !records.contains("\"answer\""));
    let (ok, screen) = proxy.answer(&id, &code.to_lowercase()).await;
    assert!(ok && screen.contains(&format!("{id}: once")), "{screen}");
    let got = client.got().await;
    assert!(got.contains("\"tool_use\""), "{got}");
    assert!(!ledger(proxy.dir.path()).contains(&code));
}

#[tokio::test]
async fn a_code_dies_after_three_wrong_tries() {
    let mut proxy = Shown::start().await;
    let client = client(proxy.port, "");
    let id = question(proxy.dir.path()).await;
    let code = proxy.code(1).await;
    // One desk that waits, and takes codes behind its answers.
    let mut desk = proxy.elsewhere(&["approve"]);
    desk.shows(KEYS).await;
    tokio::time::sleep(std::time::Duration::from_millis(500)).await;
    for (tried, left) in [
        "attempts left: 2",
        "attempts left: 1",
        "only be answered where",
    ]
    .into_iter()
    .enumerate()
    {
        desk.press("y");
        eventually("the code is asked for", || {
            desk.screen().matches("Esc to go back").count() > tried
        })
        .await;
        desk.press("AAAAAA\n");
        desk.shows(left).await;
    }
    let (ok, screen) = proxy.answer(&id, &code).await;
    assert!(!ok && screen.contains("only be answered where"), "{screen}");
    let wrong = ledger(proxy.dir.path()).matches("\"wrong-code\"").count();
    assert_eq!(wrong, 3, "each try is recorded");

    proxy.terminal.press("y");
    let got = client.got().await;
    assert!(got.contains("\"tool_use\""), "{got}");
}

#[tokio::test]
async fn lifting_the_gate_needs_the_code_of_the_proxys_terminal() {
    let proxy = Shown::start().await;
    for (right, said) in [(false, "wrong code"), (true, "expert mode is on")] {
        let mut terminal = proxy.elsewhere(&["expert", "--for", "1m"]);
        terminal.types("to continue:", "lift the gate").await;
        terminal.shows("with the question: ").await;
        let shown = proxy.code(if right { 2 } else { 1 }).await;
        let code = if right { shown } else { "AAAAAA".to_owned() };
        terminal.types("", &code).await;
        let (ok, screen) = terminal.ends().await;
        assert!(ok == right && screen.contains(said), "{screen}");
        let (_, screen) = proxy.elsewhere(&["expert"]).ends().await;
        assert_eq!(screen.contains("expert mode is on"), right, "{screen}");
    }
    let records = ledger(proxy.dir.path());
    assert!(records.contains("\"wrong-code\""), "{records}");

    // The person at the proxy's terminal may say no, or yes, there.
    for (answer, said) in [("n", "was not lifted"), ("y", "expert mode is on")] {
        let mut proxy = Shown::start().await;
        let mut terminal = proxy.elsewhere(&["expert", "--for", "1m"]);
        terminal.types("to continue:", "lift the gate").await;
        proxy.terminal.shows(KEYS).await;
        tokio::time::sleep(std::time::Duration::from_millis(500)).await;
        proxy.terminal.press(answer);
        proxy
            .terminal
            .shows(&format!(
                "expert: {}",
                if answer == "y" { "once" } else { "deny" }
            ))
            .await;
        terminal.types("with the question: ", "").await;
        let (_, screen) = terminal.ends().await;
        assert!(screen.contains(said), "{screen}");
    }
}

#[tokio::test]
async fn wrong_pins_are_counted_recorded_and_not_forgotten() {
    let asking = Asking::with_pin(&[ALWAYS]).await;
    let client = client(asking.port, "");
    let id = asking.question().await;
    let mut last = String::new();
    for _ in 0..5 {
        let mut terminal = asking.approve(&[&id]);
        terminal.types("PIN: ", "wrong horse").await;
        let (ok, screen) = terminal.ends().await;
        assert!(!ok && screen.contains("wrong PIN"), "{screen}");
        last = ledger(asking.dir.path());
    }
    assert_eq!(last.matches("\"wrong-pin\"").count(), 5, "{last}");
    assert!(!last.contains("horse"), "what was typed is not recorded");
    let mut terminal = asking.approve(&[&id]);
    terminal.types("PIN: ", PIN).await;
    let (ok, screen) = terminal.ends().await;
    assert!(
        !ok && screen.contains("too many wrong attempts"),
        "{screen}"
    );
    // Nor does `holdgate pin` give more tries.
    let home = asking.state();
    let mut pin = Terminal::run(HOLDGATE, &["pin", "--state-dir", home], &[("HOME", home)]);
    pin.types("Current PIN: ", PIN).await;
    let (ok, screen) = pin.ends().await;
    assert!(
        !ok && screen.contains("too many wrong attempts"),
        "{screen}"
    );
    assert!(!ledger(asking.dir.path()).contains("\"answer\""));
    drop(client);
}

#[tokio::test]
async fn a_person_sets_changes_and_removes_the_pin() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path().to_str().unwrap();
    let pin = |flags: &[&str], environment: &[(&str, &str)]| {
        let arguments = [&["pin", "--state-dir", home], flags].concat();
        Terminal::run(
            HOLDGATE,
            &arguments,
            &[&[("HOME", home)], environment].concat(),
        )
    };
    let file = Path::new(home).join(".config/holdgate/pin");
    let play = async |flags: &[&str], typed: &[(&str, &str)], said: &str| {
        let mut terminal = pin(flags, &[]);
        for (after, line) in typed {
            terminal.types(after, line).await;
        }
        let (_, screen) = terminal.ends().await;
        assert!(screen.contains(said), "{screen}");
    };
    let (old, new, again) = ("Current PIN: ", "New PIN: ", "PIN again: ");
    play(&[], &[(new, "short")], "6 to 256 characters").await;
    play(
        &[],
        &[(new, "first one"), (again, "first two")],
        "the two PINs differ",
    )
    .await;
    assert!(!file.exists());
    play(&["--remove"], &[], "no PIN is set").await;
    play(
        &[],
        &[(new, "first one"), (again, "first one")],
        "the PIN is set",
    )
    .await;
    let first = std::fs::read_to_string(&file).unwrap();
    play(&[], &[(old, "another")], "nothing was changed").await;
    play(&["--remove"], &[(old, "another")], "nothing was changed").await;
    assert_eq!(first, std::fs::read_to_string(&file).unwrap());
    let change = [
        (old, "first one"),
        (new, "second one"),
        (again, "second one"),
    ];
    play(&[], &change, "the PIN is set").await;
    play(&["--remove"], &[(old, "second one")], "the PIN was removed").await;
    assert!(!file.exists());

    // Neither a program without a terminal nor an agent at one sets a PIN.
    let without = detached(HOLDGATE)
        .args(["pin", "--state-dir", home])
        .env("HOME", home)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(without.status.code(), Some(2), "{without:?}");
    let (ok, screen) = pin(&[], &[("CLAUDECODE", "1")]).ends().await;
    assert!(!ok && screen.contains("has CLAUDECODE set"), "{screen}");
    assert!(!file.exists());
}

#[tokio::test]
async fn a_pin_that_appears_while_the_proxy_runs_does_not_count() {
    let asking = Asking::start(&[ALWAYS]).await;
    let other = Asking::with_pin(&[]).await;
    let pin = |asking: &Asking| asking.dir.path().join(".config/holdgate/pin");
    std::fs::create_dir_all(pin(&asking).parent().unwrap()).unwrap();
    std::fs::copy(pin(&other), pin(&asking)).unwrap();
    let got = client(asking.port, "").got().await;
    assert!(got.contains("no PIN is set"), "{got}");
}

/// Under `holdgate run` without a terminal for the agent, the code stands where errors are told; where
/// there is no terminal at all, there is nobody to ask.
#[tokio::test(flavor = "multi_thread")]
async fn a_run_whose_output_is_piped_shows_its_codes_on_its_terminal() {
    let (model, dir) = (model(), tempfile::tempdir().unwrap());
    let state = dir.path().to_str().unwrap();
    let upstream = format!("http://{}", model.address());
    let run = r#""$RUN" run --state-dir "$STATE" --upstream "$UPSTREAM" bash -c "$ASK" x "$BODY" force_push | cat"#;
    let environment = [
        ("RUN", HOLDGATE),
        ("STATE", state),
        ("UPSTREAM", upstream.as_str()),
        ("ASK", ASK_MODEL),
        ("BODY", REQUEST),
        ("HOLDGATE_JUDGE_PROVIDER", "none"),
        ("HOLDGATE_GUARD_JUDGE_TIMEOUT", "20s"),
    ];
    let mut terminal = Terminal::run("bash", &["-c", run], &environment);
    terminal.shows("a call waits for your answer").await;
    terminal.shows(", within ").await;
    let screen = terminal.screen();
    let between = |text: &str, end: &str| {
        let after = screen.split(text).nth(1).unwrap();
        after.split(end).next().unwrap().to_owned()
    };
    let id = between("`holdgate approve ", "`");
    let code = between("with the code ", ",");
    for (typed, passes) in [("AAAAAA", false), (code.as_str(), true)] {
        let arguments = ["approve", &id, "--state-dir", state];
        let mut elsewhere = Terminal::run(HOLDGATE, &arguments, &[]);
        elsewhere.types("with the question: ", typed).await;
        let (ok, screen) = elsewhere.ends().await;
        assert_eq!(ok, passes, "{screen}");
    }
    let (_, screen) = terminal.ends().await;
    assert!(screen.contains("\"tool_use\""), "{screen}");
    assert!(!ledger(dir.path()).contains(&code));

    let (model, dir) = (self::model(), tempfile::tempdir().unwrap());
    let without = detached("bash")
        .args(["-c", run])
        .envs(environment)
        .env("STATE", dir.path())
        .env("UPSTREAM", format!("http://{}", model.address()))
        .stdin(Stdio::null())
        .output();
    let without = String::from_utf8(without.unwrap().stdout).unwrap();
    assert!(without.contains("no PIN is set"), "{without}");
}
