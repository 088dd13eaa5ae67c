//! How long a person waits for a command to start: `cargo bench -p holdgate --bench start`.
//!
//! Beside them the start of `/bin/true`, in turn, so that other work on the machine tells little: each time is also
//! given as a multiple of it. `HOLDGATE_BENCH_PROGRAMS` names other builds to compare with, separated by spaces.

#![allow(
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a benchmark reports on standard output, and fails by panicking"
)]

use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const ROUNDS: usize = 40;
/// What is typed, and whether its first byte of output counts instead of its end.
const TYPED: [(&str, &[&str], bool); 3] = [
    ("--version", &["--version"], false),
    ("check -- ls", &["check", "--", "ls"], false),
    ("run, first byte", &["run", "--", "/bin/echo", "x"], true),
];

/// Runs the program in a home of its own.
fn run(program: &str, words: &[&str], home: &Path, first_byte: bool) -> Duration {
    let start = Instant::now();
    let mut command = Command::new(program);
    command.args(words).env_clear().env("HOME", home);
    command.current_dir(home).stdin(Stdio::null());
    let command = command.stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().expect("it starts");
    let mut output = child.stdout.take().expect("it writes");
    let first = first_byte.then(|| {
        output.read_exact(&mut [0]).expect("a byte");
        start.elapsed()
    });
    std::io::copy(&mut output, &mut std::io::sink()).expect("its output");
    assert!(child.wait().expect("it ends").success());
    first.unwrap_or_else(|| start.elapsed())
}

fn median(times: &mut [Duration]) -> f64 {
    times.sort_unstable();
    let middle = times.get(times.len() / 2).copied().unwrap_or_default();
    middle.as_secs_f64() * 1000.0
}

fn main() {
    let dir = tempfile::tempdir().expect("a folder");
    let others = std::env::var("HOLDGATE_BENCH_PROGRAMS").unwrap_or_default();
    let programs = others
        .split_whitespace()
        .chain([env!("CARGO_BIN_EXE_holdgate")]);
    let programs: Vec<&str> = programs.collect();
    let mut least = Vec::new();
    let mut times = vec![Vec::new(); programs.len() * TYPED.len()];
    for round in 0..=ROUNDS {
        let mut took = vec![run("/bin/true", &[], dir.path(), false)];
        for program in &programs {
            for (_, words, first_byte) in TYPED {
                took.push(run(program, words, dir.path(), first_byte));
            }
        }
        // The first round is for what is made once.
        if round > 0 {
            let mut took = took.into_iter();
            least.extend(took.next());
            times
                .iter_mut()
                .zip(took)
                .for_each(|(all, one)| all.push(one));
        }
    }
    let least = median(&mut least);
    println!("/bin/true {least:.2} ms at the median of {ROUNDS}");
    for (number, times) in times.iter_mut().enumerate() {
        let name = TYPED
            .get(number % TYPED.len())
            .map_or("", |(name, ..)| name);
        let program = programs.get(number / TYPED.len()).copied();
        let took = median(times);
        let ratio = took / least;
        println!(
            "{name:<16} {took:>7.2} ms {ratio:>6.1} x   {}",
            program.unwrap_or_default()
        );
    }
}
