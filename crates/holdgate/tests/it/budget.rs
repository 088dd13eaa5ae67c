//! Memory has one budget, and nobody can take all of it, nor all connections, from the others.

use crate::client::summary;
use crate::setup::{
    Answer, Guarded, REQUEST, collect, eventually, has, model, post, read_request, send, try_begin,
};
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::{Request, StatusCode};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// What is shared out of three times as much.
const BUDGET: usize = 16 << 20;
/// What is told of a flood comes once in ten seconds, so a test sees one record.
const ONCE: usize = 1;

fn small(config: &mut holdgate::config::Config) {
    config.proxy.memory_budget = 3 * BUDGET;
}

/// A conversation of `calls` finished calls, each of which does fifty things.
fn conversation(name: &str, calls: usize) -> String {
    let files: Vec<String> = (0..50)
        .map(|n| format!("build/{name}/file-{n}.o"))
        .collect();
    let mut messages = vec![json!({"role": "user", "content": name})];
    for n in 0..calls {
        let command = format!("rm {} out-{n}", files.join(" "));
        let id = format!("toolu_{n}");
        messages.push(json!({"role": "assistant", "content": [
            {"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}}]}));
        messages.push(json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": id, "content": "ok"}]}));
    }
    json!({"model": "m", "stream": true, "messages": messages,
           "tools": [{"name": "Bash", "input_schema": {"required": ["command"]}}]})
    .to_string()
}

fn is_clear_refusal(answer: &Answer) -> bool {
    let body: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    answer.status == StatusCode::SERVICE_UNAVAILABLE
        && answer.headers.contains_key("retry-after")
        && body["error"]["type"] == "overloaded_error"
        && ["(rule memory-budget)", "(rule connection-limit)"]
            .iter()
            .any(|rule| answer.text().contains(rule))
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_that_nobody_uses_make_room() {
    let model = model();
    let budget = 8 << 20;
    let guarded = Guarded::start(model.address(), |c| c.proxy.memory_budget = 3 * budget);
    for n in 0..12 {
        let url = guarded.url(&format!("/s/flood-{n}/x/text/v1/messages"));
        let answer = post(&url, &conversation(&format!("flood-{n}"), 60)).await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.text());
        let (used, most) = guarded.proxy.memory();
        assert!(most <= budget, "{used} bytes now, {most} at the most");
    }
    let (used, most) = guarded.proxy.memory();
    assert!(most > budget / 2, "the flood was none: {used}, {most}");
    let honest = guarded.post("/s/honest/x/text/v1/messages").await;
    assert_eq!(honest.status, StatusCode::OK);
}

/// One conversation that is larger than all there is.
#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_that_finds_no_room_is_refused() {
    let guarded = Guarded::model(|config| {
        config.proxy.memory_budget = 24 << 20;
    });
    let answer = post(
        &guarded.url("/s/huge/x/tool/v1/messages"),
        &conversation("huge", 900),
    )
    .await;
    assert!(is_clear_refusal(&answer), "{}", answer.text());
    assert!(guarded.proxy.memory().1 <= 8 << 20);
    let honest = guarded.post("/s/honest/x/text/v1/messages").await;
    assert_eq!(honest.status, StatusCode::OK);
    assert_eq!(guarded.ledger().matches("memory-budget").count(), ONCE);
}

/// An upstream that sends a call of a megabyte without its end, or a short text, by the path.
async fn endless_calls() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            tokio::spawn(async move {
                let request = read_request(&mut socket).await;
                let event = |data: Value| {
                    format!(
                        "event: {}\ndata: {data}\n\n",
                        data["type"].as_str().unwrap()
                    )
                };
                let mut text = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\
                                connection: close\r\n\r\n"
                    .to_owned();
                text += &event(
                    json!({"type": "message_start", "message": {"id": "m", "content": [], "usage": {}}}),
                );
                let holds = request.starts_with("POST /hold");
                let block = if holds {
                    json!({"type": "tool_use", "id": "t", "name": "Write", "input": {}})
                } else {
                    json!({"type": "text", "text": "hello"})
                };
                text += &event(
                    json!({"type": "content_block_start", "index": 0, "content_block": block}),
                );
                if holds {
                    let delta =
                        json!({"type": "input_json_delta", "partial_json": "x".repeat(1 << 16)});
                    let delta =
                        event(json!({"type": "content_block_delta", "index": 0, "delta": delta}));
                    text += &delta.repeat(16);
                    let _ = socket.write_all(text.as_bytes()).await;
                    // Until the other side hangs up.
                    let _ = socket.read(&mut [0; 1]).await;
                    return;
                }
                text += &event(json!({"type": "content_block_stop", "index": 0}));
                text += &event(
                    json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}}),
                );
                text += &event(json!({"type": "message_stop"}));
                let _ = socket.write_all(text.as_bytes()).await;
                let _ = socket.shutdown().await;
            });
        }
    });
    address
}

/// `None`: the proxy was full and hung up before it had read the request.
async fn try_post(url: &str) -> Option<Answer> {
    let request = Request::post(url).header("content-type", "application/json");
    let response = try_begin(request, REQUEST).await.ok()?;
    Some(collect(response).await)
}

#[tokio::test(flavor = "multi_thread")]
async fn streams_that_hold_much_are_refused_at_the_budget() {
    let guarded = Guarded::start(endless_calls().await, small);
    let mut streams = Vec::new();
    for n in 0..40 {
        let url = guarded.url(&format!("/s/hold-{n}/hold/v1/messages"));
        streams.push(tokio::spawn(async move { try_post(&url).await }));
    }
    let is_full = || guarded.ledger().contains("used up its memory budget");
    eventually("some are refused", is_full).await;
    if let Some(honest) = try_post(&guarded.url("/s/honest/text/v1/messages")).await {
        assert!(
            honest.status == StatusCode::OK || is_clear_refusal(&honest),
            "{}",
            honest.text()
        );
    }
    let (_, most) = guarded.proxy.memory();
    // What a session takes is counted also if there is no room for it.
    let sessions = 64 << 10;
    assert!((BUDGET / 2..=BUDGET + sessions).contains(&most), "{most}");
    eventually("some have ended", || {
        streams.iter().any(tokio::task::JoinHandle::is_finished)
    })
    .await;
    for stream in streams {
        if !stream.is_finished() {
            stream.abort();
            continue;
        }
        let Some(ended) = stream.await.unwrap() else {
            continue;
        };
        let lines = summary(&ended.body);
        let told = lines
            .last()
            .is_some_and(|l| l.contains("used up its memory budget"));
        assert!(told || is_clear_refusal(&ended), "{}", ended.text());
    }
    eventually("all is given back", || guarded.proxy.memory().0 < 1 << 20).await;
    let honest = guarded.post("/s/honest/text/v1/messages").await;
    assert_eq!(summary(&honest.body).last().unwrap(), "stop end_turn");
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_that_send_nothing_keep_nobody_out() {
    let guarded = Guarded::model(|config| {
        config.proxy.max_connections = 8;
        config.proxy.max_connections_per_peer = 8;
        config.proxy.client_timeout = Duration::from_mins(10);
    });
    let address = guarded.proxy.address();
    let mut silent = Vec::new();
    for n in 0..20 {
        let mut socket = TcpStream::connect(address).await.unwrap();
        match n % 3 {
            0 => {}
            1 => socket.write_all(b"POST /v1/messages HT").await.unwrap(),
            // A head, and a body that does not end.
            _ => {
                let head =
                    "POST /v1/messages HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\n{";
                socket.write_all(head.as_bytes()).await.unwrap();
            }
        }
        silent.push(socket);
    }
    for n in 0..5 {
        let url = guarded.url(&format!("/s/{n}/x/text/v1/messages"));
        assert_eq!(post(&url, REQUEST).await.status, StatusCode::OK);
    }
    assert!(guarded.proxy.open_connections() <= 8);
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_finds_no_connection_is_told() {
    let guarded = Guarded::start(endless_calls().await, |config| {
        config.proxy.max_connections = 4;
        config.proxy.max_connections_per_peer = 2;
    });
    let mut busy = Vec::new();
    for _ in 0..2 {
        let mut socket = TcpStream::connect(guarded.proxy.address()).await.unwrap();
        let length = REQUEST.len();
        let head = format!(
            "POST /hold/v1/messages HTTP/1.1\r\nhost: localhost\r\ncontent-length: {length}\r\n\r\n"
        );
        socket.write_all((head + REQUEST).as_bytes()).await.unwrap();
        // Its answer has begun, so it is busy.
        let mut begin = [0; 12];
        socket.read_exact(&mut begin).await.unwrap();
        assert_eq!(&begin, b"HTTP/1.1 200");
        busy.push(socket);
    }
    let mut turned_away = TcpStream::connect(guarded.proxy.address()).await.unwrap();
    let mut answer = String::new();
    turned_away.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");
    assert!(answer.contains("retry-after: "), "{answer}");
    assert!(answer.contains("(rule connection-limit)"), "{answer}");
    assert_eq!(guarded.ledger().matches("connection-limit").count(), ONCE);
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_for_another_host_are_refused() {
    let guarded = Guarded::model(|config| {
        config.proxy.hosts = vec!["gate.internal".into()];
    });
    let url = guarded.url("/x/text/v1/messages");
    let named = async |host: &str| send(Request::post(&url).header("host", host), REQUEST).await;
    for _ in 0..20 {
        let answer = named("rebound.example:8787").await;
        assert_eq!(answer.status, StatusCode::MISDIRECTED_REQUEST);
        has(&answer.text(), "(rule unknown-host)");
        assert!(answer.text().contains("invalid_request_error"));
    }
    assert_eq!(guarded.ledger().matches("\"unknown-host\"").count(), ONCE);
    assert_eq!(named("localhost:1").await.status, StatusCode::OK);
    assert_eq!(named("gate.internal").await.status, StatusCode::OK);
    let from_page = Request::post(&url).header("origin", "https://page.example");
    assert_eq!(send(from_page, REQUEST).await.status, StatusCode::FORBIDDEN);

    // Over HTTP/2 the name stands before the path.
    let client = Client::builder(TokioExecutor::new())
        .http2_only(true)
        .build_http();
    let mut socket = TcpStream::connect(guarded.proxy.address()).await.unwrap();
    socket
        .write_all(b"POST /v1/messages HTTP/1.0\r\ncontent-length: 0\r\n\r\n")
        .await
        .unwrap();
    let mut answer = [0; 12];
    socket.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.0 421");
    let port = guarded.proxy.address().port();
    let request = Request::post(format!("http://localhost:{port}/x/text/v1/messages"))
        .body(Full::new(Bytes::from(REQUEST)))
        .unwrap();
    let answer = client.request(request).await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
    answer.into_body().collect().await.unwrap();
}
