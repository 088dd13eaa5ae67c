//! One marking as it was read.

use super::place::Spot;
use super::tables::{Family, Level};
use super::tokens::Label;
use std::ops::Range;

/// What the form of a marking says by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A level with blocks that are known, or a form that nothing else has.
    Full,
    /// A phrase that is used for nothing else.
    Phrase,
    /// The same in mixed case.
    Loose,
    /// A level with a code word that no table has.
    Code,
    /// A level alone.
    Bare(Level),
    /// A portion mark without a block: `(S)`.
    Portion(Level),
    /// A line of a block, with a value.
    Label(Label),
    /// A statement with this letter.
    Statement(char),
}

impl Form {
    /// Whether it counts only together with others, or where a banner stands.
    pub(super) fn is_weak(self) -> bool {
        match self {
            Form::Bare(_) | Form::Portion(_) | Form::Label(_) => true,
            Form::Full | Form::Phrase | Form::Loose | Form::Code | Form::Statement(_) => false,
        }
    }
}

/// One marking.
#[derive(Clone, Debug)]
pub(super) struct Mark {
    pub(super) family: Family,
    pub(super) form: Form,
    pub(super) spot: Spot,
    /// As folded, in upper case: what makes markings of a text different.
    pub(super) words: String,
    /// The blocks of a banner that are known.
    pub(super) blocks: usize,
    /// The line in the text.
    pub(super) line: usize,
    /// Where it is in the text: exactly, or its line if that was folded.
    pub(super) range: Range<usize>,
}
