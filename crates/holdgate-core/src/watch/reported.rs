//! Which hits are reported: each once, and not more than a person could look at.

use super::{Hit, Severity};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// Hits that are not reported again: programs that draw a screen print the same line many times.
const REMEMBERED: usize = 64;
/// Hits that a pattern may have at once.
const AT_ONCE: u64 = 32;
/// Bytes of output after which it may have one more.
const PER_HIT: u64 = 32 << 10;

/// The hits that were reported.
#[derive(Debug, Default)]
pub(super) struct Reported {
    recent: VecDeque<ReportedHit>,
    /// For each pattern and weight, where in the output its hits are used up to. Each weight has
    /// its own: a flood of what is only shown must not hide what is done.
    used: HashMap<(Arc<str>, Severity, bool), u64>,
}

#[derive(Debug)]
struct ReportedHit {
    pattern: Arc<str>,
    evidence: String,
    weight: (Severity, bool),
}

impl Reported {
    /// Whether a pattern may report another hit of this weight, `at` bytes into the output. A flood
    /// of hits must not delay the output, and more of them would not change a ruling.
    pub(super) fn has_room(&self, hit: &Hit, at: u64) -> bool {
        let key = (hit.pattern.clone(), hit.severity, hit.certain);
        let used = self.used.get(&key).copied().unwrap_or(0);
        used.saturating_sub(at) < AT_ONCE * PER_HIT
    }

    /// Whether this hit is new, or more severe than before. Then it counts as reported. The last
    /// one before a flood says that there are more.
    pub(super) fn is_new(&mut self, hit: &mut Hit, at: u64) -> bool {
        let weight = (hit.severity, hit.certain);
        let same = |t: &&mut ReportedHit| t.pattern == hit.pattern && t.evidence == hit.evidence;
        if let Some(known) = self.recent.iter_mut().find(same) {
            let worse = weight > known.weight;
            known.weight = known.weight.max(weight);
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
        self.recent.push_back(ReportedHit {
            pattern: hit.pattern.clone(),
            evidence: hit.evidence.clone(),
            weight,
        });
        true
    }
}
