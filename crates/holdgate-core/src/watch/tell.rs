//! Which hits are told: each once, and not more than somebody could look at.

use super::{Hit, Severity};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// Hits that are not told again: programs that draw a screen print the same line many times.
const REMEMBERED: usize = 64;
/// Hits that a pattern may have at once.
const AT_ONCE: u64 = 32;
/// Bytes of output after which it may have one more.
const PER_HIT: u64 = 32 << 10;

/// What was told.
#[derive(Debug, Default)]
pub(super) struct Told {
    recent: VecDeque<Telling>,
    /// For each pattern and weight, where in the output its hits are used up to. Each weight has its
    /// own: a flood of what is only shown must not hide what is done.
    used: HashMap<(Arc<str>, Severity, bool), u64>,
}

#[derive(Debug)]
struct Telling {
    pattern: Arc<str>,
    evidence: String,
    weight: (Severity, bool),
}

impl Told {
    /// Whether a pattern may say more of this weight, so far into the output. A flood of finds must not
    /// keep the output waiting, and whoever judges has seen enough of it.
    pub(super) fn has_room(&self, hit: &Hit, at: u64) -> bool {
        let key = (hit.pattern.clone(), hit.severity, hit.certain);
        let used = self.used.get(&key).copied().unwrap_or(0);
        used.saturating_sub(at) < AT_ONCE * PER_HIT
    }

    /// Whether this is new, or worse than it was. It then counts as told. The last one before a flood
    /// says that there is more.
    pub(super) fn is_news(&mut self, hit: &mut Hit, at: u64) -> bool {
        let weight = (hit.severity, hit.certain);
        let same = |t: &&mut Telling| t.pattern == hit.pattern && t.evidence == hit.evidence;
        if let Some(told) = self.recent.iter_mut().find(same) {
            let worse = weight > told.weight;
            told.weight = told.weight.max(weight);
            return worse;
        }
        if !self.has_room(hit, at) {
            return hit.certain;
        }
        let key = (hit.pattern.clone(), hit.severity, hit.certain);
        let used = self.used.entry(key).or_default();
        *used = (*used).max(at) + PER_HIT;
        if !self.has_room(hit, at) {
            hit.because
                .push_str(", and so often that not every hit is examined");
        }
        if self.recent.len() == REMEMBERED {
            self.recent.pop_front();
        }
        self.recent.push_back(Telling {
            pattern: hit.pattern.clone(),
            evidence: hit.evidence.clone(),
            weight,
        });
        true
    }
}
