//! `holdgate approve` and the proxy's own terminal: real processes, a real terminal, a real client.

use crate::asking::{ALWAYS, Asking, PIN, client, port_in, proxy_arguments, upstream};
use crate::setup::{eventually, has, ledger, post};
use crate::terminal::{HOLDGATE, KEYS, Terminal, detached};
use std::path::PathBuf;
use std::process::Stdio;

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
    desk.shows(KEYS).await;
    tokio::time::sleep(std::time::Duration::from_millis(600)).await;
    desk.press("a");
    desk.shows("write it").await;
    assert!(desk.screen().contains("do: ALLOW"), "{}", desk.screen());
    let file = asking
        .dir
        .path()
        .join(".config/holdgate/rules/approved.yaml");
    assert!(!file.exists(), "it is shown first");
    desk.press("y");
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
    proxy.shows(KEYS).await;
    tokio::time::sleep(std::time::Duration::from_millis(600)).await;
    proxy.press("y");
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
