//! What is remembered of the calls before this one.

use super::act::{Act, Facts};
use super::action::Action;
use super::case::{Case, Families};
use super::files::{File, Files, Labels};
use super::ppm::{Ending, Ppm};
use super::sign::{Combination, Sign, combine};
use super::walk::Walk;

/// Acts that count as recent, neutral ones left out.
pub(super) const RECENT: usize = 24;

/// How a call ended, as far as the trail is concerned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "four answers to four questions"
)]
pub(crate) struct Ended {
    /// Whether it was carried out, or may have been.
    pub(crate) ran: bool,
    /// Whether its result has shown a secret.
    pub(crate) shown: bool,
    /// Whether its result says that a file was replaced.
    pub(crate) replaced: bool,
    /// Whether its result says that a file is new.
    pub(crate) created: bool,
}

/// How often and when something was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) first: u32,
    pub(super) last: u32,
    /// The calls that did so.
    pub(super) calls: u32,
}

impl Mark {
    fn note(&mut self, step: u32) {
        if self.calls == 0 {
            self.first = step;
        }
        if self.calls == 0 || self.last != step {
            self.calls = self.calls.saturating_add(1);
        }
        self.last = step;
    }
}

/// An act that is not long ago.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recent {
    pub(super) step: u32,
    pub(super) action: Action,
    pub(super) path: u64,
    pub(super) weight: u8,
}

/// The trail of one conversation, bounded at 64 KiB.
#[derive(Clone, Debug)]
pub(crate) struct Trail {
    pub(super) steps: u32,
    pub(super) files: Files,
    /// What was carried out, and what was refused, by action.
    pub(super) done: [Mark; Action::ALL.len()],
    pub(super) refused: [Mark; Action::ALL.len()],
    pub(super) recent: Vec<Recent>,
    /// The step that put a secret where commits take it along, and the one that committed since.
    pub(super) exposed: Option<u32>,
    pub(super) committed: Option<u32>,
    /// The step that put a secret into what a build has made.
    pub(super) built: Option<u32>,
    /// The step that wrote or installed what would do harm.
    pub(super) planted: Option<u32>,
    /// Its path, if reading it tells what it does.
    planted_path: u64,
    /// The last step that compared a file with its checksum or signature.
    pub(super) checked: Option<u32>,
    /// Existing files that were replaced and had not been read.
    pub(super) blind: Mark,
    /// Files that tools have replaced unread, as their results say.
    pub(super) hollow: Mark,
    /// The end of the sequence without neutral actions.
    pub(super) ending: Ending,
    /// The signs so far, each with the step that showed it first.
    signs: Vec<(Sign, u32)>,
}

impl Default for Trail {
    fn default() -> Self {
        Trail {
            steps: 0,
            files: Files::default(),
            done: [Mark::default(); Action::ALL.len()],
            refused: [Mark::default(); Action::ALL.len()],
            recent: Vec::new(),
            exposed: None,
            committed: None,
            built: None,
            planted: None,
            planted_path: 0,
            checked: None,
            blind: Mark::default(),
            hollow: Mark::default(),
            ending: Ending::default(),
            signs: Vec::new(),
        }
    }
}

impl Trail {
    /// Takes note of a finished call. Returns what it did in the sequence that is learned from.
    pub(crate) fn take(&mut self, acts: &[Act], ended: Ended) -> Vec<Action> {
        let step = self.steps;
        let signs = self.signs_of(acts);
        self.signs
            .extend(signs.into_iter().map(|sign| (sign, step)));
        self.steps = self.steps.saturating_add(1);
        if !ended.ran {
            for act in acts {
                mark(&mut self.refused, act.action, step);
            }
            return Vec::new();
        }
        let mut walk = Walk::new(self, step);
        let mut sequence = Vec::new();
        let (mut blind, mut hollow) = (false, false);
        for act in acts {
            blind |= walk.is_blind(act);
            hollow |= ended.replaced && walk.is_unseen(act);
            let action = walk.step(act);
            sequence.push((action, act));
        }
        if ended.shown {
            walk.shows_secret(acts);
        }
        let (own, exposed, built) = walk.end();
        self.built = self.built.or(built.then_some(step));
        for (path, file) in own {
            self.files.set(path, file);
        }
        self.exposed = self.exposed.or(exposed.then_some(step));
        if self.exposed.is_some() && acts.iter().any(|act| act.facts.has(Facts::COMMITS)) {
            self.committed.get_or_insert(step);
        }
        if blind {
            self.blind.note(step);
        }
        if hollow {
            self.hollow.note(step);
        }
        let mut learned = Vec::new();
        for (action, act) in sequence {
            if act.facts.has(Facts::CHECKS) {
                self.checked = Some(step);
            }
            let waits = [Action::Plant, Action::InstallWrong, Action::Persist];
            let code = action == Action::FetchFile;
            if waits.contains(&action) || act.facts.has(Facts::PACKAGES) {
                if self.planted.is_none() {
                    self.planted_path = if code { act.path } else { 0 };
                }
                self.planted.get_or_insert(step);
            }
            if act.facts.has(Facts::READS) && act.path == self.planted_path && act.path != 0 {
                self.planted = None;
                self.planted_path = 0;
            }
            // Nothing is lost by a new file without content.
            let new = ended.created && act.facts.has(Facts::EMPTIES);
            let action = if new { Action::Write } else { action };
            mark(&mut self.done, action, step);
            if action.is_neutral() {
                continue;
            }
            if self.recent.len() == RECENT {
                self.recent.remove(0);
            }
            // Only the result tells whether a tool has emptied a file or made a new one.
            let unsure = act.facts.has(Facts::WHOLE) && !ended.replaced;
            let weight = act.weight() - u8::from(unsure && act.facts.has(Facts::EMPTIES));
            let path = act.path;
            // What is done again counts once, unless nobody knows to which files.
            let tree = act.facts.has(Facts::TREE);
            let same = |recent: &Recent| recent.action == action && recent.path == path && !tree;
            self.recent.retain(|recent| !same(recent));
            self.recent.push(Recent {
                step,
                action,
                path,
                weight,
            });
            if self.ending.push(action) {
                learned.push(action);
            }
        }
        learned
    }

    /// What a call with these acts would make of it.
    pub(crate) fn cases(&self, acts: &[Act], families: Families) -> Vec<Case> {
        let mut walk = Walk::new(self, self.steps);
        let mut cases: Vec<Case> = Vec::new();
        for act in acts {
            let found = walk.case(act, families);
            walk.step(act);
            if let Some(case) = found
                && !cases.iter().any(|known| known.rule == case.rule)
            {
                cases.push(case);
            }
        }
        cases
    }

    /// The most surprising action of a call with these acts, and how surprising it is, in bits.
    pub(crate) fn surprise(
        &self,
        acts: &[Act],
        model: &Ppm,
        own: Option<&Ppm>,
    ) -> Option<(f64, Action)> {
        if acts.iter().all(Act::is_neutral) && !acts.iter().any(|act| act.action == Action::Run) {
            return None;
        }
        let mut walk = Walk::new(self, self.steps);
        let mut ending = self.ending;
        let mut most: Option<(f64, Action)> = None;
        for act in acts {
            let action = walk.step(act);
            if action.is_neutral() {
                continue;
            }
            if let Some(bits) = ending.surprise(action, model, own)
                && most.is_none_or(|(known, _)| bits > known)
            {
                most = Some((bits, action));
            }
            ending.push(action);
        }
        most
    }

    /// The signs of a call with these acts that no earlier step has shown.
    pub(crate) fn signs_of(&self, acts: &[Act]) -> Vec<Sign> {
        let mut signs = Vec::new();
        let quiet = |act: &Act| {
            act.is_neutral() && !act.runs_file() && !act.facts.has(Facts::LATER.and(Facts::DELETES))
        };
        if self.planted.is_none() && acts.iter().all(quiet) {
            return signs;
        }
        let mut walk = Walk::new(self, self.steps);
        for act in acts {
            let labels = walk.labels(act);
            let action = walk.step(act);
            walk.signs(act, action, labels, &mut signs);
        }
        signs.retain(|sign| !self.signs.iter().any(|(known, _)| known == sign));
        signs
    }

    /// The signs so far, each with the step that showed it first.
    pub(crate) fn signs(&self) -> &[(Sign, u32)] {
        &self.signs
    }

    /// What a call with these acts makes of it together with the calls before, whatever attack it may
    /// be. `foreign` says whether the conversation has read what others wrote.
    pub(crate) fn combination(&self, acts: &[Act], foreign: bool) -> Option<Combination> {
        combine(&self.signs, &self.signs_of(acts), foreign, self.steps > 0)
    }

    /// How many steps it has followed.
    pub(crate) fn steps(&self) -> u32 {
        self.steps
    }

    /// Whether files were forgotten about which something bad was known.
    pub(crate) fn has_lost(&self) -> bool {
        self.files.lost != Labels::NONE
    }

    /// The last step that did this, carried out or not.
    pub(super) fn tried(&self, action: Action) -> Option<u32> {
        let at = |marks: &[Mark; Action::ALL.len()]| {
            let mark = marks.get(action.index()).copied().unwrap_or_default();
            (mark.calls > 0).then_some(mark.last)
        };
        at(&self.done).max(at(&self.refused))
    }

    pub(super) fn done(&self, action: Action) -> Mark {
        self.done.get(action.index()).copied().unwrap_or_default()
    }

    pub(super) fn refused(&self, action: Action) -> Mark {
        self.refused
            .get(action.index())
            .copied()
            .unwrap_or_default()
    }

    pub(super) fn file(&self, path: u64) -> Option<File> {
        self.files.get(path)
    }

    /// About how many bytes it takes in memory.
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> usize {
        size_of::<Trail>()
            + self.files.bytes()
            + self.recent.capacity() * size_of::<Recent>()
            + self.signs.capacity() * size_of::<(Sign, u32)>()
    }
}

fn mark(marks: &mut [Mark; Action::ALL.len()], action: Action, step: u32) {
    if let Some(mark) = marks.get_mut(action.index()) {
        mark.note(step);
    }
}
