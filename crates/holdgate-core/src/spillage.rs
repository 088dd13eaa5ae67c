//! What must not leave: secrets, and passages that are marked as classified or controlled.

pub mod context;
mod markings;
mod secrets;

use crate::mask::Masked;
use crate::verdict::{Finding, LayerName, Verdict};
use std::ops::Range;

/// What kind of thing was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A secret: its value is the range.
    Secret,
    /// A marking: the passage that it marks is the whole text.
    Marking,
}

/// Something that must not leave.
#[derive(Clone, Debug)]
pub struct Spill {
    /// What kind of thing.
    pub what: What,
    /// The name of the form: `github-token`, `us-classification`.
    pub rule: &'static str,
    /// How sure it is: block, ask or audit.
    pub verdict: Verdict,
    /// The reason, as a clause.
    pub reason: String,
    /// Where it is in the text.
    pub range: Range<usize>,
    /// Host suffixes where a secret belongs: `github.com`. Empty if they are not known.
    pub issuers: &'static [&'static str],
}

impl Spill {
    /// The same as a finding about `text`.
    pub fn finding(&self, text: &str) -> Finding {
        let mut finding = Finding::block(LayerName::Spillage, self.rule, self.reason.clone());
        finding.verdict = self.verdict;
        let around = text.get(self.range.clone()).unwrap_or_default();
        let evidence = match self.what {
            What::Secret => self.place(text),
            What::Marking => Masked::start(around, 120),
        };
        finding.evidence = Some(evidence);
        finding
    }
}

impl Spill {
    /// What comes before a secret in its line, and a mask in its place.
    fn place(&self, text: &str) -> Masked {
        let before = text.get(..self.range.start).unwrap_or_default();
        let line = before.rsplit('\n').next().unwrap_or_default();
        let start = line.ceil_char_boundary(line.len().saturating_sub(MAX_BEFORE));
        let before = Masked::end(line.get(start..).unwrap_or_default(), 60);
        Masked::of(&format!("{before}[masked]"))
    }
}

/// Bytes before a secret that are read, to show some of them.
const MAX_BEFORE: usize = 4096;

/// What must not leave in `text`, which is the content of the file `path`, if it is one. What is only
/// allowed in it, as in a test, is found too: a value that was read there and is sent elsewhere later
/// is suspicious even then.
pub fn examine(text: &str, path: Option<&str>) -> Vec<Spill> {
    let standing = path.map_or(context::Standing::Ordinary, context::standing);
    let mut spills = secrets::examine(text, standing);
    spills.extend(markings(text, path));
    spills
}

/// The markings of `text` alone.
pub fn markings(text: &str, path: Option<&str>) -> Vec<Spill> {
    markings::examine(text, path)
}
