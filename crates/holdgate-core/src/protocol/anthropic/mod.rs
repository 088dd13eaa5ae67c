//! Anthropic Messages, streamed and whole.

mod history;
mod message;
mod read;
mod request;
mod results;
mod write;

// What a bridge needs.
pub(super) use message::message_of;
pub(super) use write::{block_start, block_stop, delta, single};

use super::spoken::{self, Spoken};
use super::{Declared, Protocol, ReadMessage, Reader, Vendor, Writer, is_call};
use crate::call::{Executor, Fault, HeldCall};
use crate::canonical::Canonical;
use crate::event::Violation;
use crate::request::Request;
use bytes::Bytes;
use holdgate_effects::json::{Json, JsonError, shorten};

/// Anthropic Messages.
pub const ANTHROPIC: &dyn Protocol = &Anthropic;

#[derive(Debug)]
struct Anthropic;

impl Protocol for Anthropic {
    fn name(&self) -> &'static str {
        "anthropic"
    }

    fn serves(&self, path: &str) -> bool {
        path.ends_with("/messages")
    }

    fn vendor(&self) -> Vendor {
        Vendor::Anthropic
    }

    fn read_request(&self, body: Bytes) -> Result<Request, JsonError> {
        request::read(body)
    }

    fn spoken(&self) -> Option<&'static dyn Spoken> {
        Some(&spoken::Anthropic)
    }

    fn reader(&self, declared: Declared) -> Box<dyn Reader> {
        Box::new(read::EventReader::new(declared))
    }

    fn writer(&self) -> Box<dyn Writer> {
        writer()
    }

    fn read_message<'b>(
        &self,
        body: &'b [u8],
        declared: &Declared,
    ) -> Result<ReadMessage<'b>, Violation> {
        message::read(body, declared)
    }

    fn keep_alive(&self) -> Option<Canonical> {
        Some(write::ping())
    }

    fn error_event(&self, message: &str) -> Canonical {
        write::error_event(message)
    }

    fn error_body(&self, status: u16, message: &str) -> Canonical {
        Canonical::of_value(&write::error(write::error_kind(status), message))
    }
}

/// A writer at the start of a streamed response.
pub(super) fn writer() -> Box<dyn Writer> {
    Box::new(write::EventWriter::default())
}

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
    Call(Box<HeldCall>),
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
        let mut held = held_call(block, self.runs(kind, block));
        if nested {
            held.fail(Fault::NestedCall);
        } else if let Some(key) = ambiguous(if inert { block } else { &held.envelope }) {
            held.fail(Fault::AmbiguousKey(key));
        }
        BlockKind::Call(Box::new(held))
    }

    fn runs(&self, kind: &str, block: &Json<'_>) -> Executor {
        match kind {
            "server_tool_use" | "mcp_tool_use"
                if request::runs_at_provider(&self.request.provider, block) =>
            {
                Executor::AtProvider
            }
            "tool_use" | "server_tool_use" | "mcp_tool_use" => Executor::AtClient,
            unknown => Executor::Unknown(shorten(unknown, 80)),
        }
    }
}

/// A call that begins with this block, which may contain its input.
pub(super) fn held_call(block: &Json<'_>, runs: Executor) -> HeldCall {
    let text = |key| block.get_str(key).map(str::to_owned);
    let input = block.get("input").map(Json::text);
    let mut envelope = block.clone();
    envelope.set("input", Json::Object(Vec::new()));
    HeldCall::new(runs, text("id"), text("name"), input).with_envelope(envelope)
}
