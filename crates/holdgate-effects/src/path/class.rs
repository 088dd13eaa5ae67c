//! The kinds of places that paths lead to.

use crate::worded::worded;
use serde::Deserialize;
use std::fmt;

worded! {
    /// What kind of place a path leads to. One path can be of several classes.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, PartialOrd, Ord)]
    #[serde(rename_all = "kebab-case")]
    pub enum PathClass {
        /// Inside the project.
        Project = "project",
        /// The project's own folder, or one above it.
        ProjectRoot = "project-root",
        /// Made by a build or a package manager: it can be made again.
        Generated = "generated",
        /// A folder for temporary files.
        Temp = "temp",
        /// A cache: it can be made again.
        Cache = "cache",
        /// Somebody's home folder, or the folder of all homes.
        HomeRoot = "home-root",
        /// Inside a home folder.
        Home = "home",
        /// Inside a home folder, by its look another project.
        Workspace = "workspace",
        /// The root of the file system, or one of its top folders.
        Root = "root",
        /// The system's own files.
        System = "system",
        /// The operating system's own programs and libraries.
        Os = "os",
        /// Root's own settings, where the user is not root.
        RootHome = "root-home",
        /// A device that holds data.
        Device = "device",
        /// Standard streams, null and the like.
        Stream = "stream",
        /// Keys, passwords, tokens.
        Secret = "secret",
        /// By its name it may hold a secret, but as often it is an example or public.
        Sensitive = "sensitive",
        /// Holdgate's own files.
        Holdgate = "holdgate",
        /// A folder that Holdgate's own folders lie in.
        HoldsHoldgate = "holds-holdgate",
        /// An agent's settings, hooks and permissions.
        AgentSettings = "agent-settings",
        /// Runs at login, at boot or by time.
        Startup = "startup",
        /// Runs when a developer works: git hooks, editor tasks.
        Hook = "hook",
        /// Who may do what: sudoers, users, PAM, the dynamic loader.
        Privilege = "privilege",
        /// Logs of the system.
        Log = "log",
        /// What a person typed into shells and clients.
        History = "history",
        /// A way out of a container or a sandbox.
        Escape = "escape",
        /// A program on the search path.
        Binary = "binary",
        /// A version control system's own files.
        Vcs = "vcs",
        /// Kernel interfaces.
        Kernel = "kernel",
        /// Where it leads cannot be known.
        Unknown = "unknown",
        /// Its text is known, but the disk did not say in time where it leads.
        Unresolved = "unresolved",
    }
}

/// Classes that make a place harmless.
const HARMLESS: [PathClass; 6] = [
    PathClass::Project,
    PathClass::Generated,
    PathClass::Temp,
    PathClass::Cache,
    PathClass::Workspace,
    PathClass::Stream,
];

/// A set of classes.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Classes(u32);

impl Classes {
    /// Puts a class in.
    pub fn add(&mut self, class: PathClass) {
        self.0 |= 1 << class as u32;
    }

    /// Takes a class out.
    pub fn remove(&mut self, class: PathClass) {
        self.0 &= !(1 << class as u32);
    }

    /// Takes out what makes a place harmless.
    pub(super) fn keep_harmful(&mut self) {
        for class in HARMLESS {
            self.remove(class);
        }
    }

    /// Whether one of them makes a place harmless.
    pub(super) fn are_harmless(self) -> bool {
        HARMLESS.iter().any(|class| self.has(*class))
    }

    /// What is harmful in either, and what is harmless if both are.
    pub(super) fn or(mut self, mut other: Classes) -> Classes {
        if !other.are_harmless() {
            self.keep_harmful();
        }
        other.keep_harmful();
        Classes(self.0 | other.0)
    }

    /// Whether a class is in.
    pub fn has(self, class: PathClass) -> bool {
        self.0 & (1 << class as u32) != 0
    }

    /// The words for all that are in.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        let here = move |c: &PathClass| self.has(*c).then(|| c.word());
        PathClass::ALL.iter().filter_map(here)
    }
}

impl fmt::Debug for Classes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}
