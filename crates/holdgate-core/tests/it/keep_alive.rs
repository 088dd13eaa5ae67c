//! A client hears something at least every ten seconds while a call is held. Virtual time.

use crate::guarding::{Seen, judge, scripted, settings};
use bytes::Bytes;
use holdgate_core::StreamGuard;
use std::time::Duration;

/// Plays `frames`, each at its second, and returns when the client got something.
fn play(frames: Vec<(u64, Vec<u8>)>) -> (Vec<Duration>, Seen) {
    let mut guard = StreamGuard::new(judge(settings()), Duration::ZERO);
    let (mut heard, mut seen, mut outputs) = (Vec::new(), Seen::default(), Vec::new());
    for (second, frame) in frames {
        let at = Duration::from_secs(second);
        while let Some(due) = guard.next_deadline().filter(|due| *due <= at) {
            guard.tick(due, &mut outputs);
            assert_eq!(
                outputs.len(),
                1,
                "a deadline that brings nothing would spin"
            );
            seen.take(&mut outputs);
            heard.push(due);
        }
        let before = seen.bytes.len();
        guard.feed(Bytes::from(frame), at, &mut outputs);
        seen.take(&mut outputs);
        if seen.bytes.len() > before {
            heard.push(at);
        }
    }
    assert_eq!(
        guard.next_deadline(),
        None,
        "nothing is due when nothing is held"
    );
    (heard, seen)
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
