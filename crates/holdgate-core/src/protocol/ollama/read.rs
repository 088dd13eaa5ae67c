//! Turns lines into events. Words leave at once; calls are taken out of their lines and held.

use super::super::chat::without;
use super::super::said::Said;
use super::super::{Declared, Reader};
use super::line::{self, CALLS, Line};
use super::write::frame;
use crate::event::{Block, Event, Part, Violation};
use crate::sse::Fields;
use holdgate_effects::json::Json;
use std::collections::HashMap;

/// Follows one response from its first line to the one that says it is done.
#[derive(Debug)]
pub(super) struct LineReader {
    declared: Declared,
    said: Said,
    next_block: Block,
    names: HashMap<String, usize>,
}

impl LineReader {
    /// A reader at the start of a response.
    pub(super) fn new(declared: Declared) -> Self {
        LineReader {
            declared,
            said: Said::default(),
            next_block: 0,
            names: HashMap::new(),
        }
    }

    fn line(&mut self, data: &[u8], events: &mut Vec<Event>) -> Result<(), Violation> {
        let (json, calls) = match line::read(data, &self.declared, &mut self.names)? {
            Line::Error => {
                events.push(Event::UpstreamError);
                return Ok(());
            }
            Line::Message(json, calls) => (json, calls),
        };
        let text = line::text(&json);
        self.said.push(text);
        let part = match (line::is_done(&json), text) {
            (true, _) => Part::MessageStop,
            (false, "") => Part::Other,
            (false, _) => Part::BlockMore(0),
        };
        if calls.is_empty() {
            events.push(Event::Inert(part));
            return Ok(());
        }
        // The words leave before the calls, and the end after them.
        let none = Json::Object(Vec::new());
        let words = without(json.get("message").unwrap_or(&none), CALLS);
        let says = |key: &str| words.get_str(key).is_some_and(|text| !text.is_empty());
        if says("content") || says("thinking") {
            let kept = ["model", "created_at"].map(|key| {
                let value = json.get(key).cloned();
                (key, value.unwrap_or(Json::Null))
            });
            let mut piece = Json::object(kept);
            piece.set("message", words.clone());
            piece.set("done", Json::Bool(false));
            let part = match text {
                "" => Part::Other,
                _ => Part::BlockMore(0),
            };
            events.push(Event::Piece(part, frame(&piece)));
        }
        for mut held in calls {
            held.said = self.said.end();
            let block = self.next_block;
            self.next_block += 1;
            events.push(Event::CallStart(block, Box::new(held)));
            events.push(Event::CallEnd(block));
        }
        if line::is_done(&json) {
            let mut end = json.clone();
            let mut message = without(&words, &["thinking"]);
            message.set("content", "".into());
            end.set("message", message);
            events.push(Event::Piece(Part::MessageStop, frame(&end)));
        }
        Ok(())
    }
}

impl Reader for LineReader {
    fn read(&mut self, fields: &Fields<'_>, events: &mut Vec<Event>) -> Result<(), Violation> {
        match &fields.data {
            None => events.push(Event::Silent),
            Some(data) => self.line(data, events)?,
        }
        Ok(())
    }

    fn is_mid_block(&self) -> bool {
        false
    }
}
