//! `holdgate run` at a terminal: the agent has one of its own, and questions come up on the user's.

use crate::monitor::{STUBBORN, survivors};
use crate::run::{ASK_MODEL, Place, send};
use crate::setup::{REQUEST, eventually, has, model};
use crate::terminal::{HOLDGATE, KEYS, Terminal};
use rustix::process::Signal;
use rustix::termios::{Winsize, tcsetwinsize};
use std::io::Write as _;

fn at_terminal(place: &Place, arguments: &[&str]) -> Terminal {
    let state = place.dir.path().to_str().unwrap();
    let arguments = [&["run", "--state-dir", state], arguments].concat();
    Terminal::run(HOLDGATE, &arguments, &[("PS1", "> "), ("HISTFILE", "")])
}

#[tokio::test]
async fn an_interactive_shell_works_as_at_the_users_own_terminal() {
    let place = Place::new();
    let mut terminal = at_terminal(&place, &["bash", "--norc", "--noprofile", "-i"]);
    let size = |rows, columns| Winsize {
        ws_row: rows,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    terminal.shows("> ").await;
    // Keys of the line editor: back, insert, end of line.
    terminal.press("echo ad\x1b[Db\x05; stty -a | head -1\r");
    terminal.shows("\nabd").await;
    tcsetwinsize(&terminal.keys, size(41, 97)).unwrap();
    eventually("the new size", || {
        terminal.press("stty size\r");
        std::thread::sleep(std::time::Duration::from_millis(100));
        terminal.screen().contains("41 97")
    })
    .await;
    // Ctrl-C ends what runs in the foreground, not the shell; jobs can be stopped and go on.
    terminal.press("echo be''gin; sleep 600\r");
    terminal.shows("begin").await;
    terminal.press("\x03");
    terminal.shows("^C").await;
    terminal.press("echo af''ter $?\r");
    terminal.shows("after 130").await;
    terminal.press("sh -c 'echo ru\"\"n; exec sleep 601'\r");
    terminal.shows("\nrun").await;
    terminal.press("\x1a");
    terminal.shows("Stopped").await;
    terminal.press("fg\r");
    eventually("the job ends", || {
        // A shell drops what was typed together with it.
        terminal.press("\x03");
        std::thread::sleep(std::time::Duration::from_millis(200));
        terminal.press("echo la''st\r");
        std::thread::sleep(std::time::Duration::from_millis(200));
        terminal.screen().contains("\nlast")
    })
    .await;
    for _ in 0..100 {
        // Typed too soon, it is dropped with the last interrupt.
        let _ = terminal.keys.write_all(b"exit 0\r");
        std::thread::sleep(std::time::Duration::from_millis(200));
        if terminal.screen().contains("calls judged") {
            break;
        }
    }
    has(&terminal.screen(), "calls judged");
    let (success, screen) = terminal.ends().await;
    assert!(success, "{screen}");
    assert!(screen.contains("holdgate: 0 calls judged"), "{screen}");
}

#[tokio::test]
async fn a_closed_terminal_leaves_no_orphan() {
    let place = Place::new();
    let pids = place.path("pids");
    let arguments = ["sh", "-c", STUBBORN, "sh", pids.to_str().unwrap()];
    let mut terminal = at_terminal(&place, &arguments);
    terminal.shows("ready").await;
    let members = survivors(&pids);
    assert_eq!(members.len(), 5);
    // What the system sends when a terminal is closed; the agent ignores it.
    send(terminal.child.id(), Signal::HUP);
    eventually("all are gone", || survivors(&pids).is_empty()).await;
    terminal.ends().await;
}

#[tokio::test]
async fn a_suspended_agent_gives_the_terminal_back() {
    // Some stop themselves, most leave that to the key.
    for (stops, key) in [("kill -STOP $$", ""), ("read line", "\x1a")] {
        let place = Place::new();
        // The outer shell has job control, as the user's has.
        let run = format!(
            "{HOLDGATE} run --state-dir {} sh -c 'echo agent; {stops}; echo again'",
            place.dir.path().display()
        );
        let mut terminal = Terminal::run(
            "bash",
            &["--norc", "--noprofile", "-i"],
            &[("PS1", "> "), ("HISTFILE", "")],
        );
        terminal.shows("> ").await;
        terminal.press(&format!("{run}\r"));
        terminal.shows("\nagent").await;
        terminal.press(key);
        terminal.shows("Stopped").await;
        terminal.press("stty -a | grep -o ' icanon'\r");
        terminal.shows("\n icanon").await;
        terminal.press("fg\r");
        eventually("it goes on", || {
            terminal.press("\r");
            std::thread::sleep(std::time::Duration::from_millis(100));
            terminal.screen().contains("\nagain")
        })
        .await;
        terminal.shows("0 calls judged").await;
        terminal.press("exit 0\r");
        terminal.ends().await;
    }
}

#[tokio::test]
async fn errors_that_go_elsewhere_do_not_go_to_the_terminal() {
    let place = Place::new();
    let errors = place.path("errors");
    let run = format!(
        "exec {HOLDGATE} run --state-dir {} sh -c 'test -t 1; echo out $?; echo err >&2' 2>{}",
        place.dir.path().display(),
        errors.display()
    );
    let mut terminal = Terminal::run("sh", &["-c", &run], &[]);
    terminal.shows("out 0").await;
    let (_, screen) = terminal.ends().await;
    assert!(!screen.contains("err"), "{screen}");
    let errors = std::fs::read_to_string(errors).unwrap();
    assert!(errors.contains("err\n"), "{errors}");
}

/// A question is on the user's own screen, and gone with its answer; then keys are the agent's again.
#[tokio::test(flavor = "multi_thread")]
async fn a_question_comes_up_where_the_agent_is() {
    for (answer, answered) in [
        ("y", "\"answer\":\"once\""),
        ("\x03", "\"answer\":\"deny\""),
    ] {
        let model = model();
        let place = Place::new();
        let upstream = format!("http://{}", model.address());
        let script = format!(
            "printf '\\033[?2004h'; read begin; {ASK_MODEL}\nread key; echo agent got $key"
        );
        let agent = ["bash", "-c", &script, "x", REQUEST, "force_push"];
        let mut terminal = at_terminal(&place, &[&["--upstream", &upstream][..], &agent].concat());
        terminal.shows("\x1b[?2004h").await;
        terminal.press("\r");
        terminal.shows(KEYS).await;
        let screen = terminal.screen();
        let ours = screen.rsplit("\x1b[?1049h").next().unwrap();
        has(&screen, "\x1b[?2004l");
        has(ours, "git push");
        // The end of input is no answer.
        terminal.press("\x04");
        // What is typed before anybody can have read the question is not taken.
        eventually("the answer is taken", || {
            terminal.press(answer);
            terminal.press("\r");
            std::thread::sleep(std::time::Duration::from_millis(200));
            terminal.screen().contains("\x1b[?1049l\x1b[?2004h")
        })
        .await;
        terminal.press("x\r");
        terminal.shows("agent got").await;
        let (_, screen) = terminal.ends().await;
        assert!(screen.contains("1 call judged"), "{screen}");
        let ledger = crate::setup::ledger(place.dir.path());
        assert!(ledger.contains(answered), "{ledger}");
    }
}

/// The agent's output waits behind the question, and is watched all the same.
#[tokio::test(flavor = "multi_thread")]
async fn output_behind_a_question_is_watched() {
    let model = model();
    let place = Place::new();
    let upstream = format!("http://{}", model.address());
    let go = place.path("go");
    let script = format!(
        "( {ASK_MODEL} ) >/dev/null &
        while [ ! -e {} ]; do sleep 0.02; done
        echo spinner; sleep 0.2; echo '\u{23fa} Bash(dd if=/dev/zero of=/dev/nvme0n1 bs=1M)'
        while :; do sleep 0.02; done",
        go.display()
    );
    let agent = ["bash", "-c", &script, "x", REQUEST, "force_push"];
    let mut terminal = at_terminal(&place, &[&["--upstream", &upstream][..], &agent].concat());
    terminal.shows(KEYS).await;
    std::fs::write(&go, "").unwrap();
    let (success, screen) = terminal.ends().await;
    assert!(!success);
    assert!(screen.contains("the agent was killed"), "{screen}");
    assert!(screen.contains("spinner"), "{screen}");
}
