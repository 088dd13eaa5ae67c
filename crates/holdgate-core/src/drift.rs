//! Goal drift: is the agent still where the user's words and the project put it?
//!
//! Four signals over the last calls, weighted as the paper has them: file scope creep 40 %, the shift
//! between reading and writing 20 %, the speed of calls 20 %, the variety of folders 20 %. It is
//! only recorded: drift alone is no harm.

use std::collections::{HashSet, VecDeque};

/// The last calls that touched something: the window of all signals.
const WINDOW: usize = 24;
/// Calls before the window that there must be to compare it with.
const MIN_BEFORE: u32 = 12;
/// Folders that are known at once.
const MAX_FOLDERS: usize = 512;
/// Calls in a minute that are usual, and those that fill the signal.
const USUAL_RATE: f64 = 20.0;
const FULL_RATE: f64 = 60.0;
/// The weighted sum from which it counts as drift: more than one signal must be high.
pub(crate) const DRIFTING: f64 = 0.5;

/// What one call touched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Touched {
    /// Paths that the user or the project names, and others.
    pub(crate) inside: u16,
    pub(crate) outside: u16,
    pub(crate) reads: u16,
    pub(crate) writes: u16,
    /// The folders of the paths, and how many of them are new.
    pub(crate) folders: u16,
    pub(crate) new_folders: u16,
}

impl Touched {
    fn paths(self) -> u16 {
        self.inside.saturating_add(self.outside)
    }
}

/// The drift of a conversation: four signals from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Drift {
    /// How much of what was touched lately lies outside of the scope.
    pub scope: f64,
    /// How far reading and writing have shifted.
    pub balance: f64,
    /// How fast calls come.
    pub velocity: f64,
    /// How many folders are new.
    pub diversity: f64,
}

impl Drift {
    /// The weighted sum.
    pub fn score(self) -> f64 {
        0.4 * self.scope + 0.2 * self.balance + 0.2 * self.velocity + 0.2 * self.diversity
    }
}

/// Where a conversation has been.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wander {
    window: VecDeque<Touched>,
    /// The calls before the window: how many, and what they read and wrote.
    calls: u32,
    reads: u32,
    writes: u32,
    folders: HashSet<u64>,
}

impl Wander {
    /// Whether a folder was not touched before. Remembers it.
    pub(crate) fn enter(&mut self, folder: u64) -> bool {
        if self.folders.len() >= MAX_FOLDERS {
            return !self.folders.contains(&folder);
        }
        self.folders.insert(folder)
    }

    /// Whether a folder was not touched before.
    pub(crate) fn is_new(&self, folder: u64) -> bool {
        !self.folders.contains(&folder)
    }

    /// Goes on with a call.
    pub(crate) fn push(&mut self, touched: Touched) {
        if touched.paths() == 0 {
            return;
        }
        self.window.push_back(touched);
        if self.window.len() > WINDOW
            && let Some(old) = self.window.pop_front()
        {
            self.calls = self.calls.saturating_add(1);
            self.reads = self.reads.saturating_add(old.reads.into());
            self.writes = self.writes.saturating_add(old.writes.into());
        }
    }

    /// The drift after one more call, with so many calls in the last minute.
    pub(crate) fn drift(&self, next: Touched, rate: usize) -> Drift {
        let mut sum = Touched::default();
        let kept = WINDOW - usize::from(next.paths() > 0);
        let last = self.window.iter().rev().take(kept);
        for touched in last.chain([&next]) {
            sum.inside = sum.inside.saturating_add(touched.inside);
            sum.outside = sum.outside.saturating_add(touched.outside);
            sum.reads = sum.reads.saturating_add(touched.reads);
            sum.writes = sum.writes.saturating_add(touched.writes);
            sum.folders = sum.folders.saturating_add(touched.folders);
            sum.new_folders = sum.new_folders.saturating_add(touched.new_folders);
        }
        // Where everything is new, nothing has changed yet.
        if self.calls < MIN_BEFORE {
            return Drift::default();
        }
        let share = |part: f64, all: f64| if all > 0.0 { part / all } else { 0.0 };
        let (reads, writes) = (f64::from(self.reads), f64::from(self.writes));
        let before = share(writes, reads + writes);
        let (reads, writes) = (f64::from(sum.reads), f64::from(sum.writes));
        let now = share(writes, reads + writes);
        #[allow(clippy::cast_precision_loss, reason = "a rate is small")]
        let rate = rate as f64;
        Drift {
            scope: share(f64::from(sum.outside), f64::from(sum.paths())),
            balance: (now - before).abs(),
            velocity: ((rate - USUAL_RATE) / (FULL_RATE - USUAL_RATE)).clamp(0.0, 1.0),
            diversity: share(f64::from(sum.new_folders), f64::from(sum.folders)),
        }
    }

    /// About how many bytes it takes in memory.
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> usize {
        self.window.capacity() * size_of::<Touched>() + self.folders.capacity() * 10
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at_work(wander: &mut Wander, calls: usize) {
        for number in 0..calls {
            let new = wander.enter((number % 4) as u64);
            wander.push(Touched {
                inside: 1,
                reads: u16::from(number % 2 == 0),
                writes: u16::from(number % 2 == 1),
                folders: 1,
                new_folders: u16::from(new),
                ..Touched::default()
            });
        }
    }

    #[test]
    fn work_in_the_project_does_not_drift() {
        let mut wander = Wander::default();
        at_work(&mut wander, 500);
        let drift = wander.drift(Touched::default(), 10);
        assert!(drift.score() < 0.1, "{drift:?}");
    }

    #[test]
    fn new_places_outside_of_the_scope_are_drift() {
        let mut wander = Wander::default();
        at_work(&mut wander, 60);
        for folder in 100..124 {
            let new = wander.enter(folder);
            wander.push(Touched {
                outside: 1,
                reads: 1,
                folders: 1,
                new_folders: u16::from(new),
                ..Touched::default()
            });
        }
        let drift = wander.drift(Touched::default(), 10);
        assert!((drift.scope - 1.0).abs() < 1e-9, "{drift:?}");
        assert!(drift.score() >= DRIFTING, "{drift:?}");
        at_work(&mut wander, 60);
        assert!(wander.drift(Touched::default(), 10).score() < DRIFTING);
    }

    #[test]
    fn one_signal_alone_is_not_drift() {
        let mut wander = Wander::default();
        at_work(&mut wander, 60);
        assert!(wander.drift(Touched::default(), 10_000).score() < DRIFTING);
    }

    #[test]
    fn memory_is_bounded() {
        let mut wander = Wander::default();
        for folder in 0..100_000 {
            let new = wander.enter(folder);
            wander.push(Touched {
                inside: 1,
                folders: 1,
                new_folders: u16::from(new),
                ..Touched::default()
            });
        }
        assert!(wander.bytes() < 16 << 10, "{}", wander.bytes());
    }
}
