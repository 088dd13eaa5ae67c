//! The proxy between peers that are slow, silent or gone.

use crate::client::summary;
use crate::setup::{Guarded, REQUEST, begin, eventually, read_request};
use http_body_util::BodyExt as _;
use hyper::Request;
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

const STREAM: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
const PING: &str = "event: ping\ndata: {\"type\":\"ping\"}\n\n";

/// An upstream that falls silent in mid-stream, after one ping.
async fn one_ping() -> SocketAddr {
    let upstream = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = upstream.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut socket, _) = upstream.accept().await.unwrap();
        read_request(&mut socket).await;
        let begun = format!("{STREAM}{PING}");
        socket.write_all(begun.as_bytes()).await.unwrap();
        std::future::pending::<()>().await;
    });
    address
}

#[tokio::test]
async fn an_upstream_that_falls_silent_in_mid_stream_is_cut() {
    let guarded = Guarded::start(one_ping().await, |c| {
        c.proxy.idle_timeout = Duration::from_millis(50);
    });
    let answer = guarded.post("/v1/messages").await;
    assert!(
        summary(&answer.body)[0].starts_with("error [holdgate] the upstream sent nothing for"),
        "{}",
        answer.text()
    );
}

/// A socket that has sent its request and has read nothing.
async fn ask(guarded: &Guarded, path: &str) -> TcpStream {
    let mut socket = TcpStream::connect(guarded.proxy.address()).await.unwrap();
    let length = REQUEST.len();
    let request = format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: {length}\r\n\r\n{REQUEST}"
    );
    socket.write_all(request.as_bytes()).await.unwrap();
    socket
}

#[tokio::test]
async fn an_empty_stream_breaks_the_connection_instead_of_ending_well() {
    let guarded = Guarded::model(|_| {});
    let mut socket = ask(&guarded, "/x/empty_200/v1/messages").await;
    let mut answer = String::new();
    let _ = socket.read_to_string(&mut answer).await;
    assert!(!answer.contains("\r\n0\r\n"), "{answer}");
    assert!(guarded.ledger().contains("upstream-cut"));
}

#[tokio::test]
async fn a_client_that_does_not_read_is_dropped() {
    let upstream = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let guarded = Guarded::start(upstream.local_addr().unwrap(), |c| {
        c.proxy.client_timeout = Duration::from_millis(200);
    });
    let writing = tokio::spawn(async move {
        let (mut socket, _) = upstream.accept().await.unwrap();
        read_request(&mut socket).await;
        let mut sent = socket.write_all(STREAM.as_bytes()).await;
        let pings = PING.repeat(1000);
        while sent.is_ok() {
            sent = socket.write_all(pings.as_bytes()).await;
        }
    });
    let _socket = ask(&guarded, "/v1/messages").await;
    // The upstream's connection ends with the client's.
    let ended = tokio::time::timeout(Duration::from_secs(20), writing).await;
    assert!(ended.is_ok(), "the connection stays open");
    eventually("the connection is counted out", || {
        guarded.proxy.open_connections() == 0
    })
    .await;
}

#[tokio::test]
async fn a_client_that_never_begins_is_dropped() {
    let guarded = Guarded::model(|c| {
        c.proxy.client_timeout = Duration::from_millis(100);
    });
    let silent = TcpStream::connect(guarded.proxy.address()).await.unwrap();
    let mut half = TcpStream::connect(guarded.proxy.address()).await.unwrap();
    half.write_all(b"PRI * HT").await.unwrap();
    for mut socket in [silent, half] {
        let mut answer = Vec::new();
        let read = socket.read_to_end(&mut answer);
        let ended = tokio::time::timeout(Duration::from_secs(20), read).await;
        assert!(ended.is_ok(), "the connection stays open");
    }
}

#[tokio::test]
async fn backpressure_reaches_the_upstream() {
    let upstream = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let guarded = Guarded::start(upstream.local_addr().unwrap(), |_| {});
    let pings = PING.repeat(1000);
    let writing = tokio::spawn(async move {
        let (mut socket, _) = upstream.accept().await.unwrap();
        read_request(&mut socket).await;
        socket.write_all(STREAM.as_bytes()).await.unwrap();
        let mut written = 0;
        while written < 400 << 20 {
            match tokio::time::timeout(
                Duration::from_millis(500),
                socket.write_all(pings.as_bytes()),
            )
            .await
            {
                Ok(Ok(())) => written += pings.len(),
                Ok(Err(_)) | Err(_) => break,
            }
        }
        written
    });
    let _socket = ask(&guarded, "/v1/messages").await;
    let written = writing.await.unwrap();
    assert!(
        written < 64 << 20,
        "the proxy took {written} bytes for a client that reads none"
    );
}

#[tokio::test]
async fn text_is_not_kept_back_for_more() {
    let guarded = Guarded::start(one_ping().await, |_| {});
    let begun = Instant::now();
    let request = Request::post(guarded.url("/v1/messages"));
    let mut body = begin(request, REQUEST).await.into_body();
    let first = body.frame().await.unwrap().unwrap().into_data().unwrap();
    assert_eq!(first, PING);
    assert!(
        begun.elapsed() < Duration::from_secs(5),
        "the upstream never sends more"
    );
}
