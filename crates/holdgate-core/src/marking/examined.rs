//! Which messages of a session were examined, and what was marked in them.

use super::MarkedResult;
use std::collections::{HashMap, HashSet};
use std::hash::RandomState;
use std::mem::take;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Messages that are remembered. Those of the last request are kept in any case.
const MAX_MESSAGES: usize = 4096;
/// Results that are known to be recorded.
const MAX_RECORDED: usize = 4096;

/// Identifies a message: keyed hash and length.
pub(super) type Digest = (u64, usize);

/// A text that is marked.
#[derive(Debug)]
pub(super) struct Mark {
    /// Where it is in its message, without its quotes.
    pub(super) place: Range<usize>,
    /// The number of its markers.
    pub(super) number: Box<str>,
}

/// What was examined in a session, for all its requests.
#[derive(Clone, Debug, Default)]
pub struct SharedExamined(Arc<Mutex<Examined>>);

#[derive(Debug, Default)]
struct Examined {
    /// Keyed at random: nobody can write a message that passes for another one.
    keys: RandomState,
    recent: HashMap<Digest, Arc<[Mark]>>,
    /// What was used before `recent` was begun. What is used again becomes recent.
    older: HashMap<Digest, Arc<[Mark]>>,
    recorded: HashSet<u64>,
}

impl SharedExamined {
    pub(super) fn keys(&self) -> RandomState {
        self.lock().keys.clone()
    }

    /// The marks of each message that is known.
    pub(super) fn known(&self, digests: &[Digest]) -> Vec<Option<Arc<[Mark]>>> {
        let mut examined = self.lock();
        if examined.recent.len() >= MAX_MESSAGES {
            examined.older = take(&mut examined.recent);
        }
        let known = digests.iter().map(|digest| {
            if let Some(marks) = examined.recent.get(digest) {
                return Some(marks.clone());
            }
            let marks = examined.older.remove(digest)?;
            examined.recent.insert(*digest, marks.clone());
            Some(marks)
        });
        known.collect()
    }

    /// Leaves of `results` those that are not noted: clients change messages around a result, such
    /// as where a cache begins.
    pub(super) fn leave_unrecorded(&self, results: &mut Vec<MarkedResult>) {
        let examined = self.lock();
        let mut here = HashSet::new();
        results
            .retain(|result| !examined.recorded.contains(&result.key) && here.insert(result.key));
    }

    /// Notes the marks of messages, and results that are recorded.
    pub(super) fn note(&self, messages: &[(Digest, Arc<[Mark]>)], results: &[MarkedResult]) {
        let mut examined = self.lock();
        for (digest, marks) in messages {
            let known = examined.recent.entry(*digest);
            known.or_insert_with(|| marks.clone());
        }
        if examined.recorded.len() >= MAX_RECORDED {
            examined.recorded.clear();
        }
        examined
            .recorded
            .extend(results.iter().map(|result| result.key));
    }

    /// The results could not be recorded. Next time, all messages are examined again.
    pub fn forget(&self, results: &[MarkedResult]) {
        let mut examined = self.lock();
        for result in results {
            examined.recorded.remove(&result.key);
        }
        examined.recent.clear();
        examined.older.clear();
    }

    /// About how many bytes it takes in memory.
    pub fn bytes(&self) -> usize {
        let examined = self.lock();
        let places = examined.recent.capacity() + examined.older.capacity();
        let known = examined.recent.values().chain(examined.older.values());
        let marks: usize = known.map(|marks| marks.len()).sum();
        places * (size_of::<(Digest, Arc<[Mark]>)>() + 1)
            + marks * (size_of::<Mark>() + 32)
            + examined.recorded.capacity() * (size_of::<u64>() + 1)
    }

    fn lock(&self) -> MutexGuard<'_, Examined> {
        // A map that a panic left half changed is still a map of true entries.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
