//! The part of Holdgate that decides. Bytes and times go in, [`guard::Output`]s come out; the
//! `holdgate` crate carries them out. `guard.rs` is the place to start reading.

pub mod answer;
pub mod call;
pub mod canonical;
pub mod conversation;
pub mod event;
pub mod guard;
pub mod history;
mod hold;
pub mod incident;
pub mod layers;
pub mod mask;
mod notice;
pub mod protocol;
pub mod question;
pub mod request;
pub mod rules;
pub mod session;
pub mod sse;
pub mod stack;
pub mod verdict;
pub mod watch;
