//! Gemini's protocol under guard where it comes whole: as one answer, and as a list of chunks.

use crate::gemini::{asked, call, context, short};
use crate::guarding::{settings, whole};
use holdgate_core::{GuardSettings, OnBlock};
use serde_json::{Value, json};

fn answer(parts: Value) -> Value {
    json!({"candidates": [{"content": {"parts": parts, "role": "model"}, "finishReason": "STOP", "index": 0}],
           "usageMetadata": {"totalTokenCount": 67}, "modelVersion": "m"})
}

#[test]
fn calls_are_put_back_or_replaced_in_their_places() {
    let signed = json!({"functionCall": {"id": "a", "name": "bash", "args": {"command": "ls"}}, "thoughtSignature": "QUJD"});
    let body = answer(json!([{"text": "One."}, signed, call("rm -rf ~"), {"text": "Two."}]));
    let got = whole(context(settings()), &body).unwrap();
    assert_eq!(
        short(std::slice::from_ref(&got)),
        [
            "0 say \"One.\"",
            "0 call a \"bash\" {\"command\":\"ls\"} signed QUJD",
            "0 say \"\\n\\n[holdgate] The call to `bash`\"",
            "0 say \"Two.\"",
            "0 end STOP",
        ]
    );
    assert_eq!(got["usageMetadata"], body["usageMetadata"]);
    let go_on = GuardSettings {
        on_block: OnBlock::Continue,
        ..settings()
    };
    let got = whole(context(go_on), &answer(json!([call("rm -rf ~")]))).unwrap();
    let parts = &got["candidates"][0]["content"]["parts"];
    assert_eq!(parts[1]["functionCall"]["args"], json!({}));
}

#[test]
fn a_list_of_chunks_is_judged_as_a_whole() {
    let body = json!([
        answer(json!([{"text": "a"}])),
        answer(json!([call("ls"), call("rm -rf ~")])),
        answer(json!([{"functionCall": {"name": "bash", "willContinue": true}}])),
        answer(json!([{"text": "b"}]))
    ]);
    let got = whole(context(settings()), &body).unwrap();
    let chunks = got.as_array().unwrap();
    assert_eq!(chunks.len(), 4);
    assert_eq!(
        short(chunks),
        [
            "0 say \"a\"",
            "0 end STOP",
            "0 call - \"bash\" {\"command\":\"ls\"}",
            "0 say \"\\n\\n[holdgate] The call to `bash`\"",
            "0 end STOP",
            "0 say \"\\n\\n[holdgate] The call to `bash`\"",
            "0 end STOP",
            "0 say \"b\"",
            "0 end STOP",
        ]
    );
    let inert = json!([answer(json!([{"text": "a"}])), {"error": {"code": 503, "message": "x"}}]);
    assert_eq!(whole(context(settings()), &inert).unwrap(), inert);
}

#[test]
fn bodies_without_calls_pass_and_others_are_refused() {
    for inert in [
        answer(json!([{"text": "a"}])),
        json!({"promptFeedback": {"blockReason": "SAFETY"}}),
        json!({"error": {"code": 400, "message": "x", "status": "INVALID_ARGUMENT"}}),
        json!({"candidates": [{"finishReason": "MAX_TOKENS", "content": {}}]}),
    ] {
        assert_eq!(whole(context(settings()), &inert).unwrap(), inert);
    }
    for hostile in [
        json!({"candidates": [{"content": {"parts": [{"Function_Call": {"name": "bash"}}]}}]}),
        json!({"response": answer(json!([call("ls")]))}),
        json!([[answer(json!([call("ls")]))]]),
        json!("x"),
    ] {
        assert!(whole(context(settings()), &hostile).is_err(), "{hostile}");
    }
    let code = answer(json!([{"executableCode": {"language": "PYTHON", "code": "1"}}]));
    let got = whole(context(settings()), &code).unwrap();
    assert!(
        got.to_string()
            .contains("A block of the kind `executableCode`")
    );
    let declared = asked(&json!({"tools": [{"codeExecution": {}}]}));
    assert_eq!(whole(declared, &code).unwrap(), code);
}
