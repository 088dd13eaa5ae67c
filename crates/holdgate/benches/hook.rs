//! How long a hook takes, from the start of its process to its end: `cargo bench -p holdgate --bench hook`.
//!
//! By a resident engine, in process, and beside them the start of the program alone, in turn, so that
//! other work on the machine tells little. Compare only within one run.

#![allow(
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a benchmark reports on standard output, and fails by panicking"
)]

use holdgate::args::HookAgent;
use holdgate::config::{Config, Flags};
use holdgate::eval::{Latency, micros};
use holdgate::hook::probe;
use holdgate::proxy::Proxy;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const PROGRAM: &str = env!("CARGO_BIN_EXE_holdgate");
const ROUNDS: usize = 60;

/// Runs the program to its end with this input, as a client does.
fn run(words: &[&str], input: &str) -> Duration {
    let start = Instant::now();
    let mut command = Command::new(PROGRAM);
    command.args(words).stdin(Stdio::piped());
    let mut child = command.stdout(Stdio::piped()).spawn().expect("it starts");
    let mut stdin = child.stdin.take().expect("it reads");
    // `--version` reads nothing.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    let done = child.wait_with_output().expect("it ends");
    assert!(done.status.success(), "{done:?}");
    start.elapsed()
}

fn report(name: &str, times: Vec<Duration>) {
    let latency = Latency::of(times);
    let (p50, p90, max) = (latency.p50, latency.p90, latency.max);
    println!(
        "{name:<24} p50 {:>8}   p90 {:>8}   max {:>8} µs",
        micros(p50),
        micros(p90),
        micros(max)
    );
}

fn main() {
    let (served, alone) = (tempfile::tempdir(), tempfile::tempdir());
    let (served, alone) = (served.expect("a folder"), alone.expect("a folder"));
    let upstream = ([127, 0, 0, 1], 9).into();
    let config = Config::load(&Flags::local(served.path(), upstream), []).expect("settings");
    let mut proxy = Proxy::start(config).expect("a proxy");
    proxy.serve_all_hooks();
    let agent = HookAgent::ClaudeCode;
    let hook = |dir: &Path, input: &str| {
        let dir = dir.to_str().expect("a name");
        let words = [
            "hook",
            agent.word(),
            "--set",
            "HOME=/home/dev",
            "--state-dir",
            dir,
        ];
        run(&words, input)
    };
    let (mut start, mut resident, mut in_process) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..=ROUNDS {
        let input = probe(agent, &format!("cargo test --lib part_{round}"));
        let times = [
            run(&["--version"], ""),
            hook(served.path(), &input),
            hook(alone.path(), &input),
        ];
        // The first round is for what is made once.
        if round > 0 {
            let [a, b, c] = times;
            start.push(a);
            resident.push(b);
            in_process.push(c);
        }
    }
    report("start of the program", start);
    report("hook, resident engine", resident);
    report("hook, in process", in_process);
    proxy.stop();
}
