//! The scripted model as a server on a socket.
//!
//! A client's base URL is `http://ADDRESS/x/SCENARIO` or, for runs that do not share their turns,
//! `http://ADDRESS/x/SCENARIO@RUN`; any other path plays the scenario `text`. A main request, one
//! that offers tools, gets the scenario's next turn; any other gets a short text. Headers for
//! requests made by hand: `x-script-main: 1` makes a request a main one, `x-script-run: RUN` names
//! its run.

use super::answer::{Answer, error, streamed, whole};
use super::model::{
    StreamOptions, Turn, chat_message, chat_stream, gemini_list, gemini_message, gemini_stream,
    message, ollama_message, ollama_stream, scenario, stream,
};
use crate::threads::lock;
use holdgate_effects::json::{Json, LoneSurrogates};
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::header::{HeaderValue, RETRY_AFTER};
use hyper::http::request::Parts;
use hyper::service::service_fn;
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use std::collections::HashMap;
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::sleep;

const MAX_REQUEST: usize = 64 << 20;
const MAX_DEPTH: usize = 128;
const MODELS: &str = r#"{"data":[{"type":"model","id":"fake-model","display_name":"Fake model","created_at":"2026-01-01T00:00:00Z"}],"first_id":"fake-model","last_id":"fake-model","has_more":false}"#;

/// How the server behaves.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where to listen.
    pub listen: SocketAddr,
    /// The pause after each frame.
    pub pace: Duration,
    /// How long the input of a slow call takes.
    pub slow: Duration,
    /// Requests are written to `RECORD/SCENARIO[@RUN]/NNN.request.json`, keys left out.
    pub record: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            pace: Duration::from_millis(4),
            slow: StreamOptions::default().slow,
            record: None,
        }
    }
}

/// A scripted model that listens; it stops when it is dropped.
#[derive(Debug)]
pub struct ScriptedModel {
    address: SocketAddr,
    accepting: JoinHandle<()>,
}

impl ScriptedModel {
    /// Binds the socket and starts to answer. Must be called inside a tokio runtime.
    pub fn start(options: Options) -> io::Result<ScriptedModel> {
        let listener = std::net::TcpListener::bind(options.listen)?;
        listener.set_nonblocking(true)?;
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let address = listener.local_addr()?;
        let script = Arc::new(Script {
            options,
            played: Mutex::default(),
        });
        let accepting = tokio::spawn(async move {
            // Dropped with this task, and all connections with it.
            let mut connections = JoinSet::new();
            loop {
                tokio::select! {
                    accepted = listener.accept() => match accepted {
                        Ok((socket, _)) => {
                            let _ = socket.set_nodelay(true);
                            connections.spawn(serve(socket, Arc::clone(&script)));
                        }
                        // Out of file descriptors, most likely: some may come free.
                        Err(_) => sleep(Duration::from_millis(50)).await,
                    },
                    Some(_) = connections.join_next() => {}
                }
            }
        });
        Ok(ScriptedModel { address, accepting })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Stops listening and drops all connections.
    pub fn stop(self) {}
}

impl Drop for ScriptedModel {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn serve(socket: tokio::net::TcpStream, script: Arc<Script>) {
    let service = service_fn(move |request| {
        let script = Arc::clone(&script);
        async move { Ok::<_, Infallible>(script.answer(request).await) }
    });
    // An error here is a connection that a client, or a cut, has ended.
    let _ = auto::Builder::new(TokioExecutor::new())
        .serve_connection(TokioIo::new(socket), service)
        .await;
}

struct Script {
    options: Options,
    played: Mutex<Played>,
}

#[derive(Default)]
struct Played {
    requests: u32,
    /// Turns that each run of a scenario has taken.
    turns: HashMap<String, usize>,
}

impl Script {
    async fn answer(&self, request: Request<Incoming>) -> Answer {
        let (head, body) = request.into_parts();
        let Ok(body) = Limited::new(body, MAX_REQUEST).collect().await else {
            return error(StatusCode::BAD_REQUEST, "the request cannot be read");
        };
        let body = body.to_bytes();
        let body = Json::read(&body, MAX_DEPTH, LoneSurrogates::Replace)
            .unwrap_or_else(|_| Json::String(String::from_utf8_lossy(&body)));
        let (run, path) = route(&head);
        let number = self.number();
        if let Some(record) = &self.options.record
            && let Err(e) = write_record(&record.join(&run), number, &head, &body)
        {
            let what = format!("{}: {e}", record.display());
            return error(StatusCode::INTERNAL_SERVER_ERROR, &what);
        }

        if head.method == Method::HEAD {
            return whole(StatusCode::NOT_FOUND, String::new());
        }
        if path.ends_with(":countTokens") {
            return whole(StatusCode::OK, r#"{"totalTokens":25}"#.to_owned());
        }
        if path.ends_with("/count_tokens") {
            return whole(StatusCode::OK, r#"{"input_tokens":25}"#.to_owned());
        }
        if path.ends_with("/models") {
            return whole(StatusCode::OK, MODELS.to_owned());
        }
        let Some(format) = Format::of(&path) else {
            return error(StatusCode::NOT_FOUND, "no route");
        };
        let mut turn = self.turn(&run, &head, &body);
        if matches!(format, Format::Gemini(_)) && body.text().contains("\"run_shell_command\"") {
            turn = turn.for_gemini_cli();
        }
        if let Some(status) = turn
            .status()
            .and_then(|code| StatusCode::from_u16(code).ok())
        {
            let mut answer = error(status, &format!("fake error {}", status.as_u16()));
            let headers = answer.headers_mut();
            headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
            return answer;
        }
        let model = body
            .get("model")
            .and_then(Json::as_str)
            .unwrap_or("fake-model");
        let options = StreamOptions {
            slow: self.options.slow,
        };
        let streams = match format {
            Format::Messages | Format::Chat => asks_for_stream(&body, false),
            Format::Ollama => asks_for_stream(&body, true),
            // Without `alt=sse`, a stream is a list.
            Format::Gemini(streams) => streams && is_sse(&head),
        };
        if !streams {
            let message = match format {
                Format::Messages => message(&turn, model, number),
                Format::Chat => chat_message(&turn, model, number),
                Format::Ollama => ollama_message(&turn, model, number),
                Format::Gemini(false) => gemini_message(&turn, model, number),
                Format::Gemini(true) => gemini_list(&turn, model, number),
            };
            return whole(StatusCode::OK, message);
        }
        let (kind, steps) = match format {
            Format::Messages => ("text/event-stream", stream(&turn, model, number, &options)),
            Format::Chat => (
                "text/event-stream",
                chat_stream(&turn, model, number, &options),
            ),
            Format::Ollama => ("application/x-ndjson", ollama_stream(&turn, model, number)),
            Format::Gemini(_) => (
                "text/event-stream",
                gemini_stream(&turn, model, number, &options),
            ),
        };
        streamed(steps, kind, self.options.pace)
    }

    fn number(&self) -> u32 {
        let mut played = lock(&self.played);
        played.requests += 1;
        played.requests
    }

    fn turn(&self, run: &str, head: &Parts, body: &Json<'_>) -> Turn {
        let name = run.split_once('@').map_or(run, |(name, _)| name);
        let offers_tools = body
            .get("tools")
            .and_then(Json::as_array)
            .is_some_and(|tools| !tools.is_empty());
        // Some agents keep their tools out of `tools`, or have none.
        let toolless = name.ends_with("_any") || name == "aider";
        let declared = head.headers.get("x-script-main").is_some_and(|v| v == "1");
        if !(offers_tools || toolless || declared) {
            return Turn::text("Fake side answer.");
        }
        let mut played = lock(&self.played);
        let taken = played.turns.entry(run.to_owned()).or_default();
        let turns = scenario(name)
            .or_else(|| scenario("text"))
            .unwrap_or_default();
        let turn = turns
            .get(*taken)
            .or(turns.last())
            .cloned()
            .unwrap_or_default();
        *taken += 1;
        turn
    }
}

/// The formats that the scripted model knows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Messages,
    Chat,
    Ollama,
    /// And whether a stream is asked for.
    Gemini(bool),
}

impl Format {
    fn of(path: &str) -> Option<Format> {
        let ends = [
            ("/messages", Format::Messages),
            ("/chat/completions", Format::Chat),
            ("/api/chat", Format::Ollama),
            (":generateContent", Format::Gemini(false)),
            (":streamGenerateContent", Format::Gemini(true)),
        ];
        let found = ends.iter().find(|(end, _)| path.ends_with(end));
        found.map(|(_, format)| *format)
    }
}

/// Whether a request asks for a stream: Ollama streams unless it is told not to.
fn asks_for_stream(body: &Json<'_>, by_default: bool) -> bool {
    match body.get("stream") {
        Some(Json::Bool(stream)) => *stream,
        _ => by_default,
    }
}

/// Whether a stream of events is asked for, where the query says so.
fn is_sse(head: &Parts) -> bool {
    let query = head.uri.query().unwrap_or_default();
    query.split('&').any(|pair| pair == "alt=sse")
}

/// The run, `SCENARIO` or `SCENARIO@RUN`, and what of the path is the API's own.
fn route(head: &Parts) -> (String, String) {
    let path = head.uri.path();
    let scripted = path
        .strip_prefix("/x/")
        .map(|rest| rest.split_once('/').unwrap_or((rest, "")));
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-@".contains(c);
    let (mut run, path) = match scripted {
        Some((run, path)) if !run.is_empty() && run.chars().all(plain) => {
            (run.to_owned(), format!("/{path}"))
        }
        _ => ("text".to_owned(), path.to_owned()),
    };
    if let Some(id) = head
        .headers
        .get("x-script-run")
        .and_then(|id| id.to_str().ok())
        && id.chars().all(plain)
        && !run.contains('@')
    {
        run = format!("{run}@{id}");
    }
    (run, path)
}

fn write_record(folder: &Path, number: u32, head: &Parts, body: &Json<'_>) -> io::Result<()> {
    let mut headers: Vec<(String, String)> = Vec::new();
    for (name, value) in &head.headers {
        let secret = ["authorization", "x-api-key", "x-goog-api-key"].contains(&name.as_str());
        let value = if secret {
            "REDACTED".into()
        } else {
            String::from_utf8_lossy(value.as_bytes())
        };
        match headers.iter_mut().find(|(known, _)| known == name.as_str()) {
            Some((_, values)) => *values = format!("{values}, {value}"),
            None => headers.push((name.to_string(), value.into_owned())),
        }
    }
    let headers = headers
        .into_iter()
        .map(|(name, value)| (name.into(), value.into()));
    let record = Json::object([
        ("method", head.method.as_str().into()),
        ("target", head.uri.to_string().into()),
        ("headers", Json::Object(headers.collect())),
        ("body", body.clone()),
    ]);
    std::fs::create_dir_all(folder)?;
    std::fs::write(
        folder.join(format!("{number:03}.request.json")),
        record.to_string(),
    )
}
