//! How long the classifier takes to score a call: `cargo bench -p holdgate --bench classifier`.
//!
//! The calls of `typical.jsonl`, which are understood before the clock runs, with the base model and
//! with one that has learned. Compare only within one run.

#![allow(
    clippy::print_stdout,
    reason = "a benchmark reports on standard output"
)]

use holdgate::config::LIMITS;
use holdgate::eval::{Latency, PROJECT, Subject, micros, read};
use holdgate::judging;
use holdgate_core::classifier::Classifier;
use holdgate_core::classifier::base::Base;
use holdgate_core::classifier::lesson::Lesson;
use holdgate_core::classifier::project::Memory;
use holdgate_core::{Classification, Context, History, Verdict};
use holdgate_effects::effect::Effect;
use holdgate_effects::json::Json;
use holdgate_effects::path::World;
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How often each call is scored; the fastest counts.
const ROUNDS: usize = 200;

/// What agents do all day.
const TYPICAL: &str = include_str!("typical.jsonl");

fn main() -> anyhow::Result<()> {
    let base = Base::built_in();
    let calls = effects(TYPICAL)?;
    let fresh = Classification::new(Classifier::new(base.clone(), None), Verdict::Block);
    measure("base model", &calls, |effects| fresh.findings(effects));
    let mut memory = Memory::default();
    for effects in &calls {
        let lesson = Lesson::of(effects, &base, None);
        for part in &lesson.units {
            memory.learn(part, &base, false, 0.1);
        }
        memory.allow(&lesson.units, (0.0, 0.0));
    }
    let learned = Some(Arc::new(memory.learned(&base)));
    let learned = Classification::new(Classifier::new(base.clone(), learned), Verdict::Block);
    measure("learned model", &calls, |effects| learned.findings(effects));
    measure("what a record keeps", &calls, |effects| {
        Lesson::of(effects, &base, None)
    });
    let long = format!("unlisted {}", "some words and more of them ".repeat(150));
    let long = effects(
        &serde_json::json!({"id": "long", "expect": "allow",
        "call": {"tool": "Bash", "input": {"command": long}}})
        .to_string(),
    )?;
    measure("a command of 4 KB", &long, |effects| {
        fresh.findings(effects)
    });
    Ok(())
}

/// What the calls of these cases do.
fn effects(cases: &str) -> anyhow::Result<Vec<Vec<Effect>>> {
    let stack = judging::stack_of(Vec::new(), LIMITS)?;
    let history = History::default();
    let mut calls = Vec::new();
    for case in read("cases", cases).map_err(anyhow::Error::msg)? {
        if let Subject::Call(call) = &case.subject {
            let mut held = judging::call(&call.tool, &Json::Null);
            held.push_input(&call.input, stack.call_limits());
            let mut session = judging::session(World::lexical(PROJECT));
            let context = Context::new(&history, Duration::ZERO);
            calls.push(stack.judge(held, &mut session, &context).effects);
        }
    }
    Ok(calls)
}

fn measure<T>(name: &str, calls: &[Vec<Effect>], score: impl Fn(&[Effect]) -> T) {
    let fastest = |effects: &Vec<Effect>| {
        let round = || {
            let begin = Instant::now();
            black_box(score(black_box(effects)));
            begin.elapsed()
        };
        std::iter::repeat_with(round).take(ROUNDS).min()
    };
    let latency = Latency::of(calls.iter().filter_map(fastest).collect());
    println!(
        "{name:<24} {:>6} calls   p50 {:>7}   p90 {:>7}   p99 {:>7}   max {:>8} µs",
        latency.verdicts,
        micros(latency.p50),
        micros(latency.p90),
        micros(latency.p99),
        micros(latency.max),
    );
}
