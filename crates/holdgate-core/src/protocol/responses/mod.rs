//! `OpenAI` Responses, streamed and whole: what Codex speaks.
//!
//! The same call stands in up to four places of a stream: in deltas, in the event that ends them, in
//! the item that is done, and in the final response. Clients differ in which of them they run. So all
//! places must agree, none leaves before the verdict, and all are written anew.

mod history;
mod item;
mod message;
mod output;
mod read;
mod request;
mod results;
mod write;

// What a bridge needs.
pub(super) use item::held_item;
pub(super) use message::message_of;
pub(super) use write::{message as message_item, push_event, response, text_part};

use super::{Declared, MAX_DEPTH, Protocol, ReadMessage, Reader, Vendor, Writer};
use crate::canonical::Canonical;
use crate::event::Violation;
use crate::request::Request;
use bytes::Bytes;
use holdgate_effects::json::JsonError;

/// `OpenAI` Responses.
pub const RESPONSES: &dyn Protocol = &Responses;

/// A writer that repeats the calls that it has sent at the end of the response.
pub(super) fn keeping_writer() -> Box<dyn Writer> {
    Box::new(write::EventWriter::keeping())
}

#[derive(Debug)]
struct Responses;

impl Protocol for Responses {
    fn name(&self) -> &'static str {
        "responses"
    }

    fn serves(&self, path: &str) -> bool {
        path.ends_with("/responses")
    }

    fn vendor(&self) -> Vendor {
        Vendor::OpenAi
    }

    fn read_request(&self, body: Bytes) -> Result<Request, JsonError> {
        request::read(body)
    }

    fn reader(&self, declared: Declared) -> Box<dyn Reader> {
        Box::new(read::EventReader::new(declared))
    }

    fn writer(&self) -> Box<dyn Writer> {
        Box::new(write::EventWriter::default())
    }

    fn read_message<'b>(
        &self,
        body: &'b [u8],
        declared: &Declared,
    ) -> Result<ReadMessage<'b>, Violation> {
        message::read(body, declared)
    }

    /// Events are numbered, so the writer has it.
    fn keep_alive(&self) -> Option<Canonical> {
        None
    }

    fn error_event(&self, message: &str) -> Canonical {
        write::error_event(message)
    }

    fn error_body(&self, status: u16, message: &str) -> Canonical {
        write::error_body(status, message)
    }
}
