//! `OpenAI` Chat Completions, Ollama and Gemini through the proxy, with the scripted model.

use crate::setup::{Guarded, RawUpstream, has, lacks, post};
use holdgate::config::OtherUpstreams;
use holdgate::eval::{gemini, loose};

const CHAT: &str = r#"{"model":"m","stream":true,"messages":[{"role":"user","content":"go"}],
    "tools":[{"type":"function","function":{"name":"Bash","parameters":{"required":["command"]}}}]}"#;

/// The path and the request of each protocol, streamed and not.
fn ways() -> [(&'static str, String); 4] {
    let whole = CHAT.replace("true", "false");
    [
        ("/v1/chat/completions", CHAT.to_owned()),
        ("/v1/chat/completions", whole.clone()),
        ("/api/chat", CHAT.to_owned()),
        ("/api/chat", whole),
    ]
}

#[tokio::test]
async fn calls_are_judged_in_every_protocol() {
    let guarded = Guarded::model(|_| {});
    for (number, (path, request)) in ways().into_iter().enumerate() {
        let play = async |scenario: &str| {
            let url = guarded.url(&format!("/x/{scenario}@{number}{path}"));
            let answer = post(&url, &request).await;
            assert_eq!(answer.status, 200, "{path}: {}", answer.text());
            answer
        };
        let allowed = play("tool").await;
        assert_eq!(loose::calls(&allowed.body).len(), 1, "{}", allowed.text());
        let refused = play("rm_home").await;
        assert!(loose::calls(&refused.body).is_empty(), "{}", refused.text());
        has(&refused.text(), "[holdgate] The call to `Bash` was blocked");
        has(&refused.text(), "recursive-delete-outside-project");
        let both = play("parallel").await;
        assert_eq!(loose::calls(&both.body).len(), 2, "{}", both.text());
    }
    has(&guarded.ledger(), "recursive-delete-outside-project");
}

#[tokio::test]
async fn calls_are_judged_in_every_form_of_gemini() {
    let guarded = Guarded::model(|_| {});
    let request = r#"{"contents":[{"role":"user","parts":[{"text":"go"}]}],
        "tools":[{"functionDeclarations":[{"name":"Bash","parameters":{"required":["command"]}}]}]}"#;
    let key = "AIza-canary-in-a-query";
    for (number, method) in [
        "generateContent?",
        "streamGenerateContent?alt=sse&",
        "streamGenerateContent?",
    ]
    .into_iter()
    .enumerate()
    {
        let play = async |scenario: &str| {
            let path = format!("/x/{scenario}@{number}/v1beta/models/m:{method}key={key}");
            let answer = post(&guarded.url(&path), request).await;
            assert_eq!(answer.status, 200, "{path}: {}", answer.text());
            answer
        };
        let allowed = play("tool").await;
        assert_eq!(gemini::calls(&allowed.body).len(), 1, "{}", allowed.text());
        has(&allowed.text(), "\"thoughtSignature\":\"ZmFrZQ==\"");
        let refused = play("rm_home").await;
        assert!(
            gemini::calls(&refused.body).is_empty(),
            "{}",
            refused.text()
        );
        has(&refused.text(), "[holdgate] The call to `Bash` was blocked");
        let both = play("parallel").await;
        assert_eq!(gemini::calls(&both.body).len(), 2, "{}", both.text());
        let path = format!("/x/tool/v1beta/models/m:{method}key={key}");
        let answer = post(&guarded.url(&path), "{").await;
        assert_eq!(answer.status, 400);
        has(
            &answer.text(),
            r#"{"error":{"code":400,"message":"[holdgate]"#,
        );
        lacks(&answer.text(), key);
    }
    has(&guarded.ledger(), "recursive-delete-outside-project");
    lacks(&guarded.ledger(), key);
    let tokens = post(&guarded.url("/x/tool/v1beta/models/m:countTokens"), request).await;
    has(&tokens.text(), "totalTokens");
    let assist = post(&guarded.url("/v1internal:streamGenerateContent"), request).await;
    has(&assist.text(), "cannot guard the protocol");
}

#[tokio::test]
async fn a_stream_that_breaks_off_ends_with_an_error_of_its_protocol() {
    let guarded = Guarded::model(|_| {});
    for (number, (path, request)) in [&ways()[0], &ways()[2]].into_iter().enumerate() {
        let url = guarded.url(&format!("/x/cut_clean_tool@{number}{path}"));
        let answer = post(&url, request).await;
        assert!(loose::calls(&answer.body).is_empty(), "{}", answer.text());
        has(&answer.text(), "\"error\":");
        lacks(&answer.text(), "event:");
    }
}

#[tokio::test]
async fn our_own_errors_have_the_form_of_the_protocol() {
    let guarded = Guarded::model(|_| {});
    let answer = post(&guarded.url("/x/tool/v1/chat/completions"), "{").await;
    assert_eq!(answer.status, 400);
    has(&answer.text(), r#"{"error":{"message":"[holdgate]"#);
    let answer = post(&guarded.url("/x/tool/api/chat"), "{").await;
    has(&answer.text(), r#"{"error":"[holdgate]"#);
    let answer = post(&guarded.url("/api/generate"), "{}").await;
    assert_eq!(answer.status, 400);
    has(&answer.text(), "cannot guard the protocol");
}

#[tokio::test]
async fn each_provider_has_an_upstream_of_its_own() {
    let head = "200 OK\r\ncontent-type: application/json";
    let chat = r#"{"choices":[{"index":0,"message":{"content":"from openai"}}]}"#;
    let openai = RawUpstream::with(head, chat).await;
    let ollama =
        RawUpstream::with(head, r#"{"message":{"content":"from ollama"},"done":true}"#).await;
    let gemini = RawUpstream::with(
        head,
        r#"{"candidates":[{"content":{"parts":[{"text":"from gemini"}]}}]}"#,
    )
    .await;
    let uri = |upstream: &RawUpstream| format!("http://{}", upstream.address).parse().unwrap();
    let others = OtherUpstreams {
        openai: uri(&openai),
        ollama: uri(&ollama),
        gemini: uri(&gemini),
    };
    let guarded = Guarded::model(|config| config.other_upstreams = Some(others));
    let whole = CHAT.replace("true", "false");
    let answer = post(&guarded.url("/v1/chat/completions"), &whole).await;
    has(&answer.text(), "from openai");
    let answer = post(&guarded.url("/api/chat"), &whole).await;
    has(&answer.text(), "from ollama");
    for path in [
        "/v1beta/models/g:generateContent",
        "/v1beta/models/g:countTokens",
    ] {
        let answer = post(&guarded.url(path), r#"{"contents":[]}"#).await;
        has(&answer.text(), "from gemini");
    }
    let answer = post(&guarded.url("/v1/messages"), &whole).await;
    has(&answer.text(), "\"type\":\"message\"");
}
