//! Labelled projects on the disk: takes the prints of their files, and again when files change.

use crate::config::{LabelledFolder, SpillageSettings};
use crate::rulebook::{self, Stamp};
use holdgate_core::prints::{self, PrintIndex, Prints, Winnowing, is_counted};
use holdgate_core::{Labelled, LabelledProjects};
use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher as _, RandomState};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Bytes of a file. Longer ones are data or made by programs.
const MAX_FILE: u64 = 256 << 10;
/// Bytes of text of one project.
const MAX_TEXT: u64 = 64 << 20;
/// Files and folders of one project.
const MAX_ENTRIES: usize = 100_000;
/// How deep folders are entered.
const MAX_DEPTH: usize = 32;
/// A text has no zero byte so near its start.
const START: usize = 8 << 10;

/// Reads labelled projects, and remembers the prints of files that have not changed.
#[derive(Debug)]
pub(crate) struct Reader {
    key: u64,
    common: Prints,
    settings: SpillageSettings,
    folders: HashMap<PathBuf, Folder>,
}

/// A project as it was last read.
#[derive(Debug, Default)]
struct Folder {
    files: BTreeMap<String, (Stamp, Prints)>,
    /// What is not compared, as it was last reported.
    left_out: String,
}

/// What a walk through a project comes to.
#[derive(Debug, Default)]
struct Walk {
    files: BTreeMap<String, (Stamp, Prints)>,
    has_changed: bool,
    entries: usize,
    bytes: u64,
    too_long: usize,
    beyond: usize,
    unreadable: usize,
}

impl Reader {
    /// A reader with a key of its own: its prints say nothing to anybody else.
    pub(crate) fn new() -> Reader {
        let key = RandomState::new().hash_one("prints");
        Reader {
            key,
            common: prints::common(key),
            settings: SpillageSettings::default(),
            folders: HashMap::new(),
        }
    }

    /// The projects with the prints of their files as they are now, if anything has changed since
    /// the last time.
    pub(crate) fn read(&mut self, settings: &SpillageSettings) -> Option<LabelledProjects> {
        let mut has_changed = self.settings != *settings;
        self.settings = settings.clone();
        self.folders
            .retain(|path, _| settings.projects.iter().any(|p| p.path == *path));
        for project in &settings.projects {
            has_changed |= self.walk(project);
        }
        has_changed.then(|| self.projects())
    }

    /// Reads what has changed in a project. Returns whether anything has.
    fn walk(&mut self, project: &LabelledFolder) -> bool {
        let old = self.folders.remove(&project.path).unwrap_or_default();
        let mut walk = Walk::default();
        let inner: Vec<&Path> = self.settings.projects.iter().map(|p| &*p.path).collect();
        self.enter(&project.path, &project.path, 0, &inner, &old, &mut walk);
        let has_changed = walk.has_changed || walk.files.len() != old.files.len();
        let left_out = walk.left_out();
        if left_out != old.left_out && !left_out.is_empty() {
            crate::log::warn(&format!(
                "{}: not everything is compared with what calls write: {left_out}",
                project.path.display()
            ));
        }
        let files = walk.files;
        self.folders
            .insert(project.path.clone(), Folder { files, left_out });
        has_changed
    }

    fn enter(
        &self,
        root: &Path,
        folder: &Path,
        depth: usize,
        projects: &[&Path],
        old: &Folder,
        walk: &mut Walk,
    ) {
        let Ok(entries) = std::fs::read_dir(folder) else {
            walk.unreadable += 1;
            return;
        };
        for entry in entries.flatten() {
            let (path, name) = (entry.path(), entry.file_name());
            let (Some(name), Ok(kind)) = (name.to_str(), entry.file_type()) else {
                walk.unreadable += 1;
                continue;
            };
            if !is_counted(name, kind.is_dir()) {
                continue;
            }
            walk.entries += 1;
            if walk.entries > MAX_ENTRIES || depth > MAX_DEPTH || walk.bytes > MAX_TEXT {
                walk.beyond += 1;
            } else if kind.is_dir() && !projects.contains(&path.as_path()) {
                self.enter(root, &path, depth + 1, projects, old, walk);
            } else if kind.is_file() {
                self.file(root, &path, old, walk);
            }
        }
    }

    fn file(&self, root: &Path, path: &Path, old: &Folder, walk: &mut Walk) {
        let name = path.strip_prefix(root).unwrap_or(path).to_string_lossy();
        let Some(stamp) = rulebook::stamp(path) else {
            return;
        };
        if stamp.bytes() > MAX_FILE {
            walk.too_long += 1;
            return;
        }
        walk.bytes += stamp.bytes();
        if let Some((then, prints)) = old.files.get(&*name)
            && *then == stamp
        {
            walk.files.insert(name.into(), (stamp, prints.clone()));
            return;
        }
        walk.has_changed = true;
        let Ok(content) = std::fs::read(path) else {
            walk.unreadable += 1;
            return;
        };
        let is_text = !content.iter().take(START).any(|byte| *byte == 0);
        let prints = if is_text {
            let text = String::from_utf8_lossy(&content);
            Prints::of_source(&text, self.key, Winnowing::default()).without(&self.common)
        } else {
            Prints::default()
        };
        walk.files.insert(name.into(), (stamp, prints));
    }

    /// All projects. What a project with a lower label has too is no sign of a copy.
    fn projects(&self) -> LabelledProjects {
        let settings = &self.settings;
        let none = Folder::default();
        let files_of =
            |project: &LabelledFolder| &self.folders.get(&project.path).unwrap_or(&none).files;
        let indexed = |project: &LabelledFolder| {
            let lower = settings.projects.iter().filter(|p| p.label < project.label);
            let lower = lower.flat_map(|p| files_of(p).values().map(|(_, prints)| prints));
            let files = files_of(project).iter();
            let files = files.map(|(name, (_, prints))| (name.as_str(), prints));
            let prints = if project.label == 0 {
                PrintIndex::default()
            } else {
                PrintIndex::of(files, &Prints::union(lower))
            };
            labelled(project, prints)
        };
        let projects = settings.projects.iter().map(indexed).collect();
        LabelledProjects::new(self.key, settings.labels.clone(), projects)
    }
}

impl Walk {
    fn left_out(&self) -> String {
        let counts = [
            (self.too_long, "files above 256 KiB"),
            (
                self.beyond,
                "files and folders beyond the limits of a project",
            ),
            (self.unreadable, "files and folders that cannot be read"),
        ];
        let some = counts.iter().filter(|(count, _)| *count > 0);
        let words: Vec<_> = some
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        words.join(", ")
    }
}

/// The projects before their files are read: copies are found by their paths already.
pub(crate) fn without_prints(settings: &SpillageSettings) -> LabelledProjects {
    let projects = settings.projects.iter();
    let projects = projects.map(|project| labelled(project, PrintIndex::default()));
    LabelledProjects::new(0, settings.labels.clone(), projects.collect())
}

fn labelled(project: &LabelledFolder, prints: PrintIndex) -> Labelled {
    // The paths of effects have no links in them.
    let real = std::fs::canonicalize(&project.path);
    let path = real.unwrap_or_else(|_| project.path.clone());
    Labelled {
        path: path.to_string_lossy().into_owned(),
        label: project.label,
        prints: Arc::new(prints),
    }
}

#[cfg(test)]
mod tests;
