//! Tests through the front door: a call goes in, effects come out.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the tests read files and compare with a real bash"
)]
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod bash;
mod corpus;
mod grammar;
mod growth;
mod modules;
mod random;
