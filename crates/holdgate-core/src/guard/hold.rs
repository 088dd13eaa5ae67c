//! The queue in which tool calls wait until they are complete and judged, and everything behind
//! them waits too.

use super::ruling::Judged;
use crate::call::HeldCall;
use crate::canonical::Canonical;
use crate::event::{Block, Part};
use holdgate_effects::json::Json;
use std::collections::VecDeque;
use std::time::Duration;

/// What waits, in the order in which it will leave.
#[derive(Debug)]
pub(super) enum Waiting {
    /// An inert frame behind a call.
    Frame(Canonical, Part),
    /// A call that is not judged yet.
    Call(WaitingCall),
    /// The place of a call that is being judged, and how many bytes it keeps.
    Away(usize),
    /// A call's judgement, and about how many bytes it keeps.
    Judged(Box<Judged>, usize),
    /// The explanation of a refusal, moved before the calls that are kept, and the protocol's own
    /// object around the refused call.
    Notice(String, Json<'static>),
}

/// A call in the queue.
#[derive(Debug)]
pub(super) struct WaitingCall {
    /// The call.
    pub(super) held: HeldCall,
    /// Whether its end has come.
    pub(super) whole: bool,
    /// When it began to wait.
    pub(super) since: Duration,
}

/// The queue of one response. Empty whenever no call is held.
#[derive(Debug, Default)]
pub(super) struct Hold {
    queue: VecDeque<Waiting>,
    /// Calls that have not ended: their block and their ticket, counted from the first that was
    /// ever queued. Few, so that a call is found at once however much waits behind it.
    open: Vec<(Block, usize)>,
    /// How many have left the queue.
    left: usize,
    bytes: usize,
}

impl Hold {
    /// Whether nothing waits.
    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Whether every call that waits has ended.
    pub(super) fn is_whole(&self) -> bool {
        self.open.is_empty()
    }

    /// About how many bytes wait.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Queues an inert frame.
    pub(super) fn push_frame(&mut self, frame: &Canonical, part: Part) {
        self.bytes += frame.len() + 128;
        self.queue.push_back(Waiting::Frame(frame.detached(), part));
    }

    /// Queues a call that begins.
    pub(super) fn push_call(&mut self, block: Block, held: HeldCall, since: Duration) {
        self.bytes += held.bytes();
        self.open.push((block, self.left + self.queue.len()));
        self.queue.push_back(Waiting::Call(WaitingCall {
            held,
            whole: false,
            since,
        }));
    }

    /// Changes the call of `block`, which has not ended yet.
    pub(super) fn with_open(&mut self, block: Block, change: impl FnOnce(&mut HeldCall)) {
        let found = self.open.iter().find(|(open, _)| *open == block);
        let Some(at) = found.and_then(|(_, ticket)| ticket.checked_sub(self.left)) else {
            return;
        };
        if let Some(Waiting::Call(call)) = self.queue.get_mut(at) {
            let before = call.held.bytes();
            change(&mut call.held);
            self.bytes = (self.bytes + call.held.bytes()).saturating_sub(before);
        }
    }

    /// The call of `block` has ended.
    pub(super) fn end(&mut self, block: Block) {
        let Some(at) = self.open.iter().position(|(open, _)| *open == block) else {
            return;
        };
        let (_, ticket) = self.open.swap_remove(at);
        let at = ticket.checked_sub(self.left);
        if let Some(Waiting::Call(call)) = at.and_then(|at| self.queue.get_mut(at)) {
            call.whole = true;
        }
    }

    /// What leaves next.
    pub(super) fn front(&self) -> Option<&Waiting> {
        self.queue.front()
    }

    /// How many wait.
    pub(super) fn len(&self) -> usize {
        self.queue.len()
    }

    /// The call at `at`, if one is there that has ended and waits to be judged.
    pub(super) fn call_at(&self, at: usize) -> Option<&HeldCall> {
        match self.queue.get(at)? {
            Waiting::Call(call) if call.whole => Some(&call.held),
            Waiting::Call(_)
            | Waiting::Away(_)
            | Waiting::Judged(..)
            | Waiting::Frame(..)
            | Waiting::Notice(..) => None,
        }
    }

    /// Takes the call at `at` to be judged, if one is there that has ended. Its place is kept.
    pub(super) fn take_call(&mut self, at: usize) -> Option<WaitingCall> {
        let waiting = self.queue.get_mut(at)?;
        let Waiting::Call(call) = waiting else {
            return None;
        };
        if !call.whole {
            return None;
        }
        let bytes = call.held.bytes();
        let Waiting::Call(call) = std::mem::replace(waiting, Waiting::Away(bytes)) else {
            return None;
        };
        Some(call)
    }

    /// The call that was taken from `at` has been judged.
    pub(super) fn put_judged(&mut self, at: usize, judged: Judged) {
        if let Some(waiting) = self.queue.get_mut(at)
            && let Waiting::Away(bytes) = waiting
        {
            *waiting = Waiting::Judged(Box::new(judged), *bytes);
        }
    }

    /// The judgement at `at`.
    pub(super) fn judged_at(&mut self, at: usize) -> Option<&mut Judged> {
        let Waiting::Judged(judged, _) = self.queue.get_mut(at)? else {
            return None;
        };
        Some(judged)
    }

    /// Takes what leaves next.
    pub(super) fn pop(&mut self) -> Option<Waiting> {
        let waiting = self.queue.pop_front()?;
        self.left += 1;
        self.bytes = match &waiting {
            _ if self.queue.is_empty() => 0,
            Waiting::Frame(raw, _) => self.bytes.saturating_sub(raw.len() + 128),
            Waiting::Call(call) => self.bytes.saturating_sub(call.held.bytes()),
            Waiting::Away(bytes) | Waiting::Judged(_, bytes) => self.bytes.saturating_sub(*bytes),
            Waiting::Notice(..) => self.bytes,
        };
        Some(waiting)
    }

    /// Takes all that waits. No call is open any more.
    pub(super) fn take(&mut self) -> VecDeque<Waiting> {
        self.bytes = 0;
        self.open.clear();
        std::mem::take(&mut self.queue)
    }

    /// Puts a queue back that was taken.
    pub(super) fn put(&mut self, queue: VecDeque<Waiting>) {
        self.queue = queue;
    }
}
