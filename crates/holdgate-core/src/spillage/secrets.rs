//! Secrets in a text: tokens by their form and checksum, private keys by their frame, others by what
//! comes before them, and what looks drawn by lot in a list of variables.

mod around;
mod lines;
mod scan;
mod token;
mod words;

use super::context::{self, Evidence, Standing};
use super::{Spill, What};
use std::ops::Range;

/// A secret, and how it is known.
#[derive(Clone, Debug)]
struct Candidate {
    rule: &'static str,
    evidence: Evidence,
    range: Range<usize>,
    issuers: &'static [&'static str],
    /// Whether a form says what it is: it knows better than the name before it.
    formed: bool,
}

impl Candidate {
    fn new(rule: &'static str, evidence: Evidence, range: Range<usize>) -> Candidate {
        Candidate {
            rule,
            evidence,
            range,
            issuers: &[],
            formed: false,
        }
    }

    fn spill(self, standing: Standing) -> Spill {
        let name = self.rule.replace('-', " ");
        let known = match self.evidence {
            Evidence::Checked => "its checksum is right",
            Evidence::Exact => "it has the form of one",
            Evidence::Login => "it stands where a password stands",
            Evidence::Named => "its name says so, and it looks random",
            Evidence::Weak => "it may be one",
        };
        Spill {
            what: What::Secret,
            rule: self.rule,
            verdict: context::verdict(self.evidence, standing),
            reason: format!("the text holds a secret ({name}): {known}"),
            range: self.range,
            issuers: self.issuers,
        }
    }
}

/// Secrets of one text that are reported.
const MAX_SECRETS: usize = 256;

/// The secrets in `text`, in order: those that must not leave are blocked, others only asked about
/// or recorded.
pub(super) fn examine(text: &str, standing: Standing) -> Vec<Spill> {
    let secrets = candidates(text, standing).into_iter();
    secrets.map(|secret| secret.spill(standing)).collect()
}

fn candidates(text: &str, standing: Standing) -> Vec<Candidate> {
    let Some(scanner) = scan::scanner() else {
        return Vec::new();
    };
    let mut found = token::private_keys(text);
    let windows = scanner.scan(text, &mut found);
    for window in windows {
        around::examine(text, window, &mut found);
    }
    // A name says nothing about what is encrypted.
    if text.contains("kind: SealedSecret") {
        found.retain(|secret| secret.formed);
    }
    lines::variables(text, standing, &mut found);
    lines::manifest(text, &mut found);
    without_overlaps(found)
}

/// Of secrets that overlap, the one with a form stays, then the surest. In order of the text.
fn without_overlaps(mut found: Vec<Candidate>) -> Vec<Candidate> {
    found.sort_by_key(|secret| (secret.range.start, !secret.formed, secret.evidence));
    let mut kept: Vec<Candidate> = Vec::with_capacity(found.len());
    for secret in found {
        match kept.last_mut() {
            Some(last) if secret.range.start < last.range.end => {
                if (!secret.formed, secret.evidence) < (!last.formed, last.evidence) {
                    *last = secret;
                }
            }
            Some(_) | None => kept.push(secret),
        }
        if kept.len() > MAX_SECRETS {
            break;
        }
    }
    kept
}

#[cfg(test)]
mod tests;
