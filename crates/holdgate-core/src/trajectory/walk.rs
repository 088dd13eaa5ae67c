//! Follows the acts of one call: which file holds what after each.

use super::act::{Act, Facts};
use super::action::Action;
use super::files::{File, Labels};
use super::trail::Trail;

/// The trail with the call's own changes laid over it.
pub(super) struct Walk<'t> {
    pub(super) trail: &'t Trail,
    pub(super) step: u32,
    own: Vec<(u64, File)>,
    /// What the files that were read so far hold.
    pub(super) read: File,
    /// The actions so far, by number.
    pub(super) here: u64,
    exposed: bool,
    /// Whether the user's own files were moved.
    moved: bool,
    /// The weight of the deletions so far.
    pub(super) deleted: u32,
    /// Whether a secret was put into what a build has made.
    built: bool,
}

impl<'t> Walk<'t> {
    pub(super) fn new(trail: &'t Trail, step: u32) -> Self {
        Walk {
            trail,
            step,
            own: Vec::new(),
            read: File::default(),
            here: 0,
            exposed: false,
            moved: false,
            deleted: 0,
            built: false,
        }
    }

    /// What is known of a path.
    pub(super) fn at(&self, path: u64) -> Option<File> {
        if path == 0 {
            return None;
        }
        let own = self.own.iter().rev().find(|(known, _)| *known == path);
        own.map(|(_, file)| *file).or_else(|| self.trail.file(path))
    }

    /// What is known of the path of an act, or of a folder above it.
    pub(super) fn known(&self, act: &Act) -> Option<File> {
        let below = |path: &u64| {
            let file = self.at(*path)?;
            file.labels.any(Labels::CONTENT).then_some(file)
        };
        let mut near = act.above.iter().chain([&act.stem]);
        self.at(act.path).or_else(|| near.find_map(below))
    }

    /// What the data of an act holds that files had.
    pub(super) fn carried(&self, act: &Act) -> Option<File> {
        let content = |file: File| {
            let labels = file.labels.only(Labels::CONTENT);
            (labels != Labels::NONE).then_some(File { labels, ..file })
        };
        if act.from.iter().any(|path| *path != 0) {
            let mut from = act.from.iter().filter_map(|path| self.at(*path));
            return from.find_map(content);
        }
        let read = act.facts.has(Facts::DATA).then_some(self.read);
        read.and_then(content)
    }

    /// The action of an act, which may depend on what is known of its file. Changes the walk.
    pub(super) fn step(&mut self, act: &Act) -> Action {
        let known = self.known(act);
        let labels = known.map_or(Labels::NONE, |file| file.labels);
        let mut action = act.action;
        if act.facts.has(Facts::LATER) {
            return self.name(act, labels);
        }
        if action == Action::Run && act.path != 0 {
            if labels.any(Labels::FETCHED.and(Labels::DECODED)) {
                action = Action::RunLoose;
            } else if labels.any(Labels::WRITTEN) {
                action = Action::RunWritten;
            }
        }
        let own = labels.any(Labels::PRIVATE) && !act.facts.has(Facts::MOVES);
        if own && act.facts.has(Facts::DELETES) {
            action = Action::DestroyData;
        } else if self.takes_back(act) && !matches!(action, Action::ClearLog | Action::Disarm) {
            action = Action::Edit;
        }
        self.moved |= act.facts.has(Facts::MOVES);
        if act.facts.has(Facts::READS) {
            let mut file = known.unwrap_or(File {
                labels: Labels::NONE,
                step: self.step,
            });
            if matches!(action, Action::ReadSecret | Action::ReadEnv)
                || act.facts.has(Facts::SECRET)
            {
                if !file.labels.any(Labels::SECRET) {
                    file.step = self.step;
                }
                file.labels = file.labels.and(Labels::SECRET);
            }
            let content = file.labels.only(Labels::CONTENT);
            if content != Labels::NONE {
                self.read = File {
                    labels: self.read.labels.and(content),
                    step: file.step,
                };
            }
            file.labels = file.labels.and(Labels::READ);
            if act.facts.has(Facts::PACKS) {
                file.labels = file.labels.and(Labels::PACKED);
                file.step = self.step;
            }
            self.set(act.path, file);
            // What a pattern matches is read with it.
            if act.facts.has(Facts::PATTERN) {
                let [folder, _] = act.above;
                let mut file = self.at(folder).unwrap_or_default();
                file.labels = file.labels.and(Labels::READ);
                self.set(folder, file);
            }
        }
        if act.facts.has(Facts::WRITES) {
            action = self.write(act, action, labels);
        }
        if action == Action::WidenMode {
            let mut file = known.unwrap_or_default();
            file.labels = file.labels.and(Labels::WIDENED);
            file.step = self.step;
            self.set(act.path, file);
        }
        self.here |= 1 << action.index();
        if action == Action::Delete {
            self.deleted = beside(self.deleted, act.weight());
        }
        // The message of a commit.
        self.exposed |= action == Action::CopySecret && act.facts.has(Facts::COMMITS);
        action
    }

    /// A written file runs the file of an act: harm, if that file is loose or becomes so.
    fn name(&mut self, act: &Act, labels: Labels) -> Action {
        let loose = labels.any(Labels::FETCHED.and(Labels::DECODED)) && !labels.any(Labels::READ);
        if loose {
            self.here |= 1 << Action::Plant.index();
            return Action::Plant;
        }
        let mut file = self.at(act.path).unwrap_or(File {
            labels: Labels::NONE,
            step: self.step,
        });
        file.labels = file.labels.and(Labels::NAMED);
        self.set(act.path, file);
        Action::Read
    }

    fn write(&mut self, act: &Act, mut action: Action, before: Labels) -> Action {
        let mut labels = Labels::WRITTEN;
        let mut step = self.step;
        for (fact, label) in [
            (Facts::FETCHED, Labels::FETCHED),
            (Facts::DECODED, Labels::DECODED),
            (Facts::SECRET, Labels::SECRET),
        ] {
            if act.facts.has(fact) {
                labels = labels.and(label);
            }
        }
        // A place that is cleared some day.
        if self.moved && act.action == Action::Write {
            labels = labels.and(Labels::PRIVATE);
        }
        if let Some(file) = self.carried(act) {
            labels = labels.and(file.labels);
            step = file.step;
        }
        if labels.any(Labels::SECRET) {
            if matches!(action, Action::Write | Action::Edit | Action::WriteOut) {
                action = Action::CopySecret;
            }
            self.exposed |= act.facts.has(Facts::IN_PROJECT);
            self.built |= act.facts.has(Facts::BUILT);
        }
        if act.facts.has(Facts::PACKS) {
            for path in act.from {
                let mut file = self.at(path).unwrap_or_default();
                file.labels = file.labels.and(Labels::PACKED);
                file.step = self.step;
                self.set(path, file);
            }
        }
        if before.any(Labels::NAMED) {
            if labels.any(Labels::FETCHED.and(Labels::DECODED)) {
                action = Action::Plant;
            }
            labels = labels.and(Labels::NAMED);
        }
        if act.facts.has(Facts::PART) {
            // What it held before, commits have taken along before.
            labels = labels.and(before);
        }
        self.set(act.path, File { labels, step });
        action
    }

    fn set(&mut self, path: u64, file: File) {
        if path != 0 {
            self.own.push((path, file));
        }
    }

    /// Whether a tool writes all of a file that nobody has read or written here.
    pub(super) fn is_unseen(&self, act: &Act) -> bool {
        let seen = |file: File| file.labels.any(Labels::READ.and(Labels::WRITTEN));
        let [folder, _] = act.above;
        let read = |file: File| file.labels.any(Labels::READ);
        let seen = self.at(act.path).is_some_and(seen) || self.at(folder).is_some_and(read);
        act.facts.has(Facts::WHOLE) && !seen
    }

    /// Whether an act deletes what the conversation has made or fetched, or a part of that.
    fn takes_back(&self, act: &Act) -> bool {
        let made = Labels::WRITTEN.and(Labels::FETCHED);
        // What a call writes over a folder of the user it has not made.
        let old = |file: &File| file.step < self.step || act.action != Action::DestroyData;
        let made = |file: File| old(&file) && file.labels.any(made);
        let made = |path: &u64| self.at(*path).is_some_and(made);
        act.facts.has(Facts::DELETES) && (made(&act.path) || act.above.iter().any(made))
    }

    /// Whether an act replaces a file that nobody has read.
    pub(super) fn is_blind(&self, act: &Act) -> bool {
        let seen = |file: File| file.labels.any(Labels::READ.and(Labels::WRITTEN));
        act.facts.has(Facts::REPLACES) && !self.at(act.path).is_some_and(seen)
    }

    /// The result of the call has shown a secret: the files that it read hold one.
    pub(super) fn shows_secret(&mut self, acts: &[Act]) {
        for act in acts.iter().filter(|act| act.facts.has(Facts::READS)) {
            let mut file = self.at(act.path).unwrap_or_default();
            if !file.labels.any(Labels::SECRET) {
                file.step = self.step;
            }
            file.labels = file.labels.and(Labels::SECRET);
            self.set(act.path, file);
        }
    }

    /// What the call has changed, and whether it has put a secret where commits take it along, or
    /// into what a build has made.
    pub(super) fn end(self) -> (Vec<(u64, File)>, bool, bool) {
        (self.own, self.exposed, self.built)
    }
}

/// The weight of the deletions of one call with one more: it counts a few times at most, however many
/// files it names.
pub(super) fn beside(before: u32, weight: u8) -> u32 {
    const FEW: u32 = 4;
    const MOST: u32 = 8;
    let most = if weight == 1 { FEW } else { MOST };
    if before >= most {
        before
    } else {
        before + u32::from(weight)
    }
}
