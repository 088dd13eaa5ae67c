//! What an agent printed: blocked if it would be sent to the judge or killed, however it was cut.

use super::{Hit, Outcome, PIECES};
use holdgate_core::rules::{Profile, RuleSet};
use holdgate_core::watch::{self, Commands, OutputWatch, Patterns, Severity};
use holdgate_core::{LayerName, Verdict};
use holdgate_effects::path::World;
use std::sync::Arc;
use std::time::Instant;

/// Hits of the patterns that are built in. That these can be read is tested; if not, nothing passes.
pub(super) fn judge(pieces: &[Vec<u8>], world: Arc<World>) -> Outcome {
    let mut outcome = Outcome::empty();
    let Some((patterns, commands)) = built_in(world) else {
        outcome.hear_hit("patterns-unreadable", Verdict::Block);
        return outcome;
    };
    let watch = || OutputWatch::new(patterns.clone(), commands.clone());
    let begin = Instant::now();
    let hits = hits(watch(), pieces.iter().map(Vec::as_slice));
    outcome.times.push(begin.elapsed());
    for hit in &hits {
        outcome.hear_hit(&hit.pattern, verdict(hit.severity));
    }
    let whole = pieces.concat();
    for size in PIECES {
        if self::hits(watch(), whole.chunks(size)) != hits {
            outcome.hear_hit("cut-dependent", Verdict::Block);
        }
    }
    outcome
}

impl Outcome {
    fn hear_hit(&mut self, pattern: &str, verdict: Verdict) {
        self.verdict = self.verdict.max(verdict);
        let known = self.hits.iter_mut().find(|hit| hit.rule == pattern);
        match known {
            Some(hit) => hit.verdict = hit.verdict.max(verdict),
            None => self.hits.push(Hit {
                layer: LayerName::Watch,
                rule: pattern.to_owned(),
                verdict,
            }),
        }
    }
}

fn built_in(world: Arc<World>) -> Option<(Arc<Patterns>, Commands)> {
    let rules = RuleSet::built_in(Profile::default()).ok()?;
    let know = crate::own::knowledge().ok()?;
    let patterns = Patterns::built_in().ok()?;
    Some((patterns, Commands::new(rules, know, world)))
}

fn hits<'a>(mut watch: OutputWatch, pieces: impl Iterator<Item = &'a [u8]>) -> Vec<watch::Hit> {
    let mut hits = Vec::new();
    for piece in pieces {
        watch.feed(piece, &mut hits);
    }
    watch.finish(&mut hits);
    hits
}

/// A low one is noted; the others go to the judge or kill.
fn verdict(severity: Severity) -> Verdict {
    match severity {
        Severity::Low => Verdict::Audit,
        Severity::Medium | Severity::High => Verdict::Block,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::{Expect, Subject, read_file};
    use std::path::Path;

    #[test]
    fn our_own_cases_hold_however_they_are_cut() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/output.jsonl");
        let cases = read_file(&path).unwrap();
        let count = |expect| cases.iter().filter(|case| case.expect == expect).count();
        assert!(count(Expect::Block) >= 60 && count(Expect::Allow) >= 150);
        for case in &cases {
            let Subject::Output(pieces) = &case.subject else {
                panic!("{case:?}");
            };
            let outcome = judge(pieces, Arc::default());
            let blocked = case.expect == Expect::Block;
            assert_eq!(outcome.is_blocked(), blocked, "{}: {outcome:?}", case.id);
            let cut = outcome.hits.iter().any(|hit| hit.rule == "cut-dependent");
            assert!(!cut, "{}", case.id);
        }
    }
}
