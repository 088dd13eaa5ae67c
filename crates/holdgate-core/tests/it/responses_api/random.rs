//! The invariants of a guarded stream, over mutated and random streams.

use super::script::*;
use super::{client, declaring, play};
use crate::assemble::Assembled;
use crate::guarding::{Seen, chunks, settings};
use crate::readers::fold_keys;
use holdgate_core::{GuardSettings, OnBlock};
use proptest::prelude::*;
use serde_json::{Value, json};

/// What the provider runs is not declared, so it is a call like any other.
fn run(settings: GuardSettings, chunks: &[&[u8]]) -> Seen {
    play(declaring(&json!([]), settings), chunks)
}

/// Whatever a client finds in any place, however it reads the bytes, was cleared, and stands there
/// once.
fn check_only_cleared_calls(seen: &Seen) {
    for (reading, calls) in client::all_calls(&seen.bytes) {
        let mut cleared = seen.cleared();
        for Assembled { tool, id, input } in calls {
            if id.starts_with("toolu_holdgate_") {
                assert_eq!(input, Some(json!({})), "an inert call must be empty");
                continue;
            }
            let fold = |value: &Value| {
                if reading.folds_keys {
                    fold_keys(value)
                } else {
                    value.clone()
                }
            };
            let input = fold(&input.expect("a call that reaches the client is readable"));
            let is_it = |call: &(String, String, Value)| {
                (&call.0, &call.1) == (&tool, &id) && fold(&call.2) == input
            };
            let found = cleared.iter().position(is_it);
            let found = found.unwrap_or_else(|| {
                let (how, decisions) = (&reading.how, seen.decisions());
                panic!("{tool} {id} {input} was not cleared, read by {how}: {decisions:?}")
            });
            cleared.remove(found);
        }
    }
    let text = std::str::from_utf8(&seen.bytes).unwrap();
    for frame in text.split_terminator("\n\n") {
        let lines: Vec<&str> = frame.split('\n').collect();
        assert!(
            matches!(lines[..], [event, data] if event.starts_with("event: ") && data.starts_with("data: ")),
            "{frame:?}"
        );
    }
}

fn item() -> impl Strategy<Value = Value> {
    let id = prop::sample::select(vec!["a", "b", "c"]);
    let arguments = prop::sample::select(vec![
        "{\"cmd\": \"ls\"}",
        "{\"cmd\":\"rm -rf ~\"}",
        "{\"cmd\":\"echo \\u00e9\",\"workdir\":\"/tmp\"}",
        "",
        "{\"cmd\":\"ls\",\"cmd\":\"rm -rf ~\"}",
        "{\"cmd\":\"ls\",\"Cmd\":\"rm -rf ~\"}",
        "{\"cmd\":\"l",
        "[]",
    ]);
    let command = prop::sample::select(vec!["ls", "rm -rf ~", "git status"]);
    prop_oneof![
        "[a-z \u{2028}]{1,9}".prop_map(|text| message(&text)),
        Just(reasoning("gAAAA==")),
        (id, arguments).prop_map(|(id, arguments)| function_call(id, arguments)),
        Just(custom_call("apply_patch", PATCH)),
        Just(custom_call(
            "exec",
            "await tools.exec_command({cmd: 'rm -rf ~'})"
        )),
        command
            .clone()
            .prop_map(|command| local_shell(&["bash", "-lc", command])),
        prop::collection::vec(command, 1..3).prop_map(|commands| shell(&commands)),
        Just(patch_call("/etc/passwd", "+x")),
        Just(
            json!({"type": "web_search_call", "id": "ws", "status": "completed", "action": {"type": "search"}})
        ),
        Just(json!({"type": "odd_call", "id": "o", "call_id": "a"})),
    ]
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

fn mutation() -> impl Strategy<Value = Mutation> {
    let inserts: Vec<&'static str> = vec![
        "\n",
        "\r",
        "\n\n",
        "\u{feff}",
        ": note\n",
        "data: {}\n",
        "\"",
        "}",
        "\\ud800",
        "\u{2028}",
        "\"arguments\":\"{}\",",
        "\"type\":\"function_call\",",
        "\"Type\":\"function_call\",",
        "\"Item\":{\"type\":\"function_call\",\"call_id\":\"a\",\"name\":\"x\",\"arguments\":\"{}\"},",
        "\"item\":{\"type\":\"local_shell_call\",\"call_id\":\"a\",\"action\":{}},",
        "\rdata: {\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":{\"type\":\"function_call\",\"call_id\":\"x\",\"name\":\"x\",\"arguments\":\"{}\"}}\r",
        ",\"x\":{\"type\":\"mcp_approval_request\"}",
        "event: response.output_item.done\n",
    ];
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

fn mutate(frames: Vec<String>, mutations: &[(usize, Mutation)]) -> Vec<u8> {
    let mut frames: Vec<Vec<u8>> = frames.into_iter().map(String::into_bytes).collect();
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
                let mut p = place(*p);
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

fn all_settings() -> impl Strategy<Value = GuardSettings> {
    (any::<bool>(), any::<bool>()).prop_map(|(hold_all, go_on)| GuardSettings {
        hold_all,
        on_block: if go_on {
            OnBlock::Continue
        } else {
            OnBlock::Explain
        },
        ..settings()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn hostile_streams_pass_only_what_was_cleared(
        items in prop::collection::vec(item(), 0..4),
        mutations in prop::collection::vec((any::<usize>(), mutation()), 0..5),
        cuts in prop::collection::vec(any::<usize>(), 0..8),
        settings in all_settings(),
    ) {
        let bytes = mutate(frames(&items), &mutations);
        let whole = run(settings.clone(), &[&bytes]);
        check_only_cleared_calls(&whole);
        let cut = run(settings, &chunks(&bytes, &cuts));
        prop_assert_eq!(cut.decisions(), whole.decisions());
        prop_assert_eq!(String::from_utf8_lossy(&cut.bytes), String::from_utf8_lossy(&whole.bytes));
    }

    /// What is allowed means the same behind the guard; words keep their bytes.
    #[test]
    fn honest_streams_keep_their_meaning(
        texts in prop::collection::vec("[a-z é\u{1F600}]{0,12}", 1..4),
        command in "ls( [a-z]{1,5}){0,3}",
        at in any::<usize>(),
    ) {
        let mut items: Vec<Value> = texts.iter().map(|text| message(text)).collect();
        let words = stream(&items);
        let left = run(settings(), &[words.as_bytes()]);
        prop_assert_eq!(left.text(), words);
        let arguments = json!({"cmd": command}).to_string();
        items.insert(at % (items.len() + 1), function_call("c", &arguments));
        let stream = stream(&items);
        let seen = run(settings(), &[stream.as_bytes()]);
        prop_assert_eq!(seen.decisions(), ["- Sent"]);
        prop_assert_eq!(client::meaning(stream.as_bytes()), client::meaning(&seen.bytes));
        super::check_form(&seen);
    }
}
