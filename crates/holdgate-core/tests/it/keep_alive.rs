//! A client hears something at least every ten seconds while a call is held. Virtual time.

use crate::guarding::{Play, Seen, judge, scripted, settings};
use holdgate_core::StreamGuard;
use std::time::Duration;

/// Plays `frames`, each at its second, and returns when the client got something.
fn play(frames: Vec<(u64, Vec<u8>)>) -> (Vec<Duration>, Seen) {
    let mut play = Play::new(judge(settings()));
    let mut heard = Vec::new();
    for (second, frame) in frames {
        let at = Duration::from_secs(second);
        while let Some(due) = play.guard.next_deadline().filter(|due| *due <= at) {
            let before = play.seen.bytes.len();
            play.now = due;
            play.act(StreamGuard::tick);
            assert!(
                play.seen.bytes.len() > before,
                "a deadline that brings nothing would spin"
            );
            heard.push(due);
        }
        let before = play.seen.bytes.len();
        play.now = at;
        play.feed(&frame);
        if play.seen.bytes.len() > before {
            heard.push(at);
        }
    }
    assert_eq!(
        play.guard.next_deadline(),
        None,
        "nothing is due when nothing is held"
    );
    (heard, play.seen)
}

fn check_never_silent(frames: Vec<(u64, Vec<u8>)>) {
    let (heard, seen) = play(frames);
    let gaps = heard.windows(2).map(|pair| pair[1].saturating_sub(pair[0]));
    let longest = gaps.max().unwrap();
    assert!(longest <= Duration::from_secs(10), "{longest:?}");
    assert_eq!(seen.cleared().len(), 1);
}

#[test]
fn a_call_that_streams_for_a_minute_keeps_the_client_waiting() {
    let frames = scripted("tool").swap_remove(0);
    let start = frames
        .iter()
        .position(|f| String::from_utf8_lossy(f).contains("tool_use"))
        .unwrap();
    let inputs = frames
        .iter()
        .filter(|f| String::from_utf8_lossy(f).contains("partial_json"))
        .count();
    let step = 60 / inputs as u64 + 1;
    let timed = frames.into_iter().enumerate().map(|(i, frame)| {
        let second = i.saturating_sub(start).min(inputs) as u64 * step;
        (second, frame)
    });
    check_never_silent(timed.collect());
}

#[test]
fn an_upstream_that_says_nothing_in_mid_call_keeps_the_client_waiting() {
    let frames = scripted("tool").swap_remove(0);
    let last = frames.len() - 3;
    let timed = frames
        .into_iter()
        .enumerate()
        .map(|(i, frame)| (if i < last { 0 } else { 60 }, frame));
    check_never_silent(timed.collect());
}
