//! Ollama's own chat API: one JSON value a line, and calls that come whole.

mod line;
mod message;
mod read;
mod write;

use super::chat::{SYSTEM_ROLES, mentions, results, take_fact};
use super::spoken::{self, Spoken};
use super::{Declared, Protocol, ReadMessage, Reader, Vendor, Writer};
use crate::canonical::Canonical;
use crate::event::Violation;
use crate::framing::Framing;
use crate::request::{Layout, Request};
use bytes::Bytes;
use holdgate_effects::json::JsonError;

/// Ollama's own chat API.
pub const OLLAMA: &dyn Protocol = &Ollama;

static LAYOUT: Layout = Layout {
    messages: "messages",
    content: "content",
    system: SYSTEM_ROLES,
    mentions,
    results,
};

#[derive(Debug)]
struct Ollama;

impl Protocol for Ollama {
    fn name(&self) -> &'static str {
        "ollama"
    }

    fn serves(&self, path: &str) -> bool {
        path.ends_with("/api/chat")
    }

    fn vendor(&self) -> Vendor {
        Vendor::Ollama
    }

    fn framing(&self) -> Framing {
        Framing::Lines
    }

    fn read_request(&self, body: Bytes) -> Result<Request, JsonError> {
        Request::read(body, &LAYOUT, take_fact)
    }

    fn spoken(&self) -> Option<&'static dyn Spoken> {
        Some(&spoken::Ollama)
    }

    fn reader(&self, declared: Declared) -> Box<dyn Reader> {
        Box::new(read::LineReader::new(declared))
    }

    fn writer(&self) -> Box<dyn Writer> {
        Box::new(write::LineWriter::default())
    }

    fn read_message<'b>(
        &self,
        body: &'b [u8],
        declared: &Declared,
    ) -> Result<ReadMessage<'b>, Violation> {
        message::read(body, declared)
    }

    /// A line with an empty text, as the server itself sends many.
    fn keep_alive(&self) -> Option<Canonical> {
        Some(write::empty_line())
    }

    fn error_event(&self, message: &str) -> Canonical {
        write::frame(&write::error(message))
    }

    fn error_body(&self, _: u16, message: &str) -> Canonical {
        Canonical::of_value(&write::error(message).text())
    }
}
