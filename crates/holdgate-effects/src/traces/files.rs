//! What files hold. Every call gets a copy of what earlier calls have written, so copies must be
//! cheap: they share all contents.

use crate::value::Value;
use std::collections::HashMap;
use std::sync::Arc;

/// What files hold, by absolute path. Copies share the whole until one of them changes something,
/// and after that all contents but those that were changed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Files(Arc<HashMap<Arc<str>, Arc<Value>>>);

impl Files {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn contains(&self, path: &str) -> bool {
        self.0.contains_key(path)
    }

    pub(crate) fn get(&self, path: &str) -> Option<&Value> {
        self.0.get(path).map(Arc::as_ref)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        let files = self.0.iter();
        files.map(|(path, content)| (path.as_ref(), content.as_ref()))
    }

    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(Arc::as_ref)
    }

    /// Bytes of all contents.
    pub(crate) fn bytes(&self) -> usize {
        self.0.values().map(|content| content.text.len()).sum()
    }

    pub(crate) fn insert(&mut self, path: &str, content: Value) {
        Arc::make_mut(&mut self.0).insert(path.into(), Arc::new(content));
    }

    pub(crate) fn remove(&mut self, path: &str) -> Option<Value> {
        if !self.contains(path) {
            return None;
        }
        let content = Arc::make_mut(&mut self.0).remove(path);
        content.map(Arc::unwrap_or_clone)
    }

    pub(crate) fn retain(&mut self, is_kept: impl Fn(&str, &Value) -> bool) {
        if self.iter().any(|(path, content)| !is_kept(path, content)) {
            Arc::make_mut(&mut self.0).retain(|path, content| is_kept(path, content));
        }
    }

    /// Changes the contents of which `is_meant` is true.
    pub(crate) fn change(
        &mut self,
        is_meant: impl Fn(&Value) -> bool,
        change: impl Fn(&mut Value),
    ) {
        if self.iter().any(|(_, content)| is_meant(content)) {
            let files = Arc::make_mut(&mut self.0).values_mut();
            for content in files.filter(|content| is_meant(content)) {
                change(Arc::make_mut(content));
            }
        }
    }
}
