//! What the judge may cost: a budget, and rest for a service that fails.

use super::fault::Fault;
use crate::config::JudgeSettings;
use std::collections::VecDeque;
use std::time::Duration;

const HOUR: Duration = Duration::from_hours(1);
/// The longest rest that a server can ask for: it may come back sooner than it says.
const LONGEST_REST: Duration = Duration::from_mins(10);

/// The books on what was asked and what came of it. Times are those of the caller's clock.
#[derive(Debug)]
pub(super) struct Limits {
    budget: usize,
    /// When requests of the last hour went out, at most as many as the budget.
    spent: VecDeque<Duration>,
    most_failures: usize,
    pause: Duration,
    failures: usize,
    resting_until: Option<Duration>,
}

impl Limits {
    pub(super) fn new(settings: &JudgeSettings) -> Limits {
        Limits {
            budget: settings.budget_per_hour,
            spent: VecDeque::new(),
            most_failures: settings.breaker_failures,
            pause: settings.breaker_pause,
            failures: 0,
            resting_until: None,
        }
    }

    /// Whether the judge may be asked now. After a rest one question tries whether it is back.
    pub(super) fn admit(&mut self, now: Duration) -> Result<(), Fault> {
        if let Some(until) = self.resting_until.filter(|until| now < *until) {
            return Err(Fault::Resting(until.saturating_sub(now)));
        }
        self.spend(now)?;
        if self.resting_until.is_some() {
            self.resting_until = Some(now + self.pause);
        }
        Ok(())
    }

    /// Counts one request.
    pub(super) fn spend(&mut self, now: Duration) -> Result<(), Fault> {
        if self.budget == 0 {
            return Ok(());
        }
        while self.spent.front().is_some_and(|at| *at + HOUR <= now) {
            self.spent.pop_front();
        }
        if self.spent.len() >= self.budget {
            return Err(Fault::OverBudget(self.budget));
        }
        self.spent.push_back(now);
        Ok(())
    }

    /// Takes down what came of a question.
    pub(super) fn note(&mut self, fault: Option<&Fault>, now: Duration) {
        let Some(fault) = fault.filter(|fault| fault.is_outage()) else {
            self.failures = 0;
            self.resting_until = None;
            return;
        };
        self.failures = self.failures.saturating_add(1);
        let pause = (self.failures >= self.most_failures).then_some(self.pause);
        let asked = fault.retry_after().map(|rest| rest.min(LONGEST_REST));
        if let Some(rest) = pause.max(asked) {
            self.resting_until = Some(now + rest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Provider;
    use hyper::StatusCode;

    fn limits(budget: usize) -> Limits {
        let mut settings = JudgeSettings::new(Provider::Gemini, "m");
        settings.budget_per_hour = budget;
        Limits::new(&settings)
    }

    const fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn outage() -> Fault {
        Fault::TimedOut(at(5))
    }

    #[test]
    fn the_budget_holds_for_any_hour() {
        let mut limits = limits(2);
        assert_eq!(limits.admit(at(0)), Ok(()));
        assert_eq!(limits.admit(at(1800)), Ok(()));
        assert_eq!(limits.admit(at(3599)), Err(Fault::OverBudget(2)));
        assert_eq!(limits.admit(at(3600)), Ok(()));
        assert_eq!(limits.admit(at(3601)), Err(Fault::OverBudget(2)));
    }

    #[test]
    fn a_service_that_fails_again_and_again_is_left_alone() {
        let mut limits = limits(0);
        for second in 0..3 {
            assert_eq!(limits.admit(at(second)), Ok(()));
            limits.note(Some(&outage()), at(second));
        }
        assert_eq!(limits.admit(at(3)), Err(Fault::Resting(at(29))));
        assert_eq!(limits.admit(at(32)), Ok(()), "one tries");
        assert_eq!(
            limits.admit(at(33)),
            Err(Fault::Resting(at(29))),
            "the others wait"
        );
        limits.note(Some(&outage()), at(34));
        assert_eq!(limits.admit(at(35)), Err(Fault::Resting(at(29))));
        assert_eq!(limits.admit(at(64)), Ok(()));
        limits.note(None, at(65));
        assert_eq!(limits.admit(at(65)), Ok(()));
        limits.note(Some(&outage()), at(66));
        assert_eq!(limits.admit(at(66)), Ok(()), "the count starts again");
    }

    #[test]
    fn what_an_agent_writes_does_not_shut_the_judge_off() {
        let mut limits = limits(0);
        for _ in 0..10 {
            limits.note(Some(&Fault::Blocked("SAFETY".to_owned())), at(0));
        }
        assert_eq!(limits.admit(at(0)), Ok(()));
    }

    #[test]
    fn a_service_that_asks_to_be_left_alone_is() {
        let mut limits = limits(0);
        let busy = |seconds| Fault::Busy {
            status: StatusCode::TOO_MANY_REQUESTS,
            message: String::new(),
            retry_after: Some(at(seconds)),
        };
        limits.note(Some(&busy(37)), at(0));
        assert_eq!(limits.admit(at(7)), Err(Fault::Resting(at(30))));
        assert_eq!(limits.admit(at(37)), Ok(()));
        limits.note(Some(&busy(51_820)), at(40));
        assert_eq!(limits.admit(at(639)), Err(Fault::Resting(at(1))));
        assert_eq!(limits.admit(at(640)), Ok(()));
    }
}
