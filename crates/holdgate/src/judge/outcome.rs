//! What becomes of the agent: one table, which docs/operating.md shows.

use super::{Ruling, Verdict};
use holdgate_core::watch::Hit;

/// What becomes of the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It goes on.
    Thaw,
    /// It goes on, and the operator is warned.
    Warn,
    /// It stands still until a person has decided.
    Ask,
    /// All its processes are killed.
    Kill,
}

/// What a ruling on a finding leads to; `attended` says whether a person can be asked.
///
/// A judge that gives no verdict has denied nothing, and nobody dies for words: without one, only harm
/// that is under way ends an agent by itself.
pub fn outcome(ruling: &Ruling, hit: &Hit, attended: bool) -> Outcome {
    match ruling {
        Ruling::Said { verdict, .. } => match verdict {
            Verdict::Safe => Outcome::Thaw,
            Verdict::Warn => Outcome::Warn,
            Verdict::Kill => Outcome::Kill,
        },
        // What is quoted is nobody's act, and a call is judged where it is made.
        Ruling::Down { .. } if hit.quoted || hit.call => Outcome::Warn,
        Ruling::Down { .. } if attended => Outcome::Ask,
        Ruling::Down { .. } if hit.is_harm() => Outcome::Kill,
        Ruling::Down { .. } => Outcome::Warn,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::test_hit;
    use holdgate_core::watch::Severity;

    fn hit(family: &str) -> Hit {
        test_hit(family, "")
    }

    #[test]
    fn the_verdict_decides() {
        let check = |verdict, word: &str, expected: Outcome| {
            let ruling = Ruling::Said {
                verdict,
                reason: "r".to_owned(),
            };
            assert_eq!(ruling.word(), word);
            for attended in [true, false] {
                let found = outcome(&ruling, &hit("harm-in-progress"), attended);
                assert_eq!(found, expected);
            }
        };
        check(Verdict::Safe, "safe", Outcome::Thaw);
        check(Verdict::Warn, "warn", Outcome::Warn);
        check(Verdict::Kill, "kill", Outcome::Kill);
    }

    #[test]
    fn without_a_verdict_a_person_does_and_without_one_only_harm_kills() {
        let down = Ruling::Down {
            why: "w".to_owned(),
        };
        assert_eq!(down.word(), "judge_down");
        let check = |hit: Hit, attended: Outcome, alone: Outcome| {
            assert_eq!(outcome(&down, &hit, true), attended, "{hit:?}");
            assert_eq!(outcome(&down, &hit, false), alone, "{hit:?}");
        };
        let (words, harm) = (hit("prompt-injection"), hit("harm-in-progress"));
        check(words.clone(), Outcome::Ask, Outcome::Warn);
        check(harm.clone(), Outcome::Ask, Outcome::Kill);
        let medium = Hit {
            severity: Severity::Medium,
            ..harm.clone()
        };
        check(medium, Outcome::Ask, Outcome::Warn);
        for hit in [words, harm] {
            let quoted = Hit {
                quoted: true,
                ..hit.clone()
            };
            check(quoted, Outcome::Warn, Outcome::Warn);
            let call = Hit { call: true, ..hit };
            check(call, Outcome::Warn, Outcome::Warn);
        }
    }
}
