//! `holdgate run`, the real binary around real processes.

use crate::monitor::{STUBBORN, survivors};
use crate::setup::{REQUEST, eventually, has, model};
use crate::terminal::HOLDGATE;
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use tempfile::TempDir;

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

pub(crate) fn send(pid: u32, signal: Signal) {
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
