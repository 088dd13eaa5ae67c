//! The models of all projects, shared by all stacks.

use super::model::Model;
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

/// Projects whose models are in memory.
const MAX_PROJECTS: usize = 256;

/// What was learned of each project. Whoever learns replaces a model as a whole.
#[derive(Debug, Default)]
pub struct SharedModels(RwLock<HashMap<String, Arc<Model>>>);

impl SharedModels {
    /// The model of a project.
    pub fn get(&self, project: &str) -> Option<Arc<Model>> {
        let models = self.0.read().unwrap_or_else(PoisonError::into_inner);
        models.get(project).cloned()
    }

    /// Replaces the model of a project.
    pub fn set(&self, project: &str, model: Model) {
        let mut models = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if models.len() >= MAX_PROJECTS && !models.contains_key(project) {
            models.clear();
        }
        models.insert(project.to_owned(), Arc::new(model));
    }
}
