//! The JSON shapes of the Messages format.

use super::{Block, Call, Turn};
use bytes::Bytes;
use holdgate_effects::json::{Json, write_string};

/// The body of a turn that is not streamed. What can only happen to a stream is left out.
pub fn message(turn: &Turn, model: &str, n: u32) -> String {
    let mut content: Vec<String> = turn.start_content.iter().map(Json::to_string).collect();
    let mut last_call = String::new();
    for (index, block) in turn.blocks.iter().enumerate() {
        match block {
            Block::Gap => {}
            Block::Text { text, .. } => content.push(text_block(text)),
            Block::Thinking(text) => content.push(thinking_block(text, SIGNATURE)),
            Block::Whole(block) => content.push(whole_block(block, &last_call)),
            Block::Call(call) => {
                last_call = call_id(call, n, index);
                let input = call.raw.clone().unwrap_or_else(|| call.input.to_string());
                content.push(call_block(call, &last_call, &input));
            }
        }
    }
    message_object(model, n, &content.join(","), &quoted(stop_reason(turn)), 42)
}

pub(super) const SIGNATURE: &str = "ZmFrZQ==";

/// An event of type `kind`; `rest` is what follows the type in its object.
pub(super) fn frame(name: Option<&str>, kind: &str, rest: &str) -> Bytes {
    let name = name
        .map(|name| format!("event: {name}\n"))
        .unwrap_or_default();
    Bytes::from(format!("{name}data: {{\"type\":\"{kind}\"{rest}}}\n\n"))
}

pub(super) fn block_start(index: usize, block: &str) -> String {
    format!(r#","index":{index},"content_block":{block}"#)
}

pub(super) fn block_delta(index: usize, kind: &str, field: &str, text: &str) -> String {
    let text = quoted(text);
    format!(r#","index":{index},"delta":{{"type":"{kind}_delta","{field}":{text}}}"#)
}

pub(super) fn message_object(
    model: &str,
    n: u32,
    content: &str,
    stop: &str,
    output_tokens: u32,
) -> String {
    let model = quoted(model);
    format!(
        r#"{{"id":"msg_fake{n:04}","type":"message","role":"assistant","model":{model},"content":[{content}],"stop_reason":{stop},"stop_sequence":null,"usage":{{"input_tokens":25,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":{output_tokens}}}}}"#
    )
}

pub(super) fn text_block(text: &str) -> String {
    format!(r#"{{"type":"text","text":{}}}"#, quoted(text))
}

pub(super) fn thinking_block(text: &str, signature: &str) -> String {
    let text = quoted(text);
    format!(r#"{{"type":"thinking","thinking":{text},"signature":"{signature}"}}"#)
}

pub(super) fn whole_block(block: &Json<'static>, last_call: &str) -> String {
    let mut block = block.clone();
    block.set("tool_use_id", last_call.to_owned().into());
    block.to_string()
}

/// `input` is written as it is, also if it is not JSON.
pub(super) fn call_block(call: &Call, id: &str, input: &str) -> String {
    let (kind, id, name) = (quoted(&call.kind), quoted(id), quoted(&call.name));
    let server = call.server_name.as_deref().map(quoted);
    let server = server
        .map(|s| format!(r#""server_name":{s},"#))
        .unwrap_or_default();
    format!(r#"{{"type":{kind},"id":{id},"name":{name},{server}"input":{input}}}"#)
}

pub(super) fn call_id(call: &Call, n: u32, index: usize) -> String {
    if let Some(id) = &call.id {
        return id.clone();
    }
    match call.kind.as_str() {
        "server_tool_use" => format!("srvtoolu_fake{n:04}"),
        "mcp_tool_use" => format!("mcptoolu_fake{n:04}"),
        _ => format!("toolu_fake{n:04}{index:02}"),
    }
}

pub(super) fn stop_reason(turn: &Turn) -> &str {
    let calls = |b: &Block| matches!(b, Block::Call(call) if call.kind == "tool_use");
    match &turn.stop {
        Some(stop) => stop,
        None if turn.blocks.iter().any(calls) => "tool_use",
        None => "end_turn",
    }
}

pub(super) fn quoted(text: &str) -> String {
    let mut out = String::new();
    write_string(text, &mut out);
    out
}
