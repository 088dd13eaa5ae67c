//! Kinds of part in Gemini's answers: what passes, and what is refused.

use crate::gemini::{asked, call, check, context, end, guarded, parts, say};
use crate::gemini_client;
use crate::guarding::settings;
use holdgate_core::GuardSettings;
use serde_json::{Value, json};
use std::sync::Arc;

#[test]
fn what_is_not_known_is_refused_and_media_pass() {
    let refused = |kind: &str| format!("0 say \"[holdgate] A block of the kind `{kind}`\"");
    for (part, expected) in [
        (
            json!({"inlineData": {"mimeType": "image/png", "data": "QUJD"}}),
            None,
        ),
        (json!({"text": "x", "partMetadata": {"a": "b"}}), None),
        (json!({"thoughtSignature": "QUJD"}), None),
        (
            json!({"inlineData": {"mimeType": "text/x-sh", "data": "QUJD"}}),
            Some("inlineData"),
        ),
        (
            json!({"inlineData": {"mimeType": "image/png", "command": "x"}}),
            Some("inlineData"),
        ),
        (json!({"fileData": {"fileUri": "x"}}), Some("fileData")),
        (
            json!({"functionResponse": {"name": "x"}}),
            Some("functionResponse"),
        ),
        (
            json!({"executableCode": {"language": "PYTHON", "code": "1"}}),
            Some("executableCode"),
        ),
        (
            json!({"codeExecutionResult": {"output": "1"}}),
            Some("codeExecutionResult"),
        ),
        (
            json!({"toolCall": {"toolType": "GOOGLE_SEARCH_WEB"}}),
            Some("toolCall"),
        ),
        (json!({"shellCall": {"command": "ls"}}), Some("shellCall")),
        (
            json!({"text": "x", "shell": {"command": "ls"}}),
            Some("shell"),
        ),
    ] {
        let frames = [parts(json!([part.clone()])), end()];
        if let Some(kind) = expected {
            check(&frames, &[&refused(kind), "0 end STOP"]);
        } else {
            let seen = guarded(context(settings()), &frames.concat());
            let sent = gemini_client::meaning(&seen.bytes);
            assert_eq!(sent, gemini_client::meaning(&frames.concat()), "{part}");
        }
    }
}

#[test]
fn the_provider_runs_what_the_request_declares() {
    let code = json!({"executableCode": {"language": "PYTHON", "code": "print(1)"}});
    let result = json!({"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}});
    let search =
        json!({"toolCall": {"toolType": "GOOGLE_SEARCH_WEB", "args": {"q": "x"}, "id": "t"}});
    let frames = [parts(json!([code, result, search])), end()];
    let declared = || asked(&json!({"tools": [{"code_execution": {}}, {"googleSearch": {}}]}));
    let seen = guarded(declared(), &frames.concat());
    let sent = gemini_client::meaning(&seen.bytes);
    assert_eq!(
        sent,
        gemini_client::meaning(&frames.concat()),
        "{}",
        seen.text()
    );
    assert_eq!(seen.cleared().len(), 2, "they are recorded");
    let nothing = guarded(asked(&json!({})), &frames.concat());
    assert!(gemini_client::calls(&nothing.bytes).is_empty());

    // What it runs holds no call for the client.
    let mut code = json!({"executableCode": {"language": "PYTHON", "code": "print(1)"}});
    let mut search = json!({"toolCall": {"toolType": "GOOGLE_SEARCH_WEB"}});
    code["executableCode"]["functionCall"] = call("rm -rf ~")["functionCall"].clone();
    search["toolCall"]["parts"] = json!([call("rm -rf ~")]);
    for hiding in [code, search] {
        let frames = [parts(json!([hiding])), end()];
        let seen = guarded(declared(), &frames.concat());
        assert!(!seen.text().contains("rm -rf"), "{}", seen.text());
    }
}

#[test]
fn arguments_in_pieces_are_refused_as_one_call() {
    let piece = |call: Value| parts(json!([{"functionCall": call}]));
    let path = |text: &str| json!([{"jsonPath": "$.command", "stringValue": text}]);
    check(
        &[
            say("So."),
            piece(json!({"name": "bash", "willContinue": true})),
            piece(json!({"partialArgs": path("rm -r"), "willContinue": true})),
            piece(json!({"partialArgs": path("f ~"), "willContinue": true})),
            piece(json!({})),
            parts(json!([call("ls")])),
            piece(json!({"name": "bash", "partialArgs": path("ls")})),
            end(),
        ],
        &[
            "0 say \"So.\"",
            "0 say \"\\n\\n[holdgate] The call to `bash`\"",
            "0 call - \"bash\" {\"command\":\"ls\"}",
            "0 say \"\\n\\n[holdgate] The call to `bash`\"",
            "0 end STOP",
        ],
    );
}

#[test]
fn inert_kinds_can_be_declared() {
    let inert = GuardSettings {
        inert_blocks: Arc::from(["weather".to_owned()]),
        ..settings()
    };
    let frames = [
        parts(json!([{"weather": {"t": 3}}, {"weather": {"functionCall": {}}}])),
        end(),
    ];
    let seen = guarded(context(inert), &frames.concat());
    assert_eq!(seen.decisions(), ["unknown-block Explained"]);
    assert!(
        seen.text().contains(r#"{"weather":{"t":3}}"#),
        "{}",
        seen.text()
    );
}
