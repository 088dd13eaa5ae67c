//! Tests through the front door: bytes in, bytes out.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::needless_pass_by_value,
    clippy::panic,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "a test fails by panicking, and its helpers may cost"
)]

mod approve;
mod asking;
mod bridges;
mod budget;
mod canaries;
mod chaos;
mod cli;
mod client;
mod cmd;
mod continuing;
#[path = "../../../holdgate-effects/tests/it/corpus.rs"]
mod corpus;
mod data_flows;
mod doc_commands;
mod documents;
mod effects;
mod errors;
mod eval;
mod expert;
mod families;
mod hook;
mod hook_late;
mod hook_past;
mod judge;
mod judge_faults;
mod judge_first;
mod judge_server;
mod labelled;
mod monitor;
mod own;
mod person;
mod protocols;
mod proxy;
mod proxy_slow;
#[path = "../../../holdgate-effects/tests/it/random.rs"]
mod random;
mod reload;
mod removal;
mod responses_api;
mod rulebook;
mod run;
mod run_screen;
mod run_terminal;
mod run_way;
mod sealing;
mod secrets;
mod setup;
mod terminal;
mod tls;
mod tmux;
mod total;
mod train;
mod unknown_paths;
mod verdicts;
mod why;

#[path = "../../../holdgate-core/tests/it/responses.rs"]
mod responses;
