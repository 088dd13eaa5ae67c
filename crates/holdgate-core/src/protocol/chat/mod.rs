//! `OpenAI` Chat Completions, streamed and whole.

mod choice;
mod chunk;
mod fragment;
mod history;
mod message;
mod read;
mod request;
mod write;

use super::spoken::{self, Spoken};
use super::{Declared, Protocol, ReadMessage, Reader, Vendor, Writer};
use crate::canonical::Canonical;
use crate::event::Violation;
use crate::request::Request;
use bytes::Bytes;
use holdgate_effects::json::JsonError;

// What a bridge to it needs.
pub(super) use choice::Choice;
// What other APIs have in common with this one.
pub(super) use chunk::{
    check_members, could_act, hides_call, is_set, no_lone_surrogates, read_json, texts, without,
};
pub(super) use fragment::Fragment;
pub(super) use history::{mentions, results};
pub(super) use request::{SYSTEM_ROLES, take_fact};

/// `OpenAI` Chat Completions.
pub const CHAT: &dyn Protocol = &Chat;

#[derive(Debug)]
struct Chat;

impl Protocol for Chat {
    fn name(&self) -> &'static str {
        "chat"
    }

    fn serves(&self, path: &str) -> bool {
        path.ends_with("/chat/completions")
    }

    fn vendor(&self) -> Vendor {
        Vendor::OpenAi
    }

    fn names_frames(&self) -> bool {
        false
    }

    fn read_request(&self, body: Bytes) -> Result<Request, JsonError> {
        request::read(body)
    }

    fn spoken(&self) -> Option<&'static dyn Spoken> {
        Some(&spoken::Chat)
    }

    fn reader(&self, declared: Declared) -> Box<dyn Reader> {
        Box::new(read::ChunkReader::new(declared))
    }

    fn writer(&self) -> Box<dyn Writer> {
        Box::new(write::ChunkWriter::default())
    }

    fn read_message<'b>(
        &self,
        body: &'b [u8],
        declared: &Declared,
    ) -> Result<ReadMessage<'b>, Violation> {
        message::read(body, declared)
    }

    /// A chunk that adds nothing. Every client knows such chunks: the last one of a choice has an
    /// empty delta too. Comments break clients that read the stream line by line, and a chunk
    /// without choices breaks those that ask for `choices[0]` and did not ask for the usage.
    fn keep_alive(&self) -> Option<Canonical> {
        Some(write::empty_chunk())
    }

    fn error_event(&self, message: &str) -> Canonical {
        write::error_event("server_error", message)
    }

    fn error_body(&self, status: u16, message: &str) -> Canonical {
        Canonical::of_value(&write::error(write::error_kind(status), message).text())
    }
}
