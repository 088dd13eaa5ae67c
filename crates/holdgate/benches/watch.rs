//! What watching output costs: `cargo bench -p holdgate --bench watch`.
//!
//! Medians over rounds, of time on the processor where the system tells it: other load on the
//! machine does not count.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark reports on standard output"
)]
#![allow(clippy::cast_precision_loss, reason = "figures for people")]

use holdgate_core::rules::{Profile, RuleSet};
use holdgate_core::watch::{Commands, OutputWatch, Patterns};
use holdgate_effects::Knowledge;
use std::time::{Duration, Instant};

const SIZE: usize = 16 << 20;
const ROUNDS: usize = 7;

const BUILD: &str = "   Compiling regex-automata v0.4.14 (/home/dev/.cargo/registry/regex-automata)\n\
    [ 41%] Building CXX object src/CMakeFiles/app.dir/render/mesh.cpp.o\n\
    test parser::tests::reads_a_list_of_numbers ... ok\n\
    2026-02-02T10:00:00.123Z INFO http: GET /api/items/42 200 3.1ms\n";
const COLOURS: &str = "\x1b[32mPASS\x1b[39m \x1b[2msrc/\x1b[22m\x1b[1mitems.test.ts\x1b[22m (\x1b[33m1.2 s\x1b[39m)\r\n";
const PROGRESS: &str = "Downloading [=====>      ] 41%\rDownloading [======>     ] 52%\n";
const EVENTS: &str = "{\"type\":\"assistant\",\"message\":{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"The parser reads a list of numbers.\\nI will add a case for the empty list.\"}]}}\n";
const CALLS: &str = "{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"Bash\",\"input\":{\"command\":\"cargo test --workspace\"}}]}}\n";
const DIFF: &str = "@@ -1,3 +1,3 @@ fn main() {\n     let items = read();\n-    print(items);\n+    print(&items);\n }\n";
const PIECES: &str = "{\"type\":\"stream_event\",\"event\":{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\" the rules\"}}}\n";
const LETTERS: &str =
    "Ошибка: не найден файл rules.yaml, проверьте настройки пользователя (user)\n";
const PAINTED: &str =
    "\x1b[3;1H\x1b[K\x1b[2mThinking\x1b[3;10Habout\x1b[3;16Hthe\x1b[3;20Hrules\x1b[0m\x1b[24;1H";

fn main() {
    let started = Instant::now();
    let patterns = Patterns::built_in().unwrap();
    println!("patterns ready in {:.1?}", now(started));
    let rules = RuleSet::built_in(Profile::default()).unwrap();
    let know = Knowledge::built_in().unwrap();
    know.warm();
    let commands = Commands::new(rules, know, std::sync::Arc::default());
    for (name, text, chunk, size) in [
        ("build log, 64 KiB a chunk", BUILD, 64 << 10, SIZE),
        ("build log, 4 KiB a chunk", BUILD, 4 << 10, SIZE),
        ("build log, 100 B a chunk", BUILD, 100, SIZE),
        ("coloured log", COLOURS, 64 << 10, SIZE / 4),
        ("progress bars", PROGRESS, 64 << 10, SIZE / 4),
        ("diff", DIFF, 64 << 10, SIZE / 4),
        ("events of an agent", EVENTS, 64 << 10, SIZE / 4),
        ("calls of an agent", CALLS, 64 << 10, SIZE / 64),
        ("pieces of a text", PIECES, 64 << 10, SIZE / 16),
        ("letters beyond ASCII", LETTERS, 64 << 10, SIZE / 16),
        ("painted screen", PAINTED, 64 << 10, SIZE / 16),
    ] {
        let bytes = text.repeat(size / text.len()).into_bytes();
        let mut times: Vec<Duration> = (0..ROUNDS)
            .map(|_| {
                let mut watch = OutputWatch::new(patterns.clone(), commands.clone());
                let mut hits = Vec::new();
                let begin = now(started);
                for piece in bytes.chunks(chunk) {
                    watch.feed(piece, &mut hits);
                }
                let took = now(started).saturating_sub(begin);
                assert!(hits.is_empty(), "{hits:?}");
                took
            })
            .collect();
        times.sort_unstable();
        let median = times.get(ROUNDS / 2).copied().unwrap_or_default();
        let rate = bytes.len() as f64 / median.as_secs_f64() / 1e6;
        println!("{name:<28} {rate:>8.1} MB/s");
    }
}

/// This thread's time on the processor, or else the time that has passed.
fn now(started: Instant) -> Duration {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = stat.split(' ').next().and_then(|n| n.parse().ok());
    nanos.map_or_else(|| started.elapsed(), Duration::from_nanos)
}
