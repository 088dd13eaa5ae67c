//! Whether the words near a place could make an order: what each class and each combination needs.

use super::super::blocks::BLOCK;
use super::super::lexicon::{Bits, Combination, Signal};
use std::ops::RangeInclusive;

/// The groups of the words that begin in each block of a text.
#[derive(Debug)]
pub(super) struct Near {
    blocks: Vec<Bits>,
    /// Groups that may stand anywhere.
    anywhere: Bits,
    /// How much further apart words may stand: letters may take more than one byte.
    wide: bool,
}

impl Near {
    pub(super) fn new(bytes: usize, anywhere: Bits, wide: bool) -> Near {
        Near {
            blocks: vec![0; bytes / BLOCK + 1],
            anywhere,
            wide,
        }
    }

    #[inline]
    pub(super) fn add(&mut self, at: usize, groups: Bits) {
        if let Some(block) = self.blocks.get_mut(at / BLOCK) {
            *block |= groups;
        }
    }

    /// The groups in these blocks.
    pub(super) fn groups(&self, blocks: RangeInclusive<usize>) -> Bits {
        let end = (*blocks.end()).min(self.blocks.len().saturating_sub(1));
        let blocks = self.blocks.get(*blocks.start()..=end).unwrap_or_default();
        blocks
            .iter()
            .fold(self.anywhere, |all, groups| all | groups)
    }

    /// The last block in which words may begin that are not further than `within` from the first.
    fn last(&self, first: usize, within: usize) -> usize {
        let within = if self.wide { within * 5 / 2 } else { within };
        first + within.div_ceil(BLOCK)
    }

    /// Whether words of `all` groups begin near each other, in or around a block.
    pub(super) fn around(&self, block: usize, all: Bits, within: usize) -> bool {
        if within == 0 {
            return all & !self.groups(block..=block) == 0;
        }
        let reach = self.last(0, within);
        (block.saturating_sub(reach)..=block)
            .any(|first| all & !self.groups(first..=first + reach) == 0)
    }
}

/// A class: groups that have to stand near each other.
#[derive(Debug)]
struct Need {
    class: Bits,
    all: Bits,
    within: usize,
}

/// What orders are made of.
#[derive(Debug)]
pub(super) struct Needs {
    signals: Vec<Need>,
    combinations: Vec<(Bits, Bits)>,
}

impl Needs {
    pub(super) fn new(signals: &[Signal], combinations: &[Combination]) -> Needs {
        let used = combinations.iter().fold(0, |set, combination| {
            set | combination.all | combination.any
        });
        let signals = signals.iter().filter(|signal| signal.class & used != 0);
        let signals = signals.map(|signal| Need {
            class: signal.class,
            all: signal.all,
            within: signal.within,
        });
        let combinations = combinations.iter().map(|each| (each.all, each.any));
        Needs {
            signals: signals.collect(),
            combinations: combinations.collect(),
        }
    }

    /// The groups of which some class is made.
    pub(super) fn groups(&self) -> Bits {
        self.signals.iter().fold(0, |set, need| set | need.all)
    }

    /// Whether an order may stand in these blocks. With `fine`, how near words have to be counts.
    pub(super) fn met(
        &self,
        near: &Near,
        blocks: RangeInclusive<usize>,
        context: Bits,
        fine: bool,
    ) -> bool {
        let groups = near.groups(blocks.clone());
        let there = self.signals.iter().filter(|need| need.all & !groups == 0);
        let classes = there.clone().fold(context, |set, need| set | need.class);
        if !self.combined(classes) {
            return false;
        }
        if !fine {
            return true;
        }
        let classes = there.fold(context, |set, need| {
            let stands = set & need.class != 0
                || need.within == 0
                || blocks.clone().any(|first| {
                    need.all & !near.groups(first..=near.last(first, need.within)) == 0
                });
            if stands { set | need.class } else { set }
        });
        self.combined(classes)
    }

    fn combined(&self, classes: Bits) -> bool {
        self.combinations
            .iter()
            .any(|(all, any)| all & !classes == 0 && (*any == 0 || any & classes != 0))
    }
}
