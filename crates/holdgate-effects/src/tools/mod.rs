//! What a tool does with its arguments: `fields.rs` finds them by their roles; `act.rs` says what a
//! known tool does with them (`run.rs`, `files.rs`), and `shape.rs` what an unknown one may do.

mod act;
mod fields;
mod files;
mod run;
mod shape;

use crate::knowledge::tools::{Role, Roles, ToolKind, ToolTable};

pub(crate) use act::act;

#[cfg(test)]
mod tests;
