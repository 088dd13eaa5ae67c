//! Gemini's protocol under guard, streamed as events: what leaves, when, and in which form.

use crate::chat;
use crate::gemini_client;
use crate::guarding::{Play, Seen, settings};
use holdgate_core::{GEMINI, GuardSettings, OnBlock, ResponseContext};
use serde_json::{Value, json};

pub(crate) fn context(settings: GuardSettings) -> ResponseContext {
    chat::context(GEMINI, settings)
}

/// The context of a request with this body.
pub(crate) fn asked(body: &Value) -> ResponseContext {
    let read = GEMINI.read_request(body.to_string().into()).unwrap();
    ResponseContext {
        request: read.facts,
        ..context(settings())
    }
}

pub(crate) fn guarded(context: ResponseContext, bytes: &[u8]) -> Seen {
    let mut play = Play::new(context);
    play.feed(bytes);
    play.finish();
    play.seen
}

/// A chunk with this candidate.
pub(crate) fn chunk(candidate: Value) -> Vec<u8> {
    let chunk = json!({"candidates": [candidate], "usageMetadata": {"totalTokenCount": 67},
                       "modelVersion": "m", "responseId": "r"});
    format!("data: {chunk}\r\n\r\n").into_bytes()
}

pub(crate) fn parts(parts: Value) -> Vec<u8> {
    chunk(json!({"content": {"parts": parts, "role": "model"}, "index": 0}))
}

pub(crate) fn say(text: &str) -> Vec<u8> {
    parts(json!([{"text": text}]))
}

pub(crate) fn call(command: &str) -> Value {
    json!({"functionCall": {"name": "bash", "args": {"command": command}}})
}

pub(crate) fn end() -> Vec<u8> {
    chunk(
        json!({"content": {"parts": [{"text": ""}], "role": "model"}, "finishReason": "STOP", "index": 0}),
    )
}

/// The chunks that were sent.
pub(crate) fn values(seen: &Seen) -> Vec<Value> {
    let text = seen.text();
    let data = text.split_terminator("\n\n").map(|frame| {
        let data = frame.strip_prefix("data: ").unwrap();
        assert!(!data.contains(['\n', '\r']), "{frame}");
        serde_json::from_str(data).unwrap()
    });
    data.collect()
}

/// What was sent, in short: texts, calls, reasons.
pub(crate) fn short(values: &[Value]) -> Vec<String> {
    let mut said = Vec::new();
    let none = Vec::new();
    for value in values {
        if value["error"].is_object() {
            said.push(format!("error {}", value["error"]["code"]));
        }
        for candidate in value["candidates"].as_array().unwrap_or(&none) {
            let at = candidate["index"].as_u64().unwrap_or_default();
            for part in candidate["content"]["parts"].as_array().unwrap_or(&none) {
                let mut what = match part["text"].as_str() {
                    Some("") => continue,
                    Some(text) => {
                        let text = text.split(" was blocked").next().unwrap();
                        format!("{at} say {text:?}")
                    }
                    None => format!("{at} {part}"),
                };
                if let (Some(call), None) = (part["functionCall"].as_object(), part.get("text")) {
                    let id = call.get("id").and_then(Value::as_str).unwrap_or("-");
                    what = format!("{at} call {id} {} {}", call["name"], call["args"]);
                }
                if part["thought"] == true {
                    what.push_str(" thought");
                }
                if let Some(signature) = part["thoughtSignature"].as_str() {
                    what.push_str(&format!(" signed {signature}"));
                }
                said.push(what);
            }
            if let Some(reason) = candidate["finishReason"].as_str() {
                said.push(format!("{at} end {reason}"));
            }
        }
    }
    said
}

#[track_caller]
pub(crate) fn check(frames: &[Vec<u8>], expected: &[&str]) {
    check_in(&|| context(settings()), frames, expected);
}

#[track_caller]
fn check_in(context: &dyn Fn() -> ResponseContext, frames: &[Vec<u8>], expected: &[&str]) {
    let bytes = frames.concat();
    let seen = guarded(context(), &bytes);
    assert_eq!(short(&values(&seen)), expected, "{}", seen.text());
    for size in [1, 7] {
        let mut play = Play::new(context());
        for piece in bytes.chunks(size) {
            play.feed(piece);
        }
        play.finish();
        assert_eq!(play.seen.text(), seen.text());
    }
}

#[test]
fn text_leaves_at_once_and_keeps_its_bytes() {
    let mut play = Play::new(context(settings()));
    let text = String::from_utf8(say("Hi")).unwrap().replace("\r\n", "\n");
    play.feed(text.as_bytes());
    assert_eq!(play.seen.text(), text);
    play.feed(&end());
    play.finish();
    assert!(play.seen.records.is_empty(), "{:?}", play.seen.decisions());
    assert!(!play.guard.has_failed());
}

#[test]
fn a_chunk_of_text_and_calls_leaves_in_pieces_and_in_order() {
    let mixed = chunk(json!({
        "content": {"parts": [
            {"text": "Hm.", "thought": true, "thoughtSignature": "c2ln+/=="},
            {"text": "First."}, call("ls"),
            {"functionCall": {"id": "b", "name": "bash", "args": {"command": "pwd"}}, "thoughtSignature": "QUJD"},
            {"text": "Last."}], "role": "model"},
        "finishReason": "STOP", "index": 0, "safetyRatings": []}));
    let frames = [mixed];
    check(
        &frames,
        &[
            "0 say \"Hm.\" thought signed c2ln+/==",
            "0 say \"First.\"",
            "0 call - \"bash\" {\"command\":\"ls\"}",
            "0 call b \"bash\" {\"command\":\"pwd\"} signed QUJD",
            "0 say \"Last.\"",
            "0 end STOP",
        ],
    );
    let seen = guarded(context(settings()), &frames.concat());
    assert_eq!(
        gemini_client::meaning(&seen.bytes),
        gemini_client::meaning(&frames.concat())
    );
    let sent = values(&seen);
    assert_eq!(sent[1]["responseId"], "r");
    assert_eq!(sent.last().unwrap()["usageMetadata"]["totalTokenCount"], 67);
}

#[test]
fn a_refused_call_becomes_a_text_of_its_candidate() {
    let frames = [
        say("So."),
        parts(json!([call("rm -rf ~"), call("rm -rf ~")])),
        end(),
    ];
    let refused = "[holdgate] The call to `bash`";
    check(
        &frames,
        &[
            "0 say \"So.\"",
            &format!("0 say {:?}", format!("\n\n{refused}")),
            &format!("0 say {:?}", format!("\n\n{refused}")),
            "0 end STOP",
        ],
    );
    let go_on = GuardSettings {
        on_block: OnBlock::Continue,
        ..settings()
    };
    let seen = guarded(context(go_on), &frames.concat());
    let calls = gemini_client::calls(&seen.bytes);
    assert_eq!(calls.len(), 2, "{}", seen.text());
    let inert = |call: &crate::client::Assembled| {
        call.id.starts_with("toolu_holdgate_") && call.input == Some(json!({}))
    };
    assert!(calls.iter().all(inert));
}

#[test]
fn both_spellings_are_calls_and_others_end_the_stream() {
    let snake = br#"data: {"candidates":[{"content":{"parts":[{"function_call":{"name":"bash","args":{"command":"ls"}},"thought_signature":"QUJD"}]},"finish_reason":"STOP"}]}

"#;
    let seen = guarded(context(settings()), snake);
    assert_eq!(gemini_client::calls(&seen.bytes).len(), 1);
    assert!(
        seen.text()
            .contains(r#""functionCall":{"name":"bash","args":{"command":"ls"}}"#)
    );
    assert!(seen.text().contains(r#""thought_signature":"QUJD""#));
    assert!(!seen.text().contains("error"), "{}", seen.text());
    for part in [
        r#"{"FunctionCall":{"name":"bash","args":{}}}"#,
        r#"{"functionCall":{"name":"bash"},"function_call":{"name":"bash"}}"#,
        r#"{"functionCall":{"name":"bash","name":"x"}}"#,
        r#"{"functionCall":{"name":"bash","Args":{"command":"ls"}}}"#,
        r#"{"functionCall":[{"name":"bash"}]}"#,
    ] {
        let frame =
            format!("data: {{\"candidates\":[{{\"content\":{{\"parts\":[{part}]}}}}]}}\n\n");
        let seen = guarded(context(settings()), frame.as_bytes());
        assert!(gemini_client::calls(&seen.bytes).is_empty(), "{part}");
        assert_eq!(
            seen.decisions(),
            ["stream-protocol ResponseEnded"],
            "{part}"
        );
        assert!(seen.text().contains("error"), "{}", seen.text());
    }
}

#[test]
fn calls_hidden_outside_of_parts_end_the_stream() {
    for chunk in [
        r#"{"candidates":[{"content":{"role":"model"},"functionCall":{"name":"bash"}}]}"#,
        r#"{"candidates":[{"groundingMetadata":{"x":[{"function_call":{}}]}}]}"#,
        r#"{"response":{"candidates":[{"content":{"parts":[{"text":"x"}]}}]}}"#,
        r#"{"candidates":[],"automaticFunctionCallingHistory":[{"parts":[{"functionCall":{}}]}]}"#,
        r#"{"error":{"code":500},"candidates":[{"content":{"parts":[{"text":"x"}]}}]}"#,
        r#"{"candidates":{"content":{"parts":[{"functionCall":{}}]}}}"#,
        r#"{"candidates":[{"content":{"parts":{"functionCall":{}}}}]}"#,
        r#"{"candidates":[{"content":[{"parts":[]}]}]}"#,
        r#"{"candidates":[{"index":"0"}]}"#,
        "[]",
    ] {
        let seen = guarded(context(settings()), format!("data: {chunk}\n\n").as_bytes());
        assert_eq!(
            seen.decisions(),
            ["stream-protocol ResponseEnded"],
            "{chunk}"
        );
    }
}

#[test]
fn candidates_have_calls_of_their_own() {
    let both = json!({"candidates": [
        {"content": {"parts": [{"text": "a"}, call("rm -rf ~")]}, "finishReason": "STOP"},
        {"content": {"parts": [call("ls")]}, "finishReason": "STOP", "index": 1}]});
    check(
        &[format!("data: {both}\n\n").into_bytes()],
        &[
            "0 say \"a\"",
            "0 say \"\\n\\n[holdgate] The call to `bash`\"",
            "0 end STOP",
            "1 call - \"bash\" {\"command\":\"ls\"}",
            "1 end STOP",
        ],
    );
}

#[test]
fn a_call_is_held_to_the_end_if_all_are() {
    let hold_all = GuardSettings {
        hold_all: true,
        ..settings()
    };
    let mut play = Play::new(context(hold_all));
    play.feed(
        &[
            parts(json!([call("ls")])),
            parts(json!([call("rm -rf ~")])),
            end(),
        ]
        .concat(),
    );
    assert!(play.seen.bytes.is_empty());
    play.finish();
    assert_eq!(gemini_client::calls(&play.seen.bytes).len(), 1);
    assert!(
        play.seen.text().contains("finishReason"),
        "{}",
        play.seen.text()
    );
    assert!(!play.guard.has_failed());
}

#[test]
fn streams_end_as_they_must() {
    let blocked = br#"data: {"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{}}

"#;
    let seen = guarded(context(settings()), blocked);
    assert!(seen.records.is_empty() && seen.text().contains("SAFETY"));
    check(
        &[say("Hi"), parts(json!([call("ls")]))],
        &[
            "0 say \"Hi\"",
            "0 call - \"bash\" {\"command\":\"ls\"}",
            "error 503",
        ],
    );
    let error = b"data: {\"error\":{\"code\":500,\"message\":\"x\",\"status\":\"INTERNAL\"}}\n\n";
    check(&[say("Hi"), error.to_vec()], &["0 say \"Hi\"", "error 500"]);
    check(
        &[say("Hi"), end(), b"data: [DONE]\n\n".to_vec()],
        &["0 say \"Hi\"", "0 end STOP"],
    );
    // Older models repeat the reason in every chunk.
    let each =
        chunk(json!({"content": {"parts": [{"text": "a"}, call("ls")]}, "finishReason": "STOP"}));
    let seen = guarded(context(settings()), &[each.clone(), each].concat());
    assert_eq!(
        gemini_client::calls(&seen.bytes).len(),
        2,
        "{}",
        seen.text()
    );
}

#[test]
fn a_waiting_client_gets_chunks_that_add_nothing() {
    let keep_alive = GEMINI.keep_alive().unwrap();
    let text = String::from_utf8(keep_alive.to_vec()).unwrap();
    assert_eq!(
        text,
        "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"\"}],\"role\":\"model\"},\"index\":0}]}\n\n"
    );
}
