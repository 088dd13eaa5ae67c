//! What acts in a text, as calls that do the same.

use super::HEAD;
use super::aider::{Action, Part};
use crate::call::{Executor, Fault, HeldCall};
use crate::event::Part as Place;
use holdgate_effects::json::Json;

/// Actions that one call holds, in as many such calls.
const TOGETHER: usize = 60;

/// Makes calls of what acts in a text.
#[derive(Debug)]
pub(super) struct Calls {
    id: String,
    pub(super) count: u64,
}

impl Calls {
    pub(super) fn new(response: &str) -> Self {
        Calls {
            id: format!("text_{response}"),
            count: 0,
        }
    }

    /// The prose, or the call.
    pub(super) fn of(
        &mut self,
        part: Part,
        head: &Json<'static>,
        place: Place,
    ) -> Result<String, Box<HeldCall>> {
        let (words, called) = match part {
            Part::Prose(text) => return Ok(text),
            Part::Actions(words, actions) => (words, call(actions)),
            Part::Unclear(words, why) => (words, Err(Fault::Garbled(why))),
        };
        self.count += 1;
        let id = format!("{}_{}", self.id, self.count);
        let block = match place {
            Place::BlockMore(block) => block.into(),
            Place::MessageStart
            | Place::BlockStart(_)
            | Place::BlockStop(_)
            | Place::StopReason
            | Place::MessageStop
            | Place::Other => Json::Null,
        };
        let envelope = Json::object([(HEAD, head.clone()), ("block", block)]);
        let (tool, input, fault) = match called {
            Ok(Action { tool, input }) => (tool, Some(input.text()), None),
            Err(fault) => ("text", None, Some(fault)),
        };
        let held = HeldCall::new(Executor::AtClient, Some(id), Some(tool.to_owned()), input);
        let mut held = held.with_envelope(envelope);
        held.words = Some(words.into());
        if let Some(fault) = fault {
            held.fail(fault);
        }
        Err(Box::new(held))
    }
}

/// One call that does all of this.
fn call(mut actions: Vec<Action>) -> Result<Action, Fault> {
    for _ in 0..2 {
        if actions.len() <= 1 {
            break;
        }
        actions = actions.chunks(TOGETHER).map(together).collect();
    }
    match (actions.pop(), actions.is_empty()) {
        (Some(action), true) => Ok(action),
        _ => Err(Fault::Garbled("it has too many actions")),
    }
}

fn together(actions: &[Action]) -> Action {
    if let [only] = actions {
        return only.clone();
    }
    let call = |action: &Action| {
        Json::object([
            ("tool_name", action.tool.into()),
            ("parameters", action.input.clone()),
        ])
    };
    Action {
        tool: "batch",
        input: Json::object([("calls", Json::Array(actions.iter().map(call).collect()))]),
    }
}
