//! Any stream, cut anyhow: no panic, bounded memory, the same bytes as when it comes whole, and no
//! reader finds a call that was not cleared.
#![no_main]

#[path = "../../crates/holdgate/src/eval/client.rs"]
#[allow(dead_code, reason = "only a part of it is needed")]
mod client;
#[path = "../../crates/holdgate/src/eval/gemini.rs"]
#[allow(dead_code, reason = "only a part of it is needed")]
mod gemini;
#[path = "../../crates/holdgate/src/eval/loose.rs"]
#[allow(dead_code, reason = "only a part of it is needed")]
mod loose;
#[path = "../../crates/holdgate/src/eval/readers.rs"]
#[allow(dead_code, reason = "only a part of it is needed")]
mod readers;
#[path = "../../crates/holdgate/src/eval/responses.rs"]
#[allow(dead_code, reason = "only a part of it is needed")]
mod responses;

use bytes::Bytes;
use holdgate_effects::Knowledge;
use holdgate_core::{ANTHROPIC, Action, CHAT, CallLimits, Clock, Dialect, GEMINI, GuardSettings, JudgeLimits, OLLAMA, OnBlock, Output, Protocol, RESPONSES, RequestFacts, ResponseContext, Stack, StreamGuard, Subject, Tell, TextActions, bridged};
use libfuzzer_sys::fuzz_target;
use std::sync::Arc;
use std::time::Duration;

struct Stopped;

impl Clock for Stopped {
    fn now(&self) -> Duration {
        Duration::ZERO
    }
}

/// Tools as clients of a bridge declare them.
const REQUEST: &[u8] = br#"{"messages":[],"input":[],"tools":[
    {"type":"function","name":"Bash","input_schema":{"properties":{"command":{"type":"string"},"timeout":{"type":"integer"}}},
     "parameters":{"properties":{"command":{"type":"string"},"timeout":{"type":"integer"}}}},
    {"name":"Write","input_schema":{}},{"type":"function","name":"exec_command"},{"type":"custom","name":"apply_patch"}]}"#;

/// The bridge that the flags ask for, if there is one from their protocol.
fn over_bridge(flags: u8) -> Option<(&'static dyn Protocol, RequestFacts)> {
    let client = protocol(flags);
    let bridge = bridged(client, "chat").filter(|_| flags & 0x40 != 0 && client != CHAT)?;
    let translated = bridge.translate("/", REQUEST, Dialect::Auto).unwrap().unwrap();
    let request = RequestFacts {
        bridged: translated.bridged,
        ..RequestFacts::default()
    };
    Some((bridge, request))
}

/// The protocol that the flags name.
fn protocol(flags: u8) -> &'static dyn Protocol {
    match flags >> 2 & 7 {
        1 => CHAT,
        2 => OLLAMA,
        3 => RESPONSES,
        4 => GEMINI,
        _ => ANTHROPIC,
    }
}

fn run(bytes: &[u8], size: usize, flags: u8) -> Sent {
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
        tell: Tell::All,
        text_actions: TextActions::Off,
        max_event_bytes: 1 << 16,
        max_held_bytes: 1 << 18,
        max_calls: 16,
    };
    let (protocol, request) = over_bridge(flags).unwrap_or((protocol(flags), RequestFacts::default()));
    let stack = Stack::new(Vec::new(), Knowledge::built_in().unwrap(), Arc::new(Stopped), limits);
    let judge = ResponseContext {
        request: Arc::new(request),
        ..ResponseContext::new(protocol, Arc::new(stack), Arc::new(settings))
    };
    let mut guard = StreamGuard::new(judge, Duration::ZERO);
    let mut outputs = Vec::new();
    for chunk in bytes.chunks(size.max(1)) {
        guard.feed(Bytes::copy_from_slice(chunk), Duration::ZERO, &mut outputs);
        assert!(guard.kept() <= 1 << 19);
    }
    guard.finish(Duration::ZERO, &mut outputs);
    let mut sent = Sent::default();
    for output in outputs {
        match output {
            Output::Send(bytes) => sent.bytes.extend_from_slice(&bytes),
            Output::Record(record) if record.action == Action::Sent => {
                if let Subject::Call {
                    tool: Some(tool),
                    call: Some(id),
                    input: Some(input),
                    ..
                } = record.subject
                {
                    let input = serde_json::from_str(&input).unwrap();
                    sent.cleared.push((tool, id, input));
                }
            }
            _ => {}
        }
    }
    sent
}

#[derive(Debug, Default, PartialEq)]
struct Sent {
    bytes: Vec<u8>,
    /// Tool, id and arguments.
    cleared: Vec<(String, String, serde_json::Value)>,
}

/// Whether these are the arguments that were judged. Those of a custom tool are a text.
fn same_input(known: &serde_json::Value, found: &serde_json::Value) -> bool {
    let text = known["input"].as_str();
    let text = text.map(|text| readers::read(text).unwrap_or_else(|| text.into()));
    known == found || text.as_ref() == Some(found)
}

fn check(sent: &Sent, flags: u8) {
    let is_first = protocol(flags) == ANTHROPIC;
    let readings = match protocol(flags).name() {
        "anthropic" => client::all_calls(&sent.bytes),
        "responses" => responses::all_calls(&sent.bytes),
        "gemini" => gemini::all_calls(&sent.bytes),
        _ => loose::all_calls(&sent.bytes),
    };
    for (reading, calls) in readings {
        let mut cleared = sent.cleared.clone();
        if reading.folds_keys {
            for (_, _, input) in &mut cleared {
                *input = readers::fold_keys(input);
            }
        }
        for call in calls {
            let mut input = call.input.unwrap();
            if reading.folds_keys {
                input = readers::fold_keys(&input);
            }
            if call.id.starts_with("toolu_holdgate_") {
                assert_eq!(input, serde_json::json!({}));
                continue;
            }
            let at = cleared.iter().position(|(tool, id, known)| {
                // Not every call of the other protocols has an id on the wire.
                let same_id = *id == call.id || !is_first && call.id.is_empty();
                *tool == call.tool && same_id && (*known == input || !is_first && same_input(known, &input))
            });
            let at = at.unwrap_or_else(|| panic!("{} finds {} {input}", reading.how, call.tool));
            cleared.remove(at);
        }
    }
}

fuzz_target!(|bytes: &[u8]| {
    let [flags, size, stream @ ..] = bytes else {
        return;
    };
    let cut = run(stream, usize::from(*size), *flags);
    assert_eq!(cut, run(stream, stream.len(), *flags));
    check(&cut, *flags);
});
