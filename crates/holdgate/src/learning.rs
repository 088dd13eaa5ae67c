//! What Holdgate learns by itself, and where it keeps it: one module for each layer that learns.
//! The classifier learns from the ledger, the trajectory layer from sessions that end clean.

pub mod classifier;
pub mod trajectory;
