//! Anthropic Messages, streamed and whole.

mod message;
mod read;
mod write;

pub use message::{GuardedMessage, MessageBlock, ReadMessage, read_message};
pub use read::Reader;
pub use write::{Writer, error_body, error_event, error_value, message_stop, ping};

use super::is_call;
use crate::call::{Fault, HeldCall, Runs};
use crate::request::RequestFacts;
use holdgate_effects::json::{Json, shorten};
use std::sync::Arc;

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

/// What settings and request say about blocks.
#[derive(Clone, Debug)]
pub struct Declared {
    /// Kinds of block that the operator has declared harmless.
    pub inert: Arc<[String]>,
    /// The request, which tells what the provider may run.
    pub request: Arc<RequestFacts>,
}

/// A block of the content, by what it can do.
enum BlockKind {
    Inert,
    Call(HeldCall),
}

impl Declared {
    /// What a block of the content is.
    fn block(&self, kind: &str, block: &Json<'_>) -> BlockKind {
        let inert = INERT_BLOCKS.contains(&kind) || self.inert.iter().any(|inert| inert == kind);
        let others = block.as_object().unwrap_or_default().iter();
        let mut others = others.filter(|(key, _)| key != "type" && (inert || key != "input"));
        let nested = others.any(|(key, value)| is_call(key, value));
        let ambiguous = |json: &Json<'_>| json.ambiguous_key().map(|key| shorten(key, 40));
        if inert && !nested && ambiguous(block).is_none() {
            return BlockKind::Inert;
        }
        let mut held = HeldCall::new(block, self.runs(kind, block));
        if nested {
            held.fail(Fault::NestedCall);
        } else if let Some(key) = ambiguous(if inert { block } else { &held.envelope }) {
            held.fail(Fault::AmbiguousKey(key));
        }
        BlockKind::Call(held)
    }

    fn runs(&self, kind: &str, block: &Json<'_>) -> Runs {
        match kind {
            "server_tool_use" | "mcp_tool_use" if self.request.provider.ran(block) => {
                Runs::AtProvider
            }
            "tool_use" | "server_tool_use" | "mcp_tool_use" => Runs::AtClient,
            unknown => Runs::Unknown(shorten(unknown, 80)),
        }
    }
}
