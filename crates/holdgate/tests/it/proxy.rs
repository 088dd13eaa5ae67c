//! The proxy on real sockets.

use crate::client::{calls, summary};
use crate::setup::{Guarded, REQUEST, RawUpstream, begin, collect, has, lacks, model, post, send};
use holdgate::ledger::verify;
use http_body_util::{BodyExt as _, Full};
use hyper::{Request, StatusCode};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

#[tokio::test]
async fn text_and_thoughts_come_through_byte_for_byte() {
    let model = model();
    let guarded = Guarded::start(model.address(), |_| {});
    for scenario in ["text", "think_blk", "blk_text"] {
        let path = format!("/x/{scenario}@same/v1/messages");
        let url = format!("http://{}/x/{scenario}@other/v1/messages", model.address());
        let direct = post(&url, REQUEST).await;
        let through = guarded.post(&path).await;
        let unnumbered = |text: String| {
            text.split("msg_fake")
                .map(|p| p.chars().skip(4).collect())
                .collect::<Vec<String>>()
        };
        assert_eq!(
            unnumbered(through.text()),
            unnumbered(direct.text()),
            "{scenario}"
        );
        assert_eq!(
            through.headers["content-type"],
            direct.headers["content-type"]
        );
    }
}

#[tokio::test]
async fn a_call_is_cleared_and_recorded_before_it_leaves() {
    let guarded = Guarded::model(|_| {});
    let answer = guarded.post("/x/tool/v1/messages?beta=true").await;
    assert_eq!(calls(&answer.body).len(), 1);
    has(
        &guarded.ledger(),
        r#""verdict":"allow","action":"sent","subject":"call","tool":"Bash""#,
    );
    assert_eq!(verify(guarded.dir.path()).unwrap().records, 1);
}

#[tokio::test]
async fn request_bytes_go_upstream_untouched_and_secrets_stay_out_of_the_ledger() {
    let upstream = RawUpstream::with(
        "200 OK\r\ncontent-type: application/json",
        r#"{"type":"message","content":[{"type":"robot"}]}"#,
    )
    .await;
    let guarded = Guarded::start(upstream.address, |_| {});
    let body =
        "{ \"messages\" : [{\"role\":\"user\",\"content\":\"\\u00e9 \\ud83d\"}],\n\t\"x\":1.50 }";
    let request = Request::post(guarded.url("/s/abc/v1/messages?beta=true"))
        .header("x-api-key", "sk-very-secret")
        .header("authorization", "Bearer also-secret")
        .header("anthropic-beta", "a,b")
        .header("accept-encoding", "gzip, br");
    send(request, body).await;
    let sent = &upstream.requests()[0];
    let (head, sent_body) = sent.split_once("\r\n\r\n").unwrap();
    assert_eq!(sent_body, body);
    assert!(
        head.starts_with("POST /v1/messages?beta=true HTTP/1.1\r\n"),
        "{head}"
    );
    for line in [
        "x-api-key: sk-very-secret",
        "anthropic-beta: a,b",
        "accept-encoding: identity",
        &format!("host: {}", upstream.address),
    ] {
        assert!(head.lines().any(|l| l == line), "{line} is not in {head}");
    }
    let ledger = guarded.ledger();
    has(&ledger, "\"session\":\"abc\"");
    lacks(&ledger, "secret");
}

#[tokio::test]
async fn what_carries_no_calls_passes_through() {
    let model = model();
    let guarded = Guarded::start(model.address(), |_| {});
    let count = guarded.post("/v1/messages/count_tokens").await;
    assert_eq!(count.text(), r#"{"input_tokens":25}"#);
    let models = send(Request::get(guarded.url("/v1/models")), "").await;
    assert!(models.text().contains("fake-model"));
    let head = send(Request::head(guarded.url("/")), "").await;
    assert_eq!(head.status, StatusCode::NOT_FOUND);
    let limited = guarded.post("/x/http429/v1/messages").await;
    assert_eq!(
        (
            limited.status.as_u16(),
            limited.headers["retry-after"].to_str().unwrap()
        ),
        (429, "1")
    );
}

#[tokio::test]
async fn answers_that_cannot_be_guarded_are_refused_with_400() {
    for (head, body, rule) in [
        (
            "307 Temporary\r\nlocation: http://127.0.0.1:1/",
            "",
            "upstream-redirect",
        ),
        (
            "200 OK\r\ncontent-type: text/event-stream\r\ncontent-encoding: gzip",
            "x",
            "unreadable-response",
        ),
        (
            "200 OK\r\ncontent-type: text/html",
            "<p>",
            "unreadable-response",
        ),
        ("200 OK", "{}", "unreadable-response"),
        (
            "200 OK\r\ncontent-type: application/json",
            r#"{"type":"message","content":[],"content":[]}"#,
            "stream-protocol",
        ),
    ] {
        let upstream = RawUpstream::with(head, body).await;
        let guarded = Guarded::start(upstream.address, |_| {});
        let answer = guarded.post("/v1/messages").await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{head}");
        has(&answer.text(), &format!("(rule {rule})"));
        has(&guarded.ledger(), rule);
    }
}

#[tokio::test]
async fn encodings_that_clients_undo_are_refused() {
    let message = r#"{"type":"message","content":[]}"#;
    for head in [
        "content-type: text/event-stream\r\ncontent-encoding: identity\r\ncontent-encoding: deflate",
        "content-type: application/json; charset=utf-7",
        "content-type: application/json\r\ncontent-type: text/event-stream",
    ] {
        let upstream = RawUpstream::with(&format!("200 OK\r\n{head}"), message).await;
        let guarded = Guarded::start(upstream.address, |_| {});
        let answer = guarded.post("/v1/messages").await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{head}");
    }
    let head =
        "200 OK\r\ncontent-type: application/json; charset=\"UTF-8\"\r\ncontent-encoding: identity";
    let upstream = RawUpstream::with(head, message).await;
    let guarded = Guarded::start(upstream.address, |_| {});
    let answer = guarded.post("/v1/messages").await;
    assert_eq!(
        (answer.status, answer.text().as_str()),
        (StatusCode::OK, message)
    );
}

#[tokio::test]
async fn other_protocols_and_answers_that_could_carry_calls_are_refused() {
    let call = r#"{"output":{"message":{"content":[{"toolUse":{"name":"x","input":{}}}]}}}"#;
    for (kind, body, path) in [
        (
            "text/event-stream; charset=utf-8",
            "data: x\n\n",
            "/v1/surprise",
        ),
        ("application/vnd.amazon.eventstream", "x", "/v1/surprise"),
        ("application/x-ndjson", "{}", "/v1/surprise"),
        ("application/json", call, "/v1/surprise"),
        (
            "application/json",
            r#"{"data":[{"type":"agent.tool_use"}]}"#,
            "/v1/sessions/s/events",
        ),
        ("application/json", "{}", "/v1/completions"),
        ("application/json", "{}", "/model/m/invoke"),
        (
            "application/json",
            "{}",
            "/v1internal:streamGenerateContent",
        ),
    ] {
        let upstream = RawUpstream::with(&format!("200 OK\r\ncontent-type: {kind}"), body).await;
        let guarded = Guarded::start(upstream.address, |_| {});
        let answer = guarded.post(path).await;
        let text = answer.text();
        assert_eq!(
            answer.status,
            StatusCode::BAD_REQUEST,
            "{path} {kind}: {text}"
        );
    }
}

#[tokio::test]
async fn upgrades_are_refused() {
    let guarded = Guarded::model(|_| {});
    let request = Request::get(guarded.url("/v1/messages"))
        .header("connection", "upgrade")
        .header("upgrade", "websocket");
    assert_eq!(send(request, "").await.status, StatusCode::UPGRADE_REQUIRED);
    let request = Request::get(guarded.url("/v1/models"))
        .header("connection", "upgrade")
        .header("upgrade", "h2c");
    assert_eq!(
        send(request, "").await.status,
        StatusCode::OK,
        "h2c is an offer that may be ignored"
    );
    let mut socket = TcpStream::connect(guarded.proxy.address()).await.unwrap();
    socket
        .write_all(b"CONNECT example.com:443 HTTP/1.1\r\nhost: example.com:443\r\n\r\n")
        .await
        .unwrap();
    let mut answer = [0; 12];
    socket.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 426");
}

#[tokio::test]
async fn requests_that_cannot_be_read_are_refused() {
    let guarded = Guarded::model(|c| c.proxy.max_request_bytes = 1000);
    let url = guarded.url("/v1/messages");
    assert_eq!(
        post(&url, "{\"a\":1,\"a\":2}").await.status,
        StatusCode::BAD_REQUEST
    );
    assert_eq!(
        post(&url, &"x".repeat(1001)).await.status,
        StatusCode::PAYLOAD_TOO_LARGE
    );
    let packed = Request::post(&url).header("content-encoding", "zstd");
    assert_eq!(send(packed, "x").await.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn an_upstream_that_is_down_or_silent_is_named() {
    let closed = TcpListener::bind("127.0.0.1:0")
        .await
        .unwrap()
        .local_addr()
        .unwrap();
    let guarded = Guarded::start(closed, |_| {});
    let answer = guarded.post("/v1/messages").await;
    assert_eq!(answer.status, StatusCode::BAD_GATEWAY);
    has(&answer.text(), "cannot be reached");

    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let guarded = Guarded::start(silent.local_addr().unwrap(), |c| {
        c.proxy.response_timeout = Duration::from_millis(50);
    });
    let answer = guarded.post("/v1/messages").await;
    assert_eq!(answer.status, StatusCode::GATEWAY_TIMEOUT);
}

#[tokio::test]
async fn pings_come_while_a_call_is_held() {
    let guarded = Guarded::model(|c| {
        c.guard.keep_alive = Duration::from_millis(50);
    });
    let answer = guarded.post("/x/slow_input/v1/messages").await;
    let text = answer.text();
    let (_, after_text) = text.split_once("content_block_stop").unwrap();
    assert!(after_text.matches("\"ping\"").count() >= 3, "{text}");
    assert_eq!(calls(&answer.body).len(), 1);
}

#[tokio::test]
async fn http2_clients_are_served() {
    let guarded = Guarded::model(|_| {});
    let client = Client::builder(TokioExecutor::new())
        .http2_only(true)
        .build_http();
    let request = Request::post(guarded.url("/x/tool/v1/messages"))
        .body(Full::new(bytes::Bytes::from(REQUEST)))
        .unwrap();
    let answer = collect(client.request(request).await.unwrap()).await;
    assert_eq!(calls(&answer.body).len(), 1);
}

#[tokio::test]
async fn sessions_count_apart() {
    let guarded = Guarded::model(|c| c.rates.identical_in_a_row = 1);
    let ran = async |path: &str| !calls(&guarded.post(path).await.body).is_empty();
    assert!(ran("/s/one/x/repeat/v1/messages").await);
    assert!(!ran("/s/one/x/repeat/v1/messages").await);
    assert!(ran("/s/two/x/repeat/v1/messages").await);
}

#[tokio::test]
async fn a_decision_that_cannot_be_recorded_is_a_refusal() {
    let guarded = Guarded::model(|_| {});
    let ledger = guarded.dir.path().join("ledger.jsonl");
    std::fs::remove_file(&ledger).unwrap();
    std::fs::create_dir(&ledger).unwrap();
    let answer = guarded.post("/x/tool/v1/messages").await;
    assert!(calls(&answer.body).is_empty());
    has(summary(&answer.body).last().unwrap(), "cannot be recorded");
    let whole = REQUEST.replace("\"stream\":true,", "");
    let answer = post(&guarded.url("/x/tool@whole/v1/messages"), &whole).await;
    has(&answer.text(), "cannot be recorded");
    lacks(&answer.text(), "tool_use");
}

#[tokio::test(flavor = "multi_thread")]
async fn stopping_lets_open_streams_finish_and_takes_no_new_ones() {
    let guarded = Guarded::model(|_| {});
    let (url, address) = (
        guarded.url("/x/slow_input/v1/messages"),
        guarded.proxy.address(),
    );
    let mut body = begin(Request::post(url), REQUEST).await.into_body();
    let first = body.frame().await.unwrap().unwrap().into_data().unwrap();
    let dir = guarded.dir;
    let stopping = tokio::task::spawn_blocking(move || guarded.proxy.stop());
    let rest = body.collect().await.unwrap().to_bytes();
    let all = [first, rest].concat();
    assert_eq!(calls(&all).len(), 1);
    assert!(summary(&all).contains(&"stop tool_use".to_owned()));
    stopping.await.unwrap();
    assert!(TcpStream::connect(address).await.is_err());
    assert_eq!(verify(dir.path()).unwrap().records, 1);
}
