//! Rebuilds what has been done from the conversation in a request.
//!
//! Each request contains its whole history. For a message that was seen before, only its hash is
//! computed; a new one is read, and its calls are interpreted. What the client has since dropped
//! from the history stays known here; another replica knows only what the request contains.

mod look;
mod parts;
#[cfg(test)]
mod tests;

pub use parts::{CallReader, Room, Unbounded};

use crate::history::{
    History, MAX_STEPS, Outcome, SecretRoom, Step, bound_effects, bound_secrets, keep_secrets,
};
use crate::request::Request;
use crate::shown::Shown;
use holdgate_effects::json::JsonError;
use look::look;
use parts::Part;
use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::sync::{Arc, Mutex, PoisonError};

/// Known conversations of one session: the agent's, and those of its subagents.
const MAX_CONVERSATIONS: usize = 32;
/// Steps of all of them together.
const MAX_KNOWN_STEPS: usize = 4 * MAX_STEPS;
/// Bytes of all of them together; the one that was used last is kept in any case.
const MAX_BYTES: usize = 96 << 20;
/// The last messages of a request that are looked at: more than it takes to fill a history.
const MAX_MESSAGES: usize = 4 * MAX_STEPS;
/// Calls that are understood for one request, the latest first.
const MAX_CALLS: usize = 2 * MAX_STEPS;

/// The conversations of one session.
#[derive(Debug, Default)]
pub struct Conversations {
    /// Keyed at random: nobody can write a message that passes for another one.
    keys: RandomState,
    /// The one that was used last is at the end.
    known: Vec<Conversation>,
}

/// The conversations of a session that several requests share.
pub(crate) type SharedConversations = Arc<Mutex<Conversations>>;

/// The finished calls of a conversation, as `request` shows them and the store remembers them.
pub fn shared_history(
    conversations: &Mutex<Conversations>,
    request: &Request,
    reader: &CallReader<'_>,
) -> Result<Arc<History>, JsonError> {
    // The store changes only when all has been read, so a panic leaves nothing half done.
    let mut conversations = conversations.lock().unwrap_or_else(PoisonError::into_inner);
    conversations.history(request, reader)
}

/// About how many bytes the conversations of a session take in memory.
pub fn shared_bytes(conversations: &Mutex<Conversations>) -> usize {
    let conversations = conversations.lock();
    let conversations = conversations.unwrap_or_else(PoisonError::into_inner);
    conversations.bytes()
}

#[derive(Debug, Default)]
struct Conversation {
    root: u64,
    /// What has been done, oldest first; each call once.
    steps: Vec<Arc<Step>>,
    /// How many of the steps come from the conversation before this one.
    inherited: usize,
    /// What the messages of the last request say.
    messages: HashMap<Digest, Arc<[Part]>>,
    /// About how many bytes it takes in memory.
    bytes: usize,
}

/// Identifies a message: hash and length.
type Digest = (u64, usize);

/// What a message says.
type Said = (Digest, Arc<[Part]>);

/// A call that a request shows to have ended.
struct Finished<'p> {
    step: &'p Arc<Step>,
    outcome: Outcome,
    shown: Option<&'p Arc<Shown>>,
    /// Which of the parts is its result.
    result: Option<usize>,
}

/// Identifies a step. The ids of refusals are our own and must not hide calls, and a call must not
/// hide another one with the same id.
type Key<'s> = (bool, &'s str, u64);

impl Conversations {
    /// The finished calls of the conversation that `request` goes on with.
    pub fn history(
        &mut self,
        request: &Request,
        reader: &CallReader<'_>,
    ) -> Result<Arc<History>, JsonError> {
        let root = self.keys.hash_one(&request.facts.root);
        let at = self.known.iter().position(|known| known.root == root);
        let mut read = {
            let nothing = HashMap::new();
            let seen = at.and_then(|at| self.known.get(at));
            let seen = seen.map_or(&nothing, |known| &known.messages);
            read(request, reader, seen, &self.keys)?
        };
        look(&mut read, request, reader)?;
        let parts: Vec<&Part> = read.iter().flat_map(|(_, parts)| parts.iter()).collect();
        let shown = finished(&parts);
        let mut history = History::default();
        for part in &parts {
            if let Part::User(said) = part {
                history.hear(said.clone());
            }
        }
        let mut conversation = match at {
            Some(at) => self.known.remove(at),
            None => self.begin(root, &shown),
        };
        conversation.absorb(&shown);
        drop((shown, parts));
        conversation.messages = read.into_iter().collect();
        conversation.weigh();
        for step in &conversation.steps {
            history.push(step.clone());
        }
        self.known.push(conversation);
        self.bound_secrets();
        self.make_room();
        Ok(Arc::new(history))
    }

    /// A conversation with a new root. Clients start one when they summarise a long conversation,
    /// so the steps of the last one count. A subagent's conversation starts in the same way, and
    /// inherits the steps of the agent that started it.
    fn begin(&self, root: u64, shown: &[Finished<'_>]) -> Conversation {
        let mut latest_first = self.known.iter().rev();
        let before = latest_first.find(|known| !known.steps.is_empty());
        let mut steps = before.map(|known| known.steps.clone()).unwrap_or_default();
        let known: HashSet<Key<'_>> = steps.iter().map(|step| key(step)).collect();
        if !shown
            .iter()
            .all(|finished| known.contains(&key(finished.step)))
        {
            // It began elsewhere, and shows itself what has been done in it.
            steps = Vec::new();
        }
        Conversation {
            root,
            inherited: steps.len(),
            steps,
            messages: HashMap::new(),
            bytes: 0,
        }
    }

    /// About how many bytes all of them take in memory.
    pub fn bytes(&self) -> usize {
        self.known.iter().map(|known| known.bytes).sum()
    }

    /// Keeps the secrets of the conversations that were used last, as far as there is room.
    fn bound_secrets(&mut self) {
        let mut room = SecretRoom::default();
        for known in self.known.iter_mut().rev() {
            known.keep_secrets(&mut room);
        }
    }

    fn make_room(&mut self) {
        let mut bytes = self.bytes();
        let mut steps: usize = self.known.iter().map(|known| known.steps.len()).sum();
        let mut surplus = 0;
        for (at, known) in self.known.iter().enumerate() {
            let left = self.known.len() - at;
            let fits = steps <= MAX_KNOWN_STEPS && bytes <= MAX_BYTES;
            if left <= 1 || left <= MAX_CONVERSATIONS && fits {
                break;
            }
            bytes -= known.bytes;
            steps -= known.steps.len();
            surplus += 1;
        }
        self.known.drain(..surplus);
    }
}

/// What the messages of `request` say, oldest first. `seen` is what needs no reading.
fn read(
    request: &Request,
    reader: &CallReader<'_>,
    seen: &HashMap<Digest, Arc<[Part]>>,
    keys: &RandomState,
) -> Result<Vec<Said>, JsonError> {
    let mut room = MAX_CALLS;
    let mut read = Vec::new();
    for message in request.messages().rev().take(MAX_MESSAGES) {
        let mut hasher = keys.build_hasher();
        hasher.write(message);
        let digest = (hasher.finish(), message.len());
        if let Some(parts) = seen.get(&digest) {
            read.push((digest, parts.clone()));
            continue;
        }
        let parts: Arc<[Part]> = match reader.parts(request, message, &mut room, keys)? {
            // Most messages say nothing about calls.
            parts if parts.is_empty() => Arc::default(),
            parts => parts.into(),
        };
        if !reader.room.take(parts::bytes(&parts)) {
            break;
        }
        read.push((digest, parts));
    }
    read.reverse();
    Ok(read)
}

/// The calls that have ended, in the order in which they did: what comes later in a conversation
/// never changes the order of what came before. An id can be used again.
fn finished<'p>(parts: &[&'p Part]) -> Vec<Finished<'p>> {
    let mut refused: HashSet<Key<'_>> = HashSet::new();
    // By id, and by tool; each call with its number.
    let mut open: HashMap<&str, Vec<(usize, &Arc<Step>)>> = HashMap::new();
    let mut by_tool: HashMap<&str, VecDeque<(usize, &Arc<Step>)>> = HashMap::new();
    let mut done: HashSet<usize> = HashSet::new();
    let mut finished = Vec::new();
    for (number, part) in parts.iter().enumerate() {
        match part {
            Part::User(_) => {}
            Part::Call(step) => {
                open.entry(&step.call).or_default().push((number, step));
                by_tool
                    .entry(&step.tool)
                    .or_default()
                    .push_back((number, step));
            }
            Part::Result {
                call,
                in_order,
                failed,
                shown,
            } => {
                let mut ended = if *in_order {
                    let queue = by_tool.entry(call).or_default();
                    let mut next = std::iter::from_fn(|| queue.pop_front());
                    next.find(|(call, _)| !done.contains(call))
                        .into_iter()
                        .collect()
                } else {
                    open.remove(call.as_str()).unwrap_or_default()
                };
                ended.retain(|(call, _)| done.insert(*call));
                // With several calls it is unknown whose result this is: none is known to have
                // succeeded.
                let outcome = if *failed || ended.len() > 1 {
                    Outcome::Failed
                } else {
                    Outcome::Done
                };
                let ended = ended.into_iter();
                finished.extend(ended.map(|(_, step)| Finished {
                    step,
                    outcome,
                    shown: shown.as_ref(),
                    result: Some(number),
                }));
            }
            Part::Refused(step) => {
                if refused.insert(key(step)) {
                    let outcome = Outcome::Refused;
                    finished.push(Finished {
                        step,
                        outcome,
                        shown: None,
                        result: None,
                    });
                }
            }
        }
    }
    finished
}

fn key(step: &Step) -> Key<'_> {
    let refused = step.outcome == Outcome::Refused;
    (refused, &step.call, step.digest)
}

impl Finished<'_> {
    fn to_step(&self) -> Arc<Step> {
        if self.step.outcome == self.outcome && self.shown.is_none() {
            return self.step.clone();
        }
        Arc::new(self.step.ended(self.outcome, self.shown.cloned()))
    }
}

impl Conversation {
    /// A step that several conversations share counts in part for each.
    fn weigh(&mut self) {
        let share = |step: &Arc<Step>| step.bytes / Arc::strong_count(step).max(1);
        let steps: usize = self.steps.iter().map(share).sum();
        let said = self.messages.values().map(|said| {
            let calls = said.iter().filter_map(Part::step).map(share);
            parts::bytes(said) + calls.sum::<usize>()
        });
        let said: usize = said.sum();
        self.bytes = size_of::<Conversation>() + steps + said;
    }

    /// Keeps the secrets of the latest results as far as there is `room`.
    fn keep_secrets(&mut self, room: &mut SecretRoom) {
        keep_secrets(&mut self.steps, room);
        for parts in self.messages.values_mut() {
            if !parts.iter().all(|part| part.fits(room)) {
                let bounded = parts.iter().map(|part| {
                    if part.fits(room) {
                        part.clone()
                    } else {
                        part.without_secrets()
                    }
                });
                *parts = bounded.collect();
            }
        }
    }

    /// The index of each of `shown` among the known steps, in order: of equal calls, the next one.
    fn places(&self, shown: &[Finished<'_>]) -> Vec<Option<usize>> {
        let mut alike: HashMap<Key<'_>, VecDeque<usize>> = HashMap::new();
        for (at, step) in self.steps.iter().enumerate() {
            alike.entry(key(step)).or_default().push_back(at);
        }
        let mut places = Vec::with_capacity(shown.len());
        let mut next = 0;
        for finished in shown {
            let place = alike.get_mut(&key(finished.step)).and_then(|alike| {
                while alike.front().is_some_and(|place| *place < next) {
                    alike.pop_front();
                }
                alike.pop_front()
            });
            next = place.map_or(next, |place| place + 1);
            places.push(place);
        }
        places
    }

    /// Adds what a request shows.
    fn absorb(&mut self, shown: &[Finished<'_>]) {
        let places = self.places(shown);
        let last = places.iter().flatten().max().copied();
        let keep = match last {
            // The client has gone back: what came after never happened in this conversation.
            Some(last) if last >= self.inherited => last + 1,
            // The client has left out all that is known, and gone on.
            _ if places.iter().any(Option::is_none) => self.steps.len(),
            // It has gone back to the start.
            Some(_) | None => self.inherited,
        };
        let mut known = self.steps.iter().take(keep).enumerate().peekable();
        let mut steps = Vec::with_capacity(keep + shown.len());
        let mut still_known = places.iter().flatten().count();
        for (finished, place) in shown.iter().zip(places) {
            if let Some(place) = place {
                // What the client has left out stays where it was.
                while let Some((_, step)) = known.next_if(|(at, _)| *at <= place) {
                    steps.push(step.clone());
                }
                still_known -= 1;
            } else {
                if still_known == 0 {
                    steps.extend(known.by_ref().map(|(_, step)| step.clone()));
                }
                steps.push(finished.to_step());
            }
        }
        steps.extend(known.map(|(_, step)| step.clone()));
        let oldest = steps.len().saturating_sub(MAX_STEPS);
        steps.drain(..oldest);
        bound_effects(&mut steps);
        bound_secrets(&mut steps);
        self.inherited = self.inherited.saturating_sub(oldest);
        self.steps = steps;
    }
}
