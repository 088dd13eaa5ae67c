//! The invariants of a guarded stream, over scripted, mutated and random streams.

use crate::client;
use crate::damage::{Clients, check_canonical, check_only_cleared_calls, damage};
use crate::guarding::{Play, Seen, all_scripted, chunks, judge, run, scripted, settings};
use holdgate_core::ANTHROPIC;
use proptest::prelude::*;
use serde_json::json;

/// What hurts in this protocol.
const INSERTS: &[&str] = &[
    "\"input\":{\"command\":\"x\"},",
    "\"type\":\"tool_use\",",
    "event: content_block_stop\n",
    "x: \rdata: ",
    "\rdata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"x\",\"name\":\"Bash\",\"input\":{\"command\":\"x\"}}}\r",
    "\ndata: {\"type\":\"tool_use\",\"id\":\"x\",\"name\":\"Bash\",\"input\":{}}\n",
    "\"Type\":\"tool_use\",",
    "\"content\":[{\"type\":\"tool_use\",\"id\":\"x\",\"name\":\"Bash\",\"input\":{}}],",
    "\"Partial_json\":\"{}\",",
    ",\"usage\":{\"type\":\"mcp_tool_use\"}",
];

const CLIENTS: Clients = Clients {
    all_calls: client::all_calls,
    same: |cleared, found| cleared == found,
};

#[test]
fn every_scripted_stream_at_every_cut() {
    for (name, frames) in all_scripted() {
        let bytes = frames.concat();
        let whole = run(settings(), &[&bytes]);
        check_only_cleared_calls(&whole, &CLIENTS);
        check_canonical(ANTHROPIC, &whole.bytes);
        // Large streams at a sample of cuts: each run costs the whole stream, and its judgement.
        let cuts = if bytes.len() < 50_000 { 500 } else { 20 };
        let step = bytes.len() / cuts + 1;
        for cut in (0..bytes.len()).step_by(step) {
            let cut = run(settings(), &chunks(&bytes, &[cut]));
            assert!(cut.bytes == whole.bytes, "{name}: a cut changes the bytes");
            assert_eq!(cut.decisions(), whole.decisions(), "{name}");
        }
        let single: Vec<&[u8]> = if bytes.len() < 50_000 {
            bytes.chunks(1).collect()
        } else {
            vec![&bytes]
        };
        assert!(
            run(settings(), &single).bytes == whole.bytes,
            "{name}: byte by byte"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, ..ProptestConfig::default() })]

    #[test]
    fn hostile_streams_pass_only_what_was_cleared(
        scenario in any::<prop::sample::Index>(),
        damage in damage(INSERTS),
    ) {
        let (name, frames) = scenario.get(all_scripted());
        prop_assume!(!name.starts_with("big"));
        damage.check(frames.clone(), judge, &CLIENTS);
    }
}

fn text_frame() -> impl Strategy<Value = Vec<u8>> {
    let body = prop_oneof![
        any::<String>().prop_map(|t| json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": t}})),
        "[a-z]{0,9}".prop_map(|t| json!({"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": t}})),
        "[a-z]{0,9}".prop_map(|t| json!({"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": t}})),
        Just(json!({"type": "content_block_delta", "index": 0, "delta": {"type": "citations_delta", "citation": {"cited_text": "x"}}})),
        Just(json!({"type": "ping"})),
        Just(json!({"type": "vendor_note", "tokens": 3})),
    ];
    let ends = prop::sample::select(vec!["\n", "\r\n", "\r"]);
    (body, ends, any::<bool>(), any::<bool>(), any::<bool>()).prop_map(
        |(body, end, comment, several, half)| {
            let mut data = body.to_string();
            if several {
                data = data
                    .replacen(":{", ":\n{", 1)
                    .replace('\n', &format!("{end}data: "));
            }
            if half {
                data = data.replace("\"text\":\"", "\"text\":\"\\ud83d");
            }
            let comment = if comment {
                format!(": note{end}")
            } else {
                String::new()
            };
            let kind = body["type"].as_str().unwrap();
            format!("{comment}event: {kind}{end}data: {data}{end}{end}").into_bytes()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    /// Invariant 5: in order, with the same meaning, in the feed that completed the frame; and byte
    /// for byte if it came in the canonical form.
    #[test]
    fn text_leaves_at_once_and_means_the_same(
        frames in prop::collection::vec(text_frame(), 1..12),
        cuts in prop::collection::vec(any::<usize>(), 0..12),
        mark in any::<bool>(),
    ) {
        let mut all: Vec<Vec<u8>> = scripted("text").swap_remove(0);
        let ending = all.split_off(2);
        all.extend(frames);
        all.extend(ending);
        if mark {
            all[0].splice(0..0, "\u{feff}".bytes());
        }
        let bytes = all.concat();
        let chunks = chunks(&bytes, &cuts);
        let seen = run(settings(), &chunks);
        prop_assert_eq!(client::events(&seen.bytes), client::events(&bytes));
        check_only_cleared_calls(&seen, &CLIENTS);
        check_canonical(ANTHROPIC, &seen.bytes);
        prop_assert!(seen.records.is_empty());
        // Each frame alone comes out as what it is in the whole.
        let out: Vec<Vec<u8>> = canonical_frames(&seen.bytes);
        prop_assert_eq!(out.len(), all.len());
        for (came, left) in all.iter().zip(&out) {
            let text = String::from_utf8_lossy(came);
            let lines: Vec<&str> = text.split('\n').collect();
            let canonical = matches!(lines[..], [event, data, "", ""]
                    if event.starts_with("event: ") && data.starts_with("data: "))
                && !text.contains(['\r', '\u{85}', '\u{2028}', '\u{2029}']);
            prop_assert!(!canonical || came == left, "{:?}", String::from_utf8_lossy(came));
        }
        let mut fed = 0;
        for (chunk, after) in chunks.iter().zip(&seen.after) {
            fed += chunk.len();
            let mut complete = 0;
            let mut due = 0;
            for (came, left) in all.iter().zip(&out) {
                // The LF of a last CRLF may still be on its way.
                complete += came.len();
                due += if complete <= fed { left.len() } else { 0 };
            }
            prop_assert!(*after >= due, "{} bytes were due, {} came out", due, after);
        }
    }
}

/// The frames of a stream whose frames end with a blank line.
fn canonical_frames(bytes: &[u8]) -> Vec<Vec<u8>> {
    let text = String::from_utf8_lossy(bytes);
    let frames = text.split_inclusive("\n\n");
    frames.map(|frame| frame.as_bytes().to_vec()).collect()
}

#[test]
fn a_stream_of_any_length_leaves_nothing_behind() {
    let frames = scripted("text").swap_remove(0);
    let mut play = Play::new(judge(settings()));
    play.feed(&frames[..2].concat());
    for _ in 0..100_000 {
        play.seen = Seen::default();
        play.feed(&frames[3]);
        assert_eq!(play.seen.bytes, frames[3]);
        assert_eq!(play.guard.kept(), 0);
    }
}
