//! What a call does: [`ToolCall`] to [`Effect`]s.
//!
//! `tools.rs` says which argument of which tool is a command, a path, a URL; `shell/` and `code/`
//! read what runs; `commands.rs` knows what programs do with their arguments; all of them say it in
//! the [`scene::Scene`].

pub mod code;
pub mod commands;
pub mod effect;
pub mod host;
pub(crate) mod patch;
pub mod path;
pub(crate) mod scene;
pub(crate) mod shell;
pub mod text;
pub mod value;

use crate::fuel::{Fuel, OutOfFuel};
use crate::hold::ToolCall;
use commands::CommandTable;
use effect::Effect;
use host::HostTable;
use path::{PathTable, World};
use std::sync::{Arc, LazyLock};

/// What is known about paths, hosts, programs and tools: data, read once.
#[derive(Debug)]
pub struct Knowledge {
    /// Which paths are what.
    pub paths: PathTable,
    /// Which hosts are what.
    pub hosts: HostTable,
    /// What programs do with their arguments.
    pub commands: CommandTable,
}

impl Knowledge {
    /// What is built in, read on first use.
    pub fn built_in() -> Result<Arc<Self>, String> {
        static BUILT_IN: LazyLock<Result<Arc<Knowledge>, String>> =
            LazyLock::new(|| Knowledge::read().map(Arc::new));
        BUILT_IN.clone()
    }

    fn read() -> Result<Self, String> {
        Ok(Knowledge {
            paths: PathTable::read(include_str!("paths.yaml"))?,
            hosts: HostTable::read(include_str!("hosts.yaml"))?,
            commands: CommandTable::read(include_str!("commands.yaml"))?,
        })
    }
}

/// What `call` does.
pub fn understand(
    _call: &ToolCall,
    world: &World,
    know: &Knowledge,
    fuel: &Fuel,
) -> Result<Vec<Effect>, OutOfFuel> {
    Ok(scene::Scene::new(world, know, fuel).effects)
}
