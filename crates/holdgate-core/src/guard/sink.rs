//! Outputs on their way out.

use super::Output;
use crate::canonical::Canonical;
use crate::incident::Record;
use bytes::Bytes;

/// Collects outputs, and joins neighbouring pieces of one chunk into one.
pub(super) struct Sink<'o> {
    chunk: Bytes,
    /// What is to be sent, and may still grow.
    run: Option<Canonical>,
    out: &'o mut Vec<Output>,
    sent: bool,
}

impl<'o> Sink<'o> {
    pub(super) fn new(chunk: &Bytes, out: &'o mut Vec<Output>) -> Self {
        Sink {
            chunk: chunk.clone(),
            run: None,
            out,
            sent: false,
        }
    }

    pub(super) fn send(&mut self, bytes: Canonical) {
        if bytes.is_empty() {
            return;
        }
        self.sent = true;
        let joined = self
            .run
            .as_ref()
            .and_then(|run| run.join(&bytes, &self.chunk));
        if joined.is_none() {
            self.flush();
        }
        self.run = Some(joined.unwrap_or(bytes));
    }

    pub(super) fn record(&mut self, record: Record) {
        self.push(Output::Record(Box::new(record)));
    }

    pub(super) fn push(&mut self, output: Output) {
        self.flush();
        self.out.push(output);
    }

    fn flush(&mut self) {
        self.out.extend(self.run.take().map(Output::Send));
    }

    /// Whether anything was sent.
    pub(super) fn finish(mut self) -> bool {
        self.flush();
        self.sent
    }
}
