//! Turns frames into events. Inert kinds are listed; everything else is held or ends the stream.

mod items;

use super::super::said::Said;
use super::super::{Declared, Reader, is_call};
use super::MAX_DEPTH;
use super::item::{could_act, member_acts};
use super::output::{Seen, check_begun, check_ended, same_names};
use super::write::single;
use crate::call::Fault;
use crate::event::{Block, Event, Part, Violation};
use crate::sse::Fields;
use holdgate_effects::json::{Json, LoneSurrogates, fold, shorten};
use items::Open;

/// Events that belong to no item and carry data, but cause nothing.
const HARMLESS: &[&str] = &[
    "response.audio.delta",
    "response.audio.done",
    "response.audio.transcript.delta",
    "response.audio.transcript.done",
];

/// Follows one response from its start to its end.
#[derive(Debug)]
pub(super) struct EventReader {
    declared: Declared,
    started: bool,
    last: Option<Block>,
    items: usize,
    open: Vec<(Block, Open)>,
    seen: Seen,
    said: Said,
}

impl EventReader {
    /// A reader at the start of a response.
    pub(super) fn new(declared: Declared) -> Self {
        EventReader {
            declared,
            started: false,
            last: None,
            items: 0,
            open: Vec::new(),
            seen: Seen::default(),
            said: Said::default(),
        }
    }

    fn event(
        &mut self,
        kind: &str,
        json: &Json<'_>,
        data: &[u8],
        events: &mut Vec<Event>,
    ) -> Result<(), Violation> {
        let response = json.get("response").unwrap_or(&Json::Null);
        let item_kind = || {
            let item = json.get("item")?;
            Some((item.get_str("type")?, item))
        };
        let item = || item_kind().ok_or(Violation::Incomplete("an item without a type"));
        let event = match kind {
            "error" => Event::UpstreamError,
            "response.created" => {
                check_begun(response)?;
                self.created()?
            }
            "response.queued" | "response.in_progress" => {
                check_begun(response)?;
                Event::Inert(Part::Other)
            }
            "response.failed"
            | "response.completed"
            | "response.incomplete"
            | "response.cancelled"
                if self.started || kind == "response.failed" =>
            {
                self.cut_off(events);
                match check_ended(response, &self.declared, &mut self.seen)? {
                    None => Event::Inert(Part::MessageStop),
                    Some(output) => {
                        let (mut json, mut response) = (json.clone(), response.clone());
                        response.set("output", output);
                        json.set("response", response);
                        Event::Piece(Part::MessageStop, single(kind, &json.text()))
                    }
                }
            }
            kind if HARMLESS.contains(&kind) => Event::Inert(Part::Other),
            // Limits and keep-alives may come at any time.
            _ if json.get("output_index").is_none()
                && !could_act(json)
                && !is_of_item(kind, json) =>
            {
                Event::Inert(Part::Other)
            }
            _ if !self.started => {
                return Err(Violation::OutOfOrder(
                    "the response does not begin with response.created",
                ));
            }
            "response.output_item.added" => {
                let (kind, item) = item()?;
                return self.added(index(json)?, kind, item, data, events);
            }
            "response.output_item.done" => {
                let (kind, item) = item()?;
                return self.done(index(json)?, kind, item, data, events);
            }
            _ if json.get("output_index").is_none() => {
                return Err(Violation::UnknownEvent(shorten(kind, 40)));
            }
            _ => self.delta(index(json)?, kind, json, data)?,
        };
        events.push(event);
        Ok(())
    }

    fn created(&mut self) -> Result<Event, Violation> {
        match (std::mem::replace(&mut self.started, true), self.last) {
            (false, _) => Ok(Event::Inert(Part::MessageStart)),
            (true, None) => Ok(Event::Stray("a second response.created")),
            (true, Some(_)) => Err(Violation::OutOfOrder("a second response.created")),
        }
    }

    /// The response ends: calls that are not whole never will be.
    fn cut_off(&mut self, events: &mut Vec<Event>) {
        for (index, open) in std::mem::take(&mut self.open) {
            if let Open::Call(call) = open {
                self.seen.cut(call.id.as_deref());
                events.push(Event::CallInput(index, Err(Fault::CutOff)));
                events.push(Event::CallEnd(index));
            }
        }
    }
}

impl Reader for EventReader {
    fn read(&mut self, fields: &Fields<'_>, events: &mut Vec<Event>) -> Result<(), Violation> {
        let Some(data) = &fields.data else {
            return match fields.event {
                // Clients accept nothing before the first event, so nothing can keep them waiting.
                None if !self.started => Ok(()),
                None => {
                    events.push(Event::Silent);
                    Ok(())
                }
                Some(_) => Err(Violation::Incomplete("an event has a name but no data")),
            };
        };
        if fields.event.is_none() && data.as_ref() == b"[DONE]" {
            events.push(Event::Stray("the end marker of another protocol"));
            return Ok(());
        }
        let what = "an event's data";
        let json = Json::read(data, MAX_DEPTH, LoneSurrogates::Replace)
            .map_err(|error| Violation::Json { what, error })?;
        let kind = json
            .get_str("type")
            .ok_or(Violation::Incomplete("an event has no type"))?;
        // Some servers leave the name out, and clients that use the type do not miss it.
        let unnamed = fields.event.is_none() && kind != "error";
        if fields.event != Some(kind) && !unnamed {
            return Err(Violation::OtherName {
                name: shorten(fields.event.unwrap_or_default(), 40),
                kind: shorten(kind, 40),
            });
        }
        let from = events.len();
        self.event(kind, &json, data, events)?;
        for event in events.get_mut(from..).unwrap_or_default() {
            let (Event::Inert(_) | Event::Piece(..) | Event::UpstreamError) = event else {
                continue;
            };
            leaves(kind, &json)?;
            if let (true, Event::Inert(part)) = (unnamed, &event) {
                let text = std::str::from_utf8(data).unwrap_or_default();
                *event = Event::Piece(*part, single(kind, text));
            }
        }
        Ok(())
    }

    fn is_mid_block(&self) -> bool {
        !self.open.is_empty()
    }
}

fn index(json: &Json<'_>) -> Result<Block, Violation> {
    let index = json.get("output_index").and_then(Json::as_u64);
    index.ok_or(Violation::Incomplete("an event without an output_index"))
}

/// Whether an event belongs to an item by its name or by what it names, wherever that item stands.
fn is_of_item(kind: &str, json: &Json<'_>) -> bool {
    let members = json.as_object().unwrap_or_default().iter();
    let mut keys = members.map(|(key, _)| fold(key).replace('_', ""));
    kind.contains("call") || keys.any(|key| key == "itemid")
}

/// Checks an event that leaves: no reader may find a call in it.
fn leaves(kind: &str, json: &Json<'_>) -> Result<(), Violation> {
    // Items and responses have been looked at by their kind.
    let checked = match kind {
        "response.output_item.added" | "response.output_item.done" => "item",
        "response.created"
        | "response.queued"
        | "response.in_progress"
        | "response.completed"
        | "response.incomplete"
        | "response.cancelled"
        | "response.failed" => "response",
        _ => "type",
    };
    let members = json.as_object().unwrap_or_default().iter();
    let others = members.filter(|(key, _)| key != "type" && key != checked);
    for (key, value) in others {
        if is_call(key, value) || checked != "type" && member_acts(key, value) {
            return Err(Violation::HiddenCall(shorten(kind, 40)));
        }
        if let Some(key) = value.ambiguous_key() {
            return Err(Violation::AmbiguousKey(shorten(key, 40)));
        }
    }
    same_names(json)
}
