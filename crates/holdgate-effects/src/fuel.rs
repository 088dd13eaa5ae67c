//! Bounds the work of one judgement. The same call costs the same everywhere, unlike time.
//!
//! A unit stands for about 50 ns of work: `cargo bench --bench verdict` shows what that comes to.
//! Behind the units stands a deadline, which is checked while they are spent.

use std::cell::Cell;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Units between two looks at the clock.
const UNITS_PER_LOOK: u64 = 2_000;

/// Tells how long judging takes. The core has no clock of its own.
pub trait Clock: Send + Sync {
    /// Time since some fixed moment.
    fn now(&self) -> Duration;
}

/// A clock that is stopped at this time.
impl Clock for Duration {
    fn now(&self) -> Duration {
        *self
    }
}

/// What is left to spend.
pub struct Fuel {
    left: Cell<u64>,
    /// All units that were ever in the tank.
    filled: Cell<u64>,
    /// Units until the clock is looked at.
    until_look: Cell<u64>,
    late: Cell<bool>,
    deadline: Option<(Arc<dyn Clock>, Duration)>,
}

/// The call needs more work than a judgement may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the call needs more work than a judgement may take")]
pub struct OutOfFuel;

impl Fuel {
    /// A tank of `units`.
    pub fn new(units: u64) -> Self {
        Fuel {
            left: Cell::new(units),
            filled: Cell::new(units),
            until_look: Cell::new(UNITS_PER_LOOK),
            late: Cell::new(false),
            deadline: None,
        }
    }

    /// A tank of `units` that is empty at `deadline` by this clock, whatever is left in it.
    pub fn until(units: u64, clock: Arc<dyn Clock>, deadline: Duration) -> Self {
        Fuel {
            deadline: Some((clock, deadline)),
            ..Fuel::new(units)
        }
    }

    /// Pays for `units` of work.
    pub fn spend(&self, units: u64) -> Result<(), OutOfFuel> {
        let left = self.left.get().checked_sub(units).ok_or(OutOfFuel)?;
        self.left.set(left);
        if let Some(until_look) = self.until_look.get().checked_sub(units) {
            self.until_look.set(until_look);
            return Ok(());
        }
        self.until_look.set(UNITS_PER_LOOK);
        if self.is_late() {
            self.exhaust();
            return Err(OutOfFuel);
        }
        Ok(())
    }

    /// Whether the deadline has passed.
    pub fn is_late(&self) -> bool {
        if let Some((clock, deadline)) = &self.deadline
            && !self.late.get()
        {
            self.late.set(clock.now() > *deadline);
        }
        self.late.get()
    }

    /// Lets go of all that is left.
    pub(crate) fn exhaust(&self) {
        self.left.set(0);
    }

    /// The units that were spent, or let go of.
    pub fn spent(&self) -> u64 {
        self.filled.get().saturating_sub(self.left.get())
    }

    /// Allows for `units` more.
    pub fn grant(&self, units: u64) {
        self.left.set(self.left.get().saturating_add(units));
        self.filled.set(self.filled.get().saturating_add(units));
    }

    /// Pays for work that grows with `bytes`.
    pub fn spend_on(&self, bytes: usize) -> Result<(), OutOfFuel> {
        self.spend(1 + bytes as u64 / 32)
    }
}

impl fmt::Debug for Fuel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Fuel").field(&self.left.get()).finish()
    }
}
