//! A call is judged by what the model says before it in the same message.

use crate::guarding::{Play, Seen, chunks, judge, run, settings, whole};
use crate::responses::{bash, frame, framed, start, stop, text};
use holdgate_core::{LayerName, Members, Record};
use proptest::prelude::*;
use serde_json::{Value, json};

const REFUSAL: &str = "I won't delete the uploads, they belong to customers.";
const DELETE: &str = "rm -rf uploads";

fn call(index: u64, command: &str) -> String {
    let id = format!("call{index}");
    bash(index, &id, &json!({ "command": command }).to_string())
}

fn thinking(index: u64, thought: &str) -> String {
    let delta = json!({"type": "thinking_delta", "thinking": thought});
    let delta = json!({"type": "content_block_delta", "index": index, "delta": delta});
    start(index, json!({"type": "thinking", "thinking": ""})) + &frame(&delta) + &stop(index)
}

/// A text block in pieces, the first of them in its start.
fn pieces(index: u64, pieces: &[&str]) -> String {
    let delta = |piece: &&str| {
        let delta = json!({"type": "text_delta", "text": piece});
        frame(&json!({"type": "content_block_delta", "index": index, "delta": delta}))
    };
    let (first, rest) = pieces.split_first().unwrap();
    let begin = start(index, json!({"type": "text", "text": first}));
    begin + &rest.iter().map(delta).collect::<String>() + &stop(index)
}

fn guarded(blocks: &str) -> Seen {
    run(settings(), &[framed(blocks).as_bytes()])
}

#[test]
fn a_refusal_before_the_call_blocks_it() {
    let seen = guarded(&(text(0, REFUSAL) + &call(1, DELETE)));
    assert_eq!(seen.decisions(), ["refused-in-words Explained"]);
    assert!(seen.sent().is_empty());
    // An earlier block counts, also behind another call.
    let seen = guarded(&(text(0, REFUSAL) + &call(1, "ls") + &call(2, DELETE)));
    assert_eq!(seen.sent(), ["call1"]);
    let seen = guarded(&(text(0, REFUSAL) + &text(1, "So be it.") + &call(2, DELETE)));
    assert!(seen.sent().is_empty());
}

#[test]
fn thoughts_and_later_words_do_not() {
    let seen = guarded(&(thinking(0, REFUSAL) + &text(1, "Removing it.") + &call(2, DELETE)));
    assert_eq!(seen.sent(), ["call2"]);
    let seen = guarded(&(call(0, DELETE) + &text(1, REFUSAL)));
    assert_eq!(seen.sent(), ["call0"]);
}

#[test]
fn a_message_that_is_not_streamed_is_judged_alike() {
    let body = |blocks: Value| json!({"id": "m", "type": "message", "role": "assistant", "content": blocks});
    let said = |text: &str| json!({"type": "text", "text": text});
    let call =
        json!({"type": "tool_use", "id": "call", "name": "Bash", "input": {"command": DELETE}});
    let got = |blocks: Value| whole(judge(settings()), &body(blocks)).unwrap().to_string();
    assert!(!got(json!([said(REFUSAL), call])).contains("tool_use"));
    assert!(got(json!([said("Removing it."), call])).contains("tool_use"));
    assert!(got(json!([call, said(REFUSAL)])).contains("tool_use"));
}

#[test]
fn the_record_shows_the_sentence_without_its_secrets() {
    let said = "Hello. I won't delete the uploads with the token ghp_0123456789abcdefghijABCDEFGHIJ012345.";
    let seen = guarded(&(text(0, said) + &call(1, DELETE)));
    let record: &Record = &seen.records[0];
    assert_eq!(record.findings[0].layer, LayerName::Divergence);
    let members: Members = record.members(1000);
    let written: Value = serde_json::from_str(&format!("{{{}}}", members.as_str())).unwrap();
    let evidence = written["findings"][0]["evidence"].as_str().unwrap();
    assert_eq!(
        evidence,
        "I won't delete the uploads with the token ghp_[masked]."
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Neither the split of the text into deltas nor that of the bytes into chunks matters, and
    /// text is not held back.
    #[test]
    fn the_split_of_text_and_bytes_does_not_matter(
        filler in "[a-zé我 .]{0,3000}",
        parts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
        cuts in prop::collection::vec(any::<usize>(), 0..8),
    ) {
        let said = format!("{filler}.\n\n{REFUSAL}");
        let mut at: Vec<usize> = parts.iter()
            .map(|part| said.floor_char_boundary(part.index(said.len())))
            .collect();
        at.extend([0, said.len()]);
        at.sort_unstable();
        let split: Vec<&str> = at.windows(2).map(|w| &said[w[0]..w[1]]).collect();
        let message = framed(&(pieces(0, &split) + &call(1, DELETE)));
        let seen = run(settings(), &chunks(message.as_bytes(), &cuts));
        prop_assert_eq!(seen.decisions(), ["refused-in-words Explained"]);
        let mut play = Play::new(judge(settings()));
        let head = framed(&pieces(0, &split));
        let head = head.split_once("event: message_delta").unwrap().0;
        play.feed(head.as_bytes());
        prop_assert_eq!(play.seen.bytes, head.as_bytes());
    }
}
