//! How a response ends: complete, cut off, or stopped by us.

use super::sink::Sink;
use super::{Output, State, StreamGuard};
use crate::event::{Part, Violation};
use bytes::Bytes;
use std::time::Duration;

impl StreamGuard {
    /// The upstream has ended the body.
    pub fn finish(&mut self, now: Duration, out: &mut Vec<Output>) {
        self.end_of_body(now, out);
        if self.is_over() {
            return;
        }
        let between = !self.reader.is_mid_block() && !self.decoder.is_mid_frame();
        if self.state == State::Ending && between && self.hold.is_whole() {
            // Only the last event is missing; some servers and protocols do not send it.
            self.state = State::Complete;
            let end = self.writer.end();
            let mut sink = Sink::new(&Bytes::new(), out);
            if self.hold.is_empty() {
                sink.send(end);
            } else {
                // It waits behind the calls that wait for the end, a verdict or an answer.
                self.hold.push_frame(&end, Part::MessageStop);
                self.release(now, &mut sink);
            }
            sink.finish();
            return;
        }
        self.cut(
            "the upstream ended the response in the middle of the message",
            out,
        );
    }

    /// What the reader has kept for the end of the body.
    fn end_of_body(&mut self, now: Duration, out: &mut Vec<Output>) {
        let mut events = Vec::new();
        let mut read = Ok(());
        if !self.is_over() && !self.decoder.is_mid_frame() {
            read = self.reader.end(&mut events);
        }
        let mut sink = Sink::new(&Bytes::new(), out);
        let mut events = events.into_iter();
        while read.is_ok()
            && let Some(event) = events.next()
        {
            let no_frame = || Err(Violation::Incomplete("the body has ended"));
            read = self.event(event, &no_frame, now, &mut sink);
        }
        if let Err(violation) = read {
            self.fail(&violation, &mut sink);
        }
        sink.finish();
    }

    /// The upstream cannot be read further, because of `why`. The client gets an error: it would
    /// take a plain end for success.
    pub fn cut(&mut self, why: &str, out: &mut Vec<Output>) {
        if self.is_over() {
            return;
        }
        let mut sink = Sink::new(&Bytes::new(), out);
        sink.record(self.ruling.stream_record("upstream-cut", why));
        if self.seen_frame {
            let protocol = self.ruling.judge.protocol;
            sink.send(protocol.error_event(&format!("[holdgate] {why}")));
            sink.finish();
        } else {
            // Without a first event, clients retry as they would without us.
            out.push(Output::Abort);
        }
        self.state = State::Failed;
        self.let_go();
    }

    /// Ends the response, because the shell cannot go on with it.
    pub fn stop(&mut self, why: &'static str, out: &mut Vec<Output>) {
        if !self.is_over() {
            let mut sink = Sink::new(&Bytes::new(), out);
            self.fail(&Violation::Stopped(why), &mut sink);
            sink.finish();
        }
    }

    /// Drops everything that waits, including an open question or an awaited verdict.
    pub(super) fn let_go(&mut self) {
        self.hold.take();
        self.question = None;
        self.slowed = None;
        self.ruling.let_go();
    }

    pub(super) fn fail(&mut self, violation: &Violation, sink: &mut Sink<'_>) {
        sink.record(
            self.ruling
                .stream_record("stream-protocol", &violation.to_string()),
        );
        let message = format!(
            "[holdgate] The response was stopped because the rest cannot be judged: \
             {violation}. No tool call after this point was passed on. (rule stream-protocol)"
        );
        sink.send(self.writer.failure(&message));
        self.state = State::Failed;
        self.let_go();
    }
}
