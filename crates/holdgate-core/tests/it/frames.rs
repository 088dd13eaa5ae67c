//! Streams, and what must come through.

use crate::client::summary;
use crate::guarding::{run, settings};
pub(crate) use crate::responses::{bash, frame, framed as message, input, start, stop, text};
use holdgate_core::GuardSettings;

#[track_caller]
pub(crate) fn check_with(settings: GuardSettings, stream: &str, expected: &[&str]) {
    let seen = run(settings, &[stream.as_bytes()]);
    let got = summary(&seen.bytes);
    let fits = |(got, expected): (&String, &&str)| match expected.strip_suffix('…') {
        Some(start) => got.starts_with(start),
        None => got == expected,
    };
    let same = got.len() == expected.len() && got.iter().zip(expected).all(fits);
    assert!(same, "{got:#?}\n{:?}", seen.decisions());
}

#[track_caller]
pub(crate) fn check(stream: &str, expected: &[&str]) {
    check_with(settings(), stream, expected);
}

/// The stream is ended, and why.
#[track_caller]
pub(crate) fn check_ended(blocks: &str, why: &str) {
    let seen = run(settings(), &[message(blocks).as_bytes()]);
    let got = summary(&seen.bytes);
    let last = got.last().unwrap();
    assert!(
        last.starts_with("error [holdgate] The response was stopped") && last.contains(why),
        "{got:#?}"
    );
    assert_eq!(
        seen.decisions().last().unwrap(),
        "stream-protocol ResponseEnded"
    );
    assert!(seen.cleared().is_empty());
}

pub(crate) const LS: &str = r#"{"command":"ls"}"#;
pub(crate) const TWICE: &str = r#"{"command":"ls","command":"rm"}"#;
