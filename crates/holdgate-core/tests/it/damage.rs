//! Streams that are damaged anyhow, and what must hold of what leaves the guard.

use crate::client::{Assembled, fold_keys};
use crate::guarding::Seen;
use crate::readers::Reading;
use proptest::prelude::*;
use serde_json::{Value, json};

/// What happens to a frame.
#[derive(Clone, Debug)]
pub(crate) enum Mutation {
    Drop,
    Repeat,
    SwapWithNext,
    FlipByte(usize, u8),
    Insert(usize, &'static str),
}

/// One way of damaging a stream; `inserts` are texts that are put into its frames.
pub(crate) fn mutation(inserts: &'static [&'static str]) -> impl Strategy<Value = Mutation> {
    prop_oneof![
        Just(Mutation::Drop),
        Just(Mutation::Repeat),
        Just(Mutation::SwapWithNext),
        (any::<usize>(), any::<u8>()).prop_map(|(at, to)| Mutation::FlipByte(at, to)),
        (any::<usize>(), prop::sample::select(inserts))
            .prop_map(|(at, what)| Mutation::Insert(at, what)),
    ]
}

/// The stream with its frames damaged.
pub(crate) fn mutate(mut frames: Vec<Vec<u8>>, mutations: &[(usize, Mutation)]) -> Vec<u8> {
    for (at, mutation) in mutations {
        if frames.is_empty() {
            break;
        }
        let at = at % frames.len();
        let place = |p: usize| p % frames[at].len().max(1);
        match mutation {
            Mutation::Drop => drop(frames.remove(at)),
            Mutation::Repeat => frames.insert(at, frames[at].clone()),
            Mutation::SwapWithNext => {
                let next = (at + 1) % frames.len();
                frames.swap(at, next);
            }
            Mutation::FlipByte(p, to) => {
                let p = place(*p);
                frames[at][p] = *to;
            }
            Mutation::Insert(p, what) => {
                // Most places in a frame are in the middle of a text: prefer the start of a member.
                let p = place(*p);
                let quote = frames[at].iter().skip(p).position(|b| *b == b'"');
                let p = p + quote.unwrap_or_default();
                frames[at].splice(p..p, what.bytes());
            }
        }
    }
    frames.concat()
}

/// Each call that some reader assembles has been cleared, and no reader finds it twice.
pub(crate) fn check_only_cleared_calls(seen: &Seen, found: Vec<(Reading, Vec<Assembled>)>) {
    for (reading, calls) in found {
        let mut cleared = seen.cleared();
        for (_, _, input) in &mut cleared {
            if reading.folds_keys {
                *input = fold_keys(input);
            }
        }
        for call in calls {
            let mut input = call.input.unwrap();
            if reading.folds_keys {
                input = fold_keys(&input);
            }
            if call.id.starts_with("toolu_holdgate_") {
                assert_eq!(input, json!({}), "an inert call must be empty");
                continue;
            }
            // Older calls have no id on the wire, and the input of a custom tool is a text.
            let same = |(tool, id, known): &(String, String, Value)| {
                let text = known["input"]
                    .as_str()
                    .map(|text| serde_json::from_str(text).unwrap_or_else(|_| Value::from(text)));
                *tool == call.tool
                    && (call.id.is_empty() || *id == call.id)
                    && (*known == input || text.as_ref() == Some(&input))
            };
            let found = cleared.iter().position(same);
            let found = found.unwrap_or_else(|| {
                let (how, text) = (&reading.how, seen.text());
                panic!(
                    "{} {input} was not cleared, read by {how}: {text}",
                    call.tool
                )
            });
            cleared.remove(found);
        }
    }
}

/// Nothing but frames with these ends has left, each on one line.
pub(crate) fn check_canonical((before, end): (&str, &str), bytes: &[u8]) {
    let text = std::str::from_utf8(bytes).unwrap();
    for frame in text.split_inclusive(end) {
        let data = frame.strip_prefix(before).and_then(|f| f.strip_suffix(end));
        let data = data.unwrap_or_else(|| panic!("{frame:?}"));
        assert!(
            data == "[DONE]" || data.starts_with('{') || data.starts_with(['[', '"']),
            "{frame:?}"
        );
        let ends = |c: char| c != '\t' && c < ' ' || "\u{85}\u{2028}\u{2029}".contains(c);
        assert!(!data.contains(ends), "{frame:?}");
    }
}
