//! The labelled projects, with the prints of their files.

use crate::prints::PrintIndex;
use holdgate_effects::path::is_under;
use std::sync::{Arc, PoisonError, RwLock};

/// A project with a label.
#[derive(Clone, Debug)]
pub struct Labelled {
    /// Its folder, absolute and without links.
    pub path: String,
    /// The number of its label; the lowest is 0.
    pub label: usize,
    /// The prints of its files.
    pub prints: Arc<PrintIndex>,
}

/// The labelled projects.
#[derive(Clone, Debug, Default)]
pub struct LabelledProjects {
    /// The key of all prints.
    pub(super) key: u64,
    /// The lowest first.
    labels: Vec<String>,
    projects: Vec<Labelled>,
}

impl LabelledProjects {
    /// These projects, with labels in ascending order and prints of this key.
    pub fn new(key: u64, labels: Vec<String>, projects: Vec<Labelled>) -> Self {
        LabelledProjects {
            key,
            labels,
            projects,
        }
    }

    /// Whether no project has a label above the lowest.
    pub(super) fn has_nothing_to_keep(&self) -> bool {
        self.projects.iter().all(|project| project.label == 0)
    }

    pub(super) fn projects(&self) -> impl Iterator<Item = &Labelled> {
        self.projects.iter()
    }

    /// The project that `path` lies in, the innermost one.
    pub(super) fn project_of(&self, path: &str) -> Option<&Labelled> {
        let around = self.projects.iter().filter(|p| is_under(path, &p.path));
        around.max_by_key(|project| project.path.len())
    }

    pub(super) fn label(&self, project: &Labelled) -> &str {
        self.labels.get(project.label).map_or("", String::as_str)
    }

    pub(super) fn is_highest(&self, project: &Labelled) -> bool {
        project.label + 1 == self.labels.len()
    }
}

/// The labelled projects as they are known now: their files change while calls are judged.
#[derive(Debug, Default)]
pub struct SharedProjects(RwLock<Arc<LabelledProjects>>);

impl SharedProjects {
    /// What is known now.
    pub fn get(&self) -> Arc<LabelledProjects> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        known.clone()
    }

    /// Replaces what is known.
    pub fn set(&self, known: LabelledProjects) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(known);
    }
}
