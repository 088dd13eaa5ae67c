//! What the trail knows of files: by a hash of their path, and bounded.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Files that are known at once.
pub(super) const MAX_FILES: usize = 896;

/// What is known of a file: a set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Labels(pub(super) u16);

impl Labels {
    pub(super) const NONE: Labels = Labels(0);
    /// Its content was read.
    pub(super) const READ: Labels = Labels(1);
    /// The conversation wrote it.
    pub(super) const WRITTEN: Labels = Labels(2);
    /// It came from a host that nobody vouches for.
    pub(super) const FETCHED: Labels = Labels(4);
    /// It was decoded.
    pub(super) const DECODED: Labels = Labels(8);
    /// It holds a secret.
    pub(super) const SECRET: Labels = Labels(16);
    /// Its permissions were widened.
    pub(super) const WIDENED: Labels = Labels(32);

    /// It was packed or encrypted into another file.
    pub(super) const PACKED: Labels = Labels(64);

    /// It holds what was moved here from the user's own files.
    pub(super) const PRIVATE: Labels = Labels(128);

    /// A file that the conversation wrote runs it.
    pub(super) const NAMED: Labels = Labels(256);

    /// What a copy of the file has too.
    pub(super) const CONTENT: Labels = Labels::FETCHED
        .and(Labels::DECODED)
        .and(Labels::SECRET)
        .and(Labels::PRIVATE);
    /// What must not be forgotten.
    const LASTING: Labels = Labels::CONTENT
        .and(Labels::WIDENED)
        .and(Labels::PACKED)
        .and(Labels::NAMED);

    pub(super) const fn and(self, other: Labels) -> Labels {
        Labels(self.0 | other.0)
    }

    pub(super) fn only(self, kept: Labels) -> Labels {
        Labels(self.0 & kept.0)
    }

    pub(super) fn without(self, gone: Labels) -> Labels {
        Labels(self.0 & !gone.0)
    }

    pub(super) fn any(self, of: Labels) -> bool {
        self.0 & of.0 != 0
    }
}

/// A file, and the step that says so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct File {
    pub(super) labels: Labels,
    pub(super) step: u32,
}

/// Paths are hashes already.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Same(u64);

impl Hasher for Same {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }
    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }
}

/// The known files.
#[derive(Clone, Debug, Default)]
pub(super) struct Files {
    known: HashMap<u64, File, BuildHasherDefault<Same>>,
    /// Labels of files that there was no room for.
    pub(super) lost: Labels,
}

impl Files {
    pub(super) fn get(&self, path: u64) -> Option<File> {
        self.known.get(&path).copied()
    }

    pub(super) fn set(&mut self, path: u64, file: File) {
        if self.known.len() >= MAX_FILES && !self.known.contains_key(&path) {
            self.make_room();
        }
        self.known.insert(path, file);
    }

    /// Forgets files about which nothing bad is known, and only then the oldest of the others.
    fn make_room(&mut self) {
        self.known
            .retain(|_, file| file.labels.any(Labels::LASTING));
        if self.known.len() < MAX_FILES / 4 * 3 {
            return;
        }
        let mut steps: Vec<u32> = self.known.values().map(|file| file.step).collect();
        steps.sort_unstable();
        let middle = steps.get(steps.len() / 2).copied().unwrap_or_default();
        let mut lost = self.lost;
        self.known.retain(|_, file| {
            let kept = file.step > middle;
            if !kept {
                lost = lost.and(file.labels.only(Labels::LASTING));
            }
            kept
        });
        self.lost = lost;
    }

    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        // With the control byte of each entry.
        self.known.capacity() * 8 / 7 * (size_of::<(u64, File)>() + 1)
    }
}
