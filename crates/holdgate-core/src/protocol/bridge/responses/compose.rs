//! A streamed response, item by item. The events that end an item, and the response, repeat its
//! text, so it is kept.

use super::super::super::responses::push_event;
use super::super::{Composer, End, Head, Reason, Words};
use super::{item, item_id, part, response_of};
use crate::canonical::{Canonical, Frames};
use crate::event::{Block, Event, Part};
use holdgate_effects::json::{Json, write_string};

/// Bytes of white space at the start of an item that wait for words.
const MAX_SPACE: usize = 256;

/// Writes one response.
#[derive(Debug, Default)]
pub(super) struct ResponseComposer {
    head: Head,
    /// The number of the next event.
    number: u64,
    open: Option<Open>,
    /// White space that may begin an item of this kind.
    space: Option<(Words, String)>,
    /// The items that are whole.
    output: Vec<Json<'static>>,
    /// Bytes in `output`.
    kept: usize,
}

/// An item that has begun.
#[derive(Debug)]
struct Open {
    kind: Words,
    block: Block,
    id: String,
    text: String,
}

impl Open {
    /// Where the item and its content are.
    fn place(&self) -> Vec<(&'static str, Json<'static>)> {
        vec![
            ("item_id", self.id.clone().into()),
            ("output_index", self.block.into()),
            ("content_index", 0.into()),
        ]
    }

    /// The start of the names of its events.
    fn events(&self) -> &'static str {
        match self.kind {
            Words::Text => "response.output_text",
            Words::Thinking => "response.reasoning_text",
        }
    }
}

impl ResponseComposer {
    fn event(&mut self, kind: &str, members: Vec<(&'static str, Json<'static>)>) -> Canonical {
        let mut out = Frames::default();
        push_event(kind, self.number, members, &mut out);
        self.number += 1;
        out.finish()
    }

    fn begin(&mut self, kind: Words, block: Block, events: &mut Vec<Event>) {
        let open = Open {
            kind,
            block,
            id: item_id(&self.head, kind, block),
            text: String::new(),
        };
        let mut begun = item(kind, &open.id, "");
        begun.set("status", "in_progress".into());
        begun.set("content", Json::Array(Vec::new()));
        let members = vec![("output_index", block.into()), ("item", begun)];
        let frame = self.event("response.output_item.added", members);
        events.push(Event::Piece(Part::BlockStart(block), frame));
        let mut members = open.place();
        members.push(("part", part(kind, "")));
        let frame = self.event("response.content_part.added", members);
        events.push(Event::Piece(Part::BlockMore(block), frame));
        self.open = Some(open);
    }
}

impl Composer for ResponseComposer {
    fn start(&mut self, head: &Head, events: &mut Vec<Event>) {
        self.head = head.clone();
        let kinds = [
            ("response.created", Part::MessageStart),
            ("response.in_progress", Part::Other),
        ];
        for (kind, part) in kinds {
            let frame = self.event(kind, vec![("response", response_of(head, None))]);
            events.push(Event::Piece(part, frame));
        }
    }

    fn words(&mut self, kind: Words, text: &str, next: &mut Block, events: &mut Vec<Event>) {
        let is_open = self.open.as_ref().is_some_and(|open| open.kind == kind);
        let joined;
        let mut text = text;
        if !is_open {
            if let Some((_, space)) = self.space.take().filter(|(of, _)| *of == kind) {
                joined = space + text;
                text = &joined;
            }
            if text.len() <= MAX_SPACE && text.trim().is_empty() {
                self.space = Some((kind, text.to_owned()));
                return;
            }
            self.close(events);
            self.begin(kind, *next, events);
            *next += 1;
        }
        let Some(open) = &mut self.open else {
            return;
        };
        open.text.push_str(text);
        // By hand: this is the frame of which there are many.
        let kind = format!("{}.delta", open.events());
        let mut data = format!(
            "{{\"type\":\"{kind}\",\"sequence_number\":{},\"item_id\":\"{}\",\"output_index\":{},\"content_index\":0,\"delta\":",
            self.number, open.id, open.block
        );
        write_string(text, &mut data);
        let logprobs = match open.kind {
            Words::Text => ",\"logprobs\":[]}",
            Words::Thinking => "}",
        };
        let mut out = Frames::with_capacity(data.len() + 80);
        out.push_pieces(Some(&kind), &[&data, logprobs]);
        self.number += 1;
        events.push(Event::Piece(Part::BlockMore(open.block), out.finish()));
    }

    fn close(&mut self, events: &mut Vec<Event>) {
        self.space = None;
        let Some(open) = self.open.take() else {
            return;
        };
        let mut done = open.place();
        done.push(("text", open.text.clone().into()));
        if open.kind == Words::Text {
            done.push(("logprobs", Json::Array(Vec::new())));
        }
        let frame = self.event(&format!("{}.done", open.events()), done);
        events.push(Event::Piece(Part::BlockMore(open.block), frame));
        let mut done = open.place();
        done.push(("part", part(open.kind, &open.text)));
        let frame = self.event("response.content_part.done", done);
        events.push(Event::Piece(Part::BlockMore(open.block), frame));
        let whole = item(open.kind, &open.id, &open.text);
        let members = vec![("output_index", open.block.into()), ("item", whole.clone())];
        let frame = self.event("response.output_item.done", members);
        events.push(Event::Piece(Part::BlockStop(open.block), frame));
        self.kept += open.text.len() + open.id.len();
        self.output.push(whole);
    }

    /// The writer adds the calls to the output: those that were sent.
    fn end(&mut self, end: &End, events: &mut Vec<Event>) {
        let mut response = response_of(&self.head, Some(end));
        response.set("output", Json::Array(std::mem::take(&mut self.output)));
        let kind = match end.reason {
            Reason::Done => "response.completed",
            Reason::Length | Reason::Filter => "response.incomplete",
        };
        let frame = self.event(kind, vec![("response", response)]);
        events.push(Event::Piece(Part::MessageStop, frame));
    }

    fn kept(&self) -> usize {
        self.kept + self.open.as_ref().map_or(0, |open| open.text.len())
    }
}
