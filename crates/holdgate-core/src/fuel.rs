//! Bounds the work of one judgement. The same call costs the same everywhere, unlike time.
//!
//! A unit stands for about 50 ns of work: `cargo bench --bench verdict` shows what that comes to.

use std::cell::Cell;

/// What is left to spend.
#[derive(Debug)]
pub struct Fuel(Cell<u64>);

/// The call needs more work than a judgement may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfFuel;

impl Fuel {
    /// A tank of `units`.
    pub fn new(units: u64) -> Self {
        Fuel(Cell::new(units))
    }

    /// Pays for `units` of work.
    pub fn spend(&self, units: u64) -> Result<(), OutOfFuel> {
        let left = self.0.get().checked_sub(units).ok_or(OutOfFuel)?;
        self.0.set(left);
        Ok(())
    }

    /// Allows for `units` more.
    pub fn grant(&self, units: u64) {
        self.0.set(self.0.get().saturating_add(units));
    }

    /// Pays for work that grows with `bytes`.
    pub fn spend_on(&self, bytes: usize) -> Result<(), OutOfFuel> {
        self.spend(1 + bytes as u64 / 32)
    }
}
