//! Anthropic Messages, streamed and whole.

mod message;
mod read;
mod write;

pub use message::{GuardedMessage, MessageBlock, read_message};
pub use read::Reader;
pub use write::{Writer, error_body, error_event, message_stop, ping};

use crate::hold::Runs;
use crate::json::shorten;

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
        unknown => BlockKind::Call(Runs::Unknown(shorten(unknown, 80))),
    }
}
