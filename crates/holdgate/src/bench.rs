//! `holdgate bench`: what guarding costs on this machine, in seconds.
//!
//! The same code as in the proxy and the monitor, without sockets: verdicts by layer, text and calls
//! in a stream, and watched output.

use crate::args::BenchArgs;
use crate::config::Config;
use crate::eval::plot::{Row, Scale, chart};
use crate::eval::{Bench, Case, Latency, PROJECT, micros, read};
use crate::judging;
use anyhow::Context as _;
use bytes::Bytes;
use holdgate_core::rules::{Profile, RuleSet};
use holdgate_core::watch::{Commands, OutputWatch, Patterns};
use holdgate_core::{
    ANTHROPIC, Context, Counts, Finding, GuardSettings, Layer, LayerName, OutOfFuel, Output,
    RateLimits, ResponseContext, Stack, StreamGuard, ToolCall,
};
use holdgate_effects::effect::Effect;
use holdgate_effects::fuel::Fuel;
use holdgate_effects::json::Json;
use std::collections::BTreeMap;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What agents do all day.
const TYPICAL: &str = include_str!("../benches/typical.jsonl");
/// The name of what is not a layer: reading the call, and finding out what it does.
const READING: &str = "reading";
/// Text events in one stream.
const EVENTS: usize = 2_000;
/// Bytes of output that are watched at once.
const WATCHED: usize = 1 << 20;
/// Bytes of one chunk of output.
const CHUNK: usize = 4 << 10;

/// Lines that agents print, by what they are.
const OUTPUT: [(&str, &str); 3] = [
    (
        "build log",
        "   Compiling regex-automata v0.4.14 (/home/dev/project)\ntest parser::tests::reads_a_list ... ok\n",
    ),
    (
        "coloured log",
        "\x1b[32mPASS\x1b[39m \x1b[2msrc/\x1b[22m\x1b[1mitems.test.ts\x1b[22m (\x1b[33m1.2 s\x1b[39m)\r\n",
    ),
    (
        "diff",
        "@@ -1,3 +1,3 @@ fn main() {\n     let items = read();\n-    print(items);\n+    print(&items);\n }\n",
    ),
];

/// Times of one layer.
type Times = Arc<Mutex<BTreeMap<&'static str, Vec<Duration>>>>;

/// What was measured.
struct Figures {
    verdict: Latency,
    parts: Vec<(&'static str, Latency)>,
    text: Latency,
    call: Latency,
    /// In bytes a second.
    watch: Vec<(&'static str, f64)>,
}

/// Measures for about the given time, and prints a table.
pub fn run(args: &BenchArgs, out: &mut impl Write) -> anyhow::Result<()> {
    let config = Config::defaults("")?;
    let rules = RuleSet::built_in(Profile::default())?;
    let share = Duration::from_secs_f64(args.seconds.clamp(0.1, 600.0)) / 4;
    let (verdict, parts) = verdicts(&config, &rules, share)?;
    let layers = judging::layers(rules.clone(), &[], RateLimits::NONE);
    let stack = Arc::new(judging::stack_of(layers, config.judge)?);
    let guard = Arc::new(config.guard.clone());
    let figures = Figures {
        verdict,
        parts,
        text: text(&stack, &guard, share),
        call: calls(&stack, &guard, share),
        watch: watch(rules, share)?,
    };
    if let Some(file) = &args.plot {
        std::fs::write(file, plot(&figures))
            .with_context(|| format!("cannot write {}", file.display()))?;
    }
    if args.json {
        writeln!(out, "{}", json(&figures))?;
    } else {
        print(out, &figures)?;
    }
    Ok(out.flush()?)
}

/// Whole verdicts on typical calls, and the part that each layer has in them.
fn verdicts(
    config: &Config,
    rules: &Arc<RuleSet>,
    share: Duration,
) -> anyhow::Result<(Latency, Vec<(&'static str, Latency)>)> {
    let cases = read("typical.jsonl", TYPICAL).map_err(anyhow::Error::msg)?;
    let times = Times::default();
    let timed = |layer| -> Box<dyn Layer> {
        let times = times.clone();
        Box::new(Timed { layer, times })
    };
    let layers = judging::layers(rules.clone(), &[], RateLimits::NONE);
    let names: Vec<_> = layers.iter().map(|layer| layer.name().word()).collect();
    let stack = judging::stack_of(layers.into_iter().map(timed).collect(), config.judge)?;
    let bench = Bench::new(Arc::new(stack), config.guard.clone(), PROJECT);
    let judge = |case: &Case| {
        bench
            .judge(case)
            .map_or_else(Vec::new, |outcome| outcome.times)
    };
    // What is made on first use is made before the clock runs.
    for case in &cases {
        judge(case);
    }
    take(&times);
    let (mut all, mut parts) = (Vec::new(), BTreeMap::<_, Vec<_>>::new());
    let begin = Instant::now();
    while begin.elapsed() < share {
        for case in &cases {
            let whole: Duration = judge(case).iter().sum();
            let mut rest = whole;
            for (name, times) in take(&times) {
                rest = rest.saturating_sub(times.iter().sum());
                parts.entry(name).or_default().extend(times);
            }
            parts.entry(READING).or_default().push(rest);
            all.push(whole);
        }
    }
    let in_order = std::iter::once(READING).chain(names);
    let parts = in_order.map(|name| (name, Latency::of(parts.remove(name).unwrap_or_default())));
    Ok((Latency::of(all), parts.collect()))
}

fn take(times: &Times) -> BTreeMap<&'static str, Vec<Duration>> {
    std::mem::take(&mut times.lock().unwrap_or_else(PoisonError::into_inner))
}

/// A layer whose time is taken.
struct Timed {
    layer: Box<dyn Layer>,
    times: Times,
}

impl Layer for Timed {
    fn name(&self) -> LayerName {
        self.layer.name()
    }

    fn judge(
        &self,
        call: &ToolCall,
        effects: &[Effect],
        context: &Context<'_>,
        fuel: &Fuel,
    ) -> Result<Vec<Finding>, OutOfFuel> {
        let begin = Instant::now();
        let findings = self.layer.judge(call, effects, context, fuel);
        let took = begin.elapsed();
        let mut times = self.times.lock().unwrap_or_else(PoisonError::into_inner);
        times
            .entry(self.layer.name().word())
            .or_default()
            .push(took);
        findings
    }

    fn count(&self, call: &ToolCall, counts: &Counts, expert: bool) -> Vec<Finding> {
        self.layer.count(call, counts, expert)
    }
}

fn frame(kind: &str, rest: &str) -> Bytes {
    format!("event: {kind}\ndata: {{\"type\":\"{kind}\"{rest}}}\n\n").into()
}

fn opened(stack: &Arc<Stack>, settings: &Arc<GuardSettings>) -> StreamGuard {
    let context = ResponseContext::new(ANTHROPIC, stack.clone(), settings.clone());
    let mut guard = StreamGuard::new(context, Duration::ZERO);
    let start = frame("message_start", ",\"message\":{\"content\":[]}");
    guard.feed(start, Duration::ZERO, &mut Vec::new());
    guard
}

/// How long an event of text takes from its arrival to its departure.
fn text(stack: &Arc<Stack>, settings: &Arc<GuardSettings>, share: Duration) -> Latency {
    let start = frame(
        "content_block_start",
        ",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}",
    );
    let piece = frame(
        "content_block_delta",
        ",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"let total = items.iter().sum::<u64>();\"}",
    );
    let mut times = Vec::new();
    let mut out: Vec<Output> = Vec::new();
    let begin = Instant::now();
    while begin.elapsed() < share {
        let mut guard = opened(stack, settings);
        guard.feed(start.clone(), Duration::ZERO, &mut out);
        for _ in 0..EVENTS {
            out.clear();
            let begin = Instant::now();
            guard.feed(piece.clone(), Duration::ZERO, &mut out);
            times.push(begin.elapsed());
        }
    }
    Latency::of(times)
}

/// How long a held call waits from its last event until it leaves, the verdict included.
fn calls(stack: &Arc<Stack>, settings: &Arc<GuardSettings>, share: Duration) -> Latency {
    let start = frame(
        "content_block_start",
        ",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"Bash\",\"input\":{}}",
    );
    let piece = frame(
        "content_block_delta",
        ",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"command\\\":\\\"cargo test --workspace 2>&1 | tail -20\\\"}\"}",
    );
    let stop = frame("content_block_stop", ",\"index\":0");
    let mut times = Vec::new();
    let mut out: Vec<Output> = Vec::new();
    let begin = Instant::now();
    while begin.elapsed() < share {
        let mut guard = opened(stack, settings);
        for event in [&start, &piece] {
            guard.feed(event.clone(), Duration::ZERO, &mut out);
        }
        out.clear();
        let begin = Instant::now();
        guard.feed(stop.clone(), Duration::ZERO, &mut out);
        times.push(begin.elapsed());
        out.clear();
    }
    Latency::of(times)
}

/// How many bytes of output are watched in a second.
#[allow(clippy::cast_precision_loss, reason = "figures for people")]
fn watch(rules: Arc<RuleSet>, share: Duration) -> anyhow::Result<Vec<(&'static str, f64)>> {
    let patterns = Patterns::built_in().context("the patterns of the watch")?;
    let know = crate::own::knowledge()?;
    know.warm();
    let commands = Commands::new(rules, know, Arc::default());
    let mut rates = Vec::new();
    for (name, text) in OUTPUT {
        let bytes = text.repeat(WATCHED / text.len()).into_bytes();
        let (mut watched, begin) = (0, Instant::now());
        while begin.elapsed() < share / 3 {
            let mut watch = OutputWatch::new(patterns.clone(), commands.clone());
            let mut hits = Vec::new();
            for piece in bytes.chunks(CHUNK) {
                watch.feed(piece, &mut hits);
            }
            watched += bytes.len();
        }
        rates.push((name, watched as f64 / begin.elapsed().as_secs_f64()));
    }
    Ok(rates)
}

fn print(out: &mut impl Write, figures: &Figures) -> std::io::Result<()> {
    let row = |out: &mut dyn Write, name: &str, latency: &Latency| {
        let (p50, p99) = (micros(latency.p50), micros(latency.p99));
        writeln!(
            out,
            "  {name:<24} {p50:>10} {p99:>10} {:>10}",
            latency.verdicts
        )
    };
    writeln!(
        out,
        "  {:<24} {:>10} {:>10} {:>10}",
        "in µs", "p50", "p99", "measured"
    )?;
    row(out, "verdict", &figures.verdict)?;
    for (name, latency) in &figures.parts {
        row(out, &format!("  {name}"), latency)?;
    }
    row(out, "text event in a stream", &figures.text)?;
    row(out, "held call in a stream", &figures.call)?;
    writeln!(out)?;
    writeln!(out, "  {:<24} {:>10}", "output that is watched", "MB/s")?;
    for (name, rate) in &figures.watch {
        writeln!(out, "  {name:<24} {:>10.0}", rate / 1e6)?;
    }
    Ok(())
}

/// Half of the times, and the line to the one in a hundred.
fn plot(figures: &Figures) -> String {
    let row = |name: &str, latency: &Latency| {
        let micros = |time: Duration| time.as_secs_f64() * 1e6;
        Row {
            label: name.to_owned(),
            at: micros(latency.p50),
            range: (micros(latency.p50), micros(latency.p99)),
            words: format!("{:.1} to {:.1}", micros(latency.p50), micros(latency.p99)),
        }
    };
    let mut rows = vec![row("verdict", &figures.verdict)];
    rows.extend(figures.parts.iter().map(|(name, part)| row(name, part)));
    rows.push(row("text event in a stream", &figures.text));
    rows.push(row("held call in a stream", &figures.call));
    let longest = rows.iter().map(|row| row.range.1).fold(1.0, f64::max);
    let scale = Scale {
        from: 0.0,
        to: (longest / 40.0).ceil() * 40.0,
    };
    chart("Times in µs: p50 (dot) to p99 (line)", &rows, scale)
}

fn json(figures: &Figures) -> Json<'static> {
    let latency = |latency: &Latency| {
        let time = |time| Json::Number(micros(time).into());
        let number = u64::try_from(latency.verdicts).unwrap_or(u64::MAX);
        Json::object([
            ("p50_us", time(latency.p50)),
            ("p99_us", time(latency.p99)),
            ("measured", number.into()),
        ])
    };
    let parts = figures
        .parts
        .iter()
        .map(|(name, part)| ((*name).into(), latency(part)));
    let rate = |(name, rate): &(&'static str, f64)| {
        ((*name).into(), Json::Number(format!("{rate:.0}").into()))
    };
    Json::object([
        ("verdict", latency(&figures.verdict)),
        ("parts", Json::Object(parts.collect())),
        ("text_event", latency(&figures.text)),
        ("held_call", latency(&figures.call)),
        (
            "watch_bytes_per_second",
            Json::Object(figures.watch.iter().map(rate).collect()),
        ),
    ])
}
