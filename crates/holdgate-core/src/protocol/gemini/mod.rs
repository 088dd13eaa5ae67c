//! Gemini's `generateContent` and `streamGenerateContent`, streamed as events and whole. A stream that
//! is asked for without `alt=sse` is one list, which is judged as a whole body.

mod chunk;
mod history;
mod message;
mod names;
mod part;
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

/// Gemini's `generateContent`.
pub const GEMINI: &dyn Protocol = &Gemini;

/// What a model is asked for an answer with.
const METHODS: &[&str] = &[":generatecontent", ":streamgeneratecontent"];
/// The collections of models.
const COLLECTIONS: &[&str] = &["models", "tunedmodels"];

#[derive(Debug)]
struct Gemini;

impl Protocol for Gemini {
    fn name(&self) -> &'static str {
        "gemini"
    }

    /// Not the paths of Vertex AI and of Code Assist: they are other services, with other keys.
    fn serves(&self, path: &str) -> bool {
        let mut segments = path.rsplit('/');
        let last = segments.next().unwrap_or_default();
        let collection = segments.next().unwrap_or_default();
        METHODS.iter().any(|method| last.ends_with(method))
            && COLLECTIONS.contains(&collection)
            && !segments.any(|segment| segment == "projects" || segment == "publishers")
    }

    fn vendor(&self) -> Vendor {
        Vendor::Gemini
    }

    fn names_frames(&self) -> bool {
        false
    }

    fn read_request(&self, body: Bytes) -> Result<Request, JsonError> {
        request::read(body)
    }

    fn spoken(&self) -> Option<&'static dyn Spoken> {
        Some(&spoken::Gemini)
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

    /// A chunk with an empty text, as the API's own last chunk has one. Google's SDKs for Python and
    /// JavaScript fail at comments, and clients that take `candidates[0]` at a chunk without candidates.
    fn keep_alive(&self) -> Option<Canonical> {
        Some(write::empty_chunk())
    }

    fn error_event(&self, message: &str) -> Canonical {
        write::frame(&write::error(503, message))
    }

    fn error_body(&self, status: u16, message: &str) -> Canonical {
        Canonical::of_value(&write::error(status, message).text())
    }
}
