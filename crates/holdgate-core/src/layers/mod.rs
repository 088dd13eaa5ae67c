//! The layers: ways of looking at a call.

mod gate;
mod policy;

pub use gate::{Gate, RateLimits};
pub use policy::Policy;
