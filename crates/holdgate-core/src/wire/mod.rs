//! One folder per protocol: frames to events, and cleared calls and refusals back to frames.

pub mod anthropic;
