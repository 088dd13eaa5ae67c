//! `holdgate run`, the real binary around real processes.

use crate::approve::Terminal;
use crate::monitor::{STUBBORN, survivors};
use crate::setup::{REQUEST, eventually, has, model};
use rustix::process::{Pid, Signal, kill_process};
use rustix::termios::{Winsize, tcsetwinsize};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use tempfile::TempDir;

pub(crate) const HOLDGATE: &str = env!("CARGO_BIN_EXE_holdgate");

pub(crate) struct Place {
    pub(crate) dir: TempDir,
}

impl Place {
    pub(crate) fn new() -> Place {
        let dir = tempfile::tempdir().unwrap();
        Place { dir }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// `holdgate run` with these arguments, without a terminal.
    pub(crate) fn run(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(HOLDGATE);
        command
            .env_clear()
            .env("PATH", std::env::var("PATH").unwrap())
            .env("HOLDGATE_GUARD_JUDGE_TIMEOUT", "20s")
            .env("HOLDGATE_JUDGE_PROVIDER", "none")
            .args(["run", "--state-dir"])
            .arg(self.dir.path())
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn output(&self, arguments: &[&str]) -> Output {
        self.run(arguments).output().unwrap()
    }

    /// The stubborn tree, once all of it is there.
    fn stubborn(&self) -> (Child, PathBuf) {
        let pids = self.path("pids");
        let mut child = self
            .run(&["--", "sh", "-c", STUBBORN, "sh", pids.to_str().unwrap()])
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        lines.read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
        std::thread::spawn(move || lines.read_to_end(&mut Vec::new()));
        assert_eq!(survivors(&pids).len(), 5);
        (child, pids)
    }
}

fn send(pid: u32, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    kill_process(pid, signal).unwrap();
}

/// The process between `holdgate run` and the agent.
fn keeper_of(child: &Child) -> u32 {
    let path = format!("/proc/{0}/task/{0}/children", child.id());
    let children = std::fs::read_to_string(path).unwrap();
    children.trim().parse().unwrap()
}

#[test]
fn the_exit_code_is_the_agents() {
    let place = Place::new();
    let check = |script: &str, code: i32| {
        let ended = place.output(&["--", "sh", "-c", script]);
        assert_eq!(ended.status.code(), Some(code), "{script}: {ended:?}");
    };
    check("exit 0", 0);
    check("exit 7", 7);
    check("kill -9 $$", 137);
    check("kill -TERM $$", 143);
    let ended = place.output(&["--", "no-such-program"]);
    assert_eq!(ended.status.code(), Some(127), "{ended:?}");
    let ended = place.output(&["--work-order", "/no/such/file", "true"]);
    assert_eq!(ended.status.code(), Some(2), "{ended:?}");
}

#[test]
fn bytes_pass_unchanged_and_streams_stay_apart() {
    let place = Place::new();
    let bytes: Vec<u8> = (0..2_000_000u32)
        .map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8)
        .collect();
    // Nothing is said about an upstream that can be reached.
    let upstream = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", upstream.local_addr().unwrap());
    let mut command = place.run(&["--upstream", &address, "sh", "-c", "tee /dev/stderr"]);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let (mut stdin, sent) = (child.stdin.take().unwrap(), bytes.clone());
    let writer = std::thread::spawn(move || stdin.write_all(&sent).unwrap());
    let ended = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(ended.stdout == bytes);
    // After the line that says what happens to findings.
    let start = ended.stderr.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let (copied, summary) = ended.stderr[start..].split_at(bytes.len());
    assert!(copied == bytes);
    let summary = String::from_utf8_lossy(summary);
    has(&summary, "0 calls judged, 0 refused, 0 incidents");
}

#[test]
fn output_passes_before_the_end() {
    let place = Place::new();
    let mut command = place.run(&["sh", "-c", "printf first; read line; echo $line"]);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut first = [0; 5];
    let mut out = child.stdout.take().unwrap();
    out.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"first");
    child.stdin.take().unwrap().write_all(b"second\n").unwrap();
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "second\n");
    assert!(child.wait().unwrap().success());
}

#[test]
fn the_environment_is_for_the_agent_only() {
    let place = Place::new();
    let script = "echo $ANTHROPIC_BASE_URL $OPENAI_BASE_URL $GOOGLE_GEMINI_BASE_URL; read x";
    let mut command = place.run(&["sh", "-c", script]);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut line).unwrap();
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let [anthropic, openai, gemini] = words[..] else {
        panic!("{line}");
    };
    assert!(anthropic.starts_with("http://127.0.0.1:") && anthropic.contains("/s/run-"));
    assert_eq!(openai, format!("{anthropic}/v1"));
    assert_eq!(gemini, anthropic);
    let own = std::fs::read(format!("/proc/{}/environ", child.id())).unwrap();
    assert!(!String::from_utf8_lossy(&own).contains("BASE_URL"));
    drop(child.stdin.take());
    child.wait().unwrap();
}

/// Sends the request `$1` for the scenario `$2`, and shows the answer.
pub(crate) const ASK_MODEL: &str = r#"
    address=${ANTHROPIC_BASE_URL#http://}
    exec 3<>"/dev/tcp/127.0.0.1/$(echo "${address%%/*}" | cut -d: -f2)"
    printf 'POST /%s/x/%s/v1/messages HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s' "${address#*/}" "$2" "${#1}" "$1" >&3
    cat <&3
"#;

#[tokio::test(flavor = "multi_thread")]
async fn calls_of_the_agent_are_judged_and_summed_up() {
    let model = model();
    let place = Place::new();
    let upstream = format!("http://{}", model.address());
    let agent = ["bash", "-c", ASK_MODEL, "x", REQUEST, "demo"];
    let mut command = place.run(&[&["--upstream", &upstream][..], &agent].concat());
    let ended = tokio::task::spawn_blocking(move || command.output().unwrap())
        .await
        .unwrap();
    let told = String::from_utf8_lossy(&ended.stderr);
    assert!(
        told.contains("1 call judged, 0 refused"),
        "{told} {ended:?}"
    );
    let ledger = crate::setup::ledger(place.dir.path());
    assert!(ledger.contains(r#""session":"run-"#), "{ledger}");
}

#[tokio::test]
async fn being_killed_leaves_no_orphan() {
    let place = Place::new();
    let (mut child, pids) = place.stubborn();
    let mut bystander = Command::new("sleep").arg("600").spawn().unwrap();
    send(child.id(), Signal::KILL);
    child.wait().unwrap();
    eventually("all are gone", || survivors(&pids).is_empty()).await;
    assert!(bystander.try_wait().unwrap().is_none());
    bystander.kill().unwrap();
    bystander.wait().unwrap();
}

#[tokio::test]
async fn killing_the_keeper_ends_all() {
    let place = Place::new();
    let (mut child, pids) = place.stubborn();
    send(keeper_of(&child), Signal::KILL);
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(137));
    assert!(survivors(&pids).is_empty());
}

#[tokio::test]
async fn signals_end_all_the_second_time_at_once() {
    for signal in [Signal::TERM, Signal::HUP] {
        let place = Place::new();
        let (mut child, pids) = place.stubborn();
        send(child.id(), signal);
        // The agent ignores it. Both would be one if they came together.
        std::thread::sleep(std::time::Duration::from_millis(300));
        send(child.id(), Signal::TERM);
        assert_eq!(child.wait().unwrap().code(), Some(137));
        assert!(survivors(&pids).is_empty());
    }
}

#[tokio::test]
async fn an_agent_that_is_told_to_end_ends_its_own_way() {
    let place = Place::new();
    let script = "trap 'echo bye; exit 5' TERM; echo ready; while :; do sleep 0.02; done";
    let mut child = place.run(&["sh", "-c", script]).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    send(child.id(), Signal::TERM);
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "bye\n");
    assert_eq!(child.wait().unwrap().code(), Some(5));
}

#[tokio::test]
async fn what_the_agent_leaves_behind_goes_with_it() {
    let place = Place::new();
    let pids = place.path("pids");
    let script = r#"(setsid sh -c 'echo $$ > "$1"; while :; do sleep 0.02; done' x "$1" &)
        while [ ! -s "$1" ]; do sleep 0.01; done; exit 3"#;
    let ended = place.output(&["sh", "-c", script, "x", pids.to_str().unwrap()]);
    assert_eq!(ended.status.code(), Some(3));
    assert!(pids.exists() && survivors(&pids).is_empty());
}

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

/// What was there before is not the agent's, also if it is our child.
#[test]
fn children_from_before_are_left_alone() {
    let place = Place::new();
    let script = format!(
        "sleep 600 >/dev/null 2>&1 & echo $!; exec {HOLDGATE} run --state-dir {} true",
        place.dir.path().display()
    );
    let ended = Command::new("sh").args(["-c", &script]).output().unwrap();
    let pid = String::from_utf8_lossy(&ended.stdout)
        .trim()
        .parse()
        .unwrap();
    send(pid, Signal::KILL);
}

/// Each generation forks and ends, so that nobody is there for long. As a user who can make no control
/// group.
#[tokio::test]
async fn who_only_forks_and_ends_does_not_get_away() {
    let place = Place::new();
    let state = place.path("state");
    std::fs::create_dir(&state).unwrap();
    let root = rustix::process::geteuid().is_root();
    for path in [place.dir.path(), &state] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
        let owner = root.then_some(65534);
        std::os::unix::fs::chown(path, owner, owner).unwrap();
    }
    let script = r#"comet() { echo x >> "$1"; comet "$1" & }
        comet "$1"; comet "$1"; comet "$1"
        while [ "$(wc -l < "$1")" -lt 50 ]; do sleep 0.02; done"#;
    let file = place.path("file");
    let arguments = ["run", "--state-dir", state.to_str().unwrap(), "bash", "-c"];
    // Where everybody can reach it.
    let program = place.path("holdgate");
    std::fs::copy(HOLDGATE, &program).unwrap();
    let mut command = Command::new(&program);
    if root {
        command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
        command.arg(&program);
    }
    command
        .args(arguments)
        .args([script, "bash", file.to_str().unwrap()])
        .env("HOME", place.dir.path())
        .env("HOLDGATE_JUDGE_PROVIDER", "none");
    let ended = command.output().unwrap();
    assert!(ended.status.success(), "{ended:?}");
    let length = || std::fs::metadata(&file).unwrap().len();
    let before = length();
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert_eq!(length(), before);
}

#[test]
fn output_and_errors_in_one_file_keep_their_order() {
    let place = Place::new();
    let file = place.path("both");
    let both = std::fs::File::create(&file).unwrap();
    let script = "for i in $(seq 500); do echo o $i; echo e $i >&2; done";
    let mut command = place.run(&["sh", "-c", script]);
    command.stdout(both.try_clone().unwrap()).stderr(both);
    assert!(command.status().unwrap().success());
    let text = std::fs::read_to_string(&file).unwrap();
    let expected: String = (1..=500).map(|i| format!("o {i}\ne {i}\n")).collect();
    assert!(text.contains(&expected), "{text}");
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
        ("o", "\"answer\":\"once\""),
        ("\x03", "\"answer\":\"deny\""),
    ] {
        let model = model();
        let place = Place::new();
        let upstream = format!("http://{}", model.address());
        let script = format!("printf '\\033[?2004h'; {ASK_MODEL}\nread key; echo agent got $key");
        let agent = ["bash", "-c", &script, "x", REQUEST, "force_push"];
        let mut terminal = at_terminal(&place, &[&["--upstream", &upstream][..], &agent].concat());
        terminal.shows("[d]eny?").await;
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
    terminal.shows("[d]eny?").await;
    std::fs::write(&go, "").unwrap();
    let (success, screen) = terminal.ends().await;
    assert!(!success);
    assert!(screen.contains("the agent was killed"), "{screen}");
    assert!(screen.contains("spinner"), "{screen}");
}
