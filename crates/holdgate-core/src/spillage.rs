//! What must not leave: secrets, and passages that are marked as classified or controlled.

mod markings;

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
}

impl Spill {
    /// The same as a finding about `text`.
    pub fn finding(&self, text: &str) -> Finding {
        let mut finding = Finding::block(LayerName::Spillage, self.rule, self.reason.clone());
        finding.verdict = self.verdict;
        let around = text.get(self.range.clone()).unwrap_or_default();
        let evidence = match self.what {
            What::Secret => Masked::of("[masked]"),
            What::Marking => Masked::start(around, 120),
        };
        finding.evidence = Some(evidence);
        finding
    }
}

/// What must not leave in `text`, which is the content of the file `path`, if it is one.
pub fn examine(text: &str, path: Option<&str>) -> Vec<Spill> {
    let mut spills = Vec::new();
    spills.extend(markings::examine(text, path));
    spills
}
