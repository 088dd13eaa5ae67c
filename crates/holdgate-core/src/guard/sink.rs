//! Outputs on their way out.

use super::{Job, Output};
use crate::incident::Record;
use crate::question::Question;
use bytes::Bytes;

/// Collects outputs, and joins neighbouring pieces of one chunk into one.
pub(super) struct Sink<'o> {
    chunk: Bytes,
    run: std::ops::Range<usize>,
    out: &'o mut Vec<Output>,
    sent: bool,
}

impl<'o> Sink<'o> {
    pub(super) fn new(chunk: &Bytes, out: &'o mut Vec<Output>) -> Self {
        Sink {
            chunk: chunk.clone(),
            run: 0..0,
            out,
            sent: false,
        }
    }

    pub(super) fn send(&mut self, bytes: Bytes) {
        if bytes.is_empty() {
            return;
        }
        self.sent = true;
        // A slice of the chunk, or bytes of our own? Its address tells.
        let at = bytes
            .as_ptr()
            .addr()
            .wrapping_sub(self.chunk.as_ptr().addr());
        if at < self.chunk.len() && bytes.len() <= self.chunk.len() - at {
            if self.run.end != at {
                self.flush();
                self.run.start = at;
            }
            self.run.end = at + bytes.len();
        } else {
            self.flush();
            self.out.push(Output::Send(bytes));
        }
    }

    pub(super) fn record(&mut self, record: Record) {
        self.flush();
        self.out.push(Output::Record(Box::new(record)));
    }

    pub(super) fn judge(&mut self, job: Job) {
        self.flush();
        self.out.push(Output::Judge(Box::new(job)));
    }

    pub(super) fn ask(&mut self, question: Question) {
        self.flush();
        self.out.push(Output::Ask(Box::new(question)));
    }

    fn flush(&mut self) {
        if !self.run.is_empty() {
            self.out
                .push(Output::Send(self.chunk.slice(self.run.clone())));
        }
        self.run = 0..0;
    }

    /// Whether anything was sent.
    pub(super) fn finish(mut self) -> bool {
        self.flush();
        self.sent
    }
}
