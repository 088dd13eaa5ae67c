//! Streams that are damaged and cut anyhow, in any protocol: no client finds a call that was not
//! cleared, what leaves has one form, and how bytes were cut changes nothing.

use crate::assemble::Assembled;
use crate::guarding::{Seen, chunks, play, settings};
use crate::readers::{Reading, fold_keys, read};
use holdgate_core::{Framing, GuardSettings, OnBlock, Protocol, ResponseContext};
use proptest::prelude::*;
use serde_json::{Value, json};

/// A call: tool, id and arguments.
pub(crate) type Call = (String, String, Value);

/// A way of reading, and the calls that it finds.
type Read = (Reading, Vec<Assembled>);

/// How the clients of a protocol find calls.
pub(crate) struct Clients {
    /// The calls that each way of reading finds.
    pub(crate) all_calls: fn(&[u8]) -> Vec<Read>,
    /// Whether the second is the first as it stands on the wire.
    pub(crate) same: fn(&Call, &Call) -> bool,
}

#[derive(Clone, Debug)]
enum Mutation {
    Drop,
    Repeat,
    SwapWithNext,
    FlipByte(usize, u8),
    Insert(usize, &'static str),
    LineEnds(&'static str),
    /// Makes one place of a call another call.
    Differ,
}

/// What hurts in every protocol.
const INSERTS: &[&str] = &[
    "\n",
    "\r",
    "\n\n",
    "\u{feff}",
    ": note\n",
    "data: {}\n",
    "event: ping\n",
    "id: 1\n",
    "retry: 1\n",
    "\"",
    "\\",
    "}",
    "\\ud800",
    "\u{0}",
    "\u{b}",
    "\u{85}",
    "\u{2028}",
];

fn mutation(inserts: &[&'static str]) -> impl Strategy<Value = Mutation> {
    let inserts = [INSERTS, inserts].concat();
    prop_oneof![
        Just(Mutation::Drop),
        Just(Mutation::Repeat),
        Just(Mutation::SwapWithNext),
        Just(Mutation::Differ),
        (any::<usize>(), any::<u8>()).prop_map(|(at, to)| Mutation::FlipByte(at, to)),
        (any::<usize>(), prop::sample::select(inserts))
            .prop_map(|(at, what)| Mutation::Insert(at, what)),
        prop::sample::select(vec!["\r", "\r\n", "\n"]).prop_map(Mutation::LineEnds),
    ]
}

fn mutate(mut frames: Vec<Vec<u8>>, mutations: &[(usize, Mutation)]) -> Vec<u8> {
    for (at, mutation) in mutations {
        if frames.is_empty() {
            break;
        }
        let at = at % frames.len();
        let place = |p: usize| p % frames[at].len().max(1);
        let text = String::from_utf8_lossy(&frames[at]).into_owned();
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
                // Most places are in the middle of a text: every other time, the start of a member.
                let quote = |p: usize| frames[at].iter().skip(p).position(|b| *b == b'"');
                let near = place(*p / 2);
                let mut p = near + quote(near).filter(|_| p % 2 == 0).unwrap_or_default();
                while std::str::from_utf8(&frames[at][..p]).is_err() && p > 0 {
                    p -= 1;
                }
                frames[at].splice(p..p, what.bytes());
            }
            Mutation::LineEnds(end) => frames[at] = text.replace('\n', end).into_bytes(),
            Mutation::Differ => {
                let text = text.replace("ls", "id").replace("rm -rf", "echo");
                frames[at] = text.into_bytes();
            }
        }
    }
    frames.concat()
}

/// What is done to a stream, and how it is guarded.
#[derive(Clone, Debug)]
pub(crate) struct Damage {
    mutations: Vec<(usize, Mutation)>,
    cuts: Vec<usize>,
    settings: GuardSettings,
}

/// Any damage. `inserts` are texts that hurt in one protocol.
pub(crate) fn damage(inserts: &[&'static str]) -> impl Strategy<Value = Damage> {
    let settings = (any::<bool>(), any::<bool>()).prop_map(|(hold_all, go_on)| GuardSettings {
        hold_all,
        on_block: if go_on {
            OnBlock::Continue
        } else {
            OnBlock::Explain
        },
        ..settings()
    });
    let mutations = prop::collection::vec((any::<usize>(), mutation(inserts)), 0..6);
    let cuts = prop::collection::vec(any::<usize>(), 0..8);
    (mutations, cuts, settings).prop_map(|(mutations, cuts, settings)| Damage {
        mutations,
        cuts,
        settings,
    })
}

impl Damage {
    /// Does it to this stream, and checks what leaves.
    pub(crate) fn check(
        self,
        frames: Vec<Vec<u8>>,
        context: impl Fn(GuardSettings) -> ResponseContext,
        clients: &Clients,
    ) {
        let bytes = mutate(frames, &self.mutations);
        let context = || context(self.settings.clone());
        let protocol = context().protocol;
        let whole = play(context(), &[&bytes]);
        check_only_cleared_calls(&whole, clients);
        check_canonical(protocol, &whole.bytes);
        let cut = play(context(), &chunks(&bytes, &self.cuts));
        assert_eq!(cut.decisions(), whole.decisions());
        assert_eq!(cut.text(), whole.text());
    }
}

/// Invariants 2, 3 and 4: whatever a client can assemble, however it reads the bytes, was cleared,
/// with just these arguments, and stands there once.
pub(crate) fn check_only_cleared_calls(seen: &Seen, clients: &Clients) {
    for (reading, calls) in (clients.all_calls)(&seen.bytes) {
        let fold = |value: Value| {
            if reading.folds_keys {
                fold_keys(&value)
            } else {
                value
            }
        };
        let cleared = seen.cleared().into_iter();
        let mut cleared: Vec<Call> = cleared.map(|(t, id, input)| (t, id, fold(input))).collect();
        for Assembled { tool, id, input } in calls {
            let input = fold(input.expect("a call that reaches the client is readable"));
            if id.starts_with("toolu_holdgate_") {
                assert_eq!(input, json!({}), "an inert call must be empty");
                continue;
            }
            let call = (tool, id, input);
            let found = cleared
                .iter()
                .position(|known| (clients.same)(known, &call));
            let found = found.unwrap_or_else(|| {
                let (how, decisions) = (&reading.how, seen.decisions());
                let text = seen.text();
                panic!("{call:?} was not cleared, read by {how}: {decisions:?}\n{text}")
            });
            cleared.remove(found);
        }
    }
}

/// Invariant 5: every frame has its one form, and nothing stands between frames.
pub(crate) fn check_canonical(protocol: &dyn Protocol, bytes: &[u8]) {
    let text = std::str::from_utf8(bytes).unwrap();
    let (before, end) = match protocol.framing() {
        Framing::Events => ("data: ", "\n\n"),
        Framing::Lines => ("", "\n"),
    };
    let is_named = matches!(protocol.name(), "anthropic" | "responses");
    for frame in text.split_inclusive(end) {
        let (event, rest) = match frame.strip_prefix("event: ").filter(|_| is_named) {
            Some(named) => named.split_once('\n').unwrap(),
            None => ("", frame),
        };
        let data = rest.strip_prefix(before).and_then(|d| d.strip_suffix(end));
        let data = data.unwrap_or_else(|| panic!("{frame:?}"));
        let ends = |c: char| c != '\t' && c < ' ' || "\u{85}\u{2028}\u{2029}".contains(c);
        assert!(!data.contains(ends) && !event.contains(ends), "{frame:?}");
        match read(data) {
            Some(json) if is_named => assert_eq!(json["type"], event, "{frame:?}"),
            Some(_) => {}
            None => assert_eq!((protocol.name(), data), ("chat", "[DONE]")),
        }
    }
}
