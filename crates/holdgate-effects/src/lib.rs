#![doc = include_str!("../README.md")]
//!
//! How it works: `tools` says which argument of which tool is a command, a path, a URL; `shell` and
//! `code` read what runs; `commands` knows what programs do with their arguments; all of them say it
//! in the `Scene`.

#[cfg(test)]
mod case_tests;
mod code;
mod commands;
pub mod decode;
pub mod effect;
pub mod fuel;
pub mod host;
mod interpreter;
pub mod json;
mod knowledge;
mod language;
pub mod own;
mod patch;
pub mod path;
pub mod pattern;
mod scene;
mod shell;
mod syntax;
pub mod table;
pub mod tag;
pub mod text;
mod tools;
pub mod traces;
mod understand;
pub mod value;
mod views;
mod vocabulary;
pub mod worded;

pub use knowledge::Knowledge;
pub use understand::{Understood, shell_syntax, understand, understand_all};
pub use views::Invocation;
pub use vocabulary::vocabulary;
