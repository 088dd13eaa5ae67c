//! Cases of bridges: what a model writes on an upstream of one protocol, and which calls a client of
//! another protocol gets.

use super::cases::{Expect, Subject};
use super::judge::{Bench, Delivered, Outcome};
use super::readers;
use crate::proxy::route;
use bytes::Bytes;
use holdgate_core::{
    Dialect, Protocol, RequestFacts, ResponseContext, StreamGuard, Verdict, bridged,
};
use holdgate_effects::json::shorten;
use holdgate_effects::path::World;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// How the ids of calls begin that cannot run, and stand behind a refusal.
const INERT: &str = "toolu_holdgate_";

/// A case of a bridge.
#[derive(Clone, Debug)]
pub struct BridgeCase {
    /// What the client speaks, on an upstream that speaks something else.
    bridge: &'static dyn Protocol,
    request: Arc<RequestFacts>,
    /// What comes from the upstream: texts of the model, or parts of the body.
    chunks: Vec<String>,
    calls: Vec<ExpectedCall>,
}

/// A case as written.
#[derive(Deserialize)]
pub(super) struct BridgeLine {
    from: String,
    to: String,
    #[serde(default)]
    dialect: Option<Dialect>,
    #[serde(default)]
    tools: Vec<Value>,
    chunks: Vec<String>,
    #[serde(default)]
    expect_calls: Vec<ExpectedCall>,
}

/// A call that the client has to get.
#[derive(Clone, Debug, Deserialize, PartialEq)]
struct ExpectedCall {
    name: String,
    input: Value,
}

/// Reads a case. A bridge that does not exist is not judged yet.
pub(super) fn read(line: BridgeLine) -> Result<Subject, String> {
    let (from, to) = (shorten(&line.from, 80), shorten(&line.to, 80));
    let client = route::protocol(&line.from).filter(|_| from != to);
    let bridge = client.and_then(|client| Some((client, bridged(client, &line.to)?)));
    let Some((client, bridge)) = bridge else {
        return Ok(Subject::NotYet(format!("bridge from {from} to {to}")));
    };
    let tools: Vec<Value> = line
        .tools
        .iter()
        .map(|tool| declared(client, tool))
        .collect();
    let (path, body) = match client.name() {
        "responses" => (
            "/v1/responses",
            json!({"input": [], "tools": tools, "stream": true}),
        ),
        _ => (
            "/v1/messages",
            json!({"messages": [], "tools": tools, "stream": true}),
        ),
    };
    let body = body.to_string();
    let translated = bridge
        .translate(path, body.as_bytes(), line.dialect.unwrap_or_default())
        .map_err(|error| error.to_string())?
        .ok_or("the request is not translated")?;
    let read = bridge
        .read_request(body.into())
        .map_err(|e| e.to_string())?;
    let request = Arc::new(RequestFacts {
        bridged: translated.bridged,
        ..(*read.facts).clone()
    });
    Ok(Subject::Bridge(BridgeCase {
        bridge,
        request,
        chunks: line.chunks,
        calls: line.expect_calls,
    }))
}

/// A tool as the client declares it. Cases may write it as any protocol does, or by its name alone.
fn declared(client: &dyn Protocol, tool: &Value) -> Value {
    let part = tool.get("function").unwrap_or(tool);
    let name = part.get("name").unwrap_or(part);
    let mut schemas = ["input_schema", "parameters", "schema"].iter();
    let schema = schemas.find_map(|key| part.get(key).cloned());
    let schema = schema.unwrap_or_else(|| json!({"type": "object"}));
    match client.name() {
        "responses" if tool.get("type") == Some(&json!("custom")) => tool.clone(),
        "responses" => json!({"type": "function", "name": name, "parameters": schema}),
        _ => json!({"name": name, "input_schema": schema}),
    }
}

impl Bench {
    /// The client gets the expected calls, however the text is split, or the case fails.
    pub(super) fn judge_bridge(
        &self,
        case: &BridgeCase,
        expect: Expect,
        world: &Arc<World>,
    ) -> Outcome {
        let mut outcome = Outcome::empty();
        let fulfilled = splits(&case.chunks).iter().all(|chunks| {
            let judge = ResponseContext {
                request: case.request.clone(),
                ..self.context(case.bridge, world)
            };
            let mut guard = StreamGuard::new(judge, Duration::ZERO);
            let mut outputs = Vec::new();
            for chunk in upstream_body(chunks) {
                guard.feed(chunk, Duration::ZERO, &mut outputs);
            }
            guard.finish(Duration::ZERO, &mut outputs);
            match outcome.take(outputs) {
                Delivered::Answer(sent) | Delivered::Error(sent) => {
                    calls(case.bridge, &sent) == case.calls
                }
                Delivered::Nothing => case.calls.is_empty(),
            }
        });
        outcome.verdict = match (expect, fulfilled) {
            (Expect::Allow, true) | (Expect::Block | Expect::Flag, false) => Verdict::Allow,
            (Expect::Allow, false) | (Expect::Block | Expect::Flag, true) => Verdict::Block,
        };
        outcome
    }
}

/// Whether these are parts of a body, and not texts.
fn is_body(chunks: &[String]) -> bool {
    chunks.concat().trim_start().starts_with("data:")
}

/// The ways of splitting that are tried: as written, as one, and letter by letter.
fn splits(chunks: &[String]) -> Vec<Vec<String>> {
    let whole = chunks.concat();
    let letters = whole.chars().map(String::from).collect();
    vec![chunks.to_vec(), vec![whole], letters]
}

/// What comes from the upstream.
fn upstream_body(chunks: &[String]) -> Vec<Bytes> {
    if is_body(chunks) {
        return chunks.iter().map(|chunk| chunk.clone().into()).collect();
    }
    let frame = |choice: Value| {
        let chunk = json!({"id": "chatcmpl-case", "object": "chat.completion.chunk", "created": 1,
                           "model": "m", "choices": [choice]});
        Bytes::from(format!("data: {chunk}\n\n"))
    };
    let texts = chunks
        .iter()
        .map(|text| json!({"index": 0, "delta": {"content": text}}));
    let end = json!({"index": 0, "delta": {}, "finish_reason": "stop"});
    let mut frames: Vec<Bytes> = texts.chain([end]).map(frame).collect();
    frames.push(Bytes::from_static(b"data: [DONE]\n\n"));
    frames
}

/// The calls that a client gets, with the text of those that take one.
#[allow(
    clippy::indexing_slicing,
    reason = "a member that a JSON value does not have reads as null"
)]
fn calls(bridge: &dyn Protocol, sent: &[u8]) -> Vec<ExpectedCall> {
    if bridge.name() != "responses" {
        let calls = super::client::calls(sent).into_iter();
        let calls = calls.filter(|call| !call.id.starts_with(INERT));
        let call = |call: super::client::Assembled| ExpectedCall {
            name: call.tool,
            input: call.input.unwrap_or_default(),
        };
        return calls.map(call).collect();
    }
    let events = readers::events(sent);
    let items = events
        .iter()
        .filter(|event| event["type"] == "response.output_item.done")
        .map(|event| &event["item"])
        .filter(|item| {
            !item["call_id"]
                .as_str()
                .unwrap_or_default()
                .starts_with(INERT)
        });
    let call = |item: &Value| {
        let input = match item["type"].as_str()? {
            "function_call" => serde_json::from_str(item["arguments"].as_str()?).ok()?,
            "custom_tool_call" => item["input"].clone(),
            _ => return None,
        };
        let name = item["name"].as_str()?.to_owned();
        Some(ExpectedCall { name, input })
    };
    items.filter_map(call).collect()
}
