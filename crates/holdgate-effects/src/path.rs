//! Where a path leads, and what is kept there.
//!
//! Paths are made absolute and walked as the kernel would; what the disk says comes through
//! [`Facts`], since the core does no I/O. Without facts the reading is lexical.

mod class;
mod globs;
mod lexical;
mod mount;
mod table;

pub use class::{Classes, PathClass};
pub use globs::PathGlobs;
pub use lexical::{absolute, is_under};
pub(crate) use lexical::{depends_on_folder, is_endless, is_uri as is_address};
pub(crate) use mount::{container_mount, is_engine_socket};
pub(crate) use table::PathTable;
pub(super) use table::SAMPLED;

use super::traces::Traces;
use std::fmt;
use std::sync::Arc;

/// A path, resolved and classified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Absolute where that is known, with a [`HOLE`](crate::value::HOLE) for each unknown stretch.
    pub text: String,
    /// The same with the home folder as `~`.
    pub short: String,
    /// What is kept there.
    pub classes: Classes,
    /// If it lies in the project, the bytes of the text that name the project.
    pub project: Option<usize>,
}

impl Place {
    /// The path from the project's folder, if it lies there: `src/main.rs`, or `.` for that folder itself.
    pub fn in_project(&self) -> Option<&str> {
        let inside = self.text.get(self.project?..)?;
        match inside.trim_start_matches('/') {
            "" => Some("."),
            inside => Some(inside),
        }
    }

    /// Whether it is of a class.
    pub fn is(&self, class: PathClass) -> bool {
        self.classes.has(class)
    }

    /// Whether it is of a class that makes it harmless.
    pub fn is_harmless(&self) -> bool {
        self.classes.are_harmless()
    }

    /// This place, or `other`, which a name may lead to as well: harmless only if both are.
    pub(super) fn or(mut self, other: &Place) -> Place {
        self.classes = self.classes.or(other.classes);
        self
    }

    /// A place that may be anywhere, whatever its name says.
    pub(super) fn unresolved(mut self) -> Place {
        self.classes.keep_harmful();
        self.classes.add(PathClass::Home);
        self.classes.add(PathClass::Unresolved);
        self
    }
}

/// What the disk says. The shell around the core implements it. No question may take long: what is
/// not known in time is not known.
pub trait Facts: Send + Sync + fmt::Debug {
    /// Where `path` really leads, symbolic links followed, also if its last parts do not exist.
    fn real(&self, path: &str) -> Real;

    /// Whether `path` is a file that holds something, or may be one.
    fn is_file(&self, path: &str) -> bool;

    /// What a text file holds, if it is no longer than `most` bytes.
    fn content(&self, _path: &str, _most: usize) -> Option<String> {
        None
    }

    /// The same facts for the understanding of one call: answers are remembered, and all of them
    /// together take a bounded time. `None`: they need none of that.
    fn for_one_call(&self) -> Option<Arc<dyn Facts>> {
        None
    }
}

/// Where a path leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Real {
    /// To this place, without links.
    At(String),
    /// Where its text says.
    AsWritten,
    /// Nobody knows: the disk did not answer in time, or its links have no end.
    Unknown,
}

/// Where the agent works.
#[derive(Clone, Debug)]
pub struct World {
    /// The project's folder, if it is known.
    pub project: Option<String>,
    /// The folder that commands start in.
    pub cwd: String,
    /// Other folders that they may start in: shells of some clients stay where the last command went.
    pub folders: Vec<String>,
    /// The user's home.
    pub home: String,
    /// Holdgate's own folders.
    pub own: Vec<String>,
    /// What the disk says.
    pub facts: Option<Arc<dyn Facts>>,
    /// What calls that have not run yet will change about it.
    pub pending: Arc<Traces>,
}

impl World {
    /// The same world for the understanding of one call.
    pub(crate) fn for_one_call(&self) -> Option<World> {
        let facts = self.facts.as_ref()?.for_one_call()?;
        Some(World {
            facts: Some(facts),
            ..self.clone()
        })
    }

    /// The world of a project in a home, with no facts from any disk.
    pub fn lexical(project: &str) -> Self {
        let project = lexical::without_detours(&absolute(project, "/", "/")).to_owned();
        let home = lexical::home_of(&project).unwrap_or_else(|| "/home/dev".to_owned());
        World {
            project: Some(project.clone()),
            cwd: project,
            folders: Vec::new(),
            home,
            own: Vec::new(),
            facts: None,
            pending: Arc::default(),
        }
    }
}

/// Where nothing is known, an ordinary place is assumed.
impl Default for World {
    fn default() -> Self {
        World::lexical("/home/dev/project")
    }
}
