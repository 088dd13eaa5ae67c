//! Any stream, cut anyhow: no panic, bounded memory, and the same bytes as when it comes whole.
#![no_main]

use bytes::Bytes;
use holdgate_core::action::Knowledge;
use holdgate_core::guard::{GuardSettings, Judge, OnBlock, Output, StreamGuard};
use holdgate_core::hold::CallLimits;
use holdgate_core::stack::{Clock, JudgeLimits, Stack};
use libfuzzer_sys::fuzz_target;
use std::sync::Arc;
use std::time::Duration;

struct Stopped;

impl Clock for Stopped {
    fn now(&self) -> Duration {
        Duration::ZERO
    }
}

fn run(bytes: &[u8], size: usize, flags: u8) -> Vec<u8> {
    let limits = JudgeLimits {
        call: CallLimits {
            max_bytes: 1 << 16,
            max_depth: 64,
        },
        fuel: 1000,
        deadline: Duration::from_millis(50),
    };
    let settings = GuardSettings {
        on_block: if flags & 1 == 0 {
            OnBlock::Explain
        } else {
            OnBlock::Continue
        },
        hold_all: flags & 2 != 0,
        ask: None,
        keep_alive: Duration::from_secs(10),
        inert_blocks: Arc::default(),
        max_event_bytes: 1 << 16,
        max_held_bytes: 1 << 18,
        max_calls: 16,
    };
    let judge = Judge {
        history: Arc::default(),
        expert: false,
        stack: Arc::new(Stack::new(
            Vec::new(),
            Knowledge::built_in().unwrap(),
            Arc::new(Stopped),
            limits,
        )),
        session: Arc::default(),
        session_id: "s".into(),
        response_id: "r".into(),
        request: Arc::default(),
        settings: Arc::new(settings),
    };
    let mut guard = StreamGuard::new(judge, Duration::ZERO);
    let mut outputs = Vec::new();
    for chunk in bytes.chunks(size.max(1)) {
        guard.feed(Bytes::copy_from_slice(chunk), Duration::ZERO, &mut outputs);
        assert!(guard.kept() <= 1 << 19);
    }
    guard.finish(&mut outputs);
    let mut sent = Vec::new();
    for output in outputs {
        if let Output::Send(bytes) = output {
            sent.extend_from_slice(&bytes);
        }
    }
    sent
}

fuzz_target!(|bytes: &[u8]| {
    let [flags, size, stream @ ..] = bytes else {
        return;
    };
    assert_eq!(
        run(stream, usize::from(*size), *flags),
        run(stream, stream.len(), *flags)
    );
});
