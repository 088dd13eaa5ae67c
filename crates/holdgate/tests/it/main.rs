//! Tests through the front door: bytes in, bytes out.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod chaos;
mod cli;
mod client;
mod guarding;
mod hostile;
mod keep_alive;
mod proxy;
mod setup;
mod streams;
