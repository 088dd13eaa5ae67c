//! How long a verdict of the whole stack takes: `cargo bench -p holdgate --bench verdict`.
//!
//! Typical calls that are built in, and the cases of the files that `HOLDGATE_BENCH_CASES` names,
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
use holdgate_effects::json::Json;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// How often each call is judged.
const ROUNDS: usize = 5;

/// What agents do all day: tool, and its arguments one after the other.
const TYPICAL: &[(&str, &[(&str, &str)])] = &[
    ("Bash", &[("command", "ls -la")]),
    ("Bash", &[("command", "pwd && git status --short")]),
    ("Bash", &[("command", "git diff --stat HEAD~1")]),
    ("Bash", &[("command", "git log --oneline -20 -- crates/")]),
    (
        "Bash",
        &[(
            "command",
            "git add -A && git commit -m \"Read settings from the environment too\"",
        )],
    ),
    ("Bash", &[("command", "git push origin HEAD")]),
    (
        "Bash",
        &[(
            "command",
            "cargo test -p core parser::tests 2>&1 | tail -40",
        )],
    ),
    (
        "Bash",
        &[("command", "cargo clippy --all-targets -- -D warnings")],
    ),
    ("Bash", &[("command", "npm ci && npm run build --silent")]),
    (
        "Bash",
        &[("command", "npx tsc --noEmit -p tsconfig.json | head -n 30")],
    ),
    (
        "Bash",
        &[(
            "command",
            "python3 -m pytest -x -q tests/test_api.py -k 'login and not slow'",
        )],
    ),
    ("Bash", &[("command", "pip install -r requirements.txt")]),
    (
        "Bash",
        &[("command", "grep -rn \"TODO\" src --include='*.rs' | wc -l")],
    ),
    (
        "Bash",
        &[(
            "command",
            "rg -n 'fn (read|write)_frame' -g '!target' | sort | uniq -c",
        )],
    ),
    (
        "Bash",
        &[(
            "command",
            "find . -name '*.snap.new' -not -path './node_modules/*' -delete",
        )],
    ),
    (
        "Bash",
        &[("command", "sed -n '120,180p' src/server/handler.ts")],
    ),
    (
        "Bash",
        &[("command", "sed -i 's/v1beta/v1/g' deploy/*.yaml")],
    ),
    ("Bash", &[("command", "rm -rf target/debug dist coverage")]),
    (
        "Bash",
        &[(
            "command",
            "mkdir -p build && cd build && cmake .. -DCMAKE_BUILD_TYPE=Release && make -j4",
        )],
    ),
    (
        "Bash",
        &[(
            "command",
            "docker compose up -d db && sleep 2 && docker compose logs --tail=20 db",
        )],
    ),
    (
        "Bash",
        &[("command", "curl -s localhost:8080/health | jq -r .status")],
    ),
    (
        "Bash",
        &[(
            "command",
            "for f in src/*.py; do echo \"== $f\"; python3 -m py_compile \"$f\" || exit 1; done",
        )],
    ),
    (
        "Bash",
        &[(
            "command",
            "VERSION=$(cat VERSION); tar czf \"release-$VERSION.tar.gz\" --exclude=.git .",
        )],
    ),
    (
        "Bash",
        &[(
            "command",
            "python3 - <<'EOF'\nimport json\nwith open('data.json') as f:\n    print(len(json.load(f)['items']))\nEOF",
        )],
    ),
    (
        "Bash",
        &[(
            "command",
            "node -e \"console.log(require('./package.json').version)\"",
        )],
    ),
    (
        "Bash",
        &[(
            "command",
            "cat <<'EOF' > docs/notes.md\n# Notes\n\nRun `make test` before a release.\nEOF",
        )],
    ),
    (
        "Bash",
        &[(
            "command",
            "timeout 60 bash -c 'until nc -z localhost 5432; do sleep 1; done'",
        )],
    ),
    (
        "Bash",
        &[(
            "command",
            "psql -h localhost -U app -c 'select count(*) from orders where paid'",
        )],
    ),
    (
        "Bash",
        &[(
            "command",
            "kubectl get pods -n staging -o wide | awk '{print $1, $3}'",
        )],
    ),
    (
        "Bash",
        &[(
            "command",
            "gh pr view 123 --json title,files --jq '.files[].path'",
        )],
    ),
    (
        "Bash",
        &[(
            "command",
            "export NODE_ENV=test; ps aux | grep [n]ode | awk '{print $2}' | xargs -r kill",
        )],
    ),
    ("Read", &[("file_path", "/home/dev/project/src/main.rs")]),
    ("Glob", &[("pattern", "**/*.test.ts")]),
    ("Grep", &[("pattern", "class \\w+Error"), ("path", "src")]),
    (
        "Write",
        &[
            ("file_path", "/home/dev/project/scripts/release.sh"),
            (
                "content",
                "#!/bin/sh\nset -eu\nnpm ci\nnpm test\ngit tag \"v$1\"\ngit push origin \"v$1\"\n",
            ),
        ],
    ),
    (
        "Write",
        &[
            ("file_path", "/home/dev/project/src/sum.py"),
            (
                "content",
                "def total(items):\n    return sum(item.price for item in items)\n",
            ),
        ],
    ),
    (
        "Edit",
        &[
            ("file_path", "/home/dev/project/src/lib.rs"),
            ("old_string", "let limit = 10;"),
            ("new_string", "let limit = settings.limit.unwrap_or(10);"),
        ],
    ),
    (
        "WebFetch",
        &[
            ("url", "https://docs.rs/serde/latest/serde/"),
            ("prompt", "How do I rename a field?"),
        ],
    ),
    (
        "Task",
        &[
            ("description", "Find callers"),
            ("prompt", "List all callers of parse_header."),
        ],
    ),
    (
        "TodoWrite",
        &[("todos", "read the code; write the test; fix it")],
    ),
];

fn typical() -> Vec<Case> {
    let case = |(tool, input): &(&str, &[(&str, &str)])| {
        let mut arguments = Json::Object(Vec::new());
        for (name, value) in *input {
            arguments.set(name, (*value).into());
        }
        let call = Json::object([("tool", (*tool).into()), ("input", arguments)]);
        let case = [
            ("id", "typical".into()),
            ("expect", "allow".into()),
            ("call", call),
        ];
        Json::object(case).text() + "\n"
    };
    let lines: String = TYPICAL.iter().map(case).collect();
    read("typical calls", &lines).unwrap_or_default()
}

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
    measure("typical calls", &bench, &typical());
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
