//! What a call does: [`ToolCall`] to [`Effect`]s.
//!
//! `tools.rs` says which argument of which tool is a command, a path, a URL; `shell/` and `code/`
//! read what runs; `commands.rs` knows what programs do with their arguments; all of them say it in
//! the [`scene::Scene`].

pub mod code;
pub mod effect;
pub mod host;
pub mod path;
pub(crate) mod scene;
pub(crate) mod shell;
pub mod value;

use host::HostTable;
use path::PathTable;

/// What is known about paths, hosts, programs and tools: data, read once.
#[derive(Debug)]
pub struct Knowledge {
    /// Which paths are what.
    pub paths: PathTable,
    /// Which hosts are what.
    pub hosts: HostTable,
}
