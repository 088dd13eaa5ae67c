//! Chat and Ollama streams that are cut and damaged anyhow: no client finds a call that was not
//! cleared, and how bytes were cut changes nothing.

use crate::chat::{DONE, LS, RM, begin, chunk, context, delta, finish, more};
use crate::damage::{check_canonical, check_only_cleared_calls, mutate, mutation};
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

/// Texts that are put into frames, most of them members that some reader takes for a call.
const INSERTS: &[&str] = &[
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

/// What stands around the data of a frame.
fn ends(protocol: &dyn Protocol) -> (&'static str, &'static str) {
    match protocol.name() {
        "chat" => ("data: ", "\n\n"),
        _ => ("", "\n"),
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
            check_only_cleared_calls(&whole, loose::all_calls(&whole.bytes));
            check_canonical(ends(protocol), &whole.bytes);
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
        mutations in prop::collection::vec((any::<usize>(), mutation(INSERTS)), 0..6),
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
        check_only_cleared_calls(&whole, loose::all_calls(&whole.bytes));
        check_canonical(ends(protocol), &whole.bytes);
        let cut = run(protocol, settings, &chunks(&bytes, &cuts));
        prop_assert_eq!(cut.decisions(), whole.decisions());
        prop_assert_eq!(String::from_utf8_lossy(&cut.bytes), String::from_utf8_lossy(&whole.bytes));
    }
}
