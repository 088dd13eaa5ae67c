//! The queue in which tool calls wait until they are complete and judged, and everything behind
//! them waits too.

use crate::call::HeldCall;
use crate::canonical::Canonical;
use crate::event::{Block, Part};
use std::collections::VecDeque;
use std::time::Duration;

/// What waits, in the order in which it will leave.
#[derive(Debug)]
pub(crate) enum Waiting<J> {
    /// An inert frame behind a call.
    Frame(Canonical, Part),
    /// A call that is not judged yet.
    Call(WaitingCall),
    /// The place of a call that is being judged, and how many bytes it keeps.
    Away(usize),
    /// A call's judgement, and about how many bytes it keeps.
    Judged(J, usize),
    /// The explanation of a refusal, moved before the calls that are kept.
    Notice(J),
}

/// A call in the queue.
#[derive(Debug)]
pub(crate) struct WaitingCall {
    /// The call.
    pub(crate) held: HeldCall,
    /// Whether its end has come.
    pub(crate) whole: bool,
    /// When it began to wait.
    pub(crate) since: Duration,
}

/// The queue of one response. Empty whenever no call is held.
#[derive(Debug)]
pub(crate) struct Hold<J> {
    queue: VecDeque<Waiting<J>>,
    /// Calls that have not ended: their block and their ticket, counted from the first that was
    /// ever queued. Few, so that a call is found at once however much waits behind it.
    open: Vec<(Block, usize)>,
    /// How many have left the queue.
    left: usize,
    bytes: usize,
}

impl<J> Default for Hold<J> {
    fn default() -> Self {
        Hold {
            queue: VecDeque::new(),
            open: Vec::new(),
            left: 0,
            bytes: 0,
        }
    }
}

impl<J> Hold<J> {
    /// Whether nothing waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// About how many bytes wait.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Queues an inert frame.
    pub(crate) fn push_frame(&mut self, frame: &Canonical, part: Part) {
        self.bytes += frame.len() + 128;
        self.queue.push_back(Waiting::Frame(frame.detached(), part));
    }

    /// Queues a call that begins.
    pub(crate) fn push_call(&mut self, block: Block, held: HeldCall, since: Duration) {
        self.bytes += held.bytes();
        self.open.push((block, self.left + self.queue.len()));
        self.queue.push_back(Waiting::Call(WaitingCall {
            held,
            whole: false,
            since,
        }));
    }

    /// Changes the call of `block`, which has not ended yet.
    pub(crate) fn with_open(&mut self, block: Block, change: impl FnOnce(&mut HeldCall)) {
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
    pub(crate) fn end(&mut self, block: Block) {
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
    pub(crate) fn front(&self) -> Option<&Waiting<J>> {
        self.queue.front()
    }

    /// How many wait.
    pub(crate) fn len(&self) -> usize {
        self.queue.len()
    }

    /// Takes the call at `at` to be judged, if one is there that has ended. Its place is kept.
    pub(crate) fn take_call(&mut self, at: usize) -> Option<WaitingCall> {
        let waiting = self.queue.get_mut(at)?;
        let bytes = match waiting {
            Waiting::Call(call) if call.whole => call.held.bytes(),
            Waiting::Call(_)
            | Waiting::Frame(..)
            | Waiting::Away(_)
            | Waiting::Judged(..)
            | Waiting::Notice(_) => return None,
        };
        match std::mem::replace(waiting, Waiting::Away(bytes)) {
            Waiting::Call(call) => Some(call),
            Waiting::Frame(..) | Waiting::Away(_) | Waiting::Judged(..) | Waiting::Notice(_) => {
                None
            }
        }
    }

    /// The call that was taken from `at` has been judged.
    pub(crate) fn put_judged(&mut self, at: usize, judged: J) {
        if let Some(waiting) = self.queue.get_mut(at)
            && let Waiting::Away(bytes) = waiting
        {
            *waiting = Waiting::Judged(judged, *bytes);
        }
    }

    /// The judgement at `at`.
    pub(crate) fn judged_at(&mut self, at: usize) -> Option<&mut J> {
        match self.queue.get_mut(at) {
            Some(Waiting::Judged(judged, _)) => Some(judged),
            Some(Waiting::Frame(..) | Waiting::Call(_) | Waiting::Away(_) | Waiting::Notice(_))
            | None => None,
        }
    }

    /// Takes what leaves next.
    pub(crate) fn pop(&mut self) -> Option<Waiting<J>> {
        let waiting = self.queue.pop_front()?;
        self.left += 1;
        self.bytes = match &waiting {
            _ if self.queue.is_empty() => 0,
            Waiting::Frame(raw, _) => self.bytes.saturating_sub(raw.len() + 128),
            Waiting::Call(call) => self.bytes.saturating_sub(call.held.bytes()),
            Waiting::Away(bytes) | Waiting::Judged(_, bytes) => self.bytes.saturating_sub(*bytes),
            Waiting::Notice(_) => self.bytes,
        };
        Some(waiting)
    }

    /// Takes all that waits. No call is open any more.
    pub(crate) fn take(&mut self) -> VecDeque<Waiting<J>> {
        self.bytes = 0;
        self.open.clear();
        std::mem::take(&mut self.queue)
    }

    /// Puts a queue back that was taken.
    pub(crate) fn put(&mut self, queue: VecDeque<Waiting<J>>) {
        self.queue = queue;
    }
}
