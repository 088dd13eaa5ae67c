//! The monitor on real processes: what it freezes stands still, what it kills is gone, and nothing
//! else is touched. The patterns are simple words, the judge is a local server.

use crate::judge::{judge, settings as judge_settings};
use crate::judge_server::{JudgeServer, Reply};
use crate::setup::{eventually, ledger};
use holdgate::config::Config;
use holdgate::judge::WorkContext;
use holdgate::ledger::Ledger;
use holdgate::monitor::cgroup::Cgroup;
use holdgate::monitor::incident::Done;
use holdgate::monitor::process::Process;
use holdgate::monitor::tree::{Orphans, Tree};
use holdgate::monitor::{Agent, Output, Settings, StreamMonitor};
use holdgate_core::rules::{Profile, RuleSet};
use holdgate_core::watch::{Commands, PatternFile, Patterns};
use holdgate_effects::Knowledge;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;

/// Five processes that do not want to go: plain, in a session of their own, forked twice, without
/// their environment. Each writes its number into the file `$1`.
pub(crate) const STUBBORN: &str = r#"
stay='trap "" TERM HUP INT QUIT; echo $$ >> "$1"; while :; do sleep 0.02; done'
sh -c "$stay" x "$1" &
setsid sh -c "$stay" x "$1" &
( ( setsid sh -c "$stay" x "$1" & ) & )
env -i setsid sh -c "PATH=$PATH; $stay" x "$1" &
trap '' TERM HUP INT QUIT
echo $$ >> "$1"
while [ "$(wc -l < "$1")" -lt 5 ]; do sleep 0.02; done
echo ready
while :; do sleep 0.02; done
"#;

/// Those whose numbers are in the file and who are still there.
pub(crate) fn survivors(file: &Path) -> Vec<i32> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let pids = text.lines().filter_map(|line| line.parse().ok());
    pids.filter(|pid| Process::of(*pid).is_some_and(Process::is_alive))
        .collect()
}

/// Finds the words `certain`, `doubtful` and `minor`.
const PATTERNS: &str = r"
- { id: certain, family: words, severity: high, certain: true, words: [certain], regex: 'certain',
    because: a word, examples: { trips: [certain], passes: [x] } }
- { id: doubtful, family: words, severity: high, words: [doubtful], regex: 'doubtful',
    because: a word, examples: { trips: [doubtful], passes: [x] } }
- { id: trifle, family: words, severity: low, words: [trifle], regex: 'trifle',
    because: a word, examples: { trips: [trifle], passes: [x] } }
- { id: harm, family: harm-in-progress, severity: high, words: [harmful], regex: 'harmful',
    because: a word, examples: { trips: [harmful], passes: [x] } }
- { id: minor, family: words, severity: medium, words: [minor], regex: 'minor',
    because: a word, examples: { trips: [minor], passes: [x] } }
";

/// A judge that says so.
fn says(verdict: &str) -> Reply {
    Reply::verdict(verdict)
}

/// A judge that cannot.
fn is_down() -> Reply {
    Reply::new(503, "it sleeps")
}

fn length(file: &Path) -> u64 {
    std::fs::metadata(file).map_or(0, |m| m.len())
}

struct Watched {
    monitor: StreamMonitor,
    child: Child,
    judge: JudgeServer,
    file: PathBuf,
    dir: TempDir,
}

impl Watched {
    /// A shell that runs `script` with the file `$1`.
    async fn start(script: &str, reply: Reply, freeze: bool) -> Watched {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        let server = JudgeServer::start([reply.watching(&file)]).await;
        // As `holdgate run` does for itself: orphans come to us.
        let own = rustix::process::getpid();
        rustix::process::set_child_subreaper(Some(own)).unwrap();
        let mark = dir.path().to_str().unwrap().to_owned();
        let mut child = Command::new("sh")
            .args(["-c", script, "sh", file.to_str().unwrap()])
            .env("MONITOR_TEST", &mark)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let root = Process::of(i32::try_from(child.id()).unwrap()).unwrap();
        let orphans = Orphans::Marked(format!("MONITOR_TEST={mark}"));
        let state = dir.path().join("state");
        let config = Config::defaults(state.clone()).unwrap();
        let patterns = PatternFile {
            name: "words",
            text: PATTERNS,
        };
        let rules = RuleSet::built_in(Profile::default()).unwrap();
        let know = Knowledge::built_in().unwrap();
        let settings = Settings {
            freeze,
            session: "test".to_owned(),
            ledger: Arc::new(Ledger::open(&state, config.ledger).unwrap()),
            patterns: Arc::new(Patterns::read(&[patterns]).unwrap()),
            commands: Commands::new(rules, know, Arc::default()),
            judge: Arc::new(judge(judge_settings(&server.url()))),
            person: None,
            requests: Arc::default(),
        };
        let output = Output {
            name: "stdout",
            from: File::from(OwnedFd::from(child.stdout.take().unwrap())),
            to: Box::new(std::io::sink()),
        };
        let agent = Agent {
            tree: Tree::of(root, orphans),
            outputs: vec![output],
        };
        let work = WorkContext {
            goal: "a test".to_owned(),
            ..WorkContext::default()
        };
        Watched {
            monitor: StreamMonitor::attach(agent, work, settings).unwrap(),
            child,
            judge: server,
            file,
            dir,
        }
    }

    async fn incidents(&self, count: usize) {
        eventually("an incident", || self.monitor.incidents().len() >= count).await;
    }

    fn ledger(&self) -> String {
        ledger(&self.dir.path().join("state"))
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.monitor.with_tree(Tree::kill);
        let _ = self.child.wait();
    }
}

#[tokio::test]
async fn a_kill_reaches_the_whole_tree_and_nothing_else() {
    let mut bystander = Command::new("sleep").arg("600").spawn().unwrap();
    let script = format!("{}\n", STUBBORN.replace("echo ready", "echo certain"));
    let watched = Watched::start(&script, says("SAFE"), true).await;
    watched.incidents(1).await;
    let incident = watched.monitor.incidents().remove(0);
    let Done::Killed { processes, left } = &incident.done else {
        panic!("{incident:?}");
    };
    assert!(*processes >= 5, "{processes}");
    assert!(left.is_empty());
    assert_eq!(survivors(&watched.file), [0; 0]);
    assert!(bystander.try_wait().unwrap().is_none());
    bystander.kill().unwrap();
    bystander.wait().unwrap();
    let ledger = watched.ledger();
    for part in [
        r#""door":"monitor""#,
        r#""verdict":"kill""#,
        r#""action":"killed""#,
        r#""pattern":"certain""#,
        r#""judge":"certain""#,
        r#""output":"certain"#,
    ] {
        assert!(ledger.contains(part), "{part} in {ledger}");
    }
    // Nobody was asked.
    assert!(watched.judge.asked().is_empty());
}

/// Writes into its file from three processes, one of them in another session.
const BUSY: &str = r#"
busy='while :; do printf x >> "$1"; done'
sh -c "$busy" x "$1" &
( setsid sh -c "$busy" x "$1" & )
while [ ! -s "$1" ]; do sleep 0.01; done
echo doubtful
while :; do printf x >> "$1"; done
"#;

#[tokio::test]
async fn nothing_is_written_while_the_judge_thinks() {
    let think = Duration::from_secs(2);
    let watched = Watched::start(BUSY, says("SAFE").after(think), true).await;
    watched.incidents(1).await;
    let (before, after) = watched.judge.lengths.lock().unwrap()[0];
    assert!(before > 0);
    assert_eq!(before, after);
    eventually("it goes on", || length(&watched.file) > after).await;
    let incident = watched.monitor.incidents().remove(0);
    assert_eq!(incident.done, Done::LetGo);
    assert!(incident.timings.verified && incident.timings.asked >= think);
    assert!(watched.ledger().contains(r#""judge":"safe""#));
}

#[tokio::test]
async fn without_freezing_it_goes_on_until_the_judge_has_spoken() {
    let think = Duration::from_millis(300);
    let watched = Watched::start(BUSY, says("KILL").after(think), false).await;
    watched.incidents(1).await;
    let (before, after) = watched.judge.lengths.lock().unwrap()[0];
    assert!(after > before);
    let members = watched.monitor.with_tree(Tree::members);
    assert!(members.is_empty(), "{members:?}");
    assert!(watched.ledger().contains(r#""judge":"kill""#));
}

#[tokio::test]
async fn without_a_judge_and_a_person_only_harm_kills() {
    let script = "echo trifle; echo minor; echo doubtful; sleep 0.2; echo harmful
        while :; do sleep 0.02; done";
    let watched = Watched::start(script, is_down(), true).await;
    watched.incidents(4).await;
    let mut incidents = watched.monitor.incidents();
    let noted = incidents.remove(0);
    assert_eq!((noted.done, noted.timings.frozen), (Done::Noted, None));
    assert_eq!(incidents[0].done, Done::Warned);
    assert_eq!(incidents[1].done, Done::Warned);
    assert!(matches!(incidents[2].done, Done::Killed { .. }));
    assert!(incidents.iter().all(|i| i.verdict() == "judge_down"));
    assert!(incidents[2].reason().contains("503"));
    assert!(watched.monitor.with_tree(Tree::members).is_empty());
}

#[tokio::test]
async fn what_the_agent_has_stopped_itself_stays_stopped() {
    let script = r#"
        sh -c 'echo $$ > "$1"; kill -STOP $$; echo >> "$1"' x "$1" &
        while [ ! -s "$1" ]; do sleep 0.01; done
        sleep 0.2; echo minor; while :; do sleep 0.02; done"#;
    let watched = Watched::start(script, says("WARN"), true).await;
    watched.incidents(1).await;
    let stopped: i32 = std::fs::read_to_string(&watched.file)
        .unwrap()
        .trim()
        .parse()
        .unwrap();
    let stopped = Process::of(stopped).unwrap();
    let root = watched.monitor.with_tree(|tree| tree.first()).unwrap();
    eventually("the agent goes on", || !root.is_stopped()).await;
    assert!(stopped.is_stopped());
}

#[tokio::test]
async fn after_detaching_output_is_carried_and_not_watched() {
    let script =
        "while [ ! -s \"$1\" ]; do sleep 0.01; done; echo certain; sleep 0.2; echo > \"$1.end\"";
    let mut watched = Watched::start(script, says("SAFE"), true).await;
    watched.monitor.detach();
    std::fs::write(&watched.file, "go").unwrap();
    watched.monitor.finish();
    assert!(watched.child.wait().unwrap().success());
    assert!(watched.monitor.incidents().is_empty());
}

/// A control group, where this machine lets us make one: it freezes and kills without chasing.
#[tokio::test]
async fn a_control_group_holds_what_is_in_it() {
    let name = format!("holdgate-test-{}", std::process::id());
    let Some(cgroup) = Cgroup::make(&name) else {
        eprintln!("no control group can be made here");
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    let procs = cgroup.dir().join("cgroup.procs");
    let script = format!("echo $$ > {}\n{BUSY}", procs.display());
    let mut child = Command::new("sh")
        .args(["-c", &script, "sh", file.to_str().unwrap()])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let root = Process::of(i32::try_from(child.id()).unwrap()).unwrap();
    let orphans = Orphans::Marked("NONE=1".to_owned());
    let group = cgroup.dir().to_owned();
    let mut tree = Tree::of(root, orphans).in_cgroup(Some(cgroup));
    eventually("it writes", || length(&file) > 1000).await;
    assert!(tree.freeze().verified);
    let before = length(&file);
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(length(&file), before);
    tree.thaw();
    eventually("it goes on", || length(&file) > before).await;
    let killed = tree.kill();
    assert!(killed.left.is_empty(), "{killed:?}");
    child.wait().unwrap();
    drop(tree);
    eventually("the group is gone", || {
        !group.exists() || std::fs::remove_dir(&group).is_ok()
    })
    .await;
}
