//! A proxy on a socket, an upstream behind it, and a client before it.

use bytes::Bytes;
use holdgate::config::{Config, Flags};
use holdgate::proxy::Proxy;
use holdgate::script::{Options, ScriptedModel};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::{HeaderMap, Request, StatusCode};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// A request with one tool, so that the scripted model plays its scenario.
pub(crate) const REQUEST: &str = r#"{"model":"m","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"hi"}],"tools":[{"name":"Bash","input_schema":{"required":["command"]}}]}"#;

pub(crate) struct Guarded {
    pub(crate) proxy: Proxy,
    pub(crate) dir: TempDir,
    /// The scripted model behind it, if it is its own.
    model: Option<ScriptedModel>,
}

impl Guarded {
    /// A proxy before `upstream`, with settings changed by `change`.
    pub(crate) fn start(upstream: SocketAddr, change: impl FnOnce(&mut Config)) -> Guarded {
        Self::start_with(upstream, None, change)
    }

    /// The same, with a settings file.
    pub(crate) fn start_with(
        upstream: SocketAddr,
        settings: Option<&Path>,
        change: impl FnOnce(&mut Config),
    ) -> Guarded {
        let dir = tempfile::tempdir().unwrap();
        let flags = Flags {
            config: settings.map(Path::to_owned),
            ..Flags::local(dir.path(), upstream)
        };
        let mut config = Config::load(&flags, []).unwrap();
        // A debug build on a busy machine must not be too slow to judge.
        config.judge.deadline = Duration::from_mins(1);
        change(&mut config);
        let proxy = Proxy::start(config).unwrap();
        let model = None;
        Guarded { proxy, dir, model }
    }

    /// A proxy before a scripted model, with settings changed by `change`.
    pub(crate) fn model(change: impl FnOnce(&mut Config)) -> Guarded {
        let model = model();
        let mut guarded = Self::start(model.address(), change);
        guarded.model = Some(model);
        guarded
    }

    /// What comes back for a request with one tool.
    pub(crate) async fn post(&self, path: &str) -> Answer {
        post(&self.url(path), REQUEST).await
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.proxy.address())
    }

    pub(crate) fn ledger(&self) -> String {
        self.proxy.flush();
        ledger(self.dir.path())
    }
}

pub(crate) fn ledger(dir: &Path) -> String {
    std::fs::read_to_string(dir.join("ledger.jsonl")).unwrap_or_default()
}

pub(crate) fn model() -> ScriptedModel {
    let pace = Duration::from_millis(1);
    ScriptedModel::start(Options {
        pace,
        slow: Duration::from_millis(600),
        ..Options::default()
    })
    .unwrap()
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
    /// Whether the body broke off.
    pub(crate) broken: bool,
}

impl Answer {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

pub(crate) async fn post(url: &str, body: &str) -> Answer {
    send(
        Request::post(url).header("content-type", "application/json"),
        body,
    )
    .await
}

pub(crate) async fn send(request: hyper::http::request::Builder, body: &str) -> Answer {
    collect(begin(request, body).await).await
}

/// The answer as soon as it begins.
pub(crate) async fn begin(
    request: hyper::http::request::Builder,
    body: &str,
) -> hyper::Response<Incoming> {
    try_begin(request, body).await.unwrap()
}

pub(crate) async fn try_begin(
    request: hyper::http::request::Builder,
    body: &str,
) -> Result<hyper::Response<Incoming>, hyper_util::client::legacy::Error> {
    let client = Client::builder(TokioExecutor::new()).build_http();
    let body = Full::new(Bytes::from(body.to_owned()));
    client.request(request.body(body).unwrap()).await
}

pub(crate) async fn collect(response: hyper::Response<Incoming>) -> Answer {
    let (head, mut incoming) = response.into_parts();
    let mut answer = Answer {
        status: head.status,
        headers: head.headers,
        body: Vec::new(),
        broken: false,
    };
    while let Some(frame) = incoming.frame().await {
        match frame.map(hyper::body::Frame::into_data) {
            Ok(Ok(data)) => answer.body.extend_from_slice(&data),
            Ok(Err(_)) => {}
            Err(_) => answer.broken = true,
        }
        if answer.broken {
            break;
        }
    }
    answer
}

/// An upstream that answers every request with the same bytes and closes; it keeps the requests.
pub(crate) struct RawUpstream {
    pub(crate) address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
}

impl RawUpstream {
    pub(crate) async fn start(answer: &str) -> RawUpstream {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (kept, answer) = (requests.clone(), answer.to_owned());
        tokio::spawn(async move {
            while let Ok((mut socket, _)) = listener.accept().await {
                let request = read_request(&mut socket).await;
                kept.lock().unwrap().push(request);
                let _ = socket.write_all(answer.as_bytes()).await;
                let _ = socket.shutdown().await;
            }
        });
        RawUpstream { address, requests }
    }

    /// An upstream that answers with this status line, these headers and this body.
    pub(crate) async fn with(head: &str, body: &str) -> RawUpstream {
        let length = body.len();
        Self::start(&format!(
            "HTTP/1.1 {head}\r\ncontent-length: {length}\r\n\r\n{body}"
        ))
        .await
    }

    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

/// One request with its body, as it stands on the wire.
pub(crate) async fn read_request(socket: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .to_lowercase()
                .lines()
                .find_map(|l| l.strip_prefix("content-length: ")?.parse().ok());
            if body.len() >= length.unwrap_or(0) {
                return text;
            }
        }
        match socket.read(&mut buffer).await {
            Ok(n) if n > 0 => bytes.extend_from_slice(&buffer[..n]),
            _ => return text,
        }
    }
}

#[track_caller]
pub(crate) fn has(text: &str, part: &str) {
    assert!(text.contains(part), "`{part}` is not in: {text}");
}

#[track_caller]
pub(crate) fn lacks(text: &str, part: &str) {
    assert!(!text.contains(part), "`{part}` is in: {text}");
}

/// Waits for something that comes soon; a test that waits in vain fails after a while.
pub(crate) async fn eventually(what: &str, mut done: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !done() {
        assert!(begin.elapsed() < Duration::from_secs(20), "in vain: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
