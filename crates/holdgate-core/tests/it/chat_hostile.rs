//! Chat and Ollama streams that are cut and damaged anyhow: no client finds a call that was not
//! cleared, and how bytes were cut changes nothing.

use crate::chat::{DONE, LS, RM, begin, chunk, context, delta, finish, more};
use crate::client::fold_keys;
use crate::guarding::{Play, Seen, chunks, settings};
use crate::loose;
use holdgate_core::{CHAT, GuardSettings, OLLAMA, OnBlock, Protocol};
use proptest::prelude::*;
use serde_json::{Value, json};

fn chat_streams() -> Vec<Vec<Vec<u8>>> {
    let text = || delta(json!({"role": "assistant", "content": "Hi"}));
    let one = |id: &str, arguments: &str| json!({"id": id, "type": "function", "function": {"name": "bash", "arguments": arguments}});
    let ends = || vec![finish("tool_calls"), chunk(&json!([])), DONE.to_vec()];
    let with = |frames: Vec<Vec<u8>>| [frames, ends()].concat();
    let legacy = |call: Value| delta(json!({"function_call": call}));
    let choice = |n: u64, id: &str, arguments: &str| json!({"index": n, "delta": {"content": "t", "tool_calls": [one(id, arguments)]}, "finish_reason": "tool_calls"});
    vec![
        with(vec![text()]),
        with(vec![
            text(),
            begin(0, "a", "{\"comm"),
            more(0, "and\":\"ls\"}"),
        ]),
        with(vec![text(), begin(0, "a", RM), begin(1, "b", LS)]),
        with(vec![
            begin(0, "a", "{\"command"),
            begin(1, "b", LS),
            more(0, "\":\"rm -rf ~\"}"),
        ]),
        with(vec![
            begin(0, "a", LS),
            begin(0, "b", RM),
            begin(0, "c", LS),
        ]),
        with(vec![delta(
            json!({"content": "x", "tool_calls": [one("a", LS), one("b", RM)]}),
        )]),
        with(vec![delta(
            json!({"tool_calls": [{"function": {"name": "bash", "arguments": {"command": "ls"}}}]}),
        )]),
        with(vec![
            legacy(json!({"name": "bash", "arguments": "{\"comm"})),
            legacy(json!({"arguments": "and\":\"ls\"}"})),
        ]),
        with(vec![delta(
            json!({"tool_calls": [{"index": 0, "id": "a", "type": "custom", "custom": {"name": "note", "input": "some text"}}]}),
        )]),
        vec![
            chunk(&json!([choice(0, "a", LS), choice(1, "b", RM)])),
            DONE.to_vec(),
        ],
        vec![text(), begin(0, "a", LS)],
        vec![
            text(),
            begin(0, "a", LS),
            b"data: {\"error\":{\"message\":\"x\"}}\n\n".to_vec(),
        ],
    ]
}

fn ollama_streams() -> Vec<Vec<Vec<u8>>> {
    let line = |message: Value, done: bool| {
        let line = json!({"model": "m", "created_at": "t", "message": message, "done": done});
        format!("{line}\n").into_bytes()
    };
    let say = |text: &str| line(json!({"role": "assistant", "content": text}), false);
    let call =
        |command: &str| json!({"function": {"name": "bash", "arguments": {"command": command}}});
    let with_id = |id: &str, command: &str| json!({"id": id, "function": {"index": 0, "name": "bash", "arguments": {"command": command}}});
    let calls = |calls: Value, done: bool| {
        line(
            json!({"role": "assistant", "content": "", "tool_calls": calls}),
            done,
        )
    };
    let end = || line(json!({"role": "assistant", "content": ""}), true);
    vec![
        vec![say("Hi"), end()],
        vec![say("Hi"), calls(json!([call("ls")]), false), end()],
        vec![
            calls(json!([call("rm -rf ~"), call("ls")]), false),
            say("x"),
            end(),
        ],
        vec![calls(
            json!([with_id("a", "ls"), with_id("b", "rm -rf ~")]),
            true,
        )],
        vec![
            calls(
                json!([{"function": {"name": "bash", "arguments": LS}}]),
                false,
            ),
            end(),
        ],
        vec![say("Hi"), calls(json!([call("ls")]), false)],
        vec![say("Hi"), b"{\"error\":\"x\"}\n".to_vec()],
    ]
}

#[derive(Clone, Debug)]
enum Mutation {
    Drop,
    Repeat,
    SwapWithNext,
    FlipByte(usize, u8),
    Insert(usize, &'static str),
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let inserts: Vec<&'static str> = vec![
        "\n",
        "\r",
        "\n\n",
        "\u{feff}",
        ": note\n",
        "data: {}\n",
        "event: x\n",
        "\"",
        "\\",
        "}",
        "\\ud800",
        "\u{2028}",
        "\"index\":1,",
        "\"id\":\"z\",",
        "\"arguments\":\"{}\",",
        "\"Arguments\":\"{\\\"command\\\":\\\"x\\\"}\",",
        "\"name\":\"x\",",
        "\"tool_calls\":[{\"index\":0,\"id\":\"x\",\"function\":{\"name\":\"bash\",\"arguments\":\"{}\"}}],",
        "\"function_call\":{\"name\":\"bash\",\"arguments\":\"{}\"},",
        "\"message\":{\"tool_calls\":[{\"id\":\"x\",\"function\":{\"name\":\"bash\",\"arguments\":\"{}\"}}]},",
        "\"finish_reason\":\"stop\",",
        "\"custom\":{\"name\":\"x\",\"input\":\"x\"},",
        "{\"message\":{\"tool_calls\":[{\"function\":{\"name\":\"x\",\"arguments\":{}}}]}}\n",
    ];
    prop_oneof![
        Just(Mutation::Drop),
        Just(Mutation::Repeat),
        Just(Mutation::SwapWithNext),
        (any::<usize>(), any::<u8>()).prop_map(|(at, to)| Mutation::FlipByte(at, to)),
        (any::<usize>(), prop::sample::select(inserts))
            .prop_map(|(at, what)| Mutation::Insert(at, what)),
    ]
}

fn mutate(mut frames: Vec<Vec<u8>>, mutations: &[(usize, Mutation)]) -> Vec<u8> {
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
fn check_only_cleared_calls(seen: &Seen) {
    for (reading, calls) in loose::all_calls(&seen.bytes) {
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

fn check_canonical(protocol: &dyn Protocol, bytes: &[u8]) {
    let text = std::str::from_utf8(bytes).unwrap();
    let (before, end) = match protocol.name() {
        "chat" => ("data: ", "\n\n"),
        _ => ("", "\n"),
    };
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

fn run(protocol: &'static dyn Protocol, settings: GuardSettings, pieces: &[&[u8]]) -> Seen {
    let mut play = Play::new(context(protocol, settings));
    for piece in pieces {
        play.feed(piece);
    }
    play.finish();
    play.seen
}

#[test]
fn every_stream_at_every_cut() {
    for (protocol, streams) in [(CHAT, chat_streams()), (OLLAMA, ollama_streams())] {
        for frames in streams {
            let bytes = frames.concat();
            let whole = run(protocol, settings(), &[&bytes]);
            check_only_cleared_calls(&whole);
            check_canonical(protocol, &whole.bytes);
            assert!(!loose::holds(&whole.bytes, "rm -rf"), "{}", whole.text());
            for cut in (0..bytes.len()).step_by(3) {
                let cut = run(protocol, settings(), &chunks(&bytes, &[cut]));
                assert_eq!(cut.text(), whole.text());
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, ..ProptestConfig::default() })]

    #[test]
    fn hostile_streams_pass_only_what_was_cleared(
        chat in any::<bool>(),
        scenario in any::<prop::sample::Index>(),
        mutations in prop::collection::vec((any::<usize>(), mutation()), 0..6),
        cuts in prop::collection::vec(any::<usize>(), 0..8),
        hold_all in any::<bool>(),
        go_on in any::<bool>(),
    ) {
        let (protocol, streams) = if chat {
            (CHAT, chat_streams())
        } else {
            (OLLAMA, ollama_streams())
        };
        let settings = GuardSettings {
            hold_all,
            on_block: if go_on { OnBlock::Continue } else { OnBlock::Explain },
            ..settings()
        };
        let bytes = mutate(scenario.get(&streams).clone(), &mutations);
        let whole = run(protocol, settings.clone(), &[&bytes]);
        check_only_cleared_calls(&whole);
        check_canonical(protocol, &whole.bytes);
        let cut = run(protocol, settings, &chunks(&bytes, &cuts));
        prop_assert_eq!(cut.decisions(), whole.decisions());
        prop_assert_eq!(String::from_utf8_lossy(&cut.bytes), String::from_utf8_lossy(&whole.bytes));
    }
}
