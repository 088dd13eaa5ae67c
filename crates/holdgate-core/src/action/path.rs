//! Where a path leads, and what is kept there.
//!
//! Paths are made absolute and walked as the kernel would; what the disk says comes through
//! [`Facts`], since the core does no I/O. Without facts the reading is lexical.

use crate::action::shell::pattern::Pattern;
use crate::action::text;
use crate::action::value::{HOLE, Value};
use crate::action::worded::worded;
use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

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
    }
}

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

/// A path, resolved and classified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Absolute where that is known, with a [`HOLE`] for each unknown stretch.
    pub text: String,
    /// The same with the home folder as `~`.
    pub short: String,
    /// What is kept there.
    pub classes: Classes,
}

impl Place {
    /// Whether it is of a class.
    pub fn is(&self, class: PathClass) -> bool {
        self.classes.has(class)
    }
}

/// What the disk says. The shell around the core implements it.
pub trait Facts: Send + Sync + fmt::Debug {
    /// Where `path` really leads, symbolic links followed, also if its last parts do not exist.
    fn real(&self, path: &str) -> Option<String>;

    /// Whether `path` is a file that holds something.
    fn is_file(&self, path: &str) -> bool;
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
}

impl World {
    /// The world of a project in a home, with no facts from any disk.
    pub fn lexical(project: &str) -> Self {
        let home = match project.rsplit_once('/') {
            Some(("", _)) | None => "/home/dev",
            Some((parent, _)) => parent,
        };
        World {
            project: Some(project.to_owned()),
            cwd: project.to_owned(),
            folders: Vec::new(),
            home: home.to_owned(),
            own: Vec::new(),
            facts: None,
        }
    }
}

/// Where nothing is known, an ordinary place is assumed.
impl Default for World {
    fn default() -> Self {
        World::lexical("/home/dev/project")
    }
}

/// Bytes of a path.
const MAX_PATH: usize = 4096;
/// Classes that a glob in a command must not reach unseen.
pub(super) const SAMPLED: [PathClass; 6] = [
    PathClass::Secret,
    PathClass::Privilege,
    PathClass::Startup,
    PathClass::Holdgate,
    PathClass::AgentSettings,
    PathClass::Device,
];

/// `paths.yaml`, ready to match.
#[derive(Debug)]
pub struct PathTable {
    globs: GlobSet,
    classes: Vec<(PathClass, bool)>,
    /// One path that each pattern of a sensitive class finds: what a glob in a command may mean.
    samples: Vec<(String, PathClass)>,
}

impl PathTable {
    /// Reads the table: for each class the globs that belong to it, and with `!` those that do not.
    pub fn read(yaml: &str) -> Result<Self, String> {
        let table: BTreeMap<PathClass, Vec<String>> =
            serde_saphyr::from_str(yaml).map_err(|e| e.to_string())?;
        let mut globs = GlobSetBuilder::new();
        let mut classes = Vec::new();
        let mut samples = Vec::new();
        for (class, patterns) in table {
            for pattern in patterns {
                let (pattern, is) = match pattern.strip_prefix('!') {
                    Some(rest) => (rest.to_owned(), false),
                    None => (pattern, true),
                };
                globs.add(glob(&pattern).map_err(|e| e.to_string())?);
                if is && SAMPLED.contains(&class) && !pattern.contains(['{', '[']) {
                    samples.push((pattern.replace("**", "x").replace('*', "x"), class));
                }
                classes.push((class, is));
            }
        }
        let globs = globs.build().map_err(|e| e.to_string())?;
        Ok(PathTable {
            globs,
            classes,
            samples,
        })
    }

    /// Resolves `path`, which stands in a command that runs in `cwd`.
    pub fn place(&self, path: &Value, cwd: &str, world: &World) -> Place {
        // No kernel takes longer ones.
        let written = text::beginning(&path.text, MAX_PATH);
        let text = absolute(written, cwd, &world.home);
        let lexical = self.classified(&text, world);
        let Some(facts) = &world.facts else {
            return lexical;
        };
        // `link/..` is not where it seems to be: the disk is asked about the path as written.
        let asked = joined(written, cwd, &world.home);
        if asked.contains(HOLE) {
            return lexical;
        }
        match facts.real(&asked) {
            Some(real) if real != lexical.text => {
                let mut place = self.classified(&real, world);
                // What a name stands for it stands for, wherever it leads.
                for class in SAMPLED {
                    if lexical.is(class) {
                        place.classes.add(class);
                    }
                }
                place
            }
            _ => lexical,
        }
    }

    fn classified(&self, text: &str, world: &World) -> Place {
        let text = without_detours(text);
        let short = short_form(&text, &world.home);
        let mut place = Place {
            text,
            short,
            classes: Classes::default(),
        };
        self.classify(&mut place, world);
        place
    }

    /// What a glob may find counts as found.
    fn classify_glob(&self, place: &mut Place) {
        let short = place.short.clone();
        let (folder, name) = short.rsplit_once('/').unwrap_or(("", &short));
        let literal = |text: &str| text.find(['?', '[', '*']).unwrap_or(text.len());
        if !short.contains(['?', '[', '*']) {
            return;
        }
        // Below a folder, as `find` looks: the name alone tells, if enough of it is spelt.
        let anywhere = short.contains("**");
        if anywhere && literal(name) < 4 {
            return;
        }
        // All that lies in a folder of secrets.
        let in_folder = |class: &PathClass| {
            let mut found = self.globs.matches(folder).into_iter();
            found.any(|at| self.classes.get(at) == Some(&(*class, true)))
        };
        if name.contains(['?', '*']) && in_folder(&PathClass::Secret) {
            place.classes.add(PathClass::Secret);
        }
        let spelt = name.chars().filter(|c| c.is_alphanumeric()).count();
        if spelt < 2 && !name.contains('?') && !name.starts_with('.') {
            return;
        }
        let start = short.get(..literal(&short)).unwrap_or("");
        let start_of_name = name.get(..literal(name)).unwrap_or("");
        let (whole, last) = (Pattern::read(&short), Pattern::read(name));
        let whole = whole.filter(|_| !anywhere);
        for (sample, class) in &self.samples {
            let found = match sample.strip_prefix("x/") {
                // Wherever it lies, its name tells.
                Some(sample) if !sample.contains('/') => {
                    !start_of_name.is_empty()
                        && sample.starts_with(start_of_name)
                        && last.as_ref().is_some_and(|p| p.matches(sample))
                }
                _ => sample.starts_with(start) && whole.as_ref().is_some_and(|p| p.matches(sample)),
            };
            let named = matches!(class, PathClass::Secret | PathClass::Holdgate);
            if found && (!anywhere || named) {
                place.classes.add(*class);
            }
        }
    }

    fn classify(&self, place: &mut Place, world: &World) {
        let mut not = Classes::default();
        for index in self.globs.matches(&place.short) {
            match self.classes.get(index) {
                Some((class, true)) => place.classes.add(*class),
                Some((class, false)) => not.add(*class),
                None => {}
            }
        }
        self.classify_glob(place);
        for class in PathClass::ALL {
            if not.has(*class) {
                place.classes.remove(*class);
            }
        }
        let text = place.text.as_str();
        if text.starts_with(HOLE) {
            place.classes.add(PathClass::Unknown);
            return;
        }
        if text.starts_with("/root/.") && world.home != "/root" {
            place.classes.add(PathClass::RootHome);
        }
        if world.own.iter().any(|own| is_under(text, own)) {
            place.classes.add(PathClass::Holdgate);
        } else if world.own.iter().any(|own| is_under(own, text)) {
            place.classes.add(PathClass::HoldsHoldgate);
        }
        match &world.project {
            Some(project) if is_under(text, project) => {
                place.classes.add(PathClass::Project);
                place.classes.remove(PathClass::Home);
                place.classes.remove(PathClass::Workspace);
                place.classes.remove(PathClass::System);
                place.classes.remove(PathClass::HomeRoot);
                place.classes.remove(PathClass::Root);
                // A project may lie in a folder for temporary files: it is a project all the same.
                place.classes.remove(PathClass::Temp);
                // Nor is all of it generated because of where it lies.
                let inside = text.get(project.len()..).unwrap_or(text);
                if place.is(PathClass::Generated) && !self.finds(inside, PathClass::Generated) {
                    place.classes.remove(PathClass::Generated);
                }
                let folder = text.trim_end_matches("/.*").trim_end_matches("/*");
                if folder == project {
                    place.classes.add(PathClass::ProjectRoot);
                }
            }
            Some(project) if is_under(project, text) => place.classes.add(PathClass::ProjectRoot),
            _ => {}
        }
    }
}

impl PathTable {
    fn finds(&self, path: &str, class: PathClass) -> bool {
        let found = self.globs.matches(path);
        found
            .iter()
            .any(|at| self.classes.get(*at) == Some(&(class, true)))
    }
}

/// A glob as the tables write it: `*` stays within a folder, and `x/**` means `x` too.
pub fn glob(pattern: &str) -> Result<Glob, globset::Error> {
    let pattern = match pattern.strip_suffix("/**") {
        Some(folder) if !folder.is_empty() => format!("{{{folder},{pattern}}}"),
        _ => pattern.to_owned(),
    };
    GlobBuilder::new(&pattern).literal_separator(true).build()
}

/// Whether `path` is `folder` or lies in it.
pub fn is_under(path: &str, folder: &str) -> bool {
    let folder = folder.trim_end_matches('/');
    path.strip_prefix(folder)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// `path` seen from `cwd`, without `.` and `..`.
pub fn absolute(path: &str, cwd: &str, home: &str) -> String {
    let joined = joined(path, cwd, home);
    if is_windows(&joined) {
        return unix_form(&joined);
    }
    let rooted = joined.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in joined.split('/') {
        match part {
            "" | "." => {}
            ".." => match parts.last() {
                // What an unknown part hides may be several folders deep: stay at it.
                Some(last) if last.contains(HOLE) => parts.push(".."),
                Some(&"..") => parts.push(".."),
                Some(_) => {
                    parts.pop();
                }
                None => {}
            },
            part => parts.push(part),
        }
    }
    let body = parts.join("/");
    if rooted { format!("/{body}") } else { body }
}

/// `path` as it is seen from `cwd`, nothing taken out.
fn joined(path: &str, cwd: &str, home: &str) -> String {
    let path = path.strip_prefix("file://").unwrap_or(path);
    if path.starts_with('/') || path.starts_with(HOLE) || is_windows(path) {
        path.to_owned()
    } else if path == "~" || path.starts_with("~/") {
        // Tools take it as the home folder; a shell has put the home there already.
        format!("{home}{}", path.trim_start_matches('~'))
    } else {
        format!("{}/{path}", cwd.trim_end_matches('/'))
    }
}

fn is_windows(path: &str) -> bool {
    let mut chars = path.chars();
    let drive = chars.next().is_some_and(|c| c.is_ascii_alphabetic());
    drive && chars.next() == Some(':') && matches!(chars.next(), Some('\\' | '/'))
}

/// `C:\Users\x\.ssh` as `/Users/x/.ssh`: secrets have the same names there.
fn unix_form(path: &str) -> String {
    let rest = path.split_once(':').map_or(path, |(_, rest)| rest);
    rest.replace('\\', "/")
}

/// Ways through `/proc` and macOS's `/private` lead to the same files.
fn without_detours(path: &str) -> String {
    let mut path = path;
    loop {
        if let Some(rest) = path.strip_prefix("/private/")
            && (rest.starts_with("tmp") || rest.starts_with("var") || rest.starts_with("etc"))
        {
            path = path.get("/private".len()..).unwrap_or(path);
            continue;
        }
        let Some(rest) = path.strip_prefix("/proc/") else {
            break;
        };
        let Some((_, rest)) = rest.split_once('/') else {
            break;
        };
        let rest = match rest.strip_prefix("task/") {
            Some(task) => task.split_once('/').map_or("", |(_, rest)| rest),
            None => rest,
        };
        match rest.strip_prefix("root") {
            Some("") => return "/".to_owned(),
            Some(inner) if inner.starts_with('/') => path = inner,
            _ => break,
        }
    }
    path.to_owned()
}

/// Any user's home as `~`, so that one table serves all.
fn short_form(path: &str, home: &str) -> String {
    if home != "/" && is_under(path, home) {
        let rest = path.get(home.trim_end_matches('/').len()..).unwrap_or("");
        return format!("~{rest}");
    }
    for homes in ["/home/", "/Users/"] {
        if let Some(rest) = path.strip_prefix(homes) {
            return match rest.split_once('/') {
                Some((_, rest)) => format!("~/{rest}"),
                None => "~".to_owned(),
            };
        }
    }
    match path.strip_prefix("/root") {
        Some("") => "~".to_owned(),
        Some(rest) if rest.starts_with('/') => format!("~{rest}"),
        _ => path.to_owned(),
    }
}
