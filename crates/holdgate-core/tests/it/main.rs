//! Tests of a response under guard: bytes in, outputs out, without sockets.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::needless_pass_by_value,
    clippy::panic,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "a test fails by panicking, and its helpers may cost"
)]

mod asking;
mod bridges;
mod bridges_odd;
mod chat;
mod chat_calls;
mod chat_hostile;
mod chat_refused;
mod chat_whole;
mod client;
mod damage;
mod diverging;
mod frames;
mod gate;
mod gemini;
mod gemini_hostile;
mod gemini_parts;
mod gemini_whole;
mod guarding;
mod hostile;
mod judging_apart;
mod keep_alive;
mod ollama;
mod one_message;
mod replacing;
mod responses;
mod responses_api;
mod slowing;
mod smuggled;
mod streams;
mod text_actions;

#[path = "../../../holdgate/src/eval/client.rs"]
#[allow(dead_code, unreachable_pub, reason = "only a part of it is needed")]
mod assemble;
#[path = "../../../holdgate/src/eval/gemini.rs"]
#[allow(dead_code, unreachable_pub, reason = "only a part of it is needed")]
mod gemini_client;
#[path = "../../../holdgate/src/eval/loose.rs"]
#[allow(dead_code, unreachable_pub, reason = "only a part of it is needed")]
mod loose;
#[path = "../../../holdgate/src/eval/readers.rs"]
#[allow(dead_code, unreachable_pub, reason = "only a part of it is needed")]
mod readers;
#[path = "../../../holdgate/src/eval/responses.rs"]
#[allow(dead_code, unreachable_pub, reason = "only a part of it is needed")]
mod responses_client;
#[path = "../../../holdgate/src/script/model/mod.rs"]
#[allow(
    dead_code,
    unreachable_pub,
    unused_imports,
    reason = "only a part of it is needed"
)]
mod script;
