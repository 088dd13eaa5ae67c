//! The file of what projects have taught the classifier: read whole or not at all, written whole or
//! not at all. Whatever is wrong with it, the base model stays in force.

use crate::ledger::{private, readable};
use anyhow::Context as _;
use holdgate_core::classifier::Classifier;
use holdgate_core::classifier::base::Base;
use holdgate_core::classifier::lesson::project_hash;
use holdgate_core::classifier::project::{Learned, Memories, Memory};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The file's name in the state directory.
pub const FILE: &str = "classifier.model";
/// The file while it is written.
const NEW: &str = "classifier.model.new";
/// A larger file is not read.
const MAX_BYTES: u64 = 64 << 20;

/// What is in force: the base model, and what each project has learned.
#[derive(Debug)]
pub struct Models {
    base: Arc<Base>,
    learned: BTreeMap<u64, Arc<Learned>>,
}

/// The base model alone.
impl Default for Models {
    fn default() -> Self {
        Models {
            base: Base::built_in(),
            learned: BTreeMap::new(),
        }
    }
}

impl Models {
    /// The base model with these memories.
    pub fn of(memories: &Memories) -> Models {
        let base = Base::built_in();
        let learned =
            |(project, memory): (&u64, &Memory)| (*project, Arc::new(memory.learned(&base)));
        Models {
            learned: memories.projects.iter().map(learned).collect(),
            base,
        }
    }

    /// What is in the state directory. A file that cannot be used is reported and ignored.
    pub fn load(dir: &Path) -> Models {
        match read(dir) {
            Ok(Some(memories)) => Models::of(&memories),
            Ok(None) => Models::default(),
            Err(error) => {
                crate::log::warn(&format!(
                    "what the classifier has learned is not used: {error:#}"
                ));
                Models::default()
            }
        }
    }

    /// What scores the calls of a project.
    pub fn classifier(&self, project: Option<&str>) -> Classifier {
        self.of_project(project_hash(project))
    }

    /// The same, by the hash of the project.
    pub fn of_project(&self, project: u64) -> Classifier {
        Classifier::new(self.base.clone(), self.learned.get(&project).cloned())
    }

    /// What scores the calls of each project that has learned something.
    pub fn learned(&self) -> impl Iterator<Item = Classifier> + '_ {
        self.learned.keys().map(|project| self.of_project(*project))
    }

    /// Whether anything was learned in a project.
    pub fn knows(&self, project: Option<&str>) -> bool {
        self.learned.contains_key(&project_hash(project))
    }
}

/// The path of the file.
pub fn path(dir: &Path) -> PathBuf {
    dir.join(FILE)
}

/// Reads the file; `None` if there is none.
pub fn read(dir: &Path) -> anyhow::Result<Option<Memories>> {
    let path = path(dir);
    if !path.exists() {
        return Ok(None);
    }
    let read = || -> anyhow::Result<Memories> {
        let mut bytes = Vec::new();
        let file = readable(&path)?;
        file.take(MAX_BYTES).read_to_end(&mut bytes)?;
        Ok(Memories::read(&bytes)?)
    };
    read().map(Some).with_context(|| path.display().to_string())
}

/// Writes the file: the old one stays until the new one is on the disk as a whole.
pub fn write(dir: &Path, memories: &Memories) -> anyhow::Result<()> {
    let (new, path) = (dir.join(NEW), path(dir));
    let write = || -> std::io::Result<()> {
        let mut file = private(&new, |o| o.create(true).truncate(true).write(true))?;
        file.write_all(&memories.write())?;
        file.sync_all()?;
        std::fs::rename(&new, &path)?;
        File::open(dir)?.sync_all()
    };
    write().with_context(|| format!("cannot write {}", path.display()))
}
