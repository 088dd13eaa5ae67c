//! Chat and Ollama streams that are cut and damaged anyhow: no client finds a call that was not
//! cleared, and how bytes were cut changes nothing.

use crate::chat::{DONE, LS, RM, begin, chunk, context, delta, finish, more};
use crate::damage::{Clients, check_canonical, check_only_cleared_calls, damage};
use crate::guarding::{chunks, play, settings};
use crate::loose;
use holdgate_core::{CHAT, OLLAMA};
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

/// What hurts in these protocols.
const INSERTS: &[&str] = &[
    "\"index\":1,",
    "\"Index\":1,",
    "\"id\":\"z\",",
    "\"arguments\":\"{}\",",
    "\"Arguments\":\"{\\\"command\\\":\\\"x\\\"}\",",
    "\"name\":\"x\",",
    "\"tool_calls\":[{\"index\":0,\"id\":\"x\",\"function\":{\"name\":\"bash\",\"arguments\":\"{}\"}}],",
    "\"function_call\":{\"name\":\"bash\",\"arguments\":\"{}\"},",
    "\"message\":{\"tool_calls\":[{\"id\":\"x\",\"function\":{\"name\":\"bash\",\"arguments\":\"{}\"}}]},",
    "\"finish_reason\":\"stop\",",
    "\"error\":{\"message\":\"x\"},",
    "\"custom\":{\"name\":\"x\",\"input\":\"x\"},",
    "{\"message\":{\"tool_calls\":[{\"function\":{\"name\":\"x\",\"arguments\":{}}}]}}\n",
];

const CLIENTS: Clients = Clients {
    all_calls: loose::all_calls,
    // Older calls have no id on the wire, and the input of a custom tool is a text; readers take an
    // empty one for no arguments.
    same: |(tool, id, input), found| {
        let text = input["input"].as_str();
        let text = text.map(|text| match text {
            "" => json!({}),
            text => serde_json::from_str(text).unwrap_or_else(|_| text.into()),
        });
        *tool == found.0
            && (found.1.is_empty() || *id == found.1)
            && (*input == found.2 || text.as_ref() == Some(&found.2))
    },
};

#[test]
fn every_stream_at_every_cut() {
    for (protocol, streams) in [(CHAT, chat_streams()), (OLLAMA, ollama_streams())] {
        for frames in streams {
            let bytes = frames.concat();
            let guarded = |pieces: &[&[u8]]| play(context(protocol, settings()), pieces);
            let whole = guarded(&[&bytes]);
            check_only_cleared_calls(&whole, &CLIENTS);
            check_canonical(protocol, &whole.bytes);
            assert!(!loose::holds(&whole.bytes, "rm -rf"), "{}", whole.text());
            for cut in (0..bytes.len()).step_by(3) {
                let cut = guarded(&chunks(&bytes, &[cut]));
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
        damage in damage(INSERTS),
    ) {
        let (protocol, streams) = if chat {
            (CHAT, chat_streams())
        } else {
            (OLLAMA, ollama_streams())
        };
        let frames = scenario.get(&streams).clone();
        damage.check(frames, |settings| context(protocol, settings), &CLIENTS);
    }
}
