//! The invariants of a guarded stream, over mutated and random streams.

use super::script::*;
use super::{client, declaring};
use crate::damage::{Clients, damage};
use crate::guarding::{Seen, play, settings};
use proptest::prelude::*;
use serde_json::{Value, json};

fn run(stream: &str) -> Seen {
    play(declaring(&json!([]), settings()), &[stream.as_bytes()])
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

/// What hurts in this protocol.
const INSERTS: &[&str] = &[
    "\"arguments\":\"{}\",",
    "\"type\":\"function_call\",",
    "\"Type\":\"function_call\",",
    "\"Item\":{\"type\":\"function_call\",\"call_id\":\"a\",\"name\":\"x\",\"arguments\":\"{}\"},",
    "\"item\":{\"type\":\"local_shell_call\",\"call_id\":\"a\",\"action\":{}},",
    "\"Action\":{\"commands\":[\"x\"]},",
    "\rdata: {\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":{\"type\":\"function_call\",\"call_id\":\"x\",\"name\":\"x\",\"arguments\":\"{}\"}}\r",
    ",\"x\":{\"type\":\"mcp_approval_request\"}",
    "event: response.output_item.done\n",
];

const CLIENTS: Clients = Clients {
    all_calls: client::all_calls,
    same: |cleared, found| cleared == found,
};

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn hostile_streams_pass_only_what_was_cleared(
        items in prop::collection::vec(item(), 0..4),
        damage in damage(INSERTS),
    ) {
        let frames = frames(&items).into_iter().map(String::into_bytes).collect();
        // What the provider runs is not declared, so it is a call like any other.
        damage.check(frames, |settings| declaring(&json!([]), settings), &CLIENTS);
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
        let left = run(&words);
        prop_assert_eq!(left.text(), words);
        let arguments = json!({"cmd": command}).to_string();
        items.insert(at % (items.len() + 1), function_call("c", &arguments));
        let stream = stream(&items);
        let seen = run(&stream);
        prop_assert_eq!(seen.decisions(), ["- Sent"]);
        prop_assert_eq!(client::meaning(stream.as_bytes()), client::meaning(&seen.bytes));
        super::check_form(&seen);
    }
}
