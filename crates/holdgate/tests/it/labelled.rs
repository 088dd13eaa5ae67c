//! Content of a labelled project that would go to a lower one.

use crate::cli::{fed, holdgate};
use crate::setup::{Guarded, REQUEST, RawUpstream, has, lacks, post};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const ENGINE: &str = "\
fn settle(order: &Order, book: &mut Book) -> Settlement {
    let spread = book.best_ask() - book.best_bid();
    let haircut = spread * order.risk_weight().max(FLOOR);
    if order.quantity() > book.depth_at(order.price()) {
        return Settlement::partial(book.depth_at(order.price()), haircut);
    }
    Settlement::full(order.quantity(), haircut)
}
fn unwind(positions: &mut Vec<Position>, limit: Notional) -> Notional {
    positions.sort_by_key(|position| position.exposure().abs());
    let mut released = Notional::ZERO;
    while let Some(position) = positions.pop_if(|_| released < limit) {
        released += position.close_at(position.venue().mid_price());
    }
    released.min(limit)
}
";

/// Two projects and the settings that label them.
struct Projects {
    _dir: TempDir,
    open: PathBuf,
    closed: PathBuf,
    settings: PathBuf,
}

fn projects(label: &str) -> Projects {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let (open, closed) = (root.join("open"), root.join("closed"));
    std::fs::create_dir_all(closed.join("src")).unwrap();
    std::fs::create_dir(&open).unwrap();
    std::fs::write(closed.join("src/engine.rs"), ENGINE).unwrap();
    let settings = root.join("holdgate.toml");
    std::fs::write(&settings, labels(&open, &closed, label)).unwrap();
    Projects {
        _dir: dir,
        open,
        closed,
        settings,
    }
}

fn labels(open: &Path, closed: &Path, label: &str) -> String {
    format!(
        "[rules]\ndirs = [\"/nonexistent\"]\ncheck_every = \"5ms\"\n\
         [[spillage.projects]]\npath = \"{}\"\nlabel = \"public\"\n\
         [[spillage.projects]]\npath = \"{}\"\nlabel = \"{label}\"\n",
        open.display(),
        closed.display()
    )
}

#[test]
fn check_finds_copies_by_path_and_by_content() {
    let projects = projects("confidential");
    let judged = |call: serde_json::Value| {
        let open = projects.open.to_str().unwrap();
        let mut command = holdgate(&["check", "--project", open]);
        command.env("HOLDGATE_CONFIG", &projects.settings);
        command.env("HOLDGATE_STATE_DIR", projects.open.join("state"));
        let output = fed(&mut command, call.to_string().as_bytes());
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let engine = projects.closed.join("src/engine.rs");
    let text = judged(json!({"tool": "Bash", "input": {
        "command": format!("cp {} lib.rs", engine.display())
    }}));
    has(&text, "ask copy-to-lower-label (spillage)");
    has(&text, "`confidential`");

    let around = "// Something else that nobody has to keep for himself, for a change.\n".repeat(9);
    let content = format!("{around}{}", ENGINE.replace("    ", "\t"));
    let text = judged(json!({"tool": "Write", "input": {
        "file_path": projects.open.join("lib.rs"), "content": content
    }}));
    has(&text, "ask content-of-higher-label (spillage)");
    has(&text, "closed/src/engine.rs");
    lacks(&text, "haircut");

    let text = judged(json!({"tool": "Write", "input": {
        "file_path": projects.closed.join("src/copy.rs"), "content": content
    }}));
    lacks(&text, "higher-label");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_proxy_holds_content_back_until_the_label_is_taken_away() {
    let projects = projects("secret");
    let call = json!({"type": "message", "id": "m", "role": "assistant", "model": "m",
    "stop_reason": "tool_use", "stop_sequence": null,
    "usage": {"input_tokens": 1, "output_tokens": 1},
    "content": [{"type": "tool_use", "id": "t", "name": "Write", "input": {
        "file_path": projects.open.join("lib.rs"), "content": ENGINE
    }}]});
    let json = "200 OK\r\ncontent-type: application/json";
    let upstream = RawUpstream::with(json, &call.to_string()).await;
    let guarded = Guarded::start_with(upstream.address, Some(&projects.settings), |config| {
        config.project = Some(projects.open.clone());
        config.rates.calls_per_minute = 0;
        config.rates.identical_in_a_row = 0;
    });
    let request = REQUEST.replace("\"stream\":true", "\"stream\":false");
    // The prints are taken in the background.
    let until = async |what: &str, passes: bool| {
        let begin = Instant::now();
        loop {
            let answer = post(&guarded.url("/v1/messages"), &request).await.text();
            if answer.contains("best_ask") == passes {
                return answer;
            }
            assert!(
                begin.elapsed() < Duration::from_secs(30),
                "{what}: {answer}"
            );
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let answer = until("the content is found", false).await;
    has(&answer, "content-of-higher-label");
    has(&guarded.ledger(), "closed/src/engine.rs");
    // The settings are read again while the proxy runs.
    let now = labels(&projects.open, &projects.closed, "public");
    std::fs::write(&projects.settings, now).unwrap();
    until("the new label is in force", true).await;
}
