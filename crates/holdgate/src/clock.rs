//! The clock that the deciding code is given.

use holdgate_core::Clock;
use std::time::{Duration, Instant};

/// Time since the clock was made.
#[derive(Debug)]
pub struct SystemClock(Instant);

impl Default for SystemClock {
    fn default() -> Self {
        SystemClock(Instant::now())
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Duration {
        self.0.elapsed()
    }
}
