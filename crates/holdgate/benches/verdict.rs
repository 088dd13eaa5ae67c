//! How long a verdict of the whole stack takes: `cargo bench -p holdgate --bench verdict`.
//!
//! The calls of `typical.jsonl`, and the cases of the files that `HOLDGATE_BENCH_CASES` names,
//! separated by spaces. Compare only within one run.

#![allow(
    clippy::print_stdout,
    reason = "a benchmark reports on standard output"
)]

use holdgate::config::Config;
use holdgate::eval::{Bench, Case, Latency, PROJECT, micros, read, read_file};
use holdgate::judging;
use holdgate_core::RateLimits;
use holdgate_core::rules::Profile;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// How often each call is judged.
const ROUNDS: usize = 5;

/// What agents do all day.
const TYPICAL: &str = include_str!("typical.jsonl");

/// The fastest of a few rounds for each verdict, so that other work on the machine tells little.
fn measure(name: &str, bench: &Bench, cases: &[Case]) {
    let round = || -> Vec<Duration> {
        let outcomes = cases.iter().filter_map(|case| bench.judge(case));
        outcomes.flat_map(|outcome| outcome.times).collect()
    };
    // What is made on first use is made before the clock runs.
    let mut times = round();
    times.fill(Duration::MAX);
    for _ in 0..ROUNDS {
        for (best, time) in times.iter_mut().zip(round()) {
            *best = time.min(*best);
        }
    }
    let latency = Latency::of(times);
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
    let typical = read("typical.jsonl", TYPICAL).map_err(anyhow::Error::msg)?;
    measure("typical calls", &bench, &typical);
    let files = std::env::var("HOLDGATE_BENCH_CASES").unwrap_or_default();
    if files.trim().is_empty() {
        println!("no files with cases: HOLDGATE_BENCH_CASES names none");
    }
    for file in files.split_whitespace().map(Path::new) {
        let cases = read_file(file).map_err(anyhow::Error::msg)?;
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        measure(&name, &bench, &cases);
    }
    Ok(())
}
