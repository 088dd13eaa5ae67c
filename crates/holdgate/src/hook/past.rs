//! What a session has done, where no engine is resident and each hook is a process of its own: the
//! ledger has its calls, and says which of them have ended.

use super::engine::DOOR;
use crate::ledger::{self, Ledger};
use holdgate_core::{Action, Executor, HeldCall, Masked, Outcome, Record, Verdict};
use holdgate_effects::json::{Json, LoneSurrogates};
use std::hash::{BuildHasher as _, RandomState};
use std::io;
use std::path::Path;

/// Bytes of the ledger that are read, at its end, and calls that are taken from them.
const MAX_BYTES: u64 = 1 << 20;
const MAX_CALLS: usize = 64;
const MAX_DEPTH: usize = 96;

/// The last calls of a session, oldest first, and what became of them. One without a result was
/// tried, and nobody knows how far it got.
pub(super) fn calls(dir: &Path, session: &str) -> io::Result<Vec<(HeldCall, Outcome)>> {
    let text = ledger::tail(dir, MAX_BYTES)?;
    let session = Masked::of(session).into_string();
    let door = format!("\"door\":\"{DOOR}\"");
    let mut calls: Vec<(HeldCall, Outcome)> = Vec::new();
    for line in text.lines().filter(|line| line.contains(&door)) {
        let Ok(record) = Json::read(line.as_bytes(), MAX_DEPTH, LoneSurrogates::Replace) else {
            continue;
        };
        if record.get_str("session") != Some(&session) {
            continue;
        }
        match record.get_str("subject") {
            Some("call") => calls.extend(call(&record)),
            Some("result") => {
                let of = record.get_str("call");
                let is_open = |(held, outcome): &&mut (HeldCall, Outcome)| {
                    held.id.as_deref() == of && *outcome == Outcome::Failed
                };
                if let Some((_, outcome)) = calls.iter_mut().find(is_open) {
                    *outcome = Outcome::Done;
                }
            }
            _ => {}
        }
    }
    let surplus = calls.len().saturating_sub(MAX_CALLS);
    calls.drain(..surplus);
    Ok(calls)
}

fn call(record: &Json<'_>) -> Option<(HeldCall, Outcome)> {
    let outcome = match Action::from_word(record.get_str("action")?)? {
        Action::Sent | Action::LeftToClient => Outcome::Failed,
        Action::Explained | Action::ExplainedAndContinued => Outcome::Refused,
        Action::ResponseEnded
        | Action::LeftOut
        | Action::Asked
        | Action::Marked
        | Action::Forwarded => return None,
    };
    let text = |key: &str| record.get_str(key).map(str::to_owned);
    let input = match (record.get("input"), record.get_str("input_start")) {
        (Some(input), _) => Some(input.text()),
        // Only its start is recorded: what is written may be long, and where to stands before it.
        (None, Some(start)) => {
            let start = start.trim_end_matches(['…', '\\']);
            Some(format!("{start}\"}}"))
        }
        (None, None) => None,
    };
    let held = HeldCall::new(Executor::AtClient, text("call"), text("tool"), input);
    Some((held, outcome))
}

/// Records that a call has ended, for the processes that judge later ones.
pub(super) fn note(ledger: &Ledger, session: String, call: &str) -> io::Result<()> {
    let id = format!("h{:06x}-r", RandomState::new().hash_one(call) >> 40);
    let names = (None, Some(call.to_owned()));
    let mut record = Record::of_result(id, session, names, Vec::new(), Action::Forwarded);
    record.door = DOOR;
    record.verdict = Verdict::Allow;
    ledger.append(&record)
}
