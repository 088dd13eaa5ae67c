//! Sets of kinds and of tags, which rule out most rules before they are looked at.

use holdgate_effects::effect::Kind;
use holdgate_effects::tag::Tag;

/// A set of kinds of effects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Kinds(u64);

const _: () = assert!(Kind::ALL.len() <= 64, "kinds fit into one word");

impl Kinds {
    pub(super) const ALL: Kinds = Kinds(u64::MAX);

    pub(super) fn of(kinds: impl Iterator<Item = Kind>) -> Self {
        Kinds(kinds.fold(0, |set, kind| set | 1 << kind as u64))
    }

    pub(super) fn and(self, other: Kinds) -> Kinds {
        Kinds(self.0 & other.0)
    }

    pub(super) fn or(self, other: Kinds) -> Kinds {
        Kinds(self.0 | other.0)
    }

    pub(super) fn meets(self, other: Kinds) -> bool {
        self.0 & other.0 != 0
    }

    pub(super) fn has(self, kind: Kind) -> bool {
        self.0 & 1 << kind as u64 != 0
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(super) fn len(self) -> u32 {
        self.0.count_ones()
    }
}

/// Words of a set of tags.
const TAG_WORDS: usize = 8;

/// A set of tags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tags([u64; TAG_WORDS]);

const _: () = assert!(Tag::ALL.len() <= 64 * TAG_WORDS, "tags fit into the set");

impl Tags {
    pub(super) fn of(tags: impl Iterator<Item = Tag>) -> Self {
        let mut set = Tags::default();
        set.add(tags);
        set
    }

    pub(super) fn add(&mut self, tags: impl Iterator<Item = Tag>) {
        for tag in tags {
            if let Some(word) = self.0.get_mut(tag as usize / 64) {
                *word |= 1 << (tag as usize % 64);
            }
        }
    }

    pub(super) fn have_all(self, others: Tags) -> bool {
        self.0
            .iter()
            .zip(others.0)
            .all(|(word, other)| other & !word == 0)
    }

    pub(super) fn or(self, other: Tags) -> Tags {
        let mut set = self;
        for (word, other) in set.0.iter_mut().zip(other.0) {
            *word |= other;
        }
        set
    }

    pub(super) fn meets(self, other: Tags) -> bool {
        self.0
            .iter()
            .zip(other.0)
            .any(|(word, other)| word & other != 0)
    }
}
