//! What is known about paths, hosts, programs, tools and functions: data, read once.

/// A table, as the build script has compiled it.
macro_rules! compiled {
    ($name:literal) => {
        $crate::table::Table(include_bytes!(concat!(env!("OUT_DIR"), "/", $name)))
    };
}

pub(crate) mod commands;
pub(crate) mod doors;
pub(crate) mod files;
pub(crate) mod functions;
pub(crate) mod handler;
pub(crate) mod printed;
pub(crate) mod publishers;
pub(crate) mod role;
pub(crate) mod setters;
pub(crate) mod tools;
pub(crate) mod verbs;

use crate::host::HostTable;
use crate::own::OwnNames;
use crate::path::PathTable;
use commands::CommandTable;
use doors::DoorTable;
use files::FileTable;
use functions::FunctionTable;
use printed::PrintedTable;
use publishers::PublisherTable;
use setters::SetterTable;
use std::sync::{Arc, LazyLock};
use tools::ToolTable;
use verbs::VerbTable;

/// What is known about paths, hosts, programs and tools: data, read once.
#[derive(Debug)]
pub struct Knowledge {
    /// Which paths are what.
    pub paths: PathTable,
    /// Which hosts are what.
    pub hosts: HostTable,
    /// What programs do with their arguments.
    pub commands: CommandTable,
    /// Which programs print places.
    pub printed: PrintedTable,
    /// Who publishes packages, images and actions that many people use.
    pub publishers: LazyLock<PublisherTable>,
    /// Which tools do what.
    pub tools: ToolTable,
    /// Which commands write settings of their own program.
    pub setters: SetterTable,
    /// What words say that no other table settles.
    pub verbs: VerbTable,
    /// What back doors and grabbers are made of.
    pub doors: LazyLock<DoorTable>,
    /// Which files hold code.
    pub files: FileTable,
    /// What functions do with their arguments.
    pub functions: LazyLock<FunctionTable>,
    /// What the guard's own parts are called.
    pub own: OwnNames,
}

impl Knowledge {
    /// What is built in, read on first use, without a guard's own names.
    pub fn built_in() -> Result<Arc<Self>, String> {
        static BUILT_IN: LazyLock<Result<Arc<Knowledge>, String>> =
            LazyLock::new(|| Knowledge::guarded_by(OwnNames::default()).map(Arc::new));
        BUILT_IN.clone()
    }

    /// The same, in the hands of a guard with these names. What few calls need is read on first use;
    /// a test reads it, so that it can be read.
    pub fn guarded_by(own: OwnNames) -> Result<Self, String> {
        Ok(Knowledge {
            paths: PathTable::read(compiled!("paths"))?,
            hosts: HostTable::read(compiled!("hosts"))?,
            commands: CommandTable::read(compiled!("commands"))?,
            printed: PrintedTable::read(compiled!("printed"))?,
            publishers: LazyLock::new(|| {
                PublisherTable::read(compiled!("publishers")).unwrap_or_default()
            }),
            tools: ToolTable::read(compiled!("tools"))?,
            setters: SetterTable::read(compiled!("setters"))?,
            verbs: VerbTable::read(compiled!("verbs"))?,
            doors: LazyLock::new(|| DoorTable::read(compiled!("doors")).unwrap_or_default()),
            files: FileTable::read(compiled!("files"))?,
            functions: LazyLock::new(|| {
                FunctionTable::read(compiled!("functions")).unwrap_or_default()
            }),
            own,
        })
    }

    /// Reads now what is otherwise read on first use, so that no verdict has to wait for it.
    pub fn warm(&self) {
        self.commands.warm();
        LazyLock::force(&self.functions);
        LazyLock::force(&self.publishers);
        LazyLock::force(&self.doors);
        crate::text::secret::prepare();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_on_first_use_can_be_read() {
        FunctionTable::read(compiled!("functions")).unwrap();
        PublisherTable::read(compiled!("publishers")).unwrap();
        DoorTable::read(compiled!("doors")).unwrap();
    }
}
