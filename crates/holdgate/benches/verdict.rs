//! How long a verdict of the whole stack takes: `cargo bench -p holdgate --bench verdict`.
//!
//! The calls of `typical.jsonl`, and the cases of the files that `HOLDGATE_BENCH_CASES` names,
//! separated by spaces; a last line is about all those files together. `HOLDGATE_BENCH_TIMES` names
//! a file that gets one line per case: its id and the times of its verdicts in nanoseconds.
//! `HOLDGATE_BENCH_ROUNDS` says how often each call is judged. Compare only within one run.

#![allow(
    clippy::print_stdout,
    reason = "a benchmark reports on standard output"
)]

use holdgate::config::Config;
use holdgate::eval::{Bench, Case, Latency, PROJECT, micros, read, read_file};
use holdgate::judging;
use holdgate_core::RateLimits;
use holdgate_core::rules::Profile;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

// As in the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How often each call is judged.
const ROUNDS: usize = 5;

/// What agents do all day.
const TYPICAL: &str = include_str!("typical.jsonl");

/// The fastest of a few rounds for each verdict, so that other work on the machine tells little.
fn measure(bench: &Bench, cases: &[Case], rounds: usize) -> Vec<Vec<Duration>> {
    let times = |case: &Case| {
        bench
            .judge(case)
            .map_or_else(Vec::new, |judged| judged.times)
    };
    // What is made on first use is made before the clock runs.
    let mut best: Vec<Vec<Duration>> = cases.iter().map(times).collect();
    for round in 0..rounds {
        for (best, case) in best.iter_mut().zip(cases) {
            for (best, time) in best.iter_mut().zip(times(case)) {
                *best = if round == 0 { time } else { time.min(*best) };
            }
        }
    }
    best
}

fn report(name: &str, times: &[Vec<Duration>]) {
    let latency = Latency::of(times.iter().flatten().copied().collect());
    println!(
        "{name:<32} {:>8} verdicts   p50 {:>7}   p90 {:>7}   p99 {:>7}   max {:>8} µs",
        latency.verdicts,
        micros(latency.p50),
        micros(latency.p90),
        micros(latency.p99),
        micros(latency.max),
    );
}

fn main() -> anyhow::Result<()> {
    let stack = judging::stack(Profile::default(), &[], RateLimits::default())?;
    let guard = Config::defaults("")?.guard;
    let bench = Bench::new(Arc::new(stack), guard, PROJECT);
    let rounds = std::env::var("HOLDGATE_BENCH_ROUNDS").ok();
    let rounds = rounds.and_then(|text| text.parse().ok()).unwrap_or(ROUNDS);
    let typical = read("typical.jsonl", TYPICAL).map_err(anyhow::Error::msg)?;
    report("typical calls", &measure(&bench, &typical, rounds));
    let files = std::env::var("HOLDGATE_BENCH_CASES").unwrap_or_default();
    if files.trim().is_empty() {
        println!("no files with cases: HOLDGATE_BENCH_CASES names none");
        return Ok(());
    }
    let mut listed = std::env::var("HOLDGATE_BENCH_TIMES")
        .ok()
        .map(File::create)
        .transpose()?;
    let mut all = Vec::new();
    for file in files.split_whitespace().map(Path::new) {
        let cases = read_file(file).map_err(anyhow::Error::msg)?;
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let times = measure(&bench, &cases, rounds);
        report(&name, &times);
        if let Some(listed) = &mut listed {
            for (case, times) in cases.iter().zip(&times) {
                let nanos: Vec<u128> = times.iter().map(Duration::as_nanos).collect();
                writeln!(listed, "{} {nanos:?}", case.id)?;
            }
        }
        all.extend(times);
    }
    report("all files", &all);
    Ok(())
}
