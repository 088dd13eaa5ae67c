//! Sessions that feel for the edge of a rule: one call after the other is refused by the same rule,
//! and no two are the same.

use std::collections::{HashSet, VecDeque};
use std::hash::{BuildHasher as _, RandomState};
use std::time::Duration;

/// How long a refusal counts, and how many are remembered.
const WINDOW: Duration = Duration::from_mins(10);
const MAX_REFUSALS: usize = 64;
/// So many different calls are no accident.
const VARIANTS: usize = 5;
/// How long the next call waits after so many, and at the most: twice as long with each more.
const FIRST_DELAY: Duration = Duration::from_millis(500);
const MAX_DELAY: Duration = Duration::from_secs(30);

/// Whether somebody should know: at 5 different calls, and whenever they have doubled since.
pub(super) fn is_alarming(variants: usize) -> bool {
    variants.is_multiple_of(VARIANTS) && (variants / VARIANTS).is_power_of_two()
}

/// The calls that were refused last.
#[derive(Debug, Default)]
pub(super) struct Probing {
    refusals: VecDeque<Refused>,
    keys: RandomState,
}

#[derive(Debug)]
struct Refused {
    at: Duration,
    rule: String,
    /// What was called with which arguments.
    call: u64,
}

impl Probing {
    /// A call was refused. Returns how many different ones this rule has refused lately.
    pub(super) fn note(&mut self, rule: &str, call: &str, now: Duration) -> usize {
        if self.refusals.len() == MAX_REFUSALS {
            self.refusals.pop_front();
        }
        self.refusals.push_back(Refused {
            at: now,
            rule: rule.to_owned(),
            call: self.keys.hash_one(call),
        });
        self.variants(rule, now)
    }

    fn variants(&self, rule: &str, now: Duration) -> usize {
        let recent = self.refusals.iter().rev();
        let recent = recent.take_while(|refused| now.saturating_sub(refused.at) < WINDOW);
        let same = recent.filter(|refused| refused.rule == rule);
        same.map(|refused| refused.call)
            .collect::<HashSet<u64>>()
            .len()
    }

    /// How long the next call has to wait.
    pub(super) fn delay(&self, now: Duration) -> Duration {
        let Some(last) = self.refusals.back() else {
            return Duration::ZERO;
        };
        let Some(more) = self.variants(&last.rule, now).checked_sub(VARIANTS) else {
            return Duration::ZERO;
        };
        let doubled = u32::try_from(more)
            .ok()
            .and_then(|more| 1_u32.checked_shl(more));
        let delay = doubled.and_then(|times| FIRST_DELAY.checked_mul(times));
        delay.unwrap_or(MAX_DELAY).min(MAX_DELAY)
    }

    pub(super) fn bytes(&self) -> usize {
        let refusals = self.refusals.iter();
        refusals
            .map(|refused| size_of::<Refused>() + refused.rule.len())
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn different_calls_that_one_rule_refuses_slow_the_session_down() {
        let mut probing = Probing::default();
        let mut delays = Vec::new();
        for number in 0..30_u32 {
            let now = SECOND * number;
            let variants = probing.note("secret-read", &format!("cat .env #{number}"), now);
            assert_eq!(variants, number as usize + 1);
            delays.push(probing.delay(now));
        }
        let alarms: Vec<usize> = (0..50).filter(|variants| is_alarming(*variants)).collect();
        assert_eq!(alarms, [5, 10, 20, 40]);
        assert_eq!(delays[..4], [Duration::ZERO; 4]);
        assert_eq!(delays[4], FIRST_DELAY);
        assert!(delays.is_sorted());
        assert_eq!(delays[29], MAX_DELAY);
        // It is forgotten.
        assert_eq!(probing.delay(SECOND * 30 + WINDOW), Duration::ZERO);
    }

    #[test]
    fn the_same_call_again_and_calls_that_several_rules_refuse_are_no_probing() {
        let mut probing = Probing::default();
        for number in 0..50_u32 {
            assert_eq!(probing.note("a-rule", "the same", SECOND * number), 1);
        }
        for number in 0..12_u32 {
            let rule = ["a", "b", "c", "d"][number as usize % 4];
            probing.note(rule, &number.to_string(), SECOND * number);
        }
        assert_eq!(probing.delay(SECOND * 12), Duration::ZERO);
    }
}
