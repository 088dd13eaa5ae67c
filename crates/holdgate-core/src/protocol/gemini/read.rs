//! Turns chunks into events. Words leave at once; calls are taken out of their chunks and held.

use super::super::chat::without;
use super::super::{Declared, Reader};
use super::chunk::{self, Candidates, Item, finishes, head, is_refused};
use super::names::is_one_of;
use super::write::{frame, with_parts};
use crate::event::{Block, Event, Part, Violation};
use crate::sse::Fields;
use holdgate_effects::json::Json;

/// Follows one response from its first chunk to its end.
#[derive(Debug)]
pub(super) struct ChunkReader {
    candidates: Candidates,
    next_block: Block,
    /// By candidate, the call that waits for further pieces.
    open: Vec<(u64, Block)>,
}

impl ChunkReader {
    /// A reader at the start of a response.
    pub(super) fn new(declared: Declared) -> Self {
        ChunkReader {
            candidates: Candidates::new(declared),
            next_block: 0,
            open: Vec::new(),
        }
    }

    fn chunk(
        &mut self,
        data: &[u8],
        named: bool,
        events: &mut Vec<Event>,
    ) -> Result<(), Violation> {
        let json = chunk::read(data, "a chunk")?;
        let Some(candidates) = chunk::candidates(&json)? else {
            events.push(Event::UpstreamError);
            return Ok(());
        };
        let head = head(&json);
        let mut read = Vec::with_capacity(candidates.len());
        for candidate in candidates {
            read.push((candidate, self.candidates.take(candidate, &head, data)?));
        }
        let mut items = read.iter().flat_map(|(_, items)| items);
        if items.all(|item| matches!(item, Item::Inert(_))) {
            let ends = is_refused(&json) || candidates.iter().any(finishes);
            let part = part(ends);
            // Names mean nothing here, and some clients take frames with one for something else.
            events.push(if named {
                Event::Piece(part, frame(&json))
            } else {
                Event::Inert(part)
            });
            return Ok(());
        }
        let last = read.len();
        for (at, (candidate, items)) in read.into_iter().enumerate() {
            let whole = (at + 1 == last).then_some(&json);
            self.split(&head, whole, candidate, items, events)?;
        }
        Ok(())
    }

    /// The parts of a candidate in frames of their own: its words, its calls, and the rest of it, with
    /// the rest of the chunk if it is the last candidate.
    fn split(
        &mut self,
        head: &Json<'_>,
        chunk: Option<&Json<'_>>,
        candidate: &Json<'_>,
        items: Vec<Item<'_, '_>>,
        events: &mut Vec<Event>,
    ) -> Result<(), Violation> {
        let number = chunk::number(candidate)?;
        let bare = Json::object([("index", number.into())]);
        let mut words: Vec<Json<'_>> = Vec::new();
        for item in items {
            if !matches!(item, Item::Inert(_)) && !words.is_empty() {
                let piece = with_parts(head, &bare, std::mem::take(&mut words));
                events.push(Event::Piece(Part::Other, frame(&piece)));
            }
            match item {
                Item::Inert(part) => words.push(part.clone()),
                Item::Call(held, whole) => {
                    let block = self.next_block;
                    self.next_block += 1;
                    events.push(Event::CallStart(block, held));
                    if whole {
                        events.push(Event::CallEnd(block));
                    } else {
                        self.open.push((number, block));
                    }
                }
                Item::More(ends) => {
                    events.push(Event::CallNoise);
                    let at = self.open.iter().position(|(of, _)| *of == number);
                    if let Some(at) = at.filter(|_| ends) {
                        let (_, block) = self.open.remove(at);
                        events.push(Event::CallEnd(block));
                    }
                }
            }
        }
        let chunk = chunk.unwrap_or(head);
        let rest = |json: &Json<'_>, known: &[&str]| {
            let members = json.as_object().unwrap_or_default().iter();
            members.filter(|(key, _)| !is_one_of(key, known)).count() > 0
        };
        let has_more = rest(candidate, &["content", "index"])
            || rest(chunk, &["candidates"]) && rest(&without_head(chunk), &["candidates"]);
        if has_more || !words.is_empty() {
            let piece = with_parts(chunk, candidate, words);
            events.push(Event::Piece(part(finishes(candidate)), frame(&piece)));
        }
        Ok(())
    }
}

/// The chunk without what all chunks have.
fn without_head<'a>(chunk: &Json<'a>) -> Json<'a> {
    let head = head(chunk);
    let keys: Vec<&str> = head
        .as_object()
        .unwrap_or_default()
        .iter()
        .map(|(k, _)| &**k)
        .collect();
    without(chunk, &keys)
}

fn part(ends: bool) -> Part {
    if ends { Part::StopReason } else { Part::Other }
}

impl Reader for ChunkReader {
    fn read(&mut self, fields: &Fields<'_>, events: &mut Vec<Event>) -> Result<(), Violation> {
        match &fields.data {
            None => events.push(Event::Silent),
            // Gateways that also serve other protocols add it; clients of this one fail at it.
            Some(data) if **data == *b"[DONE]" => events.push(Event::Stray("an end mark")),
            Some(data) => self.chunk(data, fields.event.is_some(), events)?,
        }
        Ok(())
    }

    fn is_mid_block(&self) -> bool {
        self.candidates.is_unfinished()
    }
}
