//! What guarding costs, without sockets: `cargo bench -p holdgate`.
//!
//! Figures are medians over rounds on this machine; compare only within one run.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark reports on standard output"
)]
#![allow(clippy::cast_precision_loss, reason = "figures for people")]

use bytes::Bytes;
use holdgate::config::{Config, LIMITS};
use holdgate_core::rules::{Profile, RuleSet};
use holdgate_core::{
    ANTHROPIC, CHAT, Dialect, Gate, GuardSettings, JudgeLimits, Output, Protocol, RESPONSES,
    RateLimits, RequestFacts, ResponseContext, Stack, StreamGuard, bridged,
};
use holdgate_effects::Knowledge;
use std::sync::Arc;
use std::time::{Duration, Instant};

fn guard() -> StreamGuard {
    guard_of(ANTHROPIC, RequestFacts::default())
}

fn guard_of(protocol: &'static dyn Protocol, request: RequestFacts) -> StreamGuard {
    let limits = JudgeLimits {
        fuel: 1_000_000,
        ..LIMITS
    };
    let rules = RuleSet::built_in(Profile::Workstation).unwrap();
    let gate = Gate::new(RateLimits::default(), rules);
    let know = Knowledge::built_in().unwrap();
    let clock = Arc::new(Duration::ZERO);
    let stack = Stack::new(vec![Box::new(gate)], know, clock, limits);
    let settings = GuardSettings {
        max_event_bytes: 8 << 20,
        max_held_bytes: 64 << 20,
        ..Config::defaults("").unwrap().guard
    };
    let judge = ResponseContext {
        request: Arc::new(request),
        ..ResponseContext::new(protocol, Arc::new(stack), Arc::new(settings))
    };
    StreamGuard::new(judge, Duration::ZERO)
}

fn frame(kind: &str, rest: &str) -> String {
    format!("event: {kind}\ndata: {{\"type\":\"{kind}\"{rest}}}\n\n")
}

fn start(index: u32, block: &str) -> String {
    let rest = format!(",\"index\":{index},\"content_block\":{block}");
    frame("content_block_start", &rest)
}

fn delta(index: u32, delta: &str) -> String {
    frame(
        "content_block_delta",
        &format!(",\"index\":{index},\"delta\":{delta}"),
    )
}

/// The start of a message, and of a block of text.
fn head() -> String {
    frame("message_start", ",\"message\":{\"content\":[]}")
        + &start(0, "{\"type\":\"text\",\"text\":\"\"}")
}

fn opened() -> StreamGuard {
    let mut guard = guard();
    let mut out = Vec::new();
    guard.feed(head().into(), Duration::ZERO, &mut out);
    assert_eq!(out.len(), 1, "the head passes");
    guard
}

/// The median time of one `work` over many rounds; what `prepare` makes is not timed.
fn median<T>(rounds: usize, mut prepare: impl FnMut() -> T, mut work: impl FnMut(T)) -> Duration {
    let mut times: Vec<Duration> = (0..rounds)
        .map(|_| {
            let input = prepare();
            let begin = Instant::now();
            work(input);
            begin.elapsed()
        })
        .collect();
    times.sort_unstable();
    times.get(rounds / 2).copied().unwrap_or_default()
}

fn text_events(per_chunk: usize) {
    const EVENTS: usize = 10_000;
    let one = delta(
        0,
        "{\"type\":\"text_delta\",\"text\":\"let total = items.iter().sum::<u64>(); let total\"}",
    );
    let chunk = Bytes::from(one.repeat(per_chunk));
    let mut out: Vec<Output> = Vec::new();
    let took = median(15, opened, |mut guard| {
        for _ in 0..EVENTS / per_chunk {
            guard.feed(chunk.clone(), Duration::ZERO, &mut out);
            out.clear();
        }
    });
    let each = took.as_secs_f64() / EVENTS as f64;
    let rate = one.len() as f64 / each / 1e6;
    println!(
        "text, {per_chunk:>2} events a chunk   {:>8.0} ns an event   {rate:>5.0} MB/s",
        each * 1e9
    );
}

/// A text event to clients whose upstream speaks their protocol, and over the bridges.
fn bridges() {
    const EVENTS: usize = 2_000;
    const ROUNDS: usize = 41;
    const TEXT: &str = "let total = items.iter().sum::<u64>(); let total";
    let body = br#"{"messages":[],"input":[],"tools":[{"type":"function","name":"Bash","input_schema":{}}]}"#;
    let over = |client| {
        let bridge = bridged(client, "chat").unwrap();
        let translated = bridge.translate("/v1/x", body, Dialect::Auto);
        let request = RequestFacts {
            bridged: translated.unwrap().unwrap().bridged,
            ..RequestFacts::default()
        };
        (bridge, request)
    };
    let plain = |protocol| (protocol, RequestFacts::default());
    let anthropic = delta(
        0,
        &format!("{{\"type\":\"text_delta\",\"text\":\"{TEXT}\"}}"),
    );
    let chat = format!(
        "data: {{\"id\":\"chatcmpl-0123456789abcdef\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,\"model\":\"qwen3-coder\",\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{TEXT}\"}},\"logprobs\":null,\"finish_reason\":null}}]}}\n\n"
    );
    let ways = [
        ("anthropic", plain(ANTHROPIC), &anthropic),
        ("chat", plain(CHAT), &chat),
        ("anthropic to chat", over(ANTHROPIC), &chat),
        ("responses to chat", over(RESPONSES), &chat),
    ];
    let mut out: Vec<Output> = Vec::new();
    let mut best = [f64::INFINITY; 4];
    // By turns, and the best of each: the machine may be busy with something else.
    for _ in 0..ROUNDS {
        for ((_, (protocol, request), event), best) in ways.iter().zip(&mut best) {
            let mut guard = guard_of(*protocol, request.clone());
            if protocol.name() == "anthropic" && **event == anthropic {
                guard.feed(head().into(), Duration::ZERO, &mut out);
            }
            let event = Bytes::from((*event).clone());
            guard.feed(event.clone(), Duration::ZERO, &mut out);
            let begin = Instant::now();
            for _ in 0..EVENTS {
                guard.feed(event.clone(), Duration::ZERO, &mut out);
                out.clear();
            }
            *best = best.min(begin.elapsed().as_secs_f64() / EVENTS as f64);
        }
    }
    let [first, ..] = best;
    for ((name, ..), each) in ways.iter().zip(best) {
        let (ns, ratio) = (each * 1e9, each / first);
        println!("text, {name:<18}     {ns:>8.0} ns an event   {ratio:.2} x");
    }
}

fn tool_call(size: usize) {
    let line = "fn main() { println!(\\\\\\\"hello\\\\\\\"); }\\\\n";
    let content = line.repeat(size / line.len() + 1);
    let input = format!("{{\\\"file_path\\\":\\\"a.rs\\\",\\\"content\\\":\\\"{content}\\\"}}");
    let mut pieces = start(
        1,
        "{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"Write\",\"input\":{}}",
    );
    pieces += &delta(
        1,
        &format!("{{\"type\":\"input_json_delta\",\"partial_json\":\"{input}\"}}"),
    );
    let stop = Bytes::from(frame("content_block_stop", ",\"index\":1"));
    let mut out: Vec<Output> = Vec::new();
    let held = || {
        let mut guard = opened();
        guard.feed(pieces.clone().into(), Duration::ZERO, &mut Vec::new());
        guard
    };
    let took = median(101, held, |mut guard| {
        guard.feed(stop.clone(), Duration::ZERO, &mut out);
        assert_eq!(out.len(), 2, "recorded and sent");
        out.clear();
    });
    println!(
        "tool call of {:>6} KiB     {:>8.1} µs from its stop to its flush",
        size >> 10,
        took.as_secs_f64() * 1e6
    );
}

fn main() {
    text_events(1);
    text_events(32);
    bridges();
    for size in [1 << 10, 16 << 10, 256 << 10, 4 << 20] {
        tool_call(size);
    }
}
