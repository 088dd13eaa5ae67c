//! What one message of a conversation says about calls.

use crate::call::{CallLimits, HeldCall, Runs};
use crate::history::{Outcome, Step};
use crate::request;
use holdgate_effects::effect::{Effect, Kind, allocated};
use holdgate_effects::fuel::Fuel;
use holdgate_effects::json::{Json, JsonError, LoneSurrogates};
use holdgate_effects::path::World;
use holdgate_effects::tag::Tag;
use holdgate_effects::{self, Knowledge};
use std::fmt::Debug;
use std::hash::{BuildHasher as _, RandomState};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// The ids of calls that we wrote in place of refused ones begin so.
const OUR_CALLS: &str = "toolu_holdgate_";

/// What it takes to understand the calls of a conversation.
#[derive(Clone, Copy, Debug)]
pub struct CallReader<'a> {
    /// What is known about tools and programs.
    pub know: &'a Knowledge,
    /// Where the agent works.
    pub world: &'a World,
    /// The bounds on one call.
    pub limits: CallLimits,
    /// Units of work per call.
    pub fuel: u64,
    /// What may be kept.
    pub room: &'a dyn Room,
}

/// Whoever counts the bytes that are kept.
pub trait Room: Debug {
    /// Whether so many bytes more may be kept. What may not is not read: calls may have done
    /// anything then, and older messages are left out. Whoever says no has to refuse the request.
    fn take(&self, bytes: usize) -> bool;
}

/// Room for all.
#[derive(Clone, Copy, Debug)]
pub struct Unbounded;

impl Room for Unbounded {
    fn take(&self, _: usize) -> bool {
        true
    }
}

/// Something that a message says about a call.
#[derive(Debug)]
pub(super) enum Part {
    /// It was made. The step is what it becomes if it succeeds.
    Call(Arc<Step>),
    /// It came to an end.
    Result {
        /// The call.
        call: String,
        /// Whether the tool reported an error.
        failed: bool,
    },
    /// It was refused.
    Refused(Arc<Step>),
}

impl Part {
    pub(super) fn step(&self) -> Option<&Arc<Step>> {
        match self {
            Part::Call(step) | Part::Refused(step) => Some(step),
            Part::Result { .. } => None,
        }
    }
}

/// About how many bytes these take in memory, their steps left out, with their place in the map of
/// messages.
pub(super) fn bytes(parts: &[Part]) -> usize {
    let own = match parts.len() {
        0 => 0,
        parts => allocated(parts * size_of::<Part>() + 16),
    };
    let texts = parts.iter().map(|part| match part {
        Part::Result { call, .. } => allocated(call.capacity()),
        Part::Call(_) | Part::Refused(_) => 0,
    });
    64 + own + texts.sum::<usize>()
}

impl CallReader<'_> {
    /// What `message` says about calls, in order. Only `room` calls are understood; the others may
    /// have done anything.
    pub(super) fn parts(
        &self,
        message: &[u8],
        room: &mut usize,
        keys: &RandomState,
    ) -> Result<Vec<Part>, JsonError> {
        let message = Json::read(message, request::MAX_DEPTH, LoneSurrogates::Replace)?;
        let by_model = message.get("role").and_then(Json::as_str) == Some("assistant");
        let content = message.get("content");
        if let Some(text) = content.and_then(Json::as_str) {
            let refused = by_model.then(|| notice(text)).flatten();
            return Ok(refused.into_iter().collect());
        }
        let blocks = content.and_then(Json::as_array).unwrap_or(&[]);
        let mut parts = Vec::new();
        for block in blocks {
            parts.extend(self.part(block, by_model, room, keys));
        }
        Ok(parts)
    }

    fn part(
        &self,
        block: &Json<'_>,
        by_model: bool,
        room: &mut usize,
        keys: &RandomState,
    ) -> Option<Part> {
        let text = |key| block.get(key).and_then(Json::as_str);
        match text("type")? {
            "text" if by_model => notice(text("text")?),
            "tool_use" if by_model => self.call(block, Runs::AtClient, room, keys),
            "server_tool_use" | "mcp_tool_use" if by_model => {
                self.call(block, Runs::AtProvider, room, keys)
            }
            // The provider's results stand in the model's own message.
            kind if kind == "tool_result" || by_model && is_providers_result(kind) => {
                Some(Part::Result {
                    call: text("tool_use_id")?.to_owned(),
                    failed: block.get("is_error") == Some(&Json::Bool(true))
                        || is_error(block)
                        || block.get("content").is_some_and(holds_error),
                })
            }
            _ => None,
        }
    }

    fn call(
        &self,
        block: &Json<'_>,
        runs: Runs,
        room: &mut usize,
        keys: &RandomState,
    ) -> Option<Part> {
        let id = block.get("id")?.as_str()?;
        let tool = block.get("name")?.as_str()?;
        let empty = block.get("input").and_then(Json::as_object) == Some(&[]);
        if id.starts_with(OUR_CALLS) && empty {
            // With arguments it is none of ours, whatever it is called.
            return Some(refused(id, tool));
        }
        let local = matches!(runs, Runs::AtClient);
        let effects = match room.checked_sub(1) {
            // Where nothing more can be kept, nothing more is found out.
            Some(left) if self.room.take(0) => {
                *room = left;
                self.effects(block, runs)
            }
            Some(_) | None => None,
        };
        let step = effects.map(|effects| Step::new(id, tool, Outcome::Done, effects));
        let mut step = step
            .filter(|step| self.room.take(step.bytes))
            .unwrap_or_else(|| Step::unknown(id, tool, Outcome::Done));
        step.local = local;
        step.digest = keys.hash_one((tool, block.get("input").map(Json::text)));
        Some(Part::Call(Arc::new(step)))
    }

    /// What the call did, if that can be told. Under guard one that cannot be read is refused, but a
    /// conversation may have begun without it.
    fn effects(&self, block: &Json<'_>, runs: Runs) -> Option<Vec<Effect>> {
        let read = || {
            let call = HeldCall::new(block, runs).read(self.limits).ok()?;
            let fuel = Fuel::new(self.fuel);
            let effects =
                holdgate_effects::understand(call.invocation(), self.world, self.know, &fuel)
                    .ok()?;
            effects.iter().all(is_readable).then_some(effects)
        };
        catch_unwind(AssertUnwindSafe(read)).ok().flatten()
    }
}

/// A command with a slip is still read in pieces; what else is unreadable was not read.
fn is_readable(effect: &Effect) -> bool {
    effect.kind != Kind::Unreadable || effect.is(Tag::Syntax)
}

fn is_providers_result(kind: &str) -> bool {
    kind.ends_with("_tool_result") || kind.ends_with("_tool_result_error")
}

/// Providers report errors by the type of what stands in the result.
fn holds_error(content: &Json<'_>) -> bool {
    is_error(content) || content.as_array().unwrap_or(&[]).iter().any(is_error)
}

fn is_error(block: &Json<'_>) -> bool {
    let kind = block.get("type").and_then(Json::as_str);
    kind.is_some_and(|kind| kind.ends_with("_error"))
}

fn refused(id: &str, tool: &str) -> Part {
    let step = Step::new(id, tool, Outcome::Refused, Vec::new());
    Part::Refused(Arc::new(step))
}

/// Reads the text that stands in a refused call's place, as the wire's writer writes it. A model
/// that writes such a text itself only adds a refusal.
fn notice(text: &str) -> Option<Part> {
    let what = text.strip_prefix("[holdgate] ")?;
    let (what, why) = what.split_once(" was blocked and did not run")?;
    let tool = what
        .strip_prefix("The call to `")
        .and_then(|tool| tool.strip_suffix('`'));
    let (_, incident) = why
        .trim_end()
        .strip_suffix(')')?
        .rsplit_once("(incident ")?;
    // The call that may stand beside it has the same id, so that both are one refusal.
    let id = format!("{OUR_CALLS}{}", incident.replace('-', "_"));
    Some(refused(&id, tool.unwrap_or_default()))
}
