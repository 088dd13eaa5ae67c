//! The kinds of places that paths lead to.

use crate::worded::worded;
use std::fmt;

worded! {
    /// What kind of place a path leads to. One path can be of several classes.
    pub enum PathClass as "path class" {
        Project = "project": "Inside the project.",
        ProjectRoot = "project-root": "The project's own folder, or one above it.",
        Generated = "generated": "Output of a build or a package manager, which can be created \
                                  again.",
        Temp = "temp": "A folder for temporary files.",
        Cache = "cache": "A cache, which can be created again.",
        HomeRoot = "home-root": "Somebody's home folder, or the folder of all homes.",
        Home = "home": "Inside a home folder.",
        Workspace = "workspace": "Inside a home folder, and apparently another project.",
        Root = "root": "The root of the file system, or one of its top folders.",
        System = "system": "System files.",
        Os = "os": "Programs and libraries of the operating system.",
        RootHome = "root-home": "Root's settings, where the user is not root.",
        Device = "device": "A device that holds data.",
        Sensor = "sensor": "A camera, a microphone, a keyboard or a mouse.",
        Stream = "stream": "Standard streams, `/dev/null` and similar.",
        Secret = "secret": "Keys, passwords, tokens.",
        HoldsSecrets = "holds-secrets": "A folder that contains files with keys and tokens of many \
                                         programs.",
        Sensitive = "sensitive": "By its name it may contain a secret, but it is often an \
                                  example or public.",
        Holdgate = "holdgate": "Holdgate's own files.",
        HoldsHoldgate = "holds-holdgate": "A folder that contains Holdgate's own folders.",
        AgentSettings = "agent-settings": "An agent's settings, hooks and permissions.",
        Startup = "startup": "Runs at login, at boot or on a schedule.",
        RunsLater = "runs-later": "Runs whenever a tool is used: shims of version managers, files that \
                                   build tools and interpreters read at their start.",
        PackageCode = "package-code": "The code of packages, where builds take it from.",
        Hook = "hook": "Runs while a developer works: git hooks, editor tasks.",
        Privilege = "privilege": "Controls permissions: sudoers, users, PAM, the dynamic loader.",
        Log = "log": "System logs.",
        History = "history": "The history of shells and clients.",
        Escape = "escape": "A way to escape from a container or a sandbox.",
        Binary = "binary": "A program on the search path.",
        Vcs = "vcs": "Files of a version control system.",
        Kernel = "kernel": "Kernel interfaces.",
        Unknown = "unknown": "The path is not known.",
        Mounted = "mounted": "A container reaches it through a mount.",
        Uri = "uri": "An address such as `https://…` or `user@host:…`, not a file of this machine.",
        Unresolved = "unresolved": "The disk did not respond in time, so it is not known where \
                                    the path leads.",
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
pub struct Classes(u64);

impl Classes {
    /// Puts a class in.
    pub fn add(&mut self, class: PathClass) {
        self.0 |= 1 << class as u64;
    }

    /// Puts all of `others` in.
    pub fn add_all(&mut self, others: Classes) {
        self.0 |= others.0;
    }

    /// Whether a class is in both.
    pub fn meet(self, others: Classes) -> bool {
        self.0 & others.0 != 0
    }

    /// Takes a class out.
    pub fn remove(&mut self, class: PathClass) {
        self.0 &= !(1 << class as u64);
    }

    /// Takes all of `others` out.
    pub(super) fn remove_all(&mut self, others: Classes) {
        self.0 &= !others.0;
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
        self.0 & (1 << class as u64) != 0
    }

    /// The words for all that are in.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        self.iter().map(PathClass::word)
    }

    /// All that is in here.
    pub fn iter(self) -> impl Iterator<Item = PathClass> {
        let all = PathClass::ALL.iter().copied();
        all.filter(move |class| self.has(*class))
    }
}

impl fmt::Debug for Classes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}
