//! One choice of a response: what was said in it, and the calls in it, piece by piece.

use super::super::said::Said;
use super::chunk::texts;
use super::fragment::{Brackets, CUSTOM_END, CUSTOM_START, Fragment, Kind, custom_piece};
use crate::call::Fault;
use crate::event::{Block, Event, Violation};
use holdgate_effects::json::Json;

/// One of the answers that the model gives at the same time.
#[derive(Debug)]
pub(in super::super) struct Choice {
    pub(super) number: u64,
    pub(super) finished: bool,
    said: Said,
    calls: Vec<Call>,
}

#[derive(Debug)]
struct Call {
    block: Block,
    index: Option<u64>,
    /// The id that came, if one did.
    id: Option<String>,
    name: Option<String>,
    kind: Kind,
    brackets: Brackets,
    ended: bool,
}

impl Choice {
    /// A choice that begins.
    pub(in super::super) fn new(number: u64) -> Self {
        Choice {
            number,
            finished: false,
            said: Said::default(),
            calls: Vec::new(),
        }
    }

    /// Notes what the model says, and whether that is text of the message.
    pub(super) fn hear(&mut self, delta: Option<&Json<'_>>) -> bool {
        let Some(delta) = delta else {
            return false;
        };
        let mut has_text = false;
        for text in texts(delta.get("content")) {
            self.said.push(text);
            has_text |= !text.is_empty();
        }
        self.said.push(delta.get_str("refusal").unwrap_or_default());
        has_text
    }

    /// Takes a call, or a piece of one.
    pub(in super::super) fn take(
        &mut self,
        fragment: &Fragment<'_>,
        head: &Json<'_>,
        surrogates: Option<&Fault>,
        next_block: &mut Block,
        events: &mut Vec<Event>,
    ) -> Result<(), Violation> {
        let at = match self.find(fragment) {
            Some(at) => at,
            None if self.finished => {
                return Err(Violation::OutOfOrder(
                    "a tool call comes after the end of its choice",
                ));
            }
            None => {
                self.end_whole(events);
                self.begin(fragment, head, next_block, events);
                self.calls.len() - 1
            }
        };
        let Some(call) = self.calls.get_mut(at) else {
            return Ok(());
        };
        let block = call.block;
        let other_name = fragment.name.is_some() && fragment.name != call.name.as_deref();
        if call.ended {
            let more = |text: &str| !text.trim_ascii().is_empty();
            return match &fragment.input {
                Ok(text) if !other_name && !more(text) => Ok(()),
                Ok(_) | Err(_) => Err(Violation::OutOfOrder("a tool call goes on after its end")),
            };
        }
        let fault = fragment.fault().or_else(|| surrogates.cloned());
        let fault = fault.or(other_name.then_some(Fault::TwoNames));
        if let Some(fault) = fault.or_else(|| fragment.unknown_kind()) {
            events.push(Event::CallInput(block, Err(fault)));
        }
        match &fragment.input {
            Ok(text) if text.is_empty() => {}
            Ok(text) => {
                call.brackets.push(text);
                let piece = match call.kind {
                    Kind::Custom => custom_piece(text),
                    Kind::Function | Kind::Legacy | Kind::Unknown(_) => text.to_string(),
                };
                events.push(Event::CallInput(block, Ok(piece)));
            }
            Err(fault) => events.push(Event::CallInput(block, Err(fault.clone()))),
        }
        Ok(())
    }

    /// The call that this is a piece of. Servers number calls, or only give them ids, or number all
    /// of them 0: a new id is a new call.
    fn find(&self, fragment: &Fragment<'_>) -> Option<usize> {
        let last = |is: &dyn Fn(&Call) -> bool| self.calls.iter().rposition(is);
        let is_legacy = |call: &Call| call.kind == Kind::Legacy;
        match (fragment.index, fragment.id) {
            _ if fragment.kind == Kind::Legacy => last(&is_legacy),
            (Some(index), Some(id)) => last(&|call| {
                let same_id = call.id.as_deref().is_none_or(|known| known == id);
                call.index == Some(index) && same_id
            }),
            (Some(index), None) => last(&|call| call.index == Some(index)),
            (None, Some(id)) => last(&|call| call.id.as_deref() == Some(id)),
            (None, None) if fragment.name.is_some() => None,
            (None, None) => last(&|call| !is_legacy(call)),
        }
    }

    fn begin(
        &mut self,
        fragment: &Fragment<'_>,
        head: &Json<'_>,
        next_block: &mut Block,
        events: &mut Vec<Event>,
    ) {
        let block = *next_block;
        *next_block += 1;
        let id = match fragment.kind {
            // Its result names the function only.
            Kind::Legacy => fragment.name.unwrap_or_default().to_owned(),
            Kind::Function | Kind::Custom | Kind::Unknown(_) => new_id(head, block),
        };
        let mut held = fragment.begin(self.number, id);
        held.said = self.said.end();
        events.push(Event::CallStart(block, Box::new(held)));
        if fragment.kind == Kind::Custom {
            events.push(Event::CallInput(block, Ok(CUSTOM_START.to_owned())));
        }
        self.calls.push(Call {
            block,
            index: fragment.index,
            id: fragment.id.map(str::to_owned),
            name: fragment.name.map(str::to_owned),
            kind: fragment.kind.clone(),
            brackets: Brackets::default(),
            ended: false,
        });
    }

    /// Another call begins: those whose arguments are whole have ended.
    fn end_whole(&mut self, events: &mut Vec<Event>) {
        for call in &mut self.calls {
            if call.kind != Kind::Custom && call.brackets.is_whole() {
                call.end(events);
            }
        }
    }

    /// The choice has ended, and with it all its calls.
    pub(in super::super) fn finish(&mut self, events: &mut Vec<Event>) {
        self.finished = true;
        for call in &mut self.calls {
            call.end(events);
        }
    }
}

impl Call {
    fn end(&mut self, events: &mut Vec<Event>) {
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        if self.kind == Kind::Custom {
            events.push(Event::CallInput(self.block, Ok(CUSTOM_END.to_owned())));
        }
        events.push(Event::CallEnd(self.block));
    }
}

/// Bytes of a response's id that make the id of a call: some servers take 40 bytes.
const ID_BYTES: usize = 24;

/// An id for a call that has none. The client needs one, to say whose result it sends.
fn new_id(head: &Json<'_>, block: Block) -> String {
    let response = head.get_str("id").unwrap_or_default();
    let plain: String = response
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .collect();
    let from = plain.len().saturating_sub(ID_BYTES);
    format!("call_{}_{block}", plain.get(from..).unwrap_or_default())
}
