//! What a tool returned, and texts that may hold what must not leave: by the same code as in the
//! proxy.

use super::Outcome;
use holdgate_core::{Verdict, injection, spillage};
use std::time::Instant;

/// Blocked if the text would be marked.
pub(super) fn judge_result(text: &str) -> Outcome {
    let begin = Instant::now();
    let suspicion = injection::examine(text);
    let mut outcome = Outcome::empty();
    outcome.times.push(begin.elapsed());
    if let Some(suspicion) = suspicion {
        outcome.verdict = Verdict::Block;
        outcome.hear(&[suspicion.finding()]);
    }
    outcome
}

/// Blocked if the text would not be let out.
pub(super) fn judge_spillage(text: &str, path: Option<&str>) -> Outcome {
    let begin = Instant::now();
    let spills = spillage::examine(text, path);
    let mut outcome = Outcome::empty();
    outcome.times.push(begin.elapsed());
    for spill in spills {
        outcome.verdict = outcome.verdict.max(spill.verdict);
        outcome.hear(&[spill.finding(text)]);
    }
    outcome
}
