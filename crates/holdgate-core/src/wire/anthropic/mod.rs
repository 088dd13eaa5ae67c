//! Anthropic Messages, streamed and whole.

mod message;
mod read;
mod write;

pub use message::{GuardedMessage, MessageBlock, read_message};
pub use read::Reader;
pub use write::{Writer, error_body, error_event, ping};

use crate::hold::{HeldCall, Runs};
use crate::json::Json;

/// Blocks that can cause no action: the model's words, and results of what the provider ran.
const INERT_BLOCKS: &[&str] = &[
    "text",
    "thinking",
    "redacted_thinking",
    "web_search_tool_result",
    "web_fetch_tool_result",
    "code_execution_tool_result",
    "bash_code_execution_tool_result",
    "text_editor_code_execution_tool_result",
    "tool_search_tool_result",
    "mcp_tool_result",
    "mcp_tool_listing",
    "advisor_tool_result",
    "container_upload",
    "compaction",
    "fallback",
];

/// A block of the content, by what it can do.
enum BlockKind {
    Inert,
    Call(Runs),
}

fn block_kind(kind: &str, declared_inert: &[String]) -> BlockKind {
    match kind {
        "tool_use" => BlockKind::Call(Runs::AtClient),
        "server_tool_use" | "mcp_tool_use" => BlockKind::Call(Runs::AtProvider),
        inert if INERT_BLOCKS.contains(&inert) => BlockKind::Inert,
        inert if declared_inert.iter().any(|d| d == inert) => BlockKind::Inert,
        unknown => BlockKind::Call(Runs::Unknown(unknown.to_owned())),
    }
}

/// The call that a block holds; a streamed one brings its input later.
fn held_call(block: &Json<'_>, runs: Runs) -> HeldCall {
    let text = |key| block.get(key).and_then(Json::as_str).map(str::to_owned);
    let start_input = match block.get("input") {
        None | Some(Json::Null) => String::new(),
        Some(Json::Object(members)) if members.is_empty() => String::new(),
        // Some gateways begin so.
        Some(Json::String(text)) if text.is_empty() => String::new(),
        Some(input) => input.to_string(),
    };
    let mut envelope = block.clone();
    envelope.set("input", Json::Object(Vec::new()));
    HeldCall {
        runs,
        id: text("id"),
        name: text("name"),
        envelope: envelope.into_owned(),
        start_input,
        input: String::new(),
        fault: None,
    }
}
