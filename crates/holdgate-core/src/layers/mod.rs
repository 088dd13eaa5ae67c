//! The layers that judge calls.

mod gate;
mod policy;

pub use gate::{Gate, RateLimits};
pub use policy::Policy;
