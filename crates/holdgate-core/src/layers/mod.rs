//! The layers: ways of looking at a call.

pub mod gate;
pub mod policy;
