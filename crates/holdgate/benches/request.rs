//! What a request costs before it is sent on, and what its history costs meanwhile:
//! `cargo bench -p holdgate --bench request`.
//!
//! Figures are of the fastest round, so that other work on the machine tells little; compare only
//! within one run.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark reports on standard output"
)]
#![allow(clippy::cast_precision_loss, reason = "figures for people")]

use bytes::Bytes;
use holdgate::config::LIMITS;
use holdgate_core::injection::{self, Suspicion};
use holdgate_core::marking::{Marker, SharedExamined};
use holdgate_core::{ANTHROPIC, CallReader, Conversations, Masked, Request, Unbounded};
use holdgate_effects::Knowledge;
use holdgate_effects::path::World;
use serde_json::{Value, json};
use std::hint::black_box;
use std::num::NonZero;
use std::thread;
use std::time::{Duration, Instant};

const ROUNDS: usize = 15;
const MIB: usize = 1 << 20;

/// What tools print: lines of source, with all that JSON escapes.
const SOURCE: &str = include_str!("../src/proxy/handle.rs");

/// A conversation of about `bytes` in which files are read and commands run.
fn conversation(bytes: usize) -> Vec<Value> {
    let mut messages = vec![json!({"role": "user", "content": "fix the tests"})];
    let mut size = 0;
    while size < bytes {
        let id = format!("toolu_{}", messages.len());
        let command = format!(
            "cargo test -p core 'mod{}::' 2>&1 | tail -40",
            messages.len()
        );
        let printed: String = SOURCE
            .chars()
            .skip(messages.len() % 500)
            .take(3500)
            .collect();
        messages.push(json!({"role": "assistant", "content": [
            {"type": "text", "text": "Let me look at that."},
            {"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}}]}));
        messages.push(json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": id, "content": printed, "is_error": false}]}));
        size += 4000;
    }
    messages
}

fn body(messages: &[Value]) -> Bytes {
    let tools: Vec<Value> = (0..20)
        .map(|i| {
            let description: String = SOURCE.chars().take(2000).collect();
            json!({"name": format!("Tool{i}"), "description": description,
                   "input_schema": {"type": "object", "required": ["command"]}})
        })
        .collect();
    let body = json!({"model": "m", "system": "Working directory: /p", "tools": tools,
                      "metadata": {"user_id": "user_1_session_abc"}, "messages": messages});
    body.to_string().into()
}

fn fastest(round: impl FnMut() -> Duration) -> Duration {
    let rounds = std::iter::repeat_with(round).take(ROUNDS);
    rounds.min().unwrap_or_default()
}

fn timed<T>(work: impl FnOnce() -> T) -> Duration {
    let begin = Instant::now();
    black_box(work());
    begin.elapsed()
}

fn report(name: &str, bytes: usize, took: Duration) {
    let ms = took.as_secs_f64() * 1000.0;
    let size = bytes as f64 / MIB as f64;
    println!(
        "{name:<44} {size:>6.2} MiB {ms:>9.3} ms {:>8.3} ms/MiB",
        ms / size
    );
}

/// Takes every result for one that gives orders, and examines nothing.
#[expect(clippy::unnecessary_wraps, reason = "it stands in for the filter")]
fn all(_: &str) -> Option<Suspicion> {
    Some(Suspicion {
        rule: "all",
        reason: "for the benchmark".to_owned(),
        evidence: Masked::of("all"),
        range: None,
    })
}

/// What marking costs before a request is sent on: reading and examining the messages that are new,
/// hashing all others, and copying the body if something is marked.
fn marking(
    what: &str,
    (examine, threads): (fn(&str) -> Option<Suspicion>, usize),
    [first, next]: [&Request; 2],
) {
    let marker = Marker {
        examine: &examine,
        number: &|text| format!("{:016x}", text.len()),
        threads,
    };
    let mark = |request: &Request, examined: &SharedExamined| {
        let marks = marker.marks(request, examined).unwrap();
        marks.note(examined);
        marks.body()
    };
    let bytes = |request: &Request| request.messages().map(<[u8]>::len).sum();
    let took = fastest(|| timed(|| mark(first, &SharedExamined::default())));
    report(&format!("marking {what}: first sight"), bytes(first), took);
    let examined = SharedExamined::default();
    mark(first, &examined);
    let took = fastest(|| timed(|| mark(first, &examined)));
    report(
        &format!("marking {what}: the same again"),
        bytes(first),
        took,
    );
    let took = fastest(|| {
        let examined = SharedExamined::default();
        mark(first, &examined);
        timed(|| mark(next, &examined))
    });
    report(
        &format!("marking {what}: following turn"),
        bytes(next),
        took,
    );
}

/// What is sent on of a conversation that no session has seen.
fn marked(request: &Request, threads: usize) -> Bytes {
    let marker = Marker {
        examine: &injection::examine,
        number: &|text| format!("{:016x}", text.len()),
        threads,
    };
    let examined = SharedExamined::default();
    let marks = marker.marks(request, &examined).unwrap();
    marks.note(&examined);
    marks.body()
}

fn main() {
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    let know = Knowledge::built_in().unwrap();
    know.warm();
    let world = World::lexical("/p");
    let reader = CallReader {
        know: &know,
        world: &world,
        limits: LIMITS.call,
        fuel: 1_000_000,
        room: &Unbounded,
    };
    for size in [MIB, 8 * MIB] {
        let mut messages = conversation(size);
        let first = body(&messages);
        let longer = conversation(size + 4000);
        messages.extend(longer.into_iter().skip(messages.len()));
        let next = body(&messages);
        let read = |body: &Bytes| ANTHROPIC.read_request(body.clone()).unwrap();
        let took = fastest(|| timed(|| read(&first)));
        report("before sending on: first sight", first.len(), took);
        let took = fastest(|| timed(|| read(&next)));
        report("before sending on: following turn", next.len(), took);
        let (first_read, next_read) = (read(&first), read(&next));
        let requests = [&first_read, &next_read];
        injection::prepare();
        marking("by the filter", (injection::examine, cores), requests);
        marking("on one thread", (injection::examine, 1), requests);
        marking("without a filter", (|_| None, cores), requests);
        marking("all results", (all, cores), requests);
        let took = fastest(|| timed(|| marked(&read(&first), cores)));
        report(
            "before sending on, with marks: first sight",
            first.len(),
            took,
        );
        let took = fastest(|| {
            let mut store = Conversations::default();
            timed(|| store.history(&first_read, &reader).unwrap())
        });
        report("meanwhile: history at first sight", first.len(), took);
        let took = fastest(|| {
            let mut store = Conversations::default();
            store.history(&first_read, &reader).unwrap();
            timed(|| store.history(&next_read, &reader).unwrap())
        });
        report("meanwhile: history of a following turn", next.len(), took);
    }
    // The first message is read before the request is sent on: the worst is one that is all of it.
    let pasted = SOURCE.repeat(8 * MIB / SOURCE.len());
    let pasted = body(&[json!({"role": "user", "content": pasted})]);
    let took = fastest(|| timed(|| ANTHROPIC.read_request(pasted.clone()).unwrap()));
    report("before sending on: one pasted message", pasted.len(), took);
    let quotes = body(&[json!({"role": "user", "content": "\"\\\n".repeat(MIB)})]);
    let took = fastest(|| timed(|| ANTHROPIC.read_request(quotes.clone()).unwrap()));
    report("before sending on: nothing but escapes", quotes.len(), took);
}
