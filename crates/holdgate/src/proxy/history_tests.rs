//! What was done before is known when a call is judged, through sockets.

use super::*;
use crate::clock::SystemClock;
use crate::config::Flags;
use crate::in_force::InForce;
use holdgate_core::{Context, Layer, LayerName, OutOfFuel, Stack, ToolCall};
use holdgate_effects::effect::{Effect, Kind};
use holdgate_effects::fuel::Fuel;
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;

/// Refuses to write what has not been read.
struct ReadFirst;

impl Layer for ReadFirst {
    fn name(&self) -> LayerName {
        LayerName::Policy
    }

    fn judge(
        &self,
        _: &ToolCall,
        effects: &[Effect],
        context: &Context<'_>,
        _: &Fuel,
    ) -> Result<Vec<Finding>, OutOfFuel> {
        let is = |e: &Effect, kind| {
            e.kind == kind && e.path.as_ref().is_some_and(|p| p.text == "/p/notes.txt")
        };
        let writes = effects.iter().any(|e| is(e, Kind::Write));
        let mut steps = context.history.steps();
        let read = steps.any(|step| step.effects.iter().any(|e| is(e, Kind::Read)));
        let finding = || Finding::block(LayerName::Policy, "read-first", "it was not read");
        Ok((writes && !read).then(finding).into_iter().collect())
    }
}

/// A model that wants to write the file whenever it is asked.
fn upstream() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let message = json!({"id": "m", "type": "message", "role": "assistant", "model": "m",
        "stop_reason": "tool_use", "stop_sequence": null,
        "usage": {"input_tokens": 1, "output_tokens": 1},
        "content": [{"type": "tool_use", "id": "toolu_w", "name": "Write",
                     "input": {"file_path": "/p/notes.txt", "content": "new"}}]});
    let body = message.to_string();
    let length = body.len();
    let answer = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\
         content-length: {length}\r\n\r\n{body}"
    );
    std::thread::spawn(move || {
        for mut socket in listener.incoming().map_while(Result::ok) {
            receive(&mut socket);
            let _ = socket.write_all(answer.as_bytes());
        }
    });
    address
}

/// One HTTP message with its body, which must have a length.
pub(super) fn receive(socket: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .to_lowercase()
                .lines()
                .find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok());
            if length.is_some_and(|length| body.len() >= length) {
                return text;
            }
        }
        match socket.read(&mut buffer) {
            Ok(n) if n > 0 => bytes.extend_from_slice(&buffer[..n]),
            Ok(_) | Err(_) => return text,
        }
    }
}

/// A proxy in which only this layer judges.
pub(super) fn with_layer(config: Config, layer: impl Layer + 'static) -> Proxy {
    let app = App::new(config).unwrap();
    let layers: Vec<Box<dyn Layer>> = vec![Box::new(layer)];
    let clock = Arc::new(SystemClock::default());
    let stack = Stack::new(layers, app.know.clone(), clock, app.config.judge);
    let in_force = InForce::load(app.config.clone()).unwrap();
    *app.in_force.write().unwrap() = Arc::new(in_force.with_stack(stack));
    Proxy::serve(app).unwrap()
}

/// A connection over which a request was sent.
pub(super) fn request(proxy: &Proxy, path: &str, body: &str) -> TcpStream {
    let mut socket = TcpStream::connect(proxy.address()).unwrap();
    let length = body.len();
    write!(
        socket,
        "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         connection: close\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    socket
}

fn proxy(upstream: SocketAddr, state: &Path) -> Proxy {
    let flags = Flags::local(state, upstream);
    with_layer(Config::load(&flags, []).unwrap(), ReadFirst)
}

fn ask(proxy: &Proxy, messages: &str) -> String {
    let body = format!(
        r#"{{"model":"m","max_tokens":9,"system":"Working directory: /p","messages":{messages},"metadata":{{"user_id":"user_1_session_one"}}}}"#
    );
    receive(&mut request(proxy, "/v1/messages", &body))
}

/// A conversation in which the file was looked at.
fn looked(root: &str) -> Vec<Value> {
    vec![
        json!({"role": "user", "content": root}),
        json!({"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_r",
               "name": "Bash", "input": {"command": "cd /p && cat ./notes.txt"}}]}),
        json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_r",
               "content": "old", "is_error": false}]}),
    ]
}

#[test]
fn what_was_done_is_known_after_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let upstream = upstream();
    let check = |proxy: &Proxy, messages: &[Value], passes: bool| {
        let answer = ask(proxy, &json!(messages).to_string());
        assert_eq!(answer.contains(r#""name":"Write""#), passes, "{answer}");
        assert_eq!(answer.contains("Rule: read-first"), !passes, "{answer}");
    };
    let told = looked("go");
    let begun = &told[..1];
    let summed_up = [json!({"role": "user", "content": "the story so far"})];

    let first = proxy(upstream, dir.path());
    check(&first, begun, false);
    check(&first, &told[..2], false);
    check(&first, &told, true);
    check(&first, &summed_up, true);
    first.stop();

    let second = proxy(upstream, dir.path());
    check(&second, &told, true);
    check(&second, begun, false);
    second.stop();

    let third = proxy(upstream, dir.path());
    check(&third, &summed_up, false);
    third.stop();
}

#[test]
fn an_answer_to_a_conversation_that_cannot_be_read_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let proxy = proxy(upstream(), dir.path());
    let answer = ask(
        &proxy,
        r#"[{"role":"user","content":"go"},{"role":"user","role":"assistant"}]"#,
    );
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
    assert!(answer.contains("rule unreadable-request"), "{answer}");
    assert!(!answer.contains("notes.txt"), "{answer}");
    proxy.stop();
    let ledger = std::fs::read_to_string(dir.path().join("ledger.jsonl")).unwrap();
    assert!(ledger.contains("unreadable-request"), "{ledger}");
}
