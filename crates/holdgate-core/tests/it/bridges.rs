//! Bridges under guard: requests one way, answers the other.
//!
//! The inputs and what must come of them lie side by side in `bridges/`: `NAME.json` is a client's
//! request, `NAME.sse` a streamed answer of the upstream's, `NAME.whole.json` one that is not
//! streamed, and `INPUT.FROM-TO.snap` what is sent. `UPDATE_SNAPSHOTS=1` writes the latter anew.

#![allow(clippy::disallowed_methods, reason = "inputs and snapshots are files")]

use crate::guarding::{Play, Seen, chunks, judge, settings, whole};
use crate::{assemble, readers, responses_client};
use holdgate_core::{
    ANTHROPIC, Dialect, GuardSettings, Protocol, RESPONSES, RequestFacts, ResponseContext, bridged,
};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) const CLIENTS: [&dyn Protocol; 2] = [ANTHROPIC, RESPONSES];

fn tools(client: &dyn Protocol) -> Value {
    let text = json!({"type": "string"});
    let schema = |key: &str| {
        json!({"type": "object", "properties": {key: text, "timeout": {"type": "integer"}},
               "required": [key]})
    };
    match client.name() {
        "responses" => json!([
            {"type": "function", "name": "Bash", "parameters": schema("command")},
            {"type": "custom", "name": "apply_patch", "description": "Edits files."}]),
        _ => json!([
            {"name": "Bash", "input_schema": schema("command")},
            {"name": "Write", "input_schema": schema("file_path")}]),
    }
}

/// A response over the bridge from `client`, to a request with a few tools.
pub(crate) fn context(client: &'static dyn Protocol, settings: GuardSettings) -> ResponseContext {
    let bridge = bridged(client, "chat").unwrap();
    let body =
        json!({"messages": [], "input": [], "tools": tools(client), "stop_sequences": ["END"]});
    let body = body.to_string();
    let translated = bridge.translate("/v1/x", body.as_bytes(), Dialect::Auto);
    ResponseContext {
        protocol: bridge,
        request: Arc::new(RequestFacts {
            bridged: translated.unwrap().unwrap().bridged,
            tools_with_required: ["Bash".to_owned()].into(),
            ..RequestFacts::default()
        }),
        ..judge(settings)
    }
}

fn guarded(client: &'static dyn Protocol, pieces: &[&[u8]]) -> Seen {
    let mut play = Play::new(context(client, settings()));
    for piece in pieces {
        play.feed(piece);
    }
    play.finish();
    play.seen
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/bridges")
}

/// The inputs whose names end like this, with the names.
fn inputs(end: &str) -> Vec<(String, String)> {
    let files = std::fs::read_dir(folder()).unwrap();
    let paths = files.map(|file| file.unwrap().path());
    let mut found: Vec<(String, String)> = paths
        .filter_map(|path| {
            let name = path.file_name()?.to_str()?.to_owned();
            let whole = name.contains(".whole.");
            let is_input = name.ends_with(end) && (end.contains("whole") || !whole);
            is_input.then(|| (name, std::fs::read_to_string(path).unwrap()))
        })
        .collect();
    assert!(!found.is_empty(), "no inputs end with {end}");
    found.sort();
    found
}

/// The text without the findings of a refusal, which are the rules' matter.
fn without_findings(text: &str) -> String {
    let parts = text.split(" did not run.").enumerate().map(|(at, part)| {
        let end = part.find("(incident ").filter(|_| at > 0).unwrap_or(0);
        part[end..].to_owned()
    });
    parts.collect::<Vec<_>>().join(" did not run. … ")
}

fn check(input: &str, client: &dyn Protocol, text: &str) {
    let text = without_findings(text);
    let path = folder().join(format!("{input}.{}-chat.snap", client.name()));
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(expected == text, "{} differs:\n{text}", path.display());
}

#[test]
fn requests_are_translated() {
    for (name, text) in inputs(".json") {
        let client = if text.contains("\"messages\"") {
            ANTHROPIC
        } else {
            RESPONSES
        };
        for dialect in [Dialect::Auto, Dialect::QwenXml] {
            let bridge = bridged(client, "chat").unwrap();
            assert!(bridge.read_request(text.clone().into()).is_ok());
            let path = format!(
                "/base/v1/{}",
                if client == ANTHROPIC {
                    "messages"
                } else {
                    "responses"
                }
            );
            let translated = bridge.translate(&path, text.as_bytes(), dialect);
            let translated = translated.unwrap().unwrap();
            assert_eq!(translated.path, "/base/v1/chat/completions");
            let value: Value = serde_json::from_slice(&translated.body).unwrap();
            if dialect == Dialect::Auto {
                check(&name, client, &format!("{value:#}\n"));
            } else {
                assert_eq!(value["tool_choice"], "none", "the server has no parser");
            }
        }
    }
}

#[test]
fn streams_are_translated_however_they_are_split() {
    for (name, text) in inputs(".sse") {
        for client in CLIENTS {
            let seen = guarded(client, &[text.as_bytes()]);
            check(&name, client, &seen.text());
            check_calls(client, &seen);
            for size in [1, 13] {
                let pieces: Vec<&[u8]> = text.as_bytes().chunks(size).collect();
                assert_eq!(guarded(client, &pieces).text(), seen.text(), "{name}");
            }
        }
    }
}

#[test]
fn whole_answers_are_translated() {
    for (name, text) in inputs(".whole.json") {
        let body: Value = serde_json::from_str(&text).unwrap();
        for client in CLIENTS {
            let got = match whole(context(client, settings()), &body) {
                Ok(got) => format!("{got:#}\n"),
                Err(why) => format!("refused: {why}\n"),
            };
            check(&name, client, &got);
        }
    }
}

/// What a client gets, in the protocol that it speaks: tools, ids and arguments.
pub(crate) fn calls(client: &dyn Protocol, seen: &Seen) -> Vec<Vec<(String, String, Value)>> {
    let readings = match client.name() {
        "responses" => responses_client::all_calls(&seen.bytes),
        _ => assemble::all_calls(&seen.bytes),
    };
    let of = |calls: Vec<assemble::Assembled>| {
        let call = |c: assemble::Assembled| (c.tool, c.id, c.input.unwrap_or_default());
        calls.into_iter().map(call).collect()
    };
    let readings = readings
        .into_iter()
        .filter(|(reading, _)| !reading.folds_keys);
    readings.map(|(_, calls)| of(calls)).collect()
}

/// Whatever a client can assemble was cleared with just these arguments, and is declared.
fn check_calls(client: &dyn Protocol, seen: &Seen) {
    let cleared = seen.cleared();
    for calls in calls(client, seen) {
        for (tool, id, input) in calls {
            let found = cleared.iter().any(|(t, i, judged)| {
                let same = *judged == input || judged["input"] == input;
                (t, i) == (&tool, &id) && same
            });
            assert!(
                found,
                "{tool} {id} {input} was not cleared: {}",
                seen.text()
            );
            assert!(
                ["Bash", "Write", "apply_patch"].contains(&tool.as_str()),
                "{tool}"
            );
        }
    }
}

pub(crate) fn chunk(choice: Value) -> String {
    let chunk = json!({"id": "chatcmpl-0123456789", "object": "chat.completion.chunk", "created": 7,
                       "model": "m", "choices": [choice]});
    format!("data: {chunk}\n\n")
}

pub(crate) fn say(text: &str) -> String {
    chunk(json!({"index": 0, "delta": {"content": text}}))
}

pub(crate) const END: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

#[test]
fn text_leaves_at_once_but_for_the_start_of_a_tag() {
    for client in CLIENTS {
        let mut play = Play::new(context(client, settings()));
        for (text, sent) in [
            ("Hello", "Hello"),
            (" wor", " wor"),
            ("ld <to", "ld "),
            ("m", "<tom"),
        ] {
            let before = play.seen.text().len();
            play.feed(say(text).as_bytes());
            let now = play.seen.text()[before..].to_owned();
            assert!(now.contains(&format!("\"{sent}\"")), "{text:?}: {now}");
        }
    }
}

#[test]
fn a_call_that_is_being_written_keeps_the_client_waiting_without_silence() {
    let mut play = Play::new(context(ANTHROPIC, settings()));
    play.feed(say("<tool_call>\n<function=Bash>\n<parameter=command>\n").as_bytes());
    for second in 1..5 {
        play.now = std::time::Duration::from_secs(second);
        play.feed(say("echo ").as_bytes());
    }
    assert!(play.seen.text().matches("event: ping").count() >= 3);
    assert!(play.guard.kept() > 50, "what is held counts");
}

#[test]
fn a_response_without_an_end_mark_ends_and_one_without_a_reason_fails() {
    for client in CLIENTS {
        let end = END.replace("data: [DONE]\n\n", "");
        let seen = guarded(client, &[say("Hi").as_bytes(), end.as_bytes()]);
        let last = if client == ANTHROPIC {
            "message_stop"
        } else {
            "response.completed"
        };
        assert!(
            seen.text().contains(&format!("event: {last}\n")),
            "{}",
            seen.text()
        );
        let cut = "<tool_call>{\"name\":\"Bash\",\"arguments\":{\"command\":\"ls\"}}";
        let seen = guarded(client, &[say(cut).as_bytes()]);
        assert!(seen.text().contains("event: error\n"), "{}", seen.text());
        let seen = guarded(client, &[say("<tool_call>\n<function=Bash>\n").as_bytes()]);
        assert!(calls(client, &seen).concat().is_empty());
    }
}

#[test]
fn too_much_that_waits_ends_the_response() {
    for client in CLIENTS {
        let mut play = Play::new(context(client, settings()));
        play.feed(say("<function=Bash>\n<parameter=command>\n").as_bytes());
        let line = say(&"x".repeat(500_000));
        for _ in 0..12 {
            play.feed(line.as_bytes());
        }
        assert!(play.guard.has_failed(), "the limit on held data holds");
    }
}

#[test]
fn a_pair_without_a_bridge_has_none() {
    assert_eq!(bridged(ANTHROPIC, "anthropic"), Some(ANTHROPIC));
    assert!(bridged(ANTHROPIC, "responses").is_none());
    assert!(bridged(holdgate_core::OLLAMA, "chat").is_none());
}

#[test]
fn errors_are_told_in_the_clients_protocol() {
    let error = br#"{"object":"error","message":"no such model","code":404}"#;
    for client in CLIENTS {
        let bridge = bridged(client, "chat").unwrap();
        let body = holdgate_core::inert_value(error).unwrap();
        let told: Value = serde_json::from_slice(&bridge.upstream_error(404, body)).unwrap();
        assert_eq!(told["error"]["message"], "no such model", "{told}");
    }
    let events = readers::events(
        guarded(
            ANTHROPIC,
            &[b"data: {\"error\":{\"message\":\"broken\"}}\n\n"],
        )
        .text()
        .as_bytes(),
    );
    assert_eq!(events[0]["error"]["message"], "broken");
}

/// Pieces of streams, honest and hostile.
fn pieces() -> impl Strategy<Value = Vec<String>> {
    let call = |index: u64, id: &str, name: &str, arguments: &str| {
        let function = json!({"name": name, "arguments": arguments});
        chunk(
            json!({"index": 0, "delta": {"tool_calls": [{"index": index, "id": id, "type": "function", "function": function}]}}),
        )
    };
    let more = |index: u64, arguments: &str| {
        chunk(
            json!({"index": 0, "delta": {"tool_calls": [{"index": index, "function": {"arguments": arguments}}]}}),
        )
    };
    let all = vec![
        say("Hello. "),
        say("<tool_call>"),
        say("\n<function=Bash>\n<parameter=command>\n"),
        say("ls"),
        say("rm -rf ~"),
        say("\n</parameter>\n</function>\n</tool_call>"),
        say("{\"name\":\"Bash\",\"arguments\":{\"command\":\"pwd\"}}"),
        say("{\"name\":\"Evil\",\"arguments\":{}}</tool_call>"),
        say("<think>"),
        say("</think>"),
        say("```\n"),
        chunk(json!({"index": 0, "delta": {"reasoning_content": "Hm."}})),
        call(0, "call_a", "Bash", "{\"command\":\"ls\"}"),
        call(1, "call_b", "Bash", "{\"command\":"),
        more(1, "\"id\"}"),
        call(1, "call_a", "Bash", "{\"command\":\"rm -rf ~\"}"),
        call(2, "", "Evil", "{\"command\":\"ls\"}"),
        call(3, "call c", "apply_patch", "{\"input\":\"*** Begin Patch\"}"),
        call(4, "call_d", "Bash", "{\"command\":\"ls\",\"command\":\"rm\"}"),
        chunk(json!({"index": 0, "delta": {"function_call": {"name": "Bash", "arguments": "{\"command\":\"ls\"}"}}})),
        chunk(json!({"index": 1, "delta": {"tool_calls": [{"index": 0, "id": "x", "function": {"name": "Bash", "arguments": "{}"}}]}})),
        chunk(json!({"index": 0, "delta": {"type": "tool_use", "content": [{"text": "hi"}, {"type": "tool_use", "name": "Bash"}]}})),
        chunk(json!({"index": 0, "delta": {}, "finish_reason": "tool_calls"})),
        chunk(json!({"index": 0, "delta": {}, "finish_reason": "length"})),
        "data: [DONE]\n\n".to_owned(),
        ": comment\n\n".to_owned(),
        "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"Bash\",\"input\":{}}}\n\n".to_owned(),
        "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":2}}\n\n".to_owned(),
        "data: {\"error\":\"x\"}\n\n".to_owned(),
        "data: {]\n\n".to_owned(),
    ];
    prop::collection::vec(prop::sample::select(all), 0..14)
}

proptest! {
    #[test]
    fn no_stream_yields_a_call_that_is_not_cleared(
        pieces in pieces(),
        cuts in prop::collection::vec(any::<usize>(), 0..6),
        hold_all in any::<bool>(),
    ) {
        let text = pieces.concat();
        for client in CLIENTS {
            let settings = GuardSettings { hold_all, ..settings() };
            let mut whole = Play::new(context(client, settings.clone()));
            whole.feed(text.as_bytes());
            whole.finish();
            check_calls(client, &whole.seen);
            let mut split = Play::new(context(client, settings));
            for piece in chunks(text.as_bytes(), &cuts) {
                split.feed(piece);
            }
            split.finish();
            prop_assert_eq!(split.seen.text(), whole.seen.text());
        }
    }
}
