//! A response that comes whole, without streaming.

use super::ruling::Ruling;
use super::sink::Sink;
use super::{Judge, Output};
use crate::event::Violation;
use crate::wire::anthropic::{self, MessageBlock};
use bytes::Bytes;
use std::time::Duration;

/// One whole response under guard. `None`: its bytes can leave as they came.
pub fn guard_message(
    judge: Judge,
    body: &[u8],
    now: Duration,
    out: &mut Vec<Output>,
) -> Result<Option<String>, Violation> {
    let mut ruling = Ruling::new(judge);
    let mut sink = Sink::new(&Bytes::new(), out);
    let read = anthropic::read_message(body, &ruling.judge.settings.inert_blocks);
    let guarded = read.and_then(|read| {
        let Some((mut message, blocks)) = read else {
            return Ok(None);
        };
        for block in blocks {
            match block {
                MessageBlock::Inert(block) => message.inert(block),
                MessageBlock::Call(mut held) => {
                    ruling.admit(&mut held)?;
                    let judged = ruling.judge(held, now, now, &mut sink);
                    match &judged.judgement.outcome {
                        Ok(cleared) => message.call(cleared),
                        Err(refusal) => {
                            message.refusal(refusal, &judged.incident, judged.inert_call.clone());
                        }
                    }
                }
            }
        }
        Ok(Some(message.finish()))
    });
    if let Err(violation) = &guarded {
        sink.record(ruling.stream_record("stream-protocol", &violation.to_string()));
    }
    guarded
}
