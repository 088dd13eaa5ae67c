//! A streamed message, block by block.

use super::super::super::anthropic::{block_start, block_stop, delta, single};
use super::super::{Composer, End, Head, Words};
use super::{SIGNATURE, message_head, stop_reason, stop_sequence, usage};
use crate::canonical::Frames;
use crate::event::{Block, Event, Part};
use holdgate_effects::json::Json;

/// Bytes of white space at the start of a block that wait for words: a block of white space alone
/// is refused by servers when it comes back.
const MAX_SPACE: usize = 256;

/// Writes one message.
#[derive(Debug, Default)]
pub(super) struct MessageComposer {
    open: Option<(Words, Block)>,
    /// White space that may begin a block of this kind.
    space: (Option<Words>, String),
}

impl Composer for MessageComposer {
    fn start(&mut self, head: &Head, events: &mut Vec<Event>) {
        let start = Json::object([
            ("type", "message_start".into()),
            ("message", message_head(head)),
        ]);
        let frame = single("message_start", &start.text());
        events.push(Event::Piece(Part::MessageStart, frame));
    }

    fn words(&mut self, kind: Words, text: &str, next: &mut Block, events: &mut Vec<Event>) {
        let is_open = self.open.is_some_and(|(open, _)| open == kind);
        let joined;
        let mut text = text;
        if !is_open {
            let (waiting, space) = std::mem::take(&mut self.space);
            if waiting == Some(kind) {
                joined = space + text;
                text = &joined;
            }
            if text.len() <= MAX_SPACE && text.trim().is_empty() {
                self.space = (Some(kind), text.to_owned());
                return;
            }
            self.close(events);
            self.open = Some((kind, *next));
            let block = match kind {
                Words::Text => Json::object([("type", "text".into()), ("text", "".into())]),
                Words::Thinking => Json::object([
                    ("type", "thinking".into()),
                    ("thinking", "".into()),
                    ("signature", "".into()),
                ]),
            };
            let mut out = Frames::default();
            block_start(*next, block, &mut out);
            events.push(Event::Piece(Part::BlockStart(*next), out.finish()));
            *next += 1;
        }
        if let Some((_, block)) = self.open {
            let mut out = Frames::with_capacity(text.len() + 160);
            match kind {
                Words::Text => delta(block, "text_delta", "text", text, &mut out),
                Words::Thinking => delta(block, "thinking_delta", "thinking", text, &mut out),
            }
            events.push(Event::Piece(Part::BlockMore(block), out.finish()));
        }
    }

    fn close(&mut self, events: &mut Vec<Event>) {
        self.space = (None, String::new());
        let Some((kind, block)) = self.open.take() else {
            return;
        };
        if kind == Words::Thinking {
            let mut out = Frames::default();
            delta(block, "signature_delta", "signature", SIGNATURE, &mut out);
            events.push(Event::Piece(Part::BlockMore(block), out.finish()));
        }
        let mut out = Frames::default();
        block_stop(block, &mut out);
        events.push(Event::Piece(Part::BlockStop(block), out.finish()));
    }

    fn end(&mut self, end: &End, events: &mut Vec<Event>) {
        let reason = Json::object([
            ("stop_reason", stop_reason(end).into()),
            ("stop_sequence", stop_sequence(end)),
        ]);
        let data = Json::object([
            ("type", "message_delta".into()),
            ("delta", reason),
            ("usage", usage(end.usage)),
        ]);
        let frame = single("message_delta", &data.text());
        events.push(Event::Piece(Part::StopReason, frame));
        let frame = single("message_stop", r#"{"type":"message_stop"}"#);
        events.push(Event::Piece(Part::MessageStop, frame));
    }
}
