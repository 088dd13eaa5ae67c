//! Gemini streams that are cut and damaged anyhow: no client finds a call that was not cleared, how
//! bytes were cut changes nothing, and honest streams keep their meaning.

use crate::damage::{Clients, check_canonical, check_only_cleared_calls, damage};
use crate::gemini::{call, chunk, context, end, guarded, parts, say};
use crate::gemini_client;
use crate::guarding::{chunks, play, settings};
use holdgate_core::GEMINI;
use proptest::prelude::*;
use serde_json::{Value, json};

fn streams() -> Vec<Vec<Vec<u8>>> {
    let with_id = |id: &str, command: &str| json!({"functionCall": {"id": id, "name": "bash", "args": {"command": command}}, "thoughtSignature": "QUJD"});
    let piece = |call: Value| parts(json!([{"functionCall": call}]));
    vec![
        vec![say("Hi"), end()],
        vec![say("Hi"), parts(json!([call("ls")])), end()],
        vec![
            parts(json!([{"text": "x"}, call("rm -rf ~"), {"text": "y"}, call("ls")])),
            end(),
        ],
        vec![chunk(
            json!({"content": {"parts": [with_id("a", "ls"), with_id("b", "rm -rf ~")]}, "finishReason": "STOP"}),
        )],
        vec![
            parts(json!([{"function_call": {"name": "bash", "args": {"command": "ls"}}}])),
            end(),
        ],
        vec![
            piece(json!({"name": "bash", "willContinue": true})),
            piece(
                json!({"partialArgs": [{"jsonPath": "$.command", "stringValue": "rm -rf ~"}], "willContinue": true}),
            ),
            piece(json!({})),
            end(),
        ],
        vec![
            parts(json!([{"executableCode": {"language": "PYTHON", "code": "x"}}])),
            end(),
        ],
        vec![say("Hi"), parts(json!([call("ls")]))],
        vec![
            say("Hi"),
            parts(json!([call("ls")])),
            b"data: {\"error\":{\"code\":500}}\n\n".to_vec(),
        ],
    ]
}

/// Texts that are put into frames, most of them members that some reader takes for a call.
const INSERTS: &[&str] = &[
    "]",
    "\"index\":1,",
    "\"id\":\"z\",",
    "\"args\":{\"command\":\"x\"},",
    "\"Args\":{\"command\":\"x\"},",
    "\"name\":\"x\",",
    "\"thought\":true,",
    "\"text\":\"t\",",
    "\"willContinue\":true,",
    "\"partialArgs\":[{\"jsonPath\":\"$.command\",\"stringValue\":\"x\"}],",
    "\"functionCall\":{\"name\":\"bash\",\"args\":{}},",
    "\"function_call\":{\"name\":\"bash\",\"args\":{}},",
    "\"FunctionCall\":{\"name\":\"bash\",\"args\":{}},",
    "\"executableCode\":{\"code\":\"x\"},",
    "\"toolCall\":{\"toolType\":\"X\"},",
    "\"parts\":[{\"functionCall\":{\"name\":\"x\"}}],",
    "\"candidates\":[{\"content\":{\"parts\":[{\"functionCall\":{\"name\":\"x\"}}]}}],",
    "\"finishReason\":\"STOP\",",
    "{\"functionCall\":{\"name\":\"x\"}},",
];

const CLIENTS: Clients = Clients {
    all_calls: gemini_client::all_calls,
    // A call without an id gets none on the wire.
    same: |(tool, id, input), found| {
        *tool == found.0 && (found.1.is_empty() || *id == found.1) && *input == found.2
    },
};

#[test]
fn every_stream_at_every_cut() {
    for frames in streams() {
        let bytes = frames.concat();
        let whole = play(context(settings()), &[&bytes]);
        check_only_cleared_calls(&whole, &CLIENTS);
        check_canonical(GEMINI, &whole.bytes);
        assert!(
            !gemini_client::holds(&whole.bytes, "rm -rf"),
            "{}",
            whole.text()
        );
        for cut in (0..bytes.len()).step_by(3) {
            let cut = play(context(settings()), &chunks(&bytes, &[cut]));
            assert_eq!(cut.text(), whole.text());
        }
    }
}

/// Parts of honest answers.
fn honest_part() -> impl Strategy<Value = Value> {
    let text = "[ -~é\u{2028}]{0,12}";
    prop_oneof![
        text.prop_map(|text| json!({"text": text})),
        text.prop_map(|text| json!({"text": text, "thought": true})),
        (text, "[A-Za-z0-9+/]{4,8}")
            .prop_map(|(text, signature)| json!({"text": text, "thoughtSignature": signature})),
        "[a-z]{1,8}".prop_map(|word| call(&format!("echo {word}"))),
        ("[a-z]{1,8}", "[A-Za-z0-9+/]{4,8}").prop_map(|(word, signature)| {
            let mut part = call(&format!("echo {word}"));
            part["thoughtSignature"] = signature.into();
            part
        }),
        Just(json!({"inlineData": {"mimeType": "image/png", "data": "QUJD"}})),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn hostile_streams_pass_only_what_was_cleared(
        scenario in any::<prop::sample::Index>(),
        damage in damage(INSERTS),
    ) {
        damage.check(scenario.get(&streams()).clone(), context, &CLIENTS);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn honest_streams_keep_their_meaning(
        frames in prop::collection::vec(prop::collection::vec(honest_part(), 0..5), 0..6),
    ) {
        let frames = frames.into_iter().map(|all| parts(all.into()));
        let bytes = frames.chain([end()]).collect::<Vec<_>>().concat();
        let seen = guarded(context(settings()), &bytes);
        prop_assert_eq!(gemini_client::meaning(&seen.bytes), gemini_client::meaning(&bytes));
    }
}
