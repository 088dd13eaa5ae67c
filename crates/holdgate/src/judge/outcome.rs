//! What becomes of the agent: one table, which docs/operating.md shows.

use super::{Ruling, Verdict};
use holdgate_core::watch::Severity;

/// What becomes of the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It goes on.
    Thaw,
    /// It goes on, and the operator is warned.
    Warn,
    /// All its processes are killed.
    Kill,
}

/// What a ruling on a finding of this severity leads to.
///
/// A judge that gives no verdict has denied nothing: the severity decides in its place.
pub fn outcome(ruling: &Ruling, severity: Severity) -> Outcome {
    match (ruling, severity) {
        (Ruling::Said { verdict, .. }, _) => match verdict {
            Verdict::Safe => Outcome::Thaw,
            Verdict::Warn => Outcome::Warn,
            Verdict::Kill => Outcome::Kill,
        },
        (Ruling::Down { .. }, Severity::High) => Outcome::Kill,
        (Ruling::Down { .. }, Severity::Medium | Severity::Low) => Outcome::Warn,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_verdict_decides_and_without_one_the_severity() {
        let check = |ruling: Ruling, word: &str, expected: [Outcome; 3]| {
            let severities = [Severity::Low, Severity::Medium, Severity::High];
            assert_eq!(severities.map(|s| outcome(&ruling, s)), expected);
            assert_eq!(ruling.word(), word);
        };
        let said = |verdict| Ruling::Said {
            verdict,
            reason: "r".to_owned(),
        };
        let down = Ruling::Down {
            why: "w".to_owned(),
        };
        check(said(Verdict::Safe), "safe", [Outcome::Thaw; 3]);
        check(said(Verdict::Warn), "warn", [Outcome::Warn; 3]);
        check(said(Verdict::Kill), "kill", [Outcome::Kill; 3]);
        let by_severity = [Outcome::Warn, Outcome::Warn, Outcome::Kill];
        check(down, "judge_down", by_severity);
    }
}
