//! What a call does, and nothing about whether it may: [`understand`] reads a tool call into
//! [`Effect`](effect::Effect)s. Pure, total, bounded by fuel.
//!
//! `tools.rs` says which argument of which tool is a command, a path, a URL; `shell/` and `code/`
//! read what runs; `commands/` knows what programs do with their arguments; all of them say it in
//! the `Scene`.

pub mod code;
pub mod commands;
pub mod decode;
pub mod effect;
pub mod fuel;
pub mod host;
pub mod json;
mod knowledge;
pub mod own;
pub(crate) mod patch;
pub mod path;
pub mod pattern;
pub(crate) mod scene;
pub(crate) mod shell;
pub mod tag;
pub mod text;
pub mod tools;
pub mod traces;
mod understand;
pub mod value;
pub(crate) mod views;
pub mod worded;

pub use knowledge::Knowledge;
pub use understand::{Invocation, Understood, shell_syntax, understand, understand_all};
