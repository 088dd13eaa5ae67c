//! What a tool does with its arguments: `fields.rs` finds them by their roles; `act.rs` says what a
//! known tool does with them (`run.rs`, `code.rs`, `files.rs`, `message.rs`, `told.rs`), and `shape.rs` what an
//! unknown one may do, by its arguments and by the words of its name (`name.rs`, `service.rs`);
//! `strings.rs` reads what is left.

mod act;
mod blanks;
mod clicks;
mod code;
mod edit;
mod fields;
mod files;
mod gives;
mod joins;
mod leads;
mod loosened;
mod message;
mod name;
mod pays;
mod run;
mod service;
mod shape;
mod strings;
mod switches;
mod told;
mod typed;
mod unchecked;
mod untested;

use crate::knowledge::tools::{Role, Roles, ToolKind, ToolTable, Verb};

pub(crate) use act::act;

#[cfg(test)]
mod tests;
